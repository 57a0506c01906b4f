// SPDX-License-Identifier: Apache-2.0
// reject: strop: map takes a function without mutable members: all threads share it
#include <strop/op/map.hpp>

struct Counting {
#if defined(CONTROL)
  float n = 0;
#else
  mutable float n = 0;
#endif
  constexpr auto operator()(auto x) const { return x + n; }
};
strop::NDArray counted(const strop::NDArray& a) { return strop::map(Counting{}, a); }
