// SPDX-License-Identifier: Apache-2.0
/// \file
/// Bodies of the operators of ops/softmax.hpp, which only what builds their kernels reads.
#pragma once
#include <strop/core/checked.hpp>
#include <strop/ops/cast.hpp>
#include <strop/ops/cast_body.hpp>
#include <strop/ops/softmax.hpp>
#include <strop/ops/softmax_kernels_body.hpp>

#include <cstdint>

namespace strop::inline v0 {

namespace detail {

/// `length`, where given, says of each row how many of its elements count; the others become 0.
template <class E>
void run_softmax(const NDArray& x, View<const std::int64_t> length, const NDArray& y, int axis, double scale,
                 bool logarithm) {
  const AxisSplit split(x.shape(), axis);
  const NDArray out = y.dtype() == dtype_of<E> ? y : NDArray(y.shape(), dtype_of<E>);
  each_row<1, E>(split, {x.pointer<const E>()}, out.pointer<E>(), [&](const E* const(&in)[1], E* to, std::int64_t row) {
    std::int64_t count = split.length;
    if (length) count = std::clamp<std::int64_t>(length[row], 0, count);
    if (count != 0) softmax_row(in[0], to, count, static_cast<E>(scale), logarithm);
    std::fill(to + count, to + split.length, E(0));
  });
  if (!out.is(y)) assign(out, y);
}

/// Elements behind the end of a row have no part in it and no gradient.
template <class E>
void run_softmax_gradient(const NDArray& dy, View<const std::int64_t> length, const NDArray& y, const NDArray& dx,
                          int axis, double scale, bool logarithm) {
  const AxisSplit split(y.shape(), axis);
  const NDArray out = dx.dtype() == dtype_of<E> ? dx : NDArray(dx.shape(), dtype_of<E>);
  each_row<2, E>(split, {dy.pointer<const E>(), y.pointer<const E>()}, out.pointer<E>(),
                 [&](const E* const(&in)[2], E* to, std::int64_t row) {
                   std::int64_t count = split.length;
                   if (length) count = std::clamp<std::int64_t>(length[row], 0, count);
                   softmax_gradient_row(in[0], in[1], to, count, static_cast<E>(scale), logarithm);
                   std::fill(to + count, to + split.length, E(0));
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

inline Resources SoftmaxCrossEntropy::resources(std::span<const Shape> in) const {
  return {.temp_bytes = detail::checked_product(in[0][1], sizeof(double), name)};
}

template <Real E>
inline void SoftmaxCrossEntropy::forward(Cpu& ctx, View<const E, 2> x, View<const std::int64_t, 1> label,
                                         View<E, 1> y) const {
  const auto [rows, classes] = x.shape();
  View<E, 1> row = ctx.temp<E>(classes);
  double loss = 0;
  for (std::int64_t i = 0; i < rows; ++i) {
    detail::softmax_row(x.data() + i * classes, row.data(), classes, E(1), true);
    loss += std::min(-static_cast<double>(row[checked(label[i], i, classes)]), 18.420680743952367);  // −log 10⁻⁸
  }
  y[0] = static_cast<E>(loss);
}

template <Real E>
inline void SoftmaxCrossEntropy::grad(Cpu&, Head<"output", View<const E, 1>> dy, In<"data", View<const E, 2>> x,
                                      In<"label", View<const std::int64_t, 1>> label,
                                      Grad<"data", View<E, 2>> dx) const {
  if (!dx) return;
  const auto [rows, classes] = x.shape();
  for (std::int64_t i = 0; i < rows; ++i) {
    E* to = dx.data() + i * classes;
    detail::softmax_row(x.data() + i * classes, to, classes, E(1), false);
    to[checked(label[i], i, classes)] -= 1;
    for (std::int64_t j = 0; j < classes; ++j) to[j] *= dy[0];
  }
}

inline std::int64_t SoftmaxCrossEntropy::checked(std::int64_t label, std::int64_t row, std::int64_t classes) {
  if (label < 0 || label >= classes)
    strop::fail(name, ": label ", label, " of row ", row, " is no class from 0 to ", classes - 1);
  return label;
}

}  // namespace strop::inline v0
