// SPDX-License-Identifier: Apache-2.0
/// \file
/// Matrix products on the CPU: C = op(A) · op(B), or C += op(A) · op(B), of row-major float and double matrices.
///
/// By shape: tiles of C that stay in registers, over B as it lies in memory while it is small or read once, else over
/// copies of blocks of it; dot products where the rows of A and the columns of B are contiguous and one of them few; a
/// sum of rows of B for a single row. No route, and no way to cut k, depends on how many threads there are; stretches
/// of k are added up in pairs (ops/pairwise.hpp). There is no route to a BLAS: over the shapes of the bench these are
/// faster than PyTorch's in the mean, and nowhere by more than a fourth slower (bench/results, products-peers.txt).
#pragma once
#include <strop/core/list.hpp>
#include <strop/core/span.hpp>
#include <strop/engine/pool.hpp>
#include <strop/ops/gemm_tiles.hpp>
#include <strop/ops/pairwise.hpp>
#include <strop/tensor/ndarray.hpp>

#include <algorithm>
#include <cstdint>
#include <utility>

namespace strop::inline v0::detail {
inline namespace STROP_ISA {

/// How a product is computed; `strop info --products` says it in words.
enum class GemmRoute {
  vector,   ///< one column: as the transposed product, which has one row
  combine,  ///< one row of A: a sum of rows of B
  dots,     ///< dot products of rows of A with columns of B
  outer,    ///< one column of A by one row of B
  direct,   ///< tiles of C, over B as it lies in memory
  packed    ///< tiles of C, over copies of blocks of B
};

/// The kernels for elements T. `add` says whether C is added to or overwritten.
template <class T>
struct Gemm {
  using Tile = Tiles<T>;
  using V = typename Tile::V;
  using R = typename Tile::R;
  template <int N>
  using Upto = std::make_integer_sequence<int, N>;

  static constexpr std::int64_t lanes = Tile::lanes, cols = Tile::cols;
  static constexpr int rows = Tile::rows;
  static constexpr std::int64_t size = sizeof(T);
  /// Depth of a block: the strip of A that runs along a block of B stays in the first cache (12 KiB of 32 or more).
  static constexpr std::int64_t depth = 1024 / size;
  /// Blocks of that depth are added to C one after the other up to here, stretches of so many in pairs.
  static constexpr std::int64_t longest = 16 * depth;
  /// Elements of a block of B, which stays in the second cache.
  static constexpr std::int64_t block = (std::int64_t{512} << 10) / size;
  /// Elements of a B that is read in place.
  static constexpr std::int64_t small = (std::int64_t{96} << 10) / size;
  /// Work, in multiplications, that is worth a thread of its own, and one that has to be woken for it.
  static constexpr std::int64_t share = std::int64_t{1} << 17, wake = std::int64_t{1} << 18;

  static std::int64_t pieces(std::int64_t extent, std::int64_t most) { return (extent + most - 1) / most; }
  static std::int64_t up(std::int64_t extent, std::int64_t unit) { return pieces(extent, unit) * unit; }
  /// How many threads `work` multiplications are worth, how many there are for them, and how many may be woken.
  static std::int64_t shares_of(double work) { return static_cast<std::int64_t>((2 * work + share) / (2 * share)); }
  static std::int64_t threads_for(double work) {
    return inside_loop ? 1 : std::min<std::int64_t>(num_threads(), shares_of(work));
  }
  static int wakes_for(double work) {
    return work < 2 * wake ? 0 : static_cast<int>(std::min(work / wake - 1, double{max_threads}));
  }
  static double product(std::int64_t m, std::int64_t n, std::int64_t k) {
    return static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
  }
  /// f for parts of [0, n), of `work` multiplications in all.
  template <class F>
  static void share_out(std::int64_t n, double work, F f) {
    parallel_for_waking(wakes_for(work), n, pieces(n, std::max<std::int64_t>(1, shares_of(work))), f);
  }

  // --- tiles ---------------------------------------------------------------------------------------------------------

  struct Product {
    std::int64_t m, n, k;
    Strided<T> a, b;
    T* c;
    std::int64_t c_row;
    bool add;
    bool packs;  ///< B is copied, block by block
    /// The rows of a strip of A would meet in few lines of a cache, or lie across many.
    bool scattered() const { return a.col != 1 || a.row * size % 2048 == 0; }
  };

  /// Rows [top, bottom) and columns [left, right) of C.
  static void cell(const Product& g, std::int64_t top, std::int64_t bottom, std::int64_t left, std::int64_t right) {
    g.k <= longest ? stretch(g, top, bottom, left, right) : stretches_of(g, top, bottom, left, right);
  }
  [[gnu::noinline]] static void stretches_of(const Product& g, std::int64_t top, std::int64_t bottom, std::int64_t left,
                                             std::int64_t right) {
    const std::int64_t stretches = pieces(g.k, longest), height = bottom - top, width = right - left;
    const NDArray made(Shape{pair_levels_of(stretches), height, width}, dtype_of<T>);
    T *const c = g.c + top * g.c_row + left, *const sums = made.pointer<T>();
    in_pairs(
        stretches,
        [&](std::int64_t s, std::int64_t level) {
          Product part = g;
          part.k = std::min(longest, g.k - s * longest);
          part.a = g.a.at(0, s * longest), part.b = g.b.at(s * longest, 0);
          if (level == 0) {
            part.add = g.add;
          } else {  // where row `top` and column `left` are is all that is known of the others
            part.m = height, part.n = width, part.a = part.a.at(top, 0), part.b = part.b.at(0, left);
            part.c = sums + (level - 1) * height * width, part.c_row = width, part.add = false;
          }
          level == 0 ? stretch(part, top, bottom, left, right) : stretch(part, 0, height, 0, width);
        },
        [&](std::int64_t level) {
          const T* from = sums + level * height * width;
          T* to = level == 0 ? c : sums + (level - 1) * height * width;
          for (std::int64_t i = 0; i < height; ++i, from += width, to += level == 0 ? g.c_row : width)
            add_numbers(to, from, width);
        });
  }

  /// The same of a k that is not too long.
  static void stretch(const Product& g, std::int64_t top, std::int64_t bottom, std::int64_t left, std::int64_t right) {
    const std::int64_t along = g.k <= depth ? g.k : pieces(g.k, pieces(g.k, depth));
    // where all of B fits, A and C are passed over once
    const bool whole = g.packs && up(right - left, cols) * g.k <= block;
    const std::int64_t deep = whole ? g.k : along;
    const std::int64_t wide =
        whole || (right - left) * along <= block ? right - left : up(std::min(right - left, block / along), cols);
    // Columns behind the last whole registers of B: what would be read there may not be B's.
    const bool tail = !g.packs && !Tile::masks && (right - left) % lanes != 0;
    const Space panels(g.packs ? deep * up(std::min(wide, right - left), cols) : tail ? along * cols : 0);
    const bool copies = g.scattered() && right - left > cols;
    const Space strip(copies || (bottom - top) % Tile::third != 0 ? along * rows + Tile::side : 0);
    for (std::int64_t j0 = left; j0 < right; j0 += wide) {
      const std::int64_t j1 = std::min(right, j0 + wide), padded = up(j1 - j0, cols);
      for (std::int64_t p0 = 0; p0 < g.k; p0 += deep) {
        const std::int64_t p1 = std::min(g.k, p0 + deep);
        if (g.packs)
          for (std::int64_t p = p0; p < p1; p += along)
            Tile::pack_panels(g.b.at(p, j0), std::min(along, p1 - p), j1 - j0, panels.data + (p - p0) * padded);
        else if (tail && (j1 - j0) % cols != 0)
          Tile::pack(g.b.at(p0, j1 - (j1 - j0) % cols).transpose(), (j1 - j0) % cols, p1 - p0, cols, panels.data);
        for (std::int64_t i = top, height; i < bottom; i += height) {
          height = Tile::height(bottom - i);
          const auto one = Tile::kernel_of(static_cast<int>(height), false),
                     two = Tile::kernel_of(static_cast<int>(height), true);
          for (std::int64_t p = p0; p < p1; p += along) {
            const std::int64_t steps = std::min(along, p1 - p);
            Strided<T> a = g.a.at(i, p);
            if (copies || bottom - i < height) {
              Tile::pack(a, std::min(height, bottom - i), steps, height, strip.data);
              a = {strip.data, 1, height};
            } else if (g.packs && j1 - j0 <= 4 * cols) {  // soon done: the next strip is on its way meanwhile
              for (std::int64_t r = height; r < std::min(2 * height, bottom - i); ++r)
                for (std::int64_t q = 0; q < steps; q += 64 / size) __builtin_prefetch(a.data + r * a.row + q, 0, 2);
            }
            for (std::int64_t j = j0; j < j1; j += cols) {
              const std::int64_t n = std::min(cols, j1 - j);
              const T* b = g.packs ? panels.data + (p - p0) * padded + (j - j0) * steps : g.b.data + p * g.b.row + j;
              std::int64_t b_row = g.packs ? cols : g.b.row;
              if (tail && n < cols) b = panels.data, b_row = cols;
              (n > lanes ? two : one)(a, {b, b_row}, steps, g.c + i * g.c_row + j, g.c_row,
                                      std::min(height, bottom - i), n, g.add || p > 0);
            }
          }
        }
      }
    }
  }

  /// C is cut into a grid with a cell for every thread, which copies for itself what it needs of A and B: nobody waits
  /// for anybody. Of the grids the one whose cells have the least to do.
  static void tiles(const Product& g) {
    const double work = product(g.m, g.n, g.k);
    const std::int64_t threads = threads_for(work);
    if (threads <= 1) return cell(g, 0, g.m, 0, g.n);
    std::int64_t best = INT64_MAX, tall = g.m, broad = g.n;
    for (std::int64_t down = 1; down <= threads; ++down) {
      const std::int64_t m = up(pieces(g.m, down), Tile::third), n = up(pieces(g.n, threads / down), cols);
      // a copy of an element takes as long as some eight multiplications, or one where there is none; where two threads
      // meet in a row of C, they wait for lines that the other's core fetches ahead, as long as some four thousand
      const std::int64_t meet = n < g.n ? m * (4096 / g.k) : 0;
      const std::int64_t cost = m * n + n * (g.packs ? 8 : 1) + m * (g.scattered() ? 8 : 1) + meet;
      if (cost < best) best = cost, tall = m, broad = n;
    }
    const std::int64_t across = pieces(g.n, broad), cells = pieces(g.m, tall) * across;
    parallel_for_waking(wakes_for(work), cells, 1, [&](std::int64_t begin, std::int64_t end) {
      if (end - begin == cells) return cell(g, 0, g.m, 0, g.n);  // nobody came
      for (std::int64_t q = begin; q < end; ++q) {
        const std::int64_t i = q / across * tall, j = q % across * broad;
        cell(g, i, std::min(g.m, i + tall), j, std::min(g.n, j + broad));
      }
    });
  }

  // --- vectors -------------------------------------------------------------------------------------------------------

  /// The sum of the lanes, by halves.
  template <class W>
  [[gnu::always_inline]] static inline T sum(W v) {
    if constexpr (sizeof(W) == size) {
      return *reinterpret_cast<const T*>(&v);
    } else if constexpr (sizeof(W) == 16) {
      if constexpr (size == 4)
        return (v[0] + v[2]) + (v[1] + v[3]);
      else
        return v[0] + v[1];
    } else {
      typedef T Half __attribute__((vector_size(sizeof(W) / 2)));
      Half half[2];
      std::memcpy(half, &v, sizeof v);
      return sum(half[0] + half[1]);
    }
  }

  /// M × N dot products of rows of A, a_row apart, with columns of B, b_col apart; m × n of them count.
  template <int M, int N, int... I, int... J, int... IJ>
  [[gnu::noinline]] static void dots(const T* a, std::int64_t a_row, const T* b, std::int64_t b_col, std::int64_t k,
                                     T* c, std::int64_t c_row, std::int64_t m, std::int64_t n, bool add,
                                     std::integer_sequence<int, I...>, std::integer_sequence<int, J...>,
                                     std::integer_sequence<int, IJ...>) {
    const T* const x[] = {a + (I < m ? I : m - 1) * a_row...};
    const T* const y[] = {b + (J < n ? J : n - 1) * b_col...};
    V acc[std::size_t{M} * N];
    ((acc[IJ] = V{}), ...);
    const std::int64_t whole = k - k % lanes;
    std::int64_t p = 0;
    const auto multiply = [&](std::int64_t stop) __attribute__((always_inline)) {
      for (; p < stop; p += lanes) {
        const V left[] = {R::load(x[I] + p)...}, right[] = {R::load(y[J] + p)...};
        ((acc[IJ] = Tile::fma(left[IJ / N], right[IJ % N], acc[IJ])), ...);
      }
    };
    constexpr std::int64_t stretch = chain_of_products * lanes;
    if (whole <= stretch) {
      multiply(whole);
    } else {  // sums of stretches stay in registers too, until they wait for each other
      V waiting[std::size_t{pair_levels}][std::size_t{M} * N], total[std::size_t{M} * N];
      Pairs pairs;
      const auto merge = [&](int level) { ((total[IJ] = waiting[level][IJ] + total[IJ]), ...); };
      for (;;) {
        ((total[IJ] = V{}), ...);
        const std::int64_t end = std::min(whole, p + chain_of_sums * stretch);
        while (p < end) {  // NOLINT(bugprone-infinite-loop): multiply moves p
          multiply(std::min(end, p + stretch));
          ((total[IJ] += acc[IJ], acc[IJ] = V{}), ...);
        }
        if (p == whole) break;
        pairs.push(merge, [&](int level) { ((waiting[level][IJ] = total[IJ]), ...); });
      }
      pairs.finish(merge);
      ((acc[IJ] = total[IJ]), ...);
    }
    T part[] = {sum(acc[IJ])...};
    for (; p < k; ++p) ((part[IJ] += x[IJ / N][p] * y[IJ % N][p]), ...);
    for (std::int64_t i = 0; i < m; ++i)
      for (std::int64_t j = 0; j < n; ++j) c[i * c_row + j] = part[i * N + j] + (add ? c[i * c_row + j] : T(0));
  }
  /// Rows of A and columns of B contiguous, one of the two few: those are the inner loop.
  template <int M, int N>
  static void along(std::int64_t m, std::int64_t n, std::int64_t k, const T* a, std::int64_t a_row, const T* b,
                    std::int64_t b_col, T* c, bool add) {
    const std::int64_t down = pieces(m, M), across = pieces(n, N);
    share_out(down * across, product(m, n, k), [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t q = begin; q < end; ++q) {
        const std::int64_t i = (m > n ? q / across : q % down) * M, j = (m > n ? q % across : q / down) * N;
        dots<M, N>(a + i * a_row, a_row, b + j * b_col, b_col, k, c + i * n + j, n, std::min<std::int64_t>(M, m - i),
                   std::min<std::int64_t>(N, n - j), add, Upto<M>{}, Upto<N>{}, Upto<M * N>{});
      }
    });
  }

  /// The product of a row and a column, both contiguous: parts whose length does not depend on the number of threads.
  static void one_dot(std::int64_t k, const T* a, const T* b, T* c, bool add) {
    constexpr std::int64_t part = std::int64_t{1} << 16;
    const std::int64_t parts = pieces(k, part);
    List<T, 16> sums(parts);
    share_out(parts, product(1, 1, k), [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t q = begin; q < end; ++q)
        sums[q] = dot_of_part(a + q * part, b + q * part, std::min(part, k - q * part), Upto<4>{});
    });
    Pairs pairs;
    List<T, pair_levels> waiting(pair_levels);
    T total = 0;
    const auto merge = [&](int level) { total = waiting[level] + total; };
    for (std::int64_t q = 0; q < parts; ++q) {
      total = sums[q];
      if (q + 1 < parts) pairs.push(merge, [&](int level) { waiting[level] = total; });
    }
    pairs.finish(merge);
    *c = total + (add ? *c : T(0));
  }
  template <int... I>
  [[gnu::noinline]] static T dot_of_part(const T* a, const T* b, std::int64_t k, std::integer_sequence<int, I...>) {
    constexpr std::int64_t step = sizeof...(I) * lanes;
    V waiting[std::size_t{pair_levels}];
    V acc[] = {(static_cast<void>(I), V{})...};
    Pairs pairs;
    const auto merge = [&](int level) { acc[0] = waiting[level] + acc[0]; };
    std::int64_t p = 0;
    for (const std::int64_t whole = k - k % lanes;;) {
      const std::int64_t stop = std::min(whole, p + chain_of_sums * step);
      for (; p + step <= stop; p += step)
        ((acc[I] = Tile::fma(R::load(a + p + I * lanes), R::load(b + p + I * lanes), acc[I])), ...);
      for (; p < stop; p += lanes) acc[0] = Tile::fma(R::load(a + p), R::load(b + p), acc[0]);
      ((I % 2 == 1 ? static_cast<void>(acc[I - I % 2] += acc[I]) : static_cast<void>(0)), ...);
      ((I % 2 == 0 && I > 0 ? static_cast<void>(acc[0] += acc[I]) : static_cast<void>(0)), ...);
      if (p == whole) break;
      pairs.push(merge, [&](int level) { waiting[level] = acc[0]; });
      ((acc[I] = V{}), ...);
    }
    pairs.finish(merge);
    T total = sum(acc[0]);
    for (; p < k; ++p) total += a[p] * b[p];
    return total;
  }

