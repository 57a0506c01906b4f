// SPDX-License-Identifier: Apache-2.0
/// \file
/// RankedSet: which numbers occur, and which of them in ascending order each is.
#pragma once
#include <strop/core/list.hpp>

#include <bit>
#include <cstdint>

namespace strop::inline v0::detail {

/// A set of numbers below `extent`, and the place of each in their ascending order: a bit a number, and a count for
/// each word of bits. A few millions of them fit into a second-level cache, where a table of places would not.
class RankedSet {
 public:
  explicit RankedSet(std::int64_t extent) : words_((extent + 63) / 64), counts_(words_.size()) {}
  /// Whether it is faster than sorting so many numbers.
  static bool pays(std::int64_t extent, std::int64_t numbers) { return extent / 512 <= numbers + 128; }
  void insert(std::int64_t j) { words_[j >> 6] |= std::uint64_t{1} << (j & 63); }
  /// To be called when all are in: counts them.
  std::int64_t count() {
    std::int64_t total = 0;
    for (Index w = 0; w < words_.size(); ++w) {
      counts_[w] = total;
      total += std::popcount(words_[w]);
    }
    return total;
  }
  std::int64_t operator()(std::int64_t j) const {
    const std::uint64_t below = (std::uint64_t{1} << (j & 63)) - 1;
    return counts_[j >> 6] + std::popcount(words_[j >> 6] & below);
  }
  /// Writes them in ascending order.
  template <class I>
  void list(I* to) const {
    for (Index w = 0; w < words_.size(); ++w)
      for (std::uint64_t bits = words_[w]; bits != 0; bits &= bits - 1)
        *to++ = static_cast<I>(w * 64 + std::countr_zero(bits));
  }

 private:
  List<std::uint64_t> words_;
  List<std::int64_t> counts_;
};

}  // namespace strop::inline v0::detail
