// SPDX-License-Identifier: Apache-2.0
/// \file
/// Optimizer, a handle of any optimizer; Updater, an optimizer with the states of all weights that it has updated.
#pragma once
#include <strop/core/push_macros.def>

#include <strop/optim/erased.hpp>

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace strop::inline v0 {
namespace optim {

/// An optimizer of any type: made of any struct that is one (optim/definition.hpp), `Optimizer optimizer = Sgd{.wd =
/// 1e-4};`. A copy is another optimizer, with the same parameters until one of them is changed.
///
/// Error where it is made: a parameter is out of its range, or the schedule refuses its own.
class Optimizer {
 public:
  template <class T>
    requires(std::is_aggregate_v<T> && std::default_initializable<T> && std::copy_constructible<T>)
  Optimizer(T optimizer) : body_(new detail::OptimizerOf<T>(std::move(optimizer))) {}

  /// "sgd", "adam", …: what MXNet's registry calls it; of a struct of a program its name in snake_case.
  std::string_view name() const { return body_->name; }
  /// "sgd(learning_rate=0.1, momentum=0.9, …)", for logs.
  std::string text() const;
  /// Sets a parameter from text: `set("rescale_grad", "0.03125")`. Error: there is none of that name, the text is none
  /// of its values.
  void set(std::string_view parameter, std::string_view text);
  /// The learning rate of the update of that number: the schedule's, where there is one.
  double learning_rate(std::int64_t num_update = 1) const;
  /// Error: a schedule says the rate, or there is no parameter learning_rate.
  void set_learning_rate(double lr);
  /// Factors of the learning rate by key, or by name in param_idx2name; all others are 1. They replace those before.
  void set_lr_mult(Multipliers factors);
  /// Factors of the weight decay in the same way. Names in param_idx2name that do not end in _weight or _gamma have
  /// none unless it is given here; keys without a name there have it in full, as in MXNet.
  void set_wd_mult(Multipliers factors);

  // For the updater.
  const detail::OptimizerBody& body() const { return *body_; }
  /// The name of a key's weight in param_idx2name; the key itself where it has none there.
  std::string_view name_of(std::string_view key) const;
  double lr_mult(std::string_view key) const;
  double wd_mult(std::string_view key) const;

 private:
  detail::Ref<detail::OptimizerBody> body_;  // shared between copies, and never changed
  Multipliers lr_mult_, wd_mult_;
};

/// An optimizer and, by key, what it keeps of the weights that it has updated: states, how often each was updated, and
/// with multi_precision the float32 copies of halves. One thread at a time uses it; nothing in it waits for arrays but
/// what reads the states out.
class Updater {
 public:
  explicit Updater(Optimizer optimizer);
  Updater(Updater&& from) noexcept;
  Updater& operator=(Updater&& from) noexcept;
  ~Updater();

  /// Updates the weight of a key in place by its gradient. The first time the states are made, on the weight's device.
  /// Keys are any text. Error: weight or gradient is no array, their shapes or types differ, and what the update
  /// operator refuses.
  void operator()(const std::string& key, const NDArray& grad, NDArray& weight);

  const Optimizer& optimizer() const;
  /// The largest number of updates that any key has had, counted from begin_num_update; schedules go by it.
  std::int64_t num_update() const;
  /// The rate of the last update; before the first one, where it begins.
  double learning_rate() const;
  // As for Optimizer.
  void set(std::string_view parameter, std::string_view text);
  void set_learning_rate(double lr);
  void set_lr_mult(Multipliers factors);
  void set_wd_mult(Multipliers factors);

  /// All states and counts as bytes, the same for the same states. Training that goes on from them goes on bit for bit.
  std::string states() const;
  /// Takes what states() gave, in place of what there is; on an Error that stays. Error: the bytes are no states, are
  /// damaged or cut off, of a later version, or of another optimizer.
  void set_states(std::string_view bytes);
  /// The same with a file. It is complete or, where an Error is thrown, as it was before.
  void save(const std::string& path) const;
  void load(const std::string& path);

 private:
  struct State;
  /// Throws Error where the updater was moved to another one.
  State& state() const;
  State* state_ = nullptr;
};

}  // namespace optim
}  // namespace strop::inline v0

#if !defined(STROP_COMPILED)
#include <strop/optim/optimizer_impl.hpp>
#include <strop/optim/updater_impl.hpp>
#endif

#include <strop/core/pop_macros.def>