  /// c = Σₚ a(p) · row p of B: eight rows at a time pass over c, and stretches of rows are added up in pairs.
  static void combine(std::int64_t n, std::int64_t k, const T* a, std::int64_t a_step, const T* b, std::int64_t b_row,
                      T* c, bool add) {
    constexpr std::int64_t rows_of_stretch = 16 * 8, wide = 8192 / size;
    const std::int64_t stretches = pieces(k, rows_of_stretch);
    share_out(pieces(n, cols), product(1, n, k), [&](std::int64_t begin, std::int64_t end) {
      const std::int64_t from = begin * cols, to = std::min(n, end * cols);
      if (stretches == 1) return combine_stretch(to - from, k, a, a_step, b + from, b_row, c + from, add);
      List<T, 256> waiting(pair_levels_of(stretches) * std::min(wide, to - from));
      for (std::int64_t j = from, count; j < to; j += count) {
        count = std::min(wide, to - j);
        const auto at = [&](std::int64_t level) { return level == 0 ? c + j : waiting.data() + (level - 1) * count; };
        in_pairs(
            stretches,
            [&](std::int64_t s, std::int64_t level) {
              const std::int64_t p = s * rows_of_stretch;
              combine_stretch(count, std::min(rows_of_stretch, k - p), a + p * a_step, a_step, b + p * b_row + j, b_row,
                              at(level), add && s == 0);
            },
            [&](std::int64_t level) { add_numbers(at(level), at(level + 1), count); });
      }
    });
  }
  static void combine_stretch(std::int64_t count, std::int64_t k, const T* a, std::int64_t a_step, const T* b,
                              std::int64_t b_row, T* c, bool add) {
    std::int64_t p = 0;
    for (; p + 8 <= k; p += 8)
      combine_rows(a + p * a_step, a_step, b + p * b_row, b_row, c, count, add || p != 0, Upto<8>{});
    for (; p < k; ++p) combine_rows(a + p * a_step, a_step, b + p * b_row, b_row, c, count, add || p != 0, Upto<1>{});
  }
  template <int... I>
  [[gnu::noinline]] static void combine_rows(const T* a, std::int64_t a_step, const T* b, std::int64_t b_row, T* c,
                                             std::int64_t count, bool add, std::integer_sequence<int, I...>) {
    const V w[] = {Tile::splat(a[I * a_step])...};
    const T* const row[] = {b + I * b_row...};
    std::int64_t j = 0;
    for (; j + lanes <= count; j += lanes) {
      V s = w[0] * R::load(row[0] + j);
      ((I == 0 ? static_cast<void>(0) : static_cast<void>(s = Tile::fma(w[I], R::load(row[I] + j), s))), ...);
      R::store(c + j, add ? R::load(c + j) + s : s);
    }
    for (; j < count; ++j) {
      T s = 0;
      ((s += a[I * a_step] * row[I][j]), ...);
      c[j] = add ? c[j] + s : s;
    }
  }

