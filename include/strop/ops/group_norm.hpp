// SPDX-License-Identifier: Apache-2.0
/// \file
/// Normalisations of parts of each example: GroupNorm, InstanceNorm and L2Normalization.
#pragma once
#include <strop/op/op.hpp>
#include <strop/ops/list.hpp>
#include <strop/ops/norm.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string_view>

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
        s.plain += static_cast<double>(dy[i]);
        s.product += static_cast<double>(dy[i]) * static_cast<double>(x[i] - centre[row]);
      }
      const double inverse =
          1 / (root ? static_cast<double>(spread[row]) : std::sqrt(static_cast<double>(spread[row]) + eps));
      s.product *= inverse;  // Σ dy · normalised x
      sums[row] = s;
      if (dx == nullptr) return;
      // dx = gain / deviation · (dy − Σ dy / n − x̂ · Σ dy·x̂ / n)
      const double factor = static_cast<double>(gain[row % gains]) * inverse, n = static_cast<double>(length);
      const E by_dy = static_cast<E>(factor), by_x = static_cast<E>(-factor * inverse * s.product / n),
              shift = static_cast<E>(-factor * s.plain / n), average = centre[row];
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

/// data (batch, channels, …), a gain and a shift for each of `groups` groups, statistics (batch, groups).
constexpr void infer_group_shape(Shapes& s, std::int64_t groups) {
  s.set_out(0, s.in(0));
  s.set_in(0, s.out(0));
  for (int i = 1; i < 3; ++i) {
    s.set_in(i, {groups});
    s.set_out(i, {s.in(0).has_rank() ? s.in(0)[0] : Shape::unknown_extent, groups});
  }
}
}  // namespace detail

/// GroupNorm: y = gamma · (x − mean) / √(var + eps) + beta, mean and var being those of a group of channels (axis 1) of
/// an example.
///
/// data (batch, channels, …), gamma and beta (num_groups,). Outputs: with `output_mean_var` also mean and √(var + eps),
/// (batch, num_groups). Floating types; of half data the others are float32. Sparse arrays by the dense fallback.
/// Error: fewer than 3 dimensions, channels are no multiple of num_groups.
///
/// Example: `group_norm(array({{{1}, {3}}}), ones({1}), zeros({1}))` is [[[-1], [1]]] but for eps.
struct GroupNorm {
  int num_groups = 1;
  float eps = 1e-5f;
  bool output_mean_var = false;

  static constexpr std::string_view inputs[] = {"data", "gamma", "beta"}, outputs[] = {"output", "mean", "std"};
  static constexpr const char* doc =
      "gamma · (x − mean) / √(var + eps) + beta with the mean and variance of a group of channels of each example.";
  static constexpr Note notes[] = {{"num_groups", "equal groups of the channels, axis 1"},
                                   {"eps", "keeps the divisor from 0"},
                                   {"output_mean_var", "the outputs mean and std are visible"}};
  static constexpr Range range[] = {{"num_groups", 1}};
  static constexpr Share inplace[] = {{0, 0}};

  static constexpr int visible = 1;  // what a call in C++ gives; invoke_all gives those that visible_count says
  constexpr int visible_count() const { return output_mean_var ? 3 : 1; }
  constexpr void infer_shape(Shapes& s) const {
    detail::infer_group_shape(s, num_groups);
    const Shape& x = s.in(0);
    if (!x.has_rank()) return;
    if (x.ndim() < 3) s.fail(s.name_in(0), " has shape ", x, ", expected 3 dimensions or more");
    if (x[1] >= 0 && x[1] % num_groups != 0)
      s.fail(s.name_in(0), " has ", x[1], " channels, expected a multiple of num_groups, ", num_groups);
  }
  constexpr void infer_type(Types& types) const { detail::infer_norm_type(types); }
  template <Real E>
  void forward(Cpu&, View<const E> x, View<const E, 1> gain, View<const E, 1> beta, View<E> y, View<E, 2> centre,
               View<E, 2> deviation) const {
    rows<E>(x.shape()).forward(x.data(), gain.data(), beta.data(), y.data(), centre.data(), deviation.data());
  }
  template <Real E>
  void grad(Cpu&, Head<"output", View<const E>> dy, In<"data", View<const E>> x, In<"gamma", View<const E, 1>> gain,
            Out<"mean", View<const E, 2>> centre, Out<"std", View<const E, 2>> deviation, Grad<"data", View<E>> dx,
            Grad<"gamma", View<E, 1>> dgamma, Grad<"beta", View<E, 1>> dbeta) const {
    rows<E>(x.shape()).backward(dy.data(), x.data(), gain.data(), centre.data(), deviation.data(), dx.data(),
                                dgamma.data(), dbeta.data());
  }

 private:
  template <class E>
  detail::RowNorm<E> rows(detail::Span<const std::int64_t> shape) const {
    return detail::RowNorm<E>::of(shape, num_groups, static_cast<double>(eps), true);
  }
};
inline constexpr Op<GroupNorm, OnUse> group_norm;

