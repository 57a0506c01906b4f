// SPDX-License-Identifier: Apache-2.0
/// \file
/// Bodies of the operators of ops/cumsum.hpp, which only what builds their kernels reads.
#pragma once
#include <strop/engine/pool.hpp>
#include <strop/ops/cumsum.hpp>
#include <strop/ops/reduce_kernels.hpp>
#include <strop/ops/reduce_kernels_body.hpp>
#include <strop/ops/softmax_kernels.hpp>
#include <strop/tensor/convert.hpp>

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <optional>

namespace strop::inline v0 {

namespace detail {

inline namespace STROP_ISA {

/// Along an axis each element becomes the sum of those up to it, or from it on. Integers wrap.
template <class E>
void accumulate(E* x, const AxisSplit& s, bool backwards) {
  const std::int64_t grain = std::max<std::int64_t>(1, (1 << 15) / std::max<std::int64_t>(1, s.length * s.inner));
  parallel_for(s.outer, grain, [&](std::int64_t begin, std::int64_t end) {
    const std::int64_t stride = backwards ? -s.inner : s.inner;
    for (std::int64_t i = begin; i < end; ++i) {
      E* to = x + (i * s.length + (backwards ? s.length - 1 : 0)) * s.inner;
      if (s.inner == 1) {  // the sum stays in a register
        E sum = 0;
        for (std::int64_t step = 0; step < s.length; ++step, to += stride) *to = sum = AddStep::join(sum, *to);
        continue;
      }
      for (std::int64_t step = 1; step < s.length; ++step, to += stride)
        for (std::int64_t j = 0; j < s.inner; ++j) to[stride + j] = AddStep::join(to[stride + j], to[j]);
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
