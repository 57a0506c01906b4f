// SPDX-License-Identifier: Apache-2.0
// reject: strop: make_state takes (strop::Cpu&, const strop::Shape& input...), a shape per input, and is const
#include <strop/op/diagnose.hpp>
using strop::Cpu;
using strop::Real;
using strop::View;
struct Bad {
  template <Real E>
  void forward(Cpu&, View<const E, 1>, View<E, 1>) const {}
#if defined(CONTROL)
  int make_state(Cpu&, const strop::Shape&) const { return 0; }
#else
  int make_state(const strop::Shape&) const { return 0; }
#endif
};
static_assert(strop::diagnose<Bad>());
