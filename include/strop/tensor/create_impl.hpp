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

STROP_IMPL NDArray filled(const Shape& shape, const Number& value, Dtype dtype, Device device) {
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

}  // namespace detail

STROP_IMPL NDArray zeros(const Shape& shape, Storage storage, Dtype dtype, Device device) {
  if (storage == dense) return full(shape, 0, dtype, device);
  if (storage == csr && shape.ndim() != 2)
    fail("strop: zeros() in CSR storage takes 2 dimensions, not ", to_text(shape));
  if (shape.ndim() == 0) fail("strop: zeros() in row-sparse storage takes 1 dimension or more, not ()");
  detail::checked_count(shape);
  return detail::on_device(NDArray(shape, dtype, cpu(), storage), device);
}

STROP_IMPL NDArray arange(const detail::Number& start, const detail::Number& stop, const detail::Number& step,
                          Dtype dtype, Device device) {
  const double extent = __builtin_ceil((stop.real - start.real) / step.real);
  if (step.real == 0 || !(extent < 0x1p62))
    fail("strop: arange(", start.real, ", ", stop.real, ", ", step.real, ") has no end");
  const NDArray out({extent > 0 ? static_cast<std::int64_t>(extent) : 0}, dtype);
  const bool whole = start.is_whole && step.is_whole;
  constexpr std::int64_t block = 256;
  for (std::int64_t done = 0; done < out.size(); done += block) {
    const std::int64_t count = std::min(block, out.size() - done);
    std::byte* to = out.bytes() + done * size_of(dtype);
    if (whole) {
      std::int64_t values[block];
      for (std::int64_t i = 0; i < count; ++i)
        values[i] =
            static_cast<std::int64_t>(static_cast<std::uint64_t>(start.whole) +
                                      static_cast<std::uint64_t>(done + i) * static_cast<std::uint64_t>(step.whole));
      detail::convert_elements(i64, values, dtype, to, count);
    } else {
      double values[block];
      for (std::int64_t i = 0; i < count; ++i) values[i] = start.real + static_cast<double>(done + i) * step.real;
      detail::convert_elements(f64, values, dtype, to, count);
    }
  }
  return detail::on_device(out, device);
}

}  // namespace strop::inline v0
