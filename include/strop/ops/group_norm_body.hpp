// SPDX-License-Identifier: Apache-2.0
/// \file
/// Bodies of the operators of ops/group_norm.hpp, which only what builds their kernels reads.
#pragma once
#include <strop/engine/pool.hpp>
#include <strop/ops/group_norm.hpp>
#include <strop/ops/softmax_kernels_body.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace strop::inline v0 {

namespace detail {

inline namespace STROP_ISA {

/// Rows that lie together in memory, each with a mean and a variance, and a gain and a shift for row % gains.
template <class E>
struct RowNorm {
  std::int64_t rows = 0, length = 0, gains = 0;
  double eps = 0;
  bool root = false;  // √(var + eps) is kept instead of var

  /// groups of the channels, axis 1, of each example.
  static RowNorm of(Span<const std::int64_t> shape, std::int64_t groups, double epsilon, bool keeps_root) {
    const std::int64_t all = shape[0] * groups;
    return {all, all == 0 ? 0 : size(shape) / all, groups, epsilon, keeps_root};
  }

  void forward(const E* x, const E* gain, const E* beta, E* y, E* centre, E* spread) const {
    each([&](std::int64_t row) {
      const Moments m = moments(x + row * length, length);
      const double deviation = std::sqrt(m.variance + eps);
      centre[row] = static_cast<E>(m.mean);
      spread[row] = static_cast<E>(root ? deviation : m.variance);
      const E factor = static_cast<E>(static_cast<double>(gain[row % gains]) / deviation), average = centre[row],
              shift = static_cast<E>(static_cast<double>(beta[row % gains]) -
                                     (m.mean - static_cast<double>(average)) * static_cast<double>(factor));
      for (std::int64_t i = row * length; i < (row + 1) * length; ++i) y[i] = (x[i] - average) * factor + shift;
    });
  }
  /// Null where a gradient is not asked for.
  void backward(const E* dy, const E* x, const E* gain, const E* centre, const E* spread, E* dx, E* dgain,
                E* dbeta) const {
    List<HeadSums> sums(rows);
    each([&](std::int64_t row) {
      HeadSums s;
      for (std::int64_t i = row * length; i < (row + 1) * length; ++i) {
        const double distance = static_cast<double>(x[i] - centre[row]);
        s.plain += static_cast<double>(dy[i]);
        s.product += static_cast<double>(dy[i]) * distance;
        s.off += distance;
      }
      const double inverse =
          1 / (root ? static_cast<double>(spread[row]) : std::sqrt(static_cast<double>(spread[row]) + eps));
      const double n = static_cast<double>(length), lost = s.off / n;  // by the rounding of the mean
      s.product = (s.product - lost * s.plain) * inverse;              // Σ dy · normalised x
      sums[row] = s;
      if (dx == nullptr) return;
      // dx = gain / deviation · (dy − Σ dy / n − x̂ · Σ dy·x̂ / n)
      const double factor = static_cast<double>(gain[row % gains]) * inverse, slope = -factor * inverse * s.product / n;
      const E by_dy = static_cast<E>(factor), by_x = static_cast<E>(slope),
              shift = static_cast<E>(-factor * s.plain / n - slope * lost), average = centre[row];
      for (std::int64_t i = row * length; i < (row + 1) * length; ++i)
        dx[i] = by_dy * dy[i] + by_x * (x[i] - average) + shift;
    });
    for (std::int64_t g = 0; g < gains; ++g) {
      HeadSums total;
      for (std::int64_t row = g; row < rows; row += gains)
        total.plain += sums[row].plain, total.product += sums[row].product;
      if (dgain != nullptr) dgain[g] = static_cast<E>(total.product);
      if (dbeta != nullptr) dbeta[g] = static_cast<E>(total.plain);
    }
  }

 private:
  template <class F>
  void each(F f) const {
    parallel_for(rows, std::max<std::int64_t>(1, (1 << 14) / std::max<std::int64_t>(1, length)),
                 [&](std::int64_t begin, std::int64_t end) {
                   for (std::int64_t row = begin; row < end; ++row) f(row);
                 });
  }
  static std::int64_t size(Span<const std::int64_t> shape) {
    std::int64_t n = 1;
    for (std::int64_t extent : shape) n *= extent;
    return n;
  }
};

}  // namespace STROP_ISA

}  // namespace detail

