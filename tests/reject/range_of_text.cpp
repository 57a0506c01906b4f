// SPDX-License-Identifier: Apache-2.0
// reject: strop: range names a parameter that is no number, nor an optional one
#include <strop/op/diagnose.hpp>
#include <strop/op/tags.hpp>
struct Bad {
#if defined(CONTROL)
  std::optional<float> a = {};
  strop::Required<int> b = {};
#else
  std::string a = "x";
  strop::Required<strop::Shape> b = {};
#endif
  static constexpr strop::Range range[] = {{"a", 0, 1}, {"b", 0, 1}};
  constexpr auto forward(auto x) const { return x; }
};
static_assert(strop::diagnose<Bad>());