  /// One column of A by one row of B: four rows of C at a time.
  static void outer(std::int64_t m, std::int64_t n, const T* a, std::int64_t a_step, const T* b, T* c, bool add) {
    share_out(m, product(m, n, 1), [&](std::int64_t begin, std::int64_t end) {
      std::int64_t i = begin;
      for (; i + 4 <= end; i += 4) outer_rows(n, a + i * a_step, a_step, b, c + i * n, add, Upto<4>{});
      for (; i < end; ++i) outer_rows(n, a + i * a_step, a_step, b, c + i * n, add, Upto<1>{});
    });
  }
  template <int... I>
  [[gnu::noinline]] static void outer_rows(std::int64_t n, const T* a, std::int64_t a_step, const T* b, T* c, bool add,
                                           std::integer_sequence<int, I...>) {
    const V w[] = {Tile::splat(a[I * a_step])...};
    T* const to[] = {c + I * n...};
    std::int64_t j = 0;
    if (add)
      for (; j + lanes <= n; j += lanes) {
        const V y = R::load(b + j);
        (R::store(to[I] + j, Tile::fma(w[I], y, R::load(to[I] + j))), ...);
      }
    else
      for (; j + lanes <= n; j += lanes) {
        const V y = R::load(b + j);
        (R::store(to[I] + j, w[I] * y), ...);
      }
    for (; j < n; ++j) ((to[I][j] = a[I * a_step] * b[j] + (add ? to[I][j] : T(0))), ...);
  }

