// SPDX-License-Identifier: Apache-2.0
// reject-first: strop: map takes a function of as many numbers as there are symbols
#include <strop/strop.hpp>
#if defined(CONTROL)
const auto net = strop::map([](auto x, auto y) { return x * y; }, strop::var("a"), strop::var("b"));
#else
const auto net = strop::map([](auto x) { return 2 * x; }, strop::var("a"), strop::var("b"));
#endif
