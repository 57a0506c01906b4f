// SPDX-License-Identifier: Apache-2.0
/// \file
/// Convolution of images of one, two or three spatial axes. `strop info --convolutions` says how it is computed.
#pragma once
#include <strop/core/checked.hpp>
#include <strop/op/op.hpp>
#include <strop/ops/list.hpp>
#include <strop/ops/windows.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

namespace strop::inline v0 {

namespace detail {
inline namespace STROP_ISA {

template <class E>
struct Convolver;

}  // namespace STROP_ISA

/// What Convolution and Deconvolution ask of their parameters and of data; its shape as far as it is known.
template <class C>
constexpr Shape checked_images(const C& op, Shapes& s) {
  using Layout = typename C::Layout;
  const int rank = (*op.kernel).ndim();
  check_kernel(s, *op.kernel);
  check_steps(s, "stride", op.stride, rank, 1);
  check_steps(s, "dilate", op.dilate, rank, 1);
  check_steps(s, "pad", op.pad, rank, 0);
  if (op.layout && *op.layout != rank - 1)
    s.fail("layout is ", word_of(*op.layout), ", expected ", word_of(static_cast<Layout>(rank - 1)));
  if (*op.num_filter % op.num_group != 0)
    s.fail("num_filter is ", *op.num_filter, ", expected a multiple of num_group, ", op.num_group);
  s.expect_rank(0, rank + 2);
  Shape data = Shape::filled(rank + 2, Shape::unknown_extent);
  unify(data, s.in(0));
  if (data[1] >= 0 && data[1] % op.num_group != 0)
    s.fail(s.name_in(0), " has ", data[1], " channels, expected a multiple of num_group, ", op.num_group);
  return data;
}
}  // namespace detail

/// Convolution: y(n, f, o) = b(f) + Σ w(f, c, k) · x(n, c, o · stride + k · dilate − pad), summed over the places k of
/// the kernel and the channels c of f's group; o and k have one, two or three axes.
///
/// data (batch, channels, …), weight (num_filter, channels / num_group, kernel…), bias (num_filter,) unless `no_bias`;
/// output (batch, num_filter, …) of extents (x + 2 · pad − dilate · (kernel − 1) − 1) / stride + 1, rounded down. What
/// lies outside of data counts as 0. Floating types; sparse arrays by the dense fallback. The gradient needs data and
/// weight, and has gradients of every order. Error: kernel or num_filter is missing, a list has not one number per
/// axis, a window covers more than the padded data, channels or num_filter are no multiple of num_group, the layout has
/// the channels last.
///
/// Example: `convolution(array({{{1, 2, 3}}}), array({{{1, 10}}}), {.kernel = {2}, .num_filter = 1, .no_bias = true})`
/// is
/// [[[21, 32]]].
struct Convolution {
  enum Tune : int { off, limited_workspace, fastest };
  enum Layout : int { NCW, NCHW, NCDHW, NHWC, NDHWC };
  Required<Shape> kernel = {};
  Shape stride = {}, dilate = {}, pad = {};
  Required<int> num_filter = {};
  int num_group = 1;
  std::int64_t workspace = 1024;
  bool no_bias = false;
  std::optional<Tune> cudnn_tune = {};
  bool cudnn_off = false;
  std::optional<Layout> layout = {};

  static constexpr std::string_view aliases[] = {"_npx_convolution", "Convolution_v1"};
  static constexpr std::string_view inputs[] = {"data", "weight", "bias"};
  static constexpr const char* doc =
      "At each place of an image the sum of the elements in a window times the weights of a filter, plus bias. "
      "data (batch, channels, …) with one to three spatial axes, weight (num_filter, channels / num_group, kernel…), "
      "bias (num_filter,), output (batch, num_filter, …).";
  static constexpr Note notes[] = {{"kernel", "extents of a window, one per spatial axis"},
                                   {"stride", "from window to window; 1 without it"},
                                   {"dilate", "from element to element of a window; 1 without it"},
                                   {"pad", "zeros before and after each axis; 0 without it"},
                                   {"num_filter", "channels of the output"},
                                   {"num_group", "groups of channels, each with filters of its own"},
                                   {"workspace", "has no effect"},
                                   {"no_bias", "there is no bias"},
                                   {"cudnn_tune", "has no effect"},
                                   {"cudnn_off", "has no effect"},
                                   {"layout", "order of the axes: batch, channels, then the spatial ones"}};
  static constexpr Range range[] = {{"num_filter", 1, 100000}, {"num_group", 1}, {"workspace", 0, 8192}};
  static constexpr bool accumulates = true, gradient_accumulates = true;

