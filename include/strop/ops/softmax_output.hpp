// SPDX-License-Identifier: Apache-2.0
/// \file
/// SoftmaxOutput: softmax that, in backward, is the gradient of cross entropy with its label.
#pragma once
#include <strop/op/op.hpp>
#include <strop/ops/list.hpp>
#include <strop/ops/softmax_kernels.hpp>

#include <cstdint>
#include <string_view>

namespace strop::inline v0 {

/// SoftmaxOutput: softmax(data) forward; its gradient is (output − onehot(label)) · grad_scale, whatever comes from
/// above.
///
/// Data of more dimensions: with `preserve_shape` softmax runs along the last axis and label has the axes before it;
/// with `multi_output` it runs along axis 1 and label has the other axes, as they are or as (batch, their product);
/// with neither an example's elements are its classes and the first `batch` labels count. A label of the shape of data
/// is probabilities. Floating types, labels of any; sparse arrays by the dense fallback. The gradient needs output and
/// label, and no head gradient: backward may start here. Error: shapes do not agree; backward with out_grad.
///
/// Example: `softmax_output(array({{0, 0}}), array({1}))` is [[0.5, 0.5]], its gradient [[0.5, -0.5]].
struct SoftmaxOutput {
  enum Normalization : int { null, batch, valid };
  float grad_scale = 1, ignore_label = -1;
  bool multi_output = false, use_ignore = false, preserve_shape = false;
  Normalization normalization = null;
  bool out_grad = false;
  float smooth_alpha = 0;

  static constexpr std::string_view aliases[] = {"Softmax"};
  static constexpr std::string_view inputs[] = {"data", "label"};
  static constexpr const char* doc =
      "softmax(data); its gradient is (output − onehot(label)) · grad_scale and needs no head gradient. "
      "data (batch, classes), label (batch,).";
  static constexpr Note notes[] = {
      {"grad_scale", "what the gradient is multiplied with"},
      {"ignore_label", "with use_ignore, examples of this label have no gradient"},
      {"multi_output", "softmax along axis 1 of data of three or more dimensions"},
      {"use_ignore", "ignore_label counts"},
      {"preserve_shape", "softmax along the last axis of data of three or more dimensions"},
      {"normalization",
       "the gradient is divided by 1, the number of labels, or the number of labels other than ignore_label"},
      {"out_grad", "must be False where gradients are computed: a loss takes no head gradient"},
      {"smooth_alpha", "probability that goes from the label's class to the others, in equal parts"}};
  static constexpr Range range[] = {{"smooth_alpha", 0, 1}};
  static constexpr Share inplace[] = {{0, 0}};

  template <int = 0>
  constexpr void infer_shape(Shapes& shapes) const {
    shapes.set_out(0, shapes.in(0));
    shapes.set_in(0, shapes.out(0));
    const Shape data = shapes.in(0), label = shapes.in(1);
    if (!data.has_rank()) return;
    const int rank = data.ndim();
    if (rank < (multi_output ? 2 : 1))
      shapes.fail(shapes.name_in(0), " has shape ", to_text(data), ", expected ",
                  multi_output ? "2 dimensions" : "1 dimension", " or more");
    if (label.has_rank() && label == data) return;  // probabilities
    if (!multi_output) {
      Shape wanted = data;
      wanted.resize(rank - 1);
      shapes.set_in(1, wanted);
      return;
    }
    if (!data.known()) return;
    const Shape flat{data[0], data.size(2, rank)};
    Shape without = data, one = data;
    without.erase(1);
    one[1] = 1;
    if (label.has_rank() && label.known() && (label == without || label == one)) return;
    shapes.set_in(1, flat);
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

 private:
  detail::AxisSplit split(detail::Span<const std::int64_t> shape) const;
  /// With multi_output an example's labels, `inner` of them, share its gradient even without normalization.
  double divisor(View<const double> label, std::int64_t inner) const;
};
inline constexpr Op<SoftmaxOutput, OnUse> softmax_output;

using SoftmaxOutputOps = OpList<SoftmaxOutput>;

}  // namespace strop::inline v0

#if !defined(STROP_OPERATORS_COMPILED) || defined(__CUDACC__)
#include <strop/ops/softmax_output_body.hpp>
#endif
