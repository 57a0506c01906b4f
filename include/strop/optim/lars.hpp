// SPDX-License-Identifier: Apache-2.0
/// \file
/// Lars: Sgd for large batches, whose rate follows from how large the weight and its gradient are.
#pragma once
#include <strop/core/push_macros.def>

#include <strop/op/map.hpp>
#include <strop/ops/cast.hpp>
#include <strop/ops/finite.hpp>
#include <strop/ops/large_batch.hpp>
#include <strop/ops/sparse_optimizer.hpp>
#include <strop/optim/optimizer.hpp>
#include <strop/optim/sgd.hpp>
#include <strop/tensor/create.hpp>

#include <string_view>

namespace strop::inline v0 {
namespace optim {

/// You et al. (2017): Sgd whose lr is multiplied with eta · |weight| / (|rescale_grad · grad| + wd · |weight| + eps),
/// or with 1 where one of the norms is 0. Names that end in gamma, beta or bias have the rate as it is. With
/// momentum_correction the momentum grows with the learning rate: it is multiplied with the rate by that of the
/// weight's last update.
///
/// A row_sparse gradient waits for its norms while lazy_update; all other calls wait for nothing. Names in
/// param_idx2name that do not end in _weight have no weight decay.
struct Lars {
  double learning_rate = 0.01;
  double momentum = 0;              ///< what stays of mom at each update; 0: there is no mom
  bool lazy_update = true;          ///< a row_sparse gradient touches its stored rows only
  double eta = 0.001;               ///< what a step may be of the weight
  double eps = 0;                   ///< keeps the divisor from 0
  bool momentum_correction = true;  ///< the momentum grows with the learning rate
#include <strop/optim/common.def>

  static constexpr std::string_view name = "lars", decayed[] = {"_weight"};
  int states() const { return momentum != 0 ? 1 : 0; }
  NDArray make_state(int, const NDArray& weight) const { return detail::lazy_state(weight, lazy_update); }

  void update(const Step& step, auto& weight, const auto& grad) const {
    with_rate(step, weight, grad, [&](const Step& at, const auto& by, double rescale, std::optional<double> clip) {
      sgd(rescale, clip).update(at, weight, by);
    });
  }
  void update(const Step& step, auto& weight, const auto& grad, auto& mom) const {
    with_rate(step, weight, grad, [&](const Step& at, const auto& by, double rescale, std::optional<double> clip) {
      Sgd along = sgd(rescale, clip);
      along.momentum = momentum_correction ? momentum * step.lr_ratio : momentum;
      along.update(at, weight, by, mom);
    });
  }

 private:
  Sgd sgd(double rescale, std::optional<double> clip) const {
    return {.lazy_update = lazy_update, .rescale_grad = rescale, .clip_gradient = clip};
  }

  /// Has `update` go along the gradient at the rate of the weight. That is an array, which nobody waits for: the
  /// gradient takes it up, with the weight decay, and the update has the rate 1.
  void with_rate(const Step& step, const auto& weight, const auto& grad, const auto& update) const {
    for (std::string_view ending : {"gamma", "beta", "bias"})
      if (step.name.ends_with(ending)) return update(step, grad, rescale_grad, clip_gradient);
    const auto of_weight = multi_sum_sq({weight.data()}, {.num_arrays = 1}),
               of_grad = multi_sum_sq({grad.data()}, {.num_arrays = 1});
    const auto number = [&](double value) { return full({1}, value, f32, of_weight.device()); };
    const auto rate = multi_lars(
        number(step.lr), of_weight, of_grad, number(step.wd),
        {.eta = detail::narrow(eta), .eps = detail::narrow(eps), .rescale_grad = detail::narrow(rescale_grad)});
    Step at = step;
    if (grad.storage() == row_sparse && lazy_update) {
      at.lr = rate.template item<double>();
      return update(at, grad, rescale_grad, clip_gradient);
    }
    const float rescale = detail::narrow(rescale_grad), bound = detail::clip_bound(clip_gradient);
    const auto scaled = map([rescale, bound, wd = step.wd](
                                auto g, auto w, auto r) { return r * (detail::clipped(rescale * g, bound) + wd * w); },
                            grad, weight, cast(rate, {.dtype = weight.dtype()}));
    at.lr = 1;
    at.wd = 0;
    update(at, scaled, 1, {});
  }
};

}  // namespace optim
}  // namespace strop::inline v0

#include <strop/core/pop_macros.def>
