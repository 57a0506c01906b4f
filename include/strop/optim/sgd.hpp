// SPDX-License-Identifier: Apache-2.0
/// \file
/// Optimizers along the gradient: Sgd, Nag, Signum.
#pragma once
#include <strop/core/push_macros.def>

#include <strop/ops/mixed_optimizer.hpp>
#include <strop/ops/optimizer.hpp>
#include <strop/ops/sparse_optimizer.hpp>
#include <strop/optim/optimizer.hpp>

#include <optional>
#include <string_view>

namespace strop::inline v0 {
namespace detail {

/// The bound as update operators take it: negative where there is none.
inline float clip_bound(const std::optional<double>& bound) {
  return bound && *bound > 0 ? static_cast<float>(*bound) : -1.0f;
}
inline float narrow(double x) { return static_cast<float>(x); }

/// Parameters of an update operator: those that every optimizer has, momentum and lazy_update where both have them.
template <class Update>
Update update_parameters(const optim::Step& step, const auto& optimizer) {
  Update made;
  made.lr = narrow(step.lr);
  made.wd = narrow(step.wd);
  made.rescale_grad = narrow(optimizer.rescale_grad);
  made.clip_gradient = clip_bound(optimizer.clip_gradient);
  if constexpr (requires { made.momentum, optimizer.momentum; }) made.momentum = narrow(optimizer.momentum);
  if constexpr (requires { made.lazy_update, optimizer.lazy_update; }) made.lazy_update = optimizer.lazy_update;
  return made;
}

/// A state of zeros that is stored as its weight where updates are lazy, else dense, which has them update every row.
inline NDArray lazy_state(const NDArray& weight, bool lazy) {
  return zeros(weight.shape(), lazy ? weight.storage() : dense, weight.dtype(), weight.device());
}

}  // namespace detail

namespace optim {
// NOLINTBEGIN(readability-duplicate-include): the fields that all have in common

// In all of them g = clip(rescale_grad · grad). Parameters have MXNet's names and defaults. The order is
// learning_rate, those of the optimizer itself, then those of optim/common.def: wd, rescale_grad, clip_gradient,
// lr_scheduler, begin_num_update, multi_precision, param_idx2name.

/// weight ← weight − lr · (g + wd · weight); with momentum mom ← momentum · mom − lr · (g + wd · weight), weight ←
/// weight + mom.
///
/// A row_sparse gradient updates its stored rows of weight and mom only while lazy_update, else all of them as if it
/// were dense.
struct Sgd {
  double learning_rate = 0.01;
  double momentum = 0;      ///< what stays of mom at each update; 0: there is no mom
  bool lazy_update = true;  ///< a row_sparse gradient touches its stored rows only
#include <strop/optim/common.def>

  static constexpr std::string_view name = "sgd";
  int states() const { return momentum != 0 ? 1 : 0; }
  NDArray make_state(int, const NDArray& weight) const { return detail::lazy_state(weight, lazy_update); }

  void update(const Step& step, auto& weight, const auto& grad) const {
    sgd_update(weight, grad, detail::update_parameters<SgdUpdate>(step, *this), into(weight));
  }
  void update(const Step& step, auto& weight, const auto& grad, auto& mom) const {
    sgd_mom_update(weight, grad, mom, detail::update_parameters<SgdMomUpdate>(step, *this), into(weight));
  }
  void update_mixed(const Step& step, auto& weight, const auto& grad, auto& weight32) const {
    mp_sgd_update(weight, grad, weight32, detail::update_parameters<MpSgdUpdate>(step, *this), into(weight));
  }
  void update_mixed(const Step& step, auto& weight, const auto& grad, auto& mom, auto& weight32) const {
    mp_sgd_mom_update(weight, grad, mom, weight32, detail::update_parameters<MpSgdMomUpdate>(step, *this),
                      into(weight));
  }
};

/// Nesterov's momentum: mom ← momentum · mom − lr · (g + wd · weight), weight ← weight + momentum · mom − lr · (g + wd
/// · weight). Without momentum it is Sgd.
struct Nag {
  double learning_rate = 0.01;
  double momentum = 0;  ///< what stays of mom at each update; 0: there is no mom
#include <strop/optim/common.def>

  static constexpr std::string_view name = "nag";
  int states() const { return momentum != 0 ? 1 : 0; }

  void update(const Step& step, auto& weight, const auto& grad) const {
    sgd_update(weight, grad, detail::update_parameters<SgdUpdate>(step, *this), into(weight));
  }
  void update(const Step& step, auto& weight, const auto& grad, auto& mom) const {
    nag_mom_update(weight, grad, mom, detail::update_parameters<NagMomUpdate>(step, *this), into(weight));
  }
  void update_mixed(const Step& step, auto& weight, const auto& grad, auto& weight32) const {
    mp_sgd_update(weight, grad, weight32, detail::update_parameters<MpSgdUpdate>(step, *this), into(weight));
  }
  void update_mixed(const Step& step, auto& weight, const auto& grad, auto& mom, auto& weight32) const {
    mp_nag_mom_update(weight, grad, mom, weight32, detail::update_parameters<MpNagMomUpdate>(step, *this),
                      into(weight));
  }
};

/// A step of lr along a sign (Bernstein et al. 2018): mom ← momentum · mom − (1 − momentum) · (g + wd · weight), weight
/// ← (1 − lr · wd_lh) · weight + lr · sign(mom). Without momentum weight ← (1 − lr · wd) · weight − lr · sign(grad).
struct Signum {
  double learning_rate = 0.01;
  double momentum = 0.9;  ///< what stays of mom at each update; 0: there is no mom
  double wd_lh = 0;       ///< weight decay of the step itself, not of the momentum
#include <strop/optim/common.def>

  static constexpr std::string_view name = "signum";
  int states() const { return momentum != 0 ? 1 : 0; }

  void update(const Step& step, auto& weight, const auto& grad) const {
    signsgd_update(weight, grad, detail::update_parameters<SignsgdUpdate>(step, *this), into(weight));
  }
  void update(const Step& step, auto& weight, const auto& grad, auto& mom) const {
    auto parameters = detail::update_parameters<SignumUpdate>(step, *this);
    parameters.wd_lh = detail::narrow(wd_lh);
    signum_update(weight, grad, mom, parameters, into(weight));
  }
};

// NOLINTEND(readability-duplicate-include)
}  // namespace optim
}  // namespace strop::inline v0

#include <strop/core/pop_macros.def>
