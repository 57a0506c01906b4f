// SPDX-License-Identifier: Apache-2.0
/// \file
/// SVMOutput and SoftmaxActivation: a loss head with margins, and softmax along the last axis or the channels.
#pragma once
#include <strop/op/op.hpp>
#include <strop/ops/list.hpp>
#include <strop/ops/softmax_kernels.hpp>

#include <cstdint>
#include <string_view>

namespace strop::inline v0 {

/// SVMOutput: data forward; the gradient is that of the hinge loss of margins, whatever comes from above: with s = 1
/// for the class of the label and −1 for the others, and m = margin − s · x where that is positive, else 0, the
/// gradient is −s · 2 · m, or with `use_linear` −s where m > 0, times regularization_coefficient.
///
/// data (…, classes), label the axes before the last. Floating types, labels of any; sparse arrays by the dense
/// fallback. The gradient needs no head gradient: backward may start here. Error: shapes do not agree.
///
/// Example: `svm_output(array({{0.5, 0.5}}), array({1}))` is [[0.5, 0.5]], its gradient [[3, -1]].
struct SVMOutput {
  float margin = 1, regularization_coefficient = 1;
  bool use_linear = false;

  static constexpr std::string_view name = "SVMOutput";
  static constexpr std::string_view inputs[] = {"data", "label"};
  static constexpr const char* doc =
      "data; its gradient is that of the hinge loss, squared or linear, of its distance from the label's margin, and "
      "needs no head gradient. data (batch, classes), label (batch,).";
  static constexpr Note notes[] = {{"margin", "how far from 0 a class should be"},
                                   {"regularization_coefficient", "what the gradient is multiplied with"},
                                   {"use_linear", "the loss itself instead of its square"}};
  static constexpr Share inplace[] = {{0, 0}};

  template <int = 0>
  constexpr void infer_shape(Shapes& s) const {
    s.set_out(0, s.in(0));
    s.set_in(0, s.out(0));
    Shape label = s.in(0);
    if (!label.has_rank()) return;
    if (label.ndim() < 1) s.fail(s.name_in(0), " has no dimension, expected 1 or more");
    label.resize(label.ndim() - 1);
    s.set_in(1, label);
  }
  template <int = 0>
  constexpr void infer_type(Types& types) const {
    types.set_out(0, types.in(0));
    types.set_in(0, types.out(0));
    if (!types.in(1)) types.set_in(1, types.in(0));
  }
  template <Real E>
  void forward(Cpu&, View<const E> x, const NDArray&, View<E> y) const;
  template <Real E>
  void grad(Cpu&, In<"label", View<const double>> label, Out<"output", View<const E>> y,
            Grad<"data", View<E>> dx) const;
};
inline constexpr Op<SVMOutput, OnUse> svm_output;

/// SoftmaxActivation: softmax along the last axis (`instance`: what MXNet computes, though its page says over an
/// example), or over the channels, axis 1, at each place (`channel`). Floating types; sparse arrays by the dense
/// fallback. Error: too few dimensions. `softmax_activation(array({{0, 0}}))` is [[0.5, 0.5]].
struct SoftmaxActivation {
  enum Mode : int { instance, channel };
  Mode mode = instance;

  static constexpr const char* doc = "Softmax along the last axis, or over the channels of each place.";
  static constexpr Note notes[] = {{"mode", "what adds up to 1"}};
  static constexpr Share inplace[] = {{0, 0}}, gradient_inplace[] = {{0, 0}, {1, 0}};
  template <int = 0>
  constexpr void infer_shape(Shapes& s) const {
    s.set_out(0, s.in(0));
    s.set_in(0, s.out(0));
    if (s.in(0).has_rank() && s.in(0).ndim() < 2)
      s.fail(s.name_in(0), " has shape ", s.in(0), ", expected 2 dimensions or more");
  }
  template <Real E>
  void forward(Cpu&, View<const E> x, View<E> y) const;
  template <Real E>
  void grad_use_out(Cpu&, View<const E> dy, View<const E> y, View<E> dx) const;

 private:
  detail::AxisSplit split(detail::Span<const std::int64_t> shape) const;
};
inline constexpr Op<SoftmaxActivation, OnUse> softmax_activation;

using SvmOutputOps = OpList<SVMOutput, SoftmaxActivation>;

}  // namespace strop::inline v0

#if !defined(STROP_OPERATORS_COMPILED) || defined(__CUDACC__)
#include <strop/ops/svm_output_body.hpp>
#endif
