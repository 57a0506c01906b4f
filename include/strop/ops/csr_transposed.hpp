// SPDX-License-Identifier: Apache-2.0
/// \file
/// Products with a transposed CSR factor: its values by blocks of columns, sums of parts of its rows; and its
/// transpose.
#pragma once
#include <strop/ops/csr_kernels.hpp>
#include <strop/ops/pairwise.hpp>
#include <strop/ops/ranked_set.hpp>
#include <strop/tensor/ndarray.hpp>

#include <algorithm>
#include <bit>
#include <concepts>
#include <cstdint>
#include <utility>

namespace strop::inline v0::detail {

/// aᵀ in CSR into memory that is there: columns ascend in each row where each place is stored once. `from`, where
/// given, says of each stored value where a has it. a has been checked.
template <class E, class I, class J>
void transpose(const CsrMatrix<E, I>& a, std::int64_t* starts, J* rows, E* values, Index* from = nullptr) {
  std::fill(starts, starts + a.cols + 1, std::int64_t{0});
  for (std::int64_t i = 0; i < a.rows; ++i)
    for (std::int64_t k = a.indptr[i]; k < a.indptr[i + 1]; ++k) ++starts[a.indices[k] + 1];
  for (std::int64_t j = 0; j < a.cols; ++j) starts[j + 1] += starts[j];
  // the start of a row moves to its end, which is the next one's start
  for (std::int64_t i = 0; i < a.rows; ++i)
    for (std::int64_t k = a.indptr[i]; k < a.indptr[i + 1]; ++k) {
      const std::int64_t to = starts[a.indices[k]]++;
      rows[to] = static_cast<J>(i);
      values[to] = a.data[k];
      if (from != nullptr) from[to] = k;
    }
  for (std::int64_t j = a.cols; j > 0; --j) starts[j] = starts[j - 1];
  starts[0] = 0;
}

inline namespace STROP_ISA {

/// The stored values of a CSR matrix that meet a row of the other factor, as number_through(), ByBlock and ByPlace read
/// them.
template <class E, class I>
struct MetValues {
  const CsrMatrix<E, I>& a;
  const MatrixRows<E>& b;
  /// f(k, column): k of all stored values.
  template <class F>
  void columns(std::int64_t p, std::int64_t parts, F f) const {
    const std::int64_t first = part_begin(a, p, parts), last = part_begin(a, p + 1, parts);
    if (first >= last) return;
    const auto range = [&](std::int64_t begin, std::int64_t end) {
      const I* const indices = a.indices;
      for (std::int64_t k = begin; k < end; ++k) f(k, std::int64_t{indices[k]});
    };
    if (b.every()) return range(a.indptr[first], a.indptr[last]);
    for (std::int64_t i = first; i < last; ++i)
      if (b.place(i) >= 0) range(a.indptr[i], a.indptr[i + 1]);
  }
  /// f(column, value, the row of b.data() that it multiplies).
  template <class F>
  void values(std::int64_t p, std::int64_t parts, F f) const {
    for (std::int64_t i = part_begin(a, p, parts), last = part_begin(a, p + 1, parts); i < last; ++i) {
      const auto row = static_cast<std::int32_t>(b.place(i));
      if (row < 0) continue;
      for (std::int64_t k = a.indptr[i], end = a.indptr[i + 1]; k < end; ++k) f(a.indices[k], a.data[k], row);
    }
  }
};

/// out(place, ·) += value · row for values that `numbers` goes through: sorted into blocks of places whose sums stay in
/// the second-level cache, each the work of one thread. The order in which the
/// values of a place are added is that of `numbers`, even rows before odd ones: the same bits for any number of
/// threads.
template <class E>
class ByBlock {
 public:
  /// `numbers` has `stored` values at most, for `places` places; rows are `width` wide.
  template <class Numbers>
  ByBlock(const Numbers& numbers, std::int64_t stored, std::int64_t places, std::int64_t width)
      : places_(places), width_(width), panel_(std::min<std::int64_t>(width, 128 / sizeof(E))) {
    constexpr std::int64_t table = 512 << 10, most_blocks = 512;
    const auto fitting = static_cast<std::uint64_t>(
        std::max(table / (panel_ * std::int64_t{sizeof(E)}), (places + most_blocks - 1) / most_blocks));
    shift_ = std::countr_zero(std::bit_ceil(fitting));
    blocks_ = ((places - 1) >> shift_) + 1;
    const std::int64_t parts = parts_of_list(stored, 0);
    // Of each block first the values of even rows, then those of odd ones, of each what each part has. Two counters for
    // a block: its values often follow each other, and a counter waits for its last step.
    const std::int64_t lists = 2 * blocks_;
    ends_ = List<std::int64_t>(lists * parts + 1);
    std::int64_t* const ends = ends_.data();
    const auto each_part = [&](auto f) {
      parallel_for(parts, 1, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t p = begin; p < end; ++p) {
          List<std::int64_t> mine(lists);
          f(p, mine.data());
        }
      });
    };
    each_part([&](std::int64_t p, std::int64_t* count) {
      numbers.values(p, parts, [count, shift = shift_](std::int64_t place, E, std::int32_t row) {
        ++count[2 * (place >> shift) + (row & 1)];
      });
      for (std::int64_t list = 0; list < lists; ++list) ends[list * parts + p + 1] = count[list];
    });
    for (std::int64_t k = 0; k < lists * parts; ++k) ends[k + 1] += ends[k];
    values_ = NDArray({ends[lists * parts] * std::int64_t{sizeof(Value)}}, u8);
    Value* const values = values_.template pointer<Value>();
    each_part([&](std::int64_t p, std::int64_t* next) {
      for (std::int64_t list = 0; list < lists; ++list) next[list] = ends[list * parts + p];
      numbers.values(p, parts, [=, shift = shift_](std::int64_t place, E value, std::int32_t row) {
        const std::int64_t within = place & ((std::int64_t{1} << shift) - 1);
        values[next[2 * (place >> shift) + (row & 1)]++] = {value, row, static_cast<std::int32_t>(within)};
      });
    });
    for (std::int64_t block = 0; block <= blocks_; ++block) ends[block] = ends[2 * block * parts];
  }

