// SPDX-License-Identifier: Apache-2.0
/// \file
/// Normalisations: BatchNorm over the examples of a channel, LayerNorm over an axis of each example.
#pragma once
#include <strop/op/op.hpp>
#include <strop/ops/list.hpp>
#include <strop/ops/softmax_kernels.hpp>

#include <cstdint>
#include <optional>
#include <string_view>

namespace strop::inline v0 {

namespace detail {
/// Statistics and parameters of half data are float32.
template <int = 0>
constexpr void infer_norm_type(Types& types) {
  types.set_out(0, types.in(0));
  types.set_in(0, types.out(0));
  if (!types.in(0)) return;
  const Dtype inner = is_half(*types.in(0)) ? f32 : *types.in(0);
  for (int i = 1; i < types.inputs(); ++i)
    if (!types.in(i)) types.set_in(i, inner);
  for (int i = 1; i < types.outputs(); ++i) types.set_out(i, inner);
}
template <int = 0>
constexpr int norm_axis(const Shapes& shapes, int axis) {
  const Shape& x = shapes.in(0);
  return positive_axis(
      axis, x.ndim(), [&] { shapes.fail("axis ", axis, " is outside ", shapes.name_in(0), " of shape ", to_text(x)); });
}
}  // namespace detail

/// BatchNorm: y = gamma · (x − mean) / √(var + eps) + beta, for each channel along `axis`.
///
/// In training mean and var are those of the channel's elements, and moving_mean and moving_var become momentum ·
/// moving + (1 − momentum) · batch; otherwise, or with `use_global_stats`, they are moving_mean and moving_var. With
/// `fix_gamma` gamma counts as 1 and has no gradient. Inputs data, gamma, beta, moving_mean, moving_var: all but data
/// have one element per channel. Outputs: with `output_mean_var` also mean and 1 / √(var + eps). Floating types; of
/// half data the others are float32. Sparse arrays by the dense fallback. Error: the axis is outside, extents do not
/// agree.
///
/// BatchNorm_v1 is the same in MXNet but for the output var, which there is the variance itself.
///
/// Example: `batch_norm(x, gamma, beta, moving_mean, moving_var, {.fix_gamma = false})`.
struct BatchNorm {
  double eps = 1e-3;
  float momentum = 0.9f;
  bool fix_gamma = true, use_global_stats = false, output_mean_var = false;
  int axis = 1;
  bool cudnn_off = false;
  std::optional<float> min_calib_range = {}, max_calib_range = {};

  static constexpr std::string_view aliases[] = {"_npx_batch_norm", "BatchNorm_v1"};
  static constexpr std::string_view inputs[] = {"data", "gamma", "beta", "moving_mean", "moving_var"},
                                    outputs[] = {"output", "mean", "var"};
  static constexpr std::string_view mutates[] = {"moving_mean", "moving_var"};
  static constexpr const char* doc =
      "gamma · (x − mean) / √(var + eps) + beta for each channel along axis; in training with the statistics of the "
      "batch, "
      "which move moving_mean and moving_var, otherwise with those.";
  static constexpr Note notes[] = {
      {"eps", "keeps the divisor from 0"},
      {"momentum", "part of the moving statistics that stays at each update"},
      {"fix_gamma", "gamma counts as 1"},
      {"use_global_stats", "the moving statistics serve in training as well"},
      {"output_mean_var", "the outputs mean and var, the latter as 1 / √(var + eps), are visible"},
      {"axis", "the axis of the channels"},
      {"cudnn_off", "has no effect"},
      {"min_calib_range", "has no effect"},
      {"max_calib_range", "has no effect"}};

  // Once the statistics are known, each element is read alone.
  static constexpr Share inplace[] = {{0, 0}}, gradient_inplace[] = {{0, 0}};

