// SPDX-License-Identifier: Apache-2.0
/// \file
/// An optimizer of any type behind one set of functions.
#pragma once
#include <strop/core/params.hpp>
#include <strop/core/ref.hpp>
#include <strop/core/span.hpp>
#include <strop/op/names.hpp>
#include <strop/ops/cast.hpp>
#include <strop/optim/definition.hpp>
#include <strop/tensor/create.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>

namespace strop::inline v0::detail {

/// What an updater reads of an optimizer, whatever its type.
struct OptimizerCommon {
  double learning_rate = 0.01, wd = 0;
  optim::Schedule schedule;
  std::int64_t begin_num_update = 0;
  bool multi_precision = false;
  optim::KeyNames names;
};

/// Nothing of it changes once an Optimizer holds it.
class OptimizerBody : public Counted {
 public:
  virtual ~OptimizerBody() = default;
  virtual Ref<OptimizerBody> clone() const = 0;
  virtual void* parameters() = 0;
  const void* parameters() const { return const_cast<OptimizerBody*>(this)->parameters(); }
  /// Checks the parameters and takes over what they have in common.
  virtual void settle() = 0;
  virtual int states() const = 0;
  virtual NDArray make_state(int i, const NDArray& weight) const = 0;
  /// A copy of a half in float32.
  virtual NDArray widened(const NDArray& weight) const = 0;
  /// `weight32` has an array where the weight is a half that follows it.
  virtual void update(const optim::Step& step, NDArray& weight, const NDArray& grad, Span<NDArray> states,
                      NDArray& weight32) const = 0;

  std::string_view name;
  const ParamTable* table = nullptr;
  std::span<const std::string_view> decayed;  // endings of names that have weight decay
  OptimizerCommon common;
};

/// The schedule with the beginning that the optimizer gives it: a learning_rate that is not the default one goes before
/// base_lr, as in MXNet, and the default one stands in for a base_lr that is missing.
optim::Schedule begun(std::string_view optimizer, const optim::Schedule& schedule, double learning_rate,
                      bool is_default);

inline constexpr std::string_view usually_decayed[] = {"_weight", "_gamma"};

template <class T>
class OptimizerOf final : public OptimizerBody {
  static_assert(states_taken<T> != 0,
                "strop: an optimizer has a const member `rule(step, weight, grad, state...)` on numbers, generic over "
                "them, or `update(step, weight, grad, state...)` on arrays, with 0 to 4 states (optim/definition.hpp)");
  static constexpr bool says_states = requires(const T& t) {
    { t.states() } -> std::convertible_to<int>;
  };
  static_assert(says_states || std::has_single_bit(states_taken<T>) || states_taken<T> == 0,
                "strop: an optimizer that updates with several numbers of states says by `int states() const` how many "
                "it has");

 public:
  explicit OptimizerOf(T optimizer) : optimizer_(std::move(optimizer)) {
    name = lower_name<T>;
    table = &param_table<T>;
    if constexpr (requires { std::span<const std::string_view>(T::decayed); })
      decayed = T::decayed;
    else
      decayed = usually_decayed;
    settle();
  }
  Ref<OptimizerBody> clone() const override { return Ref<OptimizerBody>(new OptimizerOf(*this)); }
  void* parameters() override { return &optimizer_; }

  void settle() override {
    check_params(name, *table, &optimizer_);
    common = {};
    if constexpr (requires { common.learning_rate = optimizer_.learning_rate; })
      common.learning_rate = optimizer_.learning_rate;
    if constexpr (requires { common.wd = optimizer_.wd; }) common.wd = optimizer_.wd;
    if constexpr (requires { common.begin_num_update = optimizer_.begin_num_update; })
      common.begin_num_update = optimizer_.begin_num_update;
    if constexpr (requires { common.multi_precision = optimizer_.multi_precision; })
      common.multi_precision = optimizer_.multi_precision;
    if constexpr (requires { common.names = optimizer_.param_idx2name; }) common.names = optimizer_.param_idx2name;
    if constexpr (requires { common.schedule = optimizer_.lr_scheduler; }) {
      bool is_default = true;
      if constexpr (requires { optimizer_.learning_rate; })
        is_default = common.learning_rate == static_cast<double>(T{}.learning_rate);
      common.schedule = begun(name, optimizer_.lr_scheduler, common.learning_rate, is_default);
    }
  }

  int states() const override {
    if constexpr (says_states)
      return optimizer_.states();
    else
      return std::countr_zero(states_taken<T>);
  }

  NDArray make_state(int i, const NDArray& weight) const override {
    if constexpr (requires { NDArray(optimizer_.make_state(i, weight)); })
      return optimizer_.make_state(i, weight);
    else
      return zeros(weight.shape(), weight.storage(), weight.dtype(), weight.device());
  }

  NDArray widened(const NDArray& weight) const override { return to_type(weight, f32); }

  void update(const optim::Step& step, NDArray& weight, const NDArray& grad, Span<NDArray> states,
              NDArray& weight32) const override {
    const bool found = [&]<std::size_t... N>(std::index_sequence<N...>) {
      return ((states.size() == static_cast<Index>(N) && update_of<N>(step, weight, grad, states, weight32)) || ...);
    }(std::make_index_sequence<most_states + 1>{});
    if (!found) fail(name, ": there is no update with ", states.size(), " states, which it says that it has");
  }

 private:
  // Of arguments that are deduced: the operator is built where an optimizer is made, not where this is read.
  static NDArray to_type(const auto& a, Dtype dtype) { return cast(a, {.dtype = dtype}); }
  static void cast_into(const auto& to, const auto& from) { cast(from, {.dtype = to.dtype()}, into(to)); }

  template <std::size_t N>
  bool update_of(const optim::Step& step, NDArray& weight, const NDArray& grad, Span<NDArray> states,
                 NDArray& weight32) const {
    if constexpr ((states_taken<T> >> N & 1U) == 0) {
      return false;
    } else {
      [&]<std::size_t... I>(std::index_sequence<I...>) {
        const auto run = [&](NDArray& at, const NDArray& by) {
          if constexpr (has_update<T, N>)
            optimizer_.update(step, at, by, states[static_cast<Index>(I)]...);
          else
            run_rule(optimizer_, step, at, by, states[static_cast<Index>(I)]...);
        };
        if (!weight32.defined()) return run(weight, grad);
        if constexpr (has_mixed<T, N>) {
          optimizer_.update_mixed(step, weight, grad, states[static_cast<Index>(I)]..., weight32);
        } else {
          run(weight32, to_type(grad, f32));
          cast_into(weight, weight32);
        }
      }(std::make_index_sequence<N>{});
      return true;
    }
  }

  T optimizer_;
};

}  // namespace strop::inline v0::detail
