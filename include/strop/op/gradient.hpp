// SPDX-License-Identifier: Apache-2.0
/// \file
/// Gradient<T>: the gradient of a map, itself a map of the head gradients and of what the map's gradient uses.
#pragma once
#include <strop/number/dual.hpp>
#include <strop/op/concepts.hpp>

#include <array>
#include <bit>
#include <cstdint>
#include <tuple>
#include <utility>

namespace strop::inline v0 {
namespace detail {

/// Whether the struct says what its gradient uses, and what.
template <class T>
inline constexpr bool states_gradient =
    HasGradUseIn<T> || HasGradUseOut<T> || HasGradUseNone<T> || HasGradUseInOut<T> || HasZeroGradient<T>;
template <class T>
inline constexpr Keeps stated_keeps = HasGradUseInOut<T>                        ? Keeps::in_out
                                      : HasGradUseOut<T>                        ? Keeps::out
                                      : HasGradUseNone<T> || HasZeroGradient<T> ? Keeps::none
                                                                                : Keeps::in;

/// One result of a body as the number S: a number, a comparison's answer or a constant.
template <class S, class Y>
[[gnu::always_inline]] constexpr S as_number(const Y& y) {
  return static_cast<S>(y);
}
/// Results as an array of S.
template <class S, class Y>
[[gnu::always_inline]] constexpr auto as_numbers(const Y& y) {
  if constexpr (requires { std::tuple_size<Y>::value; }) {
    return [&]<std::size_t... M>(std::index_sequence<M...>) {
      return std::array<S, sizeof...(M)>{as_number<S>(std::get<M>(y))...};
    }(std::make_index_sequence<std::tuple_size_v<Y>>{});
  } else
    return std::array<S, 1>{as_number<S>(y)};
}

}  // namespace detail

/// The gradient of map T as a map. Its numbers: a head gradient per result of T, then the inputs of T unless its
/// gradient uses none, then the results of T if its gradient uses them. Its results: a gradient per input of T that is
/// not of whole numbers. Where T states no gradient it is derived: T's body runs on dual numbers, once per result.
template <class T>
struct Gradient {
  using Of = T;
  static constexpr std::size_t inputs_of = arity<T>, results_of = detail::results<T>;
  static constexpr Keeps uses = detail::stated_keeps<T>;
  static constexpr bool takes_in = uses == Keeps::in || uses == Keeps::in_out;
  static constexpr bool takes_out = uses == Keeps::out || uses == Keeps::in_out;
  static constexpr std::size_t numbers = results_of + (takes_in ? inputs_of : 0) + (takes_out ? results_of : 0);
  static constexpr std::size_t slopes_of = detail::slope_count<T>;

  T op;

  template <class S, class... More>
    requires(sizeof...(More) + 1 == numbers)
  [[gnu::always_inline]] constexpr auto forward(S first, More... more) const {
    const std::array<S, numbers> a{first, more...};
    return [&]<std::size_t... K>(std::index_sequence<K...>) {
      if constexpr (slopes_of == 1)
        return slope<S>(a);
      else {
        const auto g = slope<S>(a);
        return std::make_tuple(g[K]...);
      }
    }(std::make_index_sequence<slopes_of>{});
  }

 private:
  static constexpr std::size_t outs_at = results_of + (takes_in ? inputs_of : 0);

  template <std::size_t I, class S>
  using At = detail::NumberAt<T, I, S>;
  /// The inputs that slopes are of.
  static constexpr auto moving = [] {
    std::array<std::size_t, slopes_of> at{};
    for (std::size_t i = 0, k = 0; i < inputs_of; ++i)
      if ((detail::whole_inputs<T> >> i & 1U) == 0) at[k++] = i;
    return at;
  }();

