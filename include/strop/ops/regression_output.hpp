// SPDX-License-Identifier: Apache-2.0
/// \file
/// Loss heads: LinearRegressionOutput, LogisticRegressionOutput, MAERegressionOutput and MakeLoss.
#pragma once
#include <strop/op/op.hpp>
#include <strop/ops/cast.hpp>
#include <strop/ops/list.hpp>

#include <string_view>

namespace strop::inline v0 {

namespace detail {

/// label has as many elements as data and as many examples; (batch, 1) goes with (batch,).
template <int = 0>
constexpr void infer_regression_shape(Shapes& shapes) {
  shapes.set_out(0, shapes.in(0));
  shapes.set_in(0, shapes.out(0));
  const Shape data = shapes.in(0), label = shapes.in(1);
  if (!data.known() || data.ndim() == 0) return shapes.set_in(1, data);
  if (label.known() && label.ndim() > 0 && label[0] == data[0] && label.size() == data.size()) return;
  shapes.set_in(1, data.ndim() == 2 && data[1] == 1 ? Shape{data[0]} : data);
}
template <int = 0>
constexpr void infer_regression_type(Types& types) {
  types.set_out(0, types.in(0));
  types.set_in(0, types.out(0));
  if (!types.in(1)) types.set_in(1, types.in(0));
}

inline constexpr std::string_view data_label[] = {"data", "label"};
inline constexpr Note regression_notes[] = {{"grad_scale", "what the gradient is multiplied with"},
                                            {"label", "as many elements as data, dense or csr"}};

}  // namespace detail

/// LinearRegressionOutput: data forward; the gradient is (output − label) · grad_scale / elements of an example: that
/// of half the squared error. It needs no head gradient: backward may start here.
///
/// data of any shape with the examples on axis 0, label of as many elements; floating types, labels of any; label may
/// be csr, other sparse arrays go by the dense fallback. Error: label has another number of elements.
///
/// Example: `linear_regression_output(array({3}), array({1}))` is [3], its gradient [2].
struct LinearRegressionOutput {
  float grad_scale = 1;

  static constexpr std::string_view aliases[] = {"_sparse_LinearRegressionOutput"};
  static constexpr std::span<const std::string_view> inputs = detail::data_label;
  static constexpr const char* doc =
      "data; its gradient is (output − label) · grad_scale / elements of an example and needs no head gradient.";
  static constexpr std::span<const Note> notes = detail::regression_notes;
  static constexpr Share inplace[] = {{0, 0}};

  constexpr void infer_shape(Shapes& shapes) const { detail::infer_regression_shape(shapes); }
  constexpr void infer_type(Types& types) const { detail::infer_regression_type(types); }
  constexpr bool infer_storage(Storages& s) const {
    return s.in(0) == dense && s.in(1) != row_sparse && s.set_out(0, dense);
  }
  constexpr bool infer_gradient_storage(Storages& s) const {
    return s.in(0) != row_sparse && s.in(1) == dense && s.set_out(0, dense);
  }
  template <Real E>
  void forward(Cpu&, View<const E> x, const NDArray&, View<E> y) const;
  template <Real E>
  void grad(Cpu&, In<"label", NDArray> label, Out<"output", View<const E>> y, Grad<"data", View<E>> dx) const;
};
template <>
inline constexpr bool detail::reads_any_index<LinearRegressionOutput> = true;
inline constexpr Op<LinearRegressionOutput, OnUse> linear_regression_output;

/// MAERegressionOutput: data forward; the gradient is ± grad_scale / elements of an example: that of the absolute
/// error,
/// + where output > label, else −. It needs no head gradient: backward may start here.
///
/// Shapes, types and storages are those of LinearRegressionOutput. Error: label has another number of elements.
///
/// Example: `mae_regression_output(array({3}), array({1}))` is [3], its gradient [1].
struct MAERegressionOutput {
  float grad_scale = 1;

  static constexpr std::string_view aliases[] = {"_sparse_MAERegressionOutput"};
  static constexpr std::span<const std::string_view> inputs = detail::data_label;
  static constexpr const char* doc =
      "data; its gradient is grad_scale / elements of an example where output > label, else minus that; it needs no "
      "head gradient.";
  static constexpr std::span<const Note> notes = detail::regression_notes;
  static constexpr Share inplace[] = {{0, 0}};

