// SPDX-License-Identifier: Apache-2.0
/// \file
/// From a call of a map to its kernels: which of them, over which layout. How a kernel is run over threads is left to a
/// Launcher, so that tests run all of this on the CPU.
#pragma once
#include <strop/number/certain.hpp>
#include <strop/op/gpu_map.hpp>
#include <strop/op/map_entry.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#if __has_include("../../../kernels/map.cuh")
#include "../../../kernels/map.cuh"
#else
#include <strop/kernels/map.cuh>  // as installed
#endif

namespace strop::inline v0 {
namespace cuda {

/// A gradient as it is where terms drop out of it: the same numbers and results. Its kernel is one that looks at
/// nothing that is multiplied with a constant 0.
template <class G>
struct Dropping {
  G op;

  template <class S, class... More>
    requires(sizeof...(More) + 1 == arity<G>)
  [[gnu::always_inline]] constexpr auto forward(S first, More... more) const {
    using C = number::Certain<S>;
    const auto y = detail::as_numbers<C>(op.forward(C(first), C(more)...));
    return [&]<std::size_t... K>(std::index_sequence<K...>) {
      if constexpr (sizeof...(K) == 1)
        return y[0].v;
      else
        return std::make_tuple(y[K].v...);
    }(std::make_index_sequence<detail::results<G>>{});
  }
};

template <class T>
inline constexpr bool is_dropping = false;
template <class G>
inline constexpr bool is_dropping<Dropping<G>> = true;

}  // namespace cuda

template <class G>
inline constexpr std::size_t arity<cuda::Dropping<G>> = arity<G>;
namespace detail {
template <class G>
inline constexpr std::size_t results<cuda::Dropping<G>> = results<G>;
template <class G>
inline constexpr int gradient_order<cuda::Dropping<G>> = gradient_order<G>;
template <class G>
inline constexpr std::uint64_t asks_whole<cuda::Dropping<G>> = asks_whole<G>;
template <class G>
inline constexpr std::uint64_t whole_inputs<cuda::Dropping<G>> = whole_inputs<G>;
}  // namespace detail
}  // namespace strop::inline v0

namespace strop::inline v0::cuda {

/// Threads that a reduction keeps busy where it has so many values, and the most of them for one sum.
inline constexpr std::int64_t sum_threads = std::int64_t{1} << 17, sum_pieces = 512;

/// The operands of a call in its common shape, axes merged.
template <std::size_t N, std::size_t M>
MapLayout<N, M> layout_of(const detail::GpuMap& call) {
  MapLayout<N, M> a{};
  a.dtype = call.dtype;
  a.n = call.common.size();
  const auto operand = [&](std::size_t k) -> const detail::MapOperand& {
    return k < N ? call.in[static_cast<std::int64_t>(k)] : call.out[k - N];
  };
  std::int64_t below[N + M];  // elements of an operand below the axis
  for (std::int64_t& elements : below) elements = 1;
  std::int64_t extents[64], strides[64][N + M];
  const int ndim = call.common.ndim();
  if (ndim > 64) fail(call.entry.snake, ": broadcasting takes at most 64 dimensions");
  for (int axis = ndim - 1; axis >= 0; --axis) {
    extents[axis] = call.common[axis];
    for (std::size_t k = 0; k < N + M; ++k) {
      const Shape& shape = operand(k).shape;
      const int own = axis - (ndim - shape.ndim());
      const std::int64_t extent = own >= 0 ? shape[own] : 1;
      strides[axis][k] = extent == 1 ? 0 : below[k];
      below[k] *= extent;
    }
  }
  for (int axis = 0; axis < ndim; ++axis) {
    if (extents[axis] == 1) continue;
    bool merges = a.rank > 0;
    for (std::size_t k = 0; k < N + M && merges; ++k)
      merges = a.strides[a.rank - 1][k] == strides[axis][k] * extents[axis];
    if (!merges && a.rank == a.most)
      fail(call.entry.snake, ": broadcasting on a GPU alternates over at most ", a.most, " axes");
    const int at = merges ? a.rank - 1 : a.rank++;
    a.extents[at] = merges ? a.extents[at] * extents[axis] : extents[axis];
    std::copy_n(strides[axis], N + M, a.strides[at]);
  }
  for (std::size_t k = 0; k < N; ++k) a.in[k] = call.in[static_cast<std::int64_t>(k)].data;
  for (std::size_t k = 0; k < M; ++k) {
    a.out[k] = call.out[static_cast<std::int64_t>(k)].request == Request::null
                   ? nullptr
                   : call.out[static_cast<std::int64_t>(k)].data;
    a.add[k] = call.out[static_cast<std::int64_t>(k)].request == Request::add;
  }
  return a;
}

/// Runs map T, which may be a gradient. `Launcher::run(ctx, entry, kernel)` calls the kernel for every thread.
template <class T, class Launcher>
class MapLaunch {
 public:
  static void run(const detail::GpuMap& call, Cuda& ctx) {
    const Layout a = layout_of<N, M>(call);
    const T& op = *static_cast<const T*>(call.op);
    constexpr DtypeSet types = detail::map_dtypes<T>();
    if constexpr (is_dropping<T>) {  // as on the CPU: rare, and in double
      general<double, double>(op, a, call, ctx);
    } else if constexpr (detail::gradient_order<T> >= 2) {
      MapLaunch<Dropping<T>, Launcher>::run(call, ctx);
    } else {
      if constexpr (detail::gradient_order<T> == 1)
        if (call.dtype == f64 ? detail::gradient_facts<double>(op.op).drops
                              : detail::gradient_facts<float>(op.op).drops)
          return MapLaunch<Dropping<T>, Launcher>::run(call, ctx);
      switch (call.dtype) {
        case Dtype::f32:
          if constexpr (types.contains(f32)) floating<float>(op, a, call, ctx);
          break;
        case Dtype::f64:
          if constexpr (types.contains(f64)) floating<double>(op, a, call, ctx);
          break;
        case Dtype::f16:
          if constexpr (types.contains(f16)) floating<half>(op, a, call, ctx);
          break;
        case Dtype::bf16:
          if constexpr (types.contains(bf16)) floating<bfloat16>(op, a, call, ctx);
          break;
        default:
          if constexpr ((types.bits & (integral | boolean).bits) != 0) {
            using Y = std::conditional_t<detail::integer_results<T>(), std::int64_t, double>;
            general<std::int64_t, Y>(op, a, call, ctx);
          }
      }
    }
  }

