// SPDX-License-Identifier: Apache-2.0
// reject: strop: grad takes (strop::Cpu&, ...) with every argument tagged Head, In, Out or Grad, and is const
#include <strop/op/diagnose.hpp>
#include <strop/op/tags.hpp>
using strop::Cpu;
using strop::Real;
using strop::View;
#if defined(CONTROL)
struct Bad {
  template <Real E>
  void forward(Cpu&, View<const E, 1>, View<E, 1>) const {}
  template <Real E>
  void grad(Cpu&, strop::Head<"output", View<const E, 1>>, strop::Grad<"data", View<E, 1>>) const {}
};
#else
struct Bad {
  template <Real E>
  void forward(Cpu&, View<const E, 1>, View<E, 1>) const {}
  template <Real E>
  void grad(Cpu&, View<const E, 1>) {}
};
#endif
static_assert(strop::diagnose<Bad>());
