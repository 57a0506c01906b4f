// SPDX-License-Identifier: Apache-2.0
/// \file
/// Num<R>: the one number that forward() sees, R being a double, a float, an integer or a register of lanes.
///
/// Every operator and function is a hidden friend, so that each call in a body has one candidate, whatever R is.
#pragma once
#include <strop/number/polygamma.hpp>
#include <strop/number/rep.hpp>
#include <strop/number/sinc.hpp>

#include <concepts>
#include <cstdint>
#include <type_traits>

#define STROP_FN [[gnu::always_inline]] constexpr

namespace strop::inline v0::number {

/// A plain number of the language.
template <class A>
concept Literal = std::is_arithmetic_v<A>;

template <class R>
struct Num;
template <class S>
struct Mask;

namespace detail {
template <class R>
inline constexpr bool is_integer = std::integral<R>;
template <class R>
using RealRep = std::conditional_t<is_integer<R>, double, R>;

/// Integer arithmetic wraps instead of being undefined; a zero divisor gives 0.
template <std::integral I, class F>
STROP_FN I wrapping(I a, I b, F f) {
  using U = std::make_unsigned_t<I>;
  return static_cast<I>(f(static_cast<U>(a), static_cast<U>(b)));
}
template <std::integral I>
STROP_FN I quotient(I a, I b) {
  if (b == 0) return 0;
  if constexpr (std::signed_integral<I>)
    if (b == -1) return wrapping(I{0}, a, [](auto x, auto y) { return x - y; });
  return static_cast<I>(a / b);
}
}  // namespace detail

/// A number inside forward(). Constants convert to it implicitly: `0.5 * x` has the type of x.
template <class R>
struct Num {
  using Rep = number::Rep<R>;
  using Elem = typename Rep::Elem;
  using MaskRep = typename Rep::Mask;
  using Real = Num<detail::RealRep<R>>;
  static constexpr bool integer = detail::is_integer<R>;

  R v;

  Num() = default;
  template <Literal A>
    requires(!integer || std::integral<A>)
  STROP_FN Num(A a) : v(Rep::splat(static_cast<Elem>(a))) {}
  /// An integer that meets a floating number becomes one.
  template <class I>
    requires(integer == false && std::integral<I>)
  STROP_FN Num(Num<I> a) : v(Rep::splat(static_cast<Elem>(a.v))) {}
  STROP_FN static Num of(R r) {
    Num n;
    n.v = r;
    return n;
  }

  // Arithmetic.
#define STROP_BINARY(op)                                                            \
  STROP_FN friend Num operator op(Num a, Num b) {                                   \
    if constexpr (integer)                                                          \
      return of(detail::wrapping(a.v, b.v, [](auto x, auto y) { return x op y; })); \
    else                                                                            \
      return of(a.v op b.v);                                                        \
  }                                                                                 \
  template <std::floating_point F>                                                  \
    requires integer                                                                \
  STROP_FN friend Real operator op(Num a, F b) {                                    \
    return Real(a) op Real(b);                                                      \
  }                                                                                 \
  template <std::floating_point F>                                                  \
    requires integer                                                                \
  STROP_FN friend Real operator op(F a, Num b) {                                    \
    return Real(a) op Real(b);                                                      \
  }
  STROP_BINARY(+)
  STROP_BINARY(-)
  STROP_BINARY(*)
#undef STROP_BINARY
  STROP_FN friend Num operator/(Num a, Num b) {
    if constexpr (integer)
      return of(detail::quotient(a.v, b.v));
    else
      return of(a.v / b.v);
  }
  template <std::floating_point F>
    requires integer
  STROP_FN friend Real operator/(Num a, F b) {
    return Real(a) / Real(b);
  }
  template <std::floating_point F>
    requires integer
  STROP_FN friend Real operator/(F a, Num b) {
    return Real(a) / Real(b);
  }
  STROP_FN friend Num operator-(Num a) {
    if constexpr (integer)
      return Num(0) - a;
    else
      return of(-a.v);
  }
  STROP_FN friend Num operator+(Num a) { return a; }
  STROP_FN friend auto operator%(Num, Num) {
    static_assert(!sizeof(R), "strop: in forward() write fmod(a, b), not a % b");
    return Num();
  }
  STROP_FN friend Num& operator+=(Num& a, Num b) { return a = a + b; }
  STROP_FN friend Num& operator-=(Num& a, Num b) { return a = a - b; }
  STROP_FN friend Num& operator*=(Num& a, Num b) { return a = a * b; }
  STROP_FN friend Num& operator/=(Num& a, Num b) { return a = a / b; }

  // Comparisons: one answer per lane.
#define STROP_COMPARE(op)                                                      \
  STROP_FN friend Mask<Num> operator op(Num a, Num b) { return {a.v op b.v}; } \
  template <std::floating_point F>                                             \
    requires integer                                                           \
  STROP_FN friend Mask<Real> operator op(Num a, F b) {                         \
    return Real(a) op Real(b);                                                 \
  }                                                                            \
  template <std::floating_point F>                                             \
    requires integer                                                           \
  STROP_FN friend Mask<Real> operator op(F a, Num b) {                         \
    return Real(a) op Real(b);                                                 \
  }
  STROP_COMPARE(<)
  STROP_COMPARE(<=)
  STROP_COMPARE(>)
  STROP_COMPARE(>=)
  STROP_COMPARE(==)
  STROP_COMPARE(!=)
#undef STROP_COMPARE

