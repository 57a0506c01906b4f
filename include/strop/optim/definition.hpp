// SPDX-License-Identifier: Apache-2.0
/// \file
/// What makes a struct an optimizer: a rule of numbers or an update of arrays, and the states that it keeps.
#pragma once
#include <strop/core/push_macros.def>

#include <strop/op/map.hpp>
#include <strop/op/names.hpp>
#include <strop/optim/schedule.hpp>
#include <strop/tensor/ndarray.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace strop::inline v0 {
namespace optim {

/// A key, and the name of the weight that it stands for.
struct KeyName {
  std::string key, name;
  friend bool operator==(const KeyName&, const KeyName&) = default;
};
using KeyNames = std::vector<KeyName>;
/// A key or a name, and the factor of its rate or weight decay.
struct Multiplier {
  std::string key;
  double factor = 1;
};
using Multipliers = std::vector<Multiplier>;

/// What one update of one weight is told.
struct Step {
  double lr = 0.01;            ///< learning rate, times the weight's lr_mult
  double wd = 0;               ///< weight decay, times the weight's wd_mult
  std::int64_t t = 1;          ///< which update of this weight it is, counted from begin_num_update + 1
  double lr_ratio = 1;         ///< the learning rate by that of the weight's last update
  std::string_view name = {};  ///< the weight's name, or its key; a rule has none
};

// An optimizer is an aggregate. Its fields are its parameters, of types that parameters of operators have, all with
// defaults. It has one of these two, where `state…` are zero to four:
//
//  1. `constexpr auto rule(const Step& step, auto weight, auto grad, auto state…) const`: on numbers, as the forward of
//     a map. It gives the new weight, or a std::tuple of the new weight and the new states; all are computed in one
//     pass. A row_sparse gradient counts as a dense one.
//  2. `void update(const Step& step, NDArray& weight, const NDArray& grad, NDArray& state…) const`: on arrays. It
//     writes the new weight into `weight` and the new states into theirs, by operators. Where it takes several numbers
//     of states, `int states() const` says how many this object has.
//
// It may state as well:
//
//  3. `NDArray make_state(int i, const NDArray& weight) const`: state i at its first update; zeros in the weight's
//     shape, type, storage and device otherwise.
//  4. `void update_mixed(const Step& step, NDArray& weight, const NDArray& grad, NDArray& state…, NDArray& weight32)
//     const`: for a half with multi_precision, where otherwise weight32 is updated by the gradient in float32 and the
//     weight follows. The states are made for weight32.
//  5. The fields learning_rate, wd, lr_scheduler, begin_num_update, multi_precision and param_idx2name, which are what
//     they are in the library's: what it does not have has the value that there is the default.
//  6. `static constexpr std::string_view name`: else the type's name in snake_case. It stands in saved states.
//  7. `static constexpr strop::Range range[]`: bounds of parameters.
//  8. `static constexpr std::string_view decayed[]`: endings of names in param_idx2name that have weight decay;
//     "_weight" and "_gamma" otherwise.

/// Writes the new weight and states by optimizer.rule, in one pass over them.
template <class T, class... States>
void apply_rule(const T& optimizer, const Step& step, const NDArray& weight, const NDArray& grad,
                const States&... states);

}  // namespace optim

