// SPDX-License-Identifier: Apache-2.0
/// \file
/// What GPUs run of an operator: a map's kernels, or the members of a tensor operator that take strop::Cuda&.
#pragma once
#include <strop/cuda/map.hpp>
#include <strop/op/tensor_entry.hpp>

#include <span>
#include <type_traits>

namespace strop::inline v0::cuda {

/// Whether tensor operator T has member M for GPUs as well.
template <class T, class M>
constexpr bool on_gpu() {
  return detail::Served<typename M::OnCuda, T>::generic || M::OnCuda::template has<T, void>();
}

/// Calls the members of tensor operator T for GPUs. `Launcher::within(ctx, entry, f)` calls f where the device of the
/// context is current, and throws what launches in f were refused with.
template <class T, class Launcher>
struct TensorLaunch {
  template <class M>
  static void forward(const Call& call, Cuda& ctx) {
    Launcher::within(ctx, call.entry, [&] { detail::run_dense_forward<T, typename M::OnCuda>(call, ctx); });
  }
  template <class M>
  static void gradient(const Call& call, Cuda& ctx) {
    Launcher::within(ctx, call.entry,
                     [&] { detail::TensorGradient<T, M>::template run<typename M::OnCuda>(call, ctx); });
  }
};

/// The launchers of operator T.
template <class T, class Launcher>
constexpr detail::CudaLaunch launches_of() {
  detail::CudaLaunch launch;
  if constexpr (AnyMap<T>) {
    if constexpr (std::is_trivially_copyable_v<T>) {
      launch.map[0] = &MapLaunch<T, Launcher>::run;
      if constexpr (detail::gradient_is_map<T>) {
        using G1 = Gradient<T>;
        using G2 = Gradient<G1>;
        using G3 = Gradient<G2>;
        launch.map[1] = &MapLaunch<G1, Launcher>::run;
        launch.map[2] = &MapLaunch<G2, Launcher>::run;
        launch.map[3] = &MapLaunch<G3, Launcher>::run;
      }
    }
  } else if constexpr (TensorOp<T>) {
    using detail::ForwardMember;
    if constexpr (on_gpu<T, ForwardMember>())
      launch.run[0] = &TensorLaunch<T, Launcher>::template forward<ForwardMember>;
    using Gradient = detail::GradientMember<T>;
    if constexpr (!std::is_void_v<Gradient>)
      if constexpr (on_gpu<T, Gradient>()) launch.run[1] = &TensorLaunch<T, Launcher>::template gradient<Gradient>;
    if constexpr (HasState<T>) launch.make_state = &detail::make_state_box<T, Cuda>;
  }
  return launch;
}

}  // namespace strop::inline v0::cuda
