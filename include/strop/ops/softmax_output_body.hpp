// SPDX-License-Identifier: Apache-2.0
/// \file
/// Bodies of the operators of ops/softmax_output.hpp, which only what builds their kernels reads.
#pragma once
#include <strop/ops/softmax_kernels_body.hpp>
#include <strop/ops/softmax_output.hpp>

#include <algorithm>
#include <cstdint>

namespace strop::inline v0 {

template <Real E>
inline void SoftmaxOutput::forward(Cpu&, View<const E> x, const NDArray&, View<E> y) const {
  if (x.size() == 0) return;
  detail::each_row<1, E>(split(x.shape()), {x.data()}, y.data(),
                         [n = split(x.shape()).length](const E* const(&in)[1], E* out, std::int64_t) {
                           detail::softmax_row(in[0], out, n, E(1), false);
                         });
}

template <Real E>
inline void SoftmaxOutput::grad(Cpu&, In<"label", View<const double>> label, Out<"output", View<const E>> y,
                                Grad<"data", View<E>> dx) const {
  if (!dx || y.size() == 0) return;
  if (out_grad) strop::fail("softmax_output: out_grad = True has no gradient: a loss takes no head gradient");
  if (std::ranges::equal(label.shape(), y.shape())) {
    for (std::int64_t i = 0; i < y.size(); ++i) dx[i] = static_cast<E>((y[i] - label[i]) * grad_scale);
    return;
  }
  const detail::AxisSplit s = split(y.shape());
  const auto ignored = convert<std::int64_t>(ignore_label);
  const E scale = static_cast<E>(grad_scale / divisor(label, s.inner));
  const E rest = smooth_alpha != 0 && !multi_output && s.length > 1
                     ? static_cast<E>(smooth_alpha / static_cast<float>(s.length - 1))
                     : E(0);
  const E mine = E(1) - (multi_output ? E(0) : static_cast<E>(smooth_alpha));
  detail::each_row<1, E>(s, {y.data()}, dx.data(), [&](const E* const(&in)[1], E* out, std::int64_t row) {
    const auto k = convert<std::int64_t>(label[row]);
    if (use_ignore && k == ignored) return std::fill(out, out + s.length, E(0)), void();
    for (std::int64_t j = 0; j < s.length; ++j) out[j] = (in[0][j] - rest) * scale;
    if (k >= 0 && k < s.length) out[k] = (in[0][k] - mine) * scale;
  });
}

inline detail::AxisSplit SoftmaxOutput::split(detail::Span<const std::int64_t> shape) const {
  const int last = static_cast<int>(shape.size()) - 1;
  if (multi_output) return {shape, 1};
  if (preserve_shape || last < 1) return {shape, last};
  std::int64_t classes = 1;
  for (int i = 1; i <= last; ++i) classes *= shape[i];
  const std::int64_t flat[] = {shape[0], classes};
  return {flat, 1};
}

inline double SoftmaxOutput::divisor(View<const double> label, std::int64_t inner) const {
  if (normalization == null) return static_cast<double>(multi_output ? inner : 1);
  if (normalization == batch) return static_cast<double>(label.size());
  std::int64_t count = 0;
  for (double l : label) count += convert<std::int64_t>(l) != convert<std::int64_t>(ignore_label) ? 1 : 0;
  return static_cast<double>(std::max<std::int64_t>(1, count));
}

}  // namespace strop::inline v0
