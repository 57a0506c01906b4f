// SPDX-License-Identifier: Apache-2.0
/// \file
/// The loops of a map, generated from its body: lanes for floating types, one scalar loop for integers.
#pragma once
#include <strop/core/span.hpp>
#include <strop/number/facts.hpp>
#include <strop/number/lanes.hpp>
#include <strop/op/check.hpp>
#include <strop/op/entry.hpp>
#include <strop/op/higher.hpp>

#include <array>
#include <cstring>
#include <type_traits>

namespace strop::inline v0::detail {
inline namespace STROP_ISA {

/// The operator as a loop reads it: a local copy where that is free, so that its fields live in registers.
template <class T>
using LocalCopy = std::conditional_t<std::is_trivially_copyable_v<T>, const T, const T&>;

/// A register of lanes at a time. The last, partial register is padded and goes through the same code, so an element's
/// value never depends on its position; padding is 1, where most functions are defined.
template <class T, class E>
void lane_loop(const void* object, const void* const* in, void* const* out, std::int64_t n) {
  using R = number::Rep<number::Vec<E>>;
  using S = number::Num<number::Vec<E>>;
  constexpr std::size_t N = arity<T>, M = results<T>;
  constexpr std::int64_t L = R::lanes;
  LocalCopy<T> op = *static_cast<const T*>(object);
  std::array<const E*, N> x;
  std::array<E*, M> y;
  for (std::size_t k = 0; k < N; ++k) x[k] = static_cast<const E*>(in[k]);
  for (std::size_t k = 0; k < M; ++k) y[k] = static_cast<E*>(out[k]);
  E padded[N][unsigned_size(L)], tail[M][unsigned_size(L)];
  std::int64_t whole = n / L * L;
  const std::int64_t rest = n - whole;
  bool past = n >= 4096 && past_caches;
  if (past)
    for (std::size_t k = 0; k < M; ++k) past = past && reinterpret_cast<std::uintptr_t>(y[k]) % sizeof(S) == 0;
  for (int pass = 0;; ++pass) {
    for (std::int64_t i = 0; i < whole; i += L) {
      const auto r = [&]<std::size_t... I>(std::index_sequence<I...>) {
        return as_numbers<S>(op.forward(NumberAt<T, I, S>(S::of(R::load(x[I] + i)))...));
      }(std::make_index_sequence<N>{});
      for (std::size_t k = 0; k < M; ++k) {
        if (past) [[unlikely]]
          R::store_past(y[k] + i, r[k].v);
        else
          R::store(y[k] + i, r[k].v);
      }
    }
    if (past) R::drain();
    if (pass == 1 || rest == 0) break;
    past = false;
    for (std::size_t k = 0; k < N; ++k) {
      for (std::int64_t j = 0; j < L; ++j) padded[k][j] = j < rest ? x[k][whole + j] : E(1);
      x[k] = padded[k];
    }
    for (std::size_t k = 0; k < M; ++k) y[k] = tail[k];
    n = whole;
    whole = L;
  }
  if (rest != 0)
    for (std::size_t k = 0; k < M; ++k)
      detail::copy_bytes(static_cast<E*>(out[k]) + n, tail[k], rest * std::int64_t{sizeof(E)});
}

/// One element at a time, in Num<E>; results are stored as Y. Integers go in short runs of a fixed length through
/// copies, from which compilers make vector code.
template <class T, class E, class Y>
void scalar_loop(const void* object, const void* const* in, void* const* out, std::int64_t n) {
  constexpr std::size_t N = arity<T>, M = results<T>;
  LocalCopy<T> op = *static_cast<const T*>(object);
  const auto one = [&]<std::size_t... I>(std::index_sequence<I...>, const auto* const* x, std::int64_t i) {
    return as_numbers<number::Num<Y>>(op.forward(NumberAt<T, I, number::Num<E>>(number::Num<E>(x[I][i]))...));
  };
  std::array<const E*, N> x;
  std::array<Y*, M> y;
  for (std::size_t k = 0; k < N; ++k) x[k] = static_cast<const E*>(in[k]);
  for (std::size_t k = 0; k < M; ++k) y[k] = static_cast<Y*>(out[k]);
  std::int64_t i = 0;
  if constexpr (std::is_same_v<E, Y> && std::is_integral_v<E>) {
    constexpr std::int64_t run = 16;
    E from[N][run];
    Y to[M][run];
    std::array<const E*, N> copies;
    for (std::size_t k = 0; k < N; ++k) copies[k] = from[k];
    for (; i + run <= n; i += run) {
      for (std::size_t k = 0; k < N; ++k) std::memcpy(from[k], x[k] + i, sizeof from[k]);
      for (std::int64_t j = 0; j < run; ++j) {
        const auto r = one(std::make_index_sequence<N>{}, copies.data(), j);
        for (std::size_t k = 0; k < M; ++k) to[k][j] = r[k].v;
      }
      for (std::size_t k = 0; k < M; ++k) std::memcpy(y[k] + i, to[k], sizeof to[k]);
    }
  }
  for (; i < n; ++i) {
    const auto r = one(std::make_index_sequence<N>{}, x.data(), i);
    for (std::size_t k = 0; k < M; ++k) y[k][i] = r[k].v;
  }
}

/// Whether the facts follow from the parameters alone: a body that reads a variable of the program is no constant.
template <class E, class T>
concept FactsOfParameters = requires { typename std::bool_constant<(gradient_facts<E>(T{}), true)>; };

/// gradient_facts, found once for a map without parameters, and for others again where the parameters are not those of
/// the thread's last call: recording asks, and a loop, which may be called for a few elements.
template <class E, class T>
GradientFacts last_gradient_facts(const T& op) {
  if constexpr (!FactsOfParameters<E, T>) {
    return gradient_facts<E>(op);
  } else if constexpr (std::is_empty_v<T>) {
    static constexpr GradientFacts facts = gradient_facts<E>(T{});
    return facts;
  } else if constexpr (std::is_trivially_copyable_v<T> && sizeof(T) <= 128) {
    static constinit thread_local GradientFacts facts{};
    static constinit thread_local unsigned char last[sizeof(T) + 1]{};  // the last byte: whether there is one
    if (last[sizeof op] == 0 || __builtin_memcmp(last, &op, sizeof op) != 0) {
      facts = gradient_facts<E>(op);
      __builtin_memcpy(last, &op, sizeof op);
      last[sizeof op] = 1;
    }
    return facts;
  } else
    return gradient_facts<E>(op);
}

/// The loop of a gradient of order 1: with parameters that let terms drop out of it, on jets, which leave them out.
template <class T, class E>
void gradient_loop(const void* object, const void* const* in, void* const* out, std::int64_t n) {
  if (last_gradient_facts<E>(*static_cast<const typename T::Of*>(object)).drops) [[unlikely]]
    return jet_loop<T, E>(object, in, out, n);
  lane_loop<T, E>(object, in, out, n);
}

/// The loop of a map in forward mode: the same for its derivatives; its values are those of the map.
template <class T, class E>
void tangent_loop(const void* object, const void* const* in, void* const* out, std::int64_t n) {
  if (!last_gradient_facts<E>(*static_cast<const typename T::Of*>(object)).drops) [[likely]]
    return lane_loop<T, E>(object, in, out, n);
  constexpr std::int64_t block = 64;
  constexpr std::size_t values = T::results_of, all = results<T>;
  E computed[all][unsigned_size(block)];
  for (std::int64_t at = 0; at < n; at += block) {
    const std::int64_t count = n - at < block ? n - at : block;
    const void* x[arity<T>];
    void *first[all], *then[all];
    for (std::size_t k = 0; k < arity<T>; ++k) x[k] = static_cast<const E*>(in[k]) + at;
    for (std::size_t k = 0; k < all; ++k) {
      first[k] = computed[k];
      then[k] = k < values ? nullptr : static_cast<E*>(out[k]) + at;
    }
    lane_loop<T, E>(object, x, first, count);
    jet_loop<T, E>(object, x, then, count);  // reads before it writes, should a result lie in an input's memory
    for (std::size_t k = 0; k < values; ++k)
      detail::copy_bytes(static_cast<E*>(out[k]) + at, computed[k], count * std::int64_t{sizeof(E)});
  }
}

/// Whether the body's results on integers are integers.
template <class T>
constexpr bool integer_results() {
  using S = number::Num<std::int64_t>;
  using Y = Result<T, S>;
  const auto integer = []<class R>(std::type_identity<R>) {
    return std::is_integral_v<R> || std::convertible_to<R, S>;
  };
  if constexpr (requires { std::tuple_size<Y>::value; })
    return []<class... R>(std::type_identity<std::tuple<R...>>, auto test) {
      return (test(std::type_identity<R>{}) && ...);
    }(std::type_identity<Y>{}, integer);
  else
    return integer(std::type_identity<Y>{});
}

/// Element types of a map: those it states, else the floating ones; where all its numbers are whole, the others.
template <class T>
constexpr DtypeSet map_dtypes() {
  if constexpr (ServesTypes<T>)
    return DtypeSet(T::dtypes);
  else if constexpr (asks_whole<T> + 1 == std::uint64_t{1} << arity<T>)
    return integral | boolean;
  else
    return floating;
}

template <class T>
constexpr MapLoops loops_of() {
  MapLoops loops;
  constexpr DtypeSet types = map_dtypes<T>();
  // Gradients of gradients are rare: one loop in double serves every type.
  if constexpr (gradient_order<T> >= 2 && !is_tangent<T>) {
    loops.f64 = &jet_loop<T, double>;
  } else if constexpr (gradient_order<T> == 1) {
    loops.f32 = &gradient_loop<T, float>;
    loops.f64 = &gradient_loop<T, double>;
  } else if constexpr (is_tangent<T>) {
    loops.f32 = &tangent_loop<T, float>;
    loops.f64 = &tangent_loop<T, double>;
  } else {
    if constexpr ((types.bits & (DtypeSet(f32) | f16 | bf16).bits) != 0) loops.f32 = &lane_loop<T, float>;
    // Whole numbers of many digits beside floats are computed in double.
    if constexpr (types.contains(f64) || (whole_inputs<T> != 0 && (types.bits & floating.bits) != 0))
      loops.f64 = &lane_loop<T, double>;
    if constexpr ((types.bits & (integral | boolean).bits) != 0) {
      constexpr bool exact = integer_results<T>();
      loops.i64_gives_f64 = !exact;
      // A friend of maps of ours that choose between x and a parameter, or divide it: where that lies outside the type.
      if constexpr (requires(const T& op) { leaves_type(op, i64); })
        loops.leaves = [](const void* op, Dtype type) { return leaves_type(*static_cast<const T*>(op), type); };
      loops.i64 = &scalar_loop<T, std::int64_t, std::conditional_t<exact, std::int64_t, double>>;
    }
  }
  return loops;
}

template <class T>
std::uint64_t kept_of(const void* op, Dtype compute) {
  const T& t = *static_cast<const T*>(op);
  return compute == f64 ? last_gradient_facts<double>(t).kept : last_gradient_facts<float>(t).kept;
}
template <class T>
[[gnu::cold]] int operations_of(const void* op) {
  return counted_operations<float>(*static_cast<const T*>(op));
}
template <class T>
bool zero_of(const void* op, Dtype compute, std::uint64_t zeros) {
  const T& t = *static_cast<const T*>(op);
  return compute == f64 ? zero_at<double>(t, zeros) : zero_at<float>(t, zeros);
}

}  // namespace STROP_ISA
}  // namespace strop::inline v0::detail
