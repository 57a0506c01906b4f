// SPDX-License-Identifier: Apache-2.0
/// \file
/// Patterns of sparse arrays, and values along them.
#pragma once
#include <strop/core/config.hpp>
#include <strop/core/list.hpp>
#include <strop/engine/pool.hpp>
#include <strop/op/broadcast.hpp>
#include <strop/op/stored_pattern.hpp>
#include <strop/tensor/cast.hpp>
#include <strop/tensor/convert.hpp>
#include <strop/tensor/csr_shares.hpp>
#include <strop/tensor/merged.hpp>
#include <strop/tensor/structure.hpp>

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace strop::inline v0::detail {

/// Whether two lists of indices, of any width, have the same numbers; neither is there in patterns without rows.
STROP_IMPL bool same_numbers(const NDArray& a, const NDArray& b) {
  if (!a.defined() || !b.defined() || a.is(b)) return !a.defined() == !b.defined();
  if (a.size() != b.size()) return false;
  if (a.dtype() == b.dtype())
    return a.size() == 0 ||
           std::memcmp(a.bytes(), b.bytes(), static_cast<std::size_t>(a.size() * size_of(a.dtype()))) == 0;
  const IndexReader x(a), y(b);
  for (std::int64_t k = 0; k < a.size(); ++k)
    if (x[k] != y[k]) return false;
  return true;
}

STROP_IMPL bool operator==(const StoredPattern& a, const StoredPattern& b) {
  return a.count() == b.count() && same_numbers(a.indptr, b.indptr) && same_numbers(a.indices, b.indices);
}

STROP_IMPL StoredPattern pattern_of(const NDArray& a) {
  check_structure(a);
  const NDArray here = structure_of(a);
  return {here.indices(), here.storage() == csr ? here.indptr() : NDArray()};
}

/// Where the rows of a pattern begin; one without rows is a single one.
struct PatternRows {
  const std::int64_t stored, rows;
  explicit PatternRows(const StoredPattern& p)
      : stored(p.count()),
        rows(p.indptr.defined() ? p.indptr.size() - 1 : 1),
        ends_{0, stored},
        begins_(p.indptr.defined() ? IndexReader(p.indptr) : IndexReader(ends_)) {}
  PatternRows(const PatternRows&) = delete;
  PatternRows& operator=(const PatternRows&) = delete;
  std::int64_t operator[](std::int64_t row) const { return begins_[row]; }

 private:
  const std::int64_t ends_[2];
  const IndexReader begins_;
};

/// f(two lists of indices, one of them converted where their widths differ).
template <class F>
void with_both(const NDArray& a, const NDArray& b, F f) {
  if (a.dtype() == i32 && b.dtype() == i32) return f(a.pointer<const std::int32_t>(), b.pointer<const std::int32_t>());
  const NDArray x = as_type(a, i64), y = as_type(b, i64);
  f(x.pointer<const std::int64_t>(), y.pointer<const std::int64_t>());
}

/// Merges two ascending lists: what stands in both, or all of them, and which of the two has it. Says how many numbers
/// that gives. Which of the lists goes on is no branch: nobody could guess it.
template <bool Both, class I>
std::int64_t merge_sorted(const I* a, const I* a_end, const I* b, const I* b_end, I* to, std::uint8_t* source) {
  const I* const first = to;
  while (a != a_end && b != b_end) {
    const I x = *a, y = *b;
    const int of_a = static_cast<int>(x <= y), of_b = static_cast<int>(y <= x);
    *to = x < y ? x : y;
    if constexpr (!Both) *source++ = static_cast<std::uint8_t>(of_a | of_b << 1);
    to += Both ? of_a & of_b : 1;
    a += of_a;
    b += of_b;
  }
  if constexpr (!Both) {
    std::fill_n(std::fill_n(source, a_end - a, std::uint8_t{1}), b_end - b, std::uint8_t{2});
    to = std::copy(b, b_end, std::copy(a, a_end, to));
  }
  return to - first;
}

STROP_IMPL StoredPattern merge_patterns(const StoredPattern& a, const StoredPattern& b, bool both) {
  if (a == b) {
    const auto wider = [](const NDArray& x, const NDArray& y) { return x.defined() && x.dtype() == i32 ? y : x; };
    return {wider(a.indices, b.indices), wider(a.indptr, b.indptr)};
  }
  const PatternRows a_rows(a), b_rows(b);
  const std::int64_t rows = a_rows.rows, stored = a_rows.stored + b_rows.stored;
  const auto before = [&](std::int64_t row) { return a_rows[row] + b_rows[row]; };
  // Each part of the rows is merged into memory that would hold all that it can give; then it is known where it goes.
  const std::int64_t parts = (stored + rows) / stored_share + 1;
  List<std::int64_t> begins(parts + 1), places(parts + 1);
  for (std::int64_t p = 1; p <= parts; ++p) begins[p] = row_after(rows, stored, p * stored_share, before);
  const NDArray ends({rows + 1}, i64);  // of rows, counted from the beginning of their part
  auto* const end = ends.pointer<std::int64_t>();
  end[0] = 0;
  StoredPattern out;
  out.own = true;
  with_both(a.indices, b.indices, [&]<class I>(const I* x, const I* y) {
    const std::int64_t most = both ? a_rows.stored : stored;
    const NDArray apart({most}, dtype_of<I>), sources({both ? 0 : most}, u8);
    I* const room = apart.pointer<I>();
    auto* const source = sources.pointer<std::uint8_t>();
    const auto room_of = [&](std::int64_t p) { return both ? a_rows[begins[p]] : before(begins[p]); };
    parallel_for(parts, 1, [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t p = first; p < last; ++p) {
        std::int64_t count = 0;
        for (std::int64_t row = begins[p], at = room_of(p); row < begins[p + 1]; ++row) {
          const auto merge = both ? &merge_sorted<true, I> : &merge_sorted<false, I>;
          count += merge(x + a_rows[row], x + a_rows[row + 1], y + b_rows[row], y + b_rows[row + 1], room + at + count,
                         source + (both ? 0 : at + count));
          end[row + 1] = count;
        }
        places[p + 1] = count;
      }
    });
    for (std::int64_t p = 0; p < parts; ++p) places[p + 1] += places[p];
    out.indices = NDArray({places[parts]}, dtype_of<I>);
    out.sources = NDArray({both ? 0 : places[parts]}, u8);
    I* const indices = out.indices.pointer<I>();
    auto* const of = out.sources.pointer<std::uint8_t>();
    parallel_for(parts, 1, [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t p = first; p < last; ++p) {
        const std::int64_t at = room_of(p), count = places[p + 1] - places[p];
        std::copy_n(room + at, count, indices + places[p]);
        if (!both) std::copy_n(source + at, count, of + places[p]);
        for (std::int64_t row = begins[p]; row < begins[p + 1]; ++row) end[row + 1] += places[p];
      }
    });
  });
  if (!both) out.sides[0] = {a.indices, a.indptr}, out.sides[1] = {b.indices, b.indptr};
  if (a.indptr.defined()) {
    const bool narrow = a.indptr.dtype() == i32 && b.indptr.dtype() == i32 && fits_narrow(out.count());
    out.indptr = as_type(ends, narrow ? i32 : i64);
  }
  return out;
}

