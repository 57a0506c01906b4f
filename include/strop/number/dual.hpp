// SPDX-License-Identifier: Apache-2.0
/// \file
/// Dual<S>: a value with its derivative in one direction, over any number S, itself included (higher orders).
#pragma once
#include <strop/number/num.hpp>

#include <concepts>
#include <limits>

#define STROP_FN [[gnu::always_inline]] constexpr

namespace strop::inline v0::number {

template <class S>
struct Certain;

/// v + d·ε with ε² = 0: running a body on duals gives its derivative beside its value.
///
/// What does not depend on ε does not move: its d is 0 and takes no part in a derivative, where it would make NaN
/// beside what is infinite there. The compiler knows who moves, and leaves out what is computed for those who do not.
template <class S>
struct Dual {
  using MaskRep = typename S::MaskRep;
  using Real = Dual;
  static constexpr bool integer = false;

  S v, d;
  bool moves = true;

  Dual() = default;
  STROP_FN Dual(S value, S tangent, bool moving = true) : v(value), d(tangent), moves(moving) {}
  template <class A>
    requires std::convertible_to<A, S>
  STROP_FN Dual(A a) : v(a), d(0), moves(false) {}

  STROP_FN friend Dual operator+(Dual a, Dual b) {
    if (!b.moves) return a.with(a.v + b.v, a.d);
    return b.with(a.v + b.v, a.moves ? a.d + b.d : b.d);
  }
  STROP_FN friend Dual operator-(Dual a, Dual b) {
    if (!b.moves) return a.with(a.v - b.v, a.d);
    return b.with(a.v - b.v, a.moves ? a.d - b.d : -b.d);
  }
  STROP_FN friend Dual operator*(Dual a, Dual b) {
    if (!b.moves) return a.with(a.v * b.v, a.d * b.v);
    return b.with(a.v * b.v, a.moves ? a.v * b.d + a.d * b.v : a.v * b.d);
  }
  STROP_FN friend Dual operator/(Dual a, Dual b) {
    const S q = a.v / b.v;
    if (!b.moves) return a.with(q, a.d / b.v);
    return b.with(q, a.moves ? (a.d - q * b.d) / b.v : -(q * b.d) / b.v);
  }
#define STROP_CONSTANT(op, left, right)           \
  template <Literal A>                            \
    requires std::convertible_to<A, S>            \
  STROP_FN friend Dual operator op(A c, Dual b) { \
    return b.with(S(c) op b.v, left);             \
  }                                               \
  template <Literal A>                            \
    requires std::convertible_to<A, S>            \
  STROP_FN friend Dual operator op(Dual a, A c) { \
    return a.with(a.v op S(c), right);            \
  }
  STROP_CONSTANT(+, b.d, a.d)
  STROP_CONSTANT(-, -b.d, a.d)
  STROP_CONSTANT(*, S(c) * b.d, a.d* S(c))
#undef STROP_CONSTANT
  template <Literal A>
    requires std::convertible_to<A, S>
  STROP_FN friend Dual operator/(Dual a, A c) {
    return a.with(a.v / S(c), a.d / S(c));
  }
  STROP_FN friend Dual operator-(Dual a) { return a.with(-a.v, -a.d); }
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

  STROP_FN static Dual select(MaskRep m, Dual a, Dual b) {
    const S v = S::select(m, a.v, b.v);
    if (!a.moves && !b.moves) return v;
    return {v, S::select(m, a.d, b.d)};
  }
  STROP_FN friend Dual where(bool c, Dual a, Dual b) { return c ? a : b; }
  STROP_FN friend Mask<Dual> isnan(Dual a) { return {isnan(a.v).m}; }
  // Where the operands tie, max follows its first and min its first: one-sided derivatives, as MXNet has them.
  STROP_FN friend Dual max(Dual a, Dual b) { return select((a.v >= b.v).m, a, b); }
  STROP_FN friend Dual min(Dual a, Dual b) { return select((a.v <= b.v).m, a, b); }
  STROP_FN friend Dual abs(Dual a) { return a.with(abs(a.v), a.d * sign(a.v)); }
  STROP_FN friend Dual sign(Dual a) { return sign(a.v); }
#define STROP_STEP(f) \
  STROP_FN friend Dual f(Dual a) { return f(a.v); }
#include <strop/number/vocabulary.def>

