// SPDX-License-Identifier: Apache-2.0
// Of g++, since clang has such arguments from version 18 on.
//
// reject(g++): strop: a template argument that is a floating number makes no name; state static constexpr
#include <strop/op.hpp>

template <double Of>
struct Times {
#if defined(CONTROL)
  static constexpr std::string_view name = "times_half";
#endif
  constexpr auto forward(auto x) const { return Of * x; }
};
static_assert(strop::diagnose<Times<0.5>>());
