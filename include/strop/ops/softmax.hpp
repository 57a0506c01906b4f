// SPDX-License-Identifier: Apache-2.0
/// \file
/// softmax, log_softmax and softmin along an axis; softmax_cross_entropy.
#pragma once
#include <strop/op/op.hpp>
#include <strop/ops/list.hpp>
#include <strop/ops/softmax_kernels.hpp>

#include <cstdint>
#include <optional>
#include <string_view>

namespace strop::inline v0 {

namespace detail {

/// What the three softmaxes share: inference, and y = softmax(± x / temperature) or its logarithm.
template <int = 0>
constexpr void infer_softmax_shape(Shapes& shapes, int axis) {
  shapes.set_out(0, shapes.in(0));
  shapes.set_in(0, shapes.out(0));
  const Shape& x = shapes.in(0);
  if (!x.has_rank()) return;
  const int at = positive_axis(
      axis, x.ndim(), [&] { shapes.fail("axis ", axis, " is outside ", shapes.name_in(0), " of shape ", to_text(x)); });
  if (shapes.inputs() < 2) return;
  Shape rows = x;
  rows.erase(at);
  shapes.set_in(1, rows);
}
constexpr void infer_softmax_type(Types& types, std::optional<Dtype> dtype) {
  types.set_out(0, dtype ? dtype : types.in(0));
  if (!dtype) types.set_in(0, types.out(0));
}

inline constexpr Note softmax_notes[] = {
    {"axis", "the axis that sums to 1; negative: from the last"},
    {"temperature", "what data is divided by; 1 where not given"},
    {"dtype", "the type of the result; that of data where not given"},
    {"use_length", "there is a second input, length: how many elements of each row count"}};
inline constexpr std::string_view softmax_inputs[] = {"data", "length"};
inline constexpr std::string_view softmax_aliases[] = {"_npx_softmax", "_npx_log_softmax"};
struct SoftmaxText {
  std::string_view name, doc;
  std::span<const std::string_view> aliases = {};
};
inline constexpr SoftmaxText softmax_texts[] = {
    {"softmax", "e^(x / temperature), divided by the sum of it along the axis.", {softmax_aliases, 1}},
    {"log_softmax", "The logarithm of softmax: x / temperature − log Σ e^(x / temperature).", {softmax_aliases + 1, 1}},
    {"softmin", "softmax of −x: e^(−x / temperature), divided by the sum of it along the axis."}};

}  // namespace detail

enum class SoftmaxKind : int { softmax, log_softmax, softmin };

/// softmax: y = e^(x / temperature) / Σ e^(x / temperature) along an axis. log_softmax: the logarithm of it,
/// x / temperature − log Σ e^(x / temperature). softmin: softmax of −x.
///
/// Any shape; floating types; `dtype` is the type of the result. With `use_length` the input `length` (the shape of
/// data without the axis) says how many elements of each row count, the others give 0. Sparse arrays by the dense
/// fallback. The gradient needs the output. Error: the axis is outside.
///
/// Example: `softmax(array({0, 0}))` is [0.5, 0.5], `log_softmax(array({0, 0}))` is [-0.693, -0.693].
template <SoftmaxKind Kind>
struct SoftmaxAlong {
  int axis = -1;
  std::optional<double> temperature = {};
  std::optional<Dtype> dtype = {};
  std::optional<bool> use_length = false;

  static constexpr detail::SoftmaxText text = detail::softmax_texts[static_cast<int>(Kind)];
  static constexpr std::string_view name = text.name;
  static constexpr std::string_view doc = text.doc;
  static constexpr std::span<const std::string_view> aliases = text.aliases, inputs = detail::softmax_inputs;
  static constexpr std::span<const Note> notes = detail::softmax_notes;
  static constexpr Share inplace[] = {{0, 0}}, gradient_inplace[] = {{0, 0}};

