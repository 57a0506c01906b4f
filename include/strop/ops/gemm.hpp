// SPDX-License-Identifier: Apache-2.0
/// \file
/// Matrix products on the CPU: C = op(A) · op(B), or C += op(A) · op(B), of row-major float and double matrices.
///
/// Three ways, by shape. Thick: B is copied, a block at a time, into panels as wide as a tile of C, and a tile is held
/// in registers while it runs along a panel. Thin, few rows of A: B is read once, in place. One row: a sum of rows of
/// B, or dot products with them, as B lies in memory.
#pragma once
#include <strop/engine/pool.hpp>
#include <strop/number/lanes.hpp>
#include <strop/tensor/ndarray.hpp>

#include <algorithm>
#include <cstdint>
#include <cstring>
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
};

/// A square of elements, transposed by way of registers of 16 bytes.
template <class T>
struct Square {
  typedef T V __attribute__((vector_size(16)));
  static constexpr std::int64_t side = 16 / sizeof(T);
  /// to(i, j) = from[j][at + i]; `to` has rows of `stride` elements.
  [[gnu::always_inline]] static inline void transpose(const T* const* from, std::int64_t at, T* to,
                                                      std::int64_t stride) {
    V x[side], y[side];
    for (std::int64_t i = 0; i < side; ++i) std::memcpy(&x[i], from[i] + at, sizeof(V));
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

/// The kernels for elements T. `add` says whether C is added to or overwritten.
template <class T>
struct Gemm {
  using V = number::Vec<T>;
  using R = number::Rep<V>;
  template <int N>
  using Upto = std::make_integer_sequence<int, N>;

  static constexpr std::int64_t lanes = R::lanes;
  /// A tile of C: rows × cols elements, in two registers a row.
  static constexpr int rows = number::lane_bytes == 64 ? 12 : 6;
  static constexpr std::int64_t cols = 2 * lanes;
  /// Depth of a block: a panel of B and one of A stay in the first cache.
  static constexpr std::int64_t depth = 1280 / static_cast<std::int64_t>(sizeof(T));
  /// Columns of a block of B, which stays in a cache that the threads share.
  static constexpr std::int64_t width = 2048;
  /// Rows of A that pass over a panel of B together: they stay in the second cache.
  static constexpr std::int64_t height = 16 * rows;
  /// Work, in multiplications, that is worth a thread of its own.
  static constexpr std::int64_t share = std::int64_t{1} << 18;

  static std::int64_t pieces(std::int64_t extent, std::int64_t most) { return (extent + most - 1) / most; }
  /// How many pieces of `work` each make a share.
  static std::int64_t grain(std::int64_t work) {
    return std::max<std::int64_t>(1, share / std::max<std::int64_t>(1, work));
  }

  [[gnu::always_inline]] static inline V fma(V a, V b, V c) {
    if constexpr (requires { R::multiply_add(a, b, c); })
      return R::multiply_add(a, b, c);
    else
      return a * b + c;
  }
  /// All lanes x. (To subtract zero changes nothing, and so both compilers make a broadcast of it.)
  [[gnu::always_inline]] static inline V splat(T x) { return x - V{}; }
  [[gnu::always_inline]] static inline T sum(V v) {
    if constexpr (lanes == 1)
      return v;
    else if constexpr (lanes == 2)
      return v[0] + v[1];
    else {
      T part[4] = {v[0], v[1], v[2], v[3]};
      for (int i = 4; i < lanes; ++i) part[i % 4] += v[i];
      return (part[0] + part[2]) + (part[1] + part[3]);
    }
  }

  // --- thick
  // ----------------------------------------------------------------------------------------------------------

  /// One tile of C = Σₚ a(·, p) · b(p, ·), of which m × n elements count; b steps by b_row. Rows of A beyond m repeat
  /// the last.
  template <int... I>
  [[gnu::noinline]] static void tile(Strided<T> a, const T* b, std::int64_t b_row, std::int64_t k, T* c,
                                     std::int64_t c_row, std::int64_t m, std::int64_t n, bool add,
                                     std::integer_sequence<int, I...>) {
    const T* x[] = {a.data + (I < m ? I : m - 1) * a.row...};
    V acc[rows][2];
    ((acc[I][0] = acc[I][1] = V{}), ...);
    for (std::int64_t p = 0; p < k; ++p, b += b_row) {
      const V left = R::load(b), right = R::load(b + lanes);
      (
          [&] {
            const V s = splat(*x[I]);
            x[I] += a.col;
            acc[I][0] = fma(s, left, acc[I][0]);
            acc[I][1] = fma(s, right, acc[I][1]);
          }(),
          ...);
    }
    if (m == rows && n == cols) {
      if (add) ((acc[I][0] += R::load(c + I * c_row), acc[I][1] += R::load(c + I * c_row + lanes)), ...);
      ((R::store(c + I * c_row, acc[I][0]), R::store(c + I * c_row + lanes, acc[I][1])), ...);
      return;
    }
    T part[rows][static_cast<std::size_t>(cols)];
    ((R::store(part[I], acc[I][0]), R::store(part[I] + lanes, acc[I][1])), ...);
    for (std::int64_t i = 0; i < m; ++i)
      for (std::int64_t j = 0; j < n; ++j) c[i * c_row + j] = part[i][j] + (add ? c[i * c_row + j] : T(0));
  }

  /// A panel of B: `cols` columns, row after row; what stands in those beyond n does not matter.
  static void pack_b(Strided<T> b, std::int64_t k, std::int64_t n, T* to) {
    if (b.col == 1) {
      for (std::int64_t p = 0; p < k; ++p, to += cols) {
        const T* from = b.data + p * b.row;
        if (n == cols)
          std::memcpy(to, from, cols * sizeof(T));
        else
          for (std::int64_t j = 0; j < cols; ++j) to[j] = j < n ? from[j] : T(0);
      }
      return;
    }
    constexpr std::int64_t square = cols >= Square<T>::side ? Square<T>::side : 1;
    const T* column[cols];
    for (std::int64_t j = 0; j < cols; ++j) column[j] = b.data + std::min(j, n - 1) * b.col;
    std::int64_t p = 0;
    if constexpr (square > 1)
      for (; p + square <= k; p += square)
        for (std::int64_t j = 0; j < cols; j += square) Square<T>::transpose(column + j, p, to + p * cols + j, cols);
    for (; p < k; ++p)
      for (std::int64_t j = 0; j < cols; ++j) to[p * cols + j] = column[j][p];
  }
  /// At most `rows` rows of A, column after column.
  static void pack_a(Strided<T> a, std::int64_t m, std::int64_t k, T* to) {
    if (m == rows && a.row == 1) {
      for (std::int64_t p = 0; p < k; ++p) std::memcpy(to + p * rows, a.data + p * a.col, rows * sizeof(T));
      return;
    }
    for (std::int64_t p = 0; p < k; ++p, to += rows)
      for (std::int64_t i = 0; i < m; ++i) to[i] = a.data[i * a.row + p * a.col];
  }

  /// Rows [first, past) of C from a packed block of B. A is copied as well where its rows would meet in few lines of a
  /// cache.
  static void block(Strided<T> a, const T* packed, std::int64_t k, std::int64_t n, T* c, std::int64_t c_row,
                    std::int64_t first, std::int64_t past, bool add) {
    const bool copy = a.col != 1 || a.row * static_cast<std::int64_t>(sizeof(T)) % 2048 == 0;
    const Space space(copy ? std::min(height, pieces(past - first, rows) * rows) * k : 0);
    for (std::int64_t top = first; top < past; top += height) {
      const std::int64_t bottom = std::min(past, top + height);
      if (copy)
        for (std::int64_t i = top; i < bottom; i += rows)
          pack_a(a.at(i, 0), std::min<std::int64_t>(rows, bottom - i), k, space.data + (i - top) * k);
      for (std::int64_t j = 0; j < n; j += cols)
        for (std::int64_t i = top; i < bottom; i += rows) {
          const Strided<T> strip = copy ? Strided<T>{space.data + (i - top) * k, 1, rows} : a.at(i, 0);
          tile(strip, packed + j * k, cols, k, c + i * c_row + j, c_row, std::min<std::int64_t>(rows, bottom - i),
               std::min(cols, n - j), add, Upto<rows>{});
        }
    }
  }

  static void thick(std::int64_t m, std::int64_t n, std::int64_t k, Strided<T> a, Strided<T> b, T* c, bool add) {
    const std::int64_t deep = pieces(k, pieces(k, depth));
    const Space space(deep * (pieces(std::min(n, width), cols) * cols));
    for (std::int64_t j = 0; j < n; j += width) {
      const std::int64_t wide = std::min(width, n - j);
      for (std::int64_t p = 0; p < k; p += deep) {
        const std::int64_t along = std::min(deep, k - p);
        parallel_for(pieces(wide, cols), grain(along * cols * 4), [&](std::int64_t begin, std::int64_t end) {
          for (std::int64_t q = begin; q < end; ++q)
            pack_b(b.at(p, j + q * cols), along, std::min(cols, wide - q * cols), space.data + q * cols * along);
        });
        parallel_for(pieces(m, rows), grain(along * wide * rows), [&](std::int64_t begin, std::int64_t end) {
          block(a.at(0, p), space.data, along, wide, c + j, n, begin * rows, std::min(m, end * rows), add || p != 0);
        });
      }
    }
  }

  // --- thin
  // -----------------------------------------------------------------------------------------------------------

  /// Few rows of A, rows of B contiguous.
  static void across(std::int64_t m, std::int64_t n, std::int64_t k, Strided<T> a, Strided<T> b, T* c, bool add) {
    parallel_for(n / cols, grain(m * k * cols), [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t j = begin * cols; j < end * cols; j += cols)
        for (std::int64_t i = 0; i < m; i += rows)
          tile(a.at(i, 0), b.data + j, b.row, k, c + i * n + j, n, std::min<std::int64_t>(rows, m - i), cols, add,
               Upto<rows>{});
    });
    const std::int64_t rest = n % cols, j = n - rest;
    if (rest == 0) return;
    const Space space(k * cols);
    pack_b(b.at(0, j), k, rest, space.data);
    for (std::int64_t i = 0; i < m; i += rows)
      tile(a.at(i, 0), space.data, cols, k, c + i * n + j, n, std::min<std::int64_t>(rows, m - i), rest, add,
           Upto<rows>{});
  }

  /// M × N dot products of rows of A, a_row apart, with columns of B, b_col apart; m × n of them count.
  template <int M, int N, int... I, int... J, int... IJ>
  [[gnu::noinline]] static void dots(const T* a, std::int64_t a_row, const T* b, std::int64_t b_col, std::int64_t k,
                                     T* c, std::int64_t c_row, std::int64_t m, std::int64_t n, bool add,
                                     std::integer_sequence<int, I...>, std::integer_sequence<int, J...>,
                                     std::integer_sequence<int, IJ...>) {
    const T* const x[] = {a + (I < m ? I : m - 1) * a_row...};
    const T* const y[] = {b + (J < n ? J : n - 1) * b_col...};
    V acc[M * N];
    ((acc[IJ] = V{}), ...);
    std::int64_t p = 0;
    for (; p + lanes <= k; p += lanes) {
      const V left[] = {R::load(x[I] + p)...}, right[] = {R::load(y[J] + p)...};
      ((acc[IJ] = fma(left[IJ / N], right[IJ % N], acc[IJ])), ...);
    }
    T part[] = {sum(acc[IJ])...};
    for (; p < k; ++p) ((part[IJ] += x[IJ / N][p] * y[IJ % N][p]), ...);
    for (std::int64_t i = 0; i < m; ++i)
      for (std::int64_t j = 0; j < n; ++j) c[i * c_row + j] = part[i * N + j] + (add ? c[i * c_row + j] : T(0));
  }
  /// Few rows of A, columns of B contiguous.
  template <int M, int N>
  static void along(std::int64_t m, std::int64_t n, std::int64_t k, const T* a, std::int64_t a_row, const T* b,
                    std::int64_t b_col, T* c, bool add) {
    parallel_for(pieces(n, N), grain(m * k * N), [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t j = begin * N; j < std::min(n, end * N); j += N)
        for (std::int64_t i = 0; i < m; i += M)
          dots<M, N>(a + i * a_row, a_row, b + j * b_col, b_col, k, c + i * n + j, n, std::min<std::int64_t>(M, m - i),
                     std::min<std::int64_t>(N, n - j), add, Upto<M>{}, Upto<N>{}, Upto<M * N>{});
    });
  }

