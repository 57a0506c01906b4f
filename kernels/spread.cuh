// SPDX-License-Identifier: Apache-2.0
/// \file
/// Gradients of reductions: every element gets what comes to the result that it went into.
#pragma once
#include "reduce.cuh"

#include <cstdint>
#include <type_traits>

namespace strop::inline v0::cuda {

/// For each element, in their order, the result that it goes into; axis i goes where bit i of `mask` is set. False
/// where kept and reduced axes take turns too often.
constexpr bool set_results(Digits& d, const std::int64_t* extents, int rank, std::uint64_t mask) {
  std::int64_t stride = 1;
  for (int i = 0; i < rank; ++i) stride *= (mask >> i & 1U) != 0 ? 1 : extents[i];
  int before = -1;  // whether the axis before goes
  for (int i = 0; i < rank; ++i) {
    const int goes = static_cast<int>(mask >> i & 1U);
    d.count *= extents[i];
    if (goes == 0 && extents[i] != 0) stride /= extents[i];
    if (extents[i] == 1) continue;
    if (before == goes) {
      d.extents[d.rank - 1] *= extents[i];
    } else {
      if (d.rank == Digits::most) return false;
      d.extents[d.rank++] = extents[i];
    }
    d.strides[d.rank - 1] = goes != 0 ? 0 : stride;
    before = goes;
  }
  return true;
}

/// dy, times a factor: of a sum, a mean.
template <class C>
struct HeadSlope {
  static constexpr bool reads = false;
  C scale = 1;
  constexpr C of(C dy, C, C) const { return dy * scale; }
};
/// dy where the element is the result: of max, min.
template <class C>
struct ExtremeSlope {
  static constexpr bool reads = true;
  constexpr C of(C dy, C x, C y) const { return x == y ? dy : C(0); }
};
/// dy where the element is a number: of nansum.
template <class C>
struct NumberSlope {
  static constexpr bool reads = true;
  constexpr C of(C dy, C x, C) const { return is_nan(x) ? C(0) : dy; }
};
/// dy · sign x: of Σ |x|.
template <class C>
struct MagnitudeSlope {
  static constexpr bool reads = true;
  constexpr C of(C dy, C x, C) const { return dy * static_cast<C>((x > 0) - (x < 0)); }
};
/// dy · x / y: of √ Σ x².
template <class C>
struct LengthSlope {
  static constexpr bool reads = true;
  constexpr C of(C dy, C x, C y) const { return y == C(0) ? dy * C(0) : dy * (x / y); }
};

/// dx[i] = slope(dy[o], x[i], y[o]), o the result that element i goes into. x and y without memory: the slope does not
/// read them.
template <class Slope, class X, bool Wide>
struct Spread {
  using C = ComputeAs<X>;
  static constexpr int threads = 256, turns = 4;
  struct Memory {};
  Slope slope;
  Digits results;
  Global<const X> dy, x, y;
  Global<X> dx;

  constexpr std::int64_t blocks() const {
    const std::int64_t n = (results.count + threads * turns - 1) / (threads * turns);
    return !dx ? 0 : n < INT32_MAX ? n : INT32_MAX;
  }
  constexpr void operator()(auto& block, auto&) const {
    for (std::int64_t i = block.index() * threads + block.thread(); i < results.count; i += block.blocks() * threads) {
      const std::int64_t o = results.template offset<Wide>(i);
      const C at = Slope::reads ? number_of<C>(x[i]) : C(0);
      const C result = Slope::reads && y ? number_of<C>(y[o]) : C(0);
      dx[i] = element_of<X>(slope.of(number_of<C>(dy[o]), at, result));
    }
  }
};

/// Calls run(kernel) for the kernel that suits the shape.
template <class Slope, class X, class Run>
void run_spread(const Slope& slope, const Digits& results, Global<const X> dy, Global<const X> x, Global<const X> y,
                Global<X> dx, const Run& run) {
  if (results.wide())
    run(Spread<Slope, X, true>{slope, results, dy, x, y, dx});
  else
    run(Spread<Slope, X, false>{slope, results, dy, x, y, dx});
}

}  // namespace strop::inline v0::cuda
