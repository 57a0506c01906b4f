// SPDX-License-Identifier: Apache-2.0
/// \file
/// Bodies of what is declared in ops/index/kernels.hpp, which only what builds their kernels reads.
#pragma once
#include <strop/core/list.hpp>
#include <strop/core/prefetch.hpp>
#include <strop/ops/csr_transposed.hpp>
#include <strop/ops/index/kernels.hpp>
#include <strop/ops/pairwise.hpp>
#include <strop/ops/pieces.hpp>
#include <strop/ops/shape/move.hpp>
#include <strop/tensor/cast.hpp>
#include <strop/tensor/merged.hpp>

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string_view>
#include <type_traits>

namespace strop::inline v0::detail {

inline void bring_inside(detail::List<std::int64_t>& at, std::int64_t extent, Outside outside, std::string_view op) {
  if (at.empty()) return;
  if (extent == 0) fail(op, ": positions in an axis without elements");
  for (std::int64_t& i : at) {
    if (i >= 0 && i < extent) continue;
    if (outside == Outside::clip)
      i = i < 0 ? 0 : extent - 1;
    else if (outside == Outside::wrap)
      i = i % extent < 0 ? i % extent + extent : i % extent;
    else if (outside == Outside::from_end && i < 0 && i >= -extent)
      i += extent;
    else
      fail(op, ": position ", i, " is outside an axis of extent ", extent);
  }
}

/// The elements of an array of any type as positions (floating ones truncate) in an axis of this extent.
inline detail::List<std::int64_t> positions(const NDArray& from, std::int64_t extent, Outside outside,
                                            std::string_view op) {
  detail::List<std::int64_t> at(from.size());
  convert_elements(from.dtype(), from.bytes(), i64, at.data(), from.size());
  bring_inside(at, extent, outside, op);
  return at;
}

/// Positions as positions() has them, without a copy where they are int64 and all inside.
class ReadPositions {
 public:
  ReadPositions(const NDArray& from, std::int64_t extent, Outside outside, std::string_view op) {
    if (from.dtype() == i64 && all_below(from.pointer<const std::int64_t>(), from.size(), extent)) {
      given_ = {from.pointer<const std::int64_t>(), from.size()};
    } else {
      own_ = positions(from, extent, outside, op);
      given_ = own_.span();
    }
  }
  ReadPositions(const ReadPositions&) = delete;
  ReadPositions& operator=(const ReadPositions&) = delete;
  Span<const std::int64_t> span() const { return given_; }

 private:
  detail::List<std::int64_t> own_;
  Span<const std::int64_t> given_;
};

/// y[o, i] = a[o, at[i]] for blocks of `inner` elements.
inline void take_blocks(const NDArray& a, Span<const std::int64_t> at, const NDArray& y, std::int64_t outer,
                        std::int64_t extent, std::int64_t inner) {
  const auto count = at.size();
  const std::int64_t bytes = inner * size_of(a.dtype());
  if (bytes == 0 || outer == 0) return;
  const std::byte* from = a.bytes();
  std::byte* to = y.bytes();
  constexpr std::int64_t ahead = 8;
  const std::int64_t asked = std::min<std::int64_t>(512, bytes);
  parallel_for(outer * count, std::max<std::int64_t>(1, 65536 / bytes), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t k = begin; k < end;) {
      const std::int64_t first = k / count * count, stop = std::min(end, first + count);
      const std::byte* const blocks = from + k / count * extent * bytes;
      const auto copy_each = [&](auto copy) {
        for (; k < stop; ++k) copy(to + k * bytes, blocks + at[k - first] * bytes);
      };
      if (bytes == 4)
        copy_each([](std::byte* block, const std::byte* found) { std::memcpy(block, found, 4); });
      else if (bytes == 8)
        copy_each([](std::byte* block, const std::byte* found) { std::memcpy(block, found, 8); });
      else
        for (; k < stop; ++k) {
          // blocks are anywhere: what is asked for early does not stop the copies
          if (k + ahead < stop) prefetch_lines(blocks + at[k + ahead - first] * bytes, asked);
          detail::copy_bytes(to + k * bytes, blocks + at[k - first] * bytes, bytes);
        }
    }
  });
}

