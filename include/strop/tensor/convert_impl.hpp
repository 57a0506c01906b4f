// SPDX-License-Identifier: Apache-2.0
/// \file
/// Conversion of elements, sizes of arrays and the codes of reshape.
#pragma once
#include <strop/core/config.hpp>
#include <strop/core/error.hpp>
#include <strop/core/prefetch.hpp>
#include <strop/engine/pool.hpp>
#include <strop/memory/gpu.hpp>
#include <strop/memory/stream.hpp>
#include <strop/tensor/convert.hpp>
#include <strop/tensor/element_loops.hpp>

#include <algorithm>
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

STROP_IMPL void convert_by_all(Dtype from, const void* source, Dtype to, void* target, std::int64_t n) {
  const std::int64_t in = size_of(from), out = size_of(to);
  const auto *const first = static_cast<const std::byte*>(source), *const second = static_cast<std::byte*>(target);
  if (from == to && first != second && first < second + n * out && second < first + n * in)
    return convert_elements(from, source, to, target, n);  // of which threads would overwrite what others read
  const bool past = from != to && n * out >= memory::stream_bytes;
  parallel_for(n, 1 << 16, [=](std::int64_t begin, std::int64_t end) {
    const std::byte* at = static_cast<const std::byte*>(source) + begin * in;
    std::byte* put = static_cast<std::byte*>(target) + begin * out;
    if (!past) return convert_elements(from, at, to, put, end - begin);
    alignas(64) std::byte made[4096];
    for (std::int64_t left = end - begin, count = 0; left > 0; left -= count, at += count * in, put += count * out) {
      count = std::min(left, static_cast<std::int64_t>(sizeof made) / out);
      convert_elements(from, at, to, made, count);
      prefetch_lines(at + count * in, std::min(count, left - count) * in);  // comes while this block goes
      memory::stream_part(put, made, count * out);
    }
    memory::stream_end();
  });
}

STROP_IMPL void convert_elements_on(Device device, Dtype from, const void* source, Dtype to, void* target,
                                    std::int64_t n) {
  if (device.kind == DeviceKind::cpu)
    convert_by_all(from, source, to, target, n);
  else if (from == to)
    memory::detail::copy_bytes(device, target, device, source, n * size_of(to));
  else if (n != 0)
    memory::detail::driver_for(device).convert(device, from, source, to, target, n,
                                               memory::detail::current_stream(device).handle());
}

}  // namespace strop::inline v0::detail