  constexpr int input_count() const { return no_bias ? 2 : 3; }

  template <int = 0>  // built where it is called: it writes words of an enumeration
  constexpr void infer_shape(Shapes& s) const {
    const Shape& size = *kernel;
    const int rank = size.ndim();
    Shape data = detail::checked_images(*this, s), weight = Shape::filled(rank + 2, Shape::unknown_extent);
    weight[0] = *num_filter;
    if (data[1] >= 0) weight[1] = data[1] / num_group;
    for (int i = 0; i < rank; ++i) weight[i + 2] = size[i];
    s.set_in(1, weight);
    if (!no_bias) s.set_in(2, {*num_filter});
    if (s.in(1)[1] >= 0) data[1] = detail::checked_product(s.in(1)[1], num_group, s.op());
    Shape out = Shape::filled(rank + 2, Shape::unknown_extent);
    out[0] = data[0];
    out[1] = *num_filter;
    for (int i = 2; i < rank + 2; ++i)
      if (data[i] >= 0)
        out[i] = detail::window_room(s, i, data[i], detail::step_of(pad, i - 2, 0), covered(s, i - 2)) /
                     detail::step_of(stride, i - 2, 1) +
                 1;
    s.set_out(0, out);
    data[0] = s.out(0)[0];
    for (int i = 2; i < rank + 2; ++i)  // of a stride of 1 the data's extent follows from the result's
      if (data[i] < 0 && s.out(0)[i] >= 0 && detail::step_of(stride, i - 2, 1) == 1)
        data[i] = detail::larger(0, detail::checked_sum(s.out(0)[i] - 1, covered(s, i - 2), s.op()) -
                                        detail::checked_product(2, detail::step_of(pad, i - 2, 0), s.op()));
    s.set_in(0, data);
  }

  double operations(std::span<const Shape> in) const;
  /// A product for data and one for weight, and the sum for bias.
  double gradient_operations(std::span<const Shape> takes) const;

  template <Real E>
  void forward(Cpu& ctx, View<const E> x, View<const E> weight, View<const E, 1> bias, View<E> y) const;

  template <Real E>
  void grad(Cpu& ctx, Head<"output", View<const E>> dy, In<"data", View<const E>> x, In<"weight", View<const E>> weight,
            Grad<"data", View<E>> dx, Grad<"weight", View<E>> dw, Grad<"bias", View<E, 1>> db) const;

  /// Heads of the gradients of data, weight and, where there is one, bias; head gradient, data, weight.
  template <class Node>
  std::vector<Node> gradient_again(std::span<const Node> heads, std::span<const Node> in) const;

