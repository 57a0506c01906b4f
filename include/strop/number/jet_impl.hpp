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
}
STROP_JET void Jet::copy(const Jet& a) {
  level = a.level;
  for (int s = 0; s < count(); ++s) jets::take(c[s], a.c[s]);
}

STROP_JET Jet Jet::along(int k) const {
  Jet y;
  if (level <= k) {
    jets::clear(y.c[0]);
    return y;
  }
  y.level = k;
  for (int s = 0; s < y.count(); ++s) jets::take(y.c[s], c[y.count() + s]);
  return y;
}

STROP_JET Jet Jet::moved_along(int k) const {
  Jet y;
  y.level = k + 1;
  for (int s = 0; s < count(); ++s) jets::take(y.c[s], c[s]);
  for (int s = count(); s < y.count(); ++s) jets::clear(y.c[s]);
  jets::each_lane(y.c[1 << k], [](int) { return 1.0; });
  return y;
}

STROP_JET Jet Jet::select(MaskRep m, const Jet& a, const Jet& b) {
  Jet y;
  y.level = std::max(a.level, b.level);
  for (int s = 0; s < y.count(); ++s)
    for (int i = 0; i < lanes; ++i) {
      const Jet& from = ((m.bits >> i) & 1U) != 0 ? a : b;
      y.c[s][i] = s < from.count() ? from.c[s][i] : 0.0;
    }
  return y;
}

namespace jets {

/// What the functions of plain numbers give for jets that have no directions.
template <class F>
[[gnu::always_inline]] inline Jet plain(F f) {
  Jet y;
  each_lane(y.c[0], f);
  return y;
}
template <class F>
[[gnu::always_inline]] inline std::uint16_t answers(F f) {
  unsigned bits = 0;
  for (int i = 0; i < Jet::lanes; ++i) bits |= static_cast<unsigned>(f(i)) << i;
  return static_cast<std::uint16_t>(bits);
}

STROP_JET Jet negative(const Jet& a) {
  Jet y;
  y.level = a.level;
  for (int s = 0; s < y.count(); ++s) each_lane(y.c[s], [&](int i) { return -a.c[s][i]; });
  return y;
}

// a ± b, by coefficients that both have and those that one has
#define STROP_SUM(name, op)                                                                          \
  STROP_JET Jet name(const Jet& a, const Jet& b) {                                                   \
    Jet y;                                                                                           \
    y.level = std::max(a.level, b.level);                                                            \
    const int both = std::min(a.count(), b.count());                                                 \
    for (int s = 0; s < both; ++s) each_lane(y.c[s], [&](int i) { return a.c[s][i] op b.c[s][i]; }); \
    for (int s = both; s < a.count(); ++s) take(y.c[s], a.c[s]);                                     \
    for (int s = both; s < b.count(); ++s) each_lane(y.c[s], [&](int i) { return op b.c[s][i]; });   \
    return y;                                                                                        \
  }
STROP_SUM(sum, +)
STROP_SUM(difference, -)
#undef STROP_SUM

/// Of every set m the sum over its parts s: a has s, b has the rest. What has no direction is a factor.
STROP_JET Jet product(const Jet& a, const Jet& b) {
  if (a.level > b.level) return product(b, a);
  Jet y;
  y.level = b.level;
  for (int m = 0; m < y.count(); ++m) {
    double sum[Jet::lanes];
    each_lane(sum, [&](int i) { return a.c[0][i] * b.c[m][i]; });
    for (int s = a.level == 0 ? 0 : m; s != 0; s = (s - 1) & m)
      if (s < a.count()) each_lane(sum, [&](int i) { return sum[i] + a.c[s][i] * b.c[m ^ s][i]; });
    take(y.c[m], sum);
  }
  return y;
}

/// The q with q · b = a: its coefficients follow one after the other.
STROP_JET Jet quotient(const Jet& a, const Jet& b) {
  Jet q;
  q.level = std::max(a.level, b.level);
  for (int m = 0; m < q.count(); ++m) {
    double rest[Jet::lanes] = {};
    if (m < a.count()) take(rest, a.c[m]);
    for (int s = m; s != 0; s = (s - 1) & m)
      if (s < b.count()) each_lane(rest, [&](int i) { return rest[i] - q.c[m ^ s][i] * b.c[s][i]; });
    each_lane(q.c[m], [&](int i) { return rest[i] / b.c[0][i]; });
  }
  return q;
}

STROP_JET std::uint16_t less(const Jet& a, const Jet& b) {
  return answers([&](int i) { return a.c[0][i] < b.c[0][i]; });
}
STROP_JET std::uint16_t less_equal(const Jet& a, const Jet& b) {
  return answers([&](int i) { return a.c[0][i] <= b.c[0][i]; });
}
STROP_JET std::uint16_t equal(const Jet& a, const Jet& b) {
  return answers([&](int i) { return a.c[0][i] == b.c[0][i]; });
}

/// The number as a value and its derivative in the newest of `level` directions, and back.
STROP_JET Dual<Jet> halves(const Jet& a, int level) {
  if (a.level < level) return {a, Jet(0)};
  Jet value;
  value.level = level - 1;
  for (int s = 0; s < value.count(); ++s) take(value.c[s], a.c[s]);
  return {value, a.along(level - 1)};
}
STROP_JET Jet joined(const Dual<Jet>& a, int level) {
  Jet y;
  y.level = level;
  const int half = y.count() / 2;
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
#define STROP_REAL(f)                                                                 \
  STROP_JET Jet f(const Jet& a) {                                                     \
    if (a.level == 0) return plain([&](int i) { return Rep<double>::f(a.c[0][i]); }); \
    return joined(f(halves(a, a.level)), a.level);                                    \
  }
#define STROP_REAL2(f)                                                                         \
  STROP_JET Jet f(const Jet& a, const Jet& b) {                                                \
    const int level = std::max(a.level, b.level);                                              \
    if (level == 0) return plain([&](int i) { return Rep<double>::f(a.c[0][i], b.c[0][i]); }); \
    return joined(f(halves(a, level), halves(b, level)), level);                               \
  }
#define STROP_STEP(f)                                               \
  STROP_JET Jet f(const Jet& a) {                                   \
    return plain([&](int i) { return Rep<double>::f(a.c[0][i]); }); \
  }
#include <strop/number/vocabulary.def>

STROP_JET Jet sign(const Jet& a) {
  return plain([&](int i) { return a.c[0][i] > 0 ? 1.0 : a.c[0][i] < 0 ? -1.0 : 0.0; });
}
STROP_JET Jet abs(const Jet& a) {
  if (a.level == 0) return plain([&](int i) { return Rep<double>::abs(a.c[0][i]); });
  return joined(abs(halves(a, a.level)), a.level);
}
STROP_JET Jet max(const Jet& a, const Jet& b) {
  if (a.level == 0 && b.level == 0) return plain([&](int i) { return Rep<double>::max(a.c[0][i], b.c[0][i]); });
  return Jet::select((a >= b).m, a, b);
}
STROP_JET Jet min(const Jet& a, const Jet& b) {
  if (a.level == 0 && b.level == 0) return plain([&](int i) { return Rep<double>::min(a.c[0][i], b.c[0][i]); });
  return Jet::select((a <= b).m, a, b);
}
STROP_JET Jet polygamma(int n, const Jet& a) {
  if (a.level == 0) return plain([&](int i) { return number::polygamma(n, a.c[0][i]); });
  return joined(polygamma(n, halves(a, a.level)), a.level);
}

}  // namespace jets
}  // namespace strop::inline v0::number

#undef STROP_JET
