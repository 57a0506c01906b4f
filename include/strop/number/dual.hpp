// SPDX-License-Identifier: Apache-2.0
/// \file
/// Dual<S>: a value with its derivative in one direction, over any number S, itself included (higher orders).
#pragma once
#include <strop/number/num.hpp>

#include <concepts>
#include <limits>

#define STROP_FN [[gnu::always_inline]] constexpr

namespace strop::inline v0::number {

/// v + d·ε with ε² = 0: running a body on duals gives its derivative beside its value.
template <class S>
struct Dual {
  using MaskRep = typename S::MaskRep;
  using Real = Dual;
  static constexpr bool integer = false;

  S v, d;

  Dual() = default;
  STROP_FN Dual(S value, S tangent) : v(value), d(tangent) {}
  template <class A>
    requires std::convertible_to<A, S>
  STROP_FN Dual(A a) : v(a), d(0) {}

  STROP_FN friend Dual operator+(Dual a, Dual b) { return {a.v + b.v, a.d + b.d}; }
  STROP_FN friend Dual operator-(Dual a, Dual b) { return {a.v - b.v, a.d - b.d}; }
  STROP_FN friend Dual operator*(Dual a, Dual b) { return {a.v * b.v, a.v * b.d + a.d * b.v}; }
  STROP_FN friend Dual operator/(Dual a, Dual b) {
    const S q = a.v / b.v;
    return {q, (a.d - q * b.d) / b.v};
  }
  // A constant has no tangent: 0 · v would stay in the derivative, as v may be infinite.
#define STROP_CONSTANT(op, left, right)           \
  template <Literal A>                            \
    requires std::convertible_to<A, S>            \
  STROP_FN friend Dual operator op(A c, Dual b) { \
    return {S(c) op b.v, left};                   \
  }                                               \
  template <Literal A>                            \
    requires std::convertible_to<A, S>            \
  STROP_FN friend Dual operator op(Dual a, A c) { \
    return {a.v op S(c), right};                  \
  }
  STROP_CONSTANT(+, b.d, a.d)
  STROP_CONSTANT(-, -b.d, a.d)
  STROP_CONSTANT(*, S(c) * b.d, a.d* S(c))
#undef STROP_CONSTANT
  template <Literal A>
    requires std::convertible_to<A, S>
  STROP_FN friend Dual operator/(Dual a, A c) {
    return {a.v / S(c), a.d / S(c)};
  }
  STROP_FN friend Dual operator-(Dual a) { return {-a.v, -a.d}; }
  STROP_FN friend Dual operator+(Dual a) { return a; }
  STROP_FN friend Dual& operator+=(Dual& a, Dual b) { return a = a + b; }
  STROP_FN friend Dual& operator-=(Dual& a, Dual b) { return a = a - b; }
  STROP_FN friend Dual& operator*=(Dual& a, Dual b) { return a = a * b; }
  STROP_FN friend Dual& operator/=(Dual& a, Dual b) { return a = a / b; }

#define STROP_COMPARE(op) \
  STROP_FN friend Mask<Dual> operator op(Dual a, Dual b) { return {(a.v op b.v).m}; }
  STROP_COMPARE(<)
  STROP_COMPARE(<=)
  STROP_COMPARE(>)
  STROP_COMPARE(>=)
  STROP_COMPARE(==)
  STROP_COMPARE(!=)
#undef STROP_COMPARE

  STROP_FN static Dual select(MaskRep m, Dual a, Dual b) { return {S::select(m, a.v, b.v), S::select(m, a.d, b.d)}; }
  STROP_FN friend Dual where(bool c, Dual a, Dual b) { return c ? a : b; }
  STROP_FN friend Mask<Dual> isnan(Dual a) { return {isnan(a.v).m}; }
  // Where the operands tie, max follows its first and min its first: one-sided derivatives, as the original has them.
  STROP_FN friend Dual max(Dual a, Dual b) { return select((a.v >= b.v).m, a, b); }
  STROP_FN friend Dual min(Dual a, Dual b) { return select((a.v <= b.v).m, a, b); }
  STROP_FN friend Dual abs(Dual a) { return {abs(a.v), a.d * sign(a.v)}; }
  STROP_FN friend Dual sign(Dual a) { return {sign(a.v), S(0)}; }
#define STROP_STEP(f) \
  STROP_FN friend Dual f(Dual a) { return {f(a.v), S(0)}; }
#include <strop/number/vocabulary.def>

