// SPDX-License-Identifier: Apache-2.0
/// \file
/// Which numbers occur, and which of them in ascending order each is.
#pragma once
#include <strop/core/list.hpp>
#include <strop/engine/pool.hpp>
#include <strop/ops/counting_sort.hpp>
#include <strop/ops/sparse_kernels.hpp>
#include <strop/tensor/ndarray.hpp>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>

namespace strop::inline v0::detail {
inline namespace STROP_ISA {

/// Writes 64 · w + the place of each bit of a word, ascending, and gives how many there are. `room` of them have room.
/// `Group` at a time are written where there is room, without a question whether there are as many, so that a
/// processor does not have to guess.
template <int Group, class I>
std::int64_t list_bits(std::uint64_t bits, std::int64_t w, I* to, std::int64_t room) {
  const std::int64_t count = std::popcount(bits);
  const auto next = [&] {
    const auto place = static_cast<I>(w * 64 + std::countr_zero(bits));
    bits &= bits - 1;
    return place;
  };
  if (count + Group > room) {
    for (std::int64_t i = 0; i < count; ++i) to[i] = next();
    return count;
  }
  std::int64_t i = 0;
  do {
    for (int m = 0; m < Group; ++m) to[i + m] = next();
    i += Group;
  } while (i < count);
  return count;
}

/// A set of numbers below `extent`, and the place of each in their ascending order: a bit a number, and beside each
/// word of bits how many come before. A few millions of them fit into a second-level cache, where a table of places
/// would not.
class RankedSet {
 public:
  /// Of those that `numbers.columns(p, parts, f)` goes through in parts, by f(k, number).
  template <class Numbers>
  RankedSet(std::int64_t extent, std::int64_t count, const Numbers& numbers)
      : size_((extent + 63) / 64), words_({size_, 2}, i64) {
    const std::int64_t parts = parts_of_list(count, size_);
    const NDArray tables({parts, size_}, i64);
    parallel_for(parts, 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t p = begin; p < end; ++p) {
        auto* const bits = tables.pointer<std::uint64_t>() + p * size_;
        std::fill(bits, bits + size_, std::uint64_t{0});
        numbers.columns(p, parts,
                        [bits](std::int64_t, std::int64_t j) { bits[j >> 6] |= std::uint64_t{1} << (j & 63); });
      }
    });
    Word* const to = at_ = words_.pointer<Word>();
    const auto* const bits = tables.pointer<const std::uint64_t>();
    for (std::int64_t w = 0; w < size_; ++w) {
      std::uint64_t all = bits[w];
      for (std::int64_t p = 1; p < parts; ++p) all |= bits[p * size_ + w];
      to[w] = {all, count_};
      count_ += std::popcount(all);
    }
  }
  std::int64_t count() const { return count_; }
  std::int64_t operator()(std::int64_t j) const {
    const Word word = at_[j >> 6];
    return word.before + std::popcount(word.bits & ((std::uint64_t{1} << (j & 63)) - 1));
  }
  /// Writes them in ascending order.
  template <class I>
  void list(I* to) const {
    const Word* const words = at_;
    parallel_for(size_, 4096, [&](std::int64_t begin, std::int64_t end) {
      const std::int64_t last = end < size_ ? words[end].before : count_;
      for (std::int64_t w = begin; w < end; ++w)
        list_bits<8>(words[w].bits, w, to + words[w].before, last - words[w].before);
    });
  }

 private:
  struct Word {
    std::uint64_t bits;
    std::int64_t before;
  };
  std::int64_t size_, count_ = 0;
  NDArray words_;
  Word* at_ = nullptr;
};

