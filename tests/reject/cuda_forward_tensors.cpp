// SPDX-License-Identifier: Apache-2.0
// reject: strop: forward for strop::Cuda& takes the same tensors after ctx as forward for strop::Cpu&
#include <strop/op/op.hpp>
struct Bad {
  template <strop::Real E>
  void forward(strop::Cpu&, strop::View<const E, 2>, strop::View<E, 2>) const {}
  template <strop::Real E>
#if defined(CONTROL)
  void forward(strop::Cuda&, strop::View<const E, 2>, strop::View<E, 2>) const;
#else
  void forward(strop::Cuda&, strop::View<const E, 1>, strop::View<E, 2>) const;
#endif
};
inline constexpr strop::Op<Bad> bad;
const strop::Entry& entry = bad.entry();
