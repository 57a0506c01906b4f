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

STROP_IMPL void quantize_2bit(const float* gradient, float* residual, float threshold, std::byte* packed,
                              std::int64_t n) {
  parallel_for(packed_words(n), packed_grain, [=](std::int64_t begin, std::int64_t end) {
    for (std::int64_t word = begin; word < end; ++word) {
      std::uint8_t codes[16]{};
      const std::int64_t from = word * 16, count = std::min<std::int64_t>(16, n - from);
      for (std::int64_t i = 0; i < count; ++i) {
        const float value = residual[from + i] + gradient[from + i];
        const bool up = value >= threshold, down = value <= -threshold;
        residual[from + i] = value - (up ? threshold : 0.0F) + (down ? threshold : 0.0F);
        codes[i] = static_cast<std::uint8_t>(up ? 3 : down ? 2 : 0);
      }
      for (std::int64_t byte = 0; byte < 4; ++byte) {
        const std::uint8_t* const c = codes + byte * 4;
        packed[word * 4 + byte] = static_cast<std::byte>(c[0] << 6 | c[1] << 4 | c[2] << 2 | c[3]);
      }
    }
  });
}

STROP_IMPL void dequantize_2bit(Span<const std::byte* const> packed, float threshold, float* out, std::int64_t n) {
  const float meant[4] = {0, 0, -threshold, threshold};
  parallel_for(packed_words(n), packed_grain, [=](std::int64_t begin, std::int64_t end) {
    for (std::int64_t word = begin; word < end; ++word) {
      const std::int64_t from = word * 16, count = std::min<std::int64_t>(16, n - from);
      float sums[16]{};
      for (const std::byte* const list : packed)
        for (std::int64_t i = 0; i < 16; ++i) {
          const auto byte = static_cast<unsigned>(list[word * 4 + i / 4]);
          sums[i] += meant[byte >> (6 - 2 * (i % 4)) & 3];
        }
      std::copy_n(sums, count, out + from);
    }
  });
}

}  // namespace strop::inline v0::detail
