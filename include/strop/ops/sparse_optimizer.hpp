// SPDX-License-Identifier: Apache-2.0
/// \file
/// Optimizer updates that take row_sparse gradients: sgd, sgd with momentum, adam, ftrl and adagrad.
#pragma once
#include <strop/op/op.hpp>
#include <strop/ops/cast.hpp>
#include <strop/ops/optimizer.hpp>

#include <span>
#include <string_view>
#include <tuple>

namespace strop::inline v0 {

namespace detail {

/// Storages of an update: a dense or row_sparse weight, states stored like it (or dense), a gradient that is row_sparse
/// or, of a dense weight, dense.
template <int = 0>
constexpr bool infer_update_storage(Storages& s) {
  const Storage weight = s.in(0), grad = s.in(1);
  bool native = weight != csr && (grad == row_sparse || (grad == dense && weight == dense));
  for (int i = 2; i < s.inputs(); ++i) native = native && (s.in(i) == weight || s.in(i) == dense);
  return s.set_out(0, weight) && native;
}
/// All tensors of an update have one shape, but for inputs [number, number + numbers), which are one number each.
template <int = 0>
constexpr void infer_update_shape(Shapes& shapes, int number = 0, int numbers = 0) {
  for (int pass = 0; pass < 2; ++pass) {
    for (int i = 0; i < shapes.inputs(); ++i) {
      if (i >= number && i < number + numbers) {
        if (!shapes.in(i).known() || shapes.in(i).size() != 1) shapes.set_in(i, {1});
        continue;
      }
      shapes.set_in(i, shapes.out(0));
      shapes.set_out(0, shapes.in(i));
    }
  }
}

}  // namespace detail

/// sgd_update: the new weight is (1 − lr · wd) · weight − lr · clip(rescale_grad · grad).
///
/// Both inputs have one shape and one floating type. A row_sparse gradient updates its stored rows only while
/// `lazy_update`; a row_sparse weight stores all its rows and gives a row_sparse result. Other storages by the dense
/// fallback. Error: a row_sparse weight lacks rows.
///
/// Example: `sgd_update(array({1}), array({2}), {.lr = 0.5f}, into(weight))`.
struct SgdUpdate {
  Required<float> lr = {};
  float wd = 0, rescale_grad = 1, clip_gradient = -1;
  bool lazy_update = true;

  static constexpr std::string_view name = "sgd_update";
  static constexpr std::string_view aliases[] = {"_sparse_sgd_update"}, inputs[] = {"weight", "grad"};
  static constexpr std::span<const Note> notes = detail::update_notes;
  static constexpr const char* doc = "Gradient descent: (1 − lr · wd) · weight − lr · clip(rescale_grad · grad).";
  static constexpr Share inplace[] = {{0, 0}};
  static constexpr bool zero_gradient = true;

  struct Step {
    float lr, wd, rescale, clip;
    constexpr auto forward(auto weight, auto grad) const {
      return (1 - lr * wd) * weight - lr * detail::clipped(rescale * grad, clip);
    }
  };
  constexpr void infer_shape(Shapes& shapes) const { detail::infer_update_shape(shapes); }
  constexpr bool infer_storage(Storages& s) const { return detail::infer_update_storage(s); }
  template <Real E>
  void forward(Cpu&, const NDArray& weight, const NDArray& grad, NDArray& out) const;
};
template <>
inline constexpr bool detail::reads_any_index<SgdUpdate> = true;
inline constexpr Op<SgdUpdate, OnUse> sgd_update;

/// sgd_mom_update: mom ← momentum · mom − lr · wd · weight − lr · clip(rescale_grad · grad); the new weight is weight +
/// mom.
///
/// All inputs have one shape and one floating type; mom is written. A row_sparse gradient updates its stored rows of
/// weight and mom only while `lazy_update` and mom is stored as weight is: a row_sparse weight with a dense mom is
/// updated in every row. A row_sparse weight stores all its rows. Other storages by the dense fallback. Error: a
/// row_sparse weight lacks rows.
///
/// Example: `sgd_mom_update(weight, grad, mom, {.lr = 0.5f, .momentum = 0.9f}, into(weight))`.
struct SgdMomUpdate {
  Required<float> lr = {};
  float momentum = 0, wd = 0, rescale_grad = 1, clip_gradient = -1;
  bool lazy_update = true;

