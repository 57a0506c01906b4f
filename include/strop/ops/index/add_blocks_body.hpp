// SPDX-License-Identifier: Apache-2.0
/// \file
/// Rows added up by the places that positions name: the gradients of take, Embedding and gather_nd. A place may have
/// any number of rows, and its sum keeps its digits (ops/pairwise.hpp). The order of the additions depends on the
/// positions alone, not on the number of threads.
#pragma once
#include <strop/core/list.hpp>
#include <strop/ops/pairwise.hpp>
#include <strop/ops/pieces.hpp>
#include <strop/tensor/csr_shares.hpp>

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>

namespace strop::inline v0::detail {

/// The positions that name each place, sorted by place: the sum of a place stays in registers.
template <class E>
class RowsByPlace {
 public:
  RowsByPlace(Span<const std::int64_t> at, std::int64_t places) : places_(places) {
    starts_.reserve(places + 1);
    rows_.reserve(at.size());
    std::int64_t* const starts = starts_.data();
    std::fill_n(starts, places + 1, std::int64_t{0});
    for (std::int64_t place : at) ++starts[place + 1];
    for (std::int64_t p = 0; p < places; ++p) {
      longest_ = std::max(longest_, starts[p + 1]);
      starts[p + 1] += starts[p];
    }
    for (std::int64_t i = 0; i < at.size(); ++i) rows_.data()[starts[at[i]]++] = static_cast<std::int32_t>(i);
    for (std::int64_t p = places; p > 0; --p) starts[p] = starts[p - 1];  // the end of one is the start of the next
    starts[0] = 0;
  }

  /// out[p] = the sum of p's rows, on all threads. Rows are `width` wide.
  void add_up(const E* rows, std::int64_t width, E* out) const {
    const std::int64_t all = starts_.data()[places_];
    if (longest_ < all / 16)
      return share_rows_out(
          places_, all, std::max<std::int64_t>(1, 32768 / width), [&](std::int64_t p) { return starts_.data()[p]; },
          [&](std::int64_t first, std::int64_t last) { add_up(first, last, rows, width, 0, width, out); });
    // A place that has much of it all would be the work of one thread: each takes some columns.
    constexpr std::int64_t panel = 128 / sizeof(E);
    parallel_for((width + panel - 1) / panel, std::max<std::int64_t>(1, 1024 / (all + 1)),
                 [&](std::int64_t begin, std::int64_t end) {
                   for (std::int64_t c = begin * panel; c < std::min(width, end * panel); c += panel)
                     add_up(0, places_, rows, width, c, std::min(width, c + panel), out);
                 });
  }
  /// The same of places [first, last) and columns [from, to).
  void add_up(std::int64_t first, std::int64_t last, const E* rows, std::int64_t width, std::int64_t from,
              std::int64_t to, E* out) const {
    List<E> waiting;  // memory alone
    waiting.reserve(pair_levels_of(longest_ / chain_of_products + 1) * (to - from));
    each_piece<E>(to - from, [&]<class Piece>(std::int64_t c) {
      for (std::int64_t p = first; p < last; ++p)
        sum_of<Piece>(p, rows + from + c, width, waiting.data()).store(out + p * width + from + c);
    });
  }

 private:
  template <class Piece>
  [[gnu::always_inline]] Piece sum_of(std::int64_t place, const E* rows, std::int64_t width, E* waiting) const {
    const std::int32_t *row = rows_.data() + starts_.data()[place], *const end =
                                                                        rows_.data() + starts_.data()[place + 1];
    Piece sum;
    if (end - row <= chain_of_products) {
      for (; row != end; ++row) sum.add(Piece(rows + *row * width));
      return sum;
    }
    Pairs pairs;
    const auto merge = [&](int level) { sum.add(Piece(waiting + level * Piece::columns)); };
    while (row != end) {
      sum = Piece();
      for (const auto* const stop = row + std::min<std::int64_t>(chain_of_products, end - row); row != stop; ++row)
        sum.add(Piece(rows + *row * width));
      pairs.push(merge, [&](int level) { sum.store(waiting + level * Piece::columns); });
    }
    sum = Piece();
    pairs.finish(merge);
    return sum;
  }

  std::int64_t places_, longest_ = 0;
  List<std::int64_t> starts_;
  List<std::int32_t> rows_;
};

/// What places with many rows have got, in double: a sum of float moves here whenever it has taken up another
/// `chain_of_products` rows.
template <std::int64_t columns>
class MovedSums {
 public:
  explicit MovedSums(std::int64_t places) : size_(places) {}
  template <class E>
  [[gnu::noinline]] void take(std::int64_t place, E* sum) {
    if (numbers_.empty()) numbers_.resize(size_);
    std::int32_t& number = numbers_[place];
    if (number == 0) {
      places_.push_back(place);
      number = static_cast<std::int32_t>(places_.size());
      sums_.resize(places_.size() * columns);
    }
    double* const to = sums_.data() + (number - 1) * columns;
    for (std::int64_t c = 0; c < columns; ++c) to[c] += static_cast<double>(std::exchange(sum[c], E(0)));
  }
  /// Adds them to the sums, whose rows lie `stride` apart.
  template <class E>
  void give_back(E* sums, std::int64_t stride) const {
    const double* from = sums_.data();
    for (std::int64_t place : places_)
      for (E *to = sums + place * stride, *const end = to + columns; to != end; ++to)
        *to = static_cast<E>(static_cast<double>(*to) + *from++);
  }

