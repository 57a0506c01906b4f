// SPDX-License-Identifier: Apache-2.0
// reject: but for those of whole numbers (strop::Integer)
// reject: whole numbers beside others are strop::Integer auto
// reject: strop: in forward() a number may be many at once
#include <strop/op/check.hpp>
#include <strop/op/diagnose.hpp>

#include <concepts>
#include <tuple>

struct SlopeOfMask {
  constexpr auto forward(auto x, strop::Integer auto mask) const { return x * mask; }
#if defined(CONTROL)
  constexpr auto grad_use_in(auto dy, auto, auto mask) const { return dy * mask; }
#else
  constexpr auto grad_use_in(auto dy, auto x, auto mask) const { return std::tuple(dy * mask, dy * x); }
#endif
};
static_assert(strop::diagnose<SlopeOfMask>());

#if defined(CONTROL)
struct Standard {
  constexpr auto forward(auto x, strop::Integer auto mask) const { return x * mask; }
};
#else
struct Standard {
  constexpr auto forward(auto x, std::integral auto mask) const { return x * mask; }
};
#endif
static_assert(strop::diagnose<Standard>());

struct Branches {
#if defined(CONTROL)
  constexpr auto forward(auto x, strop::Integer auto mask) const { return where(mask, x, 0); }
#else
  constexpr auto forward(auto x, strop::Integer auto mask) const {
    if (mask) return x;
    return -x;
  }
#endif
};
static_assert(strop::check::value(Branches{}, 1.0, 1) == 1);
