// SPDX-License-Identifier: Apache-2.0
/// \file
/// The kernels of maps. A kernel is a struct that is called with a thread's number and the number of threads; all of it
/// are ordinary functions as well, so that a machine without a GPU runs the same code (tests/cuda/shim.hpp).
#pragma once
#include "map_layout.cuh"

#include <strop/cuda/pack.hpp>
#include <strop/op/gradient.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>

namespace strop::inline v0::cuda {

/// The body at the numbers x, its results as Y.
template <class Y, class T, class C, std::size_t... I>
constexpr auto evaluate(const T& op, const C* x, std::index_sequence<I...>) {
  return detail::as_numbers<number::Num<Y>>(
      op.forward(detail::NumberAt<T, I, number::Num<C>>(number::Num<C>(x[I]))...));
}

/// The map on packs: y becomes the results, or grows by them.
template <class T, class E, std::size_t N, std::size_t M>
constexpr void map_pack(const T& op, const Pack<E> (&x)[N], Pack<E> (&y)[M], const bool (&add)[M]) {
  using C = ComputeAs<E>;
  for (std::int64_t i = 0; i < Pack<E>::size; ++i) {
    C numbers[N] = {};
    for (std::size_t k = 0; k < N; ++k) numbers[k] = number_of<C>(x[k].e[i]);
    const auto r = cuda::evaluate<C>(op, numbers, std::make_index_sequence<N>{});
    for (std::size_t k = 0; k < M; ++k) {
      const C before = add[k] ? number_of<C>(y[k].e[i]) : C(0);
      y[k].e[i] = element_of<E>(add[k] ? before + r[k].v : r[k].v);
    }
  }
}
/// The pack at p, or one element as often as a pack holds it; 0 where there is no memory.
template <class E>
constexpr Pack<E> load_pack(const E* p, bool one) {
  if (p != nullptr && !one) return *reinterpret_cast<const Pack<E>*>(p);
  Pack<E> x;
  const E value = p != nullptr ? *p : E{};
  for (E& e : x.e) e = value;
  return x;
}

/// A map over n contiguous elements of type E. An input of step 0 is one element for all, or 0 where it has no memory;
/// a result without memory is dropped. Pointers of step 1 and results are multiples of 16.
template <class T, class E, std::size_t N, std::size_t M>
struct MapPacks {
  using C = ComputeAs<E>;
  T op;
  const E* in[N];
  std::int64_t step[N];
  E* out[M];
  bool add[M];
  std::int64_t n;

  /// The threads that have work.
  constexpr std::int64_t work() const { return (n + Pack<E>::size - 1) / Pack<E>::size; }

  constexpr void operator()(std::int64_t thread, std::int64_t threads) const {
    constexpr std::int64_t size = Pack<E>::size;
    for (std::int64_t p = thread; p < work(); p += threads) {
      const std::int64_t at = p * size;
      if (at + size <= n)
        whole(at);
      else
        for (std::int64_t i = at; i < n; ++i) single(i);
    }
  }

 private:
  constexpr void whole(std::int64_t at) const {
    Pack<E> x[N], y[M];
    for (std::size_t k = 0; k < N; ++k) x[k] = load_pack(step[k] != 0 ? in[k] + at : in[k], step[k] == 0);
    for (std::size_t k = 0; k < M; ++k)
      if (add[k]) y[k] = load_pack(out[k] + at, false);
    map_pack(op, x, y, add);
    for (std::size_t k = 0; k < M; ++k)
      if (out[k] != nullptr) *reinterpret_cast<Pack<E>*>(out[k] + at) = y[k];
  }
  constexpr void single(std::int64_t i) const {
    C numbers[N] = {};
    for (std::size_t k = 0; k < N; ++k) numbers[k] = in[k] != nullptr ? number_of<C>(in[k][i * step[k]]) : C(0);
    const auto r = cuda::evaluate<C>(op, numbers, std::make_index_sequence<N>{});
    for (std::size_t k = 0; k < M; ++k)
      if (out[k] != nullptr) out[k][i] = element_of<E>(add[k] ? number_of<C>(out[k][i]) + r[k].v : r[k].v);
  }
};

/// A map of operands that are broadcast, of type E, a pack along the last axis per thread: `a` is the layout of packs
/// instead of elements, strides still in elements, made by `in_packs`. Results have the common shape.
template <class T, class E, std::size_t N, std::size_t M>
struct MapRows {
  T op;
  MapLayout<N, M> a;
  bool one[N];  // the input does not change along the last axis

