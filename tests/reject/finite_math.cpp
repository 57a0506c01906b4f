// SPDX-License-Identifier: Apache-2.0
// flags: -ffinite-math-only
// reject-first: -ffast-math, -fassociative-math and -ffinite-math-only make exp, sin and softmax wrong: compile without
#include <strop/op.hpp>
int main() {}
