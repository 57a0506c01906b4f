// SPDX-License-Identifier: Apache-2.0
/// \file
/// The CUDA kernel of a map: one thread per element in a grid-stride loop, the body evaluated on Num<E>. Index
/// arithmetic and body are host functions as well, so that a machine without a GPU runs the same code
/// (tests/cuda/shim.hpp).
#pragma once
#include <strop/op/gradient.hpp>

#include <cstdint>

namespace strop::inline v0::cuda {

/// Pointers of a map with N inputs and M results over n elements; an input of step 0 is one element for all.
template <class E, std::size_t N, std::size_t M>
struct MapArguments {
  const E* in[N];
  std::int64_t step[N];
  E* out[M];
  std::int64_t n;
  bool add;
};

/// What a halves' element is computed in.
template <class E>
struct ComputeAs {
  using type = E;
};
template <>
struct ComputeAs<half> {
  using type = float;
};
template <>
struct ComputeAs<bfloat16> {
  using type = float;
};

/// Element i of every result. Runs on both sides.
template <class T, class E, std::size_t N, std::size_t M>
constexpr void map_element(const T& op, const MapArguments<E, N, M>& a, std::int64_t i) {
  using C = typename ComputeAs<E>::type;
  using S = number::Num<C>;
  const auto y = [&]<std::size_t... I>(std::index_sequence<I...>) {
    return detail::as_numbers<S>(op.forward(S(static_cast<C>(a.in[I][i * a.step[I]]))...));
  }(std::make_index_sequence<N>{});
  for (std::size_t k = 0; k < M; ++k) {
    const C before = a.add ? static_cast<C>(a.out[k][i]) : C(0);
    a.out[k][i] = static_cast<E>(a.add ? static_cast<C>(before + y[k].v) : y[k].v);
  }
}

/// All elements of one thread. Runs on both sides.
template <class T, class E, std::size_t N, std::size_t M>
constexpr void map_thread(const T& op, const MapArguments<E, N, M>& a, std::int64_t thread, std::int64_t threads) {
  for (std::int64_t i = thread; i < a.n; i += threads) map_element(op, a, i);
}

#if defined(__CUDACC__)
template <class T, class E, std::size_t N, std::size_t M>
__global__ void map_kernel(T op, MapArguments<E, N, M> a) {
  map_thread(op, a, static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x,
             static_cast<std::int64_t>(gridDim.x) * blockDim.x);
}
#endif

}  // namespace strop::inline v0::cuda
