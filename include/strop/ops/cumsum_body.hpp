// SPDX-License-Identifier: Apache-2.0
/// \file
/// Bodies of the operators of ops/cumsum.hpp, which only what builds their kernels reads.
#pragma once
#include <strop/engine/pool.hpp>
#include <strop/number/lanes.hpp>
#include <strop/number/lanes_wide.hpp>
#include <strop/ops/cumsum.hpp>
#include <strop/ops/reduce_kernels.hpp>
#include <strop/ops/reduce_kernels_body.hpp>
#include <strop/ops/softmax_kernels.hpp>
#include <strop/tensor/convert.hpp>

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <utility>

namespace strop::inline v0 {

namespace detail {

inline namespace STROP_ISA {

/// A row joins the sums of columns, whole registers, and they are written. `lost` is what rounding took from the sums.
template <class E>
void accumulate_row(const E* row, E* to, E* sums, E* lost, std::int64_t n) {
  using R = number::Rep<number::Vec<E>>;
  const auto or_zero = [](number::Vec<E> v) { return R::select(v == v, v, R::splat(0)); };  // of no finite numbers
  for (std::int64_t j = 0; j < n; j += R::lanes) {
    const auto x = R::load(row + j), sum = R::load(sums + j), next = sum + x, of_x = next - sum;
    const auto rest = R::load(lost + j) + or_zero((sum - (next - of_x)) + (x - of_x)), all = next + rest;
    R::store(sums + j, all), R::store(to + j, all);
    R::store(lost + j, or_zero(rest - (all - next)));
  }
}

#if !defined(STROP_NO_LANES) && !defined(__CUDACC__)  // nvcc's front end does not take these shuffles
/// Each lane becomes the sum of those up to it, or from it on.
template <bool backwards, int step = 1>
[[gnu::always_inline]] inline number::Vec<double> sums_of_lanes(number::Vec<double> v) {
  constexpr int lanes = number::lane_bytes / 8;
  if constexpr (step >= lanes) {
    return v;
  } else {
    const auto moved = [&]<int... I>(std::integer_sequence<int, I...>) __attribute__((always_inline)) {
      return __builtin_shufflevector(
          v, number::Vec<double>{},
          (backwards ? (I + step < lanes ? I + step : lanes) : (I >= step ? I - step : lanes))...);
    }(std::make_integer_sequence<int, lanes>());
    return sums_of_lanes<backwards, 2 * step>(v + moved);
  }
}

/// The sums of one run, a register at a time, in double; gives the sum so far and changes n to what is left. Only one
/// addition of a register waits for the register before.
template <bool backwards, class E>
double accumulate_lanes(const E* from, E* to, std::int64_t& n) {
  using V = number::Vec<double>;
  using R = number::Rep<number::Vec<E>>;
  constexpr int lanes = number::lane_bytes / 8;
  V sum{};
  const auto join = [&](V v) __attribute__((always_inline)) {
    const V near = sums_of_lanes<backwards>(v), all = sum + near;
    const auto whole = [&]<int... I>(std::integer_sequence<int, I...>) __attribute__((always_inline)) {
      return __builtin_shufflevector(near, near, (I * 0 + (backwards ? 0 : lanes - 1))...);
    }(std::make_integer_sequence<int, lanes>());
    sum += whole;
    return all;
  };
  std::int64_t at = backwards ? n - R::lanes : 0;
  for (; n >= R::lanes; n -= R::lanes, at += backwards ? -R::lanes : R::lanes) {
    const auto x = R::load(from + at);
    if constexpr (std::same_as<E, double>) {
      R::store(to + at, join(x));
    } else {
      auto wide = number::detail_lanes::widen(x);
      if (backwards)
        wide.high = join(wide.high), wide.low = join(wide.low);
      else
        wide.low = join(wide.low), wide.high = join(wide.high);
      R::store(to + at, number::detail_lanes::narrow(wide));
    }
  }
  return sum[0];
}
#endif

/// Along an axis each element becomes the sum of those up to it, or from it on. Integers wrap; floating numbers lose no
/// more digits than their result has. Both may be the same memory.
template <class E>
void accumulate(const E* x, E* y, const AxisSplit& s, bool backwards) {
  using Sum = std::conditional_t<std::floating_point<E>, double, E>;
  const auto accumulate_places = [](const E* from, E* to, std::int64_t n, std::int64_t stride, Sum sum) {
    for (; n > 0; --n, from += stride, to += stride)
      *to = static_cast<E>(sum = AddStep::join(sum, static_cast<Sum>(*from)));
  };
  const std::int64_t grain = std::max<std::int64_t>(1, (1 << 15) / std::max<std::int64_t>(1, s.length * s.inner));
  parallel_for(s.outer, grain, [&](std::int64_t begin, std::int64_t end) {
    const std::int64_t stride = backwards ? -s.inner : s.inner;
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int64_t first = (i * s.length + (backwards ? s.length - 1 : 0)) * s.inner;
      if (s.inner == 1) {
        std::int64_t left = s.length;
        Sum sum = 0;
#if !defined(STROP_NO_LANES) && !defined(__CUDACC__)
        if constexpr (std::floating_point<E>) {
          const std::int64_t row = i * s.length;
          sum = backwards ? accumulate_lanes<true>(x + row, y + row, left)
                          : accumulate_lanes<false>(x + row, y + row, left);
        }
#endif
        const std::int64_t at = first + (s.length - left) * stride;
        accumulate_places(x + at, y + at, left, stride, sum);
        continue;
      }
      constexpr std::int64_t wide = 1024;  // sums of columns, which stay in the cache
      for (std::int64_t at = first; at < first + s.inner; at += wide) {
        const std::int64_t count = std::min(wide, first + s.inner - at);
        std::int64_t begin_of_rest = 0;
        if constexpr (std::floating_point<E>) {
          alignas(64) E sums[wide] = {}, lost[wide] = {};
          begin_of_rest = count - count % number::Rep<number::Vec<E>>::lanes;
          for (std::int64_t step = 0; step < s.length && begin_of_rest > 0; ++step)
            accumulate_row(x + at + step * stride, y + at + step * stride, sums, lost, begin_of_rest);
        }
        for (std::int64_t j = at + begin_of_rest; j < at + count; ++j)
          accumulate_places(x + j, y + j, s.length, stride, Sum(0));
      }
    }
  });
}

/// y = x, converted where the types differ, accumulated along `axis` or, without one, as one row.
template <class E>
void accumulate(const NDArray& x, View<E> y, std::optional<int> axis, bool backwards) {
  if (y.size() == 0) return;
  const bool same = x.dtype() == dtype_of<E>;
  if (!same) convert_elements(x.dtype(), x.bytes(), dtype_of<E>, y.data(), y.size());
  const std::int64_t row[] = {y.size()};
  accumulate(same ? x.pointer<const E>() : y.data(), y.data(), axis ? AxisSplit(x.shape(), *axis) : AxisSplit(row, 0),
             backwards);
}

}  // namespace STROP_ISA

}  // namespace detail

template <class E>
  requires Real<E> || (std::integral<E> && !std::same_as<E, bool>)
inline void Cumsum::forward(Cpu&, const NDArray& a, View<E> y) const {
  detail::accumulate(a, y, axis, false);
}

template <class E>
  requires Real<E> || (std::integral<E> && !std::same_as<E, bool>)
inline void Cumsum::grad_use_none(Cpu&, const NDArray& dy, View<E> da) const {
  detail::accumulate(dy, da, axis, true);
}

}  // namespace strop::inline v0
