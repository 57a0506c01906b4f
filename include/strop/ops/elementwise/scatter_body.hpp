// SPDX-License-Identifier: Apache-2.0
/// \file
/// Bodies of the operators of ops/elementwise/scatter.hpp, which only what builds their kernels reads.
#pragma once
#include <strop/op/map_sparse.hpp>
#include <strop/ops/elementwise/scatter.hpp>
#include <strop/tensor/merged.hpp>

namespace strop::inline v0 {

namespace detail {

/// The stored values as a vector.
inline NDArray stored_values(const NDArray& a) { return a.data().reshape({a.stored()}); }

}  // namespace detail

template <Element E, class Add>
inline  // it is built only where this one is
    void
    ScatterPlusScalar::forward(Cpu&, const NDArray& data, NDArray& y) const {
  const NDArray x = detail::merged(data);
  if (y.storage() != dense && !y.is(x)) detail::copy_structure(x, y);
  if (y.stored() == 0) return;
  Op<Add, OnUse>{}(detail::stored_values(x), {.scalar = scalar, .is_int = is_int}, into(detail::stored_values(y)));
}

template <Element E, class Subtract>
inline void ScatterMinusScalar::forward(Cpu&, const NDArray& data, NDArray& y) const {
  const NDArray x = detail::merged(data);
  if (y.storage() != dense && !y.is(x)) detail::copy_structure(x, y);
  if (y.stored() == 0) return;
  Op<Subtract, OnUse>{}(detail::stored_values(x), {.scalar = scalar, .is_int = is_int}, into(detail::stored_values(y)));
}

template <Element E, class Divide>
inline void ScatterElemwiseDiv::forward(Cpu&, const NDArray& data, const NDArray& rhs, NDArray& y) const {
  constexpr Op<Divide, OnUse> divide;
  if (y.storage() == dense) {
    divide(data, rhs, into(y));
    return;
  }
  const NDArray lhs = detail::merged(data, rhs.storage() != dense);
  const detail::StoredPattern pattern = detail::pattern_of(lhs);
  const NDArray by = rhs.storage() == dense ? rhs : detail::merged(detail::cast_storage(rhs, lhs.storage()), true);
  const NDArray divisors = detail::values_at(by, pattern, lhs.shape(), lhs.storage());
  if (!y.is(lhs)) detail::copy_structure(lhs, y);
  if (y.stored() == 0) return;
  divide(detail::stored_values(lhs), divisors, into(detail::stored_values(y)));
}

}  // namespace strop::inline v0