  static constexpr std::string_view name = "sgd_mom_update";
  static constexpr std::string_view aliases[] = {"_sparse_sgd_mom_update"};
  static constexpr std::span<const std::string_view> inputs = detail::momentum_inputs,
                                                     mutates = detail::momentum_states;
  static constexpr std::span<const Note> notes = detail::update_notes;
  static constexpr const char* doc =
      "Gradient descent with momentum: a new weight from weight, grad and mom, which is written.";
  static constexpr Share inplace[] = {{0, 0}};
  static constexpr bool zero_gradient = true;

  struct Step {
    float lr, momentum, wd, rescale, clip;
    constexpr auto forward(auto weight, auto grad, auto mom) const {
      const auto m = momentum * mom - lr * wd * weight - lr * detail::clipped(rescale * grad, clip);
      return std::make_tuple(weight + m, m);
    }
  };
  constexpr void infer_shape(Shapes& shapes) const { detail::infer_update_shape(shapes); }
  constexpr bool infer_storage(Storages& s) const { return detail::infer_update_storage(s); }
  template <Real E>
  void forward(Cpu&, const NDArray& weight, const NDArray& grad, NDArray& mom, NDArray& out) const;
};
template <>
inline constexpr bool detail::reads_any_index<SgdMomUpdate> = true;
inline constexpr Op<SgdMomUpdate, OnUse> sgd_mom_update;

/// adam_update: g = clip(rescale_grad · grad + wd · weight); mean ← beta1 · mean + (1 − beta1) · g;
/// var ← beta2 · var + (1 − beta2) · g²; the new weight is weight − lr · mean / (√var + epsilon).
///
/// All inputs have one shape and one floating type; mean and var are written. The correction of their bias belongs into
/// lr. A row_sparse gradient updates its stored rows only while `lazy_update` and both states are stored as weight is:
/// a row_sparse weight with a dense state is updated in every row. A row_sparse weight stores all its rows. Other
/// storages by the dense fallback. Error: a row_sparse weight lacks rows.
///
/// Example: `adam_update(weight, grad, mean, var, {.lr = 0.001f}, into(weight))`.
struct AdamUpdate {
  Required<float> lr = {};
  float beta1 = 0.9f, beta2 = 0.999f, epsilon = 1e-8f, wd = 0, rescale_grad = 1, clip_gradient = -1;
  bool lazy_update = true;

  static constexpr std::string_view name = "adam_update";
  static constexpr std::string_view aliases[] = {"_sparse_adam_update"};
  static constexpr std::string_view inputs[] = {"weight", "grad", "mean", "var"}, mutates[] = {"mean", "var"};
  static constexpr std::span<const Note> notes = detail::update_notes;
  static constexpr const char* doc = "Adam: a new weight from weight, grad, mean and var, which are written.";
  static constexpr Share inplace[] = {{0, 0}};
  static constexpr bool zero_gradient = true;

