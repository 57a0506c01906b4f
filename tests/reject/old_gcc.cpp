// SPDX-License-Identifier: Apache-2.0
// flags: -U__GNUC__ -D__GNUC__=11
// reject-first(g++): strop: this g++ is older than 12: compile with g++ 12 or newer, or clang++ 16 or newer
// lines: 20
#include <strop/strop.hpp>
int main() {}
