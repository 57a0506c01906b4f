// SPDX-License-Identifier: Apache-2.0
/// \file
/// Numbers of twice the digits of a double, a pair of doubles each, and the series that constant.hpp is made of.
///
/// Everything is written for the compilers' evaluators: nothing overflows, no operation makes a NaN, loops are short.
/// They work at run time too, and so live in the namespace of their instruction set.
/// The error-free sums and products are Knuth's and Dekker's (T. J. Dekker, Numerische Mathematik 18, 1971).
#pragma once
#include <strop/core/isa.hpp>

#include <bit>
#include <cstdint>

namespace strop::inline v0::number::inline STROP_ISA::constant::detail {

inline constexpr std::uint64_t sign_bit = std::uint64_t{1} << 63;
constexpr std::uint64_t bits(double x) { return std::bit_cast<std::uint64_t>(x); }
constexpr double from_bits(std::uint64_t b) { return std::bit_cast<double>(b); }
constexpr double magnitude(double x) { return from_bits(bits(x) & ~sign_bit); }
constexpr bool negative(double x) { return (bits(x) & sign_bit) != 0; }
constexpr double with_sign(double x, bool minus) {
  return from_bits((bits(x) & ~sign_bit) | (minus ? sign_bit : std::uint64_t{0}));
}
inline constexpr double infinity = from_bits(std::uint64_t{0x7ff} << 52);
inline constexpr double nan = from_bits(std::uint64_t{0x7ff8} << 48);

/// 2ⁿ for −1022 ≤ n ≤ 1023.
constexpr double power_of_two(int n) { return from_bits(static_cast<std::uint64_t>(n + 1023) << 52); }

/// x · 2ⁿ for 2⁻⁵⁰ < |x| < 2⁵⁰ or x = 0, infinite where too large.
constexpr double scale(double x, int n) {
  if (n > 1100) return x == 0 ? x : with_sign(infinity, negative(x));
  if (n < -1200) return with_sign(0, negative(x));
  if (n > 900) {
    const double y = x * power_of_two(n - 200);
    return magnitude(y) >= power_of_two(824) ? with_sign(infinity, negative(x)) : y * power_of_two(200);
  }
  return n < -900 ? x * power_of_two(n + 600) * power_of_two(-600) : x * power_of_two(n);
}

/// A finite x ≠ 0 as m · 2ⁿ with 1 ≤ |m| < 2.
struct Parts {
  double m;
  int n;
};
constexpr Parts parts(double x) {
  int n = 0;
  if (magnitude(x) < power_of_two(-1022)) {
    x *= power_of_two(54);
    n = -54;
  }
  n += static_cast<int>((bits(x) >> 52) & 0x7ff) - 1023;
  return {from_bits((bits(x) & ~(std::uint64_t{0x7ff} << 52)) | bits(1.0)), n};
}

/// To the nearest integer, |x| < 2⁵¹; halves go to even.
constexpr double nearest(double x) {
  const double magic = 0x1.8p52;
  const double shifted = x + magic;
  return shifted - magic;
}

/// hi + lo, |lo| at most half a unit in the last place of hi.
struct Pair {
  double hi, lo;
  constexpr Pair(double h, double l = 0) : hi(h), lo(l) {}
};
/// At run time hides from the compiler that x is a product, which it would otherwise fuse with a later sum.
constexpr double rounded(double x) {
#ifndef __CUDA_ARCH__
  if (!__builtin_is_constant_evaluated()) asm("" : "+m"(x));
#endif
  return x;
}
/// a + b as a pair where |a| ≥ |b|.
constexpr Pair ordered_sum(double a, double b) {
  const double s = a + b;
  return {s, b - (s - a)};
}
constexpr Pair exact_sum(double a, double b) {
  const double s = a + b, t = s - a;
  return {s, (a - (s - t)) + (b - t)};
}
constexpr Pair exact_product(double a, double b) {
  const double p = rounded(a * b), s = rounded(a * 134217729.0), t = rounded(b * 134217729.0);
  const double ah = s - (s - a), al = a - ah, bh = t - (t - b), bl = b - bh;
  return {p, ((ah * bh - p) + ah * bl + al * bh) + al * bl};
}
constexpr Pair operator-(Pair a) { return {-a.hi, -a.lo}; }
constexpr Pair operator+(Pair a, Pair b) {
  const Pair s = exact_sum(a.hi, b.hi), t = exact_sum(a.lo, b.lo), u = ordered_sum(s.hi, s.lo + t.hi);
  return ordered_sum(u.hi, u.lo + t.lo);
}
constexpr Pair operator-(Pair a, Pair b) { return a + -b; }
constexpr Pair operator*(Pair a, Pair b) {
  const Pair p = exact_product(a.hi, b.hi);
  return ordered_sum(p.hi, p.lo + (a.hi * b.lo + a.lo * b.hi));
}
constexpr Pair operator/(Pair a, Pair b) {
  const double p = a.hi / b.hi;
  const Pair r = a - b * p;
  const double q = r.hi / b.hi;
  const Pair s = r - b * q;
  return ordered_sum(p, q) + Pair(s.hi / b.hi);
}
constexpr Pair scaled(Pair a, double power) { return {a.hi * power, a.lo * power}; }

inline constexpr Pair ln2{0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56};
inline constexpr Pair log2_e{0x1.71547652b82fep+0, 0x1.777d0ffda0d24p-56};
inline constexpr Pair log10_e{0x1.bcb7b1526e50ep-2, 0x1.95355baaafad3p-57};
inline constexpr Pair pi{0x1.921fb54442d18p+1, 0x1.1a62633145c07p-53};
inline constexpr Pair half_pi{0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54};

/// (eʳ − 1) / r for |r| ≤ 0.36: Σ rᵏ / (k + 1)!. The high terms need no second half.
constexpr Pair exponential_series(Pair r) {
  double tail = 1;
  for (int k = 23; k > 12; --k) tail = 1 + tail * r.hi / k;
  Pair sum = tail;
  for (int k = 12; k > 1; --k) sum = Pair(1) + sum * r / Pair(k);
  return sum;
}
/// eˣ = value · 2ⁿ.
struct Exponential {
  Pair value;
  int n;
};
constexpr Exponential exponential(Pair x) {
  const double n = nearest(x.hi * log2_e.hi);
  const Pair r = x - ln2 * n;
  return {Pair(1) + r * exponential_series(r), static_cast<int>(n)};
}
/// eˣ − 1 for −40 < x < 60.
constexpr Pair exponential_minus_1(Pair x) {
  if (magnitude(x.hi) < 0.35) return x * exponential_series(x);
  const Exponential e = exponential(x);
  return scaled(e.value, power_of_two(e.n)) - Pair(1);
}

/// log((1 + s) / (1 − s)) = 2 Σ s²ʲ⁺¹ / (2j + 1) for |s| < 0.18.
constexpr Pair logarithm_series(Pair s) {
  const Pair z = s * s;
  double tail = 0;
  for (int j = 21; j > 8; --j) tail = 1.0 / (2 * j + 1) + tail * z.hi;
  Pair sum = tail;
  for (int j = 8; j > 0; --j) sum = Pair(1) / Pair(2 * j + 1) + sum * z;
  return scaled(s + s * z * sum, 2);
}
/// x = m · 2ⁿ with m between √½ and √2; x > 0.
constexpr Pair logarithm(Pair x) {
  Parts p = parts(x.hi);
  if (p.m > 1.4142135623730951) p.n += 1;
  // in two steps: 2⁻ⁿ itself may be out of range
  const int half = -p.n / 2;
  const Pair m = scaled(scaled(x, power_of_two(half)), power_of_two(-p.n - half));
  return ln2 * Pair(p.n) + logarithm_series((m - Pair(1)) / (m + Pair(1)));
}
/// log(1 + x), x > −1.
constexpr Pair logarithm_1_plus(Pair x) {
  return magnitude(x.hi) < 0.4 ? logarithm_series(x / (x + Pair(2))) : logarithm(Pair(1) + x);
}

/// Of a normal number that is not close to the ends of the range.
constexpr Pair root(Pair x) {
  if (x.hi == 0) return x;
  const Parts p = parts(x.hi);
  double y = (1 + p.m) / 2 * power_of_two(p.n >> 1);
  for (int i = 0; i < 6; ++i) y = (y + x.hi / y) / 2;
  return ordered_sum(y, ((x - exact_product(y, y)) / Pair(2 * y)).hi);
}

/// sin r for |r| < 0.8.
constexpr Pair sine_series(Pair r) {
  const Pair z = r * r;
  double tail = 1;
  for (int k = 28; k > 14; k -= 2) tail = 1 - tail * z.hi / (k * (k + 1));
  Pair sum = tail;
  for (int k = 14; k > 0; k -= 2) sum = Pair(1) - sum * z / Pair(k * (k + 1));
  return r * sum;
}
/// cos r for |r| < 0.8.
constexpr Pair cosine_series(Pair r) {
  const Pair z = r * r;
  double tail = 1;
  for (int k = 27; k > 13; k -= 2) tail = 1 - tail * z.hi / (k * (k + 1));
  Pair sum = tail;
  for (int k = 13; k > 0; k -= 2) sum = Pair(1) - sum * z / Pair(k * (k + 1));
  return sum;
}

/// x = quarter · π/2 + r.
struct Angle {
  Pair r;
  int quarter;
};
/// x · 2/π modulo 4, from as many digits of 2/π as the exponent of x asks for (M. Payne, R. Hanek, ACM SIGNUM 18,
/// 1983).
constexpr Angle reduce(double x) {
  const double a = magnitude(x);
  if (a < 0.78) return {x, 0};
  constexpr std::uint64_t two_over_pi[] = {0,  // digits before the point
                                           0xa2f9836e4e441529,
                                           0xfc2757d1f534ddc0,
                                           0xdb6295993c439041,
                                           0xfe5163abdebbc561,
                                           0xb7246e3a424dd2e0,
                                           0x06492eea09d1921c,
                                           0xfe1deb1cb129a73e,
                                           0xe88235f52ebb4484,
                                           0xe99c7026b45f7e41,
                                           0x3991d639835339f4,
                                           0x9c845f8bbdf9283b,
                                           0x1ff897ffde05980f,
                                           0xef2f118b5a0a6d1f,
                                           0x6d367ecf27cb09b7,
                                           0x4f463f669e5fea2d,
                                           0x7527bac7ebe5f17b,
                                           0x3d0739f78a5292ea,
                                           0x6bfb5fb11f8d5d08,
                                           0x56033046fc7b6bab,
                                           0xf0cfbc209af4361d};
  const std::uint64_t mantissa = (bits(a) & ((std::uint64_t{1} << 52) - 1)) | (std::uint64_t{1} << 52);
  const int exponent = static_cast<int>(bits(a) >> 52) - 1075;  // a = mantissa · 2^exponent
  // Digits of 2/π that make multiples of 4 are skipped; 256 follow, in eight pieces, the highest first.
  const int start = exponent - 2 + 64, word = start / 64, shift = start % 64;
  std::uint32_t product[8] = {};
  std::uint64_t carry = 0;
  for (int i = 7; i >= 0; --i) {
    const auto piece = [&](int k) {  // 32 digits from k · 32 on
      const int first = word + k / 2;
      const std::uint64_t high = two_over_pi[first] << shift;
      const std::uint64_t low = shift == 0 ? 0 : two_over_pi[first + 1] >> (64 - shift);
      return k % 2 == 0 ? (high | low) >> 32 : (high | low) & 0xffffffffu;
    };
    // low half of the mantissa times piece i, high half times piece i + 1
    const std::uint64_t l = (mantissa & 0xffffffffu) * piece(i);
    const std::uint64_t h = i < 7 ? (mantissa >> 32) * piece(i + 1) : 0;
    const std::uint64_t sum = (l & 0xffffffffu) + (h & 0xffffffffu) + (carry & 0xffffffffu);
    product[i] = static_cast<std::uint32_t>(sum);
    carry = (sum >> 32) + (l >> 32) + (h >> 32) + (carry >> 32);
  }
  int quarter = static_cast<int>(product[0] >> 30);
  const bool upper = (product[0] >> 29 & 1) != 0;  // nearer to the next quarter, from below
  product[0] &= 0x3fffffffu;
  Pair f = upper ? Pair(-1) : Pair(0);
  double weight = 0x1p-30;
  for (int i = 0; i < 8; ++i, weight *= 0x1p-32) f = f + Pair(product[i] * weight);
  quarter += upper ? 1 : 0;
  const Pair r = f * half_pi;
  return x < 0 ? Angle{-r, -quarter & 3} : Angle{r, quarter & 3};
}
constexpr Pair sine(Angle a) {
  const Pair s = a.quarter % 2 == 0 ? sine_series(a.r) : cosine_series(a.r);
  return a.quarter >= 2 ? -s : s;
}
/// π x as an angle, |x| < 2⁵⁰.
constexpr Angle half_turns(double x) {
  const double twice = nearest(2 * x);
  const double quarter = twice - 4 * nearest(twice / 4);
  return {pi * Pair(x - twice / 2), static_cast<int>(quarter) & 3};
}

/// atan x for x ≥ 0: three half angles, then the series.
constexpr Pair arc_tangent(Pair x) {
  if (x.hi > 1) return half_pi - arc_tangent(Pair(1) / x);
  for (int i = 0; i < 3; ++i) x = x / (Pair(1) + root(Pair(1) + x * x));
  const Pair z = x * x;
  double tail = 0;
  for (int j = 17; j > 6; --j) tail = 1.0 / (2 * j + 1) - tail * z.hi;
  Pair sum = tail;
  for (int j = 6; j >= 0; --j) sum = Pair(1) / Pair(2 * j + 1) - sum * z;
  return scaled(x * sum, 8);
}

}  // namespace strop::inline v0::number::inline STROP_ISA::constant::detail
