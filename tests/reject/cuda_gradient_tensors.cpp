// SPDX-License-Identifier: Apache-2.0
// reject: strop: a gradient for strop::Cuda& takes the same tensors after ctx as the one for strop::Cpu&
#include <strop/op/op.hpp>
struct Bad {
  template <strop::Real E>
  void forward(strop::Cpu&, strop::View<const E, 2>, strop::View<E, 2>) const {}
  template <strop::Real E>
  void grad_use_none(strop::Cpu&, strop::View<const E, 2>, strop::View<E, 2>) const {}
#if defined(CONTROL)
  template <strop::Real E>
  void grad_use_none(strop::Cuda&, strop::View<const E, 2>, strop::View<E, 2>) const;
#else
  void grad_use_none(strop::Cuda&, strop::View<const float, 2>, strop::View<float, 2>) const;
#endif
};
inline constexpr strop::Op<Bad> bad;
const strop::Entry& entry = bad.entry();