  static constexpr int visible = 1;  // what a call in C++ gives; invoke_all gives those that visible_count says
  constexpr int visible_count() const { return output_mean_var ? 3 : 1; }
  template <int = 0>
  constexpr void infer_shape(Shapes& shapes) const {
    shapes.set_out(0, shapes.in(0));
    shapes.set_in(0, shapes.out(0));
    if (!shapes.in(0).has_rank()) return;
    const Shape channels{shapes.in(0)[detail::norm_axis(shapes, axis)]};
    for (int i = 1; i < 5; ++i) shapes.set_in(i, channels);
    for (int i = 1; i < 3; ++i) shapes.set_out(i, channels);
  }
  constexpr void infer_type(Types& types) const { detail::infer_norm_type(types); }

  template <Real E>
  void forward(Cpu& ctx, View<const E> x, View<const E, 1> gain, View<const E, 1> beta, View<E, 1> moving_mean,
               View<E, 1> moving_var, View<E> y, View<E, 1> centre, View<E, 1> scaling) const;
  /// forward, whose last result is 1 / √(var + eps) or the variance.
  template <Real E>
  void normalize(bool gives_variance, Cpu& ctx, View<const E> x, View<const E, 1> gain, View<const E, 1> beta,
                 View<E, 1> moving_mean, View<E, 1> moving_var, View<E> y, View<E, 1> centre, View<E, 1> spread) const;

  template <Real E>
  void grad(Cpu& ctx, Head<"output", View<const E>> dy, In<"data", View<const E>> x, In<"gamma", View<const E, 1>> gain,
            Out<"mean", View<const E, 1>> centre, Out<"var", View<const E, 1>> scaling, Grad<"data", View<E>> dx,
            Grad<"gamma", View<E, 1>> dgamma, Grad<"beta", View<E, 1>> dbeta) const;

 private:
  detail::AxisSplit split(detail::Span<const std::int64_t> shape) const;
};
inline constexpr Op<BatchNorm, OnUse> batch_norm;

/// Of data that several devices share; here there is one. Inputs, outputs, types and errors are BatchNorm's, but the
/// output var is the variance itself.
///
/// Example: `sync_batch_norm(x, gamma, beta, moving_mean, moving_var, {.key = "bn1"})`.
struct SyncBatchNorm {
  double eps = 1e-3;
  float momentum = 0.9f;
  bool fix_gamma = true, use_global_stats = false, output_mean_var = false;
  int ndev = 1;
  std::string key = {};

  static constexpr std::string_view name = "_contrib_SyncBatchNorm", aliases[] = {"sync_batch_norm"};
  static constexpr std::string_view inputs[] = {"data", "gamma", "beta", "moving_mean", "moving_var"},
                                    outputs[] = {"output", "mean", "var"};
  static constexpr std::string_view mutates[] = {"moving_mean", "moving_var"};
  static constexpr const char* doc = "BatchNorm along axis 1; the output var is the variance.";
  static constexpr Note notes[] = {{"eps", "keeps the divisor from 0"},
                                   {"momentum", "part of the moving statistics that stays at each update"},
                                   {"fix_gamma", "gamma counts as 1"},
                                   {"use_global_stats", "the moving statistics serve in training as well"},
                                   {"output_mean_var", "the outputs mean and var are visible"},
                                   {"ndev", "has no effect"},
                                   {"key", "has no effect"}};

  static constexpr Share inplace[] = {{0, 0}}, gradient_inplace[] = {{0, 0}};

  static constexpr int visible = 1;
  constexpr int visible_count() const { return output_mean_var ? 3 : 1; }
  constexpr void infer_shape(Shapes& shapes) const { one().infer_shape(shapes); }
  constexpr void infer_type(Types& types) const { one().infer_type(types); }

  template <Real E>
  void forward(Cpu& ctx, View<const E> x, View<const E, 1> gain, View<const E, 1> beta, View<E, 1> moving_mean,
               View<E, 1> moving_var, View<E> y, View<E, 1> centre, View<E, 1> variance) const;