/// The same as a table of places with a mark for each number: for as many numbers as there can be different ones.
class MarkedSet {
 public:
  template <class Numbers>
  MarkedSet(std::int64_t extent, std::int64_t count, const Numbers& numbers) {
    const std::int64_t parts = parts_of_list(count, extent / 4);
    const NDArray tables({parts, extent}, u8);
    auto* const marks = tables.pointer<std::uint8_t>();
    parallel_for(parts, 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t p = begin; p < end; ++p) {
        std::uint8_t* const mine = marks + p * extent;
        std::fill(mine, mine + extent, std::uint8_t{0});
        numbers.columns(p, parts, [mine](std::int64_t, std::int64_t j) { mine[j] = 1; });
      }
    });
    if (all_marked(marks, parts, extent)) {
      count_ = extent;
      return;
    }
    kept_ = NDArray({extent}, i64);
    places_ = NDArray({extent}, i32);
    std::int64_t* const kept = kept_.pointer<std::int64_t>();
    std::int32_t* const place = place_ = places_.pointer<std::int32_t>();
    std::int64_t found = 0;
    for (std::int64_t j = 0; j < extent; ++j) {
      int any = marks[j];
      for (std::int64_t p = 1; p < parts; ++p) any |= marks[p * extent + j];
      kept[found] = j;
      place[j] = static_cast<std::int32_t>(found);
      found += any;
    }
    count_ = found;
  }
  std::int64_t count() const { return count_; }
  /// Where not all of the numbers occur.
  std::int64_t operator()(std::int64_t j) const { return place_[j]; }
  template <class I>
  void list(I* to) const {
    const std::int64_t* const kept = place_ != nullptr ? kept_.pointer<const std::int64_t>() : nullptr;
    for (std::int64_t j = 0; j < count_; ++j) to[j] = static_cast<I>(kept != nullptr ? kept[j] : j);
  }

 private:
  static bool all_marked(const std::uint8_t* marks, std::int64_t parts, std::int64_t extent) {
    std::int64_t j = 0;
    for (; j + 8 <= extent; j += 8) {
      std::uint64_t any = 0;
      for (std::int64_t p = 0; p < parts; ++p) {
        std::uint64_t eight;
        std::memcpy(&eight, marks + p * extent + j, sizeof eight);
        any |= eight;
      }
      if (any != 0x0101010101010101u) return false;
    }
    for (; j < extent; ++j) {
      bool any = false;
      for (std::int64_t p = 0; p < parts; ++p) any = any || marks[p * extent + j] != 0;
      if (!any) return false;
    }
    return true;
  }
  NDArray kept_, places_;
  std::int32_t* place_ = nullptr;
  std::int64_t count_ = 0;
};

/// What chooses how numbers are found.
inline SparseSizes sizes_of_numbering(std::int64_t extent, std::int64_t count) {
  return {.values = count + 128, .columns = extent, .counted = extent};
}

/// The numbers below `extent` that occur, ascending, into the memory that room(how many) gives. `numbers` goes through
/// all `count` of them as RankedSet asks, twice; place(k, at) gets where each stands in the result, but nothing where
/// all below `extent` occur, each at the place that it says. Gives how many there are.
template <class Numbers, class Room, class Place>
std::int64_t number_through(std::int64_t extent, std::int64_t count, const Numbers& numbers, Room room, Place place) {
  const auto by = [&](const auto& set) {
    set.list(room(set.count()));
    if (set.count() == extent) return extent;
    const std::int64_t parts = parts_of_list(count, 0);
    parallel_for(parts, 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t p = begin; p < end; ++p)
        numbers.columns(p, parts, [&](std::int64_t k, std::int64_t j) { place(k, set(j)); });
    });
    return set.count();
  };
  switch (sparse_kernel(SparseWork::numbering, sizes_of_numbering(extent, count))) {
    case SparseKernel::marks:
      return by(MarkedSet(extent, count, numbers));
    case SparseKernel::bits:
      return by(RankedSet(extent, count, numbers));
    default:
      break;
  }
  List<std::int64_t> kept;
  numbers.columns(0, 1, [&](std::int64_t, std::int64_t j) { kept.push_back(j); });
  std::sort(kept.begin(), kept.end());
  kept.resize(std::unique(kept.begin(), kept.end()) - kept.begin());
  auto* const to = room(kept.size());
  for (Index k = 0; k < kept.size(); ++k) to[k] = static_cast<std::remove_reference_t<decltype(*to)>>(kept[k]);
  numbers.columns(0, 1, [&](std::int64_t k, std::int64_t j) {
    place(k, std::lower_bound(kept.begin(), kept.end(), j) - kept.begin());
  });
  return kept.size();
}

/// A list of numbers as number_through() and ByBlock read it.
template <class I>
struct ListedNumbers {
  const I* numbers;
  std::int64_t count;
  template <class F>
  void columns(std::int64_t p, std::int64_t parts, F f) const {
    for (std::int64_t k = count * p / parts, end = count * (p + 1) / parts; k < end; ++k)
      f(k, std::int64_t{numbers[k]});
  }
};

}  // namespace STROP_ISA
}  // namespace strop::inline v0::detail
