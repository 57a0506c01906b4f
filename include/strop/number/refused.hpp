// SPDX-License-Identifier: Apache-2.0
/// \file
/// Functions that a body of forward cannot call, each refused with the one to write: those of std, which are of one
/// number, and C's, which are of one type. What the body may call are friends of Num, found without a qualification.
///
/// A qualified name is looked up in its namespace alone, so what refuses std::exp(x) stands in std. These are overloads
/// for our own type, which no program that compiles instantiates. An unqualified call prefers Num's friend, no
/// template.
#pragma once
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

#define STROP_REFUSED(f, say, ...)                               \
  template <strop::number::detail::OurNumber N>                  \
  constexpr auto f(__VA_ARGS__) {                                \
    static_assert(!sizeof(N), "strop: in forward() write " say); \
    return N();                                                  \
  }
#define STROP_REFUSED1(f, say) STROP_REFUSED(f, say, const N&)
#define STROP_REFUSED2(f, say)                                     \
  STROP_REFUSED(f, say, const N&, const N&)                        \
  STROP_REFUSED(f, say, const N&, strop::number::detail::Constant) \
  STROP_REFUSED(f, say, strop::number::detail::Constant, const N&)

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
using strop::number::fabs, strop::number::fmax, strop::number::fmin;
}  // namespace std

#undef STROP_REFUSED1
#undef STROP_REFUSED2
#undef STROP_REFUSED
