// SPDX-License-Identifier: Apache-2.0
/// \file
/// Tiles of a matrix product: the kernels that hold a piece of C in registers, and the copies of factors that they
/// read.
#pragma once
#include <strop/core/span.hpp>
#include <strop/number/lanes.hpp>
#include <strop/ops/pairwise.hpp>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

namespace strop::inline v0::detail {
inline namespace STROP_ISA {

/// A matrix in memory whose element (i, j) is data[i · row + j · col]: row-major or its transpose.
template <class T>
struct Strided {
  const T* data;
  std::int64_t row, col;
  /// The matrix of rows of `stride` elements, or its transpose.
  static Strided of(const T* data, std::int64_t stride, bool transposed) {
    return transposed ? Strided{data, 1, stride} : Strided{data, stride, 1};
  }
  Strided at(std::int64_t i, std::int64_t j) const { return {data + i * row + j * col, row, col}; }
  Strided transpose() const { return {data, col, row}; }
};

/// A square of elements, transposed by way of registers of 16 bytes.
template <class T>
struct Square {
  typedef T V __attribute__((vector_size(16)));
  static constexpr std::int64_t side = 16 / sizeof(T);
  /// to(i, j) = from[j][i]; `to` has rows of `stride` elements.
  [[gnu::always_inline]] static inline void transpose(const T* const* from, T* to, std::int64_t stride) {
    V x[16 / sizeof(T)], y[16 / sizeof(T)];
    for (std::int64_t i = 0; i < side; ++i) std::memcpy(&x[i], from[i], sizeof(V));
    if constexpr (side == 2) {
      y[0] = __builtin_shufflevector(x[0], x[1], 0, 2);
      y[1] = __builtin_shufflevector(x[0], x[1], 1, 3);
    } else {
      const V a = __builtin_shufflevector(x[0], x[1], 0, 4, 1, 5), b = __builtin_shufflevector(x[2], x[3], 0, 4, 1, 5);
      const V c = __builtin_shufflevector(x[0], x[1], 2, 6, 3, 7), d = __builtin_shufflevector(x[2], x[3], 2, 6, 3, 7);
      y[0] = __builtin_shufflevector(a, b, 0, 1, 4, 5);
      y[1] = __builtin_shufflevector(a, b, 2, 3, 6, 7);
      y[2] = __builtin_shufflevector(c, d, 0, 1, 4, 5);
      y[3] = __builtin_shufflevector(c, d, 2, 3, 6, 7);
    }
    for (std::int64_t i = 0; i < side; ++i) std::memcpy(to + i * stride, &y[i], sizeof(V));
  }
};

/// Rows of B, the same distance apart.
template <class T>
struct EvenRows {
  const T* at;
  std::int64_t row;
  [[gnu::always_inline]] const T* next() { return std::exchange(at, at + row); }
};
/// Rows of B, each so far from `at`.
template <class T>
struct ListedRows {
  const T* at;
  const std::int64_t* distance;
  [[gnu::always_inline]] const T* next() { return at + *distance++; }
};

/// The kernels for elements T.
template <class T>
struct Tiles {
  using V = number::Vec<T>;
  using R = number::Rep<V>;
  static constexpr std::int64_t lanes = R::lanes;

  /// The largest tile of C: rows × cols elements, two registers a row. With 32 registers it is 12 rows, with 16 it is
  /// 6: the sums, two registers of B and one of A. There are smaller ones, of a third and two thirds of the rows.
#if STROP_X86_BYTES == 64 || defined(__aarch64__)
  static constexpr int rows = 12;
#else
  static constexpr int rows = 6;
#endif
  static constexpr int third = rows / 3;
  static constexpr std::int64_t cols = 2 * lanes;
  static constexpr std::int64_t side = Square<T>::side;

  /// How many rows the next tile has when `rest` are left: as many as possible, but rather two of two thirds than a
  /// full one and little more.
  static int height(std::int64_t rest) {
    if (rest > rows) return rest <= rows + third ? 2 * third : rows;
    return rest > 2 * third ? rows : rest > third ? 2 * third : third;
  }

  [[gnu::always_inline]] static inline V fma(V a, V b, V c) {
#if STROP_LANE_BYTES == 0
    return a * b + c;
#else
    return number::detail_lanes::fma(a, b, c);
#endif
  }
  /// All lanes x. (To subtract zero changes nothing, and so both compilers make a broadcast of it.)
  [[gnu::always_inline]] static inline V splat(T x) { return x - V{}; }

  // The first n lanes of a register from and to memory; the others are zero. Without masks a register is read and
  // written whole: what stands behind must be there.
#if STROP_X86_BYTES == 64
  static constexpr bool masks = true;
  using Mask = std::conditional_t<sizeof(T) == 4, std::uint16_t, std::uint8_t>;
  static Mask mask(std::int64_t n) { return static_cast<Mask>((1u << n) - 1); }
  [[gnu::always_inline]] static inline V load(const T* p, Mask mask) {
    if constexpr (sizeof(T) == 4)
      return __builtin_ia32_loadups512_mask(p, V{}, mask);
    else
      return __builtin_ia32_loadupd512_mask(p, V{}, mask);
  }
  [[gnu::always_inline]] static inline void store(T* p, V v, Mask mask) {
    if constexpr (sizeof(T) == 4)
      __builtin_ia32_storeups512_mask(p, v, mask);
    else
      __builtin_ia32_storeupd512_mask(p, v, mask);
  }
#else
  static constexpr bool masks = false;
  struct Mask {};
  static Mask mask(std::int64_t) { return {}; }
  [[gnu::always_inline]] static inline V load(const T* p, Mask) { return R::load(p); }
  [[gnu::always_inline]] static inline void store(T* p, V v, Mask) { R::store(p, v); }
#endif

  /// C = Σₚ a(·, p) · b(p, ·), or C += it: a tile of as many rows as there are I, of N registers each, of whose columns
  /// n count. Every element is made of the same chains of multiply-adds in the order of p: what surrounds it in a tile
  /// does not change it.
  template <int N, class B, int... I>
  [[gnu::noinline]] static void tile(const Strided<T>& a, B rows_of_b, std::int64_t k, T* c, std::int64_t c_row,
                                     std::int64_t m, std::int64_t n, bool add, std::integer_sequence<int, I...>) {
    constexpr int M = sizeof...(I);
    const std::int64_t rest = n - (N - 1) * lanes;
    const Mask last = mask(rest);
    // every third row: two more are one and two strides away, which addresses can say
    const T* x[std::size_t{(M + 2) / 3}];
    ((I % 3 == 0 ? static_cast<void>(x[I / 3] = a.data + I * a.row) : static_cast<void>(0)), ...);
    if (add && k >= 32)  // to read; a prefetch to write stalls where it misses
      for (std::int64_t i = 0; i < m; ++i)
        for (std::int64_t j = 0; j < N; ++j) __builtin_prefetch(c + i * c_row + j * lanes);
    V acc[std::size_t{M}][std::size_t{N}];
    if constexpr (N == 2)
      ((acc[I][0] = acc[I][1] = V{}), ...);
    else
      ((acc[I][0] = V{}), ...);
    const auto stretch = [&](std::int64_t steps) __attribute__((always_inline)) {
      for (std::int64_t p = 0; p < steps; ++p) {
        const T* const b = rows_of_b.next();
        V y[std::size_t{N}];
        if constexpr (N == 2) y[0] = R::load(b);
        y[N - 1] = load(b + (N - 1) * lanes, last);
        (
            [&] {
              const V s = splat(x[I / 3][I % 3 * a.row]);
              acc[I][0] = fma(s, y[0], acc[I][0]);
              if constexpr (N == 2) acc[I][1] = fma(s, y[1], acc[I][1]);
              if constexpr (I % 3 == 2 || I == M - 1) {
                x[I / 3] += a.col;
                asm("" : "+r"(x[I / 3]));  // each in a register of its own: g++ makes vectors of them
              }
            }(),
            ...);
      }
    };
    stretch(std::min(k, chain_of_products));
    for (std::int64_t p = chain_of_products; p < k; p += chain_of_products) {
      V before[std::size_t{M}][std::size_t{N}];  // in memory
      (
          [&] {
            before[I][0] = acc[I][0], acc[I][0] = V{};
            if constexpr (N == 2) before[I][1] = acc[I][1], acc[I][1] = V{};
          }(),
          ...);
      stretch(std::min(k - p, chain_of_products));
      (
          [&] {
            acc[I][0] += before[I][0];
            if constexpr (N == 2) acc[I][1] += before[I][1];
          }(),
          ...);
    }
    if (masks || rest == lanes) {
      T* to = c;
      (
          [&] {
            if (I >= m) return;
            if constexpr (N == 2) R::store(to, add ? acc[I][0] + R::load(to) : acc[I][0]);
            T* const end = to + (N - 1) * lanes;
            store(end, add ? acc[I][N - 1] + load(end, last) : acc[I][N - 1], last);
            to += c_row;
          }(),
          ...);
      return;
    }
    for (int i = 0; i < m; ++i) {
      T part[unsigned_size(N * lanes)];
      std::memcpy(part, acc[i], sizeof part);
      for (std::int64_t j = 0; j < n; ++j) c[i * c_row + j] = part[j] + (add ? c[i * c_row + j] : T(0));
    }
  }
  template <class B>
  using Kernel = void (*)(const Strided<T>&, B, std::int64_t, T*, std::int64_t, std::int64_t, std::int64_t, bool);
  template <int M, int N, class B>
  static void kernel(const Strided<T>& a, B b, std::int64_t k, T* c, std::int64_t c_row, std::int64_t m, std::int64_t n,
                     bool add) {
    tile<N>(a, b, k, c, c_row, m, n, add, std::make_integer_sequence<int, M>{});
  }
  /// The kernel for so many rows, a multiple of a third, and so many registers a row.
  template <class B = EvenRows<T>>
  static Kernel<B> kernel_of(int height, bool two) {
    static constexpr Kernel<B> all[] = {kernel<third, 1, B>,     kernel<third, 2, B>, kernel<2 * third, 1, B>,
                                        kernel<2 * third, 2, B>, kernel<rows, 1, B>,  kernel<rows, 2, B>};
    return all[height / third * 2 - 2 + two];
  }

  /// to(p, i) = from(i, p) for p < k: rows of `width` elements, of which `count` come from `from` and the others do not
  /// matter. Up to a register of 16 bytes behind the last is written.
  [[gnu::noinline]] static void pack(Strided<T> from, std::int64_t count, std::int64_t k, std::int64_t width, T* to) {
    std::int64_t p = 0;
    if (from.row == 1 && count == width && width >= side) {
      for (; p < k; ++p, to += width)
        for (std::int64_t i = 0; i < width; i += side)
          std::memcpy(to + std::min(i, width - side), from.data + p * from.col + std::min(i, width - side), 16);
      return;
    }
    if (from.col == 1 && width >= side)
      for (constexpr std::int64_t line = 4 * side; p + side <= k;) {  // whole lines of a few rows: they may collide
        const std::int64_t end = std::min(p + line, k / side * side);
        for (std::int64_t i = (width - 1) / side * side; i >= 0; i -= side)  // backwards: the next rows mend the excess
          for (std::int64_t q = p; q < end; q += side) {
            const T* x[unsigned_size(side)];
            for (std::int64_t j = 0; j < side; ++j) x[j] = from.data + std::min(i + j, count - 1) * from.row + q;
            Square<T>::transpose(x, to + q * width + i, width);
          }
        p = end;
      }
    for (; p < k; ++p)
      for (std::int64_t i = 0; i < width; ++i)
        to[p * width + i] = i < count ? from.data[i * from.row + p * from.col] : T(0);
  }
  /// Panels of B: `cols` columns, row after row, one panel after the other.
  static void pack_panels(Strided<T> b, std::int64_t k, std::int64_t n, T* to) {
    std::int64_t j = 0;
    constexpr std::int64_t group = 8 * cols;  // read together: more bytes in a row
    if (b.col == 1)
      for (; j + cols <= n; j += group)
        for (std::int64_t p = 0; p < k; ++p)
          for (std::int64_t q = j; q + cols <= std::min(n, j + group); q += cols) {
            const T* const from = b.data + p * b.row + q;
            T* const at = to + q * k + p * cols;
            const V left = R::load(from), right = R::load(from + lanes);
            R::store(at, left), R::store(at + lanes, right);
          }
    if (b.col == 1) j = n / cols * cols;
    for (; j < n; j += cols) pack(b.at(0, j).transpose(), std::min(cols, n - j), k, cols, to + j * k);
  }
};

}  // namespace STROP_ISA
}  // namespace strop::inline v0::detail