  STROP_FN friend Dual exp(Dual a) {
    const S y = exp(a.v);
    return {y, a.d * y};
  }
  STROP_FN friend Dual exp2(Dual a) {
    const S y = exp2(a.v);
    return {y, a.d * (y * ln2)};
  }
  STROP_FN friend Dual expm1(Dual a) { return {expm1(a.v), a.d * exp(a.v)}; }
  STROP_FN friend Dual log(Dual a) { return {log(a.v), a.d / a.v}; }
  STROP_FN friend Dual log1p(Dual a) { return {log1p(a.v), a.d / (1 + a.v)}; }
  STROP_FN friend Dual log2(Dual a) { return {log2(a.v), a.d / (a.v * ln2)}; }
  STROP_FN friend Dual log10(Dual a) { return {log10(a.v), a.d / (a.v * ln10)}; }
  STROP_FN friend Dual sqrt(Dual a) {
    const S y = sqrt(a.v);
    return {y, a.d / (2 * y)};
  }
  STROP_FN friend Dual rsqrt(Dual a) {
    const S y = rsqrt(a.v);
    return {y, a.d * (-0.5 * y / a.v)};
  }
  STROP_FN friend Dual cbrt(Dual a) {
    const S y = cbrt(a.v);
    return {y, a.d / (3 * y * y)};
  }
  STROP_FN friend Dual sin(Dual a) { return {sin(a.v), a.d * cos(a.v)}; }
  STROP_FN friend Dual cos(Dual a) { return {cos(a.v), a.d * -sin(a.v)}; }
  STROP_FN friend Dual tan(Dual a) {
    const S y = tan(a.v);
    return {y, a.d * (1 + y * y)};
  }
  // 1 − x² as a product: it keeps its digits near ±1.
  STROP_FN friend Dual asin(Dual a) { return {asin(a.v), a.d / sqrt((1 - a.v) * (1 + a.v))}; }
  STROP_FN friend Dual acos(Dual a) { return {acos(a.v), -a.d / sqrt((1 - a.v) * (1 + a.v))}; }
  STROP_FN friend Dual atan(Dual a) { return {atan(a.v), a.d / (1 + a.v * a.v)}; }
  STROP_FN friend Dual sinh(Dual a) { return {sinh(a.v), a.d * cosh(a.v)}; }
  STROP_FN friend Dual cosh(Dual a) { return {cosh(a.v), a.d * sinh(a.v)}; }
  STROP_FN friend Dual tanh(Dual a) {
    const S c = cosh(a.v);  // 1 − tanh² has no digits left where tanh is nearly 1
    return {tanh(a.v), a.d / (c * c)};
  }
  /// √(x² + 1) is |x| to the last digit long before x² overflows.
  STROP_FN friend Dual asinh(Dual a) {
    const S size = abs(a.v);
    return {asinh(a.v), a.d / S::select((size > 1e9).m, size, sqrt(a.v * a.v + 1))};
  }
  STROP_FN friend Dual acosh(Dual a) { return {acosh(a.v), a.d / (sqrt(a.v - 1) * sqrt(a.v + 1))}; }
  STROP_FN friend Dual atanh(Dual a) { return {atanh(a.v), a.d / ((1 - a.v) * (1 + a.v))}; }
  STROP_FN friend Dual sigmoid(Dual a) {
    const S c = cosh(0.5 * a.v);  // nor has 1 − y
    return {sigmoid(a.v), 0.25 * a.d / (c * c)};
  }
  STROP_FN friend Dual erf(Dual a) { return {erf(a.v), a.d * (two_over_sqrt_pi * exp(-(a.v * a.v)))}; }
  STROP_FN friend Dual erfinv(Dual a) {
    const S y = erfinv(a.v);
    return {y, a.d * (half_sqrt_pi * exp(y * y))};
  }
  STROP_FN friend Dual lgamma(Dual a) { return {lgamma(a.v), a.d * digamma(a.v)}; }
  STROP_FN friend Dual tgamma(Dual a) {
    const S y = tgamma(a.v);
    return {y, a.d * (y * digamma(a.v))};
  }
  STROP_FN friend Dual digamma(Dual a) { return {digamma(a.v), a.d * polygamma(1, a.v)}; }
  STROP_FN friend Dual polygamma(int n, Dual a) { return {polygamma(n, a.v), a.d * polygamma(n + 1, a.v)}; }
  /// xʸ: the derivative in x is y·xʸ⁻¹, in y it is xʸ·log x, and 0 at x = 0, where the limit is.
  STROP_FN friend Dual pow(Dual a, Dual b) {
    const S y = pow(a.v, b.v);
    const S by_exponent = S::select((a.v > 0).m, y * log(S::select((a.v > 0).m, a.v, S(1))), S(0));
    return {y, a.d * (b.v * pow(a.v, b.v - 1)) + b.d * by_exponent};
  }
  STROP_FN friend Dual fmod(Dual a, Dual b) { return {fmod(a.v, b.v), a.d - b.d * trunc(a.v / b.v)}; }
  STROP_FN friend Dual hypot(Dual a, Dual b) {
    const S y = hypot(a.v, b.v);
    return {y, a.d * share(a.v, b.v, y) + b.d * share(b.v, a.v, y)};
  }
  STROP_FN friend Dual atan2(Dual a, Dual b) {
    const S r = hypot(a.v, b.v);
    return {atan2(a.v, b.v), (a.d * share(b.v, a.v, r) - b.d * share(a.v, b.v, r)) / r};
  }

 private:
  /// x / r with r = hypot(x, other), or its limit beside an infinity: ±1 where only x is infinite, ±√½ where both are.
  STROP_FN static S share(S x, S other, S r) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    const S limit = sign(x) * S::select((abs(other) == infinity).m, S(0.70710678118654752440), S(1));
    return S::select((abs(x) == infinity).m, limit, x / r);
  }
  static constexpr double ln2 = 0.69314718055994530942, ln10 = 2.30258509299404568402;
  static constexpr double two_over_sqrt_pi = 1.12837916709551257390, half_sqrt_pi = 0.88622692545275801365;
};

}  // namespace strop::inline v0::number

#undef STROP_FN
