// SPDX-License-Identifier: Apache-2.0
/// \file
/// A program that uses nothing pays for nothing: no operator, no array and no engine is built into it.
// emits-at-most: 300
#include <strop/strop.hpp>

int main() {}