  /// c = Σₚ a(p) · row p of B: eight rows at a time pass over c.
  static void combine(std::int64_t n, std::int64_t k, const T* a, std::int64_t a_step, const T* b, std::int64_t b_row,
                      T* c, bool add) {
    parallel_for(pieces(n, cols), grain(k * cols), [&](std::int64_t begin, std::int64_t end) {
      const std::int64_t from = begin * cols, count = std::min(n, end * cols) - from;
      std::int64_t p = 0;
      for (; p + 8 <= k; p += 8)
        combine_rows(a + p * a_step, a_step, b + p * b_row + from, b_row, c + from, count, add || p != 0, Upto<8>{});
      for (; p < k; ++p)
        combine_rows(a + p * a_step, a_step, b + p * b_row + from, b_row, c + from, count, add || p != 0, Upto<1>{});
    });
  }
  template <int... I>
  [[gnu::noinline]] static void combine_rows(const T* a, std::int64_t a_step, const T* b, std::int64_t b_row, T* c,
                                             std::int64_t count, bool add, std::integer_sequence<int, I...>) {
    const V w[] = {splat(a[I * a_step])...};
    const T* const row[] = {b + I * b_row...};
    std::int64_t j = 0;
    for (; j + lanes <= count; j += lanes) {
      V s = add ? R::load(c + j) : V{};
      ((s = fma(w[I], R::load(row[I] + j), s)), ...);
      R::store(c + j, s);
    }
    for (; j < count; ++j) {
      T s = add ? c[j] : T(0);
      ((s += a[I * a_step] * row[I][j]), ...);
      c[j] = s;
    }
  }

