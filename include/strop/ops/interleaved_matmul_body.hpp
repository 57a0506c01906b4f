// SPDX-License-Identifier: Apache-2.0
/// \file
/// Bodies of the operators of ops/interleaved_matmul.hpp, which only what builds their kernels reads.
#pragma once
#include <strop/core/list.hpp>
#include <strop/ops/gemm.hpp>
#include <strop/ops/interleaved_matmul.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <type_traits>

namespace strop::inline v0 {

namespace detail {

inline namespace STROP_ISA {

/// An array (length, batch, heads · parts · width) as matrices of length × width, `parts` for each of batch · heads.
/// Without memory it is a gradient that nobody asks for.
template <class E>
struct Heads {
  using Number = std::remove_const_t<E>;
  E* data;
  std::int64_t length, count, parts, width;

  Heads(View<E, 3> x, int heads, int of_each)
      : data(x.data()),
        length(x.shape()[0]),
        count(x.shape()[1] * heads),
        parts(of_each),
        width(x.shape()[2] / (std::int64_t{heads} * of_each)) {}
  explicit operator bool() const { return data != nullptr; }
  std::int64_t step() const { return count * parts * width; }
  E* start(std::int64_t i, std::int64_t part) const { return data + (i * parts + part) * width; }
  Strided<Number> matrix(std::int64_t i, std::int64_t part) const { return {start(i, part), step(), 1}; }
  void clear() const {
    if (*this) std::fill_n(data, length * step(), Number(0));
  }
  /// The matrix becomes factor · a · b, with a of `inner` columns.
  void put_product(std::int64_t i, std::int64_t part, std::int64_t inner, Strided<Number> a, Strided<Number> b,
                   Number factor = 1) const {
    List<Number> product(length * width);
    gemm(length, width, inner, a, b, product.data());
    for (std::int64_t row = 0; row < length; ++row)
      for (std::int64_t j = 0; j < width; ++j) start(i, part)[row * step() + j] = factor * product[row * width + j];
  }
};

/// 1 / √width; sums of no products stay 0.
template <class E>
E head_scale(std::int64_t width) {
  return static_cast<E>(1 / std::sqrt(static_cast<double>(std::max<std::int64_t>(1, width))));
}

/// y = q · kᵀ / √width for every head; y is one matrix after the other.
template <class E>
void head_scores(Heads<const E> q, Heads<const E> k, std::int64_t k_part, E* y) {
  const std::int64_t size = q.length * k.length;
  if (size == 0) return;  // however many heads there are
  const E scale = head_scale<E>(q.width);
  each_product(q.count, size * q.width, [&](std::int64_t i) {
    gemm(q.length, k.length, q.width, q.matrix(i, 0), k.matrix(i, k_part).transpose(), y + i * size);
    for (E& score : Span<E>(y + i * size, size)) score *= scale;
  });
}

/// The gradients of q and of k.
template <class E>
void head_scores_gradient(const E* dy, Heads<const E> q, Heads<const E> k, std::int64_t k_part, Heads<E> dq,
                          Heads<E> dk) {
  const std::int64_t size = q.length * k.length;
  if (q.length * q.width == 0 && k.length * k.width == 0) return;
  const E scale = head_scale<E>(q.width);
  each_product(q.count, 2 * size * q.width, [&](std::int64_t i) {
    const Strided<E> head{dy + i * size, k.length, 1};
    if (dq) dq.put_product(i, 0, k.length, head, k.matrix(i, k_part), scale);
    if (dk) dk.put_product(i, k_part, q.length, head.transpose(), q.matrix(i, 0), scale);
  });
}

/// y = attention · v for every head.
template <class E>
void head_values(const E* attention, Heads<const E> v, std::int64_t part, Heads<E> y) {
  const std::int64_t size = y.length * v.length;
  if (y.length * y.width == 0) return;
  each_product(v.count, size * v.width, [&](std::int64_t i) {
    y.put_product(i, 0, v.length, Strided<E>{attention + i * size, v.length, 1}, v.matrix(i, part));
  });
}

/// The gradients of v and of attention.
template <class E>
void head_values_gradient(Heads<const E> dy, const E* attention, Heads<const E> v, std::int64_t part, Heads<E> dv,
                          E* dattention) {
  const std::int64_t size = dy.length * v.length;
  if (size == 0 && v.length * v.width == 0) return;
  each_product(v.count, 2 * size * v.width, [&](std::int64_t i) {
    if (dv) dv.put_product(i, part, dy.length, Strided<E>{attention + i * size, 1, v.length}, dy.matrix(i, 0));
    if (dattention != nullptr)
      gemm(dy.length, v.length, v.width, dy.matrix(i, 0), v.matrix(i, part).transpose(), dattention + i * size);
  });
}

}  // namespace STROP_ISA

}  // namespace detail

template <Real E>
inline void InterleavedMatmulSelfattQk::forward(Cpu&, View<const E, 3> x, View<E, 3> y) const {
  const detail::Heads<const E> all(x, heads, 3);
  detail::head_scores(all, all, 1, y.data());
}

template <Real E>
inline void InterleavedMatmulSelfattQk::grad_use_in(Cpu&, View<const E, 3> dy, View<const E, 3> x,
                                                    View<E, 3> dx) const {
  const detail::Heads<const E> all(x, heads, 3);
  const detail::Heads<E> dall(dx, heads, 3);
  dall.clear();
  detail::head_scores_gradient(dy.data(), all, all, 1, dall, dall);
}

template <Real E>
inline void InterleavedMatmulSelfattValatt::forward(Cpu&, View<const E, 3> x, View<const E, 3> attention,
                                                    View<E, 3> y) const {
  detail::head_values<E>(attention.data(), {x, heads, 3}, 2, {y, heads, 1});
}

template <Real E>
inline void InterleavedMatmulSelfattValatt::grad(Cpu&, Head<"output", View<const E, 3>> dy,
                                                 In<"queries_keys_values", View<const E, 3>> x,
                                                 In<"attention", View<const E, 3>> attention,
                                                 Grad<"queries_keys_values", View<E, 3>> dx,
                                                 Grad<"attention", View<E, 3>> dattention) const {
  const detail::Heads<E> dall(dx, heads, 3);
  dall.clear();
  detail::head_values_gradient<E>({dy, heads, 1}, attention.data(), {x, heads, 3}, 2, dall, dattention.data());
}

template <Real E>
inline void InterleavedMatmulEncdecQk::forward(Cpu&, View<const E, 3> queries, View<const E, 3> keys_values,
                                               View<E, 3> y) const {
  detail::head_scores<E>({queries, heads, 1}, {keys_values, heads, 2}, 0, y.data());
}

template <Real E>
inline void InterleavedMatmulEncdecQk::grad(Cpu&, Head<"output", View<const E, 3>> dy,
                                            In<"queries", View<const E, 3>> queries,
                                            In<"keys_values", View<const E, 3>> keys_values,
                                            Grad<"queries", View<E, 3>> dqueries,
                                            Grad<"keys_values", View<E, 3>> dkeys_values) const {
  const detail::Heads<E> both(dkeys_values, heads, 2);
  both.clear();
  detail::head_scores_gradient<E>(dy.data(), {queries, heads, 1}, {keys_values, heads, 2}, 0, {dqueries, heads, 1},
                                  both);
}

template <Real E>
inline void InterleavedMatmulEncdecValatt::forward(Cpu&, View<const E, 3> keys_values, View<const E, 3> attention,
                                                   View<E, 3> y) const {
  detail::head_values<E>(attention.data(), {keys_values, heads, 2}, 1, {y, heads, 1});
}

template <Real E>
inline void InterleavedMatmulEncdecValatt::grad(Cpu&, Head<"output", View<const E, 3>> dy,
                                                In<"keys_values", View<const E, 3>> keys_values,
                                                In<"attention", View<const E, 3>> attention,
                                                Grad<"keys_values", View<E, 3>> dkeys_values,
                                                Grad<"attention", View<E, 3>> dattention) const {
  const detail::Heads<E> both(dkeys_values, heads, 2);
  both.clear();
  detail::head_values_gradient<E>({dy, heads, 1}, attention.data(), {keys_values, heads, 2}, 1, both,
                                  dattention.data());
}

}  // namespace strop::inline v0
