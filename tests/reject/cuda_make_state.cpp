// SPDX-License-Identifier: Apache-2.0
// reject: strop: beside forward(strop::Cuda&, ...) make_state takes either context: make_state(auto& ctx, const
// strop::Shape& input...)
#include <strop/cuda/launches.hpp>
struct Bad {
#if defined(CONTROL)
  int make_state(auto&, const strop::Shape&) const { return 0; }
#else
  int make_state(strop::Cpu&, const strop::Shape&) const { return 0; }
#endif
  template <strop::Real E>
  void forward(strop::Cpu&, int&, strop::View<const E, 1>, strop::View<E, 1>) const {}
  template <strop::Real E>
  void forward(strop::Cuda&, int&, strop::View<const E, 1>, strop::View<E, 1>) const {}
};
struct Launcher {
  static void within(strop::Cuda&, const strop::Entry&, const auto& f) { f(); }
};
static_assert(strop::cuda::launches_of<Bad, Launcher>().run[0] != nullptr);