  constexpr std::int64_t work() const { return a.n; }

  constexpr void operator()(std::int64_t thread, std::int64_t threads) const {
    for (std::int64_t p = thread; p < a.n; p += threads) {
      std::int64_t at[N + M] = {};
      a.locate(p, at);
      Pack<E> x[N], y[M];
      for (std::size_t k = 0; k < N; ++k)
        x[k] = load_pack(a.in[k] != nullptr ? static_cast<const E*>(a.in[k]) + at[k] : nullptr, one[k]);
      for (std::size_t k = 0; k < M; ++k)
        if (a.add[k]) y[k] = load_pack(static_cast<const E*>(a.out[k]) + at[N + k], false);
      map_pack(op, x, y, a.add);
      for (std::size_t k = 0; k < M; ++k)
        if (a.out[k] != nullptr) *reinterpret_cast<Pack<E>*>(static_cast<E*>(a.out[k]) + at[N + k]) = y[k];
    }
  }
};

/// Makes a layout one of packs; false where its operands cannot be moved so.
template <class E, std::size_t N, std::size_t M>
inline bool in_packs(MapLayout<N, M>& a) {
  constexpr std::int64_t size = Pack<E>::size;
  if (a.rank == 0) return false;
  const int last = a.rank - 1;
  if (a.extents[last] % size != 0) return false;
  for (std::size_t k = 0; k < N + M; ++k) {
    const void* const data = k < N ? a.in[k] : a.out[k - N];
    const std::int64_t step = a.strides[last][k];
    if (data == nullptr) continue;
    if (k >= N && step == 0) return false;
    if (step == 0) continue;
    if (step != 1 || !is_aligned(data)) return false;
    for (int axis = 0; axis < last; ++axis)
      if (a.strides[axis][k] % size != 0 || (k >= N && a.strides[axis][k] == 0)) return false;
  }
  a.n /= size;
  a.extents[last] /= size;
  for (std::int64_t& step : a.strides[last]) step *= size;
  return true;
}

/// A map over operands that lie in any way in the common shape, of any element type that is computed in C; results come
/// as Y. An element per thread.
template <class T, class C, class Y, std::size_t N, std::size_t M>
struct MapElements {
  T op;
  MapLayout<N, M> a;
  bool nearest = false;  // integers outside the results' type become its nearest; else they wrap

  constexpr std::int64_t work() const { return a.n; }

  constexpr void operator()(std::int64_t thread, std::int64_t threads) const {
    for (std::int64_t i = thread; i < a.n; i += threads) {
      std::int64_t at[N + M] = {};
      a.locate(i, at);
      C numbers[N] = {};
      for (std::size_t k = 0; k < N; ++k)
        numbers[k] = a.in[k] != nullptr ? load_from<C>(a.dtype, a.in[k], at[k]) : C(0);
      const auto r = cuda::evaluate<Y>(op, numbers, std::make_index_sequence<N>{});
      for (std::size_t k = 0; k < M; ++k) {
        if (a.out[k] == nullptr) continue;
        Y given = r[k].v;
        if constexpr (std::same_as<Y, std::int64_t>)
          if (nearest) given = detail::nearest_integer(a.dtype, given);
        const Y value = a.add[k] ? plus(load_from<Y>(a.dtype, a.out[k], at[N + k]), given) : given;
        store_to(a.dtype, a.out[k], at[N + k], value);
      }
    }
  }
};

/// Result k of a map, alone, where it may be smaller than the common shape: an element is then the sum, in double, of
/// the values that belong to it. Thread (o, p) adds up every pieces-th value of element o from the p-th on, so that the
/// order of a sum depends on the shapes alone; FinishSums makes one number of the pieces where there are several.
template <class T, class C, std::size_t N, std::size_t M>
struct MapResult {
  T op;
  MapLayout<N, M> a;
  std::size_t k;
  std::int64_t elements, terms, pieces;  // of the result; values of an element; threads for an element
  bool pieces_first;                     // neighbouring threads take neighbouring pieces, not elements
  double* sums;                          // elements × pieces, where there are several

