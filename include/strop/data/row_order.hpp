// SPDX-License-Identifier: Apache-2.0
/// \file
/// The order in which the rows of an epoch come.
#pragma once
#include <strop/core/error.hpp>
#include <strop/core/list.hpp>
#include <strop/memory/random.hpp>

#include <cstdint>
#include <string_view>
#include <utility>

namespace strop::inline v0::detail {

/// Rows first, first + 1, …, or a permutation of them that follows from a seed and a number alone.
class RowOrder {
 public:
  RowOrder(Index first, Index count) : first_(first), count_(count) {}

  Index size() const { return count_; }
  std::int64_t operator[](Index place) const { return rows_.empty() ? first_ + place : rows_[place]; }

  /// The permutation of that number: each is as likely as any other.
  void shuffle(std::string_view function, std::uint64_t seed, std::int64_t number) {
    if (count_ > INT64_C(0xffffffff)) fail(function, ": ", count_, " rows are too many to shuffle");
    rows_.resize(count_);
    for (Index k = 0; k < count_; ++k) rows_[k] = first_ + k;
    const random::Stream stream{.seed = seed, .call = static_cast<std::uint64_t>(number)};
    constexpr Index most = 1024;
    std::uint32_t words[2 * most];
    for (Index end = count_; end > 1;) {  // Fisher and Yates, from the end
      const Index some = end - 1 < most ? end - 1 : most, from = 2 * (count_ - end);
      stream.from(from).fill_bits(words, 2 * some);
      for (Index k = 0; k < some; ++k, --end) {
        const std::uint64_t below = static_cast<std::uint64_t>(end);
        const std::uint64_t drawn = (words[2 * k] * below + (words[2 * k + 1] * below >> 32)) >> 32;
        std::swap(rows_[end - 1], rows_[static_cast<Index>(drawn)]);
      }
    }
  }

 private:
  Index first_, count_;
  List<std::int64_t> rows_;  // empty: as they stand
};

}  // namespace strop::inline v0::detail
