// SPDX-License-Identifier: Apache-2.0
/// \file
/// Bodies of the operators of ops/fully_connected.hpp, which only what builds their kernels reads.
#pragma once
#include <strop/core/list.hpp>
#include <strop/ops/fully_connected.hpp>
#include <strop/ops/gemm.hpp>
#include <strop/ops/reduce_rows.hpp>
#include <strop/tensor/cast.hpp>
#include <strop/tensor/merged.hpp>

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace strop::inline v0 {

namespace detail {

inline namespace STROP_ISA {

/// out(j) = Σᵢ x(i, j), or += where `add`: the sum of the rows of a matrix.
template <class E>
void sum_rows(const E* x, std::int64_t rows, std::int64_t cols, E* out, bool add) {
  if (rows == 0) return add ? void() : std::fill(out, out + cols, E(0));
  parallel_for(cols, std::max<std::int64_t>(64, (std::int64_t{1} << 17) / rows),
               [&](std::int64_t begin, std::int64_t end) {
                 constexpr std::int64_t wide = 1024;
                 List<E> sums(add ? std::min(wide, end - begin) : 0);
                 for (std::int64_t j = begin; j < end; j += wide) {
                   const std::int64_t count = std::min(wide, end - j);
                   join_rows<AddStep, true>(add ? sums.data() : out + j, x + j, cols, rows, count);
                   for (std::int64_t i = 0; add && i < count; ++i) out[j + i] += sums[i];
                 }
               });
}

}  // namespace STROP_ISA

}  // namespace detail

inline double FullyConnected::operations(std::span<const Shape> in) const {
  const std::int64_t inputs_of_each = in[1].back();
  const std::int64_t examples = inputs_of_each == 0 ? 0 : in[0].size() / inputs_of_each;
  return static_cast<double>(examples) * static_cast<double>(*num_hidden) *
         static_cast<double>(2 * inputs_of_each + (no_bias ? 0 : 1));
}

inline double FullyConnected::gradient_operations(std::span<const Shape> takes) const {
  const FullyConnected product{.num_hidden = num_hidden, .no_bias = true, .flatten = flatten};
  return 2 * product.operations(takes.subspan(1)) + (no_bias ? 0 : static_cast<double>(takes[0].size()));
}

template <Real E>
inline void FullyConnected::forward(Cpu& ctx, View<const E> x, const NDArray& weight, const NDArray& bias,
                                    View<E> y) const {
  const std::int64_t hidden = *num_hidden, examples = y.size() / hidden;
  if (y.size() == 0) return;
  const NDArray w = detail::merged(weight), b = bias.defined() ? detail::merged(bias) : bias;  // whose rows ascend
  const bool whole_weight = stores_all_rows(w), whole_bias = b.defined() && stores_all_rows(b);
  bool add = ctx.request() == Request::add;
  if (!add && !whole_bias && (b.defined() || !whole_weight)) {
    std::fill_n(y.data(), y.size(), E(0));
    add = true;
  }
  if (b.defined()) {
    const E* from = b.pointer<const E>();
    for (std::int64_t i = 0; i < examples; ++i) {
      E* to = y.data() + i * hidden;
      if (whole_bias && !add)
        detail::copy_bytes(to, from, hidden * std::int64_t{sizeof(E)});
      else if (whole_bias)
        for (std::int64_t j = 0; j < hidden; ++j) to[j] += from[j];
      else
        add_at_rows(b, from, to);
    }
    add = true;
  }
  const std::int64_t inputs_of_each = x.size() / examples;
  if (whole_weight)
    return detail::gemm(examples, hidden, inputs_of_each, x.data(), false, w.pointer<const E>(), true, y.data(), add);
  const std::int64_t stored = w.nnz();
  if (stored == 0) return;
  detail::List<E> products(examples * stored);
  detail::gemm(examples, stored, inputs_of_each, x.data(), false, w.pointer<const E>(), true, products.data(), false);
  for (std::int64_t i = 0; i < examples; ++i) add_at_rows(w, products.data() + i * stored, y.data() + i * hidden);
}

template <Real E>
inline void FullyConnected::grad(Cpu& ctx, Head<"output", View<const E>> dy, In<"data", View<const E>> x,
                                 In<"weight", View<const E, 2>> w, Grad<"data", View<E>> dx,
                                 Grad<"weight", View<E, 2>> dw, Grad<"bias", View<E>> db) const {
  const std::int64_t hidden = *num_hidden, width = w.shape()[1], examples = dy.size() / hidden;
  const auto adds = [&](int i) { return ctx.request(i) == Request::add; };
  if (dx) detail::gemm(examples, width, hidden, dy.data(), false, w.data(), false, dx.data(), adds(0));
  if (dw) detail::gemm(hidden, width, examples, dy.data(), true, x.data(), false, dw.data(), adds(1));
  if (db) detail::sum_rows(dy.data(), examples, hidden, db.data(), adds(2));
}

inline bool FullyConnected::stores_all_rows(const NDArray& a) {
  if (a.storage() == dense) return true;
  const std::int64_t rows = a.shape()[0];
  if (rows == 0 || a.nnz() != rows) return false;
  const detail::IndexReader stored(a.indices());  // which ascend
  return stored[0] == 0 && stored[rows - 1] == rows - 1;
}

template <class E>
inline void FullyConnected::add_at_rows(const NDArray& a, const E* from, E* to) {
  const detail::IndexReader rows(a.indices());
  for (std::int64_t k = 0; k < a.nnz(); ++k) to[detail::checked_index(rows[k], a.shape()[0])] += from[k];
}

inline double FullyConnectedGradient::operations(std::span<const Shape> in) const {
  return FullyConnected{.num_hidden = num_hidden, .flatten = flatten}.gradient_operations(in);
}

template <Real E>
inline void FullyConnectedGradient::forward(Cpu& ctx, View<const E> dy, View<const E> x, View<const E, 2> w, View<E> dx,
                                            View<E, 2> dw, View<E> db) const {
  FullyConnected{.num_hidden = num_hidden, .flatten = flatten}.grad<E>(ctx, {dy}, {x}, {w}, {dx}, {dw}, {db});
}

inline double FullyConnectedSum::operations(std::span<const Shape> in) const {
  const FullyConnected layer{.num_hidden = num_hidden, .no_bias = no_bias, .flatten = flatten},
      bare{.num_hidden = num_hidden, .no_bias = true, .flatten = flatten};
  return layer.operations(in) + bare.operations(in);
}

template <Real E>
inline void FullyConnectedSum::forward(Cpu&, View<const E> a, View<const E, 2> b, View<const E> c, View<const E, 2> d,
                                       View<const E> bias, View<E> y) const {
  const std::int64_t hidden = *num_hidden, examples = y.size() / hidden;
  for (std::int64_t i = 0; i < y.size(); ++i) y[i] = bias ? bias[i % hidden] : E(0);
  if (examples == 0) return;
  detail::gemm(examples, hidden, a.size() / examples, a.data(), false, b.data(), true, y.data(), true);
  detail::gemm(examples, hidden, a.size() / examples, c.data(), false, d.data(), true, y.data(), true);
}

template <class Node>
inline std::vector<Node> FullyConnectedGradient::gradient(std::span<const Node> heads, const Node& dy, const Node& data,
                                                          const Node& weight) const {
  const auto parts = fully_connected_gradient(dy, heads[0], heads[1], {.num_hidden = num_hidden, .flatten = flatten});
  const bool bias = heads.size() > 2;
  const FullyConnectedSum params{.num_hidden = num_hidden, .no_bias = !bias, .flatten = flatten};
  std::vector<Node> in{heads[0], weight, data, heads[1]};
  if (bias) in.push_back(heads[2]);
  return {fully_connected_sum(std::span<const Node>(in), params), parts[0], parts[1]};
}

template <class Node>
inline std::vector<Node> FullyConnected::gradient_again(std::span<const Node> heads, std::span<const Node> in) const {
  return FullyConnectedGradient{.num_hidden = num_hidden, .flatten = flatten}.gradient<Node>(heads, in[0], in[1],
                                                                                             in[2]);
}

}  // namespace strop::inline v0