  // --- the choice ----------------------------------------------------------------------------------------------------

  static GemmRoute route(std::int64_t m, std::int64_t n, std::int64_t k, Strided<T> a, Strided<T> b) {
    const bool a_rows = a.col == 1 || k == 1, b_rows = b.col == 1 || n == 1;
    if (n == 1 && m > 1) return GemmRoute::vector;
    if (m == 1 && n == 1 && a.col == 1 && b.row == 1) return GemmRoute::dots;
    if (m == 1 && b_rows) return GemmRoute::combine;
    if (k == 1 && b_rows) return GemmRoute::outer;
    if (!b_rows && a_rows && (m == 1 || ((m <= 4 * rows || n <= rows) && k >= 4 * lanes))) return GemmRoute::dots;
    return b_rows && (m <= 2 * rows || n * k <= small) ? GemmRoute::direct : GemmRoute::packed;
  }
  static void run(std::int64_t m, std::int64_t n, std::int64_t k, Strided<T> a, Strided<T> b, T* c, bool add) {
    const GemmRoute way = route(m, n, k, a, b);
    switch (way) {
      case GemmRoute::vector:
        return run(1, m, k, b.transpose(), a.transpose(), c, add);
      case GemmRoute::combine:
        return combine(n, k, a.data, a.col, b.data, b.row, c, add);
      case GemmRoute::outer:
        return outer(m, n, a.data, a.row, b.data, c, add);
      case GemmRoute::dots:
        if (m == 1 && n == 1) return one_dot(k, a.data, b.data, c, add);
        if (m == 1) return along<1, 8>(m, n, k, a.data, a.row, b.data, b.col, c, add);
        return along<3, 4>(m, n, k, a.data, a.row, b.data, b.col, c, add);
      default:
        tiles({m, n, k, a, b, c, n, add, way == GemmRoute::packed});
    }
  }

