// SPDX-License-Identifier: Apache-2.0
/// \file
/// The functions of Jet: sums and products by coefficient, every other one by the rule of Dual.
#pragma once
#include <strop/core/config.hpp>
#include <strop/number/dual.hpp>
#include <strop/number/jet.hpp>

#include <algorithm>
#include <cstdint>

// Called, never inlined, also where the definition is at hand: that is what makes bodies on jets cheap to compile.
#define STROP_JET [[gnu::noinline]] STROP_IMPL

namespace strop::inline v0::number {

namespace jets {
/// One double per lane.
template <class F>
[[gnu::always_inline]] inline void each_lane(double* to, F f) {
  for (int i = 0; i < Jet::lanes; ++i) to[i] = f(i);
}
/// A coefficient of a jet: a piece of a size that the compiler knows.
[[gnu::always_inline]] inline void take(double* to, const double* from) {
  __builtin_memcpy(to, from, Jet::lanes * sizeof(double));
}
[[gnu::always_inline]] inline void clear(double* to) {
  each_lane(to, [](int) { return 0.0; });
}
}  // namespace jets

STROP_JET void Jet::fill(double a) {
  jets::each_lane(c[0], [a](int) { return a; });
  present = a != 0 ? 1 : 0;
  known = true;
}
STROP_JET void Jet::copy(const Jet& a) {
  level = a.level;
  present = a.present;
  known = a.known;
  for (int s = 0; s < count(); ++s) jets::take(c[s], a.c[s]);
}

STROP_JET Jet Jet::along(int k) const {
  const int half = 1 << k;
  if (level <= k || present >> half == 0) return 0;
  Jet y;
  y.level = k;
  y.present = static_cast<std::uint8_t>(present >> half);
  for (int s = 0; s < half; ++s) jets::take(y.c[s], c[half + s]);
  return y;
}

STROP_JET Jet Jet::moved_along(int k) const {
  const int half = 1 << k;
  Jet y;
  y.level = k + 1;
  y.present = static_cast<std::uint8_t>(present | 1U << half);
  for (int s = 0; s < count(); ++s) jets::take(y.c[s], c[s]);
  for (int s = count(); s < y.count(); ++s) jets::clear(y.c[s]);
  jets::each_lane(y.c[half], [](int) { return 1.0; });
  return y;
}

STROP_JET Jet Jet::select(MaskRep m, const Jet& a, const Jet& b) {
  if (m.known) return m.bits != 0 ? a : b;
  if (a.known && b.known && a.c[0][0] == b.c[0][0]) return a;
  Jet y;
  y.level = std::max(a.level, b.level);
  y.present = a.present | b.present;
  for (int s = 0; s < y.count(); ++s)
    for (int i = 0; i < lanes; ++i) {
      const Jet& from = ((m.bits >> i) & 1U) != 0 ? a : b;
      y.c[s][i] = s < from.count() ? from.c[s][i] : 0.0;
    }
  return y;
}

namespace jets {

/// What the functions of plain numbers give for jets that have no directions; `known`: of constants alone.
template <class F>
[[gnu::always_inline]] inline Jet plain(bool known, F f) {
  Jet y;
  each_lane(y.c[0], f);
  y.known = known;
  if (known && y.c[0][0] == 0) y.present = 0;
  return y;
}
template <class F>
[[gnu::always_inline]] inline Answers answers(const Jet& a, const Jet& b, F f) {
  unsigned bits = 0;
  for (int i = 0; i < Jet::lanes; ++i) bits |= static_cast<unsigned>(f(a.c[0][i], b.c[0][i])) << i;
  return {static_cast<std::uint16_t>(bits), a.known && b.known};
}

STROP_JET Jet negative(const Jet& a) {
  Jet y;
  y.level = a.level;
  y.present = a.present;
  y.known = a.known;
  for (int s = 0; s < y.count(); ++s) each_lane(y.c[s], [&](int i) { return -a.c[s][i]; });
  return y;
}

// a ± b, by coefficients that both have and those that one has
#define STROP_SUM(name, op)                                                                          \
  STROP_JET Jet name(const Jet& a, const Jet& b) {                                                   \
    if (a.known && b.known) return plain(true, [&](int i) { return a.c[0][i] op b.c[0][i]; });       \
    Jet y;                                                                                           \
    y.level = std::max(a.level, b.level);                                                            \
    y.present = a.present | b.present;                                                               \
    const int both = std::min(a.count(), b.count());                                                 \
    for (int s = 0; s < both; ++s) each_lane(y.c[s], [&](int i) { return a.c[s][i] op b.c[s][i]; }); \
    for (int s = both; s < a.count(); ++s) take(y.c[s], a.c[s]);                                     \
    for (int s = both; s < b.count(); ++s) each_lane(y.c[s], [&](int i) { return op b.c[s][i]; });   \
    return y;                                                                                        \
  }
STROP_SUM(sum, +)
STROP_SUM(difference, -)
#undef STROP_SUM

/// Of every set m the sum over its parts s: a has s, b has the rest.
STROP_JET Jet product(const Jet& a, const Jet& b) {
  if (a.known && b.known) return plain(true, [&](int i) { return a.c[0][i] * b.c[0][i]; });
  if (a.level > b.level) return product(b, a);
  Jet y;
  y.level = b.level;
  y.present = 0;
  for (int m = 0; m < y.count(); ++m) {
    double sum[Jet::lanes] = {};
    const auto add = [&](int s) {
      if (s >= a.count() || !a.has(s) || !b.has(m ^ s)) return;
      if (y.has(m))
        each_lane(sum, [&](int i) { return sum[i] + a.c[s][i] * b.c[m ^ s][i]; });
      else
        each_lane(sum, [&](int i) { return a.c[s][i] * b.c[m ^ s][i]; });
      y.present = static_cast<std::uint8_t>(y.present | 1U << m);
    };
    add(0);
    for (int s = a.level == 0 ? 0 : m; s != 0; s = (s - 1) & m) add(s);
    take(y.c[m], sum);
  }
  return y.is_zero() ? Jet(0) : y;
}

/// The q with q · b = a: its coefficients follow one after the other.
STROP_JET Jet quotient(const Jet& a, const Jet& b) {
  if (a.known && b.known) return plain(true, [&](int i) { return a.c[0][i] / b.c[0][i]; });
  if (a.is_zero()) return 0;
  Jet q;
  q.level = std::max(a.level, b.level);
  q.present = 0;
  for (int m = 0; m < q.count(); ++m) {
    double rest[Jet::lanes] = {};
    bool some = m < a.count() && a.has(m);
    if (some) take(rest, a.c[m]);
    for (int s = m; s != 0; s = (s - 1) & m)
      if (s < b.count() && b.has(s) && q.has(m ^ s)) {
        some = true;
        each_lane(rest, [&](int i) { return rest[i] - q.c[m ^ s][i] * b.c[s][i]; });
      }
    if (some) each_lane(rest, [&](int i) { return rest[i] / b.c[0][i]; });
    take(q.c[m], rest);
    q.present = static_cast<std::uint8_t>(q.present | (some ? 1U : 0U) << m);
  }
  return q;
}

STROP_JET Answers less(const Jet& a, const Jet& b) {
  return answers(a, b, [](double x, double y) { return x < y; });
}
STROP_JET Answers less_equal(const Jet& a, const Jet& b) {
  return answers(a, b, [](double x, double y) { return x <= y; });
}
STROP_JET Answers equal(const Jet& a, const Jet& b) {
  return answers(a, b, [](double x, double y) { return x == y; });
}

/// The number as a value and its derivative in the newest of `level` directions, and back.
STROP_JET Dual<Jet> halves(const Jet& a, int level) {
  const int half = 1 << (level - 1);
  if (a.level < level) return {a, Jet(0), false};
  Jet value;
  value.level = level - 1;
  value.present = static_cast<std::uint8_t>(a.present & ((1U << half) - 1));
  for (int s = 0; s < half; ++s) take(value.c[s], a.c[s]);
  return {value, a.along(level - 1), a.present >> half != 0};
}
STROP_JET Jet joined(const Dual<Jet>& a, int level) {
  if (!a.moves) return a.v;
  Jet y;
  y.level = level;
  const int half = y.count() / 2;
  y.present = static_cast<std::uint8_t>(a.v.present | static_cast<unsigned>(a.d.present) << half);
  const auto put = [&](const Jet& from, int at) {
    for (int s = 0; s < half; ++s)
      if (s < from.count())
        take(y.c[at + s], from.c[s]);
      else
        clear(y.c[at + s]);
  };
  put(a.v, 0);
  put(a.d, half);
  return y;
}

// Of jets without directions the function itself; of others Dual's rule, whose parts have a direction less.
#define STROP_REAL(f)                                                                          \
  STROP_JET Jet f(const Jet& a) {                                                              \
    if (a.level == 0) return plain(a.known, [&](int i) { return Rep<double>::f(a.c[0][i]); }); \
    return joined(f(halves(a, a.level)), a.level);                                             \
  }
#define STROP_REAL2(f)                                                                                             \
  STROP_JET Jet f(const Jet& a, const Jet& b) {                                                                    \
    const int level = std::max(a.level, b.level);                                                                  \
    if (level == 0) return plain(a.known && b.known, [&](int i) { return Rep<double>::f(a.c[0][i], b.c[0][i]); }); \
    return joined(f(halves(a, level), halves(b, level)), level);                                                   \
  }
#define STROP_TIMES2(f)                                                                                            \
  STROP_JET Jet f(const Jet& a, const Jet& b) {                                                                    \
    if (a.is_zero() && !b.known) return 0;                                                                         \
    const int level = std::max(a.level, b.level);                                                                  \
    if (level == 0) return plain(a.known && b.known, [&](int i) { return Rep<double>::f(a.c[0][i], b.c[0][i]); }); \
    return joined(f(halves(a, level), halves(b, level)), level);                                                   \
  }
#define STROP_STEP(f)                                                        \
  STROP_JET Jet f(const Jet& a) {                                            \
    return plain(a.known, [&](int i) { return Rep<double>::f(a.c[0][i]); }); \
  }
#include <strop/number/vocabulary.def>

STROP_JET Jet sign(const Jet& a) {
  return plain(a.known, [&](int i) { return a.c[0][i] > 0 ? 1.0 : a.c[0][i] < 0 ? -1.0 : 0.0; });
}
STROP_JET Jet abs(const Jet& a) {
  if (a.level == 0) return plain(a.known, [&](int i) { return Rep<double>::abs(a.c[0][i]); });
  return joined(abs(halves(a, a.level)), a.level);
}
STROP_JET Jet max(const Jet& a, const Jet& b) {
  if (a.level == 0 && b.level == 0)
    return plain(a.known && b.known, [&](int i) { return Rep<double>::max(a.c[0][i], b.c[0][i]); });
  return Jet::select((a >= b).m, a, b);
}
STROP_JET Jet min(const Jet& a, const Jet& b) {
  if (a.level == 0 && b.level == 0)
    return plain(a.known && b.known, [&](int i) { return Rep<double>::min(a.c[0][i], b.c[0][i]); });
  return Jet::select((a <= b).m, a, b);
}
STROP_JET Jet polygamma(int n, const Jet& a) {
  if (a.level == 0) return plain(a.known, [&](int i) { return number::polygamma(n, a.c[0][i]); });
  return joined(polygamma(n, halves(a, a.level)), a.level);
}
STROP_JET Jet sinc_derivative(int n, const Jet& a) {
  if (a.level == 0) return plain(a.known, [&](int i) { return number::sinc_derivative(n, a.c[0][i]); });
  return joined(sinc_derivative(n, halves(a, a.level)), a.level);
}

}  // namespace jets
}  // namespace strop::inline v0::number

#undef STROP_JET
