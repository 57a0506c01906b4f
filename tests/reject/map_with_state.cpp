// SPDX-License-Identifier: Apache-2.0
// reject: strop: a map keeps no state; a tensor operator's forward(ctx, state, in..., out...) may
#include <strop/op/diagnose.hpp>
struct Bad {
  constexpr auto forward(auto x) const { return 2 * x; }
#if !defined(CONTROL)
  int make_state(strop::Cpu&, const strop::Shape&) const { return 0; }
#endif
};
static_assert(strop::diagnose<Bad>());
