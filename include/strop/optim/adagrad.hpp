// SPDX-License-Identifier: Apache-2.0
/// \file
/// Optimizers with a rate for each element: AdaGrad, AdaDelta, RMSProp, Ftrl.
#pragma once
#include <strop/core/push_macros.def>

#include <strop/ops/optimizer.hpp>
#include <strop/ops/sparse_optimizer.hpp>
#include <strop/optim/optimizer.hpp>
#include <strop/optim/sgd.hpp>

#include <optional>
#include <string_view>
#include <tuple>

namespace strop::inline v0 {
namespace optim {
// NOLINTBEGIN(readability-duplicate-include): the fields that all have in common

/// Duchi et al. (2011): g = clip(rescale_grad · grad), history ← history + g², weight ← weight − lr · (g / √(history +
/// eps) + wd · weight).
///
/// A row_sparse gradient updates its stored rows only. Error: such a gradient and a weight decay other than 0.
struct AdaGrad {
  double learning_rate = 0.01;
  double eps = 1e-7;  ///< keeps the divisor from 0
#include <strop/optim/common.def>

  static constexpr std::string_view name = "adagrad";
  constexpr auto rule(const Step& step, auto weight, auto grad, auto history) const {
    const auto g = detail::clipped(rescale_grad * grad, detail::clip_bound(clip_gradient));
    const auto squares = history + g * g;
    return std::make_tuple(weight - step.lr * (g / sqrt(squares + eps) + step.wd * weight), squares);
  }
  void update(const Step& step, auto& weight, const auto& grad, auto& history) const {
    if (grad.storage() != row_sparse) return apply_rule(*this, step, weight, grad, history);
    auto parameters = detail::update_parameters<SparseAdagradUpdate>(step, *this);
    parameters.epsilon = detail::narrow(eps);
    sparse_adagrad_update(weight, grad, history, parameters, into(weight));
  }
};

/// Zeiler (2012), which has no learning rate: g = clip(rescale_grad · grad), n ← rho · n + (1 − rho) · g², d = √(steps
/// + epsilon) / √(n + epsilon) · g, steps ← rho · steps + (1 − rho) · d², weight ← weight − d − wd · weight.
struct AdaDelta {
  double rho = 0.9;       ///< what stays of the means at each update
  double epsilon = 1e-5;  ///< keeps the divisor from 0, and the first steps
#include <strop/optim/common.def>

  static constexpr std::string_view name = "adadelta";
  constexpr auto rule(const Step& step, auto weight, auto grad, auto n, auto steps) const {
    const auto g = detail::clipped(rescale_grad * grad, detail::clip_bound(clip_gradient));
    const auto squares = rho * n + (1 - rho) * (g * g);
    const auto d = sqrt(steps + epsilon) / sqrt(squares + epsilon) * g;
    return std::make_tuple(weight - d - step.wd * weight, squares, rho * steps + (1 - rho) * (d * d));
  }
};

/// g = clip(rescale_grad · grad + wd · weight), n ← gamma1 · n + (1 − gamma1) · g², weight ← weight − lr · g / √(n +
/// epsilon) (Tieleman and Hinton 2012); centered, with momentum gamma2, as the operator rmspropalex_update says.
struct RMSProp {
  double learning_rate = 0.001;
  double gamma1 = 0.9;                      ///< what stays of the means at each update
  double gamma2 = 0.9;                      ///< centered: what stays of the last step
  double epsilon = 1e-8;                    ///< keeps the divisor from 0
  bool centered = false;                    ///< by the variance of the gradient in place of the mean of its square
  std::optional<double> clip_weights = {};  ///< bound of the new weight; None, or none above 0: no bound
#include <strop/optim/common.def>

  static constexpr std::string_view name = "rmsprop";
  int states() const { return centered ? 3 : 1; }
  NDArray make_state(int, const NDArray& weight) const { return detail::lazy_state(weight, false); }

  void update(const Step& step, auto& weight, const auto& grad, auto& n) const {
    rmsprop_update(weight, grad, n, parameters<RmspropUpdate>(step), into(weight));
  }
  void update(const Step& step, auto& weight, const auto& grad, auto& n, auto& g, auto& delta) const {
    RmspropalexUpdate with_delta = parameters<RmspropalexUpdate>(step);
    with_delta.gamma2 = detail::narrow(gamma2);
    rmspropalex_update(weight, grad, n, g, delta, with_delta, into(weight));
  }

 private:
  template <class Update>
  Update parameters(const Step& step) const {
    auto made = detail::update_parameters<Update>(step, *this);
    made.gamma1 = detail::narrow(gamma1);
    made.epsilon = detail::narrow(epsilon);
    made.clip_weights = detail::clip_bound(clip_weights);
    return made;
  }
};

/// Follow the regularised leader (McMahan et al. 2013): the formula stands with the operator ftrl_update. Weights of
/// small gradients are 0. A row_sparse gradient of a row_sparse weight updates its stored rows only.
struct Ftrl {
  double learning_rate = 0.1;
  double lamda1 = 0.01;  ///< the new weight is 0 where |z| is at most this
  double beta = 1;       ///< added to the root of n: the greater, the smaller are first steps
#include <strop/optim/common.def>

  static constexpr std::string_view name = "ftrl";
  void update(const Step& step, auto& weight, const auto& grad, auto& z, auto& n) const {
    auto parameters = detail::update_parameters<FtrlUpdate>(step, *this);
    parameters.lamda1 = detail::narrow(lamda1);
    parameters.beta = detail::narrow(beta);
    ftrl_update(weight, grad, z, n, parameters, into(weight));
  }
};

// NOLINTEND(readability-duplicate-include)
}  // namespace optim
}  // namespace strop::inline v0

#include <strop/core/pop_macros.def>
