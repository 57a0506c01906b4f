// SPDX-License-Identifier: Apache-2.0
/// \file
/// Optimizers by moments of the gradient: Adam, Adamax, Ftml, Lamb.
#pragma once
#include <strop/core/push_macros.def>

#include <strop/ops/large_batch.hpp>
#include <strop/ops/mixed_optimizer.hpp>
#include <strop/ops/optimizer.hpp>
#include <strop/ops/reduce.hpp>
#include <strop/ops/sparse_optimizer.hpp>
#include <strop/optim/optimizer.hpp>
#include <strop/optim/sgd.hpp>

#include <cstdint>
#include <optional>
#include <string_view>
#include <tuple>

namespace strop::inline v0 {
namespace detail {
/// √(1 − beta2ᵗ) / (1 − beta1ᵗ): what the means of t gradients lack at first.
double bias_correction(double beta1, double beta2, std::int64_t t);
}  // namespace detail

namespace optim {
// NOLINTBEGIN(readability-duplicate-include): the fields that all have in common

/// Kingma and Ba (2015): g = clip(rescale_grad · grad + wd · weight), mean ← beta1 · mean + (1 − beta1) · g, var ←
/// beta2 · var + (1 − beta2) · g², weight ← weight − lr · √(1 − beta2ᵗ) / (1 − beta1ᵗ) · mean / (√var + epsilon).
///
/// A row_sparse gradient updates its stored rows of weight and states only while lazy_update, else all of them.
struct Adam {
  double learning_rate = 0.001;
  double beta1 = 0.9;       ///< what stays of mean at each update
  double beta2 = 0.999;     ///< what stays of var at each update
  double epsilon = 1e-8;    ///< keeps the divisor from 0
  bool lazy_update = true;  ///< a row_sparse gradient touches its stored rows only
#include <strop/optim/common.def>

  static constexpr std::string_view name = "adam";
  NDArray make_state(int, const NDArray& weight) const { return detail::lazy_state(weight, lazy_update); }

  void update(const Step& step, auto& weight, const auto& grad, auto& mean, auto& var) const {
    adam_update(weight, grad, mean, var, parameters<AdamUpdate>(step), into(weight));
  }
  void update_mixed(const Step& step, auto& weight, const auto& grad, auto& mean, auto& var, auto& weight32) const {
    mp_adam_update(weight, grad, mean, var, weight32, parameters<MpAdamUpdate>(step), into(weight));
  }

 private:
  template <class Update>
  Update parameters(const Step& step) const {
    auto made = detail::update_parameters<Update>(step, *this);
    made.lr = detail::narrow(step.lr * detail::bias_correction(beta1, beta2, step.t));
    made.beta1 = detail::narrow(beta1);
    made.beta2 = detail::narrow(beta2);
    made.epsilon = detail::narrow(epsilon);
    return made;
  }
};

/// Adam with the greatest gradient in place of the mean of squares: g = clip(rescale_grad · grad + wd · weight), mean ←
/// beta1 · mean + (1 − beta1) · g, most ← max(beta2 · most, |g|), weight ← weight − lr / (1 − beta1ᵗ) · mean / most.
///
/// An element whose gradient has always been 0 becomes nan, as 0 / 0: MXNet's rule has no epsilon.
struct Adamax {
  double learning_rate = 0.002;
  double beta1 = 0.9;    ///< what stays of mean at each update
  double beta2 = 0.999;  ///< what stays of most at each update
#include <strop/optim/common.def>

  static constexpr std::string_view name = "adamax";
  constexpr auto rule(const Step& step, auto weight, auto grad, auto mean, auto most) const {
    const auto g = detail::clipped(rescale_grad * grad + step.wd * weight, detail::clip_bound(clip_gradient));
    const auto m = beta1 * mean + (1 - beta1) * g;
    const auto u = max(beta2 * most, abs(g));
    const double rate = step.lr / (1 - detail::raised(beta1, static_cast<int>(step.t)));
    return std::make_tuple(weight - rate * m / u, m, u);
  }
};

/// Follow the moving leader (Zheng and Kwok 2017): the formula stands with the operator ftml_update.
struct Ftml {
  double learning_rate = 0.01;
  double beta1 = 0.6;     ///< what stays of z at each update
  double beta2 = 0.999;   ///< what stays of v at each update
  double epsilon = 1e-8;  ///< keeps the divisor from 0
#include <strop/optim/common.def>