  template <class S>
  [[gnu::always_inline]] constexpr auto slope(const std::array<S, numbers>& a) const {
    return [&]<std::size_t... I, std::size_t... M, std::size_t... K>(
               std::index_sequence<I...> each, std::index_sequence<M...>, std::index_sequence<K...>) {
      if constexpr (HasGradUseInOut<T>)
        return pack<S>(op.grad_use_in_out(a[M]..., At<I, S>(a[results_of + I])..., a[outs_at + M]...));
      else if constexpr (HasGradUseOut<T>)
        return pack<S>(op.grad_use_out(a[M]..., a[outs_at + M]...));
      else if constexpr (HasGradUseNone<T>)
        return pack<S>(op.grad_use_none(a[M]...));
      else if constexpr (HasGradUseIn<T>)
        return pack<S>(op.grad_use_in(a[M]..., At<I, S>(a[results_of + I])...));
      else if constexpr (HasZeroGradient<T> && slopes_of == 1)
        return S(0);
      else if constexpr (HasZeroGradient<T>)
        return std::array<S, slopes_of>{(static_cast<void>(K), S(0))...};
      else if constexpr (slopes_of == 1)
        return partial<S, moving[0]>(a, each);
      else
        return std::array<S, slopes_of>{partial<S, moving[K]>(a, each)...};
    }(std::make_index_sequence<inputs_of>{}, std::make_index_sequence<results_of>{},
           std::make_index_sequence<slopes_of>{});
  }
  /// Σ over the results m of dy_m · ∂f_m/∂x_K.
  template <class S, std::size_t K, std::size_t... I>
  [[gnu::always_inline]] constexpr S partial(const std::array<S, numbers>& a, std::index_sequence<I...>) const {
    using D = number::Dual<S>;
    const auto y = detail::as_numbers<D>(op.forward(At<I, D>(D(a[results_of + I], S(I == K ? 1 : 0), I == K))...));
    S total = y[0].moves ? a[0] * y[0].d : S(0);
    for (std::size_t m = 1; m < results_of; ++m)
      if (y[m].moves) total = total + a[m] * y[m].d;
    return total;
  }
  template <class S, class Y>
  [[gnu::always_inline]] static constexpr auto pack(const Y& y) {
    static_assert(detail::result_count<Y> == slopes_of,
                  "strop: a gradient returns a std::tuple of one number per input of forward");
    if constexpr (detail::result_count<Y> != slopes_of)
      return std::array<S, slopes_of>{};
    else if constexpr (slopes_of == 1)
      return detail::as_numbers<S>(y)[0];
    else
      return detail::as_numbers<S>(y);
  }
};

namespace detail {
/// The gradient for head gradients dy where the inputs are x and the results y.
template <class S, class T, std::size_t N, std::size_t M>
[[gnu::always_inline]] constexpr auto slopes(const Gradient<T>& gradient, const std::array<S, M>& dy,
                                             const std::array<S, N>& x, const std::array<S, M>& y) {
  return [&]<std::size_t... I, std::size_t... K>(std::index_sequence<I...>, std::index_sequence<K...>) {
    using G = Gradient<T>;
    if constexpr (G::takes_in && G::takes_out)
      return as_numbers<S>(gradient.forward(dy[K]..., x[I]..., y[K]...));
    else if constexpr (G::takes_in)
      return as_numbers<S>(gradient.forward(dy[K]..., x[I]...));
    else if constexpr (G::takes_out)
      return as_numbers<S>(gradient.forward(dy[K]..., y[K]...));
    else
      return as_numbers<S>(gradient.forward(dy[K]...));
  }(std::make_index_sequence<N>{}, std::make_index_sequence<M>{});
}
/// The derivatives in each input: what the gradient is for head gradients 1.
template <class S, class T, std::size_t N, std::size_t M>
constexpr auto unit_slopes(const Gradient<T>& gradient, const std::array<S, N>& x, const std::array<S, M>& y) {
  return [&]<std::size_t... K>(std::index_sequence<K...>) {
    return slopes<S>(gradient, std::array<S, M>{(void(K), S(1))...}, x, y);
  }(std::make_index_sequence<M>{});
}
}  // namespace detail

/// Map T in forward mode, as a map. Its numbers: the inputs of T, then a tangent for each that is not of whole numbers.
/// Its results: the results of T, then their derivatives along the tangents. T's body runs once, on dual numbers; a
/// gradient that T states is used.
template <class T>
struct Tangent {
  using Of = T;
  static constexpr std::size_t inputs_of = arity<T>, results_of = detail::results<T>,
                               slopes_of = detail::slope_count<T>;
  static constexpr std::size_t numbers = inputs_of + slopes_of;

