// SPDX-License-Identifier: Apache-2.0
/// \file
/// Products of CSR matrices with few columns: of each value there is little to do, and the ends of rows, which nobody
/// can guess, would take most of the time.
#pragma once
#include <strop/number/lanes.hpp>
#include <strop/ops/pairwise.hpp>
#include <strop/ops/pieces.hpp>
#include <strop/ops/sparse_kernels.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace strop::inline v0::detail {
inline namespace STROP_ISA {

/// Whether rows of W columns are summed so.
template <class E, int W>
inline constexpr bool is_narrow = number::Rep<number::Vec<E>>::lanes > W &&
                                  (std::int64_t{sizeof(E)} * W <= narrow_bytes);

/// The sum of products that follow each other, each of W elements: 16 products at a time, of which those behind the
/// last one are left out by a mask, not by a loop that ends sooner.
template <class E, int W>
class NarrowSum {
 public:
  static constexpr std::int64_t step = 16;
  void add(const E* products, std::int64_t count) {
    const Ints place = lane_numbers();
    for (std::int64_t at = 0; at < count * W; at += step * W)
      unrolled<registers>([&](int r) __attribute__((always_inline)) {
        const std::int64_t from = at + r * lanes;
        total_[r] += place < static_cast<Int>(count * W - from) ? R::load(products + from) : number::Vec<E>{};
      });
  }
  NarrowPiece<E, W> sum() const {
    number::Vec<E> all = total_[0];
    unrolled<registers - 1>([&](int r) __attribute__((always_inline)) { all += total_[r + 1]; });
    NarrowPiece<E, W> out;
    if constexpr (W == 1) {
      const auto pair = folded<2, lanes>(all);
      out.v = pair[0] + pair[1];
    } else {
      out.v = folded<W, lanes>(all);
    }
    return out;
  }

 private:
  using R = number::Rep<number::Vec<E>>;
  using Int = std::conditional_t<sizeof(E) == 8, std::int64_t, std::int32_t>;
  static constexpr int lanes = R::lanes, registers = static_cast<int>(step) * W / lanes;
  typedef Int Ints __attribute__((vector_size(lanes * sizeof(E))));

  static Ints lane_numbers() {
    static constexpr auto numbers = [] {
      std::array<Int, std::size_t{lanes}> list{};
      for (int l = 0; l < lanes; ++l) list[static_cast<std::size_t>(l)] = l;
      return list;
    }();
    Ints v;
    std::memcpy(&v, numbers.data(), sizeof v);
    return v;
  }
  number::Vec<E> total_[std::size_t{registers}] = {};
};

/// Rows [begin, end) of a · b of W columns each, which begin `stride` apart in `out`: the products of a stretch of
/// values first, wherever rows end, then their sums. `row`: the row of b for a column of a.
template <int W, class Matrix, class E, class Row>
void narrow_rows(const Matrix& a, std::int64_t begin, std::int64_t end, Row row, E* out, std::int64_t stride,
                 bool add) {
  constexpr std::int64_t room = chain_of_products * NarrowSum<E, W>::step / W;
  E products[static_cast<std::size_t>((room + NarrowSum<E, W>::step) * W)] = {};
  const auto multiply = [&](std::int64_t from, std::int64_t to) {
    const E* const data = a.data;
    const auto* const indices = a.indices;
    for (std::int64_t k = from; k < to; ++k) {
      NarrowPiece<E, W> part(row(indices[k]));
      part.v *= data[k];
      part.store(products + (k - from) * W);
    }
  };
  const auto put = [&](NarrowPiece<E, W> sum, std::int64_t i) {
    E* const to = out + i * stride;
    if (add) sum.add(NarrowPiece<E, W>(to));
    sum.store(to);
  };
  for (std::int64_t i = begin; i < end;) {
    const std::int64_t from = a.indptr[i];
    std::int64_t last = i;
    while (last < end && a.indptr[last + 1] - from <= room) ++last;
    if (last == i) {  // a row of more than there is room for
      E waiting[static_cast<std::size_t>(pair_levels * W)];
      Pairs pairs;
      for (std::int64_t k = from, stop = a.indptr[i + 1];;) {
        NarrowSum<E, W> sums;
        const std::int64_t count = std::min(room, stop - k);
        multiply(k, k + count);
        sums.add(products, count);
        NarrowPiece<E, W> sum = sums.sum();
        const auto merge = [&](int level) { sum.add(NarrowPiece<E, W>(waiting + level * W)); };
        if (k += count; k == stop) {
          pairs.finish(merge);
          put(sum, i++);
          break;
        }
        pairs.push(merge, [&](int level) { sum.store(waiting + level * W); });
      }
      continue;
    }
    multiply(from, a.indptr[last]);
    for (; i < last; ++i) {
      NarrowSum<E, W> sums;
      sums.add(products + (a.indptr[i] - from) * W, a.indptr[i + 1] - a.indptr[i]);
      put(sums.sum(), i);
    }
  }
}

}  // namespace STROP_ISA
}  // namespace strop::inline v0::detail
