// SPDX-License-Identifier: Apache-2.0
/// \file
/// Brings what was computed into an array that exists: written or added, converted in type and storage.
#pragma once
#include <strop/graph/gradient.hpp>
#include <strop/op/dispatch.hpp>
#include <strop/tensor/cast.hpp>

#include <cstring>

namespace strop::inline v0::detail {

/// Copies the elements of one array to another of the same shape on the same device.
inline void copy_into(const NDArray& from, const NDArray& to) {
  if (from.is(to)) return;
  NDArray source = from.storage() == to.storage() ? from : cast_storage(from, to.storage());
  if (to.storage() == dense) {
    if (!to.allocated()) to.allocate();
    if (source.bytes() == to.bytes() && source.dtype() == to.dtype()) return;
    convert_elements(source.dtype(), source.bytes(), to.dtype(), to.bytes(), to.size());
  } else {
    to.allocate_stored(source.nnz());
    convert_elements(source.dtype(), source.bytes(), to.dtype(), to.bytes(), source.stored());
    if (source.nnz() != 0) std::memcpy(to.indices().bytes(), source.indices().bytes(), static_cast<std::size_t>(source.nnz()) * sizeof(std::int64_t));
    if (to.storage() == csr) std::memcpy(to.indptr().bytes(), source.indptr().bytes(), static_cast<std::size_t>(to.shape()[0] + 1) * sizeof(std::int64_t));
  }
  if (to.body().buffer) to.body().buffer->written();
}

inline void set_to_zero(const NDArray& a) {
  if (a.storage() != dense) a.allocate_stored(0);
  else std::memset(a.bytes(), 0, static_cast<std::size_t>(a.size() * size_of(a.dtype())));
  if (a.body().buffer) a.body().buffer->written();
}

/// The elements of a dense array at the positions that a sparse one stores.
inline NDArray projected(const NDArray& a, const NDArray& onto) {
  const StoredPattern pattern = pattern_of(onto);
  const NDArray values = lay_along(a, pattern, onto.shape(), onto.storage());
  const NDArray result(onto.shape(), a.dtype(), onto.device(), onto.storage());
  store_pattern(result, pattern);
  std::memcpy(result.bytes(), values.bytes(), static_cast<std::size_t>(values.size() * size_of(values.dtype())));
  return result;
}

/// A gradient into the buffer of its argument. The gradient of a sparse argument is dense where the buffer is dense and
/// else the projection on the argument's stored positions.
inline void settle_gradient(NDArray gradient, const NDArray& argument, const NDArray& buffer, Request request) {
  if (gradient.storage() == dense && buffer.storage() != dense && argument.storage() == buffer.storage()) gradient = projected(gradient, argument);
  if (request != Request::add) return copy_into(gradient, buffer);
  if (gradient.storage() != buffer.storage()) gradient = cast_storage(gradient, buffer.storage());
  const NDArray* in[1] = {&gradient};
  NDArray out[1] = {buffer};
  dispatch(sum_entries[0], nullptr, in, out, {&request, 1});
}

}  // namespace strop::inline v0::detail
