// SPDX-License-Identifier: Apache-2.0
/// \file
/// Sparse arrays from parts, and what check_format checks.
#pragma once
#include <strop/core/config.hpp>
#include <strop/core/list.hpp>
#include <strop/tensor/cast.hpp>
#include <strop/tensor/sparse.hpp>
#include <strop/tensor/structure.hpp>

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

namespace strop::inline v0 {
namespace detail {

STROP_IMPL bool has_real(const Literal& list) {
  for (const Literal& entry : list)
    if (!entry.is_list() && !entry.number().is_whole) return true;
  return false;
}

STROP_IMPL NDArray SparsePart::values(std::string_view function, std::string_view name, int rank, Dtype dtype) const {
  if (array_.defined()) leave_trace(function, "it is no operator; make it outside");
  if (!array_.defined() && !literal_.is_list()) fail(function, ": ", name, " is a handle without an array");
  NDArray a = array_.defined() ? dense_on_host(array_) : from_literal(literal_, dtype);
  if (rank >= 0 && a.ndim() != rank)
    fail(function, ": ", name, " has ", rank, rank == 1 ? " dimension" : " dimensions", ", not shape ", a.shape());
  return a;
}

STROP_IMPL NDArray SparsePart::integers(std::string_view function, std::string_view name, bool keep_width) const {
  if (array_.defined()) leave_trace(function, "it is no operator; make it outside");
  const bool whole = !array_.defined() && literal_.is_list() && !has_real(literal_);
  NDArray a = whole ? from_literal(literal_, i64) : values(function, name, 1, f64);
  if (a.ndim() != 1) fail(function, ": ", name, " has 1 dimension, not shape ", a.shape());
  if (a.dtype() == i64 || (a.dtype() == i32 && keep_width)) return a;
  const NDArray out(a.shape(), i64);
  convert_elements(a.dtype(), a.bytes(), i64, out.bytes(), a.size());
  for (std::int64_t i = 0; is_floating(a.dtype()) && i < a.size(); ++i)
    if (static_cast<double>(out.pointer<std::int64_t>()[i]) != element_as_double(a, i))
      fail(function, ": ", name, "[", i, "] = ", element_as_double(a, i), " is not a whole number");
  return out;
}

/// A braced list of indices in the width of the array beside it, where its numbers fit.
STROP_IMPL NDArray narrowed_like(const NDArray& list, const NDArray& beside) {
  if (list.dtype() != i64 || beside.dtype() != i32) return list;
  for (std::int64_t k = 0; k < list.size(); ++k)
    if (!fits_narrow(list.pointer<const std::int64_t>()[k])) return list;
  return as_type(list, i32);
}

STROP_IMPL NDArray csr_over(const NDArray& data, const NDArray& indices, const NDArray& indptr, const Shape& shape) {
  const NDArray out = NDArray::shell(shape, data.dtype(), cpu(), csr);
  out.body().buffer = data.body().buffer;
  out.body().indices = indices.body_ref();
  out.body().indptr = indptr.body_ref();
  return out;
}

}  // namespace detail

STROP_IMPL NDArray csr_matrix(const detail::SparsePart& data, const detail::SparsePart& indices,
                              const detail::SparsePart& indptr, const Shape& shape) {
  constexpr std::string_view me = "strop: csr_matrix()";
  if (shape.ndim() != 2) fail(me, ": shape has 2 dimensions, not ", to_text(shape));
  detail::checked_count(shape);
  const NDArray values = data.values(me, "data", 1);
  NDArray columns = indices.integers(me, "indices", true), starts = indptr.integers(me, "indptr", true);
  if (indices.is_list()) columns = detail::narrowed_like(columns, starts);
  if (indptr.is_list()) starts = detail::narrowed_like(starts, columns);
  if (columns.size() != values.size())
    fail(me, ": data has ", values.size(), " values and indices has ", columns.size());
  if (starts.size() - 1 != shape[0])
    fail(me, ": indptr of a matrix of ", shape[0], " rows has ", shape[0] + 1, " entries, not ", starts.size());
  const NDArray out = detail::csr_over(data.own(values), indices.own(columns), indptr.own(starts), shape);
  return detail::on_device(out, data.device());
}

STROP_IMPL NDArray row_sparse_array(const detail::SparsePart& data, const detail::SparsePart& indices,
                                    const Shape& shape) {
  constexpr std::string_view me = "strop: row_sparse_array()";
  if (shape.ndim() == 0) fail(me, ": shape has 1 dimension or more, not ()");
  detail::checked_count(shape);
  const NDArray rows = indices.integers(me, "indices", true);
  NDArray values = data.values(me, "data", -1);
  Shape wanted = shape;
  wanted[0] = rows.size();
  if (values.shape() != wanted && !(rows.size() == 0 && values.size() == 0))
    fail(me, ": data of ", rows.size(), " rows of shape ", to_text(shape), " has shape ", to_text(wanted), ", not ",
         to_text(values.shape()));
  const NDArray out = NDArray::shell(shape, values.dtype(), cpu(), row_sparse);
  out.body().buffer = data.own(values).body().buffer;
  out.body().indices = indices.own(rows).body_ref();
  return detail::on_device(out, data.device());
}

namespace detail {

/// Adds up runs of equal (row, column) in sorted order; what is left of each run goes to `values[k]`.
template <class T>
std::int64_t sum_runs(List<T>& values, List<std::int64_t>& order, const std::int64_t* row, const std::int64_t* col) {
  List<T> sums;
  Index runs = 0;
  for (Index k = 0; k < order.size(); ++k) {
    const std::int64_t at = order[k];
    const T value = values[at];
    if (k != 0 && row[at] == row[order[runs - 1]] && col[at] == col[order[runs - 1]]) {
      if constexpr (std::same_as<T, double>)
        sums.back() += value;
      else
        sums.back() = static_cast<T>(static_cast<std::uint64_t>(sums.back()) + static_cast<std::uint64_t>(value));
    } else {
      order[runs++] = at;
      sums.push_back(value);
    }
  }
  values = std::move(sums);
  return runs;
}

}  // namespace detail

STROP_IMPL NDArray csr_matrix(const detail::SparsePart& data, const Coordinates& at, const Shape& shape) {
  constexpr std::string_view me = "strop: csr_matrix()";
  if (shape.ndim() != 2) fail(me, ": shape has 2 dimensions, not ", to_text(shape));
  detail::checked_count(shape);
  const NDArray values = data.values(me, "data", 1), rows = at.row.integers(me, "row"),
                cols = at.col.integers(me, "col");
  const std::int64_t count = values.size();
  if (rows.size() != count || cols.size() != count)
    fail(me, ": data has ", count, " values, row has ", rows.size(), " and col has ", cols.size());
  const auto* row = rows.pointer<const std::int64_t>();
  const auto* col = cols.pointer<const std::int64_t>();
  detail::List<std::int64_t> order(count);
  for (std::int64_t i = 0; i < count; ++i) {
    if (row[i] < 0 || row[i] >= shape[0] || col[i] < 0 || col[i] >= shape[1])
      fail(me, ": value ", i, " is at (", row[i], ", ", col[i], "), outside shape ", to_text(shape));
    order[i] = i;
  }
  std::sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
    if (row[a] != row[b]) return row[a] < row[b];
    return col[a] != col[b] ? col[a] < col[b] : a < b;
  });

  const NDArray out = NDArray::shell(shape, values.dtype(), cpu(), csr);
  const auto assemble = [&]<class T>(detail::List<T> sums, auto load, auto store) {
    load(values.dtype(), values.bytes(), sums.data(), count);
    const std::int64_t stored = detail::sum_runs(sums, order, row, col);
    out.allocate_stored(stored);
    store(values.dtype(), sums.data(), out.bytes(), stored);
  };
  if (is_floating(values.dtype()))
    assemble(detail::List<double>(count), detail::load_doubles, detail::store_doubles);
  else
    assemble(detail::List<std::int64_t>(count), detail::load_integers, detail::store_integers);

  auto* indices = out.indices().pointer<std::int64_t>();
  auto* indptr = out.indptr().pointer<std::int64_t>();
  std::fill(indptr, indptr + shape[0] + 1, 0);
  for (std::int64_t k = 0; k < out.nnz(); ++k) {
    const std::int64_t i = order[k];
    indices[k] = col[i];
    ++indptr[row[i] + 1];
  }
  for (std::int64_t r = 0; r < shape[0]; ++r) indptr[r + 1] += indptr[r];
  detail::trust_structure(out);
  return detail::on_device(out, data.device());
}

namespace detail {

STROP_IMPL void check_ascending(const NDArray& a, RowSpan span, std::string_view what) {
  const IndexReader indices(a.indices());
  for (std::int64_t k = span.begin + 1; k < span.end; ++k)
    if (indices[k] <= indices[k - 1])
      fail_structure("indices[", k, "] = ", indices[k], " does not ascend from ", indices[k - 1], ", as the ", what,
                     " must");
}

}  // namespace detail

STROP_IMPL void NDArray::check_format(bool full) const {
  if (!defined()) fail("strop: check_format() of a handle without an array");
  if (storage() == dense) return;
  const NDArray a = detail::on_device(*this, cpu());
  a.wait();
  detail::check_filled(a);
  try {
    detail::check_parts(a, full);
    if (!full) return;
    if (storage() == row_sparse) return detail::check_ascending(a, {0, a.nnz()}, "stored rows");
    const detail::IndexReader indptr(a.indptr());
    for (std::int64_t row = 0; row < a.shape()[0]; ++row)
      detail::check_ascending(a, {indptr[row], indptr[row + 1]}, "columns of a row");
  } catch (const detail::BadStructure& bad) {
    fail("strop: check_format(): ", bad.said());
  }
}

}  // namespace strop::inline v0
