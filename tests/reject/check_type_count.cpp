// SPDX-License-Identifier: Apache-2.0
// reject: strop: check::type takes a type for each input of forward
#include <strop/op.hpp>
struct RowSum {
  void forward(strop::Cpu&, strop::View<const float, 2> x, strop::View<float, 2> y) const;
};
#if defined(CONTROL)
static_assert(strop::check::type(RowSum{}, strop::f32) == strop::f32);
#else
static_assert(strop::check::type(RowSum{}, strop::f32, strop::f32) == strop::f32);
#endif
