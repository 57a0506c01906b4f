// SPDX-License-Identifier: Apache-2.0
/// \file
/// Lanes: registers of numbers on the compilers' own vector types, without intrinsics, and Rep of them.
///
/// A lane's value depends on its own operands only, never on its neighbours or its position.
#pragma once
#include <strop/number/isa.hpp>
#include <strop/number/rep.hpp>

#include <cstdint>

#define STROP_LANE [[gnu::always_inline]] static inline

namespace strop::inline v0::number {
inline namespace STROP_ISA {

namespace detail_lanes {
template <class T>
struct VecOf;
#ifdef STROP_NO_LANES
template <class T>
struct VecOf {
  using Type = T;
};
#else
template <>
struct VecOf<float> {
  typedef float Type __attribute__((vector_size(lane_bytes)));
};
template <>
struct VecOf<double> {
  typedef double Type __attribute__((vector_size(lane_bytes)));
};
#endif
}  // namespace detail_lanes

/// A register of lane_bytes bytes; with STROP_NO_LANES one number.
template <class T>
using Vec = typename detail_lanes::VecOf<T>::Type;

#ifndef STROP_NO_LANES
namespace detail_lanes {

/// What every register has: the functions one lane after the other, where nothing better follows.
template <class T>
struct Lanes {
  using V = Vec<T>;
  using Elem = T;
  using Mask = decltype(V() < V());
  static constexpr int lanes = lane_bytes / static_cast<int>(sizeof(T));

  STROP_LANE V splat(T e) { return V{} + e; }
  STROP_LANE V select(Mask m, V a, V b) { return m ? a : b; }
  STROP_LANE V load(const T* p) {
    V v;
    __builtin_memcpy(&v, p, sizeof v);
    return v;
  }
  STROP_LANE void store(T* p, V v) { __builtin_memcpy(p, &v, sizeof v); }
  STROP_LANE bool any(Mask m) {
    bool r = false;
    for (int i = 0; i < lanes; ++i) r |= m[i] != 0;
    return r;
  }
  STROP_LANE bool all(Mask m) { return !any(~m); }
  STROP_LANE Mask isnan(V x) { return x != x; }

#define STROP_REAL(f)                                       \
  STROP_LANE V f(V x) {                                     \
    T t[lanes];                                             \
    store(t, x);                                            \
    for (int i = 0; i < lanes; ++i) t[i] = Rep<T>::f(t[i]); \
    return load(t);                                         \
  }
#define STROP_STEP(f)                                       \
  STROP_LANE V f(V x) {                                     \
    T t[lanes];                                             \
    store(t, x);                                            \
    for (int i = 0; i < lanes; ++i) t[i] = Rep<T>::f(t[i]); \
    return load(t);                                         \
  }
#define STROP_REAL2(f)                                            \
  STROP_LANE V f(V x, V y) {                                      \
    T t[lanes], s[lanes];                                         \
    store(t, x);                                                  \
    store(s, y);                                                  \
    for (int i = 0; i < lanes; ++i) t[i] = Rep<T>::f(t[i], s[i]); \
    return load(t);                                               \
  }
  STROP_STEP(abs)
  STROP_REAL2(copysign)
#include <strop/number/vocabulary.def>
};

}  // namespace detail_lanes
#endif
}  // namespace STROP_ISA

#ifndef STROP_NO_LANES
template <>
struct Rep<Vec<float>> : detail_lanes::Lanes<float> {};
template <>
struct Rep<Vec<double>> : detail_lanes::Lanes<double> {};
#endif

}  // namespace strop::inline v0::number

#undef STROP_LANE
