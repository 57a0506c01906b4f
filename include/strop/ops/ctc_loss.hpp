// SPDX-License-Identifier: Apache-2.0
/// \file
/// CTCLoss: how improbable a sequence of labels is where only their order is known, not when each begins.
#pragma once
#include <strop/core/checked.hpp>
#include <strop/core/list.hpp>
#include <strop/engine/pool.hpp>
#include <strop/op/op.hpp>
#include <strop/ops/list.hpp>
#include <strop/ops/shape/move.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>
#include <vector>

namespace strop::inline v0 {

namespace detail {
inline namespace STROP_ISA {

/// log(eᵃ + eᵇ).
inline double log_of_sum(double a, double b) {
  const double most = std::max(a, b);
  return std::isinf(most) ? most : most + std::log1p(std::exp(std::min(a, b) - most));
}

/// The labels of a sequence with blanks around each, and the paths through them: each step stays, goes on to the next
/// place, or to the label behind a blank unless it is the same one. Logarithms throughout.
class LabelPaths {
 public:
  /// Rows of `classes` activations, `apart` elements from one step to the next.
  template <class E>
  LabelPaths(const E* x, std::int64_t apart, std::int64_t steps, std::int64_t classes, const List<std::int64_t>& labels,
             std::int64_t blank)
      : steps_(steps),
        places_(2 * labels.size() + 1),
        at_(places_, blank),
        logs_(checked_product(steps, places_, "ctc_loss")),
        sums_(steps) {
    for (Index i = 0; i < labels.size(); ++i) at_[2 * i + 1] = labels[i];
    for (std::int64_t t = 0; t < steps; ++t) {
      const E* const row = x + t * apart;
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
  /// The gradient of the loss that was found, times `head`: of each step the probabilities less the share of the paths.
  template <class E>
  void gradient(const E* x, double loss, double head, std::int64_t apart, std::int64_t classes, E* dx) const {
    List<double> later(places_, never), now(places_, never), share(classes);
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
      for (std::int64_t s = 0; s < places_; ++s) share[at_[s]] += std::exp(forward_[t * places_ + s] + now[s] + loss);
      for (std::int64_t k = 0; k < classes; ++k) {
        const double probability = std::exp(static_cast<double>(x[t * apart + k]) - sums_[t]);
        dx[t * apart + k] = static_cast<E>(head * (probability - share[k]));
      }
      std::swap(later, now);
    }
  }

 private:
  static constexpr double never = -std::numeric_limits<double>::infinity();
  /// Whether place s may follow the one two before it.
  bool skips(std::int64_t s) const { return s % 2 == 1 && s >= 3 && at_[s] != at_[s - 2]; }

  std::int64_t steps_, places_;
  List<std::int64_t> at_;
  List<double> logs_, sums_, forward_;
};

}  // namespace STROP_ISA
}  // namespace detail

/// CTCLoss: −log of the probability that the steps of data, as softmax has them, say the labels in their order, each
/// for one step or several and with blanks between them or none; between equal labels there is one.
///
/// data (steps, batch, classes), label (batch, most labels), the result (batch,). The blank is class 0 (first) or the
/// last one. Labels end at the first 0 (first) or −1 (last), with use_label_lengths where label_lengths (batch,) says;
/// steps end where data_lengths (batch,) says with use_data_lengths. Data of floating types, the others of any; sparse
/// arrays by the dense fallback. Steps too few for the labels have loss 0 and no gradient, as in MXNet. The gradient
/// needs data and label, not the hidden output in which MXNet keeps it; behind the last step it is 0. Error: other
/// shapes, more labels than steps in the shapes, a label that is no class, a length outside the axis.
///
/// Example: `ctc_loss(zeros({1, 1, 2}), array({{1}}))` is [0.6931472].
struct CTCLoss {
  enum Blank : int { first, last };
  bool use_data_lengths = false, use_label_lengths = false;
  Blank blank_label = first;

  static constexpr std::string_view aliases[] = {"ctc_loss", "_contrib_CTCLoss", "_contrib_ctc_loss"};
  static constexpr std::string_view doc =
      "How improbable (−log) labels in their order are: data (steps, batch, classes), label (batch, most labels).";
  static constexpr Note notes[] = {
      {"use_data_lengths", "there is an input data_lengths: how many steps each sequence has"},
      {"use_label_lengths", "there is an input label_lengths: how many labels each has"},
      {"blank_label", "the class of no label: the first, and 0 ends labels; or the last, and -1 does"}};

  static constexpr DtypeSet dtypes = floating;

