// SPDX-License-Identifier: Apache-2.0
/// \file
/// Bodies of the operators of ops/quantization.hpp, which only what builds their kernels reads.
#pragma once
#include <strop/core/list.hpp>
#include <strop/engine/pool.hpp>
#include <strop/number/lanes.hpp>
#include <strop/ops/quantization.hpp>

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>

namespace strop::inline v0 {

namespace detail {

inline namespace STROP_ISA {

/// From the least number to the greatest one. What counts is how far they are from 0.
struct QuantizedRange {
  float low = 0, high = 0;

  float reach() const { return std::max(std::abs(low), std::abs(high)); }

  static std::optional<QuantizedRange> known(const std::optional<float>& low, const std::optional<float>& high) {
    if (!low || !high) return {};
    return QuantizedRange{*low, *high};
  }
};

/// So many elements at a time: a loop of known length, which compilers make of vector instructions.
inline constexpr std::int64_t quantize_block = 64;

/// The least and the greatest element; 0 where there are no elements. NaN is passed over.
template <class E>
struct Extremes {
  E low = std::numeric_limits<E>::max(), high = std::numeric_limits<E>::lowest();

  void take(const Extremes& other) {
    low = other.low < low ? other.low : low;
    high = other.high > high ? other.high : high;
  }
  void take(const E* x, std::int64_t size) {
    constexpr std::size_t bytes = 64;
    constexpr auto lanes = static_cast<std::int64_t>(bytes / sizeof(E));
    E least[bytes / sizeof(E)], most[bytes / sizeof(E)];
    std::fill_n(least, lanes, low);
    std::fill_n(most, lanes, high);
    std::int64_t i = 0;
    for (; i + lanes <= size; i += lanes)
      for (std::int64_t j = 0; j < lanes; ++j) {
        least[j] = x[i + j] < least[j] ? x[i + j] : least[j];
        most[j] = x[i + j] > most[j] ? x[i + j] : most[j];
      }
    for (std::int64_t j = 0; j < lanes; ++j) take({least[j], most[j]});
    for (; i < size; ++i) take({x[i], x[i]});
  }
  static Extremes of(View<const E> x) {
    constexpr std::int64_t piece = 1 << 15;
    const std::int64_t size = x.size();
    List<Extremes> pieces((size + piece - 1) / piece);
    parallel_for(pieces.size(), 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t k = begin; k < end; ++k)
        pieces[k].take(x.data() + k * piece, std::min(piece, size - k * piece));
    });
    Extremes all;
    for (const Extremes& one : pieces) all.take(one);
    return all.low <= all.high ? all : Extremes{E(0), E(0)};
  }
};

/// `size` of these, of a block: what they are times scale, to the nearest whole number, the even one of two, that T
/// has; 0 where that is NaN.
template <class E, Quantized T>
void quantize_part(const E* x, float scale, T* to, std::int64_t size) {
  using R = number::Rep<number::Vec<float>>;
  using V = number::Vec<float>;
  // Places of its own, which no other pointer may name, and loops of known length: compilers need both.
  E elements[quantize_block] = {};
  float numbers[quantize_block];
  std::int32_t whole[quantize_block];
  T bytes[quantize_block];
  std::memcpy(elements, x, unsigned_size(size) * sizeof(E));
  for (int j = 0; j < quantize_block; ++j) numbers[j] = static_cast<float>(elements[j]);
  const V least = R::splat(std::numeric_limits<T>::min()), most = R::splat(std::numeric_limits<T>::max());
  for (std::int64_t j = 0; j < quantize_block; j += R::lanes) {
    V v = R::load(numbers + j) * scale;
    v = R::select(v < least, least, R::select(v > most, most, v));
    R::store(numbers + j, R::rint(R::select(v == v, v, V{})));
  }
  for (int j = 0; j < quantize_block; ++j) whole[j] = static_cast<std::int32_t>(numbers[j]);
  for (int j = 0; j < quantize_block; ++j) bytes[j] = static_cast<T>(whole[j]);
  std::memcpy(to, bytes, unsigned_size(size));
}

template <class E, Quantized T>
void quantize_elements(View<const E> x, float scale, T* to) {
  parallel_for(x.size(), 1 << 14, [&](std::int64_t begin, std::int64_t end) {
    std::int64_t i = begin;
    for (; i + quantize_block <= end; i += quantize_block) quantize_part(x.data() + i, scale, to + i, quantize_block);
    quantize_part(x.data() + i, scale, to + i, end - i);
  });
}

/// The elements in the type of y, which says how many numbers lie on one side of 0; the ranges beside it.
template <class E>
void quantize_in(View<const E> x, QuantizedRange range, float signed_levels, float unsigned_levels, const NDArray& y,
                 View<float, 1> low, View<float, 1> high) {
  const float reach = range.reach();
  if (y.dtype() == u8) {
    quantize_elements(x, unsigned_levels / reach, y.pointer<std::uint8_t>());
    low[0] = range.low;
    high[0] = range.high;
  } else {
    quantize_elements(x, signed_levels / reach, y.pointer<std::int8_t>());
    low[0] = -reach;
    high[0] = reach;
  }
}

}  // namespace STROP_ISA

}  // namespace detail

