// SPDX-License-Identifier: Apache-2.0
/// \file
/// Learning rates that follow from how many updates were made: MXNet's schedules, and a handle of any.
#pragma once
#include <strop/core/push_macros.def>

#include <strop/core/params.hpp>
#include <strop/core/ref.hpp>

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace strop::inline v0 {
namespace optim {

/// How the rate goes through the warm-up: straight from warmup_begin_lr to base_lr, or it stays at warmup_begin_lr.
enum class Warmup : std::uint8_t { linear, constant };

// MXNet's names and defaults. A schedule is a function of the number of updates alone and keeps no state, so
// that training goes on from a checkpoint as if nothing had been between. All of them begin at base_lr, that is, where
// it is not given, at the learning_rate of their optimizer, and at 0.01 without one. The first warmup_steps updates
// lead there. Error: base_lr is below warmup_begin_lr, warmup_steps is negative, and what the schedule itself refuses.

/// base_lr · factor^⌊(n − 1) / step⌋ for update n, not below stop_factor_lr. Error: step < 1, factor > 1.
struct FactorScheduler {
  Required<std::int64_t> step = {};  ///< the rate falls after each so many updates
  double factor = 1;                 ///< what it is multiplied with
  double stop_factor_lr = 1e-8;      ///< it does not fall below
  std::optional<double> base_lr = {};
  std::int64_t warmup_steps = 0;
  double warmup_begin_lr = 0;
  Warmup warmup_mode = Warmup::linear;

  double operator()(std::int64_t num_update) const;
};

/// base_lr · factor^k for update n, where k counts the numbers of `step` below n. Error: `step` is empty or does not
/// rise from 1 on, factor > 1.
struct MultiFactorScheduler {
  std::vector<std::int64_t> step = {};  ///< the rate falls after each of these updates
  double factor = 1;                    ///< what it is multiplied with
  std::optional<double> base_lr = {};
  std::int64_t warmup_steps = 0;
  double warmup_begin_lr = 0;
  Warmup warmup_mode = Warmup::linear;

  double operator()(std::int64_t num_update) const;
};

/// final_lr + (base_lr − final_lr) · (1 − d)^pwr, where d is the part of the updates from warmup_steps to max_update
/// that is done; final_lr from there on. Error: max_update < 1, warmup_steps is not below it.
struct PolyScheduler {
  Required<std::int64_t> max_update = {};  ///< the update after which the rate stays
  std::optional<double> base_lr = {};
  double pwr = 2;
  double final_lr = 0;
  std::int64_t warmup_steps = 0;
  double warmup_begin_lr = 0;
  Warmup warmup_mode = Warmup::linear;

  double operator()(std::int64_t num_update) const;
};

/// final_lr + (base_lr − final_lr) · (1 + cos(π · d)) / 2, with d and errors as for PolyScheduler.
struct CosineScheduler {
  Required<std::int64_t> max_update = {};  ///< the update after which the rate stays
  std::optional<double> base_lr = {};
  double final_lr = 0;
  std::int64_t warmup_steps = 0;
  double warmup_begin_lr = 0;
  Warmup warmup_mode = Warmup::linear;

  double operator()(std::int64_t num_update) const;
};

class Schedule;

}  // namespace optim

namespace detail {

/// What a Schedule holds, of any type.
class ScheduleBody : public Counted {
 public:
  virtual ~ScheduleBody() = default;
  virtual double rate(std::int64_t num_update) const = 0;
  /// Where it begins, if that is given; and the same beginning elsewhere, itself where it has no beginning of that
  /// kind.
  virtual std::optional<double> base() const { return {}; }
  virtual Ref<const ScheduleBody> from_base(double lr) const = 0;
};

template <class S>
concept HasBaseRate = requires(S s) {
  { s.base_lr } -> std::same_as<std::optional<double>&>;
};

template <class S>
class ScheduleOf final : public ScheduleBody {
 public:
  explicit ScheduleOf(S schedule) : schedule_(std::move(schedule)) {}
  double rate(std::int64_t num_update) const override { return static_cast<double>(schedule_(num_update)); }
  std::optional<double> base() const override {
    if constexpr (HasBaseRate<S>)
      return schedule_.base_lr;
    else
      return {};
  }
  Ref<const ScheduleBody> from_base(double lr) const override {
    if constexpr (HasBaseRate<S>) {
      S moved = schedule_;
      moved.base_lr = lr;
      return Ref<const ScheduleBody>(new ScheduleOf(std::move(moved)));
    } else {
      return Ref<const ScheduleBody>(this);
    }
  }

 private:
  S schedule_;
};

}  // namespace detail

namespace optim {

/// Any schedule, or none: made of a struct above, or of any const callable that gives a rate for a number of updates,
/// `[](std::int64_t n) { return n < 100 ? 0.1 : 0.01; }`. Copies share it; threads may call it at once.
class Schedule {
 public:
  Schedule() = default;
  template <class S>
    requires(!std::same_as<std::remove_cvref_t<S>, Schedule> && std::copy_constructible<S> &&
             std::is_invocable_r_v<double, const S&, std::int64_t>)
  Schedule(S schedule) : body_(new detail::ScheduleOf<S>(std::move(schedule))) {
    body_->rate(1);  // what is wrong with it is said here, not at the first update
  }
  explicit operator bool() const { return static_cast<bool>(body_); }
  /// The rate of update `num_update`, counted from 1. There has to be a schedule.
  double operator()(std::int64_t num_update) const { return body_->rate(num_update); }
  /// Its base_lr, where it has one that is given.
  std::optional<double> base_lr() const { return body_->base(); }
  /// The same schedule with another base_lr; of a callable itself.
  Schedule starting_at(double base_lr) const {
    Schedule moved;
    moved.body_ = body_->from_base(base_lr);
    return moved;
  }

 private:
  detail::Ref<const detail::ScheduleBody> body_;
};

}  // namespace optim

namespace detail {
/// No text makes a schedule.
template <>
struct Text<optim::Schedule> {
  static constexpr std::string_view name = "schedule";
  static constexpr ParamKind kind = ParamKind::string;
  static constexpr bool optional = true;
  static bool parse(optim::Schedule& value, std::string_view text) {
    return text == "None" && (value = optim::Schedule(), true);
  }
  static std::string print(const optim::Schedule& value) { return value ? "(...)" : "None"; }
};
}  // namespace detail
}  // namespace strop::inline v0

#if !defined(STROP_COMPILED)
#include <strop/optim/schedule_impl.hpp>
#endif

#include <strop/core/pop_macros.def>
