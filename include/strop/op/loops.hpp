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
        return as_numbers<S>(op.forward(S::of(R::load(x[I] + i))...));
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
    return as_numbers<number::Num<Y>>(op.forward(number::Num<E>(x[I][i])...));
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

/// Element types of a map: those it states, else the floating ones.
template <class T>
constexpr DtypeSet map_dtypes() {
  if constexpr (ServesTypes<T>)
    return DtypeSet(T::dtypes);
  else
    return floating;
}

template <class T>
constexpr MapLoops loops_of() {
  MapLoops loops;
  constexpr DtypeSet types = map_dtypes<T>();
  // Gradients of gradients are rare: one loop in double serves every type.
  if constexpr (gradient_order<T> >= 2 && !is_tangent<T>) {
    loops.f64 = &jet_loop<T>;
  } else {
    if constexpr ((types.bits & (DtypeSet(f32) | f16 | bf16).bits) != 0) loops.f32 = &lane_loop<T, float>;
    if constexpr (types.contains(f64)) loops.f64 = &lane_loop<T, double>;
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
  return compute == f64 ? kept_inputs<double>(t) : kept_inputs<float>(t);
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
