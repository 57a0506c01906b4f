// SPDX-License-Identifier: Apache-2.0
// reject: which does not broadcast with
#include <strop/op.hpp>
struct Add {
  constexpr auto forward(auto x, auto y) const { return x + y; }
};
using strop::Shape;
#if defined(CONTROL)
static_assert(strop::check::shape(Add{}, Shape{2, 3}, Shape{3}) == Shape{2, 3});
#else
static_assert(strop::check::shape(Add{}, Shape{2, 3}, Shape{2}) == Shape{2, 3});
#endif
