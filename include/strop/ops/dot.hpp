// SPDX-License-Identifier: Apache-2.0
/// \file
/// dot: products of vectors, matrices and arrays of more dimensions, with their CSR forms; batch_dot.
#pragma once
#include <strop/op/op.hpp>
#include <strop/ops/cast.hpp>
#include <strop/ops/dot_rows.hpp>
#include <strop/ops/gemm.hpp>
#include <strop/ops/list.hpp>
#include <strop/ops/sparse_dot.hpp>
#include <strop/ops/sparse_product.hpp>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>
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

/// Shapes of dot, from whatever is known.
constexpr void infer_dot_shape(Shapes& shapes, bool transpose_a, bool transpose_b) {
  Shape a = shapes.in(0), b = shapes.in(1);
  if (!a.has_rank() || !b.has_rank()) return;
  for (int i = 0; i < 2; ++i)
    if (shapes.in(i).ndim() == 0) shapes.fail(shapes.name_in(i), " has no dimension, expected 1 or more");
  const int a_axis = transpose_a ? 0 : a.ndim() - 1, b_axis = transpose_b ? b.ndim() - 1 : 0;
  if (a[a_axis] < 0) a[a_axis] = b[b_axis];
  if (b[b_axis] < 0) b[b_axis] = a[a_axis];
  if (a[a_axis] != b[b_axis])
    shapes.fail(shapes.name_in(0), " has shape ", to_text(a), " and ", shapes.name_in(1), " ", to_text(b),
                ", expected as many elements on axis ", a_axis, " of the first as on axis ", b_axis, " of the second");
  shapes.set_in(0, a);
  shapes.set_in(1, b);
  Shape out;
  for (int i = 0; i < a.ndim(); ++i)
    if (i != a_axis) out.push_back(a[i]);
  for (int i = 0; i < b.ndim(); ++i)
    if (i != b_axis) out.push_back(b[i]);
  if (out.ndim() == 0) out.push_back(1);
  shapes.set_out(0, out);
}

}  // namespace detail

/// dot: y = Σₖ lhs[…, k] · rhs[k, …], the last axis of lhs with the first of rhs.
///
/// `transpose_a` takes the first axis of lhs instead, `transpose_b` the last one of rhs. Floating types. Storages: csr
/// · dense or row_sparse → dense; csrᵀ · dense or row_sparse → row_sparse, or dense with `forward_stype`; dense · csr →
/// csr, or dense with `forward_stype`; dense · csrᵀ → dense; csr · csr → csr, either transposed or not: every place
/// where stored values meet is stored, though their sum be zero; or dense with `forward_stype`; others by the dense
/// fallback, into `forward_stype`.
/// The gradient of the factor beside a CSR one is row_sparse where the factor is not transposed and nobody says dense;
/// that of a CSR factor is dense, or csr on the stored positions. A row_sparse head gradient is read by its rows.
/// Error: the axes differ in length.
///
/// Example: `dot(array({{1, 2}, {3, 4}}), array({1, 1}))` is [3, 7].
struct Dot {
  bool transpose_a = false, transpose_b = false;
  std::optional<Storage> forward_stype = {};

  static constexpr std::string_view name = "dot";
  static constexpr std::string_view aliases[] = {"_sparse_dot"};
  static constexpr std::string_view inputs[] = {"lhs", "rhs"};
  static constexpr const char* doc =
      "The sum of products over the last axis of lhs and the first of rhs; two vectors give shape (1,). csr · dense "
      "and csr · row_sparse are dense, with transpose_a row_sparse; dense · csr and csr · csr are csr.";
  static constexpr Note notes[] = {{"transpose_a", "takes the first axis of lhs"},
                                   {"transpose_b", "takes the last axis of rhs"},
                                   {"forward_stype", "the storage of the result"}};
  static constexpr bool accumulates = true, gradient_accumulates = true;

  constexpr void infer_shape(Shapes& shapes) const { detail::infer_dot_shape(shapes, transpose_a, transpose_b); }
  double operations(std::span<const Shape> in) const {
    const detail::DotExtents d(in[0], in[1], transpose_a, transpose_b);
    return 2.0 * static_cast<double>(d.m) * static_cast<double>(d.n) * static_cast<double>(d.k);
  }

  /// A product for each factor.
  double gradient_operations(std::span<const Shape> takes) const { return 2 * operations(takes.subspan(1)); }