/// f(position in the pattern, position in an array of shape `operand`, which broadcasts to the sparse one's), for each
/// stored element. On several threads where they do not meet: `apart`, no two stored elements have one of these
/// positions, or of a CSR pattern none in two rows.
template <class F>
void each_place(const StoredPattern& pattern, const Shape& shape, const Shape& operand, bool apart, F f) {
  if (pattern.indptr.defined()) {  // the operand has two dimensions at most
    const std::int64_t extent = operand.ndim() == 0 ? 1 : operand.back(),
                       row_step = operand.ndim() == 2 && operand[0] != 1 ? extent : 0, step = extent == 1 ? 0 : 1;
    const PatternRows rows(pattern);
    const auto before = [&](std::int64_t row) { return rows[row]; };
    const std::int64_t share = apart || row_step != 0 ? stored_share : rows.stored + rows.rows + 1;
    return IndexReader(pattern.indices).as_stored([&](const auto* columns) {
      share_rows_out(rows.rows, rows.stored, share, before, [&](std::int64_t first, std::int64_t last) {
        for (std::int64_t row = first; row < last; ++row)
          for (std::int64_t k = rows[row], end = rows[row + 1], at = row * row_step; k < end; ++k)
            f(k, at + columns[k] * step);
      });
    });
  }
  const StridedIterator walk = StridedIterator::of(shape, operand);
  const std::int64_t width = shape.size(1, shape.ndim());
  const IndexReader indices(pattern.indices);
  const std::int64_t grain = apart ? stored_share / (width + 1) + 1 : pattern.count();
  parallel_for(pattern.count(), grain, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t k = first; k < last; ++k)
      walk.runs(indices[k] * width, width,
                [&](std::int64_t offset, std::int64_t stride, std::int64_t done, std::int64_t length) {
                  for (std::int64_t i = 0; i < length; ++i) f(k * width + done + i, offset + i * stride);
                });
  });
}