  struct Step {
    float lr, beta1, beta2, epsilon, wd, rescale, clip;
    constexpr auto forward(auto weight, auto grad, auto first, auto second) const {
      const auto g = detail::clipped(rescale * grad + wd * weight, clip);
      const auto m = beta1 * first + (1 - beta1) * g;
      const auto v = beta2 * second + (1 - beta2) * (g * g);
      return std::make_tuple(weight - lr * m / (sqrt(v) + epsilon), m, v);
    }
  };
  constexpr void infer_shape(Shapes& shapes) const { detail::infer_update_shape(shapes); }
  constexpr bool infer_storage(Storages& s) const { return detail::infer_update_storage(s); }
  template <Real E>
  void forward(Cpu&, const NDArray& weight, const NDArray& grad, NDArray& first, NDArray& second, NDArray& out) const;
};
template <>
inline constexpr bool detail::reads_any_index<AdamUpdate> = true;
inline constexpr Op<AdamUpdate, OnUse> adam_update;

/// ftrl_update: follow the regularised leader (McMahan et al. 2013). g = clip(rescale_grad · grad);
/// z ← z + g − (√(n + g²) − √n) · weight / lr; n ← n + g²; the new weight is 0 where |z| ≤ lamda1, else
/// (sign(z) · lamda1 − z) / ((beta + √n) / lr + wd).
///
/// All inputs have one shape and one floating type; z and n are written. A row_sparse gradient of a row_sparse weight
/// updates its stored rows only. Other storages by the dense fallback. Error: a row_sparse weight lacks rows.
///
/// Example: `ftrl_update(weight, grad, z, n, {.lr = 0.1f}, into(weight))`.
struct FtrlUpdate {
  Required<float> lr = {};
  float lamda1 = 0.01f, beta = 1, wd = 0, rescale_grad = 1, clip_gradient = -1;

  static constexpr std::string_view name = "ftrl_update";
  static constexpr std::string_view aliases[] = {"_sparse_ftrl_update"};
  static constexpr std::string_view inputs[] = {"weight", "grad", "z", "n"}, mutates[] = {"z", "n"};
  static constexpr std::span<const Note> notes = detail::update_notes;
  static constexpr const char* doc =
      "Follow the regularised leader: a new weight from weight, grad, z and n, which are written.";
  static constexpr Share inplace[] = {{0, 0}};
  static constexpr bool zero_gradient = true;

  struct Step {
    float lr, lamda1, beta, wd, rescale, clip;
    constexpr auto forward(auto weight, auto grad, auto z, auto n) const {
      const auto g = detail::clipped(rescale * grad, clip);
      const auto squares = n + g * g;
      const auto shifted = z + g - (sqrt(squares) - sqrt(n)) * weight / lr;
      const auto scale = (beta + sqrt(squares)) / lr + wd;
      const auto next =
          where(shifted > lamda1, lamda1 - shifted, where(shifted < -lamda1, -lamda1 - shifted, 0)) / scale;
      return std::make_tuple(next, shifted, squares);
    }
  };
  constexpr void infer_shape(Shapes& shapes) const { detail::infer_update_shape(shapes); }
  constexpr bool infer_storage(Storages& s) const {
    if (s.in(0) == dense && s.in(1) == row_sparse) return s.set_out(0, dense), false;
    return detail::infer_update_storage(s);
  }
  template <Real E>
  void forward(Cpu&, const NDArray& weight, const NDArray& grad, NDArray& z, NDArray& n, NDArray& out) const;
};
template <>
inline constexpr bool detail::reads_any_index<FtrlUpdate> = true;
inline constexpr Op<FtrlUpdate, OnUse> ftrl_update;

/// _sparse_adagrad_update: g = clip(rescale_grad · grad); history ← history + g²; the new weight is
/// weight − lr · g / √(history + epsilon), for the rows that the row_sparse gradient stores.
///
/// All inputs have one shape and one floating type; history is written. The gradient is row_sparse; weight and history
/// are dense, or row_sparse with all rows. Error: other storages, wd other than 0.
///
/// Example: `sparse_adagrad_update(weight, grad, history, {.lr = 0.1f}, into(weight))`.
struct SparseAdagradUpdate {
  Required<float> lr = {};
  float epsilon = 1e-7f, wd = 0, rescale_grad = 1, clip_gradient = -1;

  static constexpr std::string_view name = "_sparse_adagrad_update", aliases[] = {"sparse_adagrad_update"};
  static constexpr std::string_view inputs[] = {"weight", "grad", "history"}, mutates[] = {"history"};
  static constexpr std::span<const Note> notes = detail::update_notes;
  static constexpr const char* doc =
      "AdaGrad for the rows that a row_sparse gradient stores: a new weight from weight, grad and history, which is "
      "written.";
  static constexpr Share inplace[] = {{0, 0}};
  static constexpr bool zero_gradient = true;