  /// The rows are those of `rows`.
  void add_up(const E* rows, E* out, bool add) const {
    const std::int64_t panels = (width_ + panel_ - 1) / panel_, block_places = std::int64_t{1} << shift_;
    parallel_for(blocks_ * panels, 1, [&](std::int64_t begin, std::int64_t end) {
      const NDArray table({std::min(block_places, places_) * panel_}, dtype_of<E>);
      E* const sums = table.template pointer<E>();
      for (std::int64_t task = begin; task < end; ++task) {
        const std::int64_t block = task / panels, c = task % panels * panel_, width = std::min(panel_, width_ - c);
        const std::int64_t first = block << shift_, count = std::min(block_places, places_ - first);
        const Value* const values = values_.template pointer<const Value>() + ends_[block];
        const std::int64_t all = ends_[block + 1] - ends_[block], most = chain_of_sums * count,
                           stretches = std::max<std::int64_t>(1, (all + most - 1) / most), size = count * width;
        const NDArray more({pair_levels_of(stretches), size}, dtype_of<E>);
        const auto sums_at = [&, waiting = more.template pointer<E>()](std::int64_t level) {
          return level == 0 ? sums : waiting + (level - 1) * size;
        };
        in_pairs(
            stretches,
            [&](std::int64_t s, std::int64_t level) {
              std::fill(sums_at(level), sums_at(level) + size, E(0));
              each_piece<E>(width, [&]<class Piece>(std::int64_t at) {
                scatter<Piece>(values + s * most, values + std::min(all, (s + 1) * most), rows + c + at, width_,
                               sums_at(level) + at, width);
              });
            },
            [&](std::int64_t level) { add_numbers(sums_at(level), sums_at(level + 1), size); });
        each_piece<E>(width, [&]<class Piece>(std::int64_t at) {
          deliver<Piece>(sums + at, width, count, out + first * width_ + c + at, width_, add);
        });
      }
    });
  }

