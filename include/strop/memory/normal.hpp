// SPDX-License-Identifier: Apache-2.0
/// \file
/// Two normal numbers from two random words (Box and Muller), the same to the last bit wherever they are computed.
#pragma once
#include <strop/core/config.hpp>

#include <bit>
#include <cstdint>
#include <type_traits>

namespace strop::inline v0::random::detail {

/// a * b + c, rounded once, for finite numbers, without the instruction. The product is exact in double; the sum is
/// rounded to odd there, which makes the second rounding harmless. No branch and no comparison, so that loops become
/// registers.
[[gnu::always_inline]] constexpr float fused_in_double(float a, float b, float c) {
  const double p = static_cast<double>(a) * static_cast<double>(b), addend = static_cast<double>(c), sum = p + addend;
  const double back = sum - p, error = (p - (sum - back)) + (addend - back);
  const auto bits = std::bit_cast<std::uint64_t>(sum), e = std::bit_cast<std::uint64_t>(error);
  const std::uint64_t inexact = ((e << 1) | (0 - (e << 1))) >> 63, toward_zero = (e ^ bits) >> 63;
  const std::uint64_t step = inexact & ~bits;  // 1 where the last bit must become odd
  return static_cast<float>(std::bit_cast<double>(bits + (step ^ (0 - toward_zero)) + toward_zero));
}

/// a * b + c, rounded once. Everything here is written with it, with lone products and with lone sums, so that no
/// compiler has a choice of what to contract: host, vector and device code agree.
[[gnu::always_inline]] constexpr float fused(float a, float b, float c) {
#if defined(__FMA__) || defined(__CUDA_ARCH__) || defined(__ARM_FEATURE_FMA)
  if (!std::is_constant_evaluated()) return __builtin_fmaf(a, b, c);
#endif
  return fused_in_double(a, b, c);
}

/// sqrt(x) for x = 0 or a normal number that is not negative: Newton steps from a guess by the exponent, then one on
/// the root itself. std::sqrt would set errno, and so keep loops from being turned into registers.
[[gnu::always_inline]] constexpr float square_root(float x) {
  float r = std::bit_cast<float>(0x5F3759DFU - (std::bit_cast<std::uint32_t>(x) >> 1));
  const float half = 0.5F * x;
  r = r * fused(-half * r, r, 1.5F);
  r = r * fused(-half * r, r, 1.5F);
  const float root = x * r;
  return fused(fused(-root, root, x), 0.5F * r, root);
}

/// -2 ln(u), u = (w + 1/2) / 2^31 rounded to float, w < 2^31. Relative error below 3e-7.
[[gnu::always_inline]] constexpr float minus_two_log(std::uint32_t w) {
  const float u = fused(static_cast<float>(static_cast<std::int32_t>(w)), 0x1p-31F, 0x1p-32F);
  // u = 2^k m, m from sqrt(1/2) to sqrt(2); ln m = f - f²/2 + f³ P(f), f = m - 1, P minimax.
  const std::uint32_t shifted = std::bit_cast<std::uint32_t>(u) + (0x3F800000U - 0x3F3504F3U);
  const auto k = static_cast<float>(static_cast<std::int32_t>(shifted >> 23) - 127);
  const float f = std::bit_cast<float>((shifted & 0x7FFFFFU) + 0x3F3504F3U) - 1.0F;
  float p = -0.0763450446119F;
  p = fused(p, f, 0.127615749724F);
  p = fused(p, f, -0.131601778981F);
  p = fused(p, f, 0.142017579376F);
  p = fused(p, f, -0.166233578652F);
  p = fused(p, f, 0.200012269056F);
  p = fused(p, f, -0.250008210178F);
  p = fused(p, f, 0.333333317069F);
  const float square = f * f;
  p = fused(square * f, p, -0.5F * square);
  return -2.0F * fused(k, 0.693147180560F, p + f);
}

struct Pair {
  float even, odd;
};

/// Independent standard normal numbers, at most 6.67 from 0. `a` gives the radius, `b` the angle.
[[gnu::always_inline]] constexpr Pair normal_pair(std::uint32_t a, std::uint32_t b) {
  const float radius = square_root(minus_two_log(a >> 1));
  // b / 2^32 turns = quadrant / 4 + t, t from -1/8 to 1/8.
  const std::uint32_t quadrant = (b + 0x20000000U) >> 30;
  const float t = static_cast<float>(static_cast<std::int32_t>(b - (quadrant << 30))) * 0x1p-32F, z = t * t;
  float s = fused(-75.3935628531F, z, 81.5923535556F);
  s = fused(s, z, -41.3416614549F);
  s = t * fused(s, z, 6.28318528683F);
  float c = fused(59.2460050446F, z, -85.4437430427F);
  c = fused(c, z, 64.9393264848F);
  c = fused(c, z, -19.7392086937F);
  c = fused(c, z, 1.0F);
  const bool swapped = (quadrant & 1) != 0;
  const float sine = swapped ? c : s, cosine = swapped ? s : c;
  const std::uint32_t sine_sign = (quadrant & 2) << 30, cosine_sign = ((quadrant + 1) & 2) << 30;
  return {radius * std::bit_cast<float>(std::bit_cast<std::uint32_t>(cosine) ^ cosine_sign),
          radius * std::bit_cast<float>(std::bit_cast<std::uint32_t>(sine) ^ sine_sign)};
}

}  // namespace strop::inline v0::random::detail