  struct Step {
    float lr, epsilon, rescale, clip;
    constexpr auto forward(auto weight, auto grad, auto history) const {
      const auto g = detail::clipped(rescale * grad, clip);
      const auto squares = history + g * g;
      return std::make_tuple(weight - lr * (g / sqrt(squares + epsilon)), squares);
    }
  };
  constexpr void infer_shape(Shapes& shapes) const { detail::infer_update_shape(shapes); }
  template <int = 0>
  constexpr bool infer_storage(Storages& s) const {
    if (s.in(1) != row_sparse || s.in(0) != s.in(2))
      fail(name, ": storages are (", name_of(s.in(0)), ", ", name_of(s.in(1)), ", ", name_of(s.in(2)),
           "), expected (dense, row_sparse, dense) or all row_sparse");
    return detail::infer_update_storage(s);
  }
  template <Real E>
  void forward(Cpu&, const NDArray& weight, const NDArray& grad, NDArray& history, NDArray& out) const;
};
template <>
inline constexpr bool detail::reads_any_index<SparseAdagradUpdate> = true;
inline constexpr Op<SparseAdagradUpdate, OnUse> sparse_adagrad_update;

/// _contrib_group_adagrad_update: AdaGrad with one rate for each row that the gradient stores. g = clip(rescale_grad ·
/// grad); history ← history + mean of g² over the row; the new weight is weight − lr · g / √(history + epsilon).
///
/// weight and grad have one shape of two dimensions, history (rows, 1), all one floating type; history is written. The
/// gradient is row_sparse; weight and history are dense, or row_sparse with all rows. Error: other storages.
///
/// Example: `group_adagrad_update(weight, grad, history, {.lr = 0.1f}, into(weight))`.
struct GroupAdagradUpdate {
  Required<float> lr = {};
  float rescale_grad = 1, clip_gradient = -1, epsilon = 1e-5f;

  static constexpr std::string_view name = "_contrib_group_adagrad_update", aliases[] = {"group_adagrad_update"};
  static constexpr std::string_view inputs[] = {"weight", "grad", "history"}, mutates[] = {"history"};
  static constexpr std::span<const Note> notes = detail::update_notes;
  static constexpr const char* doc =
      "AdaGrad with one rate a row, for the rows that a row_sparse gradient stores: a new weight from weight, grad and "
      "history, which is written and has one element a row.";
  static constexpr Share inplace[] = {{0, 0}};
  static constexpr bool zero_gradient = true;

  template <int = 0>
  constexpr void infer_shape(Shapes& s) const {
    for (int i = 0; i < 3; ++i) s.expect_rank(i, 2);
    for (int i = 0; i < 2; ++i) {
      s.set_in(i, s.out(0));
      s.set_out(0, s.in(i));
    }
    s.set_in(0, s.out(0));
    if (s.out(0).has_rank()) s.set_in(2, Shape{s.out(0)[0], 1});
  }
  template <int = 0>
  constexpr bool infer_storage(Storages& s) const {
    if (s.in(1) != row_sparse || s.in(0) != s.in(2) || s.in(0) == csr)
      fail(name, ": storages are (", name_of(s.in(0)), ", ", name_of(s.in(1)), ", ", name_of(s.in(2)),
           "), expected (dense, row_sparse, dense) or all row_sparse");
    return s.set_out(0, s.in(0));
  }
  template <Real E>
  void forward(Cpu&, const NDArray& weight, const NDArray& given, NDArray& history, NDArray& out) const;
};
template <>
inline constexpr bool detail::reads_any_index<GroupAdagradUpdate> = true;
inline constexpr Op<GroupAdagradUpdate, OnUse> group_adagrad_update;

using SparseOptimizerOps =
    OpList<SgdUpdate, SgdMomUpdate, AdamUpdate, FtrlUpdate, SparseAdagradUpdate, GroupAdagradUpdate>;

}  // namespace strop::inline v0

#if !defined(STROP_OPERATORS_COMPILED) || defined(__CUDACC__)
#include <strop/ops/sparse_optimizer_body.hpp>
#endif