 private:
  static constexpr std::size_t N = arity<T>, M = detail::results<T>;
  using Layout = MapLayout<N, M>;

  template <class E>
  static void floating(const T& op, const Layout& a, const detail::GpuMap& call, Cuda& ctx) {
    if (!packs<E>(a)) {
      const Layout whole = smaller_first<ComputeAs<E>>(op, a, call, ctx);
      if (!rows<E>(op, whole, call, ctx)) elements<ComputeAs<E>, ComputeAs<E>>(op, whole, call, ctx);
      return;
    }
    MapPacks<T, E, N, M> kernel{op, {}, {}, {}, {}, a.n};
    for (std::size_t k = 0; k < N; ++k) {
      kernel.in[k] = static_cast<const E*>(a.in[k]);
      kernel.step[k] = a.rank == 0 ? 0 : a.strides[0][k];
    }
    for (std::size_t k = 0; k < M; ++k) {
      kernel.out[k] = static_cast<E*>(a.out[k]);
      kernel.add[k] = a.add[k];
    }
    Launcher::run(ctx, call.entry, kernel);
  }

  /// Whether every operand is one element or whole, and can be moved 16 bytes at a time.
  template <class E>
  static bool packs(const Layout& a) {
    if (a.rank > 1) return false;
    bool good = true;
    for (std::size_t k = 0; k < N; ++k) good = good && (a.rank == 0 || a.strides[0][k] == 0 || is_aligned(a.in[k]));
    for (std::size_t k = 0; k < M; ++k)
      good = good && (a.out[k] == nullptr || ((a.rank == 0 || a.strides[0][N + k] != 0) && is_aligned(a.out[k])));
    return good;
  }

  /// Operands that lie in any way.
  template <class C, class Y>
  static void general(const T& op, const Layout& a, const detail::GpuMap& call, Cuda& ctx) {
    elements<C, Y>(op, smaller_first<C>(op, a, call, ctx), call, ctx);
  }

  /// Computes the results that are smaller than the common shape, which gradients of broadcast inputs are, one by one;
  /// gives the layout of the others. Those come last and together: each may lie in the memory of an input.
  template <class C>
  static Layout smaller_first(const T& op, const Layout& a, const detail::GpuMap& call, Cuda& ctx) {
    Layout whole = a;
    if constexpr (detail::gradient_order<T> > 0)
      for (std::size_t k = 0; k < M; ++k) {
        if (a.out[k] == nullptr || call.out[static_cast<std::int64_t>(k)].shape.size() == a.n) continue;
        result<C>(op, a, k, call, ctx);
        whole.out[k] = nullptr;
        whole.add[k] = false;
      }
    return whole;
  }
  static bool asks(const Layout& a) {
    return std::any_of(a.out, a.out + M, [](const void* out) { return out != nullptr; });
  }

  /// Results of the common shape pack by pack, where all operands allow it.
  template <class E>
  static bool rows(const T& op, Layout a, const detail::GpuMap& call, Cuda& ctx) {
    if (!asks(a) || !in_packs<E>(a)) return false;
    MapRows<T, E, N, M> kernel{op, a, {}};
    for (std::size_t k = 0; k < N; ++k) kernel.one[k] = a.strides[a.rank - 1][k] == 0;
    Launcher::run(ctx, call.entry, kernel);
    return true;
  }
  /// The same element by element.
  template <class C, class Y>
  static void elements(const T& op, const Layout& a, const detail::GpuMap& call, Cuda& ctx) {
    const auto leaves = call.entry.loops.leaves;
    const bool nearest = std::integral<C> && leaves != nullptr && leaves(&op, a.dtype);
    if (asks(a)) Launcher::run(ctx, call.entry, MapElements<T, C, Y, N, M>{op, a, nearest});
  }

  template <class C>
  static void result(const T& op, const Layout& a, std::size_t k, const detail::GpuMap& call, Cuda& ctx) {
    const std::int64_t elements = call.out[static_cast<std::int64_t>(k)].shape.size();
    if (elements == 0) return;
    const std::int64_t terms = a.n / elements;
    const std::int64_t pieces = std::max<std::int64_t>(1, std::min({sum_threads / elements, terms, sum_pieces}));
    const bool inner = a.rank > 0 && a.strides[a.rank - 1][N + k] == 0;
    double* const sums = pieces == 1 ? nullptr : ctx.temp<double>(elements * pieces).data();
    Launcher::run(ctx, call.entry, MapResult<T, C, N, M>{op, a, k, elements, terms, pieces, inner, sums});
    if (pieces > 1) Launcher::run(ctx, call.entry, FinishSums{sums, elements, pieces, a.dtype, a.out[k], a.add[k]});
  }
};

}  // namespace strop::inline v0::cuda
