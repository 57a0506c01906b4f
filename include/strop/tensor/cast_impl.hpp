// SPDX-License-Identifier: Apache-2.0
/// \file
/// Casts between storages, and slices of CSR arrays.
#pragma once
#include <strop/core/checked.hpp>
#include <strop/core/config.hpp>
#include <strop/core/list.hpp>
#include <strop/engine/pool.hpp>
#include <strop/tensor/cast.hpp>
#include <strop/tensor/convert.hpp>
#include <strop/tensor/device_work.hpp>
#include <strop/tensor/element_loops.hpp>
#include <strop/tensor/merged.hpp>
#include <strop/tensor/structure.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

namespace strop::inline v0::detail {

STROP_IMPL NDArray on_device(const NDArray& a, Device device) {
  if (a.device() == device) return a;
  if (a.allocated()) a.bytes();  // once the engine has written them
  check_filled(a);
  const auto copied = [&](const NDArray& from, std::int64_t elements) {
    const std::int64_t bytes = elements * size_of(from.dtype());
    Ref<Buffer> to(new Buffer(device, bytes));
    DeviceWork work(device.kind == DeviceKind::gpu ? device : from.device());
    work.uses(from.body().buffer, false);
    work.uses(to, true);
    memory::detail::copy_bytes(device, to->data(), from.device(), from.bytes(), bytes);
    return to;
  };
  const auto part = [&](const Ref<Body>& body) {
    const NDArray from(body), to = NDArray::shell(from.shape(), from.dtype(), device);
    to.body().buffer = copied(from, from.size());
    trust_copy(to, from);
    return to.body_ref();
  };
  NDArray out = NDArray::fresh_shell(a.shape(), a.dtype(), device, a.storage());
  out.body().buffer = copied(a, a.stored());
  if (a.storage() != dense) out.body().indices = part(a.body().indices);
  if (a.storage() == csr) out.body().indptr = part(a.body().indptr);
  return out;
}

STROP_IMPL NDArray scaled(const NDArray& a, double factor) {
  const NDArray out(a.shape(), a.dtype(), a.device());
  constexpr std::int64_t block = 512;
  double values[block];
  const std::int64_t size = size_of(a.dtype());
  for (std::int64_t at = 0; at < a.size(); at += block) {
    const std::int64_t count = std::min(block, a.size() - at);
    convert_elements(a.dtype(), a.bytes() + at * size, f64, values, count);
    for (std::int64_t i = 0; i < count; ++i) values[i] *= factor;
    convert_elements(f64, values, a.dtype(), out.bytes() + at * size, count);
  }
  return out;
}

STROP_IMPL NDArray as_type(const NDArray& x, Dtype type) {
  if (x.dtype() == type) return x;
  NDArray y = NDArray::fresh(x.shape(), type, x.device());
  DeviceWork work(x.device());
  work.reads(x);
  work.writes(y);
  convert_elements_on(x.device(), x.dtype(), x.bytes(), type, y.bytes(), x.size());
  return y;
}

STROP_IMPL void check_filled(const NDArray& a) {
  const Body& b = a.body();
  if (!b.buffer || (b.storage != dense && !b.indices) || (b.storage == csr && !b.indptr))
    fail("strop: an array of shape ", a.shape(), " without memory has no elements");
}

STROP_IMPL bool has_narrow_indices(const NDArray& a) {
  const Body& b = a.body();
  return (b.indices && b.indices->dtype == i32) || (b.indptr && b.indptr->dtype == i32);
}

STROP_IMPL NDArray with_wide_indices(const NDArray& a) {
  if (!has_narrow_indices(a)) return a;
  const Body& from = a.body();
  const NDArray out = NDArray::fresh_shell(a.shape(), a.dtype(), a.device(), a.storage());
  out.body().buffer = from.buffer;
  out.body().offset = from.offset;
  const auto widened = [](const Ref<Body>& list) {
    const NDArray given(list), wide = as_type(given, i64);
    if (!wide.is(given)) trust_copy(wide, given);
    return wide.body_ref();
  };
  out.body().indices = widened(from.indices);
  if (from.indptr) out.body().indptr = widened(from.indptr);
  return out;
}

STROP_IMPL void allocate_stored_as(const NDArray& a, std::int64_t count, Dtype index) {
  a.allocate_stored(count);
  if (index == i64) return;
  a.body().indices = NDArray::fresh(Shape{count}, index, a.device()).body_ref();
  if (a.storage() == csr && fits_narrow(count)) {
    const NDArray rows = NDArray::fresh(Shape{a.shape()[0] + 1}, index, a.device());
    if (count == 0) clear(rows, rows.size() * size_of(index));
    a.body().indptr = rows.body_ref();
  }
}

STROP_IMPL void write_indices(const NDArray& to, const std::int64_t* from, std::int64_t count, std::int64_t at) {
  convert_elements(i64, from, to.dtype(), to.bytes() + at * size_of(to.dtype()), count);
  if (to.allocated()) to.body().buffer->written();  // what was found of the list before is of other numbers
}

STROP_IMPL NDArray copied_by_all(const NDArray& list) {
  if (list.device() != cpu()) {
    const NDArray out = list.copy();
    trust_copy(out, list);
    return out;
  }
  const NDArray out(list.shape(), list.dtype(), list.device());
  std::byte* const to = out.bytes();
  const std::byte* const from = list.bytes();
  parallel_for(list.size() * size_of(list.dtype()), 1 << 18,
               [&](std::int64_t begin, std::int64_t end) { copy_bytes(to + begin, from + begin, end - begin); });
  trust_copy(out, list);
  return out;
}

STROP_IMPL void copy_structure(const NDArray& from, const NDArray& to) {
  const Body& given = from.body();
  Body& body = to.body();
  body.indices = copied_by_all(NDArray(given.indices)).body_ref();
  if (given.indptr) body.indptr = copied_by_all(NDArray(given.indptr)).body_ref();
  body.buffer =  // for rows of its own width
      Ref(new Buffer(body.device, checked_product(to.stored(), size_of(body.dtype), "strop: bytes of a sparse array")));
  body.offset = 0;
}

STROP_IMPL NDArray dense_to_csr(const NDArray& a) {
  const NDArray out = NDArray::shell(a.shape(), a.dtype(), a.device(), csr);
  const std::int64_t rows = a.shape()[0], cols = a.shape()[1], size = size_of(a.dtype());
  const NDArray starts({rows + 1}, i64, a.device());
  auto* indptr = starts.pointer<std::int64_t>();
  indptr[0] = 0;
  const auto row_of = [&](std::int64_t row) { return a.bytes() + row * cols * size; };
  for (std::int64_t row = 0; row < rows; ++row)
    indptr[row + 1] = indptr[row] + element_loops().count_stored(a.dtype(), row_of(row), cols);
  out.allocate_stored(indptr[rows]);
  out.body().indptr = starts.body_ref();
  auto* indices = out.indices().pointer<std::int64_t>();
  for (std::int64_t row = 0; row < rows; ++row)
    if (indptr[row] != indptr[row + 1])
      element_loops().copy_stored(a.dtype(), row_of(row), cols, out.bytes() + indptr[row] * size,
                                  indices + indptr[row]);
  return out;
}

STROP_IMPL NDArray dense_to_row_sparse(const NDArray& a) {
  const NDArray out = NDArray::shell(a.shape(), a.dtype(), a.device(), row_sparse);
  const std::int64_t rows = a.size() == 0 ? 0 : a.shape()[0], width = rows == 0 ? 0 : a.size() / rows;
  const std::int64_t bytes = width * size_of(a.dtype());
  std::vector<std::int64_t> kept;
  for (std::int64_t row = 0; row < rows; ++row)
    if (element_loops().first_stored(a.dtype(), a.bytes() + row * bytes, width) < width) kept.push_back(row);
  out.allocate_stored(static_cast<std::int64_t>(kept.size()));
  auto* indices = out.indices().pointer<std::int64_t>();
  for (std::size_t k = 0; k < kept.size(); ++k) {
    indices[k] = kept[k];
    detail::copy_bytes(out.bytes() + static_cast<std::int64_t>(k) * bytes, a.bytes() + kept[k] * bytes, bytes);
  }
  return out;
}

/// Writes the stored values of one CSR row over a dense row of zeros.
STROP_IMPL void scatter_row(const NDArray& a, RowSpan span, std::byte* row) {
  const std::int64_t cols = a.shape()[1];
  const IndexReader indices(a.indices());
  visit_bits(a.dtype(), [&]<class Bits>(Bits) {
    const auto* from = a.pointer<const Bits>();
    auto* to = reinterpret_cast<Bits*>(row);
    for (std::int64_t k = span.begin; k < span.end; ++k) to[checked_index(indices[k], cols)] = from[k];
  });
}

STROP_IMPL void clear(const NDArray& a, std::int64_t bytes) {
  DeviceWork work(a.device());
  work.writes(a);
  memory::detail::clear_bytes(a.device(), a.bytes(), bytes);
}

STROP_IMPL NDArray csr_to_dense(const NDArray& a) {
  const NDArray out(a.shape(), a.dtype(), a.device());
  const std::int64_t rows = a.shape()[0], bytes = a.shape()[1] * size_of(a.dtype());
  clear(out, rows * bytes);
  const IndexReader indptr(a.indptr());
  for (std::int64_t row = 0; row < rows; ++row) {
    const RowSpan span = row_span(indptr, row, a.nnz());
    if (span.begin != span.end) scatter_row(a, span, out.bytes() + row * bytes);
  }
  return out;
}

STROP_IMPL NDArray row_sparse_to_dense(const NDArray& a) {
  const NDArray out(a.shape(), a.dtype(), a.device());
  const std::int64_t rows = a.shape()[0], bytes = a.shape().size(1, a.ndim()) * size_of(a.dtype());
  clear(out, rows * bytes);
  if (bytes == 0) return out;
  const IndexReader indices(a.indices());
  for (std::int64_t k = 0; k < a.nnz(); ++k)
    detail::copy_bytes(out.bytes() + checked_index(indices[k], rows) * bytes, a.bytes() + k * bytes, bytes);
  return out;
}

/// The width of the indices of an array made of `from`, with numbers below `extent`.
STROP_IMPL Dtype index_of(const NDArray& from, std::int64_t extent) {
  return from.indices().dtype() == i32 && fits_narrow(extent) ? i32 : i64;
}

/// Every row that stores a value becomes a stored row.
STROP_IMPL NDArray csr_to_row_sparse(const NDArray& a) {
  const NDArray out = NDArray::shell(a.shape(), a.dtype(), a.device(), row_sparse);
  const std::int64_t rows = a.shape()[0],
                     bytes = checked_product(a.shape()[1], size_of(a.dtype()), "strop: a row of a CSR array");
  const IndexReader indptr(a.indptr());
  std::int64_t kept = 0;
  for (std::int64_t row = 0; row < rows; ++row) kept += indptr[row] < indptr[row + 1] ? 1 : 0;
  byte_count(Shape{kept, a.shape()[1]}, a.dtype());
  allocate_stored_as(out, kept, index_of(a, rows));
  clear(out, kept * bytes);
  List<std::int64_t> stored;
  for (std::int64_t row = 0; row < rows; ++row) {
    const RowSpan span = row_span(indptr, row, a.nnz());
    if (span.begin == span.end) continue;
    scatter_row(a, span, out.bytes() + stored.size() * bytes);
    stored.push_back(row);
  }
  write_indices(out.indices(), stored.data(), kept);
  return out;
}

STROP_IMPL NDArray row_sparse_to_csr(const NDArray& a) {
  const std::int64_t kept = a.nnz(), rows = a.shape()[0], cols = a.shape()[1];
  const NDArray stored = dense_to_csr(view_as(a.data(), {kept, cols}));  // the stored rows alone
  const NDArray out = NDArray::shell(a.shape(), a.dtype(), a.device(), csr);
  const NDArray indptr({rows + 1}, i64, a.device());
  const auto* from = stored.indptr().pointer<const std::int64_t>();
  const IndexReader indices(a.indices());
  auto* to = indptr.pointer<std::int64_t>();
  std::int64_t row = 0;
  for (std::int64_t k = 0; k < kept; ++k) {
    checked_index(indices[k], rows);
    while (row <= indices[k]) to[row++] = from[k];
  }
  while (row <= rows) to[row++] = from[kept];
  out.body().buffer = stored.body().buffer;
  const Dtype index = index_of(a, cols);
  out.body().indices = as_type(stored.indices(), index).body_ref();
  out.body().indptr = as_type(indptr, fits_narrow(stored.nnz()) ? index : i64).body_ref();
  return out;
}

STROP_IMPL NDArray cast_storage(const NDArray& a, Storage storage) {
  if (a.storage() == storage) return a;
  if (storage == csr && a.ndim() != 2) fail("strop: CSR storage is for 2 dimensions; this array has shape ", a.shape());
  if (storage == row_sparse && a.ndim() == 0) fail("strop: row-sparse storage needs a first axis; this array has none");
  if (a.device().kind != DeviceKind::cpu) return on_device(cast_storage(on_device(a, cpu()), storage), a.device());
  a.wait();
  check_filled(a);
  const NDArray whole = a.storage() == dense ? a : merged(a);
  const NDArray made = a.storage() == dense ? (storage == csr ? dense_to_csr(a) : dense_to_row_sparse(a))
                       : a.storage() == csr ? (storage == dense ? csr_to_dense(whole) : csr_to_row_sparse(whole))
                       : storage == dense   ? row_sparse_to_dense(whole)
                                            : row_sparse_to_csr(whole);
  trust_structure(made);
  return made;
}

STROP_IMPL NDArray dense_on_host(const NDArray& a) {
  if (!a.defined()) fail("strop: a handle without an array has no elements");
  check_filled(a);
  return cast_storage(on_device(a, cpu()), dense);
}

STROP_IMPL double element_as_double(const NDArray& a, std::int64_t i) {
  double value = 0;
  load_doubles(a.dtype(), a.bytes() + i * size_of(a.dtype()), &value, 1);
  return value;
}

STROP_IMPL NDArray slice_csr(const NDArray& a, std::int64_t begin, std::int64_t end) {
  if (a.device().kind != DeviceKind::cpu) return on_device(slice_csr(on_device(a, cpu()), begin, end), a.device());
  check_filled(a);
  const IndexReader from(a.indptr());
  const std::int64_t rows = end - begin, first = from[begin], past = from[end], width = size_of(a.dtype());
  if (first < 0 || first > past || past > a.nnz())
    fail_structure("indptr of a CSR array says that rows ", begin, " to ", end, " are stored at ", first, " to ", past,
                   " of ", a.nnz());
  const NDArray out = NDArray::shell({rows, a.shape()[1]}, a.dtype(), a.device(), csr);
  out.allocate_stored(past - first);
  auto* to = out.indptr().pointer<std::int64_t>();
  for (std::int64_t row = 0; row <= rows; ++row) to[row] = from[begin + row] - first;
  const Dtype kind = a.indices().dtype();  // indices stay as wide as they were
  const NDArray columns = NDArray::fresh(Shape{past - first}, kind, a.device());
  if (past != first) {
    detail::copy_bytes(out.bytes(), a.bytes() + first * width, (past - first) * width);
    detail::copy_bytes(columns.bytes(), a.indices().bytes() + first * size_of(kind), (past - first) * size_of(kind));
  }
  out.body().indices = columns.body_ref();
  out.body().indptr = as_type(out.indptr(), a.indptr().dtype()).body_ref();
  return out;
}

STROP_IMPL NDArray slice_rows(const NDArray& a, std::int64_t begin, std::int64_t end) {
  if (a.storage() == row_sparse)
    fail("strop: slice() of a row-sparse array is not defined; convert it with to(strop::dense) or retain rows of it");
  if (a.storage() == csr) return slice_csr(a, begin, end);
  Shape shape = a.shape();
  shape[0] = end - begin;
  NDArray out = view_as(a, shape);
  out.body().offset += begin * a.shape().size(1, a.ndim()) * size_of(a.dtype());
  return out;
}

}  // namespace strop::inline v0::detail