/// The places that many more than their share of positions name: what is added there is added up apart. There are up to
/// 255 of them, and none where a place has no more than others.
class CrowdedPlaces {
 public:
  CrowdedPlaces(Span<const std::int64_t> at, std::int64_t extent) {
    const auto place_of = [&](std::int64_t k) { return at[k]; };
    if (!one_has_many(at.size(), extent, place_of)) return;
    List<std::int64_t> met;
    const std::int64_t samples = each_sample(at.size(), place_of, [&](std::int64_t place) { met.push_back(place); });
    std::sort(met.begin(), met.end());
    const std::int64_t share = 4 + 2 * samples / std::min<std::int64_t>(extent, 1024);
    std::uint8_t numbers[std::size_t{1} << slot_bits] = {};
    const auto number_of = [&](std::int64_t place) -> std::uint8_t& {
      return numbers[(static_cast<std::uint64_t>(place) * 0x9E3779B97F4A7C15u) >> (64 - slot_bits)];
    };
    for (Index k = 0, next; k < met.size() && places_.size() < 256; k = next) {
      for (next = k; next < met.size() && met[next] == met[k];) ++next;
      if (next - k <= share || number_of(met[k]) != 0) continue;  // of two with one slot the first
      number_of(met[k]) = static_cast<std::uint8_t>(places_.size());
      places_.push_back(met[k]);
    }
    if (places_.size() == 1) return;
    number_.reserve(at.size());
    for (Index k = 0; k < at.size(); ++k) {  // nobody can guess which it is: no branch
      const std::uint8_t number = number_of(at[k]);
      number_.data()[k] = places_[number] == at[k] ? number : std::uint8_t{0};
    }
  }
  bool empty() const { return places_.size() == 1; }
  /// How many numbers there are: 0 is that of all other places.
  Index count() const { return places_.size(); }
  std::int64_t place(Index number) const { return places_[number]; }
  /// Of the place that position k names.
  Index operator()(std::int64_t k) const { return number_.data()[k]; }

 private:
  static constexpr int slot_bits = 12;
  List<std::int64_t> places_ = {-1};
  List<std::uint8_t> number_;  // memory alone
};

/// Sums of the rows of crowded places, of the columns of a piece, in stretches that are added up in pairs.
template <class E, class Piece>
class CrowdedSums {
 public:
  CrowdedSums(const CrowdedPlaces& crowded, std::int64_t count)
      : count_(crowded.count()),
        levels_(pair_levels_of(count / chain_of_products + 1) + 1),
        left_(count_, chain_of_products),
        pairs_(count_),
        rows_(count_ * columns) {
    waiting_.reserve(levels_ * count_ * columns);
    left_[0] = std::numeric_limits<std::int64_t>::max();
  }
  E* row(Index number) { return rows_.data() + number * columns; }
  /// Behind each addition to a row.
  void added(Index number) {
    if (--left_[number] != 0) [[likely]]
      return;
    left_[number] = chain_of_products;
    Piece sum(row(number));
    pairs_[number].push([&](int level) { sum.add(Piece(waiting(number, level))); },
                        [&](int level) { sum.store(waiting(number, level)); });
    Piece().store(row(number));
  }
  Piece sum(Index number) {
    Piece sum(row(number));
    pairs_[number].finish([&](int level) { sum.add(Piece(waiting(number, level))); });
    return sum;
  }

 private:
  static constexpr std::int64_t columns = Piece::columns;
  E* waiting(Index number, int level) { return waiting_.data() + (number * levels_ + level) * columns; }
  Index count_, levels_;
  List<std::int64_t> left_;  // how many additions end a stretch
  List<Pairs> pairs_;
  List<E> rows_, waiting_;  // of the latter memory alone
};

