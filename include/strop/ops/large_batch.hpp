// SPDX-License-Identifier: Apache-2.0
/// \file
/// Optimizer updates for large batches and scaled losses: LAMB in two phases, AdamW, and the rates of LARS.
#pragma once
#include <strop/op/op.hpp>
#include <strop/ops/list.hpp>
#include <strop/ops/mixed_optimizer.hpp>
#include <strop/ops/optimizer.hpp>
#include <strop/ops/sparse_optimizer.hpp>

#include <span>
#include <string_view>
#include <tuple>

namespace strop::inline v0 {

/// lamb_update_phase1: g = clip(rescale_grad · grad); mean ← beta1 · mean + (1 − beta1) · g; var ← beta2 · var +
/// (1 − beta2) · g²; the result is m / (√v + epsilon) + wd · weight, where m and v are mean and var, with
/// `bias_correction` divided by 1 − beta1ᵗ and 1 − beta2ᵗ.
///
/// All inputs have one shape and one floating type; mean and var are written. Sparse arrays by the dense fallback.
///
/// Example: `lamb_update_phase1(weight, grad, mean, var, {.t = 1, .wd = 0.01f})`, then lamb_update_phase2.
struct LambUpdatePhase1 {
  float beta1 = 0.9f, beta2 = 0.999f, epsilon = 1e-6f;
  Required<int> t = {};
  bool bias_correction = true;
  Required<float> wd = {};
  float rescale_grad = 1, clip_gradient = -1;

  static constexpr std::string_view name = "lamb_update_phase1";
  static constexpr std::string_view inputs[] = {"weight", "grad", "mean", "var"}, mutates[] = {"mean", "var"};
  static constexpr std::span<const Note> notes = detail::update_notes;
  static constexpr const char* doc =
      "The direction of LAMB's step, from weight, grad and the states mean and var, which are written.";
  static constexpr bool same_shape = true, zero_gradient = true;
  constexpr auto forward(auto weight, auto grad, auto momentum, auto var) const {
    const auto g = detail::clipped(rescale_grad * grad, clip_gradient);
    const auto first = beta1 * momentum + (1 - beta1) * g, second = beta2 * var + (1 - beta2) * (g * g);
    const double of_first = bias_correction ? 1 - detail::raised(beta1, *t) : 1,
                 of_second = bias_correction ? 1 - detail::raised(beta2, *t) : 1;
    return std::make_tuple(first / of_first / (sqrt(second / of_second) + epsilon) + *wd * weight, first, second);
  }
};
inline constexpr Op<LambUpdatePhase1, OnUse> lamb_update_phase1;

/// lamb_update_phase2: the new weight is weight − lr · r1 / r2 · g, with the norms r1 of the weight and r2 of g, one
/// number each; r1 is held to lower_bound and upper_bound, and lr alone is the rate where r1 or r2 is 0.
///
/// weight and g have one shape, all inputs one floating type. Sparse arrays by the dense fallback. Error: r1 or r2 has
/// more elements than one.
///
/// Example: `lamb_update_phase2(weight, g, norm(weight), norm(g), {.lr = 0.1f}, into(weight))`.
struct LambUpdatePhase2 {
  Required<float> lr = {};
  float lower_bound = -1, upper_bound = -1;

  static constexpr std::string_view name = "lamb_update_phase2", inputs[] = {"weight", "g", "r1", "r2"};
  static constexpr std::span<const Note> notes = detail::update_notes;
  static constexpr const char* doc = "LAMB's step along g, as long as the weight: weight − lr · r1 / r2 · g.";
  static constexpr Share inplace[] = {{0, 0}};
  static constexpr bool zero_gradient = true;

  constexpr void infer_shape(Shapes& shapes) const { detail::infer_update_shape(shapes, 2, 2); }
  template <Real E>
  void forward(Cpu&, const NDArray& weight, const NDArray& g, View<const E> r1, View<const E> r2, NDArray& out) const;
};
inline constexpr Op<LambUpdatePhase2, OnUse> lamb_update_phase2;

/// mp_lamb_update_phase1: lamb_update_phase1 of weight32; the result is float32.
///
/// weight and grad have one type, float16, bfloat16 or float32; mean, var and weight32 are float32, and mean and var
/// are written. All have one shape. Sparse arrays by the dense fallback.
///
/// Example: `mp_lamb_update_phase1(weight, grad, mean, var, weight32, {.t = 1, .wd = 0.01f})`.
struct MpLambUpdatePhase1 {
  float beta1 = 0.9f, beta2 = 0.999f, epsilon = 1e-6f;
  Required<int> t = {};
  bool bias_correction = true;
  Required<float> wd = {};
  float rescale_grad = 1, clip_gradient = -1;

