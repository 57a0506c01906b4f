// SPDX-License-Identifier: Apache-2.0
/// \file
/// Bodies of the operators of ops/softmax.hpp, which only what builds their kernels reads.
#pragma once
#include <strop/engine/pool.hpp>
#include <strop/ops/cast.hpp>
#include <strop/ops/cast_body.hpp>
#include <strop/ops/softmax.hpp>
#include <strop/ops/softmax_kernels_body.hpp>

#include <algorithm>
#include <cstdint>
#include <type_traits>

namespace strop::inline v0 {

namespace detail {

/// `length`, where given, says of each row how many of its elements count; the others become 0.
template <class E>
void run_softmax(const NDArray& x, View<const std::int64_t> length, const NDArray& y, int axis, double scale,
                 bool logarithm) {
  const AxisSplit split(x.shape(), axis);
  const NDArray out = y.dtype() == dtype_of<E> ? y : NDArray(y.shape(), dtype_of<E>);
  const E* const from = x.pointer<const E>();
  E* const to = out.pointer<E>();
  const E by = static_cast<E>(scale);
  const bool done =
      !length && each_tile_of_columns<1, E>(split, [&]<int N>(std::integral_constant<int, N>, std::int64_t at,
                                                              std::int64_t columns, E* space) {
        softmax_columns<E, N>(from + at, to + at, split.length, split.inner, columns, by, logarithm, space);
      });
  if (!done)
    each_row<1, E>(split, {from}, to, [&](const E* const(&in)[1], E* row_out, std::int64_t row) {
      std::int64_t count = split.length;
      if (length) count = std::clamp<std::int64_t>(length[row], 0, count);
      if (count != 0) softmax_row(in[0], row_out, count, by, logarithm);
      std::fill(row_out + count, row_out + split.length, E(0));
    });
  if (!out.is(y)) assign(out, y);
}

/// Elements behind the end of a row have no part in it and no gradient.
template <class E>
void run_softmax_gradient(const NDArray& dy, View<const std::int64_t> length, const NDArray& y, const NDArray& dx,
                          int axis, double scale, bool logarithm) {
  const AxisSplit split(y.shape(), axis);
  const NDArray out = dx.dtype() == dtype_of<E> ? dx : NDArray(dx.shape(), dtype_of<E>);
  const E *const head = dy.pointer<const E>(), *const result = y.pointer<const E>();
  E* const to = out.pointer<E>();
  const E by = static_cast<E>(scale);
  const bool done =
      !length && each_tile_of_columns<2, E>(split, [&]<int N>(std::integral_constant<int, N>, std::int64_t at,
                                                              std::int64_t columns, E* space) {
        softmax_gradient_columns<E, N>(head + at, result + at, to + at, split.length, split.inner, columns, by,
                                       logarithm, space);
      });
  if (!done)
    each_row<2, E>(split, {head, result}, to, [&](const E* const(&in)[2], E* row_out, std::int64_t row) {
      std::int64_t count = split.length;
      if (length) count = std::clamp<std::int64_t>(length[row], 0, count);
      softmax_gradient_row(in[0], in[1], row_out, count, by, logarithm);
      std::fill(row_out + count, row_out + split.length, E(0));
    });
  if (!out.is(dx)) assign(out, dx);
}

}  // namespace detail

template <SoftmaxKind Kind>
template <Real E>
inline void SoftmaxAlong<Kind>::forward(Cpu&, const NDArray& x, View<const std::int64_t> length, NDArray& y) const {
  detail::run_softmax<E>(x, length, y, axis, scale(), logarithm);
}

template <SoftmaxKind Kind>
template <Real E>
inline void SoftmaxAlong<Kind>::grad(Cpu&, Head<"output", NDArray> dy, In<"length", View<const std::int64_t>> length,
                                     Out<"output", NDArray> y, Grad<"data", NDArray> dx) const {
  if (dx.defined()) detail::run_softmax_gradient<E>(dy, length, y, dx, axis, scale(), logarithm);
}

template <SoftmaxKind Kind>
inline double SoftmaxAlong<Kind>::scale() const {
  return (Kind == SoftmaxKind::softmin ? -1 : 1) / temperature.value_or(1);
}

template <Real E>
inline void SoftmaxCrossEntropy::forward(Cpu&, View<const E, 2> x, View<const std::int64_t, 1> label,
                                         View<E, 1> y) const {
  const auto [rows, classes] = x.shape();
  check(label, classes);
  detail::List<double> losses(rows);
  each_row(rows, classes, [&](std::int64_t i) {
    const E* const row = x.data() + i * classes;
    const E top = detail::largest_of_row(row, classes, E(1));
    const E total = detail::sum_of_exponentials(row, classes, E(1), top, [](number::Vec<E>, std::int64_t, int) {});
    const E logarithm = (row[label[i]] - top) - number::Rep<E>::log(total);
    losses[i] = std::min(-static_cast<double>(logarithm), 18.420680743952367);  // −log 10⁻⁸
  });
  double loss = 0;
  for (const double one : losses) loss += one;
  y[0] = static_cast<E>(loss);
}

template <Real E>
inline void SoftmaxCrossEntropy::grad(Cpu&, Head<"output", View<const E, 1>> dy, In<"data", View<const E, 2>> x,
                                      In<"label", View<const std::int64_t, 1>> label,
                                      Grad<"data", View<E, 2>> dx) const {
  if (!dx) return;
  const auto [rows, classes] = x.shape();
  check(label, classes);
  const E head = dy[0];
  each_row(rows, classes, [&](std::int64_t i) {
    E* const to = dx.data() + i * classes;
    const E total = detail::exponentials_of_row(x.data() + i * classes, to, classes, E(1)), by = 1 / total;
    to[label[i]] -= total;
    detail::each_register(to, classes, E(0), [&](number::Vec<E> v, std::int64_t j, int count) {
      detail::store_part<E>(to + j, v * by * head, count);
    });
  });
}

template <class F>
inline void SoftmaxCrossEntropy::each_row(std::int64_t rows, std::int64_t classes, F f) {
  parallel_for(rows, (1 << 14) / std::max<std::int64_t>(1, classes) + 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) f(i);
  });
}

inline void SoftmaxCrossEntropy::check(View<const std::int64_t, 1> label, std::int64_t classes) {
  for (std::int64_t row = 0; row < label.size(); ++row)
    if (label[row] < 0 || label[row] >= classes)
      strop::fail(name, ": label ", label[row], " of row ", row, " is no class from 0 to ", classes - 1);
}

}  // namespace strop::inline v0