/// da = 0, then da[o, at[i]] += dy[o, i] for blocks of `inner` elements. Threads own parts of da, so that the order of
/// the additions, and with it the result, does not depend on their number.
template <class E>
void add_blocks(const E* dy, Span<const std::int64_t> at, E* da, std::int64_t outer, std::int64_t extent,
                std::int64_t inner) {
  const auto count = at.size();
  if (count == 0 || inner == 0 || outer == 0) return void(std::fill_n(da, outer * extent * inner, E(0)));
  const CrowdedPlaces crowded(at, extent);
  // Stretches of positions where places have many, which are added up in pairs.
  const std::int64_t most = chain_of_sums * extent, stretches = (count + most - 1) / most;
  const auto add = [&](std::int64_t o, std::int64_t first, std::int64_t last) {
    const std::int64_t width = last - first;
    List<E> waiting(pair_levels_of(stretches) * extent * width);
    const auto sums_at = [&](std::int64_t level) {
      return level == 0 ? da + o * extent * inner + first : waiting.data() + (level - 1) * extent * width;
    };
    const auto row_of = [&](std::int64_t level) { return level == 0 ? inner : width; };
    in_pairs(
        stretches,
        [&](std::int64_t s, std::int64_t level) {
          const std::int64_t begin = s * most, end = std::min(count, begin + most), row = row_of(level);
          E* const sums = sums_at(level);
          if (row == width)
            std::fill_n(sums, extent * width, E(0));
          else
            for (std::int64_t j = 0; j < extent; ++j) std::fill_n(sums + j * row, width, E(0));
          each_piece<E>(width, [&]<class Piece>(std::int64_t c) {
            const E* from = dy + (o * count + begin) * inner + first + c;
            const auto add_row = [&](E* to) __attribute__((always_inline)) {
              Piece sum(to);
              sum.add(Piece(from));
              sum.store(to);
            };
            if (crowded.empty()) {
              for (std::int64_t i = begin; i < end; ++i, from += inner) add_row(sums + at[i] * row + c);
              return;
            }
            CrowdedSums<E, Piece> apart(crowded, end - begin);
            for (std::int64_t i = begin; i < end; ++i, from += inner) {
              const Index number = crowded(i);
              E *const own = apart.row(number), *const plain = sums + at[i] * row + c;
              add_row(number != 0 ? own : plain);
              apart.added(number);
            }
            for (Index number = 1; number < crowded.count(); ++number)
              apart.sum(number).store(sums + crowded.place(number) * row + c);
          });
        },
        [&](std::int64_t level) {
          E* to = sums_at(level);
          const E* from = sums_at(level + 1);
          for (std::int64_t j = 0; j < extent; ++j, to += row_of(level), from += width) add_numbers(to, from, width);
        });
  };
  if (outer > 1) {
    parallel_for(outer, std::max<std::int64_t>(1, 32768 / (count * inner)), [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t o = begin; o < end; ++o) add(o, 0, inner);
    });
  } else {
    parallel_for(inner, std::max<std::int64_t>(16, 32768 / count),
                 [&](std::int64_t begin, std::int64_t end) { add(0, begin, end); });
  }
}

/// The same of integers, which wrap around where they overflow.
template <std::integral E>
void add_blocks(const E* dy, const detail::List<std::int64_t>& at, E* da, std::int64_t outer, std::int64_t extent,
                std::int64_t inner) {
  using Bits = std::make_unsigned_t<E>;
  std::fill_n(da, outer * extent * inner, E(0));
  for (std::int64_t o = 0; o < outer; ++o)
    for (Index i = 0; i < at.size(); ++i) {
      E* const to = da + (o * extent + at[i]) * inner;
      for (std::int64_t c = 0; c < inner; ++c, ++dy)
        to[c] = static_cast<E>(static_cast<Bits>(to[c]) + static_cast<Bits>(*dy));
    }
}

/// y[o, i] = x[o, at[o, i], i].
inline void pick_elements(const NDArray& x, const detail::List<std::int64_t>& at, const NDArray& y, std::int64_t outer,
                          std::int64_t extent, std::int64_t inner) {
  visit_bits(x.dtype(), [&]<class Bits>(Bits) {
    const Bits* from = x.pointer<Bits>();
    Bits* to = y.pointer<Bits>();
    for (std::int64_t k = 0; k < outer * inner; ++k) to[k] = from[(k / inner * extent + at[k]) * inner + k % inner];
  });
}

