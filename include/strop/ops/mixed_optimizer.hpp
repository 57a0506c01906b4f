// SPDX-License-Identifier: Apache-2.0
/// \file
/// Optimizer updates in mixed precision: a weight of float16 or bfloat16 follows a copy of it in float32, of which the
/// step is computed; row_sparse gradients touch the rows that they store of both.
#pragma once
#include <strop/op/op.hpp>
#include <strop/ops/cast.hpp>
#include <strop/ops/list.hpp>
#include <strop/ops/optimizer.hpp>
#include <strop/ops/sparse_optimizer.hpp>

#include <span>
#include <string_view>

namespace strop::inline v0 {

namespace detail {

inline constexpr DtypeSet mixed_types = DtypeSet(f16) | bf16 | f32;
inline constexpr std::string_view mixed_inputs[] = {"weight", "grad", "weight32"}, mixed_states[] = {"weight32"},
                                  mixed_momentum_inputs[] = {"weight", "grad", "mom", "weight32"},
                                  mixed_momentum_states[] = {"mom", "weight32"};

/// weight and grad have one type; everything that is kept is float32.
template <int = 0>
constexpr void infer_mixed_type(Types& t) {
  t.expect_in(0, mixed_types);
  t.set_out(0, t.in(0));
  t.set_in(0, t.out(0));
  t.set_in(1, t.in(0));
  for (int i = 2; i < t.inputs(); ++i) t.set_in(i, f32);
}

}  // namespace detail

/// mp_sgd_update: sgd_update of weight32, to which the new weight is rounded.
///
/// weight and grad have one type, float16, bfloat16 or float32; weight32, float32, is written. All have one shape. A
/// row_sparse gradient updates its stored rows only while `lazy_update`; row_sparse weights store all their rows. Other
/// storages by the dense fallback. Error: other types, a row_sparse weight lacks rows.
///
/// Example: `mp_sgd_update(weight, grad, weight32, {.lr = 0.5f}, into(weight))`.
struct MpSgdUpdate {
  Required<float> lr = {};
  float wd = 0, rescale_grad = 1, clip_gradient = -1;
  bool lazy_update = true;

  static constexpr std::string_view name = "mp_sgd_update";
  static constexpr std::span<const std::string_view> inputs = detail::mixed_inputs, mutates = detail::mixed_states;
  static constexpr std::span<const Note> notes = detail::update_notes;
  static constexpr const char* doc = "sgd_update of weight32, a float32 copy of weight, to which weight is rounded.";
  static constexpr DtypeSet dtypes = detail::mixed_types;
  static constexpr Share inplace[] = {{0, 0}};
  static constexpr bool zero_gradient = true;

  constexpr void infer_shape(Shapes& shapes) const { detail::infer_update_shape(shapes); }
  constexpr void infer_type(Types& types) const { detail::infer_mixed_type(types); }
  constexpr bool infer_storage(Storages& s) const { return detail::infer_update_storage(s); }
  template <int = 0>
  void forward(Cpu&, const NDArray& weight, const NDArray& grad, NDArray& weight32, NDArray& out) const;
};
template <>
inline constexpr bool detail::reads_any_index<MpSgdUpdate> = true;
inline constexpr Op<MpSgdUpdate, OnUse> mp_sgd_update;

/// mp_sgd_mom_update: sgd_mom_update of weight32, to which the new weight is rounded.
///
/// mom and weight32 are float32 and written; lazy as sgd_mom_update is, the rest is as for mp_sgd_update.
///
/// Example: `mp_sgd_mom_update(weight, grad, mom, weight32, {.lr = 0.5f, .momentum = 0.9f}, into(weight))`.
struct MpSgdMomUpdate {
  Required<float> lr = {};
  float momentum = 0, wd = 0, rescale_grad = 1, clip_gradient = -1;
  bool lazy_update = true;

  static constexpr std::string_view name = "mp_sgd_mom_update";
  static constexpr std::span<const std::string_view> inputs = detail::mixed_momentum_inputs,
                                                     mutates = detail::mixed_momentum_states;
  static constexpr std::span<const Note> notes = detail::update_notes;
  static constexpr const char* doc =
      "sgd_mom_update of weight32, a float32 copy of weight, to which weight is rounded.";
  static constexpr DtypeSet dtypes = detail::mixed_types;
  static constexpr Share inplace[] = {{0, 0}};
  static constexpr bool zero_gradient = true;