  template <Real E>
  void grad(Cpu& ctx, Head<"output", View<const E>> dy, In<"data", View<const E>> x, In<"gamma", View<const E, 1>> gain,
            Out<"mean", View<const E, 1>> centre, Out<"var", View<const E, 1>> variance, Grad<"data", View<E>> dx,
            Grad<"gamma", View<E, 1>> dgamma, Grad<"beta", View<E, 1>> dbeta) const;

 private:
  template <int = 0>
  constexpr BatchNorm one() const {
    return {.eps = eps,
            .momentum = momentum,
            .fix_gamma = fix_gamma,
            .use_global_stats = use_global_stats,
            .output_mean_var = output_mean_var};
  }
};
inline constexpr Op<SyncBatchNorm, OnUse> sync_batch_norm;

/// LayerNorm: y = gamma · (x − mean) / √(var + eps) + beta, mean and var being those along `axis`.
///
/// Inputs data, gamma, beta: the latter have one element per element of the axis. Outputs: with `output_mean_var` also
/// mean and √(var + eps), in data's shape with extent 1 at the axis. Floating types; sparse arrays by the dense
/// fallback. Error: the axis is outside, extents do not agree.
///
/// Example: `layer_norm(array({{1, 3}}), ones({2}), zeros({2}))` is [[-1, 1]] but for eps.
struct LayerNorm {
  int axis = -1;
  float eps = 1e-5f;
  bool output_mean_var = false;

  static constexpr std::string_view aliases[] = {"_npx_layer_norm"};
  static constexpr std::string_view inputs[] = {"data", "gamma", "beta"}, outputs[] = {"output", "mean", "std"};
  static constexpr const char* doc = "gamma · (x − mean) / √(var + eps) + beta with the mean and variance along axis.";
  static constexpr Note notes[] = {{"axis", "the axis that is normalised; negative: from the last"},
                                   {"eps", "keeps the divisor from 0"},
                                   {"output_mean_var", "the outputs mean and std are visible"}};
  static constexpr Share inplace[] = {{0, 0}}, gradient_inplace[] = {{0, 0}, {1, 0}};

  static constexpr int visible = 1;  // what a call in C++ gives; invoke_all gives those that visible_count says
  constexpr int visible_count() const { return output_mean_var ? 3 : 1; }
  template <int = 0>
  constexpr void infer_shape(Shapes& shapes) const {
    shapes.set_out(0, shapes.in(0));
    shapes.set_in(0, shapes.out(0));
    if (!shapes.in(0).has_rank()) return;
    const int at = detail::norm_axis(shapes, axis);
    Shape statistics = shapes.in(0);
    for (int i = 1; i < 3; ++i) shapes.set_in(i, {statistics[at]});
    statistics[at] = 1;
    for (int i = 1; i < 3; ++i) shapes.set_out(i, statistics);
  }
  constexpr void infer_type(Types& types) const { detail::infer_norm_type(types); }

  template <Real E>
  void forward(Cpu&, View<const E> x, View<const E, 1> gain, View<const E, 1> beta, View<E> y, View<E> centre,
               View<E> deviation) const;

  template <Real E>
  void grad(Cpu&, Head<"output", View<const E>> dy, In<"data", View<const E>> x, In<"gamma", View<const E, 1>> gain,
            Out<"mean", View<const E>> centre, Out<"std", View<const E>> deviation, Grad<"data", View<E>> dx,
            Grad<"gamma", View<E, 1>> dgamma, Grad<"beta", View<E, 1>> dbeta) const;

 private:
  detail::AxisSplit split(detail::Span<const std::int64_t> shape) const;
};
inline constexpr Op<LayerNorm, OnUse> layer_norm;

using NormOps = OpList<BatchNorm, SyncBatchNorm, LayerNorm>;

}  // namespace strop::inline v0

#if !defined(STROP_OPERATORS_COMPILED) || defined(__CUDACC__)
#include <strop/ops/norm_body.hpp>
#endif
