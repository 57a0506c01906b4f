// SPDX-License-Identifier: Apache-2.0
/// \file
/// Optimizer updates that are maps: a new weight, and new states written where they are.
#pragma once
#include <strop/op/op.hpp>
#include <strop/ops/list.hpp>

#include <string_view>
#include <tuple>

namespace strop::inline v0 {

namespace detail {
namespace numbers_where {
void where();  // a function, so that the numbers' own where is found, and not the operator
}
/// x held to [−bound, bound]; a negative bound is none.
constexpr auto clipped(auto x, float bound) {
  using numbers_where::where;
  return bound >= 0 ? where(x > bound, bound, where(x < -bound, -bound, x)) : x;
}
/// base to a power that is no negative number, by squaring.
constexpr double raised(double base, int exponent) {
  double result = 1;
  for (; exponent > 0; exponent /= 2, base *= base)
    if (exponent % 2 == 1) result *= base;
  return result;
}
inline constexpr std::string_view momentum_inputs[] = {"weight", "grad", "mom"}, momentum_states[] = {"mom"};
inline constexpr Note update_notes[] = {{"lr", "learning rate"},
                                        {"momentum", "decay of the momentum at each update"},
                                        {"beta1", "part of the mean of gradients that stays at each update"},
                                        {"beta2", "part of the mean of their squares that stays at each update"},
                                        {"gamma1", "part of the mean of squares that stays at each update"},
                                        {"gamma2", "decay of the last step at each update"},
                                        {"lamda1", "the new weight is 0 where |z| is at most this"},
                                        {"beta", "added to the root of n: the greater, the smaller are first steps"},
                                        {"wd", "weight decay: weight · wd is added to the gradient"},
                                        {"rescale_grad", "what the gradient is multiplied with first"},
                                        {"clip_gradient", "bound of the gradient's elements; negative: none"},
                                        {"clip_grad", "bound of the gradient's elements; negative: none"},
                                        {"clip_weights", "bound of the new weight's elements; negative: none"},
                                        {"wd_lh", "weight decay of the step itself, not of the momentum"},
                                        {"epsilon", "keeps the divisor from 0"},
                                        {"t", "number of this update, counted from 1"},
                                        {"bias_correction", "the means are divided by what they lack at first"},
                                        {"eta", "factor of the whole step"},
                                        {"lower_bound", "least r1; negative: none"},
                                        {"upper_bound", "greatest r1; negative: none"},
                                        {"lazy_update", "a row_sparse gradient touches its stored rows only"}};
}  // namespace detail

/// g = clip(rescale_grad · grad) + wd · weight; mom ← momentum · mom − lr · g; the new weight is weight + momentum ·
/// mom − lr · g.
///
/// All inputs have one shape and one floating type; mom is written. Sparse arrays by the dense fallback.
struct NagMomUpdate {
  Required<float> lr = {};
  float momentum = 0, wd = 0, rescale_grad = 1, clip_gradient = -1;

  static constexpr std::string_view name = "nag_mom_update";
  static constexpr std::span<const std::string_view> inputs = detail::momentum_inputs,
                                                     mutates = detail::momentum_states;
  static constexpr std::span<const Note> notes = detail::update_notes;
  static constexpr const char* doc = "Nesterov's momentum: a new weight from weight, grad and mom, which is written.";
  static constexpr bool same_shape = true, zero_gradient = true;
  constexpr auto forward(auto weight, auto grad, auto mom) const {
    const auto g = detail::clipped(rescale_grad * grad, clip_gradient) + wd * weight;
    const auto m = momentum * mom - *lr * g;
    return std::make_tuple(weight + (momentum * m - *lr * g), m);
  }
};
inline constexpr Op<NagMomUpdate, OnUse> nag_mom_update;

/// rmsprop_update: g = clip(rescale_grad · grad + wd · weight); n ← gamma1 · n + (1 − gamma1) · g²; the new weight is
/// weight − lr · g / √(n + epsilon), held to clip_weights.
///
/// All inputs have one shape and one floating type; n is written. Sparse arrays by the dense fallback.
struct RmspropUpdate {
  Required<float> lr = {};
  float gamma1 = 0.95f, epsilon = 1e-8f, wd = 0, rescale_grad = 1, clip_gradient = -1, clip_weights = -1;

  static constexpr std::string_view name = "rmsprop_update";
  static constexpr std::string_view inputs[] = {"weight", "grad", "n"}, mutates[] = {"n"};
  static constexpr std::span<const Note> notes = detail::update_notes;
  static constexpr const char* doc =
      "RMSProp: a new weight from weight, grad and n, the mean of squares, which is written.";
  static constexpr bool same_shape = true, zero_gradient = true;
  constexpr auto forward(auto weight, auto grad, auto n) const {
    const auto g = detail::clipped(rescale_grad * grad + wd * weight, clip_gradient);
    const auto squares = (1 - gamma1) * (g * g) + gamma1 * n;
    return std::make_tuple(detail::clipped(weight - *lr * (g / sqrt(squares + epsilon)), clip_weights), squares);
  }
};
inline constexpr Op<RmspropUpdate, OnUse> rmsprop_update;

/// rmspropalex_update: RMSProp that is centred and has momentum (Graves 2013). g = clip(rescale_grad · grad + wd ·
/// weight); n ← gamma1 · n + (1 − gamma1) · g²; g̅ ← gamma1 · g̅ + (1 − gamma1) · g; delta ← gamma2 · delta − lr · g /
/// √(n − g̅² + epsilon); the new weight is weight + delta, held to clip_weights.
///
/// All inputs have one shape and one floating type; n, g and delta are written. Sparse arrays by the dense fallback.
struct RmspropalexUpdate {
  Required<float> lr = {};
  float gamma1 = 0.95f, gamma2 = 0.9f, epsilon = 1e-8f, wd = 0, rescale_grad = 1, clip_gradient = -1, clip_weights = -1;

