// SPDX-License-Identifier: Apache-2.0
/// \file
/// Questions about what a matrix stores: _contrib_getnnz, _contrib_edge_id, _contrib_dgl_adjacency; and
/// _identity_with_attr_like_rhs, which stores one array as another is.
#pragma once
#include <strop/op/op.hpp>
#include <strop/ops/cast.hpp>
#include <strop/ops/index/kernels.hpp>
#include <strop/ops/list.hpp>

#include <optional>
#include <string_view>
#include <vector>

namespace strop::inline v0 {

/// _contrib_getnnz: how many values a matrix stores, as int64: of a CSR one its places, stored zeros too; of a
/// dense one those that are not zero. Shape (1,), or an entry for each column (axis 0) or each row (axis 1).
///
/// Any type. row_sparse by the dense fallback. The derivative is 0. Error: data has another number of dimensions,
/// another axis.
///
/// Example: `getnnz(array({{1, 0}, {2, 3}}).to(csr), {.axis = 1})` is [1, 2].
struct Getnnz {
  std::optional<int> axis = {};
  static constexpr std::string_view name = "_contrib_getnnz", aliases[] = {"getnnz"};
  static constexpr const char* doc = "How many values a matrix stores, or each of its columns or rows.";
  static constexpr Note notes[] = {{"axis", "0: of each column, 1: of each row; None: of all"},
                                   {"data", "a matrix of any type, csr or dense"}};
  static constexpr bool zero_gradient = true;

  template <int = 0>
  constexpr void infer_shape(Shapes& s) const {
    s.expect_rank(0, 2);
    if (axis && *axis != 0 && *axis != 1) s.fail("parameter 'axis' is ", *axis, ", expected 0, 1 or None");
    if (!axis) return s.set_out(0, Shape{1});
    if (s.in(0).has_rank()) s.set_out(0, Shape{s.in(0)[1 - *axis]});
  }
  constexpr void infer_type(Types& t) const { t.set_out(0, i64); }
  constexpr bool infer_storage(Storages& s) const { return s.set_out(0, dense) && s.in(0) != row_sparse; }
  void forward(Cpu&, const NDArray& data, NDArray& y) const;
};
template <>
inline constexpr bool detail::reads_any_index<Getnnz> = true;
inline constexpr Op<Getnnz, OnUse> getnnz;

/// _contrib_edge_id: y[i] = data[u[i], v[i]] where data stores something there, else −1.
///
/// data is a matrix of any type, which y has; u and v have one shape, which y has, and any type. Of a dense matrix what
/// is not zero counts as stored; row_sparse by the dense fallback. The derivative is 0. Error: u or v lies outside of
/// data.
///
/// Example: of `csr_matrix({5, 7}, {0, 1}, {0, 1, 2}, {2, 2})`, u = [0, 0] and v = [0, 1] it is [5, -1].
struct EdgeId {
  static constexpr std::string_view name = "_contrib_edge_id", aliases[] = {"edge_id"}, inputs[] = {"data", "u", "v"};
  static constexpr const char* doc = "Elements of a matrix by their rows u and columns v, -1 where it stores none.";
  static constexpr Note notes[] = {
      {"data", "a matrix of any type, csr or dense"}, {"u", "rows"}, {"v", "columns, as many"}};
  static constexpr bool zero_gradient = true;

  template <int = 0>
  constexpr void infer_shape(Shapes& s) const {
    s.expect_rank(0, 2);
    s.set_in(1, s.in(2));
    s.set_in(2, s.in(1));
    s.set_out(0, s.in(1));
  }
  constexpr void infer_type(Types& t) const { detail::type_of_first(t); }
  constexpr bool infer_storage(Storages& s) const {
    return s.set_out(0, dense) && s.in(0) != row_sparse && s.in(1) == dense && s.in(2) == dense;
  }
  void forward(Cpu&, const NDArray& data, const NDArray& u, const NDArray& v, NDArray& y) const;
};
template <>
inline constexpr bool detail::reads_any_index<EdgeId> = true;
inline constexpr Op<EdgeId, OnUse> edge_id;

/// _contrib_dgl_adjacency: ones of float32 where a CSR matrix stores something, in CSR.
///
/// Any type. The derivative is 0. Error: data is not csr.
///
/// Example: `dgl_adjacency(csr_matrix({5, 7}, {0, 1}, {0, 1, 2}, {2, 2}))` stores 1 and 1.
struct DglAdjacency {
  static constexpr std::string_view name = "_contrib_dgl_adjacency", aliases[] = {"dgl_adjacency"};
  static constexpr const char* doc = "Ones where a CSR matrix stores something.";
  static constexpr Note notes[] = {{"data", "a csr matrix of any type"}};
  static constexpr bool zero_gradient = true;

  template <int = 0>
  constexpr void infer_shape(Shapes& s) const {
    s.expect_rank(0, 2);
    s.set_out(0, s.in(0));
    s.set_in(0, s.out(0));
  }
  constexpr void infer_type(Types& t) const { t.set_out(0, f32); }
  template <int = 0>
  constexpr bool infer_storage(Storages& s) const {
    if (s.in(0) != csr) strop::fail(name, ": data is ", name_of(s.in(0)), ", expected csr");
    return s.out(0) || s.set_out(0, csr);
  }
  void forward(Cpu&, const NDArray& data, NDArray& y) const;
};
template <>
inline constexpr bool detail::reads_any_index<DglAdjacency> = true;
inline constexpr Op<DglAdjacency, OnUse> dgl_adjacency;

/// _identity_with_attr_like_rhs: lhs, stored as rhs is, whose elements do not matter; of an array that is to hold the
/// result as that is.
///
/// One shape and one type, any; any storages. The gradient of lhs is the head gradient, that of rhs 0. Error: the
/// shapes differ.
///
/// Example: `identity_like(array({{0, 1}}), zeros({1, 2}, csr))` is csr.
struct IdentityLike {
  static constexpr std::string_view name = "_identity_with_attr_like_rhs", aliases[] = {"identity_like"},
                                    inputs[] = {"lhs", "rhs"};
  static constexpr const char* doc = "lhs in the storage of rhs.";
  static constexpr Keeps gradient_keeps = Keeps::none;

  template <int = 0>
  constexpr void infer_shape(Shapes& s) const {
    for (int pass = 0; pass < 2; ++pass) {
      s.set_in(0, s.in(1));
      s.set_in(1, s.in(0));
      s.set_out(0, s.in(0));
      s.set_in(0, s.out(0));
    }
  }
  constexpr void infer_type(Types& t) const { detail::type_of_first(t); }
  constexpr bool infer_storage(Storages& s) const { return s.out(0) || s.set_out(0, s.in(1)); }
  void forward(Cpu&, const NDArray& x, const NDArray&, NDArray& y) const;
  auto gradient(const auto& dy, const auto&, const auto&) const {
    return std::vector<std::remove_cvref_t<decltype(dy)>>{dy};
  }
};
template <>
inline constexpr bool detail::reads_any_index<IdentityLike> = true;
inline constexpr Op<IdentityLike, OnUse> identity_like;

using StoredOps = OpList<Getnnz, EdgeId, DglAdjacency, IdentityLike>;

}  // namespace strop::inline v0

#if !defined(STROP_OPERATORS_COMPILED) || defined(__CUDACC__)
#include <strop/ops/stored_body.hpp>
#endif
