// SPDX-License-Identifier: Apache-2.0
/// \file
/// Filling of arrays from a random stream, in blocks.
#pragma once
#include <strop/core/config.hpp>
#include <strop/tensor/element_loops.hpp>
#include <strop/tensor/random.hpp>
#include <strop/tensor/random_blocks.hpp>
#include <strop/tensor/traced.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>

namespace strop::inline v0::random {

namespace detail {

STROP_IMPL void check(std::string_view function, Dtype dtype, bool arguments, std::string_view wanted, double first,
                      double second) {
  if (strop::detail::watching())
    strop::detail::leave_trace(cat("random::", function), "it would be drawn once; draw with an operator");
  if (!is_floating(dtype)) fail("strop: random::", function, "() makes floating types, not ", name_of(dtype));
  if (!arguments) fail("strop: random::", function, "() takes ", wanted, ", not ", first, " and ", second);
}

}  // namespace detail

STROP_IMPL NDArray detail::uniform(const Shape& shape, double low, double high, Dtype dtype, Device device) {
  const double most = dtype == f64 ? std::numeric_limits<double>::max() : std::numeric_limits<float>::max();
  check("uniform", dtype, -most <= low && low <= high && high <= most, "finite low <= high", low, high);
  const NDArray out(shape, dtype);
  const Stream stream = detail::take_stream(device);
  if (dtype == f64 || high - low >= 0x1p127) {  // a width that is no float
    const detail::UniformRange between(low, high, dtype);
    detail::fill_blocks<double>(out, stream, [&](const Stream& part, double* to, std::int64_t count) {
      strop::detail::element_loops().uniform01d(part, to, count);
      for (std::int64_t i = 0; i < count; ++i) to[i] = between(to[i]);
    });
  } else {
    detail::fill_blocks<float>(out, stream, [&](const Stream& part, float* to, std::int64_t count) {
      strop::detail::element_loops().uniform(part, to, count, static_cast<float>(low), static_cast<float>(high), dtype);
    });
  }
  return strop::detail::on_device(out, device);
}
STROP_IMPL NDArray detail::normal(const Shape& shape, double mean, double deviation, Dtype dtype, Device device) {
  check("normal", dtype, deviation >= 0, "deviation >= 0", mean, deviation);
  const NDArray out(shape, dtype);
  const Stream stream = detail::take_stream(device);
  if (dtype == f64) {
    detail::fill_blocks<double>(out, stream, [&](const Stream& part, double* to, std::int64_t count) {
      float unit[512];
      strop::detail::element_loops().normal(part, unit, count, 0, 1);
      for (std::int64_t i = 0; i < count; ++i) to[i] = mean + deviation * static_cast<double>(unit[i]);
    });
  } else {
    detail::fill_blocks<float>(out, stream, [&](const Stream& part, float* to, std::int64_t count) {
      strop::detail::element_loops().normal(part, to, count, static_cast<float>(mean), static_cast<float>(deviation));
    });
  }
  return strop::detail::on_device(out, device);
}
}  // namespace strop::inline v0::random