/// to[k] = the value that a row stores for the column of k in the pattern, or zero. Again no branch says which of them
/// goes on.
template <class I, class Bits>
void lay_row(const I* columns, const Bits* values, std::int64_t count, const I* wanted, std::int64_t places, Bits* to) {
  std::int64_t from = 0, k = 0;
  while (from < count && k < places) {
    const I x = columns[from], y = wanted[k];
    to[k] = values[from] & static_cast<Bits>(-static_cast<std::int64_t>(x == y));
    from += static_cast<int>(x <= y);
    k += static_cast<int>(y <= x);
  }
  std::fill(to + k, to + places, Bits(0));
}

/// to[k] = the next value where a side of a merged pattern has place k, or zero.
template <class Bits>
void lay_side(const Bits* values, std::int64_t count, int side, const std::uint8_t* sources, std::int64_t places,
              Bits* to) {
  std::int64_t from = 0, k = 0;
  for (; from < count && k < places; ++k) {
    const std::int64_t here = sources[k] >> side & 1;
    to[k] = values[from] & static_cast<Bits>(-here);
    from += here;
  }
  std::fill(to + k, to + places, Bits(0));
}

/// values_at() of a CSR array and a CSR pattern that differ.
STROP_IMPL void lay_csr(const NDArray& x, const StoredPattern& pattern, const NDArray& out) {
  const IndexReader starts(x.indptr());
  const PatternRows rows(pattern);
  const auto before = [&](std::int64_t row) {  // not yet checked
    return std::clamp<std::int64_t>(starts[row], 0, x.nnz()) + rows[row];
  };
  const auto each_share = [&](auto f) { share_rows_out(rows.rows, x.nnz() + rows.stored, stored_share, before, f); };
  const auto is_side = [&](int side) {
    return x.indices().is(pattern.sides[side].indices) && x.indptr().is(pattern.sides[side].indptr);
  };
  const int side = is_side(0) ? 0 : is_side(1) ? 1 : -1;
  visit_bits(x.dtype(), [&]<class Bits>(Bits) {
    const Bits* const values = x.pointer<const Bits>();
    Bits* const to = out.pointer<Bits>();
    if (side >= 0)
      return each_share([&, of = pattern.sources.pointer<const std::uint8_t>()](std::int64_t first, std::int64_t last) {
        const std::int64_t from = starts[first], at = rows[first];
        lay_side(values + from, starts[last] - from, side, of + at, rows[last] - at, to + at);
      });
    with_both(x.indices(), pattern.indices, [&]<class I>(const I* columns, const I* wanted) {
      each_share([&](std::int64_t first, std::int64_t last) {
        for (std::int64_t row = first; row < last; ++row) {
          const RowSpan span = row_span(starts, row, x.nnz());
          lay_row(columns + span.begin, values + span.begin, span.end - span.begin, wanted + rows[row],
                  rows[row + 1] - rows[row], to + rows[row]);
        }
      });
    });
  });
}