namespace detail {

inline constexpr std::size_t most_states = 4;

/// A rule with its parameters, as a function of numbers.
template <class T>
struct BoundRule {
  T optimizer;
  optim::Step step;
  constexpr auto operator()(auto... numbers) const { return optimizer.rule(step, numbers...); }
};

/// The map that a rule is, which writes its states. There is one for each number of states.
template <class T, std::size_t States>
struct RuleMap;
#define STROP_EACH(...) __VA_ARGS__
#define STROP_RULE(n, names, parameters, arguments)                                                                    \
  template <class T>                                                                                                   \
  struct RuleMap<T, n> {                                                                                               \
    static constexpr std::string_view name = lower_name<T>;                                                            \
    static constexpr std::string_view inputs[] = {"weight", "grad", STROP_EACH names}, mutates[] = {STROP_EACH names}; \
    static constexpr bool same_shape = true, zero_gradient = true;                                                     \
    HeldFunction<BoundRule<T>> function = {};                                                                          \
    constexpr auto forward(auto weight, auto grad, STROP_EACH parameters) const {                                      \
      return function.get()(weight, grad, STROP_EACH arguments);                                                       \
    }                                                                                                                  \
  };
template <class T>
struct RuleMap<T, 0> {
  static constexpr std::string_view name = lower_name<T>;
  static constexpr std::string_view inputs[] = {"weight", "grad"};
  static constexpr bool same_shape = true, zero_gradient = true;
  HeldFunction<BoundRule<T>> function = {};
  constexpr auto forward(auto weight, auto grad) const { return function.get()(weight, grad); }
};
STROP_RULE(1, ("state0"), (auto a), (a))
STROP_RULE(2, ("state0", "state1"), (auto a, auto b), (a, b))
STROP_RULE(3, ("state0", "state1", "state2"), (auto a, auto b, auto c), (a, b, c))
STROP_RULE(4, ("state0", "state1", "state2", "state3"), (auto a, auto b, auto c, auto d), (a, b, c, d))
#undef STROP_RULE
#undef STROP_EACH

template <class T, std::size_t... I>
constexpr bool has_rule_of(std::index_sequence<I...>) {
  return requires(const T& t, const optim::Step& step, Probe x) { t.rule(step, x, x, (void(I), x)...); };
}
template <class T, std::size_t... I>
constexpr bool has_update_of(std::index_sequence<I...>) {
  return requires(const T& t, const optim::Step& step, NDArray& a, const NDArray& grad) {
    t.update(step, a, grad, (void(I), a)...);
  };
}
template <class T, std::size_t... I>
constexpr bool has_mixed_of(std::index_sequence<I...>) {
  return requires(const T& t, const optim::Step& step, NDArray& a, const NDArray& grad) {
    t.update_mixed(step, a, grad, (void(I), a)..., a);
  };
}
/// Whether T has an update of N states, and whether a rule. (A rule is not asked where there is an update: that may
/// take NaN.)
template <class T, std::size_t N>
inline constexpr bool has_update = has_update_of<T>(std::make_index_sequence<N>{});
template <class T, std::size_t N>
inline constexpr bool has_rule = has_rule_of<T>(std::make_index_sequence<N>{});
template <class T, std::size_t N>
inline constexpr bool has_mixed = has_mixed_of<T>(std::make_index_sequence<N>{});

/// Which numbers of states T updates: bit N.
template <class T>
inline constexpr unsigned states_taken = []<std::size_t... N>(std::index_sequence<N...>) {
  constexpr unsigned updates = ((has_update<T, N> ? 1U << N : 0U) | ...);
  if constexpr (updates != 0)
    return updates;
  else
    return ((has_rule<T, N> ? 1U << N : 0U) | ...);
}(std::make_index_sequence<most_states + 1>{});

/// The weight and the states that there are, in place.
template <class T, class... States>
void run_rule(const T& optimizer, const optim::Step& step, const NDArray& weight, const NDArray& grad,
              const States&... states) {
  optim::Step at = step;
  at.name = {};  // the call may run when the key is gone
  using Map = RuleMap<T, sizeof...(States)>;
  static_assert(diagnose<Map>());
  const Map map{BoundRule<T>{optimizer, at}};
  const NDArray* const in[] = {&weight, &grad, &states...};
  NDArray out = weight;
  dispatch(runnable(EntryOf<Map>::value), &map, in, {&out, 1});
}

template <>
struct Text<optim::KeyNames> {
  static constexpr std::string_view name = "names";
  static constexpr ParamKind kind = ParamKind::string;
  static bool parse(optim::KeyNames&, std::string_view) { return false; }
  static std::string print(const optim::KeyNames& names) {
    std::string text;
    for (const auto& [key, weight] : names) text += cat(text.empty() ? "{'" : ", '", key, "': '", weight, "'");
    return text.empty() ? "{}" : text + "}";
  }
};

}  // namespace detail

namespace optim {

template <class T, class... States>
void apply_rule(const T& optimizer, const Step& step, const NDArray& weight, const NDArray& grad,
                const States&... states) {
  detail::run_rule(optimizer, step, weight, grad, states...);
}

}  // namespace optim
}  // namespace strop::inline v0

#include <strop/core/pop_macros.def>
