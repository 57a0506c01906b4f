// SPDX-License-Identifier: Apache-2.0
/// \file
/// dot: products of vectors, matrices and arrays of more dimensions, with their CSR forms; batch_dot.
#pragma once
#include <strop/op/op.hpp>
#include <strop/ops/cast.hpp>
#include <strop/ops/dot_rule.hpp>
#include <strop/ops/list.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

namespace strop::inline v0 {

namespace detail {

/// Shapes of dot, from whatever is known.
template <int = 0>
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
/// `transpose_a` takes the first axis of lhs instead, `transpose_b` the last one of rhs. Floating types. Storages are
/// those of detail::dot_rule; `forward_stype` asks for another result, dense or by a dense fallback. csr · csr stores
/// every place where stored values meet, though their sum be zero. A row_sparse head gradient is read by its rows.
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
  double operations(std::span<const Shape> in) const;

  /// A product for each factor.
  double gradient_operations(std::span<const Shape> takes) const;

  template <int = 0>
  constexpr bool infer_storage(Storages& s) const {
    const detail::DotRule rule = rule_of(s.in(0), s.in(1));
    s.set_out(0, s.out(0).value_or(forward_stype.value_or(rule.out)));
    return rule.form != detail::DotForm::none && (s.out(0) == dense || s.out(0) == rule.out);
  }

  template <Real E>
  void forward(Cpu& ctx, const NDArray& lhs, const NDArray& rhs, NDArray& out) const;

  /// Head gradient, lhs, rhs → gradients of lhs and rhs.
  template <int = 0>
  constexpr bool infer_gradient_storage(Storages& s) const {
    const detail::DotRule rule = rule_of(s.in(1), s.in(2));
    const auto has = [&](int k, Storage storage) {
      s.set_out(k, s.out(k).value_or(storage == row_sparse ? row_sparse : dense));
      return s.out(k) == dense || s.out(k) == storage;
    };
    const bool lhs = has(0, rule.of_lhs), rhs = has(1, rule.of_rhs), head = s.in(0) != csr;
    return lhs && rhs && (rule.form == detail::DotForm::csr_csr || (head && rule.form != detail::DotForm::none));
  }

  template <Real E>
  void grad(Cpu& ctx, Head<"output", NDArray> dy, In<"lhs", NDArray> lhs, In<"rhs", NDArray> rhs,
            Grad<"lhs", NDArray> da, Grad<"rhs", NDArray> db) const;

  /// Heads of the two gradients; head gradient, lhs, rhs.
  template <class Node>
  std::vector<Node> gradient_again(std::span<const Node> heads, std::span<const Node> in) const;

 private:
  constexpr detail::DotRule rule_of(Storage lhs, Storage rhs) const {
    return detail::dot_rule(lhs, rhs, transpose_a, transpose_b);
  }
  /// The gradients for a row-sparse head, lhs being a matrix or more.
  template <class E>
  void grad_of_rows(Cpu& ctx, const NDArray& dy, const NDArray& lhs, const NDArray& rhs, const NDArray& da,
                    const NDArray& db) const;
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
  double operations(std::span<const Shape> in) const;
  template <Real E>
  void forward(Cpu& ctx, const NDArray& dy, const NDArray& lhs, const NDArray& rhs, NDArray& da, NDArray& db) const;
  template <class Node>
  std::vector<Node> gradient(std::span<const Node> heads, const Node& dy, const Node& lhs, const Node& rhs) const;
};
inline constexpr Op<DotGradient, OnUse> dot_gradient;

/// a · b + c · d: the head gradient's part in the gradient of DotGradient. Internal.
struct DotSum {
  bool transpose_a = false, transpose_b = false;
  static constexpr std::string_view name = "_backward_dot_sum", inputs[] = {"a", "b", "c", "d"};
  static constexpr const char* doc = "The sum of two products.";
  template <int = 0>
  constexpr void infer_shape(Shapes& s) const {
    detail::infer_dot_shape(s, transpose_a, transpose_b);
    s.set_in(2, s.in(0));
    s.set_in(3, s.in(1));
  }
  double operations(std::span<const Shape> in) const;
  template <Real E>
  void forward(Cpu&, View<const E> a, View<const E> b, View<const E> c, View<const E> d, View<E> y) const;
  auto gradient(const auto& dy, const auto& a, const auto& b, const auto& c, const auto& d) const {
    const auto one = dot_gradient(dy, a, b, {.transpose_a = transpose_a, .transpose_b = transpose_b}),
               two = dot_gradient(dy, c, d, {.transpose_a = transpose_a, .transpose_b = transpose_b});
    return std::vector<std::remove_cvref_t<decltype(dy)>>{one[0], one[1], two[0], two[1]};
  }
};
inline constexpr Op<DotSum, OnUse> dot_sum;

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

  template <int = 0>
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
  double operations(std::span<const Shape> in) const;
  double gradient_operations(std::span<const Shape> takes) const;
  constexpr bool infer_storage(Storages& s) const {
    s.set_out(0, s.out(0).value_or(forward_stype.value_or(dense)));
    return s.in(0) == dense && s.in(1) == dense && s.out(0) == dense;
  }

  template <Real E>
  void forward(Cpu& ctx, View<const E> a, View<const E> b, View<E> y) const;
  template <Real E>
  void grad(Cpu& ctx, Head<"output", View<const E>> dy, In<"lhs", View<const E>> a, In<"rhs", View<const E>> b,
            Grad<"lhs", View<E>> da, Grad<"rhs", View<E>> db) const;

 private:
  struct Extents {
    std::int64_t batch = 1, m, n, k;
  };
  Extents extents(std::span<const std::int64_t> lhs, std::span<const std::int64_t> product) const;
};
inline constexpr Op<BatchDot, OnUse> batch_dot;

using DotOps = OpList<Dot, DotGradient, DotSum, BatchDot>;

}  // namespace strop::inline v0

#if !defined(STROP_OPERATORS_COMPILED) || defined(__CUDACC__)
#include <strop/ops/dot_body.hpp>
#endif
