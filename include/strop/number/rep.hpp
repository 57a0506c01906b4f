// SPDX-License-Identifier: Apache-2.0
/// \file
/// Rep<R>: what a plain number can do. Num<R> is written on top of it; lanes.hpp has the same for registers.
///
/// Constant evaluation uses number/constant.hpp, run time the C library, a CUDA thread CUDA's functions of those names
/// (compile with --expt-relaxed-constexpr). Both are in number/libm.hpp, with what they lack.
#pragma once
#include <strop/number/constant.hpp>
#include <strop/number/libm.hpp>

#include <concepts>
#include <type_traits>

#define STROP_FN [[gnu::always_inline]] static constexpr

namespace strop::inline v0::number {

/// The operations of a representation R. Every Rep has
/// - `Elem` (one number), `Mask` (the answer of a comparison), `lanes` (how many numbers an R holds);
/// - `splat(e)`, `select(mask, a, b)`, `load(p)`, `store(p, r)`, `any(mask)`, `all(mask)`;
/// - `store_past(p, r)`, to aligned memory without the caches, and `drain()` after the last of these;
/// - `max(a, b)`, `min(a, b)`: NaN where one is NaN, and b where they are equal;
/// - where R is floating: the functions of vocabulary.def, `abs`, `copysign` and `isnan`.
template <class R>
struct Rep;

namespace detail {
/// What every plain number has.
template <class R>
struct PlainRep {
  using Elem = R;
  using Mask = bool;
  static constexpr int lanes = 1;

  STROP_FN R splat(R e) { return e; }
  STROP_FN R select(bool m, R a, R b) { return m ? a : b; }
  STROP_FN R load(const R* p) { return *p; }
  STROP_FN void store(R* p, R r) { *p = r; }
  STROP_FN void store_past(R* p, R r) { *p = r; }
  STROP_FN void drain() {}
  STROP_FN bool any(bool m) { return m; }
  STROP_FN bool all(bool m) { return m; }
  STROP_FN R max(R a, R b) { return a != a ? a : a > b ? a : b; }
  STROP_FN R min(R a, R b) { return a != a ? a : a < b ? a : b; }
};
}  // namespace detail

template <std::integral R>
struct Rep<R> : detail::PlainRep<R> {
  /// |r|; of the smallest number itself, as in two's complement.
  STROP_FN R abs(R r) {
    using U = std::make_unsigned_t<R>;
    return r < 0 ? static_cast<R>(U{0} - static_cast<U>(r)) : r;
  }
};
template <>
struct Rep<bool> : detail::PlainRep<bool> {
  STROP_FN bool abs(bool r) { return r; }
};

/// float and double. Infinities, NaNs and signed zeros are those of IEEE 754 and the C standard.
template <class R>
  requires(std::same_as<R, float> || std::same_as<R, double>)
struct Rep<R> : detail::PlainRep<R> {
  STROP_FN bool isnan(R x) { return x != x; }

#define STROP_REAL(f)                                                                             \
  STROP_FN R f(R x) {                                                                             \
    if (std::is_constant_evaluated()) return static_cast<R>(constant::f(static_cast<double>(x))); \
    return libm::f(x);                                                                            \
  }
#define STROP_STEP(f)                                                                             \
  STROP_FN R f(R x) {                                                                             \
    if (std::is_constant_evaluated()) return static_cast<R>(constant::f(static_cast<double>(x))); \
    return libm::f(x);                                                                            \
  }
#define STROP_REAL2(f)                                                                    \
  STROP_FN R f(R x, R y) {                                                                \
    if (std::is_constant_evaluated())                                                     \
      return static_cast<R>(constant::f(static_cast<double>(x), static_cast<double>(y))); \
    return libm::f(x, y);                                                                 \
  }
  STROP_STEP(abs)
  STROP_REAL2(copysign)
#include <strop/number/vocabulary.def>
};

}  // namespace strop::inline v0::number

#undef STROP_FN