  constexpr std::int64_t work() const { return elements * pieces; }

  constexpr void operator()(std::int64_t thread, std::int64_t threads) const {
    for (std::int64_t t = thread; t < work(); t += threads) {
      const std::int64_t o = pieces_first ? t / pieces : t % elements, p = pieces_first ? t % pieces : t / elements;
      double sum = pieces == 1 && a.add[k] ? load_from<double>(a.dtype, a.out[k], o) : 0;
      for (std::int64_t term = p; term < terms; term += pieces) {
        std::int64_t at[N + M] = {};
        a.locate_in(N + k, o, term, at);
        C numbers[N] = {};
        for (std::size_t i = 0; i < N; ++i)
          numbers[i] = a.in[i] != nullptr ? load_from<C>(a.dtype, a.in[i], at[i]) : C(0);
        sum += static_cast<double>(cuda::evaluate<C>(op, numbers, std::make_index_sequence<N>{})[k].v);
      }
      if (pieces == 1)
        store_to(a.dtype, a.out[k], o, sum);
      else
        sums[o * pieces + p] = sum;
    }
  }
};

/// The pieces of an element become one number.
struct FinishSums {
  const double* sums;
  std::int64_t elements, pieces;
  Dtype dtype;
  void* out;
  bool add;

  constexpr std::int64_t work() const { return elements; }

  constexpr void operator()(std::int64_t thread, std::int64_t threads) const {
    for (std::int64_t o = thread; o < elements; o += threads) {
      double sum = 0;
      for (std::int64_t p = 0; p < pieces; ++p) sum += sums[o * pieces + p];
      if (add) sum += load_from<double>(dtype, out, o);
      store_to(dtype, out, o, sum);
    }
  }
};

/// sum = a + b, element by element.
struct AddElements {
  Dtype dtype;
  const void *a, *b;
  void* sum;
  std::int64_t n;

  constexpr std::int64_t work() const { return n; }

  constexpr void operator()(std::int64_t thread, std::int64_t threads) const {
    for (std::int64_t i = thread; i < n; i += threads) {
      if (is_floating(dtype))  // a sum of two floats in double rounds to what it is in float
        store_to(dtype, sum, i, load_from<double>(dtype, a, i) + load_from<double>(dtype, b, i));
      else
        store_to(dtype, sum, i, plus(load_from<std::int64_t>(dtype, a, i), load_from<std::int64_t>(dtype, b, i)));
    }
  }
};

/// target = source as another type, element by element, as the CPU converts (tensor/convert.hpp); an integer becomes a
/// floating number by way of double, which is exact to 2⁵³.
struct ConvertElements {
  Dtype from;
  const void* source;
  Dtype to;
  void* target;
  std::int64_t n;

  constexpr std::int64_t work() const { return n; }

  constexpr void operator()(std::int64_t thread, std::int64_t threads) const {
    for (std::int64_t i = thread; i < n; i += threads) {
      if (is_floating(from) || is_floating(to))
        store_to(to, target, i, load_from<double>(from, source, i));
      else
        store_to(to, target, i, load_from<std::int64_t>(from, source, i));
    }
  }
};

}  // namespace strop::inline v0::cuda
