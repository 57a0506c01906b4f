// SPDX-License-Identifier: Apache-2.0
// reject-first: strop: map takes a function of as many numbers as there are arrays
#include <strop/op/map.hpp>

strop::NDArray product(const strop::NDArray& a, const strop::NDArray& b) {
#if defined(CONTROL)
  return strop::map([](auto x, auto y) { return x * y; }, a, b);
#else
  return strop::map([](auto x) { return x; }, a, b);
#endif
}