  static constexpr std::string_view name = "mp_lamb_update_phase1";
  static constexpr std::string_view inputs[] = {"weight", "grad", "mean", "var", "weight32"},
                                    mutates[] = {"mean", "var"};
  static constexpr std::span<const Note> notes = detail::update_notes;
  static constexpr const char* doc = "lamb_update_phase1 of weight32, a float32 copy of weight.";
  static constexpr DtypeSet dtypes = detail::mixed_types;
  static constexpr bool zero_gradient = true;

  constexpr void infer_shape(Shapes& shapes) const { detail::infer_update_shape(shapes); }
  template <int = 0>
  constexpr void infer_type(Types& types) const {
    types.expect_in(0, dtypes);
    types.set_in(1, types.in(0));
    for (int i = 2; i < types.inputs(); ++i) types.set_in(i, f32);
    types.set_out(0, f32);
  }
  template <int = 0>
  void forward(Cpu&, const NDArray&, const NDArray& grad, NDArray& momentum, NDArray& var, const NDArray& weight32,
               NDArray& out) const;
};
inline constexpr Op<MpLambUpdatePhase1, OnUse> mp_lamb_update_phase1;

/// mp_lamb_update_phase2: lamb_update_phase2 of weight32, which is written, and to which the new weight is rounded.
///
/// weight is float16, bfloat16 or float32; g, r1, r2 and weight32 are float32. weight, g and weight32 have one shape.
/// Sparse arrays by the dense fallback. Error: r1 or r2 has more elements than one.
///
/// Example: `mp_lamb_update_phase2(weight, g, norm(weight32), norm(g), weight32, {.lr = 0.1f}, into(weight))`.
struct MpLambUpdatePhase2 {
  Required<float> lr = {};
  float lower_bound = -1, upper_bound = -1;

  static constexpr std::string_view name = "mp_lamb_update_phase2";
  static constexpr std::string_view inputs[] = {"weight", "g", "r1", "r2", "weight32"}, mutates[] = {"weight32"};
  static constexpr std::span<const Note> notes = detail::update_notes;
  static constexpr const char* doc =
      "lamb_update_phase2 of weight32, a float32 copy of weight, to which weight is rounded.";
  static constexpr DtypeSet dtypes = detail::mixed_types;
  static constexpr Share inplace[] = {{0, 0}};
  static constexpr bool zero_gradient = true;

  constexpr void infer_shape(Shapes& shapes) const { detail::infer_update_shape(shapes, 2, 2); }
  template <int = 0>
  constexpr void infer_type(Types& types) const {
    types.expect_in(0, dtypes);
    types.set_out(0, types.in(0));
    types.set_in(0, types.out(0));
    for (int i = 1; i < types.inputs(); ++i) types.set_in(i, f32);
  }
  template <int = 0>
  void forward(Cpu&, const NDArray& weight, const NDArray& g, View<const float> r1, View<const float> r2,
               NDArray& weight32, NDArray& out) const;
};
inline constexpr Op<MpLambUpdatePhase2, OnUse> mp_lamb_update_phase2;

/// _adamw_update: g = clip(rescale_grad · grad); mean ← beta1 · mean + (1 − beta1) · g; var ← beta2 · var + (1 − beta2)
/// · g²; the new weight is weight − eta · (lr · mean / (√var + epsilon) + wd · weight). Where rescale_grad, one number,
/// is 0, infinite or NaN, nothing changes: the loss was scaled too far.
///
/// weight, grad, mean and var have one shape, all inputs one floating type; mean and var are written. Sparse arrays by
/// the dense fallback. Error: rescale_grad has more elements than one.
///
/// Example: `adamw_update(weight, grad, mean, var, array({1}), {.lr = 0.1f, .eta = 1}, into(weight))`.
struct AdamwUpdate {
  Required<float> lr = {};
  float beta1 = 0.9f, beta2 = 0.999f, epsilon = 1e-8f, wd = 0;
  Required<float> eta = {};
  float clip_gradient = -1;

  static constexpr std::string_view name = "_adamw_update", aliases[] = {"_contrib_adamw_update", "adamw_update"};
  static constexpr std::string_view inputs[] = {"weight", "grad", "mean", "var", "rescale_grad"},
                                    mutates[] = {"mean", "var"};
  static constexpr std::span<const Note> notes = detail::update_notes;
  static constexpr const char* doc =
      "Adam with a weight decay of its own, of a gradient times rescale_grad, an array of one number; nothing changes "
      "where that is 0 or not finite.";
  static constexpr Share inplace[] = {{0, 0}};
  static constexpr bool zero_gradient = true;

