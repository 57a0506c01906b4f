// SPDX-License-Identifier: Apache-2.0
// flags: -U__clang_major__ -D__clang_major__=14
// reject-first(clang++): strop: this clang is older than 16: compile with clang++ 16 or newer, or g++ 12 or newer
// lines: 20
#include <strop/strop.hpp>
int main() {}
