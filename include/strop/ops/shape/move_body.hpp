// SPDX-License-Identifier: Apache-2.0
/// \file
/// Bodies of what is declared in ops/shape/move.hpp, which only what builds their kernels reads.
#pragma once
#include <strop/core/span.hpp>
#include <strop/engine/pool.hpp>
#include <strop/ops/shape/move.hpp>

#include <algorithm>
#include <cstdint>

namespace strop::inline v0::detail {

/// One run along the innermost axis.
template <class Bits>
void move_run(const Bits* from, Bits* to, std::int64_t n, std::int64_t in, std::int64_t out) {
  if (in == 1 && out == 1) {
    if (n * static_cast<std::int64_t>(sizeof(Bits)) > 64)
      detail::copy_bytes(to, from, n * std::int64_t{sizeof(Bits)});
    else
      for (std::int64_t i = 0; i < n; ++i) to[i] = from[i];
  } else if (in == 0 && out == 1) {
    std::fill_n(to, n, *from);
  } else if (out == 1) {
    for (std::int64_t i = 0; i < n; ++i) to[i] = from[i * in];
  } else {
    for (std::int64_t i = 0; i < n; ++i) to[i * out] = from[i * in];
  }
}

template <class Bits>
void move_bits(const Move& m, const Bits* from, Bits* to) {
  const int rank = m.extents.ndim(), inner = rank - 1;
  from += m.in_start;
  to += m.out_start;
  if (rank == 0) {
    *to = *from;
    return;
  }
  for (std::int64_t extent : m.extents)
    if (extent == 0) return;
  // A transpose: another axis than the innermost is contiguous on the reading side. Both are walked in blocks that fit
  // into the first cache.
  int other = -1;
  if (m.in[inner] != 1 && m.in[inner] != 0)
    for (int k = 0; k < inner; ++k)
      if (m.in[k] == 1) other = k;
  constexpr std::int64_t block = sizeof(Bits) == 8 ? 16 : 32;
  const std::int64_t n = m.extents[inner], in = m.in[inner], out = m.out[inner];
  const auto steps = [&](int k) { return k == other ? (m.extents[k] + block - 1) / block : m.extents[k]; };
  std::int64_t total = 1;
  for (int k = 0; k < inner; ++k) total *= steps(k);
  const std::int64_t each = n * (other >= 0 ? std::min(block, m.extents[other]) : 1);
  parallel_for(total, std::max<std::int64_t>(1, 32768 / each), [&](std::int64_t begin, std::int64_t end) {
    Shape at = Shape::filled(inner, 0);
    std::int64_t rest = begin;
    for (int k = inner; k-- > 0; rest /= steps(k)) at[k] = rest % steps(k);
    for (std::int64_t i = begin; i < end; ++i) {
      std::int64_t read = 0, write = 0;
      for (int k = 0; k < inner; ++k) {
        const std::int64_t position = k == other ? at[k] * block : at[k];
        read += position * m.in[k];
        write += position * m.out[k];
      }
      if (other < 0) {
        move_run(from + read, to + write, n, in, out);
      } else {
        const std::int64_t rows = std::min(block, m.extents[other] - at[other] * block), row = m.out[other];
        for (std::int64_t j = 0; j < n; j += block) {
          const std::int64_t columns = std::min(block, n - j);
          for (std::int64_t r = 0; r < rows; ++r)
            for (std::int64_t c = j; c < j + columns; ++c) to[write + r * row + c * out] = from[read + r + c * in];
        }
      }
      for (int k = inner; k-- > 0;) {
        if (++at[k] < steps(k)) break;
        at[k] = 0;
      }
    }
  });
}

/// Carries a move out on the elements of two dense arrays of one type.
inline void move_elements(const Move& m, const NDArray& from, const NDArray& to) {
  for (std::int64_t extent : m.extents)
    if (extent == 0) return;
  switch (size_of(to.dtype())) {
    case 1:
      return move_bits(m, from.pointer<std::uint8_t>(), to.pointer<std::uint8_t>());
    case 2:
      return move_bits(m, from.pointer<std::uint16_t>(), to.pointer<std::uint16_t>());
    case 4:
      return move_bits(m, from.pointer<std::uint32_t>(), to.pointer<std::uint32_t>());
    default:
      return move_bits(m, from.pointer<std::uint64_t>(), to.pointer<std::uint64_t>());
  }
}

/// All elements, in their order; nothing where both are the same memory.
inline void copy_elements(const NDArray& from, const NDArray& to) {
  if (from.bytes() == to.bytes()) return;
  const std::int64_t size = size_of(to.dtype());
  parallel_for(to.size(), 1 << 16, [&](std::int64_t begin, std::int64_t end) {
    detail::copy_bytes(to.bytes() + begin * size, from.bytes() + begin * size, (end - begin) * size);
  });
}

inline void zero_elements(const NDArray& to) {
  const std::int64_t size = size_of(to.dtype());
  parallel_for(to.size(), 1 << 16, [&](std::int64_t begin, std::int64_t end) {
    detail::clear_bytes(to.bytes() + begin * size, (end - begin) * size);
  });
}

}  // namespace strop::inline v0::detail