 private:
  std::int64_t size_;
  List<std::int32_t> numbers_;  // 0 of a place that has none here
  List<std::int64_t> places_;
  List<double> sums_;
};

/// sums[at[i]] += rows[i], one after the other, for columns [from, to) of rows that are `width` wide. `met` is memory
/// for a number per place.
template <class E>
void add_in_turn(const E* rows, Span<const std::int64_t> at, std::int64_t width, std::int64_t from, std::int64_t to,
                 std::int64_t places, E* sums, std::uint16_t* met) {
  if (!std::same_as<E, double> && width == 1 && places <= at.size()) {
    List<double> wide(places);
    for (std::int64_t i = 0; i < at.size(); ++i) wide[at[i]] += static_cast<double>(rows[i]);
    std::transform(wide.begin(), wide.end(), sums, [](double sum) { return static_cast<E>(sum); });
    return;
  }
  each_piece<E>(to - from, [&]<class Piece>(std::int64_t c) {
    const E* row = rows + from + c;
    E* const out = sums + from + c;
    const auto add = [&](std::int64_t place) __attribute__((always_inline)) {
      E* const to_place = out + place * width;
      Piece sum(to_place);
      sum.add(Piece(row));
      sum.store(to_place);
      row += width;
      return to_place;
    };
    if constexpr (std::same_as<E, double>) {  // which has digits to spare
      for (std::int64_t place : at) add(place);
    } else {
      if (at.size() <= chain_of_products) {
        for (std::int64_t place : at) add(place);
        return;
      }
      std::fill_n(met, places, std::uint16_t{0});
      MovedSums<Piece::columns> moved(places);
      for (std::int64_t place : at) {
        E* const sum = add(place);
        if (++met[place] != chain_of_products) [[likely]]
          continue;
        met[place] = 0;
        moved.take(place, sum);
      }
      moved.give_back(out, width);
    }
  });
}

/// da = 0, then da[o, at[i]] += dy[o, i] for blocks of `inner` elements.
template <class E>
void add_blocks(const E* dy, Span<const std::int64_t> at, E* da, std::int64_t outer, std::int64_t places,
                std::int64_t inner) {
  const std::int64_t count = at.size();
  if (count == 0 || inner == 0 || outer == 0) return void(std::fill_n(da, outer * places * inner, E(0)));
  // To sort pays where rows are wide, and most places have some.
  constexpr std::int64_t wide = 128 / sizeof(E);
  if (inner >= wide && places <= 2 * count && count <= std::numeric_limits<std::int32_t>::max()) {
    const RowsByPlace<E> sorted(at, places);
    if (outer == 1) return sorted.add_up(dy, inner, da);
    return parallel_for(outer, std::max<std::int64_t>(1, 32768 / (count * inner)),
                        [&](std::int64_t begin, std::int64_t end) {
                          for (std::int64_t o = begin; o < end; ++o)
                            sorted.add_up(0, places, dy + o * count * inner, inner, 0, inner, da + o * places * inner);
                        });
  }
  const std::int64_t size = outer * places * inner;
  parallel_for(size, 1 << 16, [&](std::int64_t begin, std::int64_t end) { std::fill(da + begin, da + end, E(0)); });
  const auto add = [&](std::int64_t first, std::int64_t last, std::int64_t from, std::int64_t to) {
    List<std::uint16_t> met;  // memory alone
    met.reserve(places);
    for (std::int64_t o = first; o < last; ++o)
      add_in_turn(dy + o * count * inner, at, inner, from, to, places, da + o * places * inner, met.data());
  };
  if (outer > 1)
    parallel_for(outer, std::max<std::int64_t>(1, 32768 / (count * inner)),
                 [&](std::int64_t begin, std::int64_t end) { add(begin, end, 0, inner); });
  else
    parallel_for(inner, std::max<std::int64_t>(16, 32768 / count),
                 [&](std::int64_t begin, std::int64_t end) { add(0, 1, begin, end); });
}

/// The same of integers, which wrap around where they overflow.
template <std::integral E>
void add_blocks(const E* dy, Span<const std::int64_t> at, E* da, std::int64_t outer, std::int64_t places,
                std::int64_t inner) {
  using Bits = std::make_unsigned_t<E>;
  std::fill_n(da, outer * places * inner, E(0));
  for (std::int64_t o = 0; o < outer; ++o)
    for (std::int64_t place : at) {
      E* const to = da + (o * places + place) * inner;
      for (std::int64_t c = 0; c < inner; ++c, ++dy)
        to[c] = static_cast<E>(static_cast<Bits>(to[c]) + static_cast<Bits>(*dy));
    }
}

}  // namespace strop::inline v0::detail