/// x[o, at[o, i], i] = y[o, i].
inline void place_elements(const NDArray& y, const detail::List<std::int64_t>& at, const NDArray& x, std::int64_t outer,
                           std::int64_t extent, std::int64_t inner) {
  visit_bits(x.dtype(), [&]<class Bits>(Bits) {
    const Bits* from = y.pointer<Bits>();
    Bits* to = x.pointer<Bits>();
    for (std::int64_t k = 0; k < outer * inner; ++k) to[(k / inner * extent + at[k]) * inner + k % inner] = from[k];
  });
}

/// Rows `at` of a CSR array.
inline void take_csr_rows(const NDArray& a, const detail::List<std::int64_t>& at, const NDArray& y) {
  const IndexReader starts(a.indptr());
  const std::int64_t rows = at.size();
  detail::List<std::int64_t> ends(rows + 1);
  for (std::int64_t i = 0; i < rows; ++i) {
    const RowSpan span = row_span(starts, at[i], a.nnz());
    ends[i + 1] = ends[i] + span.end - span.begin;
  }
  allocate_stored_as(y, ends[rows], a.indices().dtype());
  write_indices(y.indptr(), ends.data(), rows + 1);
  const std::int64_t size = size_of(a.dtype()), wide = size_of(a.indices().dtype());
  const std::byte *values = a.bytes(), *columns = a.indices().bytes();
  std::byte *to_values = y.bytes(), *to_columns = y.indices().bytes();
  share_rows_out(
      rows, ends[rows], stored_share, [&](std::int64_t i) { return ends[i]; },
      [&](std::int64_t first, std::int64_t last) {
        for (std::int64_t i = first; i < last; ++i) {
          const std::int64_t from = starts[at[i]], to = ends[i], n = ends[i + 1] - to;
          if (n == 0) continue;
          detail::copy_bytes(to_values + to * size, values + from * size, n * size);
          detail::copy_bytes(to_columns + to * wide, columns + from * wide, n * wide);
        }
      });
}

/// Row at[i] of a CSR array adds up the rows i of dy, in CSR too.
inline void add_csr_rows(const NDArray& dy, const detail::List<std::int64_t>& at, const NDArray& da) {
  const IndexReader starts(dy.indptr());
  const auto span_of = [&](std::int64_t row) { return row_span(starts, row, dy.nnz()); };
  const Dtype kind = dy.indices().dtype();
  const std::int64_t rows = da.shape()[0], size = size_of(dy.dtype()), wide = size_of(kind);
  List<std::int64_t> begins(rows + 1, 0);
  for (std::int64_t i = 0; i < at.size(); ++i) begins[at[i] + 1] += span_of(i).end - span_of(i).begin;
  for (std::int64_t r = 0; r < rows; ++r) begins[r + 1] += begins[r];
  const NDArray all = NDArray::fresh_shell(da.shape(), dy.dtype(), cpu(), csr);
  allocate_stored_as(all, begins[rows], kind);
  write_indices(all.indptr(), begins.data(), rows + 1);
  for (std::int64_t i = 0; i < at.size(); ++i) {
    const RowSpan span = span_of(i);
    const std::int64_t n = span.end - span.begin, to = begins[at[i]];
    if (n == 0) continue;
    detail::copy_bytes(all.bytes() + to * size, dy.bytes() + span.begin * size, n * size);
    detail::copy_bytes(all.indices().bytes() + to * wide, dy.indices().bytes() + span.begin * wide, n * wide);
    begins[at[i]] += n;  // where the next of these rows goes
  }
  const NDArray sums = merged(all, true);
  copy_structure(sums, da);
  if (sums.stored() != 0) copy_bytes(da.bytes(), sums.bytes(), sums.stored() * size);
}

}  // namespace strop::inline v0::detail
