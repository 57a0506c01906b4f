// SPDX-License-Identifier: Apache-2.0
/// \file
/// Bodies of the operators of ops/large_batch.hpp, which only what builds their kernels reads.
#pragma once
#include <strop/ops/large_batch.hpp>
#include <strop/ops/mixed_optimizer_body.hpp>
#include <strop/ops/sparse_optimizer_body.hpp>

#include <algorithm>
#include <tuple>

namespace strop::inline v0 {

namespace detail {

/// The rate of LAMB's second phase: lr · r1 / r2 with r1 held to the bounds, or lr where one of them is 0.
constexpr double lamb_rate(double lr, double lower, double upper, double r1, double r2) {
  if (lower >= 0) r1 = std::max(r1, lower);
  if (upper >= 0) r1 = std::min(r1, upper);
  return r1 == 0 || r2 == 0 ? lr : lr * r1 / r2;
}

struct LambStep {
  float rate = 0;
  constexpr auto forward(auto weight, auto g) const { return weight - rate * g; }
};

/// One step of AdamW with the scale of the gradient at hand.
struct AdamwStep {
  float lr = 0, beta1 = 0, beta2 = 0, epsilon = 0, wd = 0, eta = 0, clip = 0, scale = 0;
  constexpr auto forward(auto weight, auto grad, auto momentum, auto var) const {
    const auto g = clipped(scale * grad, clip);
    const auto first = beta1 * momentum + (1 - beta1) * g, second = beta2 * var + (1 - beta2) * (g * g);
    return std::make_tuple(weight - eta * (lr * first / (sqrt(second) + epsilon) + wd * weight), first, second);
  }
  /// A scale that is 0 or no finite number says that the gradient overflowed.
  constexpr bool skips() const { return scale == 0 || !(scale - scale == 0); }
};

}  // namespace detail

template <Real E>
inline void LambUpdatePhase2::forward(Cpu&, const NDArray& weight, const NDArray& g, View<const E> r1, View<const E> r2,
                                      NDArray& out) const {
  const double rate = detail::lamb_rate(*lr, lower_bound, upper_bound, r1[0], r2[0]);
  detail::update<detail::LambStep, E>(name, {static_cast<float>(rate)}, false, weight, g, {}, out, inputs);
}

template <int>
inline void MpLambUpdatePhase1::forward(Cpu&, const NDArray&, const NDArray& grad, NDArray& momentum, NDArray& var,
                                        const NDArray& weight32, NDArray& out) const {
  const LambUpdatePhase1 step{beta1, beta2, epsilon, t, bias_correction, wd, rescale_grad, clip_gradient};
  detail::update<LambUpdatePhase1, float>(name, step, false, weight32, detail::as_type(grad, f32), {&momentum, &var},
                                          out, inputs);
}

template <int>
inline void MpLambUpdatePhase2::forward(Cpu&, const NDArray& weight, const NDArray& g, View<const float> r1,
                                        View<const float> r2, NDArray& weight32, NDArray& out) const {
  const double rate = detail::lamb_rate(*lr, lower_bound, upper_bound, r1[0], r2[0]);
  const detail::LambStep step{static_cast<float>(rate)};
  detail::mixed_update(name, step, false, weight, g, {}, weight32, out, inputs);
}

template <Real E>
inline void AdamwUpdate::forward(Cpu&, const NDArray& weight, const NDArray& grad, NDArray& momentum, NDArray& var,
                                 View<const E> scale, NDArray& out) const {
  const detail::AdamwStep step{*lr, beta1, beta2, epsilon, wd, *eta, clip_gradient, static_cast<float>(scale[0])};
  if (step.skips()) return detail::start_from_weight(name, weight, out);
  detail::update<detail::AdamwStep, E>(name, step, false, weight, grad, {&momentum, &var}, out, inputs);
}

template <int>
inline void MpAdamwUpdate::forward(Cpu&, const NDArray& weight, const NDArray& grad, NDArray& momentum, NDArray& var,
                                   NDArray& weight32, View<const float> scale, NDArray& out) const {
  const detail::AdamwStep step{*lr, beta1, beta2, epsilon, wd, *eta, clip_gradient, scale[0]};
  if (step.skips()) return detail::start_from_weight(name, weight, out);
  detail::mixed_update(name, step, false, weight, grad, {&momentum, &var}, weight32, out, inputs);
}

}  // namespace strop::inline v0
