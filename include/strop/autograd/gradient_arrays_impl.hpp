// SPDX-License-Identifier: Apache-2.0
/// \file
/// What the walk over the tape makes of gradients as arrays: sums, and those that are not computed by an operator.
#pragma once
#include <strop/core/config.hpp>
#include <strop/engine/pool.hpp>
#include <strop/op/broadcast.hpp>
#include <strop/op/map_sparse.hpp>
#include <strop/tensor/create.hpp>
#include <strop/tensor/sparse.hpp>

namespace strop::inline v0::detail {

/// Repeats the elements of a small array to fill one that it broadcasts to, both dense, of one type, on the CPU.
STROP_IMPL void repeat_elements(const NDArray& from, const NDArray& to) {
  const Walk walk = Walk::of(to.shape(), from.shape());
  const std::byte* const source = from.bytes();
  const std::int64_t size = size_of(to.dtype());
  parallel_for(to.size(), map_grain, [&](std::int64_t begin, std::int64_t end) {
    std::byte* const target = to.address() + begin * size;
    switch (size) {
      case 1:
        return expand<std::uint8_t>(walk, source, target, begin, end - begin);
      case 2:
        return expand<std::uint16_t>(walk, source, target, begin, end - begin);
      case 4:
        return expand<std::uint32_t>(walk, source, target, begin, end - begin);
      default:
        return expand<std::uint64_t>(walk, source, target, begin, end - begin);
    }
  });
}

/// The gradient as a whole, where it came in a shape that broadcasts to this one.
STROP_IMPL NDArray repeated(const NDArray& gradient, const Shape& shape) {
  if (gradient.shape() == shape) return gradient;
  const NDArray whole(shape, gradient.dtype(), gradient.device());
  repeat_elements(gradient, whole);
  return whole;
}

STROP_IMPL NDArray add_arrays(const NDArray& a, const NDArray& b) {
  if (a.storage() != dense && a.storage() == b.storage() && a.dtype() == b.dtype() &&
      a.device().kind == DeviceKind::cpu && b.device() == a.device())
    return add_stored(a, b);
  const NDArray total(a.shape(), a.dtype(), a.device());
  add_elements(dense_form(a), dense_form(b), total);
  return total;
}

STROP_IMPL NDArray filled_like(const NDArray& a, double value) { return full(a.shape(), value, a.dtype(), a.device()); }

/// A gradient without elements stands for zeros.
STROP_IMPL bool is_known_zero(const NDArray& gradient) {
  return gradient.defined() && gradient.storage() == dense && !gradient.allocated();
}

/// One element that broadcasts to the array.
STROP_IMPL NDArray constant_like(const NDArray& a, double value) {
  Shape shape = a.shape();
  for (std::int64_t& extent : shape) extent = 1;
  return full(shape, value, a.dtype(), a.device());
}

}  // namespace strop::inline v0::detail