 private:
  struct Value {
    E value;
    std::int32_t row, place;  // within the block
  };
  template <class Piece>
  [[gnu::noinline]] static void scatter(const Value* from, const Value* end, const E* rows, std::int64_t stride,
                                        E* sums, std::int64_t width) {
    for (; from != end; ++from) {
      if constexpr (Piece::bytes >= 64)  // rows ascend, with gaps: neither caches nor the processor know the next one
        prefetch<Piece::bytes>(rows + from[std::min<std::ptrdiff_t>(16, end - from - 1)].row * stride);
      const Value value = *from;
      E* const to = sums + value.place * width;
      Piece sum(to);
      sum.add_product(value.value, rows + value.row * stride);
      sum.store(to);
    }
  }
  template <class Piece>
  [[gnu::noinline]] static void deliver(const E* from, std::int64_t width, std::int64_t count, E* to,
                                        std::int64_t stride, bool add) {
    for (std::int64_t r = 0; r < count; ++r, from += width, to += stride) {
      Piece sum(from);
      if (add) sum.add(Piece(to));
      sum.store(to);
    }
  }

  std::int64_t places_, width_, panel_, blocks_ = 0;
  int shift_ = 0;
  List<std::int64_t> ends_;  // of blocks
  NDArray values_;
};

/// The same for values listed by the place that they go to: a CSR matrix, whose product holds the sums in registers.
/// The values of a place keep the order of `numbers`.
template <class E>
class ByPlace {
 public:
  /// `numbers` has `stored` values at most, for `places` places.
  template <class Numbers>
  ByPlace(const Numbers& numbers, std::int64_t stored, std::int64_t places)
      : places_(places), ends_({places + 1}, i64), rows_({stored}, i32), values_({stored}, dtype_of<E>) {
    const std::int64_t parts = parts_of_list(stored, places);
    const NDArray counts({parts, places}, i32);  // of each part, then where its values of each place go
    auto* const table = counts.template pointer<std::int32_t>();
    const auto each_part = [&](auto f) {
      parallel_for(parts, 1, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t p = begin; p < end; ++p) f(p, table + p * places);
      });
    };
    each_part([&](std::int64_t p, std::int32_t* count) {
      std::fill(count, count + places, 0);
      numbers.values(p, parts, [count](std::int64_t place, E, std::int32_t) { ++count[place]; });
    });
    auto* const end = ends_.template pointer<std::int64_t>();
    std::int32_t next = 0;
    end[0] = 0;
    for (std::int64_t place = 0; place < places; ++place) {
      for (std::int64_t p = 0; p < parts; ++p) next += std::exchange(table[p * places + place], next);
      end[place + 1] = next;
      longest_ = std::max(longest_, end[place + 1] - end[place]);
    }
    auto* const row_at = rows_.template pointer<std::int32_t>();
    E* const value_at = values_.template pointer<E>();
    each_part([&](std::int64_t p, std::int32_t* to) {
      numbers.values(p, parts, [=](std::int64_t place, E value, std::int32_t row) {
        const std::int32_t at = to[place]++;
        row_at[at] = row;
        value_at[at] = value;
      });
    });
  }

  /// Of `rows` there are so many, each `width` wide.
  void add_up(const E* rows, std::int64_t count, std::int64_t width, E* out, bool add) const {
    const IndexReader ends(ends_);
    const CsrMatrix<E, std::int32_t> a{places_,
                                       count,
                                       ends[places_],
                                       values_.template pointer<const E>(),
                                       rows_.template pointer<const std::int32_t>(),
                                       ends};
    const MatrixRows<E> b(rows, width);
    if (longest_ < a.stored / 16) return csr_product(a, b, out, add);
    // A place that has much of it all would be the work of one thread: each takes some columns.
    constexpr std::int64_t panel = 128 / sizeof(E);
    parallel_for((width + panel - 1) / panel, 1, [&](std::int64_t begin, std::int64_t end) {
      const std::int64_t first = begin * panel, last = std::min(width, end * panel);
      for (std::int64_t c = first; c < last; c += panel)
        each_piece<E>(std::min(panel, last - c), [&]<class Piece>(std::int64_t at) {
          rows_of_product<Piece>(a, 0, places_, b, c + at, false, out, add);
        });
    });
  }

 private:
  std::int64_t places_, longest_ = 0;  // how many values the place has that has most
  NDArray ends_, rows_, values_;
};

