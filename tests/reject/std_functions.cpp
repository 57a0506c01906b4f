// SPDX-License-Identifier: Apache-2.0
// reject-first EXP: strop: in forward() write exp(x), not std::exp(x)
// reject-first ABS: strop: in forward() write abs(x), not std::abs(x)
// reject-first POW POW_OF_TWO POW_OF_CONSTANT: strop: in forward() write pow(x, y), not std::pow(x, y)
// reject-first MAX MAX_OF_CONSTANT: strop: in forward() write max(x, y), not std::max(x, y)
// reject-first ISNAN: strop: in forward() write isnan(x), not std::isnan(x)
// reject-first FABS STD_FABS: strop: in forward() write abs(x), not fabs(x)
// reject-first FABSF: strop: in forward() write abs(x), not fabsf(x)
// reject-first EXPF: strop: in forward() write exp(x), not expf(x)
// reject-first POWF: strop: in forward() write pow(x, y), not powf(x, y)
// reject-first FMAXF: strop: in forward() write max(x, y), not fmaxf(x, y)
// reject-first MAX_OF_LIST: strop: in forward() write max(x, max(y, z)), not std::max({x, y, z})
// reject-first MAX_OF_TYPE MAX_OF_TYPE_AND_CONSTANT: strop: in forward() write max(x, y), not std::max<T>(x, y)
// reject-first CLAMP CLAMP_OF_NUMBERS: strop: in forward() write min(max(x, low), high), not std::clamp(x, low, high)
// reject-first FMA STD_FMA: strop: in forward() write a * b + c, not fma(a, b, c)
// reject-first SIGNBIT: strop: in forward() write x < 0, not std::signbit(x)
#include <strop/op/check.hpp>

#include <algorithm>
#include <cmath>

struct Bad {
  constexpr auto forward(auto x) const {
#if defined(CONTROL)  // a generic body finds the friends of its numbers beside those of std
    using std::abs, std::exp, std::fmax, std::isnan, std::max, std::pow;
    return where(isnan(x), 0, max(exp(x), max(0.5f, abs(x))) + pow(x, 2) + pow(2, x) + pow(x, x));
#elif defined(EXP)
    return std::exp(x);
#elif defined(ABS)
    return std::abs(x);
#elif defined(POW)
    return std::pow(x, 2);
#elif defined(POW_OF_TWO)
    return std::pow(x, x);
#elif defined(POW_OF_CONSTANT)
    return std::pow(2, x);
#elif defined(MAX)
    return std::max(x, 2 * x);
#elif defined(MAX_OF_CONSTANT)
    return std::max(x, 0.5f);
#elif defined(MAX_OF_LIST)
    return std::max({x, 2 * x, x * x});
#elif defined(MAX_OF_TYPE)
    return std::max<float>(x, 2 * x);
#elif defined(MAX_OF_TYPE_AND_CONSTANT)
    return std::max<double>(x, 0.5);
#elif defined(CLAMP)
    return std::clamp(x, 0, 1);
#elif defined(CLAMP_OF_NUMBERS)
    return std::clamp(x, 2 * x, 3 * x);
#elif defined(FMA)
    return fma(x, 2, x);
#elif defined(STD_FMA)
    return std::fma(2, x, x);
#elif defined(SIGNBIT)
    return where(std::signbit(x), 0, x);
#elif defined(ISNAN)
    return where(std::isnan(x), 0, x);
#elif defined(STD_FABS)
    return std::fabs(x);
#elif defined(FABS)
    return fabs(x);
#elif defined(FABSF)
    return fabsf(x);
#elif defined(EXPF)
    return expf(x);
#elif defined(POWF)
    return powf(x, 2);
#elif defined(FMAXF)
    return fmaxf(x, 0);
#endif
  }
};
static_assert(strop::check::value(Bad{}, 0.5) > 0);
