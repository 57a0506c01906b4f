// SPDX-License-Identifier: Apache-2.0
/// \file
/// Conversion of elements, sizes of arrays and the codes of reshape.
#pragma once
#include <strop/core/config.hpp>
#include <strop/core/error.hpp>
#include <strop/memory/gpu.hpp>
#include <strop/tensor/convert.hpp>
#include <strop/tensor/element_loops.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace strop::inline v0::detail {

STROP_IMPL std::int64_t byte_count(const Shape& shape, Dtype dtype) { return checked_count(shape, size_of(dtype)); }

STROP_IMPL void convert_elements(Dtype from, const void* source, Dtype to, void* target, std::int64_t n) {
  element_loops().convert(from, source, to, target, n);
}
STROP_IMPL void load_doubles(Dtype dtype, const void* from, double* to, std::int64_t n) {
  element_loops().convert(dtype, from, f64, to, n);
}
STROP_IMPL void store_doubles(Dtype dtype, const double* from, void* to, std::int64_t n) {
  element_loops().convert(f64, from, dtype, to, n);
}
STROP_IMPL void load_integers(Dtype dtype, const void* from, std::int64_t* to, std::int64_t n) {
  element_loops().convert(dtype, from, i64, to, n);
}
STROP_IMPL void store_integers(Dtype dtype, const std::int64_t* from, void* to, std::int64_t n) {
  element_loops().convert(i64, from, dtype, to, n);
}

STROP_IMPL void convert_elements_on(Device device, Dtype from, const void* source, Dtype to, void* target,
                                    std::int64_t n) {
  if (device.kind == DeviceKind::cpu)
    convert_elements(from, source, to, target, n);
  else if (from == to)
    memory::detail::copy_bytes(device, target, device, source, n * size_of(to));
  else if (n != 0)
    memory::detail::driver_for(device).convert(device, from, source, to, target, n,
                                               memory::detail::current_stream(device).handle());
}

}  // namespace strop::inline v0::detail
