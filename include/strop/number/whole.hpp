// SPDX-License-Identifier: Apache-2.0
/// \file
/// Whole<S>: what forward is given for an input of whole numbers, `strop::Integer auto mask`, beside numbers S.
#pragma once
#include <strop/core/dtype.hpp>
#include <strop/number/num.hpp>

#include <concepts>

#define STROP_FN [[gnu::always_inline]] constexpr

namespace strop::inline v0::number {

/// A number S that holds an integer. It is an S wherever one is expected; among integers it stays one, and a quotient
/// is truncated, of a zero divisor 0. A condition may be one: `where(mask, a, b)`, `mask && x > 0`, where it is not 0.
template <class S>
struct Whole : S {
  Whole() = default;
  template <std::integral I>
  STROP_FN Whole(I i) : S(i) {}
  STROP_FN explicit Whole(S s) : S(s) {}

  // Constants by templates of their own, which those of other numbers are no better than.
#define STROP_WHOLE(op, value)                          \
  STROP_FN friend Whole operator op(Whole a, Whole b) { \
    const S &x = a, &y = b;                             \
    return Whole(value);                                \
  }                                                     \
  template <std::integral I>                            \
  STROP_FN friend Whole operator op(Whole a, I b) {     \
    return a op Whole(b);                               \
  }                                                     \
  template <std::integral I>                            \
  STROP_FN friend Whole operator op(I a, Whole b) {     \
    return Whole(a) op b;                               \
  }
  STROP_WHOLE(+, x + y)
  STROP_WHOLE(-, x - y)
  STROP_WHOLE(*, x* y)
  STROP_WHOLE(/, quotient(x, y))
#undef STROP_WHOLE
  STROP_FN friend Whole operator-(Whole a) { return Whole(-static_cast<const S&>(a)); }
  STROP_FN friend Whole operator+(Whole a) { return a; }
  STROP_FN friend Whole& operator+=(Whole& a, Whole b) { return a = a + b; }
  STROP_FN friend Whole& operator-=(Whole& a, Whole b) { return a = a - b; }
  STROP_FN friend Whole& operator*=(Whole& a, Whole b) { return a = a * b; }
  STROP_FN friend Whole& operator/=(Whole& a, Whole b) { return a = a / b; }
  STROP_FN friend Whole abs(Whole a) { return Whole(abs(static_cast<const S&>(a))); }
  STROP_FN friend Whole sign(Whole a) { return Whole(sign(static_cast<const S&>(a))); }
  STROP_FN friend Whole max(Whole a, Whole b) { return Whole(max(static_cast<const S&>(a), static_cast<const S&>(b))); }
  STROP_FN friend Whole min(Whole a, Whole b) { return Whole(min(static_cast<const S&>(a), static_cast<const S&>(b))); }

  STROP_FN friend Mask<S> operator!(Whole a) { return static_cast<const S&>(a) == S(0); }
  STROP_FN friend Mask<S> operator&&(Whole a, Whole b) { return !!a && !!b; }
  STROP_FN friend Mask<S> operator&&(Whole a, Mask<S> b) { return !!a && b; }
  STROP_FN friend Mask<S> operator&&(Mask<S> a, Whole b) { return a && !!b; }
  STROP_FN friend Mask<S> operator||(Whole a, Whole b) { return !!a || !!b; }
  STROP_FN friend Mask<S> operator||(Whole a, Mask<S> b) { return !!a || b; }
  STROP_FN friend Mask<S> operator||(Mask<S> a, Whole b) { return a || !!b; }
  template <class A, class B>
  STROP_FN friend auto where(Whole c, A a, B b) {
    const Mask<S> chosen = static_cast<const S&>(c) != S(0);
    if constexpr (S::integer)
      return where(chosen, a, b);
    else
      return where(chosen, S(a), S(b));
  }

 private:
  STROP_FN static S quotient(const S& x, const S& y) {
    if constexpr (S::integer)
      return x / y;
    else
      return where(y == S(0), S(0), trunc(x / y));
  }
};

}  // namespace strop::inline v0::number

namespace strop::inline v0::detail {
template <class S>
inline constexpr bool is_whole_number<number::Whole<S>> = true;
}  // namespace strop::inline v0::detail

#undef STROP_FN
