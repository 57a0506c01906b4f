// SPDX-License-Identifier: Apache-2.0
// flags: -std=c++17
// reject-first: strop: this is C++20, and the compiler reads an older language: compile with -std=c++20
// lines: 20
#include <strop/strop.hpp>
int main() {}
