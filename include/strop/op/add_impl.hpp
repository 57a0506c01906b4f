// SPDX-License-Identifier: Apache-2.0
/// \file
/// Sums of arrays of any types: contributions to a gradient, requests to add, values of sparse arrays.
#pragma once
#include <strop/core/config.hpp>
#include <strop/engine/pool.hpp>
#include <strop/op/dispatch.hpp>
#include <strop/op/map_run.hpp>
#include <strop/tensor/device_work.hpp>
#include <strop/tensor/element_loops.hpp>

#include <algorithm>

namespace strop::inline v0::detail {

/// total = a + b in V, block by block, on as many threads as the operator elemwise_add would have; where all three are
/// of that type, from memory to memory. total overlaps neither a nor b.
template <class V>
void add_as(const NDArray& a, const NDArray& b, const NDArray& total) {
  constexpr std::int64_t block = 512;
  const auto at = [](const NDArray& array, std::int64_t i) { return array.bytes() + i * size_of(array.dtype()); };
  constexpr Dtype type = dtype_of<V>;
  const bool alike = a.dtype() == type && b.dtype() == type && total.dtype() == type;
  parallel_for(total.size(), map_grain, [&](std::int64_t begin, std::int64_t end) {
    if (alike) return element_loops().add(type, at(a, begin), at(b, begin), at(total, begin), end - begin);
    V x[block], y[block], sum[block];
    for (std::int64_t i = begin; i < end; i += block) {
      const std::int64_t count = std::min(block, end - i);
      convert_elements(a.dtype(), at(a, i), type, x, count);
      convert_elements(b.dtype(), at(b, i), type, y, count);
      element_loops().add(type, x, y, sum, count);
      convert_elements(type, sum, total.dtype(), at(total, i), count);
    }
  });
}

STROP_IMPL void add_elements(const NDArray& a, const NDArray& b, const NDArray& total) {
  const bool real = is_floating(total.dtype());
  if (const Device device = total.device(); device.kind == DeviceKind::gpu) {
    if (a.device() != device || b.device() != device)
      fail("strop: a sum on ", to_text(device), " takes arrays that are there, not on ", to_text(a.device()), " and ",
           to_text(b.device()));
    const bool alike = a.dtype() == total.dtype() && b.dtype() == total.dtype();
    const Dtype type = alike ? total.dtype() : real ? f64 : i64;
    const NDArray x = as_type(a, type), y = as_type(b, type),
                  sum = alike ? total : NDArray::fresh(total.shape(), type, device);
    DeviceWork work(device);
    work.reads(x);
    work.reads(y);
    work.writes(sum);
    work.writes(total);
    memory::detail::driver_for(device).add(device, type, x.bytes(), y.bytes(), sum.bytes(), total.size(),
                                           memory::detail::current_stream(device).handle());
    convert_elements_on(device, type, sum.bytes(), total.dtype(), total.bytes(), alike ? 0 : total.size());
    return;
  }
  const bool wide = a.dtype() == f64 || b.dtype() == f64 || total.dtype() == f64;
  if (!real)
    add_as<std::int64_t>(a, b, total);
  else if (wide || !is_floating(a.dtype()) || !is_floating(b.dtype()))
    add_as<double>(a, b, total);
  else
    add_as<float>(a, b, total);
}

}  // namespace strop::inline v0::detail
