// SPDX-License-Identifier: Apache-2.0
/// \file
/// The rates of schedules.
#pragma once
#include <strop/core/config.hpp>
#include <strop/optim/schedule.hpp>

#include <cmath>
#include <cstdint>
#include <string_view>
#include <vector>

namespace strop::inline v0 {
namespace detail {

/// The rate of an update within the warm-up; none behind it.
template <class S>
std::optional<double> warming_up(std::string_view name, const S& s, std::int64_t num_update, double base) {
  if (s.warmup_steps < 0) fail(name, ": warmup_steps is ", s.warmup_steps, ", expected 0 or more");
  if (s.warmup_begin_lr > base)
    fail(name, ": warmup_begin_lr is ", s.warmup_begin_lr, ", expected at most base_lr, ", base);
  if (num_update >= s.warmup_steps) return {};
  if (s.warmup_mode == optim::Warmup::constant) return s.warmup_begin_lr;
  const double done = static_cast<double>(num_update) / static_cast<double>(s.warmup_steps);
  return s.warmup_begin_lr + (base - s.warmup_begin_lr) * done;
}

inline void check_factor(std::string_view name, double factor) {
  if (!(factor <= 1)) fail(name, ": factor is ", factor, ", expected at most 1");
}

inline double base_of(const std::optional<double>& base_lr) { return base_lr.value_or(0.01); }

/// Falls from base_lr to final_lr as `left`, which is given the part of the updates that is done, falls from 1 to 0.
template <class S, class Left>
double falling(std::string_view name, const S& s, std::int64_t num_update, Left left) {
  if (!s.max_update.value) fail(name, ": max_update is missing");
  if (*s.max_update < 1) fail(name, ": max_update is ", *s.max_update, ", expected 1 or more");
  if (s.warmup_steps >= *s.max_update)
    fail(name, ": warmup_steps is ", s.warmup_steps, ", expected less than max_update, ", *s.max_update);
  const double base = base_of(s.base_lr);
  if (const auto rate = warming_up(name, s, num_update, base)) return *rate;
  const std::int64_t now = num_update < *s.max_update ? num_update : *s.max_update;
  const double done = static_cast<double>(now - s.warmup_steps) / static_cast<double>(*s.max_update - s.warmup_steps);
  return s.final_lr + (base - s.final_lr) * left(done);
}

}  // namespace detail

namespace optim {

STROP_IMPL double FactorScheduler::operator()(std::int64_t num_update) const {
  constexpr std::string_view name = "FactorScheduler";
  if (!step.value) fail(name, ": step is missing");
  if (*step < 1) fail(name, ": step is ", *step, ", expected 1 or more");
  detail::check_factor(name, factor);
  const double base = detail::base_of(base_lr);
  if (const auto rate = detail::warming_up(name, *this, num_update, base)) return *rate;
  const std::int64_t falls = num_update > *step ? (num_update - 1) / *step : 0;
  if (falls == 0) return base;
  const double fallen = base * std::pow(factor, static_cast<double>(falls));
  return fallen < stop_factor_lr ? stop_factor_lr : fallen;
}

STROP_IMPL double MultiFactorScheduler::operator()(std::int64_t num_update) const {
  constexpr std::string_view name = "MultiFactorScheduler";
  if (step.empty()) fail(name, ": step is empty, expected numbers of updates from 1 on that rise");
  std::int64_t before = 0;
  for (const std::int64_t at : step) {
    if (at <= before) fail(name, ": step has ", at, " behind ", before, ", expected numbers from 1 on that rise");
    before = at;
  }
  detail::check_factor(name, factor);
  double rate = detail::base_of(base_lr);
  if (const auto early = detail::warming_up(name, *this, num_update, rate)) return *early;
  for (const std::int64_t at : step)
    if (num_update > at) rate *= factor;
  return rate;
}

STROP_IMPL double PolyScheduler::operator()(std::int64_t num_update) const {
  return detail::falling("PolyScheduler", *this, num_update, [&](double done) { return std::pow(1 - done, pwr); });
}

STROP_IMPL double CosineScheduler::operator()(std::int64_t num_update) const {
  constexpr double pi = 3.14159265358979323846;
  return detail::falling("CosineScheduler", *this, num_update,
                         [](double done) { return (1 + std::cos(pi * done)) / 2; });
}

}  // namespace optim
}  // namespace strop::inline v0