  std::vector<std::string_view> inputs() const {
    std::vector<std::string_view> names{"data", "label"};
    if (use_data_lengths) names.push_back("data_lengths");
    if (use_label_lengths) names.push_back("label_lengths");
    return names;
  }
  constexpr void infer_shape(Shapes& s) const {
    constexpr std::int64_t any = Shape::unknown_extent;
    s.set_in(0, {any, any, any});
    s.set_in(1, {s.in(0)[1], any});
    s.set_in(0, {any, s.in(1)[0], any});
    const std::int64_t batch = s.in(0)[1];
    for (int i = 2; i < s.inputs(); ++i) s.set_in(i, {batch});
    if (s.in(0)[0] >= 0 && s.in(1)[1] > s.in(0)[0])
      s.fail(s.name_in(1), " has shape ", s.in(1), ", expected at most ", s.in(0)[0], " labels, the steps of ",
             s.name_in(0));
    if (s.in(0)[2] == 0) s.fail(s.name_in(0), " has shape ", s.in(0), ", expected one class or more");
    s.set_out(0, {batch});
  }
  constexpr void infer_type(Types& t) const {
    t.expect_in(0, dtypes);
    t.set_out(0, t.in(0));
    t.set_in(0, t.out(0));
    for (int i = 1; i < t.inputs(); ++i)
      if (!t.in(i)) t.set_in(i, t.in(0));
  }
  void forward(Cpu&, std::span<const NDArray> in, NDArray& y) const {
    detail::List<double> losses(y.size());
    with_steps(in[0], [&](auto x) {
      each_sequence(x, in.subspan(1), [&](std::int64_t n, detail::LabelPaths paths) {
        losses[n] = paths.possible() ? paths.loss() : 0.0;
      });
    });
    detail::convert_elements(f64, losses.data(), y.dtype(), y.bytes(), y.size());
  }
  void grad_use_in(Cpu&, const NDArray& dy, std::span<const NDArray> in, std::span<NDArray> din) const {
    for (const NDArray& none : din.subspan(1)) detail::zero_elements(none);
    detail::List<double> heads(dy.size());
    detail::convert_elements(dy.dtype(), dy.bytes(), f64, heads.data(), dy.size());
    with_steps(in[0], [&]<class E>(View<const E, 3> x) {
      const std::int64_t classes = x.shape()[2], apart = x.shape()[1] * classes;
      detail::List<E> dx(x.size(), E(0));
      each_sequence(x, in.subspan(1), [&](std::int64_t n, detail::LabelPaths paths) {
        if (!paths.possible()) return;
        const double loss = paths.loss();
        paths.gradient(x.data() + n * classes, loss, heads[n], apart, classes, dx.data() + n * classes);
      });
      detail::convert_elements(dtype_of<E>, dx.data(), din[0].dtype(), din[0].bytes(), x.size());
    });
  }

 private:
  /// f(data), halves as float32.
  template <class F>
  static void with_steps(const NDArray& data, F f) {
    const std::array<std::int64_t, 3> shape{data.shape()[0], data.shape()[1], data.shape()[2]};
    if (data.dtype() == f64) return f(View<const double, 3>(data.pointer<double>(), shape));
    if (data.dtype() == f32) return f(View<const float, 3>(data.pointer<float>(), shape));
    detail::List<float> copy(data.size());
    detail::convert_elements(data.dtype(), data.bytes(), f32, copy.data(), data.size());
    f(View<const float, 3>(copy.data(), shape));
  }
  /// f(n, paths) for each sequence of the batch.
  template <class E, class F>
  void each_sequence(View<const E, 3> x, std::span<const NDArray> rest, F f) const {
    const std::int64_t steps = x.shape()[0], batch = x.shape()[1], classes = x.shape()[2], most = rest[0].shape()[1];
    const auto whole = [&](const NDArray& a) {
      detail::List<std::int64_t> numbers(a.size());
      detail::convert_elements(a.dtype(), a.bytes(), i64, numbers.data(), a.size());
      return numbers;
    };
    const detail::List<std::int64_t> label = whole(rest[0]);
    const std::size_t of_labels = use_data_lengths ? 2 : 1;
    const auto lengths = [&](std::string_view input, bool given, std::size_t at, std::int64_t all) {
      if (!given) return detail::List<std::int64_t>(batch, all);
      detail::List<std::int64_t> numbers = whole(rest[at]);
      for (detail::Index n = 0; n < numbers.size(); ++n)
        if (numbers[n] < 0 || numbers[n] > all)
          fail("ctc_loss: element ", n, " of ", input, " is ", numbers[n], ", expected 0 to ", all);
      return numbers;
    };
    const detail::List<std::int64_t> step_counts = lengths("data_lengths", use_data_lengths, 1, steps),
                                     label_counts = lengths("label_lengths", use_label_lengths, of_labels, most);
    const std::int64_t blank = blank_label == first ? 0 : classes - 1, end = blank_label == first ? 0 : -1;
    const std::int64_t work = std::max<std::int64_t>(1, steps * (classes + 2 * most));
    parallel_for(batch, std::max<std::int64_t>(1, (1 << 12) / work), [&](std::int64_t low, std::int64_t high) {
      for (std::int64_t n = low; n < high; ++n) {
        detail::List<std::int64_t> labels;
        for (std::int64_t i = 0; i < label_counts[n]; ++i) {
          const std::int64_t k = label[n * most + i];
          if (!use_label_lengths && k == end) break;
          if (k < 0 || k >= classes)
            fail("ctc_loss: label ", k, " at (", n, ", ", i, ") is no class, expected 0 to ", classes - 1);
          labels.push_back(k);
        }
        f(n, detail::LabelPaths(x.data() + n * classes, batch * classes, step_counts[n], classes, labels, blank));
      }
    });
  }
};
inline constexpr Op<CTCLoss, OnUse> ctc_loss;

using CtcLossOps = OpList<CTCLoss>;

}  // namespace strop::inline v0
