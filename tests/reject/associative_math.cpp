// SPDX-License-Identifier: Apache-2.0
// clang tells nobody of this flag alone: there the headers keep the source's order (tests/spec/functions.cpp).
// flags: -fassociative-math -fno-signed-zeros -fno-trapping-math
// reject-first(g++): -ffast-math, -fassociative-math and -ffinite-math-only make exp, sin and softmax wrong
#include <strop/op.hpp>
int main() {}