/// values_at() of a row-sparse array and a row-sparse pattern that differ.
STROP_IMPL void lay_rows(const NDArray& x, const StoredPattern& pattern, std::int64_t bytes, const NDArray& out) {
  const IndexReader stored(x.indices()), wanted(pattern.indices);
  List<std::int64_t> places(pattern.count(), -1);
  for (std::int64_t k = 0, from = 0; k < pattern.count(); ++k) {
    while (from < x.nnz() && stored[from] < wanted[k]) ++from;
    if (from < x.nnz() && stored[from] == wanted[k]) places[k] = from;
  }
  if (bytes == 0) return;
  const std::byte* const from = x.bytes();
  std::byte* const to = out.bytes();
  parallel_for(pattern.count(), (1 << 17) / bytes + 1, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t k = first; k < last; ++k)
      if (places[k] >= 0)
        copy_bytes(to + k * bytes, from + places[k] * bytes, bytes);
      else
        clear_bytes(to + k * bytes, bytes);
  });
}

STROP_IMPL NDArray values_at(const NDArray& x, const StoredPattern& pattern, const Shape& shape, Storage storage) {
  check_structure(x);
  const std::int64_t width = storage == csr ? 1 : shape.size(1, shape.ndim());
  const Shape stored{pattern.count() * width};
  if (x.storage() == storage && x.stored() == stored.size()) {
    const NDArray here = structure_of(x);
    if (StoredPattern{here.indices(), storage == csr ? here.indptr() : NDArray()} == pattern)
      return view_as(x.data(), stored);
  }
  if (x.device() != cpu())  // patterns are laid on the CPU
    return on_device(values_at(on_device(x, cpu()), pattern, shape, storage), x.device());
  const NDArray out(stored, x.dtype());
  if (x.storage() == dense)
    visit_bits(x.dtype(), [&]<class Bits>(Bits) {
      each_place(pattern, shape, x.shape(), true,
                 [from = x.pointer<const Bits>(), to = out.pointer<Bits>()](std::int64_t k, std::int64_t at) {
                   to[k] = from[at];
                 });
    });
  else if (storage == csr)
    lay_csr(x, pattern, out);
  else
    lay_rows(x, pattern, width * size_of(x.dtype()), out);
  return out;
}

STROP_IMPL void store_pattern(const NDArray& y, StoredPattern& pattern) {
  y.allocate_stored(pattern.count());
  const auto given = [&](const NDArray& list) {
    if (y.device() != cpu()) return on_device(list, y.device()).body_ref();
    return pattern.own ? list.body_ref() : copied_by_all(list).body_ref();
  };
  y.body().indices = given(pattern.indices);
  if (y.storage() == csr) y.body().indptr = given(pattern.indptr);
  trust_structure(y);  // patterns are of arrays that were looked at
  if (y.device() == cpu()) pattern.own = false;
}

STROP_IMPL void scatter_values(const NDArray& values, const StoredPattern& pattern, const NDArray& to) {
  visit_bits(to.dtype(), [&]<class Bits>(Bits) {
    each_place(pattern, to.shape(), to.shape(), true,
               [from = values.pointer<const Bits>(), at = to.pointer<Bits>()](std::int64_t k, std::int64_t place) {
                 at[place] = from[k];
               });
  });
}

STROP_IMPL void sum_values(const NDArray& values, const StoredPattern& pattern, const Shape& shape, const NDArray& to) {
  const NDArray given = as_type(values, f64), sums(to.shape(), f64);
  clear(sums, sums.size() * size_of(f64));
  each_place(pattern, shape, to.shape(), false,
             [from = given.pointer<const double>(), total = sums.pointer<double>()](std::int64_t k, std::int64_t at) {
               total[at] += from[k];
             });
  convert_elements(f64, sums.bytes(), to.dtype(), to.bytes(), to.size());
}

}  // namespace strop::inline v0::detail