  constexpr int input_count() const { return use_length.value_or(false) ? 2 : 1; }
  constexpr void infer_shape(Shapes& shapes) const { detail::infer_softmax_shape(shapes, axis); }
  constexpr void infer_type(Types& types) const { detail::infer_softmax_type(types, dtype); }
  template <Real E>
  void forward(Cpu&, const NDArray& x, View<const std::int64_t> length, NDArray& y) const;
  template <Real E>
  void grad(Cpu&, Head<"output", NDArray> dy, In<"length", View<const std::int64_t>> length, Out<"output", NDArray> y,
            Grad<"data", NDArray> dx) const;

 private:
  static constexpr bool logarithm = Kind == SoftmaxKind::log_softmax;
  double scale() const;
};
using Softmax = SoftmaxAlong<SoftmaxKind::softmax>;
using LogSoftmax = SoftmaxAlong<SoftmaxKind::log_softmax>;
using Softmin = SoftmaxAlong<SoftmaxKind::softmin>;
inline constexpr Op<Softmax, OnUse> softmax;
inline constexpr Op<LogSoftmax, OnUse> log_softmax;
inline constexpr Op<Softmin, OnUse> softmin;

/// softmax_cross_entropy: y = −Σᵢ log softmax(xᵢ)[labelᵢ], over the rows of a matrix; probabilities count as 10⁻⁸ at
/// least.
///
/// data (batch, classes) of a floating type, label (batch,) of any type, whole numbers from 0 to classes − 1; output
/// (1,). The gradient of data is (softmax(x) − onehot(label)) times the head gradient; label has none.
/// Error: data is no matrix, a label is outside.
///
/// Example: `softmax_cross_entropy(array({{0, 0}}), array({1}))` is [0.693].
struct SoftmaxCrossEntropy {
  static constexpr std::string_view name = "softmax_cross_entropy";
  static constexpr std::string_view inputs[] = {"data", "label"};
  static constexpr const char* doc =
      "The sum over the rows of data of −log softmax(row)[label]; data (batch, classes), label (batch,), output (1,).";

  template <int = 0>
  constexpr void infer_shape(Shapes& shapes) const {
    shapes.expect_rank(0, 2);
    shapes.expect_rank(1, 1);
    const std::int64_t rows = shapes.in(0).has_rank() && shapes.in(0)[0] >= 0 ? shapes.in(0)[0]
                              : shapes.in(1).has_rank()                       ? shapes.in(1)[0]
                                                                              : Shape::unknown_extent;
    shapes.set_in(0, {rows, Shape::unknown_extent});
    shapes.set_in(1, {rows});
    shapes.set_out(0, {1});
  }
  template <int = 0>
  constexpr void infer_type(Types& types) const {
    types.set_out(0, types.in(0));
    types.set_in(0, types.out(0));
    if (!types.in(1)) types.set_in(1, types.in(0));
  }
  template <Real E>
  void forward(Cpu&, View<const E, 2> x, View<const std::int64_t, 1> label, View<E, 1> y) const;
  static constexpr Share gradient_inplace[] = {{1, 0}};  // in that of data, row by row
  template <Real E>
  void grad(Cpu&, Head<"output", View<const E, 1>> dy, In<"data", View<const E, 2>> x,
            In<"label", View<const std::int64_t, 1>> label, Grad<"data", View<E, 2>> dx) const;

 private:
  static void check(View<const std::int64_t, 1> label, std::int64_t classes);
  /// f(row) on several threads.
  template <class F>
  static void each_row(std::int64_t rows, std::int64_t classes, F f);
};
inline constexpr Op<SoftmaxCrossEntropy, OnUse> softmax_cross_entropy;

using SoftmaxOps = OpList<Softmax, LogSoftmax, Softmin, SoftmaxCrossEntropy>;

}  // namespace strop::inline v0

#if !defined(STROP_OPERATORS_COMPILED) || defined(__CUDACC__)
#include <strop/ops/softmax_body.hpp>
#endif