  static constexpr std::string_view name = "rmspropalex_update";
  static constexpr std::string_view inputs[] = {"weight", "grad", "n", "g", "delta"}, mutates[] = {"n", "g", "delta"};
  static constexpr std::span<const Note> notes = detail::update_notes;
  static constexpr const char* doc =
      "Centred RMSProp with momentum: a new weight from weight, grad and the states n, g and delta, which are written.";
  static constexpr bool same_shape = true, zero_gradient = true;
  constexpr auto forward(auto weight, auto grad, auto n, auto g, auto delta) const {
    const auto now = detail::clipped(rescale_grad * grad + wd * weight, clip_gradient);
    const auto squares = (1 - gamma1) * (now * now) + gamma1 * n;
    const auto average = (1 - gamma1) * now + gamma1 * g;
    const auto step = gamma2 * delta - *lr * (now / sqrt(squares - average * average + epsilon));
    return std::make_tuple(detail::clipped(weight + step, clip_weights), squares, average, step);
  }
};
inline constexpr Op<RmspropalexUpdate, OnUse> rmspropalex_update;

/// ftml_update: follow the moving leader (Zheng and Kwok 2017). g = clip(rescale_grad · grad + wd · weight);
/// v ← beta2 · v + (1 − beta2) · g²; d' = (1 − beta1ᵗ) / lr · (√(v / (1 − beta2ᵗ)) + epsilon);
/// z ← beta1 · z + (1 − beta1) · g − (d' − beta1 · d) · weight; d ← d'; the new weight is −z / d.
///
/// All inputs have one shape and one floating type; d, v and z are written. Sparse arrays by the dense fallback.
struct FtmlUpdate {
  Required<float> lr = {};
  float beta1 = 0.6f, beta2 = 0.999f;
  double epsilon = 1e-8;
  Required<int> t = {};
  float wd = 0, rescale_grad = 1, clip_grad = -1;

  static constexpr std::string_view name = "ftml_update";
  static constexpr std::string_view inputs[] = {"weight", "grad", "d", "v", "z"}, mutates[] = {"d", "v", "z"};
  static constexpr std::span<const Note> notes = detail::update_notes;
  static constexpr Range range[] = {{"beta1", 0, 1}, {"beta2", 0, 1}};
  static constexpr const char* doc =
      "Follow the moving leader: a new weight from weight, grad and the states d, v and z, which are written.";
  static constexpr bool same_shape = true, zero_gradient = true;
  constexpr auto forward(auto weight, auto grad, auto d, auto v, auto z) const {
    const auto g = detail::clipped(rescale_grad * grad + wd * weight, clip_grad);
    const auto squares = beta2 * v + (1 - beta2) * (g * g);
    const double first = detail::raised(beta1, *t), second = detail::raised(beta2, *t);
    const auto next = (1 - first) / *lr * (sqrt(squares / (1 - second)) + epsilon);
    const auto shifted = beta1 * z + (1 - beta1) * g - (next - beta1 * d) * weight;
    return std::make_tuple(-shifted / next, next, squares, shifted);
  }
};
inline constexpr Op<FtmlUpdate, OnUse> ftml_update;

/// signsgd_update: the new weight is (1 − lr · wd) · weight − lr · sign(grad).
///
/// Both inputs have one shape and one floating type. Sparse arrays by the dense fallback.
struct SignsgdUpdate {
  Required<float> lr = {};
  float wd = 0, rescale_grad = 1, clip_gradient = -1;

  static constexpr std::string_view name = "signsgd_update";
  static constexpr std::string_view inputs[] = {"weight", "grad"};
  static constexpr std::span<const Note> notes = detail::update_notes;
  static constexpr const char* doc = "A step of lr against the sign of the gradient, with weight decay.";
  static constexpr bool same_shape = true, zero_gradient = true;
  constexpr auto forward(auto weight, auto grad) const {
    return (1 - *lr * wd) * weight - *lr * where(grad > 0, 1, where(grad < 0, -1, grad));
  }
};
inline constexpr Op<SignsgdUpdate, OnUse> signsgd_update;

/// signum_update: mom ← momentum · mom − (1 − momentum) · (clip(rescale_grad · grad) + wd · weight); the new weight is
/// (1 − lr · wd_lh) · weight + lr · sign(mom).
///
/// All inputs have one shape and one floating type; mom is written. Sparse arrays by the dense fallback.
struct SignumUpdate {
  Required<float> lr = {};
  float momentum = 0, wd = 0, rescale_grad = 1, clip_gradient = -1, wd_lh = 0;

  static constexpr std::string_view name = "signum_update";
  static constexpr std::span<const std::string_view> inputs = detail::momentum_inputs,
                                                     mutates = detail::momentum_states;
  static constexpr std::span<const Note> notes = detail::update_notes;
  static constexpr const char* doc =
      "A step of lr along the sign of the momentum: a new weight from weight, grad and mom, which is written.";
  static constexpr bool same_shape = true, zero_gradient = true;
  constexpr auto forward(auto weight, auto grad, auto mom) const {
    const auto m =
        momentum * mom - (1 - momentum) * (wd * weight + detail::clipped(rescale_grad * grad, clip_gradient));
    return std::make_tuple((1 - *lr * wd_lh) * weight + *lr * where(m > 0, 1, where(m < 0, -1, m)), m);
  }
};
inline constexpr Op<SignumUpdate, OnUse> signum_update;

using OptimizerOps = OpList<NagMomUpdate, RmspropUpdate, RmspropalexUpdate, FtmlUpdate, SignsgdUpdate, SignumUpdate>;

}  // namespace strop::inline v0
