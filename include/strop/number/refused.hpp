// SPDX-License-Identifier: Apache-2.0
/// \file
/// Functions that a body of forward cannot call, each refused with the one to write: those of std, which are of one
/// number, and C's, which are of one type. What the body may call are friends of Num, found without a qualification.
///
/// A qualified name is looked up in its namespace alone, so what refuses std::exp(x) stands in std. These are overloads
/// for our own type, which no program that compiles instantiates. An unqualified call prefers Num's friend, no
/// template.
#pragma once
#include <initializer_list>
#include <strop/number/num.hpp>

namespace strop::inline v0::number::detail {
/// A Num, asked of the whole argument: std::max<std::string>(a, b) of a host is then none of these, and instantiates
/// nothing.
template <class N>
inline constexpr bool is_our_number = false;
template <class R>
inline constexpr bool is_our_number<Num<R>> = true;
template <class N>
concept OurNumber = is_our_number<N>;
/// A constant beside a number. It costs the conversion that Num's friends ask for.
struct Constant {
  template <Literal A>
  constexpr Constant(A) {}
};
}  // namespace strop::inline v0::number::detail

#define STROP_REFUSAL(N, say)                                    \
  {                                                              \
    static_assert(!sizeof(N), "strop: in forward() write " say); \
    return N();                                                  \
  }
#define STROP_REFUSED(f, say, ...)              \
  template <strop::number::detail::OurNumber N> \
  constexpr auto f(__VA_ARGS__) STROP_REFUSAL(N, say)
#define STROP_REFUSED1(f, say) STROP_REFUSED(f, say, const N&)
#define STROP_REFUSED2(f, say)                                     \
  STROP_REFUSED(f, say, const N&, const N&)                        \
  STROP_REFUSED(f, say, const N&, strop::number::detail::Constant) \
  STROP_REFUSED(f, say, strop::number::detail::Constant, const N&)
#define STROP_REFUSED3(f, say)                                                             \
  STROP_REFUSED(f, say, const N&, const N&, const N&)                                      \
  template <class A, class B, class C>                                                     \
    requires(strop::number::detail::OurNumber<A> || strop::number::detail::OurNumber<B> || \
             strop::number::detail::OurNumber<C>)                                          \
  constexpr auto f(const A&, const B&, const C&) STROP_REFUSAL(A, say)
// With the type said: f<float>(x, y).
#define STROP_REFUSED_AS(f, say, ...)                    \
  template <class T, strop::number::detail::OurNumber N> \
  constexpr auto f(__VA_ARGS__) STROP_REFUSAL(N, say)

namespace strop::inline v0::number {
#define STROP_REAL(g) STROP_REFUSED1(g##f, #g "(x), not " #g "f(x)")
#define STROP_REAL2(g) STROP_REFUSED2(g##f, #g "(x, y), not " #g "f(x, y)")
#define STROP_STEP(g) STROP_REFUSED1(g##f, #g "(x), not " #g "f(x)")
#include <strop/number/vocabulary.def>
STROP_REFUSED1(fabs, "abs(x), not fabs(x)")
STROP_REFUSED1(fabsf, "abs(x), not fabsf(x)")
STROP_REFUSED2(fmax, "max(x, y), not fmax(x, y)")
STROP_REFUSED2(fmaxf, "max(x, y), not fmaxf(x, y)")
STROP_REFUSED2(fmin, "min(x, y), not fmin(x, y)")
STROP_REFUSED2(fminf, "min(x, y), not fminf(x, y)")
STROP_REFUSED3(fma, "a * b + c, not fma(a, b, c)")
STROP_REFUSED3(fmaf, "a * b + c, not fmaf(a, b, c)")
#define STROP_BITS "fmod(x, 2) for x & 1, 2 * x for x << 1: a number has no bits"
STROP_REFUSED2(operator&, STROP_BITS)
STROP_REFUSED2(operator|, STROP_BITS)
STROP_REFUSED2(operator^, STROP_BITS)
STROP_REFUSED2(operator<<, STROP_BITS)
STROP_REFUSED2(operator>>, STROP_BITS)
STROP_REFUSED1(operator~, STROP_BITS)
#undef STROP_BITS
STROP_REFUSED(operator++, "x += 1, not ++x", N&)
STROP_REFUSED(operator++, "x += 1, not x++", N&, int)
STROP_REFUSED(operator--, "x -= 1, not --x", N&)
STROP_REFUSED(operator--, "x -= 1, not x--", N&, int)
}  // namespace strop::inline v0::number

namespace std {  // NOLINT(bugprone-std-namespace-modification)
#define STROP_REAL(f) STROP_REFUSED1(f, #f "(x), not std::" #f "(x)")
#define STROP_REAL2(f) STROP_REFUSED2(f, #f "(x, y), not std::" #f "(x, y)")
#define STROP_STEP(f) STROP_REFUSED1(f, #f "(x), not std::" #f "(x)")
STROP_STEP(abs)
STROP_STEP(isnan)
STROP_REAL2(max)
STROP_REAL2(min)
#include <strop/number/vocabulary.def>
#define STROP_CHOICE(f)                                                                                 \
  STROP_REFUSED(f, #f "(x, " #f "(y, z)), not std::" #f "({x, y, z})", std::initializer_list<N>)        \
  STROP_REFUSED_AS(f, #f "(x, y), not std::" #f "<T>(x, y)", const N&, const N&)                        \
  STROP_REFUSED_AS(f, #f "(x, y), not std::" #f "<T>(x, y)", const N&, strop::number::detail::Constant) \
  STROP_REFUSED_AS(f, #f "(x, y), not std::" #f "<T>(x, y)", strop::number::detail::Constant, const N&)
STROP_CHOICE(max)
STROP_CHOICE(min)
#undef STROP_CHOICE
STROP_REFUSED1(signbit, "x < 0, not std::signbit(x)")
STROP_REFUSED3(clamp, "min(max(x, low), high), not std::clamp(x, low, high)")
using strop::number::fabs, strop::number::fma, strop::number::fmax, strop::number::fmin;
}  // namespace std

#undef STROP_REFUSED_AS
#undef STROP_REFUSED3
#undef STROP_REFUSED1
#undef STROP_REFUSED2
#undef STROP_REFUSED
#undef STROP_REFUSAL
