// SPDX-License-Identifier: Apache-2.0
// reject: strop: resources is a static constexpr strop::Resources or takes (std::span<const strop::Shape> inputs) and
// is const
#include <strop/op/diagnose.hpp>
using strop::Cpu;
using strop::Real;
using strop::View;
struct Bad {
  template <Real E>
  void forward(Cpu&, View<const E, 1>, View<E, 1>) const {}
#if defined(CONTROL)
  static constexpr strop::Resources resources{.random = true};
#else
  bool resources() const { return true; }
#endif
};
static_assert(strop::diagnose<Bad>());