  static constexpr std::string_view name = "ftml";
  void update(const Step& step, auto& weight, const auto& grad, auto& d, auto& v, auto& z) const {
    ftml_update(weight, grad, d, v, z,
                {.lr = detail::narrow(step.lr),
                 .beta1 = detail::narrow(beta1),
                 .beta2 = detail::narrow(beta2),
                 .epsilon = epsilon,
                 .t = static_cast<int>(step.t),
                 .wd = detail::narrow(step.wd),
                 .rescale_grad = detail::narrow(rescale_grad),
                 .clip_grad = detail::clip_bound(clip_gradient)},
                into(weight));
  }
};

/// Adam for large batches (You et al. 2020), with a step as long as the weight: mean and var as in Adam with g =
/// clip(rescale_grad · grad); u = mean / (1 − beta1ᵗ) / (√(var / (1 − beta2ᵗ)) + epsilon) + wd · weight; weight ←
/// weight − lr · |weight| / |u| · u, where |weight| is held to the bounds and the ratio is 1 if one of the two is 0.
struct Lamb {
  double learning_rate = 0.001;
  double beta1 = 0.9;                      ///< what stays of mean at each update
  double beta2 = 0.999;                    ///< what stays of var at each update
  double epsilon = 1e-6;                   ///< keeps the divisor from 0
  std::optional<double> lower_bound = {};  ///< least |weight| that counts; None, or none above 0: no bound
  std::optional<double> upper_bound = {};  ///< greatest |weight| that counts; the same
  bool bias_correction = true;             ///< the means are divided by what they lack at first
#include <strop/optim/common.def>

  static constexpr std::string_view name = "lamb";
  NDArray make_state(int, const NDArray& weight) const { return detail::lazy_state(weight, false); }

  void update(const Step& step, auto& weight, const auto& grad, auto& mean, auto& var) const {
    const auto u = lamb_update_phase1(weight, grad, mean, var, first<LambUpdatePhase1>(step));
    lamb_update_phase2(weight, u, norm(weight), norm(u), second<LambUpdatePhase2>(step), into(weight));
  }
  void update_mixed(const Step& step, auto& weight, const auto& grad, auto& mean, auto& var, auto& weight32) const {
    const auto u = mp_lamb_update_phase1(weight, grad, mean, var, weight32, first<MpLambUpdatePhase1>(step));
    mp_lamb_update_phase2(weight, u, norm(weight32), norm(u), weight32, second<MpLambUpdatePhase2>(step), into(weight));
  }

 private:
  template <class Update>
  Update first(const Step& step) const {
    return {.beta1 = detail::narrow(beta1),
            .beta2 = detail::narrow(beta2),
            .epsilon = detail::narrow(epsilon),
            .t = static_cast<int>(step.t),
            .bias_correction = bias_correction,
            .wd = detail::narrow(step.wd),
            .rescale_grad = detail::narrow(rescale_grad),
            .clip_gradient = detail::clip_bound(clip_gradient)};
  }
  template <class Update>
  Update second(const Step& step) const {
    return {.lr = detail::narrow(step.lr),
            .lower_bound = detail::clip_bound(lower_bound),
            .upper_bound = detail::clip_bound(upper_bound)};
  }
};

// NOLINTEND(readability-duplicate-include)
}  // namespace optim
}  // namespace strop::inline v0

#if !defined(STROP_COMPILED)
#include <strop/optim/adam_impl.hpp>
#endif

#include <strop/core/pop_macros.def>
