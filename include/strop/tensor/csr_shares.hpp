// SPDX-License-Identifier: Apache-2.0
/// \file
/// The rows of CSR structures shared out among threads by what is stored in them, and whether indices lie inside.
#pragma once
#include <strop/core/isa.hpp>
#include <strop/engine/pool.hpp>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

namespace strop::inline v0::detail {

inline namespace STROP_ISA {
/// Whether n indices lie in [0, extent).
template <class I>
bool all_below(const I* indices, std::int64_t n, std::int64_t extent) {
  using U = std::make_unsigned_t<I>;
  if (extent <= 0) return n == 0;
  const U last = static_cast<U>(std::min<std::int64_t>(extent - 1, std::numeric_limits<I>::max()));
  std::int64_t k = 0;
#if STROP_ISA_BYTES
  typedef U V __attribute__((vector_size(STROP_ISA_BYTES)));
  constexpr std::int64_t lanes = STROP_ISA_BYTES / std::int64_t{sizeof(U)};
  if (n >= lanes) {
    V most{};
    for (; k + lanes <= n; k += lanes) {
      V x;
      std::memcpy(&x, indices + k, sizeof x);
      most = x > most ? x : most;
    }
    for (std::int64_t i = 0; i < lanes; ++i)
      if (most[i] > last) return false;
  }
#endif
  for (; k < n; ++k)
    if (static_cast<U>(indices[k]) > last) return false;
  return true;
}
}  // namespace STROP_ISA

/// The first row at which `work` has been done, where a stored value is a unit of it and a row another. before(row):
/// how many values are stored before it; not yet checked, so that a sum of the two may have no place in 64 bits.
template <class Before>
std::int64_t row_after(std::int64_t rows, std::int64_t stored, std::int64_t work, Before before) {
  if (work >= stored + rows) return rows;
  std::int64_t first = 0, count = rows;
  while (count > 0) {
    const std::int64_t half = count / 2, at = first + half;
    if (before(at) < work - at) {
      first = at + 1;
      count -= half + 1;
    } else {
      count = half;
    }
  }
  return first;
}

/// f(first, last) for ranges of rows that together are all, at the same time on several threads; each begins after a
/// multiple of `share` of the work that row_after() counts.
template <class Before, class F>
void share_rows_out(std::int64_t rows, std::int64_t stored, std::int64_t share, Before before, F f) {
  const std::int64_t shares = (stored + rows + share - 1) / share;
  parallel_for(shares, 1, [&](std::int64_t begin, std::int64_t end) {
    const std::int64_t first = begin == 0 ? 0 : row_after(rows, stored, begin * share, before),
                       last = row_after(rows, stored, end * share, before);
    if (first < last) f(first, last);
  });
}

/// In how many parts the rows are summed apart, each with sums of its own for all columns: a table costs about as much
/// as a value a column. It depends on the shapes alone, so that the bits are the same for any number of threads.
inline std::int64_t parts_of_sums(std::int64_t stored, std::int64_t columns, std::int64_t width) {
  if (stored < columns || stored * width < (1 << 14)) return 1;
  const std::int64_t parts = std::clamp<std::int64_t>(stored / (8 * columns + 1), 2, 16);
  return static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(parts)));
}

/// Stored values that are worth a thread of their own where little is done with each.
inline constexpr std::int64_t stored_share = 1 << 15;

}  // namespace strop::inline v0::detail