  constexpr void infer_shape(Shapes& shapes) const { detail::infer_regression_shape(shapes); }
  constexpr void infer_type(Types& types) const { detail::infer_regression_type(types); }
  constexpr bool infer_storage(Storages& s) const {
    return s.in(0) == dense && s.in(1) != row_sparse && s.set_out(0, dense);
  }
  constexpr bool infer_gradient_storage(Storages& s) const {
    return s.in(0) != row_sparse && s.in(1) == dense && s.set_out(0, dense);
  }
  template <Real E>
  void forward(Cpu&, View<const E> x, const NDArray&, View<E> y) const;
  template <Real E>
  void grad(Cpu&, In<"label", NDArray> label, Out<"output", View<const E>> y, Grad<"data", View<E>> dx) const;
};
template <>
inline constexpr bool detail::reads_any_index<MAERegressionOutput> = true;
inline constexpr Op<MAERegressionOutput, OnUse> mae_regression_output;

/// LogisticRegressionOutput: y = 1 / (1 + e^(−data)) forward; the gradient is (y − label) · grad_scale / elements of an
/// example: that of cross entropy. It needs no head gradient: backward may start here.
///
/// Shapes, types and storages are those of LinearRegressionOutput. Error: label has another number of elements.
///
/// Example: `logistic_regression_output(array({0}), array({1}))` is [0.5], its gradient [-0.5].
struct LogisticRegressionOutput {
  float grad_scale = 1;

  static constexpr std::string_view aliases[] = {"_sparse_LogisticRegressionOutput"};
  static constexpr std::span<const std::string_view> inputs = detail::data_label;
  static constexpr const char* doc =
      "sigmoid(data); its gradient is (output − label) · grad_scale / elements of an example and needs no head "
      "gradient.";
  static constexpr std::span<const Note> notes = detail::regression_notes;
  static constexpr Share inplace[] = {{0, 0}};

  constexpr void infer_shape(Shapes& shapes) const { detail::infer_regression_shape(shapes); }
  constexpr void infer_type(Types& types) const { detail::infer_regression_type(types); }
  constexpr bool infer_storage(Storages& s) const {
    return s.in(0) == dense && s.in(1) != row_sparse && s.set_out(0, dense);
  }
  constexpr bool infer_gradient_storage(Storages& s) const {
    return s.in(0) != row_sparse && s.in(1) == dense && s.set_out(0, dense);
  }
  template <Real E>
  void forward(Cpu&, View<const E> x, const NDArray&, View<E> y) const;
  template <Real E>
  void grad(Cpu&, In<"label", NDArray> label, Out<"output", View<const E>> y, Grad<"data", View<E>> dx) const;

 private:
  struct Curve {
    auto forward(auto x) const { return sigmoid(x); }
  };
};
template <>
inline constexpr bool detail::reads_any_index<LogisticRegressionOutput> = true;
inline constexpr Op<LogisticRegressionOutput, OnUse> logistic_regression_output;

/// MakeLoss: data forward, as a loss: the gradient is grad_scale for every element, divided by the batch or by the
/// number of elements above valid_thresh where normalization says so. It needs no head gradient: backward may start
/// here.
///
/// Any shape, floating types, any storage (the gradient is dense).
///
/// Example: `make_loss_scaled(array({3, 4}), {.grad_scale = 2})` is [3, 4], its gradient [2, 2].
struct MakeLoss {
  enum Normalization : int { null, batch, valid };
  float grad_scale = 1, valid_thresh = 0;
  Normalization normalization = null;

  static constexpr std::string_view aliases[] = {"make_loss_scaled"};
  static constexpr const char* doc =
      "data, as a loss: its gradient is grad_scale for every element and needs no head gradient.";
  static constexpr Note notes[] = {
      {"grad_scale", "the gradient of each element"},
      {"valid_thresh", "with normalization = valid, elements above it are counted"},
      {"normalization", "what the gradient is divided by: nothing, the batch, or the number of valid elements"}};
  static constexpr Share inplace[] = {{0, 0}};

  constexpr bool infer_storage(Storages& s) const { return s.set_out(0, s.in(0)); }
  template <Real E>
  void forward(Cpu&, const NDArray& x, NDArray& y) const;
  template <Real E>
  void grad(Cpu&, In<"data", View<const E>> x, Grad<"data", View<E>> dx) const;
};
template <>
inline constexpr bool detail::reads_any_index<MakeLoss> = true;
inline constexpr Op<MakeLoss, OnUse> make_loss_scaled;

using RegressionOutputOps = OpList<LinearRegressionOutput, MAERegressionOutput, LogisticRegressionOutput, MakeLoss>;

}  // namespace strop::inline v0

#if !defined(STROP_OPERATORS_COMPILED) || defined(__CUDACC__)
#include <strop/ops/regression_output_body.hpp>
#endif
