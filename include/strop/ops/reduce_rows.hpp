// SPDX-License-Identifier: Apache-2.0
/// \file
/// What reductions do with elements, and the loops that do it with rows and columns.
#pragma once
#include <strop/core/list.hpp>
#include <strop/number/lanes.hpp>
#include <strop/number/num.hpp>
#include <strop/ops/pairwise.hpp>
#include <strop/ops/pieces.hpp>

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>

namespace strop::inline v0::detail {

// Steps: the neutral element, what an element contributes, and how two partial results join. They work on lanes and
// numbers.
struct AddStep {
  template <class E>
  static constexpr E neutral() {
    return E(0);
  }
  template <class R>
  static R map(R x) {
    return x;
  }
  template <class R>
  static R join(R a, R b) {
    if constexpr (std::integral<R>)
      return number::detail::wrapping(a, b, [](auto x, auto y) { return x + y; });
    else
      return a + b;
  }
};

struct MultiplyStep {
  template <class E>
  static constexpr E neutral() {
    return E(1);
  }
  template <class R>
  static R map(R x) {
    return x;
  }
  template <class R>
  static R join(R a, R b) {
    if constexpr (std::integral<R>)
      return number::detail::wrapping(a, b, [](auto x, auto y) { return x * y; });
    else
      return a * b;
  }
};

struct AddNumbersStep : AddStep {
  template <class R>
  static R map(R x) {
    return number::Rep<R>::select(x != x, number::Rep<R>::splat(0), x);
  }
};

struct MultiplyNumbersStep : MultiplyStep {
  template <class R>
  static R map(R x) {
    return number::Rep<R>::select(x != x, number::Rep<R>::splat(1), x);
  }
};

struct AddMagnitudeStep : AddStep {
  template <class R>
  static R map(R x) {
    return number::Rep<R>::abs(x);
  }
};

struct AddSquareStep : AddStep {
  template <class R>
  static R map(R x) {
    return MultiplyStep::join(x, x);
  }
};

struct MaxStep {
  template <class E>
  static constexpr E neutral() {
    if constexpr (std::floating_point<E>)
      return -std::numeric_limits<E>::infinity();
    else
      return std::numeric_limits<E>::lowest();
  }
  template <class R>
  static R map(R x) {
    return x;
  }
  template <class R>
  static R join(R a, R b) {
    return number::Rep<R>::max(a, b);
  }
};

struct MinStep {
  template <class E>
  static constexpr E neutral() {
    if constexpr (std::floating_point<E>)
      return std::numeric_limits<E>::infinity();
    else
      return std::numeric_limits<E>::max();
  }
  template <class R>
  static R map(R x) {
    return x;
  }
  template <class R>
  static R join(R a, R b) {
    return number::Rep<R>::min(a, b);
  }
};

inline namespace STROP_ISA {

/// Whether what is joined loses digits with its length, so that it is joined in stretches.
template <class Step, class E>
inline constexpr bool in_stretches = std::derived_from<Step, AddStep> && std::floating_point<E>;

/// What an element contributes. Later passes take partial results as they are: `Mapped` says that map was applied.
template <class Step, bool Mapped>
inline constexpr auto contribution = []<class R>(R v) {
  if constexpr (Mapped)
    return v;
  else
    return Step::template map<R>(v);
};

/// n elements of a row, whole registers, to one register.
template <class Step, bool Mapped, class E>
[[gnu::always_inline]] inline number::Vec<E> join_few_registers(const E* x, std::int64_t n) {
  using V = number::Vec<E>;
  using R = number::Rep<V>;
  constexpr std::int64_t L = R::lanes;
  constexpr auto mapped = contribution<Step, Mapped>;
  const auto join = [](V a, V b) { return Step::template join<V>(a, b); };
  V a = mapped(R::load(x));
  std::int64_t i = L;
  if (n >= 8 * L) {
    V b = mapped(R::load(x + L)), c = mapped(R::load(x + 2 * L)), d = mapped(R::load(x + 3 * L));
    for (i = 4 * L; i + 4 * L <= n; i += 4 * L) {
      a = join(a, mapped(R::load(x + i)));
      b = join(b, mapped(R::load(x + i + L)));
      c = join(c, mapped(R::load(x + i + 2 * L)));
      d = join(d, mapped(R::load(x + i + 3 * L)));
    }
    a = join(join(a, b), join(c, d));
  }
  for (; i < n; i += L) a = join(a, mapped(R::load(x + i)));
  return a;
}
/// The sum of any number of them, in stretches of 32 for each of eight.
template <class Step, bool Mapped, class E>
[[gnu::noinline]] number::Vec<E> join_many_registers(const E* x, std::int64_t n) {
  using V = number::Vec<E>;
  using R = number::Rep<V>;
  constexpr std::int64_t L = R::lanes, step = 8 * L, most = chain_of_sums * step;
  constexpr auto mapped = contribution<Step, Mapped>;
  V waiting[std::size_t{pair_levels}], sum;
  Pairs pairs;
  const auto merge = [&](int level) { sum = waiting[level] + sum; };
  for (std::int64_t rest = n;; x += most) {
    V a[8];
    unrolled<8>([&](int k) __attribute__((always_inline)) { a[k] = V{}; });
    const std::int64_t count = std::min(rest, most);
    std::int64_t i = 0;
    for (; i + step <= count; i += step)
      unrolled<8>([&](int k) __attribute__((always_inline)) {
        a[k] = Step::template join<V>(a[k], mapped(R::load(x + i + k * L)));
      });
    for (; i < count; i += L) a[0] = Step::template join<V>(a[0], mapped(R::load(x + i)));
    sum = ((a[0] + a[1]) + (a[2] + a[3])) + ((a[4] + a[5]) + (a[6] + a[7]));
    if (rest -= count; rest == 0) {
      pairs.finish(merge);
      return sum;
    }
    pairs.push(merge, [&](int level) { waiting[level] = sum; });
  }
}
template <class Step, bool Mapped, class E>
[[gnu::always_inline]] inline number::Vec<E> join_registers(const E* x, std::int64_t n) {
  if constexpr (in_stretches<Step, E>)
    if (n > 4 * chain_of_sums * number::Rep<number::Vec<E>>::lanes) return join_many_registers<Step, Mapped>(x, n);
  return join_few_registers<Step, Mapped>(x, n);
}

/// A contiguous row to `keep` elements, a power of two below the lanes of a register: element i goes to i modulo keep.
template <class Step, bool Mapped, class E>
void reduce_row(const E* x, std::int64_t n, std::int64_t keep, E* y) {
  using R = number::Rep<number::Vec<E>>;
  constexpr std::int64_t L = R::lanes;
  const std::int64_t whole = n - n % L;
  if (whole == 0) {
    std::fill(y, y + keep, Step::template neutral<E>());
  } else {
    E lanes[unsigned_size(L)];
    R::store(lanes, join_registers<Step, Mapped>(x, whole));
    for (std::int64_t half = L / 2; half >= keep; half /= 2)
      for (std::int64_t k = 0; k < half; ++k) lanes[k] = Step::template join<E>(lanes[k], lanes[k + half]);
    std::copy_n(lanes, keep, y);
  }
  for (std::int64_t i = whole; i < n; ++i) {
    E& to = y[i & (keep - 1)];
    to = Step::template join<E>(to, contribution<Step, Mapped>(x[i]));
  }
}

/// The lanes of a register to one element, by halves.
template <class Step, class E>
[[gnu::always_inline]] inline E join_lanes(number::Vec<E> v) {
  using R = number::Rep<number::Vec<E>>;
  constexpr int L = R::lanes;
  if constexpr (in_stretches<Step, E> && L > 1) {
    const auto two = folded<2, L>(v);
    return two[0] + two[1];
  } else {
    E lanes[unsigned_size(L)];
    R::store(lanes, v);
    for (std::int64_t half = L / 2; half > 0; half /= 2)
      for (std::int64_t k = 0; k < half; ++k) lanes[k] = Step::template join<E>(lanes[k], lanes[k + half]);
    return lanes[0];
  }
}

/// A contiguous row to one element.
template <class Step, bool Mapped, class E>
E reduce_row(const E* x, std::int64_t n) {
  const auto join_rest = [&](E total, std::int64_t i) {
    for (; i < n; ++i) total = Step::template join<E>(total, contribution<Step, Mapped>(x[i]));
    return total;
  };
  if constexpr (std::floating_point<E>)
    if (constexpr std::int64_t L = number::Rep<number::Vec<E>>::lanes; n >= L) {
      const std::int64_t whole = n - n % L;
      return join_rest(join_lanes<Step, E>(join_registers<Step, Mapped>(x, whole)), whole);
    }
  return join_rest(Step::template neutral<E>(), 0);
}

/// y[i] = x[0, i] joined with those of the other rows, which are `stride` apart: eight rows at a time pass over y.
template <class Step, bool Mapped, class E>
void join_few_rows(E* y, const E* x, std::int64_t stride, std::int64_t rows, std::int64_t n) {
  constexpr auto mapped = contribution<Step, Mapped>;
  const auto pass = [&]<class V, std::size_t... I>(std::type_identity<V>, const E* from, bool first, std::int64_t i,
                                                   std::index_sequence<I...>) {
    using R = number::Rep<V>;
    V v = mapped(R::load(from + i));
    ((v = Step::template join<V>(v, mapped(R::load(from + (static_cast<std::int64_t>(I) + 1) * stride + i)))), ...);
    if (!first) v = Step::template join<V>(R::load(y + i), v);
    R::store(y + i, v);
  };
  const auto over = [&](const E* from, bool first, auto others) {
    std::int64_t i = 0;
    if constexpr (std::floating_point<E>) {
      using V = number::Vec<E>;
      for (; i + number::Rep<V>::lanes <= n; i += number::Rep<V>::lanes)
        pass(std::type_identity<V>{}, from, first, i, others);
    }
    for (; i < n; ++i) pass(std::type_identity<E>{}, from, first, i, others);
  };
  std::int64_t r = 0;
  for (; r + 8 <= rows; r += 8) over(x + r * stride, r == 0, std::make_index_sequence<7>{});
  if (r + 4 <= rows) over(x + r * stride, r == 0, std::make_index_sequence<3>{}), r += 4;
  for (; r < rows; ++r) over(x + r * stride, r == 0, std::make_index_sequence<0>{});
}

/// The same of any number of rows.
template <class Step, bool Mapped, class E>
void join_rows(E* y, const E* x, std::int64_t stride, std::int64_t rows, std::int64_t n) {
  const std::int64_t most = in_stretches<Step, E> ? 8 * chain_of_sums : std::max<std::int64_t>(rows, 1),
                     stretches = (rows + most - 1) / most;
  if (stretches <= 1) return join_few_rows<Step, Mapped>(y, x, stride, rows, n);
  detail::List<E, 256> waiting;
  waiting.reserve(pair_levels_of(stretches) * n);  // what lies there is written before it is read
  const auto at = [&](std::int64_t level) { return level == 0 ? y : waiting.data() + (level - 1) * n; };
  in_pairs(
      stretches,
      [&](std::int64_t k, std::int64_t level) {
        join_few_rows<Step, Mapped>(at(level), x + k * most * stride, stride, std::min(most, rows - k * most), n);
      },
      [&](std::int64_t level) {
        if constexpr (in_stretches<Step, E>) add_numbers(at(level), at(level + 1), n);
      });
}

}  // namespace STROP_ISA

}  // namespace strop::inline v0::detail