  constexpr bool infer_storage(Storages& s) const {
    const Storage a = s.in(0), b = s.in(1), wanted = s.out(0).value_or(forward_stype.value_or(natural(a, b)));
    s.set_out(0, wanted);
    if (a == csr && b == csr) return wanted == csr || wanted == dense;
    if (a == csr && b != csr && !transpose_b) return wanted == dense || (transpose_a && wanted == row_sparse);
    if (a == dense && b == csr && !transpose_a) return wanted == dense || (!transpose_b && wanted == csr);
    return a == dense && b == dense && wanted == dense;
  }

  template <Real E>
  void forward(Cpu& ctx, const NDArray& lhs, const NDArray& rhs, NDArray& out) const {
    const detail::DotExtents d(lhs.shape(), rhs.shape(), transpose_a, transpose_b);
    const bool add = ctx.request() == Request::add;
    if (lhs.storage() == csr && rhs.storage() == csr) {
      const detail::CsrFactors<E> f(lhs, rhs, transpose_a, transpose_b, true);
      if (out.storage() == dense) return detail::csr_times_csr_to_dense(f.a, f.b, out.pointer<E>(), add);
      const bool narrow = lhs.indices().dtype() == i32 && rhs.indices().dtype() == i32;
      detail::csr_times_csr<E>(f.a, f.b, out, narrow ? i32 : i64);
    } else if (lhs.storage() == csr) {
      if (!transpose_a)
        detail::csr_times_rows(lhs, rhs, out.pointer<E>(), add);
      else if (out.storage() == dense)
        detail::csr_transposed_times_rows(lhs, rhs, out.pointer<E>(), add);
      else
        detail::csr_transposed_to_rows<E>(lhs, rhs, out);
    } else if (rhs.storage() == csr) {
      if (transpose_b)
        detail::dense_times_csr_transposed(lhs.pointer<const E>(), d.m, rhs, out.pointer<E>(), add);
      else if (out.storage() == dense)
        detail::dense_times_csr(lhs.pointer<const E>(), d.m, rhs, out.pointer<E>(), add);
      else
        detail::dense_times_csr_to_csr(lhs.pointer<const E>(), d.m, rhs, out);
    } else {
      detail::gemm(d.m, d.n, d.k, lhs.pointer<const E>(), transpose_a && lhs.ndim() > 1, rhs.pointer<const E>(),
                   transpose_b && rhs.ndim() > 1, out.pointer<E>(), add);
    }
  }

  /// Head gradient, lhs, rhs → gradients of lhs and rhs.
  constexpr bool infer_gradient_storage(Storages& s) const {
    const Storage a = s.in(1), b = s.in(2);
    const bool a_csr = a == csr && b != csr && !transpose_b, b_csr = a == dense && b == csr && !transpose_a;
    const Storage da = s.out(0).value_or(dense), db = s.out(1).value_or(a_csr && !transpose_a ? row_sparse : dense);
    s.set_out(0, da);
    s.set_out(1, db);
    if (a == csr && b == csr) return da != row_sparse && db != row_sparse;
    if (s.in(0) == csr || !(a_csr || b_csr || (a == dense && b == dense))) return false;
    return (da == dense || (a_csr && da == csr)) &&
           (db == dense || (a_csr && !transpose_a && db == row_sparse) || (b_csr && db == csr));
  }