template <Real E>
inline void GroupNorm::forward(Cpu&, View<const E> x, View<const E, 1> gain, View<const E, 1> beta, View<E> y,
                               View<E, 2> centre, View<E, 2> deviation) const {
  rows<E>(x.shape()).forward(x.data(), gain.data(), beta.data(), y.data(), centre.data(), deviation.data());
}

template <Real E>
inline void GroupNorm::grad(Cpu&, Head<"output", View<const E>> dy, In<"data", View<const E>> x,
                            In<"gamma", View<const E, 1>> gain, Out<"mean", View<const E, 2>> centre,
                            Out<"std", View<const E, 2>> deviation, Grad<"data", View<E>> dx,
                            Grad<"gamma", View<E, 1>> dgamma, Grad<"beta", View<E, 1>> dbeta) const {
  rows<E>(x.shape()).backward(dy.data(), x.data(), gain.data(), centre.data(), deviation.data(), dx.data(),
                              dgamma.data(), dbeta.data());
}

template <class E>
inline detail::RowNorm<E> GroupNorm::rows(detail::Span<const std::int64_t> shape) const {
  return detail::RowNorm<E>::of(shape, num_groups, static_cast<double>(eps), true);
}

template <Real E>
inline void InstanceNorm::forward(Cpu&, View<const E> x, View<const E, 1> gain, View<const E, 1> beta, View<E> y,
                                  View<E, 2> centre, View<E, 2> variance) const {
  rows<E>(x.shape()).forward(x.data(), gain.data(), beta.data(), y.data(), centre.data(), variance.data());
}

template <Real E>
inline void InstanceNorm::grad(Cpu&, Head<"output", View<const E>> dy, In<"data", View<const E>> x,
                               In<"gamma", View<const E, 1>> gain, Out<"mean", View<const E, 2>> centre,
                               Out<"var", View<const E, 2>> variance, Grad<"data", View<E>> dx,
                               Grad<"gamma", View<E, 1>> dgamma, Grad<"beta", View<E, 1>> dbeta) const {
  rows<E>(x.shape()).backward(dy.data(), x.data(), gain.data(), centre.data(), variance.data(), dx.data(),
                              dgamma.data(), dbeta.data());
}

template <class E>
inline detail::RowNorm<E> InstanceNorm::rows(detail::Span<const std::int64_t> shape) const {
  return detail::RowNorm<E>::of(shape, shape[1], static_cast<double>(eps), false);
}

template <Real E>
inline void L2Normalization::forward(Cpu&, View<const E> x, View<E> y, View<E> divisor) const {
  if (x.size() == 0) std::fill(divisor.begin(), divisor.end(), static_cast<E>(std::sqrt(static_cast<double>(eps))));
  const detail::AxisSplit s = split(x.shape());
  detail::each_row<1, E>(s, {x.data()}, y.data(), [&](const E* const(&in)[1], E* out, std::int64_t row) {
    double squares = static_cast<double>(eps);
    for (std::int64_t i = 0; i < s.length; ++i)
      squares += static_cast<double>(in[0][i]) * static_cast<double>(in[0][i]);
    const double root = std::sqrt(squares);
    divisor[row] = static_cast<E>(root);
    const E inverse = static_cast<E>(1 / root);
    for (std::int64_t i = 0; i < s.length; ++i) out[i] = in[0][i] * inverse;
  });
}

template <Real E>
inline void L2Normalization::grad(Cpu&, Head<"output", View<const E>> dy, Out<"output", View<const E>> y,
                                  Out<"norm", View<const E>> divisor, Grad<"data", View<E>> dx) const {
  if (!dx) return;
  const detail::AxisSplit s = split(y.shape());
  detail::each_row<2, E>(s, {dy.data(), y.data()}, dx.data(), [&](const E* const(&in)[2], E* out, std::int64_t row) {
    double product = 0;
    for (std::int64_t i = 0; i < s.length; ++i)
      product += static_cast<double>(in[0][i]) * static_cast<double>(in[1][i]);
    const E along = static_cast<E>(product), inverse = 1 / divisor[row];
    for (std::int64_t i = 0; i < s.length; ++i) out[i] = (in[0][i] - in[1][i] * along) * inverse;
  });
}

inline detail::AxisSplit L2Normalization::split(detail::Span<const std::int64_t> shape) const {
  if (mode == channel) return {shape, 1};
  std::int64_t flat[] = {1, 1};
  for (int i = 0; i < shape.size(); ++i) flat[i < (mode == instance ? 1 : 2) ? 0 : 1] *= shape[i];
  return {flat, 1};
}

}  // namespace strop::inline v0