  STROP_FN friend Dual exp(Dual a) {
    const S y = exp(a.v);
    return a.with(y, a.d * y);
  }
  STROP_FN friend Dual exp2(Dual a) {
    const S y = exp2(a.v);
    return a.with(y, a.d * (y * ln2));
  }
  STROP_FN friend Dual expm1(Dual a) { return a.with(expm1(a.v), a.d * exp(a.v)); }
  STROP_FN friend Dual log(Dual a) { return a.with(log(a.v), a.d / a.v); }
  STROP_FN friend Dual log1p(Dual a) { return a.with(log1p(a.v), a.d / (1 + a.v)); }
  STROP_FN friend Dual log2(Dual a) { return a.with(log2(a.v), a.d / (a.v * ln2)); }
  STROP_FN friend Dual log10(Dual a) { return a.with(log10(a.v), a.d / (a.v * ln10)); }
  STROP_FN friend Dual sqrt(Dual a) {
    const S y = sqrt(a.v);
    return a.with(y, a.d / (2 * y));
  }
  STROP_FN friend Dual rsqrt(Dual a) {
    const S y = rsqrt(a.v);
    return a.with(y, a.d * (-0.5 * y / a.v));
  }
  STROP_FN friend Dual cbrt(Dual a) {
    const S y = cbrt(a.v);
    return a.with(y, a.d / (3 * y * y));
  }
  STROP_FN friend Dual sin(Dual a) { return a.with(sin(a.v), a.d * cos(a.v)); }
  STROP_FN friend Dual cos(Dual a) { return a.with(cos(a.v), a.d * -sin(a.v)); }
  STROP_FN friend Dual tan(Dual a) {
    const S y = tan(a.v);
    return a.with(y, a.d * (1 + y * y));
  }
  // 1 − x² as a product: it keeps its digits near ±1.
  STROP_FN friend Dual asin(Dual a) { return a.with(asin(a.v), a.d / sqrt((1 - a.v) * (1 + a.v))); }
  STROP_FN friend Dual acos(Dual a) { return a.with(acos(a.v), -a.d / sqrt((1 - a.v) * (1 + a.v))); }
  STROP_FN friend Dual atan(Dual a) { return a.with(atan(a.v), a.d / (1 + a.v * a.v)); }
  STROP_FN friend Dual sinh(Dual a) { return a.with(sinh(a.v), a.d * cosh(a.v)); }
  STROP_FN friend Dual cosh(Dual a) { return a.with(cosh(a.v), a.d * sinh(a.v)); }
  STROP_FN friend Dual tanh(Dual a) {
    // 1 − tanh² has no digits left where tanh is nearly 1, and derivatives of 1 / cosh² are ∞ / ∞ where that overflows
    if constexpr (is_plain<S>) {
      const S c = cosh(a.v);
      return a.with(tanh(a.v), a.d / (c * c));
    } else {
      const S twice = 2 * a.v;
      return a.with(tanh(a.v), a.d * (4 * (sigmoid(twice) * sigmoid(-twice))));
    }
  }
  /// √(x² + 1) is |x| to the last digit long before x² overflows.
  STROP_FN friend Dual asinh(Dual a) {
    const S size = abs(a.v);
    return a.with(asinh(a.v), a.d / S::select((size > 1e9).m, size, sqrt(a.v * a.v + 1)));
  }
  STROP_FN friend Dual acosh(Dual a) { return a.with(acosh(a.v), a.d / (sqrt(a.v - 1) * sqrt(a.v + 1))); }
  STROP_FN friend Dual atanh(Dual a) { return a.with(atanh(a.v), a.d / ((1 - a.v) * (1 + a.v))); }
  STROP_FN friend Dual sigmoid(Dual a) {
    const S y = sigmoid(a.v);
    return a.with(y, a.d * (y * sigmoid(-a.v)));  // nor has 1 − y
  }
  STROP_FN friend Dual softplus(Dual a) { return a.with(softplus(a.v), a.d * sigmoid(a.v)); }
  STROP_FN friend Dual log_sigmoid(Dual a) { return a.with(log_sigmoid(a.v), a.d * sigmoid(-a.v)); }
  STROP_FN friend Dual sinc(Dual a) { return a.with(sinc(a.v), a.d * sinc_derivative(1, a.v)); }
  STROP_FN friend Dual sinc_derivative(int n, Dual a) {
    return a.with(sinc_derivative(n, a.v), a.d * sinc_derivative(n + 1, a.v));
  }
  STROP_FN friend Dual erf(Dual a) { return a.with(erf(a.v), a.d * (two_over_sqrt_pi * exp(-(a.v * a.v)))); }
  STROP_FN friend Dual erfinv(Dual a) {
    const S y = erfinv(a.v);
    return a.with(y, a.d * (half_sqrt_pi * exp(y * y)));
  }
  STROP_FN friend Dual lgamma(Dual a) { return a.with(lgamma(a.v), a.d * digamma(a.v)); }
  STROP_FN friend Dual tgamma(Dual a) {
    const S y = tgamma(a.v);
    return a.with(y, a.d * (y * digamma(a.v)));
  }
  STROP_FN friend Dual digamma(Dual a) { return a.with(digamma(a.v), a.d * polygamma(1, a.v)); }
  STROP_FN friend Dual polygamma(int n, Dual a) { return a.with(polygamma(n, a.v), a.d * polygamma(n + 1, a.v)); }
  /// xʸ: the derivative in x is y·xʸ⁻¹, 0 where y and x are 0; in y it is xʸ·log x, and 0 at x = 0, where the limit is.
  STROP_FN friend Dual pow(Dual a, Dual b) {
    const S y = pow(a.v, b.v);
    const S by_base = S::select(((a.v == 0) && (b.v == 0)).m, S(0), b.v * pow(a.v, b.v - 1));
    const S by_exponent = S::select((a.v > 0).m, y * log(S::select((a.v > 0).m, a.v, S(1))), S(0));
    return along(y, a, by_base, b, by_exponent);
  }
  STROP_FN friend Dual fmod(Dual a, Dual b) { return along(fmod(a.v, b.v), a, S(1), b, -trunc(a.v / b.v)); }
  STROP_FN friend Dual hypot(Dual a, Dual b) {
    const S y = hypot(a.v, b.v);
    return along(y, a, share(a.v, b.v, y), b, share(b.v, a.v, y));
  }
  STROP_FN friend Dual atan2(Dual a, Dual b) {
    const S r = hypot(a.v, b.v);
    return along(atan2(a.v, b.v), a, share(b.v, a.v, r) / r, b, -share(a.v, b.v, r) / r);
  }
  /// Infinities of one sign, which the difference makes NaN of, count as equal.
  STROP_FN friend Dual logaddexp(Dual a, Dual b) {
    const S apart = S::select(((a.v == b.v) && (abs(a.v) == infinity)).m, S(0), a.v - b.v);
    return along(logaddexp(a.v, b.v), a, sigmoid(apart), b, sigmoid(-apart));
  }
  /// x·log y is 0 where x is: both derivatives are there at y = 0 as well.
  STROP_FN friend Dual xlogy(Dual a, Dual b) {
    const auto none = ((a.v == 0) && (b.v == 0)).m;
    return along(xlogy(a.v, b.v), a, S::select(none, S(0), log(b.v)), b, S::select(none, S(0), a.v / b.v));
  }

