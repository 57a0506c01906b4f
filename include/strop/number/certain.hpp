// SPDX-License-Identifier: Apache-2.0
/// \file
/// Certain<S>: a number that knows whether it is a constant of the body, so that terms drop out of a gradient as they
/// do for Facts: what is multiplied with a constant 0 is not looked at. What Jet does on the CPU, for kernels of GPUs.
#pragma once
#include <strop/number/dual.hpp>

#define STROP_FN [[gnu::always_inline]] constexpr

namespace strop::inline v0::number {

/// S is a Num of one number, not of lanes.
template <class S>
struct Certain {
  using Real = Certain;
  struct MaskRep {
    bool bit = false, known = false;
    STROP_FN friend MaskRep operator&(MaskRep a, MaskRep b) {
      const bool never = (a.known && !a.bit) || (b.known && !b.bit);
      return {a.bit && b.bit, never || (a.known && b.known)};
    }
    STROP_FN friend MaskRep operator|(MaskRep a, MaskRep b) { return !((!a) & (!b)); }
    STROP_FN friend MaskRep operator!(MaskRep a) { return {!a.bit, a.known}; }
  };
  static constexpr bool integer = false;

  S v;
  bool known;

  Certain() = default;
  STROP_FN Certain(S value, bool constant = false) : v(value), known(constant) {}
  template <Literal A>
  STROP_FN Certain(A a) : v(a), known(true) {}
  STROP_FN bool is_zero() const { return known && v.v == 0; }

  STROP_FN friend Certain operator+(Certain a, Certain b) { return {a.v + b.v, a.known && b.known}; }
  STROP_FN friend Certain operator-(Certain a, Certain b) { return {a.v - b.v, a.known && b.known}; }
  STROP_FN friend Certain operator*(Certain a, Certain b) {
    const bool both = a.known && b.known;
    return !both && (a.is_zero() || b.is_zero()) ? Certain(0) : Certain(a.v * b.v, both);
  }
  STROP_FN friend Certain operator/(Certain a, Certain b) {
    const bool both = a.known && b.known;
    return !both && a.is_zero() ? Certain(0) : Certain(a.v / b.v, both);
  }
  STROP_FN friend Certain operator-(Certain a) { return {-a.v, a.known}; }
  STROP_FN friend Certain operator+(Certain a) { return a; }
  STROP_FN friend Certain& operator+=(Certain& a, Certain b) { return a = a + b; }
  STROP_FN friend Certain& operator-=(Certain& a, Certain b) { return a = a - b; }
  STROP_FN friend Certain& operator*=(Certain& a, Certain b) { return a = a * b; }
  STROP_FN friend Certain& operator/=(Certain& a, Certain b) { return a = a / b; }

#define STROP_COMPARE(op) \
  STROP_FN friend Mask<Certain> operator op(Certain a, Certain b) { return {{a.v.v op b.v.v, a.known && b.known}}; }
  STROP_COMPARE(<)
  STROP_COMPARE(<=)
  STROP_COMPARE(>)
  STROP_COMPARE(>=)
  STROP_COMPARE(==)
  STROP_COMPARE(!=)
#undef STROP_COMPARE

  STROP_FN static Certain select(MaskRep m, Certain a, Certain b) {
    if (m.known) return m.bit ? a : b;
    return {m.bit ? a.v : b.v, a.known && b.known && a.v.v == b.v.v};
  }
  STROP_FN friend Certain where(bool c, Certain a, Certain b) { return c ? a : b; }
  STROP_FN friend Mask<Certain> isnan(Certain a) { return {{a.v.v != a.v.v, a.known}}; }

#define STROP_REAL(f) \
  STROP_FN friend Certain f(Certain a) { return {f(a.v), a.known}; }
#define STROP_STEP(f) \
  STROP_FN friend Certain f(Certain a) { return {f(a.v), a.known}; }
#define STROP_REAL2(f) \
  STROP_FN friend Certain f(Certain a, Certain b) { return {f(a.v, b.v), a.known && b.known}; }
#define STROP_TIMES2(f)                                                                     \
  STROP_FN friend Certain f(Certain a, Certain b) {                                         \
    return a.is_zero() && !b.known ? Certain(0) : Certain(f(a.v, b.v), a.known && b.known); \
  }
  STROP_STEP(abs)
  STROP_STEP(sign)
  STROP_REAL2(max)
  STROP_REAL2(min)
#include <strop/number/vocabulary.def>
  STROP_FN friend Certain polygamma(int n, Certain a) { return {polygamma(n, a.v), a.known}; }
  STROP_FN friend Certain sinc_derivative(int n, Certain a) { return {sinc_derivative(n, a.v), a.known}; }
};

template <class S>
inline constexpr bool is_plain<Certain<S>> = is_plain<S>;

}  // namespace strop::inline v0::number

#undef STROP_FN