 private:
  friend struct ConvolutionSum;
  /// What a window covers of an axis.
  constexpr std::int64_t covered(const Shapes& s, int i) const {
    return detail::checked_sum(detail::checked_product(detail::step_of(dilate, i, 1), (*kernel)[i] - 1, s.op()), 1,
                               s.op());
  }
  template <class E>
  detail::Convolver<E> convolver(std::span<const std::int64_t> x, std::span<const std::int64_t> y) const;
};
inline constexpr Op<Convolution, OnUse> convolution;

namespace detail {
/// The convolution of the parameters that the operators of its gradients share with it. A template for nvcc, which
/// takes no std::optional for a literal, and defined before its users for clang, which computes it in their
/// infer_shape.
template <class C = Convolution>
constexpr C convolution_of(const auto& from, bool no_bias) {
  return {.kernel = from.kernel,
          .stride = from.stride,
          .dilate = from.dilate,
          .pad = from.pad,
          .num_filter = from.num_filter,
          .num_group = from.num_group,
          .no_bias = no_bias};
}
}  // namespace detail

/// The gradients of data, weight and bias of Convolution as an operator: its own gradient is again convolutions, which
/// are linear in each of their inputs. Internal.
struct ConvolutionGradient {
  Required<Shape> kernel = {};
  Shape stride = {}, dilate = {}, pad = {};
  Required<int> num_filter = {};
  int num_group = 1;
  static constexpr std::string_view name = "_backward_Convolution_again", inputs[] = {"head", "data", "weight"},
                                    outputs[] = {"data", "weight", "bias"};
  static constexpr Range range[] = {{"num_filter", 1, 100000}, {"num_group", 1}};
  static constexpr const char* doc = "The gradients of data, weight and bias of Convolution.";
  template <int = 0>
  constexpr void infer_shape(Shapes& s) const {
    for (int k = 0; k < 2; ++k) s.set_out(k, s.in(k + 1));
    s.set_out(2, {*num_filter});
    detail::expect_made_by(detail::convolution_of(*this, true), s, 0, {1, 2});
  }
  double operations(std::span<const Shape> in) const;
  template <Real E>
  void forward(Cpu& ctx, View<const E> dy, View<const E> x, View<const E> w, View<E> dx, View<E> dw,
               View<E, 1> db) const;
  template <class Node>
  std::vector<Node> gradient(std::span<const Node> heads, const Node& dy, const Node& data, const Node& weight) const;
};
inline constexpr Op<ConvolutionGradient, OnUse> convolution_gradient;

/// The convolution of (a, b) plus that of (c, d), plus bias unless no_bias: the head gradient's part in the gradient of
/// ConvolutionGradient. Internal.
struct ConvolutionSum {
  Required<Shape> kernel = {};
  Shape stride = {}, dilate = {}, pad = {};
  Required<int> num_filter = {};
  int num_group = 1;
  bool no_bias = false;
  static constexpr std::string_view name = "_backward_Convolution_sum", inputs[] = {"a", "b", "c", "d", "bias"};
  static constexpr Range range[] = {{"num_filter", 1, 100000}, {"num_group", 1}};
  static constexpr const char* doc = "The sum of two convolutions, and of a bias unless no_bias.";
  constexpr int input_count() const { return no_bias ? 4 : 5; }
  template <int = 0>
  constexpr void infer_shape(Shapes& s) const {
    detail::convolution_of(*this, true).infer_shape(s);
    s.set_in(2, s.in(0));
    s.set_in(3, s.in(1));
    if (!no_bias) s.set_in(4, {*num_filter});
  }
  double operations(std::span<const Shape> in) const;
  template <Real E>
  void forward(Cpu& ctx, View<const E> a, View<const E> b, View<const E> c, View<const E> d, View<const E, 1> bias,
               View<E> y) const;
  auto gradient(const auto& dy, const auto& a, const auto& b, const auto& c, const auto& d, const auto&) const {
    const auto first = convolution_gradient(dy, a, b, parts()), second = convolution_gradient(dy, c, d, parts());
    std::vector<std::remove_cvref_t<decltype(dy)>> out{first[0], first[1], second[0], second[1]};
    if (!no_bias) out.push_back(second[2]);
    return out;
  }

 private:
  template <class C = ConvolutionGradient>
  constexpr C parts() const {
    return {kernel, stride, dilate, pad, num_filter, num_group};
  }
};
inline constexpr Op<ConvolutionSum, OnUse> convolution_sum;

using ConvolutionOps = OpList<Convolution, ConvolutionGradient, ConvolutionSum>;

}  // namespace strop::inline v0

#if !defined(STROP_OPERATORS_COMPILED) || defined(__CUDACC__)
#include <strop/ops/convolution_body.hpp>
#endif
