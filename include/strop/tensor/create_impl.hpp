// SPDX-License-Identifier: Apache-2.0
/// \file
/// Constants and ranges.
#pragma once
#include <strop/core/config.hpp>
#include <strop/tensor/create.hpp>

#include <cstddef>
#include <cstdint>

namespace strop::inline v0 {
namespace detail {

STROP_IMPL NDArray filled(const Shape& shape, const Scalar& value, Dtype dtype, Device device) {
  const NDArray out(shape, dtype);
  if (out.size() != 0) {
    value.store(dtype, out.bytes());
    visit_bits(dtype, [&]<class Bits>(Bits) {
      auto* to = out.pointer<Bits>();
      std::fill(to + 1, to + out.size(), Bits{*to});
    });
  }
  return on_device(out, device);
}

STROP_IMPL void fill_range(Dtype dtype, std::byte* to, const Scalar& start, const Scalar& step, std::int64_t from,
                           std::int64_t count, std::int64_t repeat) {
  constexpr std::int64_t block = 256;
  const bool exact = dtype == i64 && start.is_whole && step.is_whole;  // doubles end at 2^53
  for (std::int64_t done = 0; done < count; done += block, to += block * size_of(dtype)) {
    const std::int64_t now = std::min(block, count - done), first = from + done;
    if (exact) {
      std::int64_t values[block];
      for (std::int64_t i = 0; i < now; ++i)
        values[i] = static_cast<std::int64_t>(static_cast<std::uint64_t>(start.whole) +
                                              static_cast<std::uint64_t>((first + i) / repeat) *
                                                  static_cast<std::uint64_t>(step.whole));
      convert_elements(i64, values, dtype, to, now);
    } else {
      double values[block];
      for (std::int64_t i = 0; i < now; ++i) {
        const std::int64_t steps = (first + i) / repeat;
        values[i] = start.real + step.real * static_cast<double>(steps);
      }
      convert_elements(f64, values, dtype, to, now);
    }
  }
}

}  // namespace detail

STROP_IMPL NDArray zeros(const Shape& shape, Storage storage, Dtype dtype, Device device) {
  if (storage == dense) return full(shape, 0, dtype, device);
  if (storage == csr && shape.ndim() != 2)
    fail("strop: zeros() in CSR storage takes 2 dimensions, not ", to_text(shape));
  if (shape.ndim() == 0) fail("strop: zeros() in row-sparse storage takes 1 dimension or more, not ()");
  detail::checked_count(shape);
  return detail::on_device(NDArray(shape, dtype, cpu(), storage), device);
}

STROP_IMPL NDArray arange(const Scalar& start, const Scalar& stop, const Scalar& step, Dtype dtype, Device device) {
  const std::int64_t count = detail::count_range(start, stop, step);
  if (count < 0) fail("strop: arange(", start.real, ", ", stop.real, ", ", step.real, ") has no end");
  const NDArray out({count}, dtype);
  detail::fill_range(dtype, out.bytes(), start, step, 0, count, 1);
  return detail::on_device(out, device);
}

}  // namespace strop::inline v0