 private:
  /// Of one number: it moves where that does.
  STROP_FN Dual with(S value, S tangent) const {
    if (!moves) return value;
    return {value, tangent};
  }
  /// Of two, with the derivatives in each.
  STROP_FN static Dual along(S value, Dual a, S by_a, Dual b, S by_b) {
    if (!b.moves) return a.with(value, a.d * by_a);
    return {value, a.moves ? a.d * by_a + b.d * by_b : b.d * by_b};
  }
  /// x / r with r = hypot(x, other), or its limit beside an infinity: ±1 where only x is infinite, ±√½ where both are;
  /// 0 at the origin, as sign has it.
  STROP_FN static S share(S x, S other, S r) {
    const S limit = sign(x) * S::select((abs(other) == infinity).m, S(0.70710678118654752440), S(1));
    const S finite = S::select((r == 0).m, S(0), x / r);
    return S::select((abs(x) == infinity).m, limit, finite);
  }
  static constexpr double infinity = std::numeric_limits<double>::infinity();
  static constexpr double ln2 = 0.69314718055994530942, ln10 = 2.30258509299404568402;
  static constexpr double two_over_sqrt_pi = 1.12837916709551257390, half_sqrt_pi = 0.88622692545275801365;
};

}  // namespace strop::inline v0::number

#undef STROP_FN
