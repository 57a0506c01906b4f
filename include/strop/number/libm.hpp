// SPDX-License-Identifier: Apache-2.0
/// \file
/// The C library's functions as overloads for float and double, and those of the vocabulary that it lacks.
///
/// The host calls the compilers' built-in names, which saves every program the 0.3 s that <cmath> takes; CUDA has the
/// functions in its own headers.
#pragma once
#include <strop/core/isa.hpp>
#include <strop/number/constant_pair.hpp>

#ifdef __CUDACC__
#include <cmath>
#define STROP_FN __host__ __device__ inline
#else
#define STROP_FN [[gnu::always_inline]] inline
#endif

namespace strop::inline v0::number::inline STROP_ISA::libm {

#ifdef __CUDACC__
#define STROP_LIBM(name, fn)                          \
  STROP_FN float name(float x) { return std::fn(x); } \
  STROP_FN double name(double x) { return std::fn(x); }
#define STROP_LIBM2(fn)                                         \
  STROP_FN float fn(float x, float y) { return std::fn(x, y); } \
  STROP_FN double fn(double x, double y) { return std::fn(x, y); }
#else
#define STROP_LIBM(name, fn)                                    \
  STROP_FN float name(float x) { return __builtin_##fn##f(x); } \
  STROP_FN double name(double x) { return __builtin_##fn(x); }
#define STROP_LIBM2(fn)                                                   \
  STROP_FN float fn(float x, float y) { return __builtin_##fn##f(x, y); } \
  STROP_FN double fn(double x, double y) { return __builtin_##fn(x, y); }
#endif
STROP_LIBM(exp, exp)
STROP_LIBM(exp2, exp2)
STROP_LIBM(expm1, expm1)
STROP_LIBM(log, log)
STROP_LIBM(log1p, log1p)
STROP_LIBM(log2, log2)
STROP_LIBM(log10, log10)
STROP_LIBM(sqrt, sqrt)
STROP_LIBM(cbrt, cbrt)
STROP_LIBM(sin, sin)
STROP_LIBM(cos, cos)
STROP_LIBM(tan, tan)
STROP_LIBM(asin, asin)
STROP_LIBM(acos, acos)
STROP_LIBM(atan, atan)
STROP_LIBM(sinh, sinh)
STROP_LIBM(cosh, cosh)
STROP_LIBM(tanh, tanh)
STROP_LIBM(asinh, asinh)
STROP_LIBM(acosh, acosh)
STROP_LIBM(atanh, atanh)
STROP_LIBM(erf, erf)
STROP_LIBM(erfc, erfc)
STROP_LIBM(floor, floor)
STROP_LIBM(ceil, ceil)
STROP_LIBM(round, round)
STROP_LIBM(rint, rint)
STROP_LIBM(trunc, trunc)
STROP_LIBM(abs, fabs)
STROP_LIBM2(pow)
STROP_LIBM2(fmod)
STROP_LIBM2(hypot)
STROP_LIBM2(atan2)
STROP_LIBM2(copysign)
#ifdef __CUDACC__
STROP_LIBM(lgamma, lgamma)
STROP_LIBM(tgamma, tgamma)
#else
// The C library's lgamma writes a global, the sign, from every thread; lgamma_r does not. Under a name of our own, so
// that it agrees with whatever declaration of it a program includes.
extern "C" double strop_lgamma_r(double x, int* sign) noexcept __asm__("lgamma_r");
STROP_FN double lgamma(double x) {
  int sign = 0;
  return strop_lgamma_r(x, &sign);
}
STROP_FN double tgamma(double x) { return __builtin_tgamma(x); }
// of a float in double: glibc's own are off by more than 4 units in the last place
STROP_FN float lgamma(float x) { return static_cast<float>(lgamma(static_cast<double>(x))); }
STROP_FN float tgamma(float x) { return static_cast<float>(__builtin_tgamma(static_cast<double>(x))); }
#endif
#undef STROP_LIBM
#undef STROP_LIBM2
#undef STROP_FN

#ifdef __CUDACC__
#define STROP_FN __host__ __device__ inline
#else
#define STROP_FN inline
#endif

/// 1 / √x.
template <class R>
STROP_FN R rsqrt(R x) {
  return 1 / sqrt(x);
}

/// 1 / (1 + e⁻ˣ), with full relative accuracy for very negative x, where it is eˣ.
template <class R>
STROP_FN R sigmoid(R x) {
  const R e = exp(-abs(x));
  return (x < 0 ? e : 1) / (1 + e);
}

/// log(1 + eˣ): x where that is large, eˣ where it is very negative.
template <class R>
STROP_FN R softplus(R x) {
  return (x > 0 ? x : R(0)) + log1p(exp(-abs(x)));
}
/// log(1 / (1 + e⁻ˣ)) = −softplus(−x).
template <class R>
STROP_FN R log_sigmoid(R x) {
  return (x < 0 ? x : R(0)) - log1p(exp(-abs(x)));
}
/// log(eˣ + eʸ), without overflow; of equal infinities that infinity.
template <class R>
STROP_FN R logaddexp(R x, R y) {
  return x == y ? x + R(0x1.62e42fefa39efp-1) : (x > y ? x : y) + log1p(exp(-abs(x - y)));
}
/// x log y, and 0 where x is 0 and y a number.
template <class R>
STROP_FN R xlogy(R x, R y) {
  return x == 0 && y == y ? R(0) : x * log(y);
}
/// sin πx / πx, 1 at 0 and 0 at the infinities. x − round(x) is exact, so that it is 0 at the other integers.
template <class R>
STROP_FN R sinc(R x) {
  constexpr R pi = R(0x1.921fb54442d18p+1);
  if (x == 0) return 1;
  if (abs(x) == R(constant::detail::infinity)) return 0;
  const R n = rint(x), half = n * R(0.5), y = sin((x - n) * pi) / (x * pi);
  return rint(half) == half ? y : -y;
}

/// The y with erf(y) = x; ±1 gives ±∞, beyond is NaN. Within 4 units in the last place.
///
/// y / x is a polynomial in w = −log(1 − x²), or in √w where that is large (the idea is M. Giles', GPU Computing Gems,
/// 2011; the coefficients are minimax fits of our own).
template <class R>
STROP_FN R erfinv(R x) {
  const R a = abs(x);
  if (!(a < 1))
    return static_cast<R>(a == 1 ? copysign(constant::detail::infinity, static_cast<double>(x))
                                 : constant::detail::nan);
  const R w = -log((1 - a) * (1 + a));
  const auto of = [x](const auto& c, R t) {
    R p = 0;
    for (int i = static_cast<int>(sizeof c / sizeof c[0]) - 1; i >= 0; --i) p = p * t + c[i];
    return p * x;
  };
  if constexpr (sizeof(R) == sizeof(float)) {
    const float near[] = {0x1.c5bf88p-1f,  0x1.db2a10p-3f,  0x1.7a6d22p-7f,   -0x1.31f5fcp-9f, -0x1.0b5932p-13f,
                          0x1.75d73ap-15f, 0x1.0b4eacp-18f, -0x1.094632p-19f, 0x1.daa7aep-23f, -0x1.2e0d9ep-27f};
    const float far[] = {0x1.6a9efcp+1f,  0x1.006dc2p+0f,  0x1.357880p-7f,   -0x1.f45056p-8f,  0x1.753f2cp-8f,
                         -0x1.d95c1cp-9f, 0x1.7fa61ap-10f, -0x1.002660p-15f, -0x1.328a9ap-12f, 0x1.99af90p-14f};
    return w < 5 ? of(near, w) : of(far, sqrt(w) - 3);
  } else {
    const double near[] = {0x1.c5bf891b4ef6bp-1,   0x1.db29fb2fee4dap-3,   0x1.7a72e72c3fd62p-7,
                           -0x1.3211026474c80p-9,  -0x1.0c86b5ad666a6p-13, 0x1.870122dc06576p-15,
                           0x1.0f259f946a4fcp-19,  -0x1.0fea1fb94b1a9p-20, -0x1.3b7e7db55e7c5p-25,
                           0x1.7d5975f1ecd23p-26,  0x1.53a3c769bbebap-30,  -0x1.c6219a44b0e61p-31,
                           0x1.21862f5542586p-33,  -0x1.85ea116b1dfcfp-35, 0x1.2d73aadb5bda9p-36,
                           -0x1.1e0f280891cf5p-38, 0x1.5747f7f9fcca7p-41,  -0x1.0e3c8978a10aep-44,
                           0x1.12c5757ae7b7fp-48,  -0x1.4ab6288baf748p-53, 0x1.687e7a986a529p-59};
    const double middle[] = {
        0x1.6a9efbd66eae6p+1,   0x1.006dca7a9c225p+0,   0x1.3582c81148debp-7,   -0x1.f4f1c6f09b92dp-8,
        0x1.7495888ff95c3p-8,   -0x1.d2754fdb775b9p-9,  0x1.84f3ed01271c7p-10,  -0x1.384306d61e7a3p-13,
        -0x1.28e08f4e6ee81p-12, 0x1.aeff9486fcdabp-13,  -0x1.85c03e2752112p-15, -0x1.7fb216672d612p-16,
        0x1.701501a55a6efp-16,  -0x1.8fd7fc5d868cep-18, -0x1.bdf9ac9357443p-20, 0x1.0f72a1efd3b85p-19,
        -0x1.558b7b50d1f96p-21, -0x1.d4f8e8e9a7647p-24, 0x1.68d22d854b067p-23,  -0x1.6dc9b1c60955bp-25,
        -0x1.3c967687ace77p-27, 0x1.49009c69e984ep-28};
    const double far[] = {0x1.3664ddd1ad7fbp+2,   0x1.02a30d1fba111p+0,   -0x1.22ea5df0dadfap-13,
                          -0x1.c2f36aa393b65p-13, 0x1.3ebf4ec914c24p-14,  -0x1.4a348f383dd90p-16,
                          0x1.2fbd1d72a6e48p-18,  -0x1.0a90a7b4f3453p-20, 0x1.ebcebb161ebacp-23,
                          -0x1.221cd6b23d0f1p-24, 0x1.f45ced0d3e399p-26,  -0x1.065cf7efb005cp-26,
                          0x1.0698962f82115p-27,  -0x1.dac132c33f701p-29, 0x1.99eefb849914ep-30,
                          -0x1.eb5eeca88b512p-32, -0x1.95f275cc660a6p-36, 0x1.8b962fe30ffdap-35};
    if (w < 5) return of(near, w);
    const R s = sqrt(w);
    return s < 4 ? of(middle, s - 3) : of(far, s - 5);
  }
}

/// The derivative of lgamma: ψ(x). NaN at the negative integers, ∓∞ at ±0; the absolute error is some 1e-15, the
/// relative error also, but for the neighbourhoods of the zeros.
template <class R>
STROP_FN R digamma(R x) {
  if constexpr (sizeof(R) == sizeof(float)) {
    return static_cast<R>(digamma(static_cast<double>(x)));
  } else {
    R sum = 0;
    if (x <= 0) {
      if (x == 0) return -1 / x;
      const R rest = x - rint(x);
      if (rest == 0) return rest / rest;
      const R pi = R(3.14159265358979324);
      sum = -pi / tan(pi * rest);  // ψ(x) = ψ(1 − x) − π cot πx
      x = 1 - x;
    }
    for (; x < 10; x += 1) sum -= 1 / x;
    // the asymptotic series, with Bernoulli's numbers B₂ₖ / 2k
    const R z = 1 / (x * x);
    const R c[] = {R(1) / 12,  R(-1) / 120,     R(1) / 252, R(-1) / 240,
                   R(1) / 132, R(-691) / 32760, R(1) / 12,  R(-3617) / 8160};
    R series = c[7];
    for (int i = 6; i >= 0; --i) series = series * z + c[i];
    return sum + (log(x) - R(0.5) / x - series * z);
  }
}

}  // namespace strop::inline v0::number::inline STROP_ISA::libm

#undef STROP_FN
