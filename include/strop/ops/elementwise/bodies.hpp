// SPDX-License-Identifier: Apache-2.0
/// \file
/// Pieces that the bodies of several element-wise operators share.
#pragma once
#include <strop/core/scalar.hpp>
#include <strop/number/num.hpp>

#include <cstdint>
#include <tuple>

namespace strop::inline v0::detail {

/// A parameter as a number like x: of an integer x an integer of 64 bits.
template <class X>
constexpr X like(X, const Scalar& value) {
  if constexpr (X::integer)
    return X(value.whole);
  else
    return X(value.real);
}

/// The answer of a comparison of x with a parameter. One that lies beyond all integers is more, or less, than each of
/// them; NaN is neither, nor equal.
template <class X, class Comparison>
constexpr auto compare(X x, const Scalar& value, Comparison comparison) {
  if constexpr (X::integer) {
    if (const int beyond = value.beyond(); beyond != 0) return comparison(X(0), X(beyond));
    if (value.is_nan()) return comparison(X(0), X(1)) && comparison(X(1), X(0));
  }
  return comparison(x, like(x, value));
}

/// The answer of a relation that looks at each of both sides alone.
template <class X, class Relation>
constexpr auto relate(X x, const Scalar& value, Relation relation) {
  return relation(x, like(x, value));
}

/// The remainder with the divisor's sign, that of a zero too; 0 of a divisor 0; exact on integers.
template <class X>
constexpr X modulo(X a, X b) {
  const X r = [&] {
    if constexpr (X::integer)
      return a - a / b * b;
    else
      return fmod(a, b);
  }();
  const X towards = where((r < 0 && b > 0) || (r > 0 && b < 0), r + b, r);
  if constexpr (X::integer)
    return where(b == 0, X(0), towards);
  else  // r + 0 makes a zero positive, −(0 − r) negative; both leave other numbers and derivatives as they are
    return where(b == 0, X(0), where(b < 0, -(0 - towards), towards + 0));
}

/// ⌊a / b⌋, one less where the quotient was rounded up to a whole number: r is modulo(a, b), which is exact.
template <class X>
constexpr X floored_quotient(X a, X b, X r) {
  const X q = a / b, below = floor(q);
  return where(below == q && r / b > 0.5, below - 1, below);
}

/// What a function of the reals gives: of an integer a number in double.
template <class X>
constexpr typename X::Real as_real(X x) {
  return x;
}

/// The gradients of aᵇ. In a it is 0 where both are 0. In b it is 0 where a ≤ 0: the limit at 0, none below.
template <class X>
constexpr auto power_gradient(X dy, X a, X b) {
  const auto positive = a > 0;
  return std::tuple(where(a == 0 && b == 0, X(0), dy * (b * pow(a, b - 1))),
                    where(positive, dy * (pow(a, b) * log(where(positive, a, X(1)))), X(0)));
}

}  // namespace strop::inline v0::detail
