// SPDX-License-Identifier: Apache-2.0
/// \file
/// Which numbers occur, and which of them in ascending order each is.
#pragma once
#include <strop/core/list.hpp>

#include <algorithm>
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

/// The numbers below `extent` that occur, ascending. `each(f)` goes through all `count` of them, f(k, number), and is
/// asked twice; `place(k, at)` gets where each stands in the result.
template <class Each, class Place>
List<std::int64_t> number_through(std::int64_t extent, std::int64_t count, Each each, Place place) {
  List<std::int64_t> kept;
  if (RankedSet::pays(extent, count)) {
    RankedSet set(extent);
    each([&](std::int64_t, std::int64_t j) { set.insert(j); });
    kept.resize(set.count());
    set.list(kept.data());
    each([&](std::int64_t k, std::int64_t j) { place(k, set(j)); });
  } else {
    each([&](std::int64_t, std::int64_t j) { kept.push_back(j); });
    std::sort(kept.begin(), kept.end());
    kept.resize(std::unique(kept.begin(), kept.end()) - kept.begin());
    each([&](std::int64_t k, std::int64_t j) {
      place(k, std::lower_bound(kept.begin(), kept.end(), j) - kept.begin());
    });
  }
  return kept;
}

}  // namespace strop::inline v0::detail
