// SPDX-License-Identifier: Apache-2.0
/// \file
/// Bodies of the operators of ops/ctc_loss.hpp, which only what builds their kernels reads.
#pragma once
#include <strop/core/checked.hpp>
#include <strop/core/list.hpp>
#include <strop/engine/pool.hpp>
#include <strop/ops/ctc_loss.hpp>
#include <strop/ops/shape/move.hpp>
#include <strop/ops/shape/move_body.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string_view>
#include <vector>

namespace strop::inline v0 {

namespace detail {

inline namespace STROP_ISA {

/// log(eᵃ + eᵇ), of which one or both may be 0; no number where one is none.
inline double log_of_sum(double a, double b) {
  constexpr double never = -std::numeric_limits<double>::infinity();
  if (a == never) return b;
  if (b == never) return a;
  return std::max(a, b) + std::log1p(std::exp(-std::abs(a - b)));
}

/// The labels of a sequence with blanks around each, and the paths through them: each step stays, goes on to the next
/// place, or to the label behind a blank unless it is the same one. Logarithms throughout.
template <class E>
class LabelPaths {
 public:
  /// Steps of `classes` activations, each `stride` elements behind the one before.
  LabelPaths(const E* activations, std::int64_t stride, std::int64_t steps, std::int64_t classes,
             Span<const std::int64_t> labels, std::int64_t blank)
      : activations_(activations),
        stride_(stride),
        steps_(steps),
        classes_(classes),
        places_(2 * labels.size() + 1),
        at_(places_, blank),
        logs_(checked_product(steps, places_, "ctc_loss")),
        sums_(steps) {
    for (Index k = 0; k < labels.size(); ++k) at_[2 * k + 1] = labels[k];
    for (std::int64_t t = 0; t < steps; ++t) {
      const E* const row = activations + t * stride;
      const double most = static_cast<double>(*std::max_element(row, row + classes));
      double total = 0;
      for (std::int64_t k = 0; k < classes; ++k) total += std::exp(static_cast<double>(row[k]) - most);
      sums_[t] = most + std::log(total);
      for (std::int64_t s = 0; s < places_; ++s) logs_[t * places_ + s] = static_cast<double>(row[at_[s]]) - sums_[t];
    }
  }
  /// Whether there are steps enough: one for each label, and for a blank between labels that are the same.
  bool possible() const {
    std::int64_t needed = places_ / 2;
    for (std::int64_t s = 3; s < places_; s += 2) needed += at_[s] == at_[s - 2] ? 1 : 0;
    return needed <= steps_;
  }
  /// −log of the sum of the probabilities of all paths. Keeps what each place at each step has of it.
  double loss() {
    forward_ = List<double>(steps_ * places_, never);
    if (steps_ == 0) return places_ == 1 ? 0.0 : -never;
    for (std::int64_t s = 0; s < std::min<std::int64_t>(2, places_); ++s) forward_[s] = logs_[s];
    for (std::int64_t t = 1; t < steps_; ++t)
      for (std::int64_t s = 0; s < places_; ++s) {
        const double* const before = forward_.data() + (t - 1) * places_;
        double total = before[s];
        if (s > 0) total = log_of_sum(total, before[s - 1]);
        if (skips(s)) total = log_of_sum(total, before[s - 2]);
        forward_[t * places_ + s] = total + logs_[t * places_ + s];
      }
    const double* const last = forward_.data() + (steps_ - 1) * places_;
    return -(places_ == 1 ? last[0] : log_of_sum(last[places_ - 1], last[places_ - 2]));
  }
  /// Writes the gradient of the loss that was found, times `head`, in the layout of the activations: of each step the
  /// probabilities less the share of the paths.
  void gradient(double loss, double head, E* to) const {
    List<double> later(places_, never), now(places_, never), share(classes_);
    for (std::int64_t t = steps_; t-- > 0;) {
      const double* const logs = logs_.data() + t * places_;
      for (std::int64_t s = 0; s < places_; ++s) {
        if (t == steps_ - 1) {
          now[s] = s + 2 >= places_ ? 0.0 : never;  // at the last label or the blank behind it
          continue;
        }
        const double* const next = logs + places_;
        double total = later[s] + next[s];
        if (s + 1 < places_) total = log_of_sum(total, later[s + 1] + next[s + 1]);
        if (s + 2 < places_ && skips(s + 2)) total = log_of_sum(total, later[s + 2] + next[s + 2]);
        now[s] = total;
      }
      std::fill(share.begin(), share.end(), 0.0);
      for (std::int64_t s = 0; s < places_; ++s)
        if (const double through = forward_[t * places_ + s] + now[s];
            through != never)  // else the loss may be infinite
          share[at_[s]] += std::exp(through + loss);
      for (std::int64_t k = 0; k < classes_; ++k) {
        const double probability = std::exp(static_cast<double>(activations_[t * stride_ + k]) - sums_[t]);
        to[t * stride_ + k] = static_cast<E>(head * (probability - share[k]));
      }
      std::swap(later, now);
    }
  }

 private:
  static constexpr double never = -std::numeric_limits<double>::infinity();
  /// Whether place s may follow the one two before it.
  bool skips(std::int64_t s) const { return s % 2 == 1 && s >= 3 && at_[s] != at_[s - 2]; }

  const E* activations_;
  std::int64_t stride_, steps_, classes_, places_;
  List<std::int64_t> at_;
  List<double> logs_, sums_, forward_;
};

}  // namespace STROP_ISA

}  // namespace detail

inline std::vector<std::string_view> CTCLoss::inputs() const {
  std::vector<std::string_view> names{"data", "label"};
  if (use_data_lengths) names.push_back("data_lengths");
  if (use_label_lengths) names.push_back("label_lengths");
  return names;
}

template <Real E>
inline void CTCLoss::forward(Cpu&, View<const E, 3> data, View<const std::int64_t, 2> label,
                             View<const std::int64_t, 1> third, View<const std::int64_t, 1> fourth,
                             View<E, 1> losses) const {
  each_sequence(data, label, third, fourth, [&](std::int64_t n, detail::LabelPaths<E> paths) {
    losses[n] = static_cast<E>(paths.possible() ? paths.loss() : 0.0);
  });
}

template <Real E>
inline void CTCLoss::grad_use_in(Cpu&, View<const E, 1> head, View<const E, 3> data, View<const std::int64_t, 2> label,
                                 View<const std::int64_t, 1> third, View<const std::int64_t, 1> fourth,
                                 View<E, 3> ddata, NDArray& dlabel, NDArray& dthird, NDArray& dfourth) const {
  for (const NDArray* none : {&dlabel, &dthird, &dfourth})
    if (none->defined()) detail::zero_elements(*none);
  std::fill(ddata.begin(), ddata.end(), E(0));
  each_sequence(data, label, third, fourth, [&](std::int64_t n, detail::LabelPaths<E> paths) {
    if (!paths.possible()) return;
    const double loss = paths.loss();
    paths.gradient(loss, static_cast<double>(head[n]), ddata.data() + n * data.shape()[2]);
  });
}

template <class E, class F>
inline void CTCLoss::each_sequence(View<const E, 3> data, View<const std::int64_t, 2> label,
                                   View<const std::int64_t, 1> third, View<const std::int64_t, 1> fourth, F f) const {
  const std::int64_t steps = data.shape()[0], batch = data.shape()[1], classes = data.shape()[2],
                     most = label.shape()[1], blank = blank_label == first ? 0 : classes - 1,
                     end = blank_label == first ? 0 : -1;
  const auto length = [](std::string_view input, View<const std::int64_t, 1> given, std::int64_t n, std::int64_t all) {
    if (!given) return all;
    if (given[n] < 0 || given[n] > all)
      fail("ctc_loss: element ", n, " of input '", input, "' is ", given[n], ", expected 0 to ", all);
    return given[n];
  };
  detail::List<std::int64_t> step_counts(batch), label_counts(batch);
  for (std::int64_t n = 0; n < batch; ++n) {  // before threads begin: of several errors the first one is said
    step_counts[n] = length("data_lengths", use_data_lengths ? third : View<const std::int64_t, 1>(), n, steps);
    const std::int64_t given = length("label_lengths", use_data_lengths ? fourth : third, n, most);
    std::int64_t count = 0;
    for (; count < given; ++count) {
      const std::int64_t k = label[n * most + count];
      if (!use_label_lengths && k == end) break;
      if (k < 0 || k >= classes)
        fail("ctc_loss: label ", k, " at (", n, ", ", count, ") is no class, expected 0 to ", classes - 1);
    }
    label_counts[n] = count;
  }
  const std::int64_t work = std::max<std::int64_t>(1, steps * (classes + 2 * most));
  parallel_for(batch, std::max<std::int64_t>(1, (1 << 12) / work), [&](std::int64_t low, std::int64_t high) {
    for (std::int64_t n = low; n < high; ++n)
      f(n, detail::LabelPaths<E>(data.data() + n * classes, batch * classes, step_counts[n], classes,
                                 {label.data() + n * most, label_counts[n]}, blank));
  });
}

}  // namespace strop::inline v0