/// The part of scatter_rows() for the columns from `at` that a piece has.
template <class Piece, class E, class I>
[[gnu::noinline]] void scatter_piece(const CsrMatrix<E, I>& a, std::int64_t begin, std::int64_t end,
                                     const MatrixRows<E>& b, std::int64_t at, E* sums) {
  const E* const data = a.data;  // not to be read again after each store
  const I* const indices = a.indices;
  const std::int64_t width = b.width();
  for (std::int64_t i = begin; i < end; ++i) {
    const E* const from = b(i);
    if (from == nullptr) continue;
    const Piece x(from + at);
    for (std::int64_t k = a.indptr[i], stop = a.indptr[i + 1]; k < stop; ++k) {
      E* const to = sums + indices[k] * width + at;
      Piece sum(to);
      sum.add_product(data[k], x);
      sum.store(to);
    }
  }
}

/// sums(j, ·) += a(i, j) · b(i, ·) for rows [begin, end) of a. The rows of sums follow each other.
template <class E, class I>
void scatter_rows(const CsrMatrix<E, I>& a, std::int64_t begin, std::int64_t end, const MatrixRows<E>& b, E* sums) {
  each_piece<E>(b.width(), [&]<class Piece>(std::int64_t at) { scatter_piece<Piece>(a, begin, end, b, at, sums); });
}
/// The same in double, W columns at a time.
template <int W, class E, class I>
[[gnu::noinline]] void scatter_wide(const CsrMatrix<E, I>& a, std::int64_t begin, std::int64_t end,
                                    const MatrixRows<E>& b, std::int64_t at, double* sums) {
  const std::int64_t width = b.width();
  for (std::int64_t i = begin; i < end; ++i) {
    const E* const from = b(i);
    if (from == nullptr) continue;
    for (std::int64_t k = a.indptr[i], stop = a.indptr[i + 1]; k < stop; ++k) {
      double* const to = sums + a.indices[k] * width + at;
      const double value = static_cast<double>(a.data[k]);
      for (int c = 0; c < W; ++c) to[c] += value * static_cast<double>(from[at + c]);
    }
  }
}
template <class E, class I>
  requires(!std::same_as<E, double>)
void scatter_rows(const CsrMatrix<E, I>& a, std::int64_t begin, std::int64_t end, const MatrixRows<E>& b,
                  double* sums) {
  std::int64_t at = 0;
  for (; at + 8 <= b.width(); at += 8) scatter_wide<8>(a, begin, end, b, at, sums);
  for (; at < b.width(); ++at) scatter_wide<1>(a, begin, end, b, at, sums);
}

/// Adds up `parts` lists of n elements that follow each other, into `out` or to what it has.
template <class E>
void add_up(const E* lists, std::int64_t n, std::int64_t parts, E* out, bool add) {
  constexpr std::int64_t grain = 1 << 14;
  parallel_for((n + grain - 1) / grain, 1, [&](std::int64_t begin, std::int64_t end) {
    const std::int64_t first = begin * grain, last = std::min(n, end * grain);
    each_piece<E>(last - first, [&]<class Piece>(std::int64_t at) {
      const E* const from = lists + first + at;
      Piece sum(from);
      for (std::int64_t p = 1; p < parts; ++p) sum.add(Piece(from + p * n));
      if (add) sum.add(Piece(out + first + at));
      sum.store(out + first + at);
    });
  });
}
template <class E>
  requires(!std::same_as<E, double>)
