// SPDX-License-Identifier: Apache-2.0
/// \file
/// Bodies of what is declared in ops/shape/move.hpp, which only what builds their kernels reads.
///
/// A move is a loop over its outer axes around one of three kernels on the inner two: runs along the last axis, a plane
/// that is transposed, or elements that are repeated. The inner axes are cut into blocks, which threads share.
#pragma once
#include <strop/core/span.hpp>
#include <strop/engine/pool.hpp>
#include <strop/ops/shape/move.hpp>
#include <strop/ops/shape/move_tiles_body.hpp>

#include <algorithm>
#include <cstdint>
#include <type_traits>

namespace strop::inline v0::detail {
inline namespace STROP_ISA {

/// Results from this size on are written past the caches.
inline constexpr std::int64_t past_caches_bytes = std::int64_t{8} << 20;

/// Copies width to 2 · width bytes.
template <int width>
[[gnu::always_inline]] inline void copy_ends(std::byte* to, const std::byte* from, std::int64_t bytes) {
  std::byte head[unsigned_size(width)], tail[unsigned_size(width)];
  copy_bytes(head, from, width);
  copy_bytes(tail, from + bytes - width, width);
  copy_bytes(to, head, width);
  copy_bytes(to + bytes - width, tail, width);
}

/// A copy of bytes that is mostly short: without a call where it is.
[[gnu::always_inline]] inline void copy_run(void* into, const void* of, std::int64_t bytes, bool past = false) {
  auto* const to = static_cast<std::byte*>(into);
  const auto* const from = static_cast<const std::byte*>(of);
  using R = MoveLanes<std::uint8_t>;
  if (bytes >= 64) {
    if (R::lanes < 16 || (!past && bytes > 2048)) return copy_bytes(to, from, bytes);
    const auto* const source = reinterpret_cast<const std::uint8_t*>(from);
    return write_run(reinterpret_cast<std::uint8_t*>(to), bytes, past,
                     [&](std::int64_t i) __attribute__((always_inline)) { return R::load(source + i); });
  }
  if (bytes >= 32) return copy_ends<32>(to, from, bytes);
  if (bytes >= 16) return copy_ends<16>(to, from, bytes);
  if (bytes >= 8) return copy_ends<8>(to, from, bytes);
  if (bytes >= 4) return copy_ends<4>(to, from, bytes);
  for (std::int64_t i = 0; i < bytes; ++i) to[i] = from[i];
}

/// One run along the innermost axis.
template <class Bits>
[[gnu::always_inline]] inline void move_run(const Bits* from, Bits* to, std::int64_t n, std::int64_t in,
                                            std::int64_t out, bool past) {
  using R = MoveLanes<Bits>;
  if (out == 1 && in == 1) return copy_run(to, from, n * std::int64_t{sizeof(Bits)}, past);
  if (out == 1 && in == 0) {
    if (n < R::lanes) return void(std::fill_n(to, n, *from));
    return write_run(to, n, past, [v = R::splat(*from)](std::int64_t) { return v; });
  }
  if (out == 1 && in == -1 && n >= R::lanes)
    return write_run(to, n, past, [&](std::int64_t i) __attribute__((always_inline)) {
      return R::reversed(R::load(from - i - (R::lanes - 1)));
    });
  std::int64_t i = 0;
#ifdef STROP_MOVES_IN_LANES
  if (out == 1 && in == 2)
    for (; i + R::lanes < n; i += R::lanes)  // reads one element more than it takes
      R::store(to + i, R::template every_second<0>(R::load(from + 2 * i), R::load(from + 2 * i + R::lanes)));
#endif
  if (out == 1)
    for (; i < n; ++i) to[i] = from[i * in];
  else
    for (; i < n; ++i) to[i * out] = from[i * in];
}

/// to[r · times + j] = from[r · in] for r < rows, j < times.
template <class Bits>
void move_repeated(const Bits* from, Bits* to, std::int64_t rows, std::int64_t times, std::int64_t in, bool past) {
  std::int64_t r = 0;
#ifdef STROP_MOVES_IN_LANES
  // as many equal columns, which lie in turn
  if (in == 1 && with_power<Bits>(times, [&](auto count) {
        move_in_turn<count()>(MovePlane<Bits>{from, from + rows, to, rows, times, 0, times}, past);
      }))
    return;
  using R = MoveLanes<Bits>;
  using Part = MoveLanes<Bits, 1>;
  if (times < R::lanes) {  // a register is written whole, and the next element over what it has too much
    const bool small = times <= R::part;
    const std::int64_t whole = rows - ((small ? R::part : R::lanes) - 1) / times;
    if (small)
      for (; r < whole; ++r) Part::store(to + r * times, Part::splat(from[r * in]));
    else
      for (; r < whole; ++r) R::store(to + r * times, R::splat(from[r * in]));
  }
#endif
  for (; r < rows; ++r) move_run(from + r * in, to + r * times, times, 0, 1, past);
}

/// An axis of a move that is cut into blocks; the last has what is left.
struct MoveBlocks {
  std::int64_t extent = 1, in = 0, out = 0, block = 1, count = 1;

  void cut(std::int64_t size) {
    block = std::clamp<std::int64_t>(size, 1, extent);
    count = extent / block;
  }
  std::int64_t size(std::int64_t at) const { return at + 1 == count ? extent - at * block : block; }
};

/// What is read ends at `end`.
template <class Bits>
void move_bits(const Move& m, const Bits* from, Bits* to, const Bits* end, bool past) {
  enum class Kernel { runs, plane, repeat };
  constexpr auto size = std::int64_t{sizeof(Bits)};
  from += m.in_start;
  to += m.out_start;
  const int last = m.extents.ndim() - 1;
  int second = last - 1;
  if (last < 0) {
    *to = *from;
    return;
  }
  const auto axis_of = [&](int k) { return MoveBlocks{m.extents[k], m.in[k], m.out[k]}; };
  MoveBlocks columns = axis_of(last), rows;
  Kernel kernel = Kernel::runs;
  if (columns.out == 1 && columns.in != 1 && columns.in != 0)
    for (int k = 0; k < last; ++k)
      if (m.in[k] == 1) second = k, kernel = Kernel::plane;
  if (second >= 0) rows = axis_of(second);
  if (kernel == Kernel::runs && columns.in == 0 && columns.out == 1 && rows.out == columns.extent)
    kernel = Kernel::repeat;
  // Blocks of planes have four cache lines each way, unless the plane is narrow; those of runs are whole rows.
  constexpr std::int64_t lines = 256 / size, area = 32768 / size;
  if (kernel == Kernel::plane) {
    const auto cut = [](MoveBlocks& one, std::int64_t other) {
      one.cut(other >= lines ? lines : area / other / lines * lines);
    };
    cut(columns, rows.extent);
    cut(rows, columns.extent);
  } else {
    columns.cut(kernel == Kernel::runs && columns.extent >= 8 * area ? 4 * area : columns.extent);
    rows.cut(area / columns.block);
  }
  Move outer;
  std::int64_t total = columns.count * rows.count;
  for (int k = 0; k < m.extents.ndim(); ++k) {
    if (k == last || k == second) continue;
    outer.extents.push_back(m.extents[k]), outer.in.push_back(m.in[k]), outer.out.push_back(m.out[k]);
    total *= m.extents[k];
  }
  const int rank = outer.extents.ndim();
  // x and y are names that programs like for their own: g++ would warn there of a parameter that hides one.
  const auto move_block = [&](const Bits* source, Bits* target, std::int64_t r,
                              std::int64_t c) __attribute__((always_inline)) {
    const std::int64_t height = rows.size(r), width = columns.size(c);
    source += r * rows.block * rows.in + c * columns.block * columns.in;
    target += r * rows.block * rows.out + c * columns.block * columns.out;
    if (kernel == Kernel::plane)
      return move_plane(MovePlane<Bits>{source, end, target, height, width, columns.in, rows.out}, past);
    if (kernel == Kernel::repeat) return move_repeated(source, target, height, width, rows.in, past);
    const bool far = past && width * size >= 512;
    for (std::int64_t i = 0; i < height; ++i)
      move_run(source + i * rows.in, target + i * rows.out, width, columns.in, columns.out, far);
  };
  const std::int64_t grain = std::max<std::int64_t>(1, 4 * area / (rows.block * columns.block));
  parallel_for(total, grain, [&](std::int64_t begin, std::int64_t stop) {
    std::int64_t rest = begin, read = 0, write = 0;
    std::int64_t c = rest % columns.count;
    rest /= columns.count;
    std::int64_t r = rest % rows.count;
    rest /= rows.count;
    Shape at = outer.extents;
    for (int k = rank; k-- > 0; rest /= outer.extents[k]) {
      at[k] = rest % outer.extents[k];
      read += at[k] * outer.in[k], write += at[k] * outer.out[k];
    }
    for (std::int64_t i = begin; i < stop; ++i) {
      move_block(from + read, to + write, r, c);
      if (++c < columns.count) continue;
      c = 0;
      if (++r < rows.count) continue;
      r = 0;
      for (int k = rank; k-- > 0;) {
        read += outer.in[k], write += outer.out[k];
        if (++at[k] < outer.extents[k]) break;
        read -= at[k] * outer.in[k], write -= at[k] * outer.out[k];
        at[k] = 0;
      }
    }
    if (past) MoveLanes<Bits>::drain();
  });
}

/// Carries a move out on the elements of two dense arrays of one type; past the caches where the result is large.
inline void move_elements(const Move& m, const NDArray& from, const NDArray& to, bool past) {
  for (std::int64_t extent : m.extents)
    if (extent == 0) return;
  visit_bits(to.dtype(), [&]<class Bits>(Bits) {
    const Bits* const x = from.pointer<Bits>();
    move_bits(m, x, to.pointer<Bits>(), x + from.size(), past);
  });
}
inline void move_elements(const Move& m, const NDArray& from, const NDArray& to) {
  std::int64_t bytes = size_of(to.dtype());
  for (std::int64_t extent : m.extents) bytes *= extent;
  move_elements(m, from, to, bytes >= past_caches_bytes);
}

/// All elements, in their order; nothing where both are the same memory.
inline void copy_elements(const NDArray& from, const NDArray& to) {
  if (from.bytes() == to.bytes()) return;
  Move m;
  m.axis(to.size(), 1, 1);
  move_elements(m, from, to);
}

inline void zero_elements(const NDArray& to) {
  const std::int64_t size = size_of(to.dtype());
  parallel_for(to.size(), 1 << 16, [&](std::int64_t begin, std::int64_t end) {
    detail::clear_bytes(to.bytes() + begin * size, (end - begin) * size);
  });
}

}  // namespace STROP_ISA
}  // namespace strop::inline v0::detail
