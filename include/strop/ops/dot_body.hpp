// SPDX-License-Identifier: Apache-2.0
/// \file
/// Bodies of the operators of ops/dot.hpp, which only what builds their kernels reads.
#pragma once
#include <strop/ops/dot.hpp>
#include <strop/ops/dot_rows.hpp>
#include <strop/ops/gemm.hpp>
#include <strop/ops/sparse_dot.hpp>
#include <strop/ops/sparse_product.hpp>

#include <cstdint>
#include <span>
#include <vector>

namespace strop::inline v0 {

namespace detail {

/// A product of arrays as one of matrices: m × k by k × n.
struct DotExtents {
  std::int64_t m, n, k;
  DotExtents(const Shape& lhs, const Shape& rhs, bool transpose_a, bool transpose_b) {
    const bool first = transpose_a && lhs.ndim() > 1, last = transpose_b && rhs.ndim() > 1;
    k = first ? lhs[0] : lhs.back();
    m = first ? lhs.size(1, lhs.ndim()) : lhs.size(0, lhs.ndim() - 1);
    n = last ? rhs.size(0, rhs.ndim() - 1) : rhs.size(1, rhs.ndim());
  }
};

/// out = a · b, m × k by k × n, or where a factor is turned its transpose; a and out dense, b dense or CSR.
template <class E>
void dense_product(std::int64_t m, std::int64_t n, std::int64_t k, const E* a, bool a_turned, const NDArray& b,
                   bool b_turned, E* out, bool add) {
  switch (dot_rule(dense, b.storage(), a_turned, b_turned).form) {
    case DotForm::dense_csr:
      return dense_times_csr(a, m, b, out, add);
    case DotForm::dense_csr_turned:
      return dense_times_csr_transposed(a, m, b, out, add);
    default:
      return gemm(m, n, k, a, a_turned, b.pointer<const E>(), b_turned, out, add);
  }
}

/// The same of every form but csr_csr, into `out` of the form's storage or dense.
template <class E>
void dot_product(std::int64_t m, std::int64_t n, std::int64_t k, const NDArray& a, bool a_turned, const NDArray& b,
                 bool b_turned, const NDArray& out, bool add) {
  const DotForm form = dot_rule(a.storage(), b.storage(), a_turned, b_turned).form;
  if (form == DotForm::csr_rows)
    csr_times_rows(a, b, out.pointer<E>(), add);
  else if (form == DotForm::csr_turned_rows && out.storage() == dense)
    csr_transposed_times_rows(a, b, out.pointer<E>(), add);
  else if (form == DotForm::csr_turned_rows)
    csr_transposed_to_rows<E>(a, b, out);
  else if (form == DotForm::dense_csr && out.storage() == csr)
    dense_times_csr_to_csr(a.pointer<const E>(), m, b, out);
  else
    dense_product(m, n, k, a.pointer<const E>(), a_turned, b, b_turned, out.pointer<E>(), add);
}

}  // namespace detail

inline double Dot::operations(std::span<const Shape> in) const {
  const detail::DotExtents d(in[0], in[1], transpose_a, transpose_b);
  return 2.0 * static_cast<double>(d.m) * static_cast<double>(d.n) * static_cast<double>(d.k);
}

inline double Dot::gradient_operations(std::span<const Shape> takes) const { return 2 * operations(takes.subspan(1)); }

template <Real E>
inline void Dot::forward(Cpu& ctx, const NDArray& lhs, const NDArray& rhs, NDArray& out) const {
  const bool add = ctx.request() == Request::add;
  if (rule_of(lhs.storage(), rhs.storage()).form == detail::DotForm::csr_csr) {
    const detail::CsrFactors<E> f(lhs, rhs, transpose_a, transpose_b, true);
    if (out.storage() == dense) return detail::csr_times_csr_to_dense(f.a, f.b, out.pointer<E>(), add);
    const bool narrow = lhs.indices().dtype() == i32 && rhs.indices().dtype() == i32;
    return detail::csr_times_csr<E>(f.a, f.b, out, narrow ? i32 : i64);
  }
  const auto [m, n, k] = detail::DotExtents(lhs.shape(), rhs.shape(), transpose_a, transpose_b);
  detail::dot_product<E>(m, n, k, lhs, transpose_a && lhs.ndim() > 1, rhs, transpose_b && rhs.ndim() > 1, out, add);
}

template <Real E>
inline void Dot::grad(Cpu& ctx, Head<"output", NDArray> dy, In<"lhs", NDArray> lhs, In<"rhs", NDArray> rhs,
                      Grad<"lhs", NDArray> da, Grad<"rhs", NDArray> db) const {
  if (rule_of(lhs.storage(), rhs.storage()).form == detail::DotForm::csr_csr) {
    const NDArray head = dy.storage() == row_sparse ? detail::cast_storage(dy, csr) : NDArray(dy);
    return detail::gradients_of_csr_product<E>(head, lhs, rhs, transpose_a, transpose_b, da,
                                               ctx.request(0) == Request::add, db, ctx.request(1) == Request::add);
  }
  if (dy.storage() == row_sparse) {
    // The rows of the head are those of lhs, but of a vector, which has no row.
    if (lhs.ndim() > 1) return grad_of_rows<E>(ctx, detail::merged(dy), lhs, rhs, da, db);
    return grad<E>(ctx, {detail::cast_storage(dy, dense)}, lhs, rhs, da, db);
  }
  const auto [m, n, k] = detail::DotExtents(lhs.shape(), rhs.shape(), transpose_a, transpose_b);
  const bool first = transpose_a && lhs.ndim() > 1, last = transpose_b && rhs.ndim() > 1;
  const E* const head = dy.template pointer<const E>();
  if (da.defined()) {
    const bool add = ctx.request(0) == Request::add;
    const NDArray factor = rhs.storage() == row_sparse ? detail::cast_storage(rhs, dense) : rhs;
    const E* const b = factor.pointer<const E>();
    if (da.storage() == csr && first)
      detail::product_on_pattern(lhs, b, last ? 1 : n, last ? k : 1, head, n, 1, n, da);
    else if (da.storage() == csr)
      detail::product_on_pattern(lhs, head, n, 1, b, last ? 1 : n, last ? k : 1, n, da);
    else if (first)
      detail::dot_product<E>(k, m, n, factor, last, dy, true, da, add);
    else
      detail::dot_product<E>(m, k, n, dy, false, factor, !last, da, add);
  }
  if (db.defined()) {
    const bool add = ctx.request(1) == Request::add;
    if (db.storage() == csr) {
      const E* const a = lhs.template pointer<const E>();
      const std::int64_t a_row = first ? 1 : k, a_step = first ? m : 1;
      if (last)
        detail::product_on_pattern(rhs, head, 1, n, a, a_step, a_row, m, db);
      else
        detail::product_on_pattern(rhs, a, a_step, a_row, head, 1, n, m, db);
    } else if (last) {
      detail::dot_product<E>(n, k, m, dy, true, lhs, first, db, add);
    } else if (lhs.storage() == csr) {
      detail::dot_product<E>(k, n, m, lhs, !first, detail::view_as(dy, {m, n}), false, db, add);
    } else {
      detail::dot_product<E>(k, n, m, lhs, !first, dy, false, db, add);
    }
  }
}

template <class E>
inline void Dot::grad_of_rows(Cpu& ctx, const NDArray& dy, const NDArray& lhs, const NDArray& rhs, const NDArray& da,
                              const NDArray& db) const {
  const auto [m, n, k] = detail::DotExtents(lhs.shape(), rhs.shape(), transpose_a, transpose_b);
  const bool last = transpose_b && rhs.ndim() > 1, add_a = ctx.request(0) == Request::add,
             add_b = ctx.request(1) == Request::add;
  const E* const head = dy.pointer<const E>();
  const detail::HeadRows rows(dy, m);
  if (da.defined()) {
    const NDArray factor = rhs.storage() == row_sparse ? detail::cast_storage(rhs, dense) : rhs;
    if (da.storage() == csr) {
      detail::rows_on_pattern(lhs, dy, factor.pointer<const E>(), n, transpose_a, da);
    } else {
      detail::List<E> products(rows.count() * k);
      detail::dense_product(rows.count(), k, n, head, false, factor, !last, products.data(), false);
      rows.put(products, da.pointer<E>(), transpose_a, m, k, add_a);
    }
  }
  if (!db.defined()) return;
  if (lhs.storage() == csr) return detail::dot_product<E>(k, n, m, lhs, !transpose_a, dy, false, db, add_b);
  const std::int64_t count = rows.count();
  const detail::List<E> kept = rows.rows_of(lhs.pointer<const E>(), transpose_a, m, k);
  if (db.storage() == csr && last)
    detail::product_on_pattern(rhs, head, 1, n, kept.data(), 1, k, count, db);
  else if (db.storage() == csr)
    detail::product_on_pattern(rhs, kept.data(), 1, k, head, 1, n, count, db);
  else if (last)
    detail::gemm(n, k, count, head, true, kept.data(), false, db.pointer<E>(), add_b);
  else
    detail::gemm(k, n, count, kept.data(), true, head, false, db.pointer<E>(), add_b);
}

inline double DotGradient::operations(std::span<const Shape> in) const {
  return Dot{.transpose_a = transpose_a, .transpose_b = transpose_b}.gradient_operations(in);
}

template <Real E>
inline void DotGradient::forward(Cpu& ctx, const NDArray& dy, const NDArray& lhs, const NDArray& rhs, NDArray& da,
                                 NDArray& db) const {
  Dot{.transpose_a = transpose_a, .transpose_b = transpose_b}.grad<E>(ctx, {dy}, {lhs}, {rhs}, {da}, {db});
}

inline double DotSum::operations(std::span<const Shape> in) const {  // the last addition of one goes to the other
  return 2 * Dot{.transpose_a = transpose_a, .transpose_b = transpose_b}.operations(in);
}

template <Real E>
inline void DotSum::forward(Cpu&, View<const E> a, View<const E> b, View<const E> c, View<const E> d, View<E> y) const {
  const Shape lhs(a.shape()), rhs(b.shape());
  const detail::DotExtents e(lhs, rhs, transpose_a, transpose_b);
  const bool first = transpose_a && lhs.ndim() > 1, last = transpose_b && rhs.ndim() > 1;
  detail::gemm(e.m, e.n, e.k, a.data(), first, b.data(), last, y.data(), false);
  detail::gemm(e.m, e.n, e.k, c.data(), first, d.data(), last, y.data(), true);
}

template <class Node>
inline std::vector<Node> DotGradient::gradient(std::span<const Node> heads, const Node& dy, const Node& lhs,
                                               const Node& rhs) const {
  const auto factors = dot_gradient(dy, heads[0], heads[1], {.transpose_a = transpose_a, .transpose_b = transpose_b});
  return {dot_sum(heads[0], rhs, lhs, heads[1], {.transpose_a = transpose_a, .transpose_b = transpose_b}), factors[0],
          factors[1]};
}

template <class Node>
inline std::vector<Node> Dot::gradient_again(std::span<const Node> heads, std::span<const Node> in) const {
  return DotGradient{.transpose_a = transpose_a, .transpose_b = transpose_b}.gradient<Node>(heads, in[0], in[1], in[2]);
}

namespace detail {

/// gemm for each of `batch` pairs of matrices.
template <class E>
void gemm_each(std::int64_t batch, std::int64_t m, std::int64_t n, std::int64_t k, const E* a, bool a_transposed,
               const E* b, bool b_transposed, E* c, bool add) {
  each_product(batch, m * n * k, [&](std::int64_t i) {
    gemm(m, n, k, a + i * m * k, a_transposed, b + i * k * n, b_transposed, c + i * m * n, add);
  });
}

}  // namespace detail

inline double BatchDot::operations(std::span<const Shape> in) const {
  const int last = in[1].ndim() - 1;
  return 2.0 * static_cast<double>(in[0].size()) * static_cast<double>(in[1][transpose_b ? last - 1 : last]);
}

inline double BatchDot::gradient_operations(std::span<const Shape> takes) const {
  return 2 * operations(takes.subspan(1));
}

template <Real E>
inline void BatchDot::forward(Cpu& ctx, View<const E> a, View<const E> b, View<E> y) const {
  const auto [batch, m, n, k] = extents(a.shape(), y.shape());
  detail::gemm_each(batch, m, n, k, a.data(), transpose_a, b.data(), transpose_b, y.data(),
                    ctx.request() == Request::add);
}

template <Real E>
inline void BatchDot::grad(Cpu& ctx, Head<"output", View<const E>> dy, In<"lhs", View<const E>> a,
                           In<"rhs", View<const E>> b, Grad<"lhs", View<E>> da, Grad<"rhs", View<E>> db) const {
  const auto [batch, m, n, k] = extents(a.shape(), dy.shape());
  if (da) {
    const bool add = ctx.request(0) == Request::add;
    if (transpose_a)
      detail::gemm_each(batch, k, m, n, b.data(), transpose_b, dy.data(), true, da.data(), add);
    else
      detail::gemm_each(batch, m, k, n, dy.data(), false, b.data(), !transpose_b, da.data(), add);
  }
  if (db) {
    const bool add = ctx.request(1) == Request::add;
    if (transpose_b)
      detail::gemm_each(batch, n, k, m, dy.data(), true, a.data(), transpose_a, db.data(), add);
    else
      detail::gemm_each(batch, k, n, m, a.data(), !transpose_a, dy.data(), false, db.data(), add);
  }
}

inline BatchDot::Extents BatchDot::extents(std::span<const std::int64_t> lhs,
                                           std::span<const std::int64_t> product) const {
  const std::size_t last = product.size() - 1;
  Extents e{.m = product[last - 1], .n = product[last], .k = lhs[transpose_a ? last - 1 : last]};
  for (std::size_t i = 0; i + 1 < last; ++i) e.batch *= product[i];
  return e;
}

}  // namespace strop::inline v0