void add_up(const double* lists, std::int64_t n, std::int64_t parts, E* out, bool add) {
  parallel_for(n, 1 << 14, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      double sum = lists[i];
      for (std::int64_t p = 1; p < parts; ++p) sum += lists[i + p * n];
      out[i] = static_cast<E>(add ? static_cast<double>(out[i]) + sum : sum);
    }
  });
}

/// A sample of `count` values at places below `extent`: f(place) for each. What is looked at depends on the count
/// alone.
template <class Place, class F>
std::int64_t each_sample(std::int64_t count, Place place_of, F f) {
  const std::int64_t samples = std::clamp<std::int64_t>(count / 128, std::min(count, chain_of_products), 2048);
  const auto step = static_cast<std::uint64_t>(count / samples);
  for (std::uint64_t s = 0; s < static_cast<std::uint64_t>(samples); ++s) {
    const std::uint64_t turn = (s * 0x9E3779B97F4A7C15u) >> 44;  // 20 bits
    f(place_of(static_cast<std::int64_t>(s * step + (turn * step >> 20))));
  }
  return samples;
}
/// Whether so many of the values may go to one place that its sum, added up with those of all places, loses digits: in
/// a sample of them it has much more than its share.
template <class Place>
bool one_has_many(std::int64_t count, std::int64_t extent, Place place_of) {
  if (count <= chain_of_products) return false;
  constexpr std::int64_t buckets = 1024;
  std::uint16_t met[buckets] = {}, most = 0;
  const std::int64_t samples = each_sample(count, place_of, [&](std::int64_t place) {
    most = std::max(most, ++met[(static_cast<std::uint64_t>(place) * 0x9E3779B97F4A7C15u) >> 54]);
  });
  return most > 8 + 4 * samples / std::min(extent, buckets);
}
/// The same of the stored values of a CSR matrix by their columns; in double there are digits to spare.
template <class E, class I>
bool one_has_many(const CsrMatrix<E, I>& a) {
  if constexpr (std::same_as<E, double>) return false;
  const std::int64_t first = a.indptr[0];
  return one_has_many(a.indptr[a.rows] - first, a.cols,
                      [from = a.indices + first](std::int64_t k) { return std::int64_t{from[k]}; });
}

/// out = aᵀ · b, or += it, as sums of parts of a's rows; in S. What one part adds up is cut by rows where columns have
/// many values.
template <class S, class E, class I>
void sums_of_parts(const CsrMatrix<E, I>& a, const MatrixRows<E>& b, E* out, bool add) {
  const std::int64_t size = a.cols * b.width(), parts = parts_of_sums(a.stored, a.cols, b.width());
  const std::int64_t of_stretch = chain_of_products * a.cols,
                     stretches = std::same_as<S, double>
                                     ? 1
                                     : std::max<std::int64_t>(1, (a.stored / parts + of_stretch - 1) / of_stretch);
  if constexpr (std::same_as<S, E>)
    if (parts == 1 && stretches == 1) {
      if (!add) std::fill(out, out + size, E(0));
      return scatter_rows(a, 0, a.rows, b, out);
    }
  const NDArray memory({parts, size}, dtype_of<S>);
  S* const sums = memory.template pointer<S>();
  // The table of a stretch stays in the cache; those of up to 32 stretches are added to one, and these in pairs.
  const std::int64_t groups = (stretches + chain_of_sums - 1) / chain_of_sums;
  parallel_for(parts, 1, [&](std::int64_t begin, std::int64_t end) {
    const NDArray more({(stretches > 1 ? 1 : 0) + pair_levels_of(groups), size}, dtype_of<S>);
    S* const table = more.template pointer<S>();
    for (std::int64_t p = begin; p < end; ++p) {
      const auto at = [&](std::int64_t level) { return level == 0 ? sums + p * size : table + level * size; };
      const std::int64_t first = part_begin(a, p, parts), rows = part_begin(a, p + 1, parts) - first;
      in_pairs(
          groups,
          [&](std::int64_t group, std::int64_t level) {
            std::fill(at(level), at(level) + size, S(0));
            const std::int64_t last = std::min(stretches, (group + 1) * chain_of_sums);
            for (std::int64_t s = group * chain_of_sums; s < last; ++s) {
              S* const to = stretches > 1 ? table : at(level);
              if (stretches > 1) std::fill(table, table + size, S(0));
              scatter_rows(a, first + rows * s / stretches, first + rows * (s + 1) / stretches, b, to);
              if (stretches > 1) add_numbers(at(level), table, size);
            }
          },
          [&](std::int64_t level) { add_numbers(at(level), at(level + 1), size); });
    }
  });
  add_up(sums, size, parts, out, add);
}