template <Real E>
inline void Quantize::forward(Cpu&, View<const E> x, View<const float, 1> low, View<const float, 1> high, NDArray& y,
                              View<float, 1> out_low, View<float, 1> out_high) const {
  detail::quantize_in(x, {low[0], high[0]}, 127.0f, 255.0f, y, out_low, out_high);
}

template <class E>
  requires Real<E> || detail::Quantized<E>
inline void QuantizeV2::forward(Cpu&, View<const E> x, NDArray& y, View<float, 1> low, View<float, 1> high) const {
  const std::optional<detail::QuantizedRange> known = detail::QuantizedRange::known(min_calib_range, max_calib_range);
  if constexpr (detail::Quantized<E>) {
    const detail::QuantizedRange own =
        std::same_as<E, std::uint8_t> ? detail::QuantizedRange{0.0f, 255.5f} : detail::QuantizedRange{-127.5f, 127.5f};
    std::copy(x.begin(), x.end(), y.pointer<E>());
    low[0] = known.value_or(own).low;
    high[0] = known.value_or(own).high;
  } else {
    detail::QuantizedRange range = known.value_or(detail::QuantizedRange{});
    if (!known) {
      const auto found = detail::Extremes<E>::of(x);
      range = {static_cast<float>(found.low), static_cast<float>(found.high)};
    }
    detail::quantize_in(x, range, 127.5f, 255.5f, y, low, high);
  }
}

inline void Dequantize::forward(Cpu&, const NDArray& x, View<const float, 1> low, View<const float, 1> high,
                                View<float> y) const {
  const float reach = detail::QuantizedRange{low[0], high[0]}.reach();
  if (x.dtype() == u8)
    dequantize_elements(x.pointer<const std::uint8_t>(), reach / 255.5f, y);
  else
    dequantize_elements(x.pointer<const std::int8_t>(), reach / 127.5f, y);
}

template <class E>
inline void Dequantize::dequantize_elements(const E* x, float scale, View<float> y) {
  parallel_for(y.size(), 1 << 14, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) y[i] = static_cast<float>(x[i]) * scale;
  });
}

inline void Requantize::forward(Cpu&, View<const std::int32_t> x, View<const float, 1> low, View<const float, 1> high,
                                NDArray& y, View<float, 1> out_low, View<float, 1> out_high) const {
  const float given = detail::QuantizedRange{low[0], high[0]}.reach(), step = given / 0x1p31f;
  const auto known = detail::QuantizedRange::known(min_calib_range, max_calib_range);
  float reach = 0;
  if (known) {
    reach = known->reach();
  } else {  // the furthest one may be −2³¹, which has no absolute value in its type
    const auto found = detail::Extremes<std::int32_t>::of(x);
    const detail::QuantizedRange range{static_cast<float>(found.low), static_cast<float>(found.high)};
    reach = range.reach() * given / 0x1p31f;
  }
  const bool whole = y.dtype() == u8;
  const float scale = step * ((whole ? 255.0f : 127.0f) / reach);
  if (whole)
    detail::quantize_elements(x, scale, y.pointer<std::uint8_t>());
  else
    detail::quantize_elements(x, scale, y.pointer<std::int8_t>());
  out_low[0] = whole ? 0.0f : -reach;
  out_high[0] = reach;
}

}  // namespace strop::inline v0
