// SPDX-License-Identifier: Apache-2.0
/// \file
/// How gradients become two bits an element, and numbers again.
#pragma once
#include <strop/core/config.hpp>
#include <strop/engine/pool.hpp>
#include <strop/kvstore/compression.hpp>

#include <algorithm>

namespace strop::inline v0::detail {

/// Words of a piece of a loop that is worth a thread.
inline constexpr std::int64_t packed_grain = 1 << 10;

/// Where the bits of a word's element begin; the word's first byte is its lowest.
constexpr unsigned packed_shift(std::int64_t i) { return static_cast<unsigned>(i / 4 * 8 + 6 - 2 * (i % 4)); }

/// One word of up to 16 elements; a count that the compiler knows makes vectors of the loops.
inline void quantize_word(const float* gradient, float* residual, float threshold, std::byte* packed,
                          std::int64_t count) {
  std::uint32_t word = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    const float value = residual[i] + gradient[i];
    const bool up = value >= threshold, down = value <= -threshold;
    residual[i] = value - (up ? threshold : 0.0F) + (down ? threshold : 0.0F);
    word |= (up ? 3U : down ? 2U : 0U) << packed_shift(i);
  }
  for (unsigned byte = 0; byte < 4; ++byte) packed[byte] = static_cast<std::byte>(word >> 8 * byte & 0xff);
}
inline void dequantize_word(Span<const std::byte* const> packed, std::int64_t word, float threshold, float* out,
                            std::int64_t count) {
  float sums[16]{};
  for (const std::byte* const list : packed) {
    std::uint32_t bits = 0;
    for (unsigned byte = 0; byte < 4; ++byte) bits |= static_cast<std::uint32_t>(list[word * 4 + byte]) << 8 * byte;
    for (std::int64_t i = 0; i < 16; ++i) {
      const std::uint32_t code = bits >> packed_shift(i) & 3;
      sums[i] += code == 3 ? threshold : code == 2 ? -threshold : 0.0F;
    }
  }
  std::copy_n(sums, count, out);
}

STROP_IMPL void quantize_2bit(const float* gradient, float* residual, float threshold, std::byte* packed,
                              std::int64_t n) {
  parallel_for(packed_words(n), packed_grain, [=](std::int64_t begin, std::int64_t end) {
    for (std::int64_t word = begin; word < end; ++word) {
      const std::int64_t at = word * 16;
      if (n - at >= 16)
        quantize_word(gradient + at, residual + at, threshold, packed + word * 4, 16);
      else
        quantize_word(gradient + at, residual + at, threshold, packed + word * 4, n - at);
    }
  });
}

STROP_IMPL void dequantize_2bit(Span<const std::byte* const> packed, float threshold, float* out, std::int64_t n) {
  parallel_for(packed_words(n), packed_grain, [=](std::int64_t begin, std::int64_t end) {
    for (std::int64_t word = begin; word < end; ++word) {
      const std::int64_t at = word * 16;
      if (n - at >= 16)
        dequantize_word(packed, word, threshold, out + at, 16);
      else
        dequantize_word(packed, word, threshold, out + at, n - at);
    }
  });
}

}  // namespace strop::inline v0::detail
