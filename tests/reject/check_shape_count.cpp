// SPDX-License-Identifier: Apache-2.0
// reject: strop: check::shape takes a shape for each input of forward
#include <strop/op.hpp>
struct Twice {
  constexpr auto forward(auto x) const { return 2 * x; }
};
using strop::Shape;
#if defined(CONTROL)
static_assert(strop::check::shape(Twice{}, Shape{2, 3}) == Shape{2, 3});
#else
static_assert(strop::check::shape(Twice{}, Shape{2, 3}, Shape{2, 3}) == Shape{2, 3});
#endif
