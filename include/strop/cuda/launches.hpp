// SPDX-License-Identifier: Apache-2.0
/// \file
/// What GPUs run of an operator: a map's kernels, or the members of a tensor operator that take strop::Cuda&.
#pragma once
#include <strop/cuda/map.hpp>
#include <strop/op/tensor_entry.hpp>

#include <cstddef>
#include <type_traits>
#include <utility>

namespace strop::inline v0::cuda {

/// A state is made where it is used.
template <class T, std::size_t... I>
constexpr bool makes_state_on_gpu(std::index_sequence<I...>) {
  return requires(const T& op, Cuda& ctx, const Shape& shape) { op.make_state(ctx, (static_cast<void>(I), shape)...); };
}

/// Calls the members of tensor operator T for GPUs. `Launcher::within(ctx, entry, f)` calls f where the device of the
/// context is current, and throws what launches in f were refused with.
template <class T, class Launcher>
struct TensorLaunch {
  template <class M>
  static void forward(const Call& call, Context& context) {
    Cuda& ctx = static_cast<Cuda&>(context);
    Launcher::within(ctx, call.entry, [&] { detail::run_dense_forward<T, typename M::OnCuda>(call, ctx); });
  }
  template <class M>
  static void gradient(const Call& call, Context& context) {
    Cuda& ctx = static_cast<Cuda&>(context);
    Launcher::within(ctx, call.entry,
                     [&] { detail::TensorGradient<T, M>::template run<typename M::OnCuda, Cuda>(call, ctx); });
  }
};

/// What GPUs run of an operator of the library whose struct does not name them: cuda/reductions.hpp and its like
/// specialise it with `stated`, forward<Launcher> and, where there is one, gradient<Launcher>. `Gradient` is an
/// operator that composes the gradient, and has its kernels by the side.
template <class T>
struct LibraryKernels {};

/// `Launcher::blocks(ctx, entry, kernel)` queues one of their kernels.
template <class T, class Launcher, void (*Run)(const Call&, Context&)>
void launch_of_library(const Call& call, Context& context) {
  Launcher::within(static_cast<Cuda&>(context), call.entry, [&] { Run(call, context); });
}

/// The launchers of operator T.
template <class T, class Launcher>
constexpr detail::Kernels launches_of() {
  detail::Kernels launch;
  if constexpr (requires { LibraryKernels<T>::stated; }) {
    using Library = LibraryKernels<T>;
    launch.run[0] = &launch_of_library<T, Launcher, &Library::template forward<Launcher>>;
    if constexpr (requires(const Call& call, Context& ctx) { Library::template gradient<Launcher>(call, ctx); })
      launch.run[1] = &launch_of_library<T, Launcher, &Library::template gradient<Launcher>>;
  } else if constexpr (AnyMap<T>) {
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
    if constexpr (ForwardMember::OnCuda::template of<T>()) {
      launch.run[0] = &TensorLaunch<T, Launcher>::template forward<ForwardMember>;
      if constexpr (HasState<T>) {
        constexpr auto shapes = std::make_index_sequence<static_cast<std::size_t>(detail::state_shapes<T>())>{};
        static_assert(makes_state_on_gpu<T>(shapes),
                      "strop: beside forward(strop::Cuda&, ...) make_state takes either context: make_state(auto& ctx, "
                      "const strop::Shape& input...)");
        launch.make_state = &detail::make_state_box<T, Cuda>;
      }
    }
    using Gradient = detail::GradientMember<T>;
    if constexpr (!std::is_void_v<Gradient>)
      if constexpr (Gradient::OnCuda::template of<T>())
        launch.run[1] = &TensorLaunch<T, Launcher>::template gradient<Gradient>;
  }
  return launch;
}

}  // namespace strop::inline v0::cuda
