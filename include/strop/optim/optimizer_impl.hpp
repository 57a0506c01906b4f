// SPDX-License-Identifier: Apache-2.0
/// \file
/// Parameters, rates and factors of an optimizer.
#pragma once
#include <strop/core/config.hpp>
#include <strop/core/log.hpp>
#include <strop/core/text.hpp>
#include <strop/optim/optimizer.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace strop::inline v0 {
namespace detail {

STROP_IMPL optim::Schedule begun(std::string_view optimizer, const optim::Schedule& schedule, double learning_rate,
                                 bool is_default) {
  if (!schedule) return schedule;
  const std::optional<double> base = schedule.base_lr();
  if (is_default && base) return schedule;
  if (base && *base != learning_rate)
    log(cat(optimizer, ": learning_rate ", print_real(learning_rate), " goes before base_lr ", print_real(*base),
            " of lr_scheduler"));
  const optim::Schedule moved = schedule.starting_at(learning_rate);
  moved(1);  // refuses here what it refuses
  return moved;
}

inline std::optional<double> factor_of(const optim::Multipliers& factors, std::string_view name) {
  for (const auto& [key, factor] : factors)
    if (key == name) return factor;
  return {};
}

}  // namespace detail

namespace optim {

STROP_IMPL std::string Optimizer::text() const {
  const detail::ParamTable& table = *body_->table;
  std::string text = cat(name(), "(");
  for (std::size_t i = 0; i < table.fields.size(); ++i)
    text += cat(i == 0 ? "" : ", ", table.fields[i].name, "=", table.print(body_->parameters(), i));
  return text + ")";
}

STROP_IMPL void Optimizer::set(std::string_view parameter, std::string_view text) {
  const detail::Ref<detail::OptimizerBody> changed = body_->clone();
  detail::set_param(name(), *changed->table, changed->parameters(), parameter, text);
  changed->settle();
  body_ = changed;
}

STROP_IMPL double Optimizer::learning_rate(std::int64_t num_update) const {
  const detail::OptimizerCommon& common = body_->common;
  return common.schedule ? common.schedule(num_update) : common.learning_rate;
}

STROP_IMPL void Optimizer::set_learning_rate(double lr) {
  if (body_->common.schedule)
    fail("strop: set_learning_rate(): the learning rate of ", name(), " follows from lr_scheduler");
  set("learning_rate", detail::print_real(lr));
}

STROP_IMPL void Optimizer::set_lr_mult(Multipliers factors) { lr_mult_ = std::move(factors); }
STROP_IMPL void Optimizer::set_wd_mult(Multipliers factors) { wd_mult_ = std::move(factors); }

STROP_IMPL std::string_view Optimizer::name_of(std::string_view key) const {
  for (const auto& [one, name] : body_->common.names)
    if (one == key) return name;
  return key;
}

STROP_IMPL double Optimizer::lr_mult(std::string_view key) const {
  if (const auto factor = detail::factor_of(lr_mult_, key)) return *factor;
  return detail::factor_of(lr_mult_, name_of(key)).value_or(1);
}

STROP_IMPL double Optimizer::wd_mult(std::string_view key) const {
  if (const auto factor = detail::factor_of(wd_mult_, key)) return *factor;
  for (const auto& [one, name] : body_->common.names) {
    if (one != key) continue;
    if (const auto factor = detail::factor_of(wd_mult_, name)) return *factor;
    for (std::string_view ending : body_->decayed)
      if (name.ends_with(ending)) return 1;
    return 0;
  }
  return 1;
}

}  // namespace optim
}  // namespace strop::inline v0
