// SPDX-License-Identifier: Apache-2.0
/// \file
/// Compile-time unit tests of a map: its value, gradient, storage and what its gradient keeps.
#pragma once
#include <strop/number/facts.hpp>
#include <strop/op/gradient.hpp>
#include <strop/op/map_storage.hpp>

#include <array>
#include <optional>

namespace strop::inline v0 {
namespace detail {

/// Facts of a map's results when the inputs in `zeros` (a bit each) are zero and nothing is known of the others.
template <class R, class T>
constexpr auto facts_of(const T& op, std::uint64_t zeros, number::Tally* tally = nullptr) {
  using F = number::Facts<R>;
  static_assert(results<T> != 0);  // a body that is refused says why of plain numbers, whatever is asked of it first
  return [&]<std::size_t... I>(std::index_sequence<I...>) {
    return as_numbers<F>(op.forward(NumberAt<T, I, F>(
        (zeros >> I) & 1U ? F(0) : F::input(static_cast<int>(I), tally, (whole_inputs<T> >> I & 1U) == 0))...));
  }(std::make_index_sequence<arity<T>>{});
}

/// Whether every result is zero when the inputs in `zeros` are.
template <class R, class T>
constexpr bool zero_at(const T& op, std::uint64_t zeros) {
  for (const auto& y : facts_of<R>(op, zeros))
    if (!y.is_zero()) return false;
  return true;
}

/// The inputs (a bit each) that the gradient reads.
template <class R, class T>
constexpr std::uint64_t kept_inputs(const T& op, number::Tally* tally = nullptr) {
  constexpr std::uint64_t all = (std::uint64_t{1} << arity<T>)-1;
  if constexpr (states_gradient<T> && !Gradient<T>::takes_in) {
    return 0;
  } else if constexpr (states_gradient<T>) {  // of what it takes, what its body looks at with these parameters
    using F = number::Facts<R>;
    using G = Gradient<T>;
    std::uint64_t read = 0;
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      for (const F& dx : as_numbers<F>(G{op}.forward(F::input(static_cast<int>(I), tally)...))) read |= dx.depends;
    }(std::make_index_sequence<G::numbers>{});
    return read >> G::results_of & all;
  } else {
    std::uint64_t kept = 0;
    for (const auto& y : facts_of<R>(op, 0, tally)) kept |= y.kept;
    return kept;
  }
}

/// What facts say of a map's gradient, as computed in E: the inputs that it reads, a bit each, and whether with these
/// parameters it leaves out terms that floating-point numbers may make NaN of, such as 0 · log(x). The input of such a
/// term is not kept unless it is needed elsewhere, so the term must not be computed.
struct GradientFacts {
  std::uint64_t kept;
  bool drops;
};
template <class E, class T>
constexpr GradientFacts gradient_facts(const T& op) {
  number::Tally tally;
  const std::uint64_t kept = kept_inputs<E>(op, &tally);
  // Terms are left out in double, where what is 0 in float need not be 0.
  return {tally.dropped ? kept | kept_inputs<double>(op) : kept, tally.dropped};
}

/// How many operations forward makes for an element whose inputs are not known; a function counts as
/// number::function_operations.
template <class R, class T>
constexpr int counted_operations(const T& op) {
  number::Tally tally;
  static_cast<void>(facts_of<R>(op, 0, &tally));
  return tally.operations;
}

template <class S, class T, class... X>
constexpr auto evaluate(const T& op, X... x) {
  return [&]<std::size_t... I>(std::index_sequence<I...>) {
    return as_numbers<S>(op.forward(NumberAt<T, I, S>(S(static_cast<double>(x)))...));
  }(std::index_sequence_for<X...>{});
}

/// Whether the infer_storage of T can be asked by the compiler.
template <class T>
constexpr bool ask_storage() {
  std::array<Storage, arity<T>> in;
  in.fill(dense);
  std::array<std::optional<Storage>, results<T>> out{};
  Storages storages(in, out, cpu());
  static_cast<void>(T{}.infer_storage(storages));
  return true;
}
template <class T>
inline constexpr bool infers_storage_early = false;
template <InfersStorage T>
inline constexpr bool infers_storage_early<T> = requires { typename std::bool_constant<ask_storage<T>()>; };

}  // namespace detail

namespace check {

/// forward at x…, in double; an array when there are several results.
template <AnyMap T, std::convertible_to<double>... X>
constexpr auto value(const T& op, X... x) {
  static_assert(sizeof...(X) == arity<T>, "strop: check::value takes a number for each input of forward");
  if constexpr (sizeof...(X) == arity<T>) {
    const auto y = detail::evaluate<detail::Probe>(op, x...);
    if constexpr (y.size() == 1)
      return y[0].v;
    else {
      std::array<double, y.size()> out{};
      for (std::size_t i = 0; i < out.size(); ++i) out[i] = y[i].v;
      return out;
    }
  } else
    return 0.0;
}

/// The derivative in each input at x… that is not of whole numbers, head gradients 1; a number for one, else an array.
template <AnyMap T, std::convertible_to<double>... X>
constexpr auto gradient(const T& op, X... x) {
  static_assert(sizeof...(X) == arity<T>, "strop: check::gradient takes a number for each input of forward");
  if constexpr (sizeof...(X) == arity<T>) {
    using S = detail::Probe;
    const std::array<S, sizeof...(X)> in{S(static_cast<double>(x))...};
    const auto all = detail::unit_slopes<S>(Gradient<T>{op}, in, detail::evaluate<S>(op, x...));
    if constexpr (detail::slope_count<T> == 1)
      return all[0].v;
    else {
      std::array<double, detail::slope_count<T>> out{};
      for (std::size_t i = 0; i < out.size(); ++i) out[i] = all[i].v;
      return out;
    }
  } else
    return 0.0;
}

/// The storage of the result for inputs of these storages, with the parameters that op holds, computed as E.
/// A sparse storage survives where everything that is not stored stays zero; sparse storages that differ do not. An
/// infer_storage that the struct states has its say where it is constexpr.
template <class E = float, AnyMap T, std::same_as<Storage>... In>
constexpr Storage storage(const T& op, In... in) {
  static_assert(sizeof...(In) == arity<T>, "strop: check::storage takes a storage for each input of forward");
  const std::array<Storage, sizeof...(In)> all{in...};
  bool any_sparse = false;
  for (const Storage one : all) any_sparse = any_sparse || one != dense;
  Storage derived = dense;
  if constexpr (sizeof...(In) == arity<T>)
    derived =
        detail::derive_map_storage(all, [&](std::uint64_t zeros) { return detail::zero_at<E>(op, zeros); }).storage;
  if constexpr (detail::infers_storage_early<T>)
    if (any_sparse) {
      std::array<std::optional<Storage>, detail::results<T>> out{};
      Storages stated(all, out, cpu());
      bool agrees = op.infer_storage(stated);
      for (const std::optional<Storage>& s : out) agrees = agrees && s != dense;
      if (!agrees) derived = dense;
      for (const std::optional<Storage>& s : out)
        if (s && *s != derived)
          fail("check::storage: infer_storage sets ", name_of(*s), ", expected ", name_of(derived));
    }
  return derived;
}

/// What backward keeps alive, with the parameters that op holds.
template <class E = float, AnyMap T>
constexpr Keeps keeps(const T& op) {
  const bool in = detail::kept_inputs<E>(op) != 0;
  if constexpr (detail::states_gradient<T> && Gradient<T>::takes_out)
    return in ? Keeps::in_out : Keeps::out;
  else
    return in ? Keeps::in : Keeps::none;
}

}  // namespace check
}  // namespace strop::inline v0