  constexpr void infer_shape(Shapes& shapes) const { detail::infer_update_shape(shapes); }
  constexpr void infer_type(Types& types) const { detail::infer_mixed_type(types); }
  constexpr bool infer_storage(Storages& s) const { return detail::infer_update_storage(s); }
  template <int = 0>
  void forward(Cpu&, const NDArray& weight, const NDArray& grad, NDArray& mom, NDArray& weight32, NDArray& out) const;
};
template <>
inline constexpr bool detail::reads_any_index<MpSgdMomUpdate> = true;
inline constexpr Op<MpSgdMomUpdate, OnUse> mp_sgd_mom_update;

/// mp_nag_mom_update: nag_mom_update of weight32, to which the new weight is rounded; never lazy.
///
/// weight and grad have one type, float16, bfloat16 or float32; mom and weight32, float32, are written. All have one
/// shape. A row_sparse gradient updates every row; row_sparse weights store all their rows. Other storages by the dense
/// fallback. Error: other types, a row_sparse weight lacks rows.
///
/// Example: `mp_nag_mom_update(weight, grad, mom, weight32, {.lr = 0.5f, .momentum = 0.9f}, into(weight))`.
struct MpNagMomUpdate {
  Required<float> lr = {};
  float momentum = 0, wd = 0, rescale_grad = 1, clip_gradient = -1;

  static constexpr std::string_view name = "mp_nag_mom_update";
  static constexpr std::span<const std::string_view> inputs = detail::mixed_momentum_inputs,
                                                     mutates = detail::mixed_momentum_states;
  static constexpr std::span<const Note> notes = detail::update_notes;
  static constexpr const char* doc =
      "nag_mom_update of weight32, a float32 copy of weight, to which weight is rounded.";
  static constexpr DtypeSet dtypes = detail::mixed_types;
  static constexpr Share inplace[] = {{0, 0}};
  static constexpr bool zero_gradient = true;

  constexpr void infer_shape(Shapes& shapes) const { detail::infer_update_shape(shapes); }
  constexpr void infer_type(Types& types) const { detail::infer_mixed_type(types); }
  constexpr bool infer_storage(Storages& s) const { return detail::infer_update_storage(s); }
  template <int = 0>
  void forward(Cpu&, const NDArray& weight, const NDArray& grad, NDArray& mom, NDArray& weight32, NDArray& out) const;
};
template <>
inline constexpr bool detail::reads_any_index<MpNagMomUpdate> = true;
inline constexpr Op<MpNagMomUpdate, OnUse> mp_nag_mom_update;

/// mp_adam_update: adam_update of weight32, to which the new weight is rounded.
///
/// mean, var and weight32 are float32 and written; lazy as adam_update is, the rest is as for mp_sgd_update.
///
/// Example: `mp_adam_update(weight, grad, mean, var, weight32, {.lr = 0.001f}, into(weight))`.
struct MpAdamUpdate {
  Required<float> lr = {};
  float beta1 = 0.9f, beta2 = 0.999f, epsilon = 1e-8f, wd = 0, rescale_grad = 1, clip_gradient = -1;
  bool lazy_update = true;

  static constexpr std::string_view name = "mp_adam_update";
  static constexpr std::string_view inputs[] = {"weight", "grad", "mean", "var", "weight32"},
                                    mutates[] = {"mean", "var", "weight32"};
  static constexpr std::span<const Note> notes = detail::update_notes;
  static constexpr const char* doc = "adam_update of weight32, a float32 copy of weight, to which weight is rounded.";
  static constexpr DtypeSet dtypes = detail::mixed_types;
  static constexpr Share inplace[] = {{0, 0}};
  static constexpr bool zero_gradient = true;

  constexpr void infer_shape(Shapes& shapes) const { detail::infer_update_shape(shapes); }
  constexpr void infer_type(Types& types) const { detail::infer_mixed_type(types); }
  constexpr bool infer_storage(Storages& s) const { return detail::infer_update_storage(s); }
  template <int = 0>
  void forward(Cpu&, const NDArray& weight, const NDArray& grad, NDArray& first, NDArray& second, NDArray& weight32,
               NDArray& out) const;
};
template <>
inline constexpr bool detail::reads_any_index<MpAdamUpdate> = true;
inline constexpr Op<MpAdamUpdate, OnUse> mp_adam_update;

using MixedOptimizerOps = OpList<MpSgdUpdate, MpSgdMomUpdate, MpNagMomUpdate, MpAdamUpdate>;

}  // namespace strop::inline v0

#if !defined(STROP_OPERATORS_COMPILED) || defined(__CUDACC__)
#include <strop/ops/mixed_optimizer_body.hpp>
#endif