  template <Real E>
  void grad(Cpu& ctx, Head<"output", NDArray> dy, In<"lhs", NDArray> lhs, In<"rhs", NDArray> rhs,
            Grad<"lhs", NDArray> da, Grad<"rhs", NDArray> db) const {
    if (lhs.storage() == csr && rhs.storage() == csr) {
      const NDArray head = dy.storage() == row_sparse ? detail::cast_storage(dy, csr) : NDArray(dy);
      return detail::gradients_of_csr_product<E>(head, lhs, rhs, transpose_a, transpose_b, da,
                                                 ctx.request(0) == Request::add, db, ctx.request(1) == Request::add);
    }
    if (dy.storage() == row_sparse) {
      // The rows of the head are those of lhs, but of a vector, which has no row.
      if (lhs.ndim() > 1) return grad_of_rows<E>(ctx, detail::merged(dy), lhs, rhs, da, db);
      return grad<E>(ctx, {detail::cast_storage(dy, dense)}, lhs, rhs, da, db);
    }
    const detail::DotExtents d(lhs.shape(), rhs.shape(), transpose_a, transpose_b);
    const auto [m, n, k] = d;
    const bool first = transpose_a && lhs.ndim() > 1, last = transpose_b && rhs.ndim() > 1;
    const E* const head = dy.template pointer<const E>();
    if (da) {
      const bool add = ctx.request(0) == Request::add;
      const NDArray factor = rhs.storage() == row_sparse ? detail::cast_storage(rhs, dense) : rhs;
      const E* const b = factor.pointer<const E>();
      if (da.storage() == csr) {
        if (first)
          detail::product_on_pattern(lhs, b, last ? 1 : n, last ? k : 1, head, n, 1, n, da);
        else
          detail::product_on_pattern(lhs, head, n, 1, b, last ? 1 : n, last ? k : 1, n, da);
      } else if (rhs.storage() == csr) {
        if (last)
          detail::dense_times_csr(head, m, rhs, da.template pointer<E>(), add);
        else
          detail::dense_times_csr_transposed(head, m, rhs, da.template pointer<E>(), add);
      } else if (first) {
        detail::gemm(k, m, n, b, last, head, true, da.template pointer<E>(), add);
      } else {
        detail::gemm(m, k, n, head, false, b, !last, da.template pointer<E>(), add);
      }
    }
    if (db) {
      const bool add = ctx.request(1) == Request::add;
      if (lhs.storage() == csr) return gradient_of_rhs<E>(lhs, as_matrix(dy, m, n), first, db, add);
      const E* const a = lhs.template pointer<const E>();
      const std::int64_t a_row = first ? 1 : k, a_step = first ? m : 1;
      if (db.storage() == csr) {
        if (last)
          detail::product_on_pattern(rhs, head, 1, n, a, a_step, a_row, m, db);
        else
          detail::product_on_pattern(rhs, a, a_step, a_row, head, 1, n, m, db);
      } else if (last) {
        detail::gemm(n, k, m, head, true, a, first, db.template pointer<E>(), add);
      } else {
        detail::gemm(k, n, m, a, !first, head, false, db.template pointer<E>(), add);
      }
    }
  }

  /// Heads of the two gradients; head gradient, lhs, rhs.
  template <class Node>
  std::vector<Node> gradient_again(std::span<const Node> heads, std::span<const Node> in) const;

