// SPDX-License-Identifier: Apache-2.0
/// \file
/// Deconvolution: the transposed convolution, whose forward is Convolution's gradient of data and the reverse.
#pragma once
#include <strop/op/op.hpp>
#include <strop/ops/convolution.hpp>
#include <strop/ops/list.hpp>
#include <strop/ops/windows.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace strop::inline v0 {

/// Deconvolution: each element of data adds the weights of its channel times itself to a window of the output, y(n, f,
/// i · stride + k · dilate − pad) += x(n, c, i) · w(c, f, k), and bias.
///
/// data (batch, channels, …) with one to three spatial axes, weight (channels, num_filter / num_group, kernel…), bias
/// (num_filter,) unless `no_bias`; output (batch, num_filter, …) of extents (x − 1) · stride + dilate · (kernel − 1) +
/// 1 − 2 · pad + adj, or `target_shape`, of which pad and adj then follow. Floating types; sparse arrays by the dense
/// fallback. The gradient needs data and weight. Error: kernel or num_filter is missing, a list has not one number per
/// axis, adj is not below the stride, the target is larger than what windows reach, channels or num_filter are no
/// multiple of num_group, the layout has the channels last.
///
/// Example: `deconvolution(array({{{1, 2}}}), array({{{1, 10}}}), {.kernel = {2}, .num_filter = 1})` is [[[1, 12,
/// 20]]].
struct Deconvolution {
  enum Tune : int { off, limited_workspace, fastest };
  enum Layout : int { NCW, NCHW, NCDHW, NHWC, NDHWC };
  Required<Shape> kernel = {};
  Shape stride = {}, dilate = {}, pad = {}, adj = {}, target_shape = {};
  Required<int> num_filter = {};
  int num_group = 1;
  std::int64_t workspace = 512;
  bool no_bias = true;
  std::optional<Tune> cudnn_tune = {};
  bool cudnn_off = false;
  std::optional<Layout> layout = {};

  static constexpr std::string_view aliases[] = {"_npx_deconvolution"};
  static constexpr std::string_view inputs[] = {"data", "weight", "bias"};
  static constexpr const char* doc =
      "The transposed convolution: each element of data adds its channel's weights, times itself, to a window of the "
      "output. data (batch, channels, …), weight (channels, num_filter / num_group, kernel…), bias (num_filter,), "
      "output (batch, num_filter, …).";
  static constexpr Note notes[] = {{"kernel", "extents of a window, one per spatial axis"},
                                   {"stride", "from window to window; 1 without it"},
                                   {"dilate", "from element to element of a window; 1 without it"},
                                   {"pad", "what is cut off before and after each axis; 0 without it"},
                                   {"adj", "what is added behind each axis, below the stride; 0 without it"},
                                   {"target_shape", "the output's spatial extents, instead of pad and adj"},
                                   {"num_filter", "channels of the output"},
                                   {"num_group", "groups of channels, each with weights of its own"},
                                   {"workspace", "has no effect"},
                                   {"no_bias", "there is no bias"},
                                   {"cudnn_tune", "has no effect"},
                                   {"cudnn_off", "has no effect"},
                                   {"layout", "order of the axes: batch, channels, then the spatial ones"}};
  static constexpr Range range[] = {{"num_filter", 1, 100000}, {"num_group", 1}, {"workspace", 0, 8192}};

  constexpr int input_count() const { return no_bias ? 2 : 3; }

  template <int = 0>  // built where it is called: it writes words of an enumeration
  constexpr void infer_shape(Shapes& s) const {
    const Shape& size = *kernel;
    const int rank = size.ndim();
    Shape data = detail::checked_images(*this, s), weight = Shape::filled(rank + 2, Shape::unknown_extent),
          out = weight;
    detail::check_steps(s, "adj", adj, rank, 0);
    detail::check_steps(s, "target_shape", target_shape, rank, 0);
    for (int i = 0; i < adj.ndim() && !has_target(); ++i)
      if (adj[i] >= detail::step_of(stride, i, 1))
        s.fail("adj = ", adj, ", expected numbers below those of stride, which is ", detail::step_of(stride, i, 1),
               " on axis ", i);
    weight[0] = data[1];
    weight[1] = *num_filter / num_group;
    for (int i = 0; i < rank; ++i) weight[i + 2] = size[i];
    s.set_in(1, weight);
    if (!no_bias) s.set_in(2, {*num_filter});
    data[1] = s.in(1)[0];
    out[0] = data[0];
    out[1] = *num_filter;
    for (int i = 0; i < rank; ++i) {
      if (data[i + 2] < 0) continue;
      const std::int64_t reached = reach(s.op(), i, data[i + 2]);
      if (has_target() && reached < target_shape[i])
        s.fail("target_shape = ", target_shape, ", expected at most ", reached, " on axis ", i);
      const std::int64_t cut = has_target() ? reached - target_shape[i] : 2 * detail::step_of(pad, i, 0);
      out[i + 2] = has_target() ? target_shape[i] : reached - cut + detail::step_of(adj, i, 0);
      if (out[i + 2] < 0)
        s.fail("axis ", i + 2, " of ", s.name_in(0), " has extent ", data[i + 2], ", whose windows reach ", reached,
               ", and pad cuts off ", cut);
    }
    s.set_out(0, out);
    data[0] = s.out(0)[0];
    s.set_in(0, data);
  }

  double operations(std::span<const Shape> in) const;
  double gradient_operations(std::span<const Shape> takes) const;

  static constexpr bool accumulates = true, gradient_accumulates = true;
  template <Real E>
  void forward(Cpu& ctx, View<const E> x, View<const E> weight, View<const E, 1> bias, View<E> y) const;
  template <Real E>
  void grad(Cpu& ctx, Head<"output", View<const E>> dy, In<"data", View<const E>> x, In<"weight", View<const E>> weight,
            Grad<"data", View<E>> dx, Grad<"weight", View<E>> dw, Grad<"bias", View<E, 1>> db) const;

 private:
  template <int = 0>
  constexpr bool has_target() const {
    for (std::int64_t extent : target_shape)
      if (extent != 0) return true;
    return false;
  }
  /// What the windows of n elements along axis i cover.
  template <int = 0>
  constexpr std::int64_t reach(std::string_view op, int i, std::int64_t n) const {
    const std::int64_t last = detail::checked_product(detail::step_of(stride, i, 1), n - 1, op),
                       covered = detail::checked_product(detail::step_of(dilate, i, 1), (*kernel)[i] - 1, op);
    return detail::checked_sum(detail::checked_sum(last, covered, op), 1, op);
  }
  /// The convolution that leads from y to x.
  template <class E>
  detail::Convolver<E> convolver(std::span<const std::int64_t> x, std::span<const std::int64_t> y) const;
};
inline constexpr Op<Deconvolution, OnUse> deconvolution;

using DeconvolutionOps = OpList<Deconvolution>;

}  // namespace strop::inline v0

#if !defined(STROP_OPERATORS_COMPILED) || defined(__CUDACC__)
#include <strop/ops/deconvolution_body.hpp>
#endif
