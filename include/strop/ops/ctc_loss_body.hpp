// SPDX-License-Identifier: Apache-2.0
/// \file
/// Bodies of the operators of ops/ctc_loss.hpp, which only what builds their kernels reads.
#pragma once
#include <strop/core/checked.hpp>
#include <strop/core/list.hpp>
#include <strop/engine/pool.hpp>
#include <strop/number/lanes.hpp>
#include <strop/ops/ctc_loss.hpp>
#include <strop/ops/shape/move.hpp>
#include <strop/ops/shape/move_body.hpp>
#include <strop/ops/softmax_kernels_body.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string_view>
#include <vector>

namespace strop::inline v0 {

namespace detail {

inline namespace STROP_ISA {

/// A product of many probabilities, which may be less than any double: factor · 2^(256 · power). The power is whole,
/// and −∞ of 0. The factor is 2⁻¹²⁸ to some 2¹²⁸: of a sum, what is two powers behind does not count.
template <class W>
struct Improbable {
  using R = number::Rep<W>;
  static constexpr double base = 0x1p256, least = 0x1p-128, most = 0x1p128;
  W factor, power;

  [[gnu::always_inline]] static Improbable sum(Improbable a, Improbable b, Improbable c) {
    const W power = larger(larger(a.power, b.power), c.power);
    return {a.in_units(power) + b.in_units(power) + c.in_units(power), power};
  }
  /// Times a probability whose factor is 2⁻²⁵⁶ to 1.
  [[gnu::always_inline]] Improbable times(Improbable chance) const {
    const W product = factor * chance.factor, sum = power + chance.power;
    const auto small = product<R::splat(least), large = product> R::splat(most);
    return {product * R::select(small, R::splat(base), R::select(large, R::splat(1 / base), R::splat(1))),
            sum + R::select(small, R::splat(-1), R::select(large, R::splat(1), W{}))};
  }

 private:
  [[gnu::always_inline]] static W larger(W a, W b) { return R::select(a < b, b, a); }
  /// The factor with the power `other`, which is not smaller.
  [[gnu::always_inline]] W in_units(W other) const {
    const W behind = other - power;  // NaN where both are 0, which stay 0
    return factor * R::select(behind == W{}, R::splat(1), R::select(behind == R::splat(1), R::splat(1 / base), W{}));
  }
};

/// The labels of a sequence with blanks around each, and the paths through them: each step stays, goes on to the next
/// place, or to the label behind a blank unless it is the same one. Registers go along the places, of which a row has
/// two more at either end that are never reached. One object serves many sequences, one after the other.
template <class E>
class LabelPaths {
 public:
  /// For so many steps and labels or less; `keeps` what the gradient takes.
  LabelPaths(std::int64_t steps, std::int64_t classes, std::int64_t labels, bool keeps)
      : classes_(classes),
        rows_(keeps ? steps : 2),
        width_(up(2 * labels + 1) + 2 * edge),
        weights_(up(classes)),
        of_classes_(classes),
        tops_(steps),
        inverses_(steps),
        skips_(width_),
        shares_(width_),
        rows_of_numbers_(checked_product(4 * rows_ + 4, width_, "ctc_loss")) {}

  /// Steps of activations, each `stride` elements behind the one before.
  void take(const E* activations, std::int64_t stride, std::int64_t steps, Span<const std::int64_t> labels,
            std::int64_t blank) {
    activations_ = activations, stride_ = stride, steps_ = steps, labels_ = labels, blank_ = blank;
    places_ = 2 * labels.size() + 1;
    std::fill(skips_.begin(), skips_.end(), never);
    for (Index k = 1; k < labels.size(); ++k)
      if (labels[k] != labels[k - 1]) skips_[2 * k + 1] = 0;
  }
  /// Whether there are steps enough: one for each label, and for a blank between labels that are the same.
  bool possible() const {
    std::int64_t needed = labels_.size();
    for (Index k = 1; k < labels_.size(); ++k) needed += labels_[k] == labels_[k - 1] ? 1 : 0;
    return needed <= steps_;
  }
  /// −log of the sum of the probabilities of all paths.
  double loss() {
    if (steps_ == 0) return places_ == 1 ? 0.0 : -never;
    for (std::int64_t t = 0; t < steps_; ++t) {
      const Row chance = chances(t), now = before(t);
      find_chances(t, chance);
      now.clear(0, t == 0 ? edge + up(places_) : edge);
      if (t == 0) {
        for (std::int64_t s = edge; s < edge + std::min<std::int64_t>(2, places_); ++s) now.put(s, chance.at(s));
        continue;
      }
      const Row last = before(t - 1);
      for (std::int64_t s = edge; s < edge + places_; s += R::lanes) {
        Improbable<V> skipped = last.load(s - 2);
        skipped.power = skipped.power + R::load(skips_.data() + s - edge);
        now.store(s, Improbable<V>::sum(last.load(s), last.load(s - 1), skipped).times(chance.load(s)));
      }
    }
    const Row last = before(steps_ - 1);
    const std::int64_t end = edge + places_ - 1;
    total_ = Improbable<double>::sum(last.at(end), last.at(end - 1), {0, never});
    return 0 - (std::log(total_.factor) + total_.power * log_of_base);
  }
  /// Writes the gradient of the loss that was found, times `head`, in the layout of the activations: of each step the
  /// probabilities less the share of the paths.
  void gradient(double head, E* to) {
    const Row later = row(2 * rows_), through = row(2 * rows_ + 1);
    const std::int64_t end = edge + places_;
    later.clear(0, width_), through.clear(0, width_);
    for (std::int64_t s = std::max(edge, end - 2); s < end; ++s)  // at the last label or the blank behind it
      later.put(s, {1, 0});
    for (std::int64_t t = steps_; t-- > 0;) {
      find_shares(before(t), later);
      find_activations(t);
      find_weights(t);
      for (std::int64_t k = 0; k < classes_; ++k)
        to[t * stride_ + k] = static_cast<E>(head * (weights_[k] * inverses_[t] - of_classes_[k]));
      const Row chance = chances(t);
      for (std::int64_t s = edge; s < end; s += R::lanes) through.store(s, later.load(s).times(chance.load(s)));
      for (std::int64_t s = edge; s < end; s += R::lanes) {
        Improbable<V> skipped = through.load(s + 2);
        skipped.power = skipped.power + R::load(skips_.data() + s - edge + 2);
        later.store(s, Improbable<V>::sum(through.load(s), through.load(s + 1), skipped));
      }
    }
  }

 private:
  using V = number::Vec<double>;
  using R = number::Rep<V>;
  static constexpr double never = -std::numeric_limits<double>::infinity();
  static constexpr double log_of_base = 177.44567822334599921;  // 256 log 2
  static constexpr std::int64_t edge = 2;

  /// Numbers of the places: their factors, and behind them their powers.
  struct Row {
    double* factors;
    std::int64_t width;
    Improbable<double> at(std::int64_t s) const { return {factors[s], factors[width + s]}; }
    void put(std::int64_t s, Improbable<double> x) const { factors[s] = x.factor, factors[width + s] = x.power; }
    void clear(std::int64_t begin, std::int64_t end) const {
      std::fill(factors + begin, factors + end, 0.0);
      std::fill(factors + width + begin, factors + width + end, never);
    }
    [[gnu::always_inline]] Improbable<V> load(std::int64_t s) const {
      return {R::load(factors + s), R::load(factors + width + s)};
    }
    [[gnu::always_inline]] void store(std::int64_t s, Improbable<V> x) const {
      R::store(factors + s, x.factor), R::store(factors + width + s, x.power);
    }
  };
  Row row(std::int64_t i) { return {rows_of_numbers_.data() + 2 * i * width_, width_}; }
  /// The probabilities of the places at step t, and those of the paths that get there.
  Row chances(std::int64_t t) { return row(t % rows_); }
  Row before(std::int64_t t) { return row(rows_ + t % rows_); }
  /// So many, filled up to whole registers.
  static std::int64_t up(std::int64_t count) { return (count + R::lanes - 1) / R::lanes * R::lanes; }

  /// The activations of step t.
  void find_activations(std::int64_t t) {
    const E* const x = activations_ + t * stride_;
    for (std::int64_t k = 0; k < classes_; ++k) weights_[k] = static_cast<double>(x[k]);
    std::fill(weights_.begin() + classes_, weights_.end(), never);
  }
  /// e to them, less the largest; the sum of all.
  double find_weights(std::int64_t t) {
    V sums{};
    for (std::int64_t k = 0; k < classes_; k += R::lanes) {
      const V weight = R::exp(R::load(weights_.data() + k) - tops_[t]);
      R::store(weights_.data() + k, weight);
      sums = sums + weight;
    }
    return sum_of_lanes<double>(sums);
  }
  void find_chances(std::int64_t t, Row to) {
    find_activations(t);
    V most = R::splat(never);
    for (std::int64_t k = 0; k < classes_; k += R::lanes) {
      const V x = R::load(weights_.data() + k);
      most = R::select(x > most, x, most);
    }
    double part[R::lanes];
    R::store(part, most);
    tops_[t] = *std::max_element(part, part + R::lanes);
    inverses_[t] = 1 / find_weights(t);
    const Improbable<double> of_blank = chance_of(t, blank_);
    for (std::int64_t s = edge; s < edge + places_; s += 2) to.put(s, of_blank);
    for (Index k = 0; k < labels_.size(); ++k) to.put(edge + 2 * k + 1, chance_of(t, labels_[k]));
    to.clear(edge + places_, edge + up(places_));
  }
  /// The probability of class k at step t.
  Improbable<double> chance_of(std::int64_t t, std::int64_t k) const {
    const double chance = weights_[k] * inverses_[t];
    if (!(chance < 1 / Improbable<double>::base)) return {chance, 0};  // NaN as well
    const double log = (static_cast<double>(activations_[t * stride_ + k]) - tops_[t]) + std::log(inverses_[t]);
    if (log == never) return {0, never};
    const double power = std::trunc(log / log_of_base);
    return {std::exp(std::clamp(log - power * log_of_base, -log_of_base, 0.0)), power};
  }

  /// Of all paths the share that is at each class, from the probabilities of getting to the places and on from there.
  void find_shares(Row before, Row later) {
    std::fill(of_classes_.begin(), of_classes_.end(), 0.0);
    if (total_.factor == 0) return;  // the loss is infinite
    const double inverse = 1 / total_.factor;
    for (std::int64_t s = edge; s < edge + places_; s += R::lanes) {
      const Improbable<V> to = before.load(s), from = later.load(s);
      const V power = (to.power + from.power) - total_.power;
      V unit{};
      for (int i = -3; i < 2; ++i)  // less does not count, more there is not
        unit = R::select(power == R::splat(i), R::splat(units[i + 3]), unit);
      R::store(shares_.data() + s, to.factor * from.factor * inverse * unit);
    }
    double of_blank = shares_[edge];
    for (Index k = 0; k < labels_.size(); ++k) {
      of_classes_[labels_[k]] += shares_[edge + 2 * k + 1];
      of_blank += shares_[edge + 2 * k + 2];
    }
    of_classes_[blank_] += of_blank;
  }
  static constexpr double units[] = {0x1p-768, 0x1p-512, 0x1p-256, 1, 0x1p256};

  const E* activations_ = nullptr;
  std::int64_t classes_, rows_, width_, stride_ = 0, steps_ = 0, places_ = 1, blank_ = 0;
  Span<const std::int64_t> labels_;
  Improbable<double> total_ = {1, 0};
  List<double> weights_, of_classes_;  // of the classes at one step
  List<double> tops_, inverses_;       // of the steps: the largest activation, 1 / the sum of the weights
  List<double> skips_, shares_;        // of the places: 0 where one may come from two before, else −∞
  List<double> rows_of_numbers_;
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
  each_sequence(data, label, third, fourth, false, [&](std::int64_t n, detail::LabelPaths<E>& paths) {
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
  each_sequence(data, label, third, fourth, true, [&](std::int64_t n, detail::LabelPaths<E>& paths) {
    if (!paths.possible()) return;
    paths.loss();
    paths.gradient(static_cast<double>(head[n]), ddata.data() + n * data.shape()[2]);
  });
}

template <class E, class F>
inline void CTCLoss::each_sequence(View<const E, 3> data, View<const std::int64_t, 2> label,
                                   View<const std::int64_t, 1> third, View<const std::int64_t, 1> fourth, bool keeps,
                                   F f) const {
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
    detail::LabelPaths<E> paths(steps, classes, most, keeps);
    for (std::int64_t n = low; n < high; ++n) {
      paths.take(data.data() + n * classes, batch * classes, step_counts[n], {label.data() + n * most, label_counts[n]},
                 blank);
      f(n, paths);
    }
  });
}

}  // namespace strop::inline v0
