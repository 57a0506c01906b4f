// SPDX-License-Identifier: Apache-2.0
// flags: -fno-exceptions
// reject-first: strop: a call that is refused throws strop::Error: compile without -fno-exceptions
#include <strop/strop.hpp>
int main() {}