  /// Memory for copies: near while it is little.
  struct Space {
    static constexpr std::int64_t count = (std::int64_t{16} << 10) / size;
    alignas(64) T near[unsigned_size(count)];
    NDArray far;
    T* data = near;
    explicit Space(std::int64_t wanted) {
      if (wanted <= count) return;
      far = NDArray(Shape{wanted}, dtype_of<T>);
      data = far.pointer<T>();
    }
    Space(const Space&) = delete;
    Space& operator=(const Space&) = delete;
  };
};

/// c = a · b, or c += where `add`: a is m × k, b k × n, c m × n and contiguous. c overlaps neither.
template <class T>
void gemm(std::int64_t m, std::int64_t n, std::int64_t k, Strided<T> a, Strided<T> b, T* c, bool add = false) {
  if (m == 0 || n == 0) return;
  if (k == 0) {
    if (!add) std::fill(c, c + m * n, T(0));
    return;
  }
  Gemm<T>::run(m, n, k, a, b, c, add);
}

/// c = op(a) · op(b), or c += where `add`: op(a) is m × k, op(b) k × n, c m × n. All are row-major and contiguous;
/// `a_transposed` says that a is stored as k × m, `b_transposed` that b is stored as n × k. c overlaps neither.
template <class T>
void gemm(std::int64_t m, std::int64_t n, std::int64_t k, const T* a, bool a_transposed, const T* b, bool b_transposed,
          T* c, bool add = false) {
  gemm(m, n, k, Strided<T>::of(a, a_transposed ? m : k, a_transposed),
       Strided<T>::of(b, b_transposed ? k : n, b_transposed), c, add);
}

/// f(i) for each of `batch` matrices, which takes `work` multiplications, by several threads; what one matrix takes is
/// shared by them where it is alone.
template <class F>
void each_matrix(std::int64_t batch, std::int64_t work, F f) {
  const std::int64_t grain = std::max<std::int64_t>(1, (1 << 18) / std::max<std::int64_t>(1, work));
  if (batch == 1) return f(std::int64_t{0});
  parallel_for(batch, grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) f(i);
  });
}
/// The same for products, whose own work threads share where they are few.
template <class F>
void each_product(std::int64_t batch, std::int64_t work, F f) {
  if (batch >= 2 * num_threads()) return each_matrix(batch, work, f);
  for (std::int64_t i = 0; i < batch; ++i) f(i);
}

}  // namespace STROP_ISA
}  // namespace strop::inline v0::detail
