// SPDX-License-Identifier: Apache-2.0
/// \file
/// Bodies of the operators of ops/vision/correlation.hpp, which only what builds their kernels reads.
#pragma once
#include <strop/core/list.hpp>
#include <strop/engine/pool.hpp>
#include <strop/ops/pairwise.hpp>
#include <strop/ops/vision/correlation.hpp>
#include <strop/ops/vision/planes.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace strop::inline v0 {

namespace detail {

inline namespace STROP_ISA {

/// Extents and steps of a correlation of padded images.
struct CorrelationPlan {
  std::int64_t images, channels, rows, cols, pad, kernel, displacement, step, apart, grid, out_rows, out_cols;

  std::int64_t padded_cols() const { return cols + 2 * pad; }
  std::int64_t padded_size() const { return (rows + 2 * pad) * padded_cols(); }
  /// Of a product or difference in the mean; without channels the sum of none stays 0.
  double share() const {
    return 1 / (static_cast<double>(kernel * kernel) * static_cast<double>(std::max<std::int64_t>(1, channels)));
  }

  template <class E>
  void copy_padded(const E* x, E* to) const {
    std::fill_n(to, images * channels * padded_size(), E(0));
    each_row([&](std::int64_t inner, std::int64_t padded) { std::copy_n(x + inner, cols, to + padded); });
  }
  template <class E>
  void copy_inner(const E* padded, E* to) const {
    each_row([&](std::int64_t inner, std::int64_t from) { std::copy_n(padded + from, cols, to + inner); });
  }
  /// f(element of the first plane, of the second, how many columns) for row i of displacement d, for each place of the
  /// kernel; from one column to the next are `step` elements.
  template <class F>
  void each_place(std::int64_t d, std::int64_t i, F f) const {
    const std::int64_t reach = grid / 2, down = (d / grid - reach) * apart, along = (d % grid - reach) * apart;
    for (std::int64_t h = 0; h < kernel; ++h)
      for (std::int64_t w = 0; w < kernel; ++w) {
        const std::int64_t y = i * step + displacement + h, x = displacement + w;
        f(y * padded_cols() + x, (y + down) * padded_cols() + x + along);
      }
  }

 private:
  template <class F>
  void each_row(F f) const {
    for (std::int64_t plane = 0; plane < images * channels; ++plane)
      for (std::int64_t i = 0; i < rows; ++i)
        f((plane * rows + i) * cols, plane * padded_size() + (i + pad) * padded_cols() + pad);
  }
};

/// add(step, of): `of` what is taken of two elements, the product or the difference.
template <class Add, class Product, class Difference>
void with_step(std::int64_t step, bool multiply, Add add, Product product, Difference difference) {
  const auto of_either = [&](auto of) {
    // Elements that follow each other, as compilers like them.
    step == 1 ? add(std::integral_constant<std::int64_t, 1>{}, of) : add(step, of);
  };
  multiply ? of_either(product) : of_either(difference);
}

/// to[j] += a · b, or |a − b|, for elements a and b of two rows that are `step` apart.
template <class E>
void add_likeness(const E* a, const E* b, std::int64_t step, bool multiply, std::int64_t count, E* to) {
  const auto add = [&](auto stride, auto likeness) {
    for (std::int64_t j = 0; j < count; ++j) to[j] += likeness(a[j * stride], b[j * stride]);
  };
  with_step(step, multiply, add, [](E l, E r) { return l * r; }, [](E l, E r) { return std::abs(l - r); });
}

/// y of padded images a and b.
template <class E>
void correlate(const CorrelationPlan& p, bool multiply, const E* a, const E* b, E* y) {
  const std::int64_t grids = p.grid * p.grid, size = p.padded_size();
  const std::int64_t work = p.channels * p.kernel * p.kernel * p.out_cols;
  parallel_for(p.images * grids * p.out_rows, std::max<std::int64_t>(1, (1 << 14) / std::max<std::int64_t>(1, work)),
               [&](std::int64_t begin, std::int64_t end) {
                 for (std::int64_t row = begin; row < end; ++row) {
                   const std::int64_t first = row / p.out_rows / grids * p.channels;
                   E* const to = y + row * p.out_cols;
                   std::fill_n(to, p.out_cols, E(0));
                   List<double> sums(p.out_cols);
                   const auto end_stretch = [&] {
                     for (std::int64_t j = 0; j < p.out_cols; ++j) sums[j] += static_cast<double>(to[j]), to[j] = 0;
                   };
                   std::int64_t added = 0;
                   for (std::int64_t c = first; c < first + p.channels; ++c)
                     p.each_place(row / p.out_rows % grids, row % p.out_rows, [&](std::int64_t at, std::int64_t other) {
                       add_likeness(a + c * size + at, b + c * size + other, p.step, multiply, p.out_cols, to);
                       if (++added % chain_of_sums == 0) end_stretch();
                     });
                   end_stretch();
                   for (std::int64_t j = 0; j < p.out_cols; ++j) to[j] = static_cast<E>(sums[j] * p.share());
                 }
               });
}

/// Adds the gradients of a and b in add_likeness, for the head gradient times `share`.
template <class E>
void add_slopes(const E* a, const E* b, const E* head, E share, std::int64_t step, bool multiply, std::int64_t count,
                double* da, double* db) {
  const auto add = [&](auto stride, auto slopes) {
    for (std::int64_t j = 0; j < count; ++j) {
      const std::int64_t at = j * stride;
      const auto [of_a, of_b] = slopes(a[at], b[at]);
      da[at] += static_cast<double>(head[j] * share * of_a);
      db[at] += static_cast<double>(head[j] * share * of_b);
    }
  };
  const auto product = [](E l, E r) { return std::pair(r, l); };
  const auto difference = [](E l, E r) {
    const E sign = std::copysign(E(1), l - r + E(0));  // l >= r without a branch, which nothing could foretell
    return std::pair(sign, -sign);
  };
  with_step(step, multiply, add, product, difference);
}

/// The gradients of the padded images.
template <class E>
void correlate_gradient(const CorrelationPlan& p, bool multiply, const E* dy, const E* a, const E* b, E* da, E* db) {
  const std::int64_t grids = p.grid * p.grid, size = p.padded_size();
  const std::int64_t work = grids * p.kernel * p.kernel * p.out_rows * p.out_cols;
  const E share = static_cast<E>(p.share());
  parallel_for(p.images * p.channels, std::max<std::int64_t>(1, (1 << 14) / std::max<std::int64_t>(1, work)),
               [&](std::int64_t begin, std::int64_t end) {
                 for (std::int64_t plane = begin; plane < end; ++plane) {
                   const std::int64_t first = plane * size;
                   GradientSums<E> of_a(da + first, size), of_b(db + first, size);
                   for (std::int64_t row = 0; row < grids * p.out_rows; ++row) {
                     const E* const head = dy + (plane / p.channels * grids * p.out_rows + row) * p.out_cols;
                     p.each_place(row / p.out_rows, row % p.out_rows, [&](std::int64_t at, std::int64_t other) {
                       add_slopes(a + first + at, b + first + other, head, share, p.step, multiply, p.out_cols,
                                  of_a.data() + at, of_b.data() + other);
                     });
                   }
                   of_a.store();
                   of_b.store();
                 }
               });
}

}  // namespace STROP_ISA

}  // namespace detail

