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

STROP_IMPL std::int64_t checked_count(const Shape& shape, std::int64_t width) {
  std::int64_t count = width;
  bool empty = false, overflow = !shape.has_rank();
  for (int axis = 0; axis < shape.ndim(); ++axis) {
    const std::int64_t extent = shape[axis];
    if (extent < 0) fail("strop: an array cannot have extent ", extent, " along axis ", axis);
    if (extent == 0)
      empty = true;
    else
      overflow = overflow || __builtin_mul_overflow(count, extent, &count);
  }
  if (overflow) refuse_size(shape);
  return empty ? 0 : count;
}

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
    memory::detail::driver_for(device).convert(device, from, source, to, target, n);
}

STROP_IMPL Shape reshape_codes(const Shape& from, const Shape& codes) {
  const auto refuse = [&](std::string_view why) {
    fail(
        "reshape: shape ", to_text(from), " by codes ",
        [&] {
          std::string text = "(";
          for (int i = 0; i < codes.ndim(); ++i) text += cat(i == 0 ? "" : ", ", codes[i]);
          return text + ")";
        }(),
        ": ", why);
  };
  const std::int64_t elements = checked_count(from);
  Shape to, from_free = from, to_free;  // the free ones: 1 where an extent is kept
  int at = 0, inferred = -1;
  const auto next = [&](std::string_view code) {
    if (at >= from.ndim()) refuse(cat("code ", code, " finds no extent left in the input"));
    return from[at++];
  };
  const auto put = [&](std::int64_t extent) {
    to.push_back(extent);
    to_free.push_back(extent);
  };
  const auto keep = [&](std::int64_t extent) {
    to.push_back(extent);
    to_free.push_back(1);
    from_free[at - 1] = 1;
  };
  for (int i = 0; i < codes.ndim(); ++i) {
    const std::int64_t code = codes[i];
    if (code > 0) {
      put(code);
      ++at;
    } else if (code == 0) {
      keep(next("0"));
    } else if (code == -1) {
      if (inferred >= 0) refuse("only one extent can be inferred (-1)");
      inferred = to.ndim();
      put(1);
      ++at;
    } else if (code == -2) {
      while (at < from.ndim()) keep(next("-2"));
    } else if (code == -3) {
      const std::int64_t first = next("-3"), second = next("-3");
      std::int64_t merged = 0;
      if (__builtin_mul_overflow(first, second, &merged)) refuse("a merged extent (-3) exceeds 64 bits");
      put(merged);
    } else if (code == -4) {
      const std::int64_t whole = next("-4");
      if (i + 2 >= codes.ndim()) refuse("code -4 is followed by the two extents of the split");
      std::int64_t left = codes[++i], right = codes[++i];
      if (left == -1 && right == -1) refuse("only one extent of a split (-4) can be inferred");
      if (left < -1 || right < -1) refuse("the extents of a split (-4) are numbers or -1");
      if (left == -1) left = right == 0 ? -1 : whole / right;
      if (right == -1) right = left == 0 ? -1 : whole / left;
      std::int64_t product = 0;
      if (left < 0 || right < 0) refuse("a split (-4) cannot infer an extent beside 0");
      if (__builtin_mul_overflow(left, right, &product) || product != whole)
        refuse(cat("a split (-4) of extent ", whole, " into ", left, " and ", right));
      put(left);
      put(right);
    } else {
      refuse(cat("there is no code ", code));
    }
  }
  if (inferred >= 0) {
    const std::int64_t have = checked_count(from_free), others = checked_count(to_free);
    if (others == 0) refuse("an extent cannot be inferred (-1) beside an extent of 0");
    if (have % others != 0) refuse(cat(have, " elements cannot be divided by ", others));
    to[inferred] = have / others;
  }
  if (const std::int64_t made = checked_count(to); made != elements)
    refuse(cat("the result ", to_text(to), " would have ", made, " elements, not ", elements));
  return to;
}

}  // namespace strop::inline v0::detail