/// InstanceNorm: y = gamma · (x − mean) / √(var + eps) + beta, mean and var being those of a channel (axis 1) of an
/// example.
///
/// data (batch, channels, …), gamma and beta (channels,). Hidden outputs: mean and var, (batch, channels). Floating
/// types; of half data the others are float32. Sparse arrays by the dense fallback. Error: fewer than 3 dimensions.
///
/// Example: `instance_norm(array({{{1, 3}}}), ones({1}), zeros({1}))` is [[[-1, 1]]] but for eps.
struct InstanceNorm {
  float eps = 1e-3f;

  static constexpr std::string_view inputs[] = {"data", "gamma", "beta"}, outputs[] = {"output", "mean", "var"};
  static constexpr const char* doc =
      "gamma · (x − mean) / √(var + eps) + beta with the mean and variance of each channel of each example.";
  static constexpr Note notes[] = {{"eps", "keeps the divisor from 0"}};
  static constexpr Share inplace[] = {{0, 0}};
  static constexpr int visible = 1;

  constexpr void infer_shape(Shapes& s) const {
    const Shape& x = s.in(0).has_rank() ? s.in(0) : s.out(0);
    if (x.has_rank() && x.ndim() < 3) s.fail(s.name_in(0), " has shape ", x, ", expected 3 dimensions or more");
    detail::infer_group_shape(s, x.has_rank() ? x[1] : Shape::unknown_extent);
  }
  constexpr void infer_type(Types& types) const { detail::infer_norm_type(types); }
  template <Real E>
  void forward(Cpu&, View<const E> x, View<const E, 1> gain, View<const E, 1> beta, View<E> y, View<E, 2> centre,
               View<E, 2> variance) const {
    rows<E>(x.shape()).forward(x.data(), gain.data(), beta.data(), y.data(), centre.data(), variance.data());
  }
  template <Real E>
  void grad(Cpu&, Head<"output", View<const E>> dy, In<"data", View<const E>> x, In<"gamma", View<const E, 1>> gain,
            Out<"mean", View<const E, 2>> centre, Out<"var", View<const E, 2>> variance, Grad<"data", View<E>> dx,
            Grad<"gamma", View<E, 1>> dgamma, Grad<"beta", View<E, 1>> dbeta) const {
    rows<E>(x.shape()).backward(dy.data(), x.data(), gain.data(), centre.data(), variance.data(), dx.data(),
                                dgamma.data(), dbeta.data());
  }

 private:
  template <class E>
  detail::RowNorm<E> rows(detail::Span<const std::int64_t> shape) const {
    return detail::RowNorm<E>::of(shape, shape[1], static_cast<double>(eps), false);
  }
};
inline constexpr Op<InstanceNorm, OnUse> instance_norm;

/// L2Normalization: y = x / √(Σ x² + eps), summed over an example (`instance`), over the channels, axis 1, at each
/// place (`channel`), or over the places of each channel (`spatial`).
///
/// Any shape of one dimension or more, of the latter modes of three or more. Hidden output: norm, the divisor. Floating
/// types; sparse arrays by the dense fallback. Error: too few dimensions.
///
/// Example: `l2_normalization(array({{3, 4}}))` is [[0.6, 0.8]].
struct L2Normalization {
  enum Mode : int { instance, spatial, channel };
  float eps = 1e-10f;
  Mode mode = instance;

  static constexpr std::string_view outputs[] = {"output", "norm"};
  static constexpr const char* doc =
      "x / √(Σ x² + eps), summed over each example, over the channels of each place, or over the places of each "
      "channel.";
  static constexpr Note notes[] = {{"eps", "keeps the divisor from 0"}, {"mode", "what is summed over"}};
  static constexpr int visible = 1;

  constexpr void infer_shape(Shapes& s) const {
    s.set_out(0, s.in(0));
    s.set_in(0, s.out(0));
    const Shape& x = s.in(0);
    if (!x.has_rank()) return;
    const int least = mode == instance ? 1 : 3;
    if (x.ndim() < least)
      s.fail(s.name_in(0), " has shape ", x, ", expected ", least, least == 1 ? " dimension" : " dimensions",
             " or more");
    Shape divisors = x;
    if (mode == channel) divisors[1] = 1;
    if (mode != channel) divisors.resize(mode == instance ? 1 : 2);
    s.set_out(1, divisors);
  }
  template <Real E>
  void forward(Cpu&, View<const E> x, View<E> y, View<E> divisor) const {
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
  /// dx = (dy − y · Σ dy·y) / norm.
  template <Real E>
  void grad(Cpu&, Head<"output", View<const E>> dy, Out<"output", View<const E>> y, Out<"norm", View<const E>> divisor,
            Grad<"data", View<E>> dx) const {
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

 private:
  detail::AxisSplit split(detail::Span<const std::int64_t> shape) const {
    if (mode == channel) return {shape, 1};
    std::int64_t flat[] = {1, 1};
    for (int i = 0; i < shape.size(); ++i) flat[i < (mode == instance ? 1 : 2) ? 0 : 1] *= shape[i];
    return {flat, 1};
  }
};
inline constexpr Op<L2Normalization, OnUse> l2_normalization;

using GroupNormOps = OpList<GroupNorm, InstanceNorm, L2Normalization>;

}  // namespace strop::inline v0
