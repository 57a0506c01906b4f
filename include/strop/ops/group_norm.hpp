// SPDX-License-Identifier: Apache-2.0
/// \file
/// Normalisations of parts of each example: GroupNorm, InstanceNorm and L2Normalization.
#pragma once
#include <strop/op/op.hpp>
#include <strop/ops/list.hpp>
#include <strop/ops/norm.hpp>
#include <strop/ops/softmax_kernels.hpp>

#include <cstdint>
#include <string_view>

namespace strop::inline v0 {

namespace detail {
inline namespace STROP_ISA {

template <class E>
struct RowNorm;

}  // namespace STROP_ISA

/// data (batch, channels, …), a gain and a shift for each of `groups` groups, statistics (batch, groups).
template <int = 0>
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
  static constexpr Share inplace[] = {{0, 0}}, gradient_inplace[] = {{0, 0}, {1, 0}};

  static constexpr int visible = 1;  // what a call in C++ gives; invoke_all gives those that visible_count says
  constexpr int visible_count() const { return output_mean_var ? 3 : 1; }
  template <int = 0>
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
               View<E, 2> deviation) const;
  template <Real E>
  void grad(Cpu&, Head<"output", View<const E>> dy, In<"data", View<const E>> x, In<"gamma", View<const E, 1>> gain,
            Out<"mean", View<const E, 2>> centre, Out<"std", View<const E, 2>> deviation, Grad<"data", View<E>> dx,
            Grad<"gamma", View<E, 1>> dgamma, Grad<"beta", View<E, 1>> dbeta) const;

 private:
  template <class E>
  detail::RowNorm<E> rows(detail::Span<const std::int64_t> shape) const;
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
  static constexpr Share inplace[] = {{0, 0}}, gradient_inplace[] = {{0, 0}, {1, 0}};
  static constexpr int visible = 1;

  template <int = 0>
  constexpr void infer_shape(Shapes& s) const {
    const Shape& x = s.in(0).has_rank() ? s.in(0) : s.out(0);
    if (x.has_rank() && x.ndim() < 3) s.fail(s.name_in(0), " has shape ", x, ", expected 3 dimensions or more");
    detail::infer_group_shape(s, x.has_rank() ? x[1] : Shape::unknown_extent);
  }
  constexpr void infer_type(Types& types) const { detail::infer_norm_type(types); }
  template <Real E>
  void forward(Cpu&, View<const E> x, View<const E, 1> gain, View<const E, 1> beta, View<E> y, View<E, 2> centre,
               View<E, 2> variance) const;
  template <Real E>
  void grad(Cpu&, Head<"output", View<const E>> dy, In<"data", View<const E>> x, In<"gamma", View<const E, 1>> gain,
            Out<"mean", View<const E, 2>> centre, Out<"var", View<const E, 2>> variance, Grad<"data", View<E>> dx,
            Grad<"gamma", View<E, 1>> dgamma, Grad<"beta", View<E, 1>> dbeta) const;

 private:
  template <class E>
  detail::RowNorm<E> rows(detail::Span<const std::int64_t> shape) const;
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

  template <int = 0>
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
  void forward(Cpu&, View<const E> x, View<E> y, View<E> divisor) const;
  static constexpr Share gradient_inplace[] = {{0, 0}, {1, 0}};
  /// dx = (dy − y · Σ dy·y) / norm.
  template <Real E>
  void grad(Cpu&, Head<"output", View<const E>> dy, Out<"output", View<const E>> y, Out<"norm", View<const E>> divisor,
            Grad<"data", View<E>> dx) const;

 private:
  detail::AxisSplit split(detail::Span<const std::int64_t> shape) const;
};
inline constexpr Op<L2Normalization, OnUse> l2_normalization;

using GroupNormOps = OpList<GroupNorm, InstanceNorm, L2Normalization>;

}  // namespace strop::inline v0

#if !defined(STROP_OPERATORS_COMPILED) || defined(__CUDACC__)
#include <strop/ops/group_norm_body.hpp>
#endif
