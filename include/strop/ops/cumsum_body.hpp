// SPDX-License-Identifier: Apache-2.0
/// \file
/// Bodies of the operators of ops/cumsum.hpp, which only what builds their kernels reads.
#pragma once
#include <strop/engine/pool.hpp>
#include <strop/number/lanes.hpp>
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

namespace strop::inline v0 {

namespace detail {

inline namespace STROP_ISA {

/// A row joins the sums of columns, whole registers, and becomes them. `lost` is what rounding took from the sums.
template <class E>
void accumulate_row(E* row, E* sums, E* lost, std::int64_t n) {
  using R = number::Rep<number::Vec<E>>;
  const auto or_zero = [](number::Vec<E> v) { return R::select(v == v, v, R::splat(0)); };  // of no finite numbers
  for (std::int64_t j = 0; j < n; j += R::lanes) {
    const auto x = R::load(row + j), sum = R::load(sums + j), next = sum + x, of_x = next - sum;
    const auto rest = R::load(lost + j) + or_zero((sum - (next - of_x)) + (x - of_x)), all = next + rest;
    R::store(sums + j, all), R::store(row + j, all);
    R::store(lost + j, or_zero(rest - (all - next)));
  }
}

/// Along an axis each element becomes the sum of those up to it, or from it on. Integers wrap; floating numbers lose no
/// more digits than their result has.
template <class E>
void accumulate(E* x, const AxisSplit& s, bool backwards) {
  using Sum = std::conditional_t<std::floating_point<E>, double, E>;
  const auto joined = [](Sum sum, E next) { return AddStep::join(sum, static_cast<Sum>(next)); };
  const std::int64_t grain = std::max<std::int64_t>(1, (1 << 15) / std::max<std::int64_t>(1, s.length * s.inner));
  parallel_for(s.outer, grain, [&](std::int64_t begin, std::int64_t end) {
    const std::int64_t stride = backwards ? -s.inner : s.inner;
    for (std::int64_t i = begin; i < end; ++i) {
      E* const first = x + (i * s.length + (backwards ? s.length - 1 : 0)) * s.inner;
      if (s.inner == 1) {  // the sum stays in a register
        Sum sum = 0;
        E* to = first;
        std::int64_t step = 0;
        if constexpr (std::floating_point<E>)
          for (; step + 4 <= s.length; step += 4, to += 4 * stride) {  // four are added up before they join the sum
            const E one = to[0], two = one + to[stride], three = two + to[2 * stride], four = three + to[3 * stride];
            to[0] = static_cast<E>(joined(sum, one)), to[stride] = static_cast<E>(joined(sum, two));
            to[2 * stride] = static_cast<E>(joined(sum, three));
            to[3 * stride] = static_cast<E>(sum = joined(sum, four));
          }
        for (; step < s.length; ++step, to += stride) *to = static_cast<E>(sum = joined(sum, *to));
        continue;
      }
      constexpr std::int64_t wide = 512;  // sums of columns, which stay in the cache
      for (std::int64_t at = 0; at < s.inner; at += wide) {
        const std::int64_t count = std::min(wide, s.inner - at);
        E* to = first + at;
        std::int64_t begin_of_rest = 0;
        if constexpr (std::floating_point<E>) {
          alignas(64) E sums[wide] = {}, lost[wide] = {};
          begin_of_rest = count - count % number::Rep<number::Vec<E>>::lanes;
          for (std::int64_t step = 0; step < s.length && begin_of_rest > 0; ++step)
            accumulate_row(to + step * stride, sums, lost, begin_of_rest);
        }
        for (std::int64_t j = begin_of_rest; j < count; ++j) {
          Sum sum = 0;
          E* place = to + j;
          for (std::int64_t step = 0; step < s.length; ++step, place += stride)
            *place = static_cast<E>(sum = joined(sum, *place));
        }
      }
    }
  });
}

/// y = x, converted, accumulated along `axis` or, without one, as one row.
template <class E>
void accumulate(const NDArray& x, View<E> y, std::optional<int> axis, bool backwards) {
  if (y.size() == 0) return;
  convert_elements(x.dtype(), x.bytes(), dtype_of<E>, y.data(), y.size());
  const std::int64_t row[] = {y.size()};
  accumulate(y.data(), axis ? AxisSplit(x.shape(), *axis) : AxisSplit(row, 0), backwards);
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
