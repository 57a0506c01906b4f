// SPDX-License-Identifier: Apache-2.0
/// \file
/// What reductions do with elements: the state that a thread keeps, what an element makes of it, how two states join
/// and what the result is. The rules are the CPU's (ops/reduce.hpp), for NaN, ties, overflow and integers that wrap.
#pragma once
#include "map_layout.cuh"

#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace strop::inline v0::cuda {

/// What elements are summed up in: halves in float, small integers in 32 bits, as what wraps there wraps at last.
template <class X>
using Accumulator = std::conditional_t<std::integral<X> && sizeof(X) < 4, std::int32_t, ComputeAs<X>>;

/// a · b, where integers wrap.
template <class C>
constexpr C times(C a, C b) {
  if constexpr (std::integral<C>)
    return static_cast<C>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
  else
    return a * b;
}
template <class C>
constexpr bool is_nan(C v) {
  return v != v;
}

/// The same state of a lane further on.
template <class S>
constexpr S shuffled_down(auto& block, S s, int by) {
  if constexpr (std::is_arithmetic_v<S>)
    return block.shuffle_down(s, by);
  else
    return s.shuffled_down(block, by);
}

/// Σ x; with SkipNaN of what is a number.
template <class X, bool SkipNaN = false>
struct SumStep {
  using State = Accumulator<X>;
  constexpr State neutral() const { return 0; }
  constexpr State of(X x, std::int64_t) const {
    const State v = number_of<State>(x);
    return SkipNaN && is_nan(v) ? State(0) : v;
  }
  constexpr State join(State a, State b) const { return plus(a, b); }
  constexpr State result(State s) const { return s; }
};

/// Π x; with SkipNaN of what is a number.
template <class X, bool SkipNaN = false>
struct ProductStep {
  using State = Accumulator<X>;
  constexpr State neutral() const { return 1; }
  constexpr State of(X x, std::int64_t) const {
    const State v = number_of<State>(x);
    return SkipNaN && is_nan(v) ? State(1) : v;
  }
  constexpr State join(State a, State b) const { return times(a, b); }
  constexpr State result(State s) const { return s; }
};

/// Σ x · scale, scale = 1 / n. Where Σ x overflows, what is scaled before it is summed up does not.
template <class X>
struct MeanStep {
  using C = Accumulator<X>;
  struct State {
    C plain, scaled;
    constexpr State shuffled_down(auto& block, int by) const {
      return {block.shuffle_down(plain, by), block.shuffle_down(scaled, by)};
    }
  };
  C scale = 1;
  explicit constexpr MeanStep(std::int64_t n) : scale(C(1) / static_cast<C>(n)) {}
  constexpr State neutral() const { return {0, 0}; }
  constexpr State of(X x, std::int64_t) const {
    const C v = number_of<C>(x);
    return {v, v * scale};
  }
  constexpr State join(State a, State b) const { return {a.plain + b.plain, a.scaled + b.scaled}; }
  constexpr C result(State s) const {
    const C mean = s.plain * scale;
    return s.plain - s.plain == C(0) || scale - scale != C(0) ? mean : s.scaled;
  }
};

/// The largest (smallest) element, or NaN where one is NaN.
template <class X, bool Largest>
struct ExtremeStep {
  using State = Accumulator<X>;
  constexpr State neutral() const {
    using Limits = std::numeric_limits<State>;
    if constexpr (std::floating_point<State>)
      return Largest ? -Limits::infinity() : Limits::infinity();
    else
      return Largest ? Limits::lowest() : Limits::max();
  }
  constexpr State of(X x, std::int64_t) const { return number_of<State>(x); }
  constexpr State join(State a, State b) const {
    if (is_nan(a)) return a;
    return is_nan(b) || (Largest ? b > a : b < a) ? b : a;
  }
  constexpr State result(State s) const { return s; }
};

/// Where the largest (smallest) element is: the first of equal ones, and the first NaN where there is one.
template <class X, bool Largest>
struct PositionStep {
  using C = Accumulator<X>;
  struct State {
    C value;
    std::int64_t at;  // −1: of no element
    constexpr State shuffled_down(auto& block, int by) const {
      return {block.shuffle_down(value, by), block.shuffle_down(at, by)};
    }
  };
  constexpr State neutral() const { return {0, -1}; }
  constexpr State of(X x, std::int64_t at) const { return {number_of<C>(x), at}; }
  constexpr State join(State a, State b) const {
    if (a.at < 0) return b;
    if (b.at < 0) return a;
    const bool first = a.at < b.at;
    if (is_nan(a.value) || is_nan(b.value)) {
      if (is_nan(a.value) && is_nan(b.value)) return first ? a : b;
      return is_nan(a.value) ? a : b;
    }
    if (a.value == b.value) return first ? a : b;
    return (Largest ? a.value > b.value : a.value < b.value) ? a : b;
  }
  constexpr std::int64_t result(State s) const { return s.at; }
};

/// Σ |x|.
template <class X>
struct MagnitudeStep : SumStep<X> {
  using State = typename SumStep<X>::State;
  constexpr State of(X x, std::int64_t) const {
    const State v = number_of<State>(x);
    return v < 0 ? -v : v;
  }
};

/// √ Σ x², of types whose squares a double holds.
template <class X>
struct LengthStep {
  using State = double;
  constexpr State neutral() const { return 0; }
  constexpr State of(X x, std::int64_t) const {
    const double v = static_cast<double>(number_of<ComputeAs<X>>(x));
    return v * v;
  }
  constexpr State join(State a, State b) const { return a + b; }
  constexpr double result(State s) const { return std::sqrt(s); }
};
/// Of double: squares of the small, of the middle and of the big apart, scaled by powers of two (Blue's algorithm, with
/// the constants of Anderson, ACM TOMS 44, 2017), so that they over- or underflow only where the result does.
template <>
struct LengthStep<double> {
  static constexpr double small = 0x1p-511, big = 0x1p486, from_small = 0x1p537, from_big = 0x1p-538;
  struct State {
    double low, middle, high;
    constexpr State shuffled_down(auto& block, int by) const {
      return {block.shuffle_down(low, by), block.shuffle_down(middle, by), block.shuffle_down(high, by)};
    }
  };
  constexpr State neutral() const { return {0, 0, 0}; }
  constexpr State of(double x, std::int64_t) const {
    const double a = x < 0 ? -x : x;
    if (a > big) return {0, 0, (a * from_big) * (a * from_big)};
    if (a < small) return {(a * from_small) * (a * from_small), 0, 0};
    return {0, a * a, 0};
  }
  constexpr State join(State a, State b) const { return {a.low + b.low, a.middle + b.middle, a.high + b.high}; }
  constexpr double result(State s) const {
    if (s.high > 0) return std::sqrt(s.high + (s.middle * from_big) * from_big) / from_big;
    if (s.low == 0 || is_nan(s.middle)) return std::sqrt(s.middle);
    const double low = std::sqrt(s.low) / from_small, middle = std::sqrt(s.middle);
    const double least = low < middle ? low : middle, most = low < middle ? middle : low;
    return most * std::sqrt(1 + (least / most) * (least / most));
  }
};

}  // namespace strop::inline v0::cuda