template <Real E>
inline void Correlation::forward(Cpu& ctx, View<const E, 4> a, View<const E, 4> b, View<E, 4> y) const {
  const detail::CorrelationPlan p = plan(a.shape(), y.shape());
  if (y.size() == 0) return;
  const auto [first, second] = padded(ctx, p, a, b);
  detail::correlate<E>(p, is_multiply, first.data(), second.data(), y.data());
}

template <Real E>
inline void Correlation::grad_use_in(Cpu& ctx, View<const E, 4> dy, View<const E, 4> a, View<const E, 4> b,
                                     View<E, 4> da, View<E, 4> db) const {
  const detail::CorrelationPlan p = plan(a.shape(), dy.shape());
  const auto [first, second] = padded(ctx, p, a, b);
  const View<E, 1> dfirst = ctx.temp<E>(first.size()), dsecond = ctx.temp<E>(first.size());
  detail::correlate_gradient<E>(p, is_multiply, dy.data(), first.data(), second.data(), dfirst.data(), dsecond.data());
  p.copy_inner(dfirst.data(), da.data());
  p.copy_inner(dsecond.data(), db.data());
}

inline detail::CorrelationPlan Correlation::plan(const std::array<std::int64_t, 4>& x,
                                                 const std::array<std::int64_t, 4>& y) const {
  return {x[0], x[1], x[2], x[3], pad_size, kernel_size, max_displacement, stride1, stride2, grid(), y[2], y[3]};
}

template <class E>
inline std::array<View<E, 1>, 2> Correlation::padded(Cpu& ctx, const detail::CorrelationPlan& p, View<const E, 4> a,
                                                     View<const E, 4> b) {
  const Shape shape{p.images, p.channels, p.rows + 2 * p.pad, p.padded_cols()};
  std::int64_t size = 1;
  for (const std::int64_t extent : shape) size = detail::checked_product(size, extent, "correlation");
  const std::array<View<E, 1>, 2> both{ctx.temp<E>(size), ctx.temp<E>(size)};
  p.copy_padded(a.data(), both[0].data());
  p.copy_padded(b.data(), both[1].data());
  return both;
}

}  // namespace strop::inline v0