/// out = aᵀ · b into dense memory, or += it. a has been checked.
template <class E, class I>
void transposed_product(const CsrMatrix<E, I>& a, const MatrixRows<E>& b, E* out, bool add) {
  const std::int64_t size = a.cols * b.width();
  if (size == 0) return;
  const SparseSizes sizes{
      .width = b.width(), .values = a.stored, .columns = a.cols, .counted = std::max(a.stored, a.rows)};
  SparseKernel kernel = sparse_kernel(SparseWork::transposed, sizes);
  if (kernel != SparseKernel::by_place && one_has_many(a)) {
    if (kernel != SparseKernel::by_block) return sums_of_parts<double>(a, b, out, add);
    kernel = SparseKernel::by_place;  // which adds up the values of one place by themselves
  }
  switch (kernel) {
    case SparseKernel::by_place:
      return ByPlace<E>(MetValues<E, I>{a, b}, a.stored, a.cols).add_up(b.data(), a.rows, b.width(), out, add);
    case SparseKernel::by_block:
      return ByBlock<E>(MetValues<E, I>{a, b}, a.stored, a.cols, b.width()).add_up(b.data(), out, add);
    case SparseKernel::sums_of_parts:
      return sums_of_parts<E>(a, b, out, add);
    default:
      if (!add) std::fill(out, out + size, E(0));
      scatter_rows(a, 0, a.rows, b, out);
  }
}

/// The memory of a row-sparse result: the numbers of its rows and the rows.
template <class E, class I>
struct RowsRoom {
  I* numbers;
  E* rows;
};

