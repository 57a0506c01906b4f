// SPDX-License-Identifier: Apache-2.0
/// \file
/// SoftmaxOutput: softmax that, in backward, is the gradient of cross entropy with its label.
#pragma once
#include <strop/op/op.hpp>
#include <strop/ops/list.hpp>
#include <strop/ops/softmax_kernels.hpp>

#include <algorithm>
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
  constexpr void infer_type(Types& types) const {
    types.set_out(0, types.in(0));
    types.set_in(0, types.out(0));
    if (!types.in(1)) types.set_in(1, types.in(0));
  }

  template <Real E>
  void forward(Cpu&, View<const E> x, const NDArray&, View<E> y) const {
    if (x.size() == 0) return;
    detail::each_row<1, E>(split(x.shape()), {x.data()}, y.data(),
                           [n = split(x.shape()).length](const E* const(&in)[1], E* out, std::int64_t) {
                             detail::softmax_row(in[0], out, n, E(1), false);
                           });
  }

  template <Real E>
  void grad(Cpu&, In<"label", View<const double>> label, Out<"output", View<const E>> y,
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

 private:
  detail::AxisSplit split(detail::Span<const std::int64_t> shape) const {
    const int last = static_cast<int>(shape.size()) - 1;
    if (multi_output) return {shape, 1};
    if (preserve_shape || last < 1) return {shape, last};
    std::int64_t classes = 1;
    for (int i = 1; i <= last; ++i) classes *= shape[i];
    const std::int64_t flat[] = {shape[0], classes};
    return {flat, 1};
  }
  /// With multi_output an example's labels, `inner` of them, share its gradient even without normalization.
  double divisor(View<const double> label, std::int64_t inner) const {
    if (normalization == null) return static_cast<double>(multi_output ? inner : 1);
    if (normalization == batch) return static_cast<double>(label.size());
    std::int64_t count = 0;
    for (double l : label) count += convert<std::int64_t>(l) != convert<std::int64_t>(ignore_label) ? 1 : 0;
    return static_cast<double>(std::max<std::int64_t>(1, count));
  }
};
inline constexpr Op<SoftmaxOutput, OnUse> softmax_output;

using SoftmaxOutputOps = OpList<SoftmaxOutput>;

}  // namespace strop::inline v0