  /// Few columns of A: every row of C is a sum of few rows of B.
  static void shallow(std::int64_t m, std::int64_t n, std::int64_t k, Strided<T> a, Strided<T> b, T* c, bool add) {
    parallel_for(m, grain(n * k), [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        const T* const x = a.data + i * a.row;
        switch (k) {
          case 1:
            combine_rows(x, a.col, b.data, b.row, c + i * n, n, add, Upto<1>{});
            break;
          case 2:
            combine_rows(x, a.col, b.data, b.row, c + i * n, n, add, Upto<2>{});
            break;
          default:
            combine_rows(x, a.col, b.data, b.row, c + i * n, n, add, Upto<3>{});
        }
      }
    });
  }

  // --- the choice
  // -----------------------------------------------------------------------------------------------------

  static void run(std::int64_t m, std::int64_t n, std::int64_t k, Strided<T> a, Strided<T> b, T* c, bool add) {
    const bool a_rows = a.col == 1 || k == 1, b_rows = b.col == 1, b_cols = b.row == 1;
    if (n == 1 && m > 1) return run(1, m, k, {b.data, b.col, b.row}, {a.data, a.col, a.row}, c, add);
    if (m == 1 && b_rows) return combine(n, k, a.data, a.col, b.data, b.row, c, add);
    if (m == 1 && b_cols && a_rows) return along<1, 8>(m, n, k, a.data, a.row, b.data, b.col, c, add);
    if (k <= 3 && b_rows) return shallow(m, n, k, a, b, c, add);
    if (m <= 4 * rows && b_cols && a_rows && k >= 4 * lanes)
      return along<3, 4>(m, n, k, a.data, a.row, b.data, b.col, c, add);
    if (m <= 2 * rows && b_rows) return across(m, n, k, a, b, c, add);
    thick(m, n, k, a, b, c, add);
  }

  /// Memory for packed panels: near while it is little.
  struct Space {
    alignas(64) T near[4096 / sizeof(T)];
    NDArray far;
    T* data = near;
    explicit Space(std::int64_t count) {
      if (count <= static_cast<std::int64_t>(4096 / sizeof(T))) return;
      far = NDArray(Shape{count}, dtype_of<T>);
      data = far.pointer<T>();
    }
    Space(const Space&) = delete;
    Space& operator=(const Space&) = delete;
  };
};

/// c = op(a) · op(b), or c += where `add`: op(a) is m × k, op(b) k × n, c m × n. All are row-major and contiguous;
/// `a_transposed` says that a is stored as k × m, `b_transposed` that b is stored as n × k. c overlaps neither.
template <class T>
void gemm(std::int64_t m, std::int64_t n, std::int64_t k, const T* a, bool a_transposed, const T* b, bool b_transposed,
          T* c, bool add = false) {
  if (m == 0 || n == 0) return;
  if (k == 0) {
    if (!add) std::fill(c, c + m * n, T(0));
    return;
  }
  Gemm<T>::run(m, n, k, Strided<T>::of(a, a_transposed ? m : k, a_transposed),
               Strided<T>::of(b, b_transposed ? k : n, b_transposed), c, add);
}

}  // namespace STROP_ISA
}  // namespace strop::inline v0::detail