 private:
  constexpr Storage natural(Storage a, Storage b) const {
    if (a == csr && b == csr) return csr;
    if (a == csr && b != csr && transpose_a && !transpose_b) return row_sparse;
    return a == dense && b == csr && !transpose_a && !transpose_b ? csr : dense;
  }
  static NDArray as_matrix(const NDArray& a, std::int64_t rows, std::int64_t cols) {
    return detail::view_as(a, {rows, cols});
  }
  template <class E>
  static void gradient_of_rhs(const NDArray& lhs, const NDArray& head, bool transposed, const NDArray& db, bool add) {
    if (transposed)
      detail::csr_times_rows(lhs, head, db.template pointer<E>(), add);
    else if (db.storage() == dense)
      detail::csr_transposed_times_rows(lhs, head, db.template pointer<E>(), add);
    else
      detail::csr_transposed_to_rows<E>(lhs, head, db);
  }
  /// The gradients for a row-sparse head, lhs being a matrix or more.
  template <class E>
  void grad_of_rows(Cpu& ctx, const NDArray& dy, const NDArray& lhs, const NDArray& rhs, const NDArray& da,
                    const NDArray& db) const {
    const auto [m, n, k] = detail::DotExtents(lhs.shape(), rhs.shape(), transpose_a, transpose_b);
    const bool last = transpose_b && rhs.ndim() > 1, add_a = ctx.request(0) == Request::add,
               add_b = ctx.request(1) == Request::add;
    const E* const head = dy.pointer<const E>();
    const detail::HeadRows rows(dy, m);
    if (da) {
      const NDArray factor = rhs.storage() == row_sparse ? detail::cast_storage(rhs, dense) : rhs;
      if (da.storage() == csr)
        detail::rows_on_pattern(lhs, dy, factor.pointer<const E>(), n, transpose_a, da);
      else
        detail::rows_times_factor(rows, head, factor, last, m, n, k, da.pointer<E>(), transpose_a, add_a);
    }
    if (!db) return;
    if (lhs.storage() == csr) return gradient_of_rhs<E>(lhs, dy, transpose_a, db, add_b);
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
};
template <>
inline constexpr bool detail::reads_any_index<Dot> = true;
template <>
inline constexpr bool detail::zero_unless_stored<Dot> = true;
inline constexpr Op<Dot, OnUse> dot;

/// The gradients of both factors of dot as an operator, whose own gradient is again a dot: dot is linear in each of its
/// factors. Internal.
struct DotGradient {
  bool transpose_a = false, transpose_b = false;
  static constexpr std::string_view name = "_backward_dot_again", inputs[] = {"head", "lhs", "rhs"},
                                    outputs[] = {"lhs", "rhs"};
  static constexpr const char* doc = "The gradients of both factors of dot.";
  constexpr void infer_shape(Shapes& s) const {
    for (int k = 0; k < 2; ++k) s.set_out(k, s.in(k + 1));
    detail::expect_made_by(Dot{.transpose_a = transpose_a, .transpose_b = transpose_b}, s, 0, {1, 2});
  }
  double operations(std::span<const Shape> in) const {
    return Dot{.transpose_a = transpose_a, .transpose_b = transpose_b}.gradient_operations(in);
  }
  template <Real E>
  void forward(Cpu& ctx, const NDArray& dy, const NDArray& lhs, const NDArray& rhs, NDArray& da, NDArray& db) const {
    Dot{.transpose_a = transpose_a, .transpose_b = transpose_b}.grad<E>(ctx, {dy}, {lhs}, {rhs}, {da}, {db});
  }
  template <class Node>
  std::vector<Node> gradient(std::span<const Node> heads, const Node& dy, const Node& lhs, const Node& rhs) const;
};
inline constexpr Op<DotGradient, OnUse> dot_gradient;

/// a · b + c · d: the head gradient's part in the gradient of DotGradient. Internal.
struct DotSum {
  bool transpose_a = false, transpose_b = false;
  static constexpr std::string_view name = "_backward_dot_sum", inputs[] = {"a", "b", "c", "d"};
  static constexpr const char* doc = "The sum of two products.";
  constexpr void infer_shape(Shapes& s) const {
    detail::infer_dot_shape(s, transpose_a, transpose_b);
    s.set_in(2, s.in(0));
    s.set_in(3, s.in(1));
  }
  double operations(std::span<const Shape> in) const {  // the last addition of one goes to the other
    return 2 * Dot{.transpose_a = transpose_a, .transpose_b = transpose_b}.operations(in);
  }
  template <Real E>
  void forward(Cpu&, View<const E> a, View<const E> b, View<const E> c, View<const E> d, View<E> y) const {
    const Shape lhs(a.shape()), rhs(b.shape());
    const detail::DotExtents e(lhs, rhs, transpose_a, transpose_b);
    const bool first = transpose_a && lhs.ndim() > 1, last = transpose_b && rhs.ndim() > 1;
    detail::gemm(e.m, e.n, e.k, a.data(), first, b.data(), last, y.data(), false);
    detail::gemm(e.m, e.n, e.k, c.data(), first, d.data(), last, y.data(), true);
  }
  auto gradient(const auto& dy, const auto& a, const auto& b, const auto& c, const auto& d) const {
    const auto one = dot_gradient(dy, a, b, {.transpose_a = transpose_a, .transpose_b = transpose_b}),
               two = dot_gradient(dy, c, d, {.transpose_a = transpose_a, .transpose_b = transpose_b});
    return std::vector<std::remove_cvref_t<decltype(dy)>>{one[0], one[1], two[0], two[1]};
  }
};
inline constexpr Op<DotSum, OnUse> dot_sum;

template <class Node>
std::vector<Node> DotGradient::gradient(std::span<const Node> heads, const Node& dy, const Node& lhs,
                                        const Node& rhs) const {
  const auto factors = dot_gradient(dy, heads[0], heads[1], {.transpose_a = transpose_a, .transpose_b = transpose_b});
  return {dot_sum(heads[0], rhs, lhs, heads[1], {.transpose_a = transpose_a, .transpose_b = transpose_b}), factors[0],
          factors[1]};
}
template <class Node>
std::vector<Node> Dot::gradient_again(std::span<const Node> heads, std::span<const Node> in) const {
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

/// batch_dot: yᵢ = lhsᵢ · rhsᵢ for shapes (batch…, m, k) and (batch…, k, n), with one extent or more before the last
/// two, the same for both. `transpose_a` says that lhs is (batch…, k, m), `transpose_b` that rhs is (batch…, n, k).
/// Floating types. Dense; sparse arrays by the dense fallback. Error: fewer than 3 dimensions, different numbers of
/// them, or extents that do not agree.
///
/// Example: `batch_dot(ones({2, 1, 3}), ones({2, 3, 1}))` is [[[3]], [[3]]].
struct BatchDot {
  bool transpose_a = false, transpose_b = false;
  std::optional<Storage> forward_stype = {};

  static constexpr std::string_view name = "batch_dot";
  static constexpr std::string_view aliases[] = {"_npx_batch_dot"};
  static constexpr std::string_view inputs[] = {"lhs", "rhs"};
  static constexpr const char* doc =
      "The product of each pair of matrices: (batch…, m, k) by (batch…, k, n) gives (batch…, m, n).";
  static constexpr Note notes[] = {{"transpose_a", "lhs is (batch…, k, m)"},
                                   {"transpose_b", "rhs is (batch…, n, k)"},
                                   {"forward_stype", "the storage of the result"}};
  static constexpr bool accumulates = true, gradient_accumulates = true;

  constexpr void infer_shape(Shapes& shapes) const {
    int rank = -1;
    for (const Shape* shape : {&shapes.in(0), &shapes.in(1), &shapes.out(0)})
      if (rank < 0 && shape->has_rank()) rank = shape->ndim();
    if (rank < 0) return;
    for (int i = 0; i < 2; ++i)
      if (shapes.in(i).has_rank() && shapes.in(i).ndim() < 3)
        shapes.fail(shapes.name_in(i), " has shape ", shapes.in(i), ", expected 3 dimensions or more");
    shapes.expect_rank(1, rank);
    if (rank < 3) return;  // of an output that does not fit: the call says so
    const int last = rank - 1, a_row = transpose_a ? last : last - 1, b_row = transpose_b ? last : last - 1;
    const int a_other = 2 * last - 1 - a_row, b_other = 2 * last - 1 - b_row;
    Shape a = Shape::filled(rank, Shape::unknown_extent), b = a, y = a;
    for (int pass = 0; pass < 2; ++pass) {
      const Shape known[] = {shapes.in(0), shapes.in(1), shapes.out(0)};
      const auto at = [&](int tensor, int axis) {
        return known[tensor].has_rank() && known[tensor].ndim() == rank ? known[tensor][axis] : Shape::unknown_extent;
      };
      const auto first = [](std::int64_t p, std::int64_t q, std::int64_t r) { return p >= 0 ? p : q >= 0 ? q : r; };
      for (int i = 0; i < last - 1; ++i) a[i] = b[i] = y[i] = first(at(0, i), at(1, i), at(2, i));
      a[a_row] = y[last - 1] = first(at(0, a_row), at(2, last - 1), -1);
      b[b_other] = y[last] = first(at(1, b_other), at(2, last), -1);
      a[a_other] = b[b_row] = first(at(0, a_other), at(1, b_row), -1);
      shapes.set_in(0, a);
      shapes.set_in(1, b);
      shapes.set_out(0, y);
    }
  }
  double operations(std::span<const Shape> in) const {
    const int last = in[1].ndim() - 1;
    return 2.0 * static_cast<double>(in[0].size()) * static_cast<double>(in[1][transpose_b ? last - 1 : last]);
  }
  double gradient_operations(std::span<const Shape> takes) const { return 2 * operations(takes.subspan(1)); }
  constexpr bool infer_storage(Storages& s) const {
    s.set_out(0, s.out(0).value_or(forward_stype.value_or(dense)));
    return s.in(0) == dense && s.in(1) == dense && s.out(0) == dense;
  }

  template <Real E>
  void forward(Cpu& ctx, View<const E> a, View<const E> b, View<E> y) const {
    const auto [batch, m, n, k] = extents(a.shape(), y.shape());
    detail::gemm_each(batch, m, n, k, a.data(), transpose_a, b.data(), transpose_b, y.data(),
                      ctx.request() == Request::add);
  }
  template <Real E>
  void grad(Cpu& ctx, Head<"output", View<const E>> dy, In<"lhs", View<const E>> a, In<"rhs", View<const E>> b,
            Grad<"lhs", View<E>> da, Grad<"rhs", View<E>> db) const {
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

 private:
  struct Extents {
    std::int64_t batch = 1, m, n, k;
  };
  Extents extents(std::span<const std::int64_t> lhs, std::span<const std::int64_t> product) const {
    const std::size_t last = product.size() - 1;
    Extents e{.m = product[last - 1], .n = product[last], .k = lhs[transpose_a ? last - 1 : last]};
    for (std::size_t i = 0; i + 1 < last; ++i) e.batch *= product[i];
    return e;
  }
};
inline constexpr Op<BatchDot, OnUse> batch_dot;

using DotOps = OpList<Dot, DotGradient, DotSum, BatchDot>;

}  // namespace strop::inline v0
