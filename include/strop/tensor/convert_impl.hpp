// SPDX-License-Identifier: Apache-2.0
/// \file
/// The loops of conversion: few of them serve all pairs of dtypes.
#pragma once
#include <strop/core/config.hpp>
#include <strop/core/error.hpp>
#include <strop/memory/gpu.hpp>
#include <strop/tensor/convert.hpp>
#include <strop/tensor/convert_lanes.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
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

template <class To, class From>
void convert_loop(const From* from, To* to, std::int64_t n) {
  std::int64_t i = 0;
  if constexpr (!std::same_as<To, From>)
    for (; i + lane_block <= n; i += lane_block) convert_block(from + i, to + i);
  for (; i < n; ++i) to[i] = convert<To>(from[i]);
}

STROP_IMPL void load_doubles(Dtype dtype, const void* from, double* to, std::int64_t n) {
  visit(dtype, [&]<class E>() { convert_loop(static_cast<const E*>(from), to, n); });
}

STROP_IMPL void store_doubles(Dtype dtype, const double* from, void* to, std::int64_t n) {
  visit(dtype, [&]<class E>() { convert_loop(from, static_cast<E*>(to), n); });
}

STROP_IMPL void load_integers(Dtype dtype, const void* from, std::int64_t* to, std::int64_t n) {
  switch (dtype) {
    case Dtype::u8:
      return convert_loop(static_cast<const std::uint8_t*>(from), to, n);
    case Dtype::i8:
      return convert_loop(static_cast<const std::int8_t*>(from), to, n);
    case Dtype::i32:
      return convert_loop(static_cast<const std::int32_t*>(from), to, n);
    case Dtype::boolean:
      return convert_loop(static_cast<const bool*>(from), to, n);
    default:
      if (n != 0) std::memcpy(to, from, static_cast<std::size_t>(n) * 8);
  }
}

STROP_IMPL void store_integers(Dtype dtype, const std::int64_t* from, void* to, std::int64_t n) {
  switch (dtype) {
    case Dtype::u8:
      return convert_loop(from, static_cast<std::uint8_t*>(to), n);
    case Dtype::i8:
      return convert_loop(from, static_cast<std::int8_t*>(to), n);
    case Dtype::i32:
      return convert_loop(from, static_cast<std::int32_t*>(to), n);
    case Dtype::boolean:
      return convert_loop(from, static_cast<bool*>(to), n);
    default:
      if (n != 0) std::memcpy(to, from, static_cast<std::size_t>(n) * 8);
  }
}

STROP_IMPL void load_floats(Dtype dtype, const void* from, float* to, std::int64_t n) {
  switch (dtype) {
    case Dtype::f16:
      return convert_loop(static_cast<const half*>(from), to, n);
    case Dtype::bf16:
      return convert_loop(static_cast<const bfloat16*>(from), to, n);
    case Dtype::f64:
      return convert_loop(static_cast<const double*>(from), to, n);
    case Dtype::i64:
      return convert_loop(static_cast<const std::int64_t*>(from), to, n);
    default:
      if (n != 0) std::memcpy(to, from, static_cast<std::size_t>(n) * 4);
  }
}

STROP_IMPL void store_floats(Dtype dtype, const float* from, void* to, std::int64_t n) {
  switch (dtype) {
    case Dtype::f16:
      return convert_loop(from, static_cast<half*>(to), n);
    case Dtype::bf16:
      return convert_loop(from, static_cast<bfloat16*>(to), n);
    case Dtype::f64:
      return convert_loop(from, static_cast<double*>(to), n);
    default:
      if (n != 0) std::memcpy(to, from, static_cast<std::size_t>(n) * 4);
  }
}

/// Pairs without a loop of their own go through a block of 64-bit integers (integers to integers), of floats (64-bit
/// integers to floating types, which then round once) or of doubles on the stack, so that few loops serve all pairs.
STROP_IMPL void convert_elements(Dtype from, const void* source, Dtype to, void* target, std::int64_t n) {
  if (n <= 0) return;
  const std::int64_t in = size_of(from), out = size_of(to);
  if (from == to) {
    std::memmove(target, source, static_cast<std::size_t>(n * in));
    return;
  }
  const auto small_float = [](Dtype type) { return type == f16 || type == bf16 || type == f64; };
  if (to == f32 && (small_float(from) || from == i64)) return load_floats(from, source, static_cast<float*>(target), n);
  if (from == f32 && small_float(to)) return store_floats(to, static_cast<const float*>(source), target, n);
  if (to == f64) return load_doubles(from, source, static_cast<double*>(target), n);
  if (from == f64) return store_doubles(to, static_cast<const double*>(source), target, n);

  const bool whole = !is_floating(from) && !is_floating(to), once = from == i64 && is_floating(to);
  constexpr std::int64_t block = 512;
  alignas(64) std::byte space[block * 8];
  const auto* at = static_cast<const std::byte*>(source);
  auto* put = static_cast<std::byte*>(target);
  for (std::int64_t done = 0; done < n; done += block, at += block * in, put += block * out) {
    const std::int64_t count = n - done < block ? n - done : block;
    if (whole) {
      auto* integers = reinterpret_cast<std::int64_t*>(space);
      load_integers(from, at, integers, count);
      store_integers(to, integers, put, count);
    } else if (once) {
      auto* floats = reinterpret_cast<float*>(space);
      load_floats(from, at, floats, count);
      store_floats(to, floats, put, count);
    } else {
      auto* doubles = reinterpret_cast<double*>(space);
      load_doubles(from, at, doubles, count);
      store_doubles(to, doubles, put, count);
    }
  }
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