/// aᵀ · b of width 1, of the columns that meet a row of b: beside each sum stands how many values it has, so that one
/// pass over the values finds both. Both are of type S.
template <class S, class E, class I, class Room>
void counted_sums(const CsrMatrix<E, I>& a, const MatrixRows<E>& b, Room room) {
  typedef S Counted __attribute__((vector_size(2 * sizeof(S))));  // the sum, and of how many values
  const std::int64_t columns = a.cols, parts = parts_of_sums(a.stored, columns, 1);
  const NDArray memory({parts, 2 * columns}, dtype_of<S>);
  auto* const tables = reinterpret_cast<Counted*>(memory.template pointer<S>());
  parallel_for(parts, 1, [&](std::int64_t begin, std::int64_t end) {
    const E* const data = a.data;
    const I* const indices = a.indices;
    for (std::int64_t p = begin; p < end; ++p) {
      Counted* const sums = tables + p * columns;
      std::fill(sums, sums + columns, Counted{});
      for (std::int64_t i = part_begin(a, p, parts), last = part_begin(a, p + 1, parts); i < last; ++i) {
        const E* const from = b(i);
        if (from == nullptr) continue;
        const E x = *from;
        for (std::int64_t k = a.indptr[i], stop = a.indptr[i + 1]; k < stop; ++k) {
          Counted one{};  // its elements not in braces: nvcc takes them for those of a number
          one[0] = S(data[k]) * S(x), one[1] = 1;
          sums[indices[k]] += one;
        }
      }
    }
  });
  // The sums of the parts come together in the first table; each stretch of columns counts how many it has.
  constexpr std::int64_t stretch = 4096;
  const std::int64_t stretches = (columns + stretch - 1) / stretch;
  List<std::int64_t> starts(stretches + 1);
  const auto each_stretch = [&](auto f) {
    parallel_for(stretches, 4, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t s = begin; s < end; ++s) f(s, s * stretch, std::min(columns, (s + 1) * stretch));
    });
  };
  each_stretch([&](std::int64_t s, std::int64_t first, std::int64_t last) {
    std::int64_t count = 0;
    for (std::int64_t j = first; j < last; ++j) {
      for (std::int64_t p = 1; p < parts; ++p) tables[j] += tables[p * columns + j];
      count += tables[j][1] != 0 ? 1 : 0;
    }
    starts[s + 1] = count;
  });
  for (std::int64_t s = 0; s < stretches; ++s) starts[s + 1] += starts[s];
  const RowsRoom<E, I> to = room(starts[stretches]);
  each_stretch([&](std::int64_t s, std::int64_t first, std::int64_t last) {
    std::int64_t at = starts[s];
    for (std::int64_t j = first; at < starts[s + 1] && j < last; ++j) {
      to.numbers[at] = static_cast<I>(j);
      to.rows[at] = static_cast<E>(tables[j][0]);
      at += tables[j][1] != 0 ? 1 : 0;
    }
  });
}

/// aᵀ · b, of the columns that meet a row of b: room(how many) gives the memory of their numbers and of their rows. a
/// has been checked.
template <class E, class I, class Room>
void transposed_to_rows(const CsrMatrix<E, I>& a, const MatrixRows<E>& b, Room room) {
  const MetValues<E, I> values{a, b};
  const std::int64_t width = b.width();
  const SparseSizes sizes = sizes_of_numbering(a.cols, a.stored);
  if (sparse_kernel(SparseWork::numbering, sizes) == SparseKernel::marks && a.cols * width <= 2 * a.stored) {
    if (width == 1) {
      const bool narrow = a.stored <= chain_of_sums * a.cols && !one_has_many(a);
      return narrow ? counted_sums<E>(a, b, room) : counted_sums<double>(a, b, room);
    }
    const MarkedSet set(a.cols, a.stored, values);  // sums of all columns take less time than numbers for all values
    const RowsRoom<E, I> to = room(set.count());
    set.list(to.numbers);
    if (set.count() == a.cols) return transposed_product(a, b, to.rows, false);
    const NDArray all({a.cols * width}, dtype_of<E>);
    const E* const sums = all.template pointer<E>();
    transposed_product(a, b, all.template pointer<E>(), false);
    for (std::int64_t r = 0; r < set.count(); ++r)
      std::copy_n(sums + std::int64_t{to.numbers[r]} * width, width, to.rows + r * width);
    return;
  }
  // Of each stored value the place of its column among those that count.
  const auto through = [&]<class P>(P) {
    const NDArray places({a.stored}, dtype_of<P>);
    P* const place = places.template pointer<P>();
    E* out = nullptr;
    const std::int64_t count = number_through(
        a.cols, a.stored, values,
        [&](std::int64_t n) {
          const RowsRoom<E, I> to = room(n);
          out = to.rows;
          return to.numbers;
        },
        [place](std::int64_t k, std::int64_t at) { place[k] = static_cast<P>(at); });
    if (count == a.cols) return transposed_product(a, b, out, false);
    transposed_product(CsrMatrix<E, P>{a.rows, count, a.stored, a.data, place, a.indptr}, b, out, false);
  };
  a.stored <= int32_most ? through(std::int32_t{}) : through(std::int64_t{});
}

}  // namespace STROP_ISA
}  // namespace strop::inline v0::detail
