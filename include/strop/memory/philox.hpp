// SPDX-License-Identifier: Apache-2.0
/// \file
/// Philox4x32-10, the counter-based generator of Salmon, Moraes, Dror and Shaw (SC'11), one block or many at once.
#pragma once
#include <strop/core/isa.hpp>

#include <array>
#include <cstdint>

namespace strop::inline v0::random {

/// 128 random bits as a pure function of a counter and a key. Usable on the host, at compile time and in CUDA kernels.
constexpr std::array<std::uint32_t, 4> philox(std::array<std::uint32_t, 4> counter, std::array<std::uint32_t, 2> key) {
  std::uint32_t a = counter[0], b = counter[1], c = counter[2], d = counter[3], k = key[0], l = key[1];
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t p = std::uint64_t{0xD2511F53} * a, q = std::uint64_t{0xCD9E8D57} * c;
    a = static_cast<std::uint32_t>(q >> 32) ^ b ^ k;
    b = static_cast<std::uint32_t>(q);
    c = static_cast<std::uint32_t>(p >> 32) ^ d ^ l;
    d = static_cast<std::uint32_t>(p);
    k += 0x9E3779B9;
    l += 0xBB67AE85;
  }
  return {a, b, c, d};
}

namespace detail {
inline namespace STROP_ISA {

/// Blocks that are computed together.
inline constexpr int group_blocks = 16;
inline constexpr int group_words = 4 * group_blocks;

inline constexpr int philox_lanes = STROP_LANE_BYTES >= 16 ? STROP_LANE_BYTES / 8 : 2;

/// A 32-bit word in the lower half of each 64-bit lane; what is in the upper half does not matter.
typedef std::uint64_t PhiloxVector __attribute__((vector_size(8 * philox_lanes), may_alias));

/// The 64-bit products of the lower halves. g++ has no other spelling for this instruction.
inline PhiloxVector lower_product(PhiloxVector x, PhiloxVector y) {
#if !defined(__clang__) && defined(__x86_64__) && STROP_LANE_BYTES == STROP_ISA_BYTES
  typedef int Halves __attribute__((vector_size(8 * philox_lanes)));
#if STROP_X86_BYTES == 64
  typedef long long Whole __attribute__((vector_size(64)));
  return (PhiloxVector)__builtin_ia32_pmuludq512_mask((Halves)x, (Halves)y, (Whole)x, static_cast<unsigned char>(-1));
#elif STROP_X86_BYTES == 32
  return (PhiloxVector)__builtin_ia32_pmuludq256((Halves)x, (Halves)y);
#else
  return (PhiloxVector)__builtin_ia32_pmuludq128((Halves)x, (Halves)y);
#endif
#else
  return (x & 0xFFFFFFFF) * (y & 0xFFFFFFFF);
#endif
}

/// Two registers full of blocks, so that the latency of one hides behind the other.
struct PhiloxLanes {
  PhiloxVector a, b, c, d;

  void round(PhiloxVector k, PhiloxVector l) {
    const PhiloxVector p = lower_product(a, PhiloxVector{} + 0xD2511F53),
                       q = lower_product(c, PhiloxVector{} + 0xCD9E8D57);
    a = (q >> 32) ^ b ^ k;
    b = q;
    c = (p >> 32) ^ d ^ l;
    d = p;
  }
  /// Words 0 and 1, and words 2 and 3, of lane i as one number.
  void store(std::uint64_t* low, std::uint64_t* high) const {
    const PhiloxVector ab = (a & 0xFFFFFFFF) | (b << 32), cd = (c & 0xFFFFFFFF) | (d << 32);
    __builtin_memcpy(low, &ab, sizeof ab);
    __builtin_memcpy(high, &cd, sizeof cd);
  }
};

/// The words of blocks first to first + 15, whose counters are {block, upper}; `first` is a multiple of 16.
inline void philox_group(std::uint64_t first, std::array<std::uint32_t, 2> upper, std::uint64_t key,
                         std::uint32_t (&out)[group_words]) {
  constexpr int n = philox_lanes;
  std::uint64_t counter[group_blocks], low[group_blocks], high[group_blocks], words[2 * group_blocks];
  for (int i = 0; i < group_blocks; ++i) counter[i] = first + static_cast<std::uint64_t>(i);
  for (int i = 0; i < group_blocks; i += 2 * n) {
    PhiloxLanes x{{}, PhiloxVector{} + (first >> 32), PhiloxVector{} + upper[0], PhiloxVector{} + upper[1]}, y = x;
    __builtin_memcpy(&x.a, counter + i, sizeof x.a);
    __builtin_memcpy(&y.a, counter + i + n, sizeof y.a);
    PhiloxVector k = PhiloxVector{} + (key & 0xFFFFFFFF), l = PhiloxVector{} + (key >> 32);
    for (int round = 0; round < 10; ++round) {
      x.round(k, l);
      y.round(k, l);
      k += 0x9E3779B9;
      l += 0xBB67AE85;
    }
    x.store(low + i, high + i);
    y.store(low + i + n, high + i + n);
  }
  for (int i = 0; i < group_blocks; ++i) {
    words[2 * i] = low[i];
    words[2 * i + 1] = high[i];
  }
  __builtin_memcpy(out, words, sizeof words);
}

}  // namespace STROP_ISA
}  // namespace detail
}  // namespace strop::inline v0::random