  constexpr void infer_shape(Shapes& shapes) const { detail::infer_update_shape(shapes, 4, 1); }
  template <Real E>
  void forward(Cpu&, const NDArray& weight, const NDArray& grad, NDArray& momentum, NDArray& var, View<const E> scale,
               NDArray& out) const;
};
inline constexpr Op<AdamwUpdate, OnUse> adamw_update;

/// _mp_adamw_update: _adamw_update of weight32, which is written, and to which the new weight is rounded.
///
/// weight and grad have one type, float16, bfloat16 or float32; the rest is float32. Sparse arrays by the dense
/// fallback. Error: rescale_grad has more elements than one.
///
/// Example: `mp_adamw_update(weight, grad, mean, var, weight32, array({1}), {.lr = 0.1f, .eta = 1}, into(weight))`.
struct MpAdamwUpdate {
  Required<float> lr = {};
  float beta1 = 0.9f, beta2 = 0.999f, epsilon = 1e-8f, wd = 0;
  Required<float> eta = {};
  float clip_gradient = -1;

  static constexpr std::string_view name = "_mp_adamw_update",
                                    aliases[] = {"_contrib_mp_adamw_update", "mp_adamw_update"};
  static constexpr std::string_view inputs[] = {"weight", "grad", "mean", "var", "weight32", "rescale_grad"},
                                    mutates[] = {"mean", "var", "weight32"};
  static constexpr std::span<const Note> notes = detail::update_notes;
  static constexpr const char* doc = "_adamw_update of weight32, a float32 copy of weight, to which weight is rounded.";
  static constexpr DtypeSet dtypes = detail::mixed_types;
  static constexpr Share inplace[] = {{0, 0}};
  static constexpr bool zero_gradient = true;

  constexpr void infer_shape(Shapes& shapes) const { detail::infer_update_shape(shapes, 5, 1); }
  constexpr void infer_type(Types& types) const { detail::infer_mixed_type(types); }
  template <int = 0>
  void forward(Cpu&, const NDArray& weight, const NDArray& grad, NDArray& momentum, NDArray& var, NDArray& weight32,
               View<const float> scale, NDArray& out) const;
};
inline constexpr Op<MpAdamwUpdate, OnUse> mp_adamw_update;

/// multi_lars: the rates of LARS for as many weights as there are elements: lrs · eta · w / (rescale_grad · g + wds · w
/// + eps), where w and g are the roots of weights_sum_sq and grads_sum_sq, or lrs where one of these is 0.
///
/// All inputs have one shape and one floating type. Sparse arrays by the dense fallback.
///
/// Example: `multi_lars(array({1}), array({4}), array({1}), array({0}), {.eta = 0.5f, .eps = 0})` is [1].
struct MultiLars {
  Required<float> eta = {}, eps = {};
  float rescale_grad = 1;

  static constexpr std::string_view name = "multi_lars";
  static constexpr std::string_view inputs[] = {"lrs", "weights_sum_sq", "grads_sum_sq", "wds"};
  static constexpr Note notes[] = {{"eta", "what a step may be of the weight"},
                                   {"eps", "keeps the divisor from 0"},
                                   {"rescale_grad", "what the gradients are multiplied with"}};
  static constexpr const char* doc =
      "The rates of LARS, one for each weight, from the given ones, sums of squares of weights and gradients, and the "
      "weight decays.";
  static constexpr bool same_shape = true, zero_gradient = true;
  constexpr auto forward(auto lr, auto weights, auto grads, auto wd) const {
    const auto w = sqrt(weights);
    const auto rate = lr * *eta * w / (rescale_grad * sqrt(grads) + wd * w + *eps);
    return where(weights > 0, where(grads > 0, rate, lr), lr);
  }
};
inline constexpr Op<MultiLars, OnUse> multi_lars;

using LargeBatchOps = OpList<LambUpdatePhase1, LambUpdatePhase2, MpLambUpdatePhase1, MpLambUpdatePhase2, AdamwUpdate,
                             MpAdamwUpdate, MultiLars>;

}  // namespace strop::inline v0

#if !defined(STROP_OPERATORS_COMPILED) || defined(__CUDACC__)
#include <strop/ops/large_batch_body.hpp>
#endif