  T op;

  template <class S, class... More>
    requires(sizeof...(More) + 1 == numbers)
  [[gnu::always_inline]] constexpr auto forward(S first, More... more) const {
    const std::array<S, numbers> a{first, more...};
    return [&]<std::size_t... I, std::size_t... M>(std::index_sequence<I...>, std::index_sequence<M...>) {
      if constexpr (detail::states_gradient<T>) {
        const auto y = detail::as_numbers<S>(op.forward(At<I, S>(a[I])...));
        const std::array<S, inputs_of> x{a[I]...};
        return std::make_tuple(y[M]..., along<S, M>(x, y, a)...);
      } else {
        using D = number::Dual<S>;
        const auto y = detail::as_numbers<D>(op.forward(At<I, D>(D(a[I], tangent<I>(a)))...));
        return std::make_tuple(y[M].v..., y[M].d...);
      }
    }(std::make_index_sequence<inputs_of>{}, std::make_index_sequence<results_of>{});
  }

 private:
  template <std::size_t I, class S>
  using At = detail::NumberAt<T, I, S>;
  /// That of input I; 0 of whole numbers.
  template <std::size_t I, class S>
  [[gnu::always_inline]] static constexpr S tangent(const std::array<S, numbers>& a) {
    constexpr std::uint64_t whole = detail::whole_inputs<T>;
    if constexpr ((whole >> I & 1U) != 0)
      return S(0);
    else
      return a[inputs_of + I - static_cast<std::size_t>(std::popcount(whole & ((std::uint64_t{1} << I) - 1)))];
  }
  /// The derivative of result K along the tangents, by the stated gradient for a head gradient of that result alone.
  template <class S, std::size_t K>
  [[gnu::always_inline]] constexpr S along(const std::array<S, inputs_of>& x, const std::array<S, results_of>& y,
                                           const std::array<S, numbers>& a) const {
    const auto slope = [&]<std::size_t... M>(std::index_sequence<M...>) {
      return detail::slopes<S>(Gradient<T>{op}, std::array<S, results_of>{S(M == K ? 1 : 0)...}, x, y);
    }(std::make_index_sequence<results_of>{});
    S total = slope[0] * a[inputs_of];
    for (std::size_t i = 1; i < slopes_of; ++i) total = total + slope[i] * a[inputs_of + i];
    return total;
  }
};

namespace detail {
template <class T>
inline constexpr bool is_tangent = false;
template <class T>
inline constexpr bool is_tangent<Tangent<T>> = true;
template <class T>
inline constexpr int gradient_order = 0;
template <class T>
inline constexpr int gradient_order<Gradient<T>> = gradient_order<T> + 1;
/// What is computed in forward mode can be differentiated once more, backward (a Hessian's product with a vector).
template <class T>
inline constexpr int gradient_order<Tangent<T>> = 2;
/// Derived gradients exist to this order; beyond it a call is one sentence.
inline constexpr int last_gradient_order = 3;
template <class T>
inline constexpr std::size_t results<Gradient<T>> = slope_count<T>;
template <class T>
inline constexpr std::size_t results<Tangent<T>> = 2 * results<T>;
// They take the numbers of whole inputs like all others.
template <class T>
inline constexpr std::uint64_t asks_whole<Gradient<T>> = 0;
template <class T>
inline constexpr std::uint64_t asks_whole<Tangent<T>> = 0;
template <class T>
inline constexpr std::uint64_t whole_inputs<Gradient<T>> =
    Gradient<T>::takes_in ? whole_inputs<T> << Gradient<T>::results_of : 0;
template <class T>
inline constexpr std::uint64_t whole_inputs<Tangent<T>> = whole_inputs<T>;
}  // namespace detail

template <class T>
inline constexpr std::size_t arity<Gradient<T>> = Gradient<T>::numbers;
template <class T>
inline constexpr std::size_t arity<Tangent<T>> = Tangent<T>::numbers;

}  // namespace strop::inline v0