  // Choice. A NaN in either operand of max and min comes out.
  STROP_FN static Num select(MaskRep m, Num a, Num b) { return of(Rep::select(m, a.v, b.v)); }
  STROP_FN friend Num where(bool c, Num a, Num b) { return c ? a : b; }
  STROP_FN friend Num max(Num a, Num b) { return of(Rep::max(a.v, b.v)); }
  STROP_FN friend Num min(Num a, Num b) { return of(Rep::min(a.v, b.v)); }
  template <std::floating_point F>
    requires integer
  STROP_FN friend Real max(Num a, F b) {
    return max(Real(a), Real(b));
  }
  template <std::floating_point F>
    requires integer
  STROP_FN friend Real min(Num a, F b) {
    return min(Real(a), Real(b));
  }
  STROP_FN friend Num abs(Num a) {
    if constexpr (integer)
      return select((a < Num(0)).m, -a, a);
    else
      return of(Rep::abs(a.v));
  }
  /// −1, 0 or 1.
  STROP_FN friend Num sign(Num a) { return select((a > Num(0)).m, Num(1), select((a < Num(0)).m, Num(-1), Num(0))); }
  STROP_FN friend Mask<Num> isnan(Num a) { return a != a; }

  // Functions. Of an integer they compute in double.
#define STROP_REAL(f) \
  STROP_FN friend Real f(Num a) { return Real::of(Real::Rep::f(Real(a).v)); }
#define STROP_REAL2(f)                                                                          \
  STROP_FN friend Real f(Num a, Num b) { return Real::of(Real::Rep::f(Real(a).v, Real(b).v)); } \
  template <std::floating_point F>                                                              \
    requires integer                                                                            \
  STROP_FN friend Real f(Num a, F b) {                                                          \
    return Real::of(Real::Rep::f(Real(a).v, Real(b).v));                                        \
  }                                                                                             \
  template <std::floating_point F>                                                              \
    requires integer                                                                            \
  STROP_FN friend Real f(F a, Num b) {                                                          \
    return Real::of(Real::Rep::f(Real(a).v, Real(b).v));                                        \
  }
#define STROP_STEP(f)            \
  STROP_FN friend Num f(Num a) { \
    if constexpr (integer)       \
      return a;                  \
    else                         \
      return of(Rep::f(a.v));    \
  }
#include <strop/number/vocabulary.def>
  /// The n-th derivatives of digamma and sinc, in double, lane by lane.
  STROP_FN friend Real polygamma(int n, Num a) {
    return each_double(a, [n](double x) { return number::polygamma(n, x); });
  }
  STROP_FN friend Real sinc_derivative(int n, Num a) {
    return each_double(a, [n](double x) { return number::sinc_derivative(n, x); });
  }

  /// It stays a number of this kind.
  template <Literal A>
  constexpr explicit operator A() const {
    static_assert(!sizeof(A),
                  "strop: in forward() a number may be many at once: keep it auto, not float, double, int "
                  "or bool; to choose, write where(x != 0, a, b)");
    return {};
  }

  /// The first argument of where() is a comparison.
  template <std::same_as<Num> C, class A, class B>
  friend constexpr Num where(C c, A, B) {
    static_assert(!sizeof(A), "strop: the first argument of where() is a comparison, such as x > 0");
    return c;
  }

 private:
  template <class F>
  STROP_FN static Real each_double(Num a, F f) {
    typename Real::Elem t[Real::Rep::lanes] = {};
    Real::Rep::store(t, Real(a).v);
    for (auto& e : t) e = static_cast<typename Real::Elem>(f(static_cast<double>(e)));
    return Real::of(Real::Rep::load(t));
  }
};

/// Whether S has no derivatives.
template <class S>
inline constexpr bool is_plain = false;
template <class R>
inline constexpr bool is_plain<Num<R>> = true;

/// The answer of a comparison, one per lane. `where` chooses by it; as a number it is 1 or 0.
template <class S>
struct Mask {
  typename S::MaskRep m;

  STROP_FN friend S where(Mask c, S a, S b) { return S::select(c.m, a, b); }
  STROP_FN friend Mask operator&&(Mask a, Mask b) { return {static_cast<typename S::MaskRep>(a.m & b.m)}; }
  STROP_FN friend Mask operator||(Mask a, Mask b) { return {static_cast<typename S::MaskRep>(a.m | b.m)}; }
  STROP_FN friend Mask operator!(Mask a) { return {!a.m}; }
  STROP_FN operator S() const { return S::select(m, S(1), S(0)); }
  template <std::same_as<bool> B>
  constexpr explicit operator B() const {
    static_assert(
        !sizeof(B),
        "strop: in forward() a comparison has one answer per lane; write where(condition, a, b), not if or ?:");
    return false;
  }
};

/// Of integers: the branches decide whether the result stays an integer.
template <std::integral I>
struct Mask<Num<I>> {
  using S = Num<I>;
  bool m;

  template <class A, class B>
  STROP_FN friend auto where(Mask c, A a, B b) {
    if constexpr (std::convertible_to<A, S> && std::convertible_to<B, S>)
      return c.m ? S(a) : S(b);
    else
      return c.m ? typename S::Real(a) : typename S::Real(b);
  }
  STROP_FN friend Mask operator&&(Mask a, Mask b) { return {a.m && b.m}; }
  STROP_FN friend Mask operator||(Mask a, Mask b) { return {a.m || b.m}; }
  STROP_FN friend Mask operator!(Mask a) { return {!a.m}; }
  STROP_FN operator S() const { return S(m ? 1 : 0); }
  template <std::same_as<bool> B>
  constexpr explicit operator B() const {
    static_assert(
        !sizeof(B),
        "strop: in forward() a comparison has one answer per lane; write where(condition, a, b), not if or ?:");
    return false;
  }
};

}  // namespace strop::inline v0::number

#undef STROP_FN
