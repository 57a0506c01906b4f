// SPDX-License-Identifier: Apache-2.0
/// \file
/// Bodies of the operators of ops/svm_output.hpp, which only what builds their kernels reads.
#pragma once
#include <strop/engine/pool.hpp>
#include <strop/ops/softmax_kernels_body.hpp>
#include <strop/ops/svm_output.hpp>

#include <algorithm>
#include <cstdint>

namespace strop::inline v0 {

template <Real E>
inline void SVMOutput::forward(Cpu&, View<const E> x, const NDArray&, View<E> y) const {
  if (x.data() != y.data()) std::copy(x.begin(), x.end(), y.begin());
}

template <Real E>
inline void SVMOutput::grad(Cpu&, In<"label", View<const double>> label, Out<"output", View<const E>> y,
                            Grad<"data", View<E>> dx) const {
  if (!dx || y.size() == 0) return;
  const std::int64_t classes = y.shape().back(), rows = y.size() / classes;
  const E scale = static_cast<E>(regularization_coefficient), most = static_cast<E>(margin);
  parallel_for(rows, std::max<std::int64_t>(1, (1 << 15) / classes), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row) {
      const auto k = convert<std::int64_t>(label[row]);
      for (std::int64_t j = 0; j < classes; ++j) {
        const std::int64_t i = row * classes + j;
        const E side = j == k ? E(1) : E(-1), missing = most - side * y[i];
        dx[i] = missing > 0 ? -side * scale * (use_linear ? E(1) : 2 * missing) : E(0);
      }
    }
  });
}

template <Real E>
inline void SoftmaxActivation::forward(Cpu&, View<const E> x, View<E> y) const {
  const detail::AxisSplit s = split(x.shape());
  detail::each_row<1, E>(s, {x.data()}, y.data(), [n = s.length](const E* const(&in)[1], E* out, std::int64_t) {
    detail::softmax_row(in[0], out, n, E(1), false);
  });
}

template <Real E>
inline void SoftmaxActivation::grad_use_out(Cpu&, View<const E> dy, View<const E> y, View<E> dx) const {
  const detail::AxisSplit s = split(y.shape());
  detail::each_row<2, E>(s, {dy.data(), y.data()}, dx.data(),
                         [n = s.length](const E* const(&in)[2], E* out, std::int64_t) {
                           detail::softmax_gradient_row(in[0], in[1], out, n, E(1), false);
                         });
}

inline detail::AxisSplit SoftmaxActivation::split(detail::Span<const std::int64_t> shape) const {
  return {shape, mode == channel ? 1 : -1};
}

}  // namespace strop::inline v0
