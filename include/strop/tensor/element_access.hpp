// SPDX-License-Identifier: Apache-2.0
/// \file
/// How a program looks at an array's elements.
#pragma once
#include <strop/core/span.hpp>
#include <strop/tensor/convert.hpp>
#include <strop/tensor/ndarray.hpp>
#include <strop/tensor/traced.hpp>

#include <concepts>
#include <cstdint>
#include <type_traits>
#include <vector>

namespace strop::inline v0 {

namespace detail {

// defined with tensor/cast.hpp
NDArray dense_on_host(const NDArray& a);
double element_as_double(const NDArray& a, std::int64_t i);

/// Throws Error where elements of `a` cannot be looked at as a view of this type and rank.
void check_view(const NDArray& a, Dtype wanted, int rank);

/// Whoever gets a view may write, and counts as one who does. An operation of the engine that has said so was counted
/// when it was pushed: what was recorded since is to have what the operation writes.
inline void lend_view(const NDArray& a) {
  Buffer* const buffer = a.body().buffer.get();
  if (buffer == nullptr) return;
  buffer->lend();
  if (call_mode.operation == nullptr || buffer->pending() == nullptr) buffer->written();
}

template <class E, int Rank>
View<E, Rank> view_of(const NDArray& a) {
  if constexpr (Rank == any_rank)
    return {a.template pointer<E>(), a.shape()};
  else {
    typename View<E, Rank>::Extents extents{};
    for (int i = 0; i < Rank; ++i) element(extents, i) = a.shape()[i];
    return {a.template pointer<E>(), extents};
  }
}

}  // namespace detail

template <class E, int Rank>
View<E, Rank> NDArray::view() const {
  detail::check_view(*this, dtype_of<E>, Rank);
  detail::leave_trace("view()");
  wait();
  if constexpr (!std::is_const_v<E>) detail::lend_view(*this);
  return detail::view_of<E, Rank>(*this);
}

template <Element E>
std::vector<E> NDArray::to_vector() const {
  detail::leave_trace("to_vector()");
  wait();
  const NDArray source = detail::dense_on_host(*this);
  const std::int64_t n = source.size();
  std::vector<E> out(detail::unsigned_size(n));
  if constexpr (std::same_as<E, bool>) {
    for (std::int64_t i = 0; i < n; ++i) detail::element(out, i) = detail::element_as_double(source, i) != 0;
  } else {
    detail::convert_elements(source.dtype(), source.bytes(), dtype_of<E>, out.data(), n);
  }
  return out;
}

template <class E>
E NDArray::item() const {
  if (!defined()) fail("strop: item() of a handle without an array");
  if (size() != 1) fail("strop: item() takes an array of one element, this one has shape ", shape());
  detail::leave_trace("item()");
  wait();
  const NDArray source = detail::dense_on_host(*this);
  E out;
  detail::convert_elements(source.dtype(), source.bytes(), dtype_of<E>, &out, 1);
  return out;
}

}  // namespace strop::inline v0
