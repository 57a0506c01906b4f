// SPDX-License-Identifier: Apache-2.0
/// \file
/// Bodies of the operators of ops/dropout.hpp, which only what builds their kernels reads.
#pragma once
#include <strop/engine/pool.hpp>
#include <strop/op/broadcast.hpp>
#include <strop/ops/dropout.hpp>
#include <strop/ops/dropout_factors_body.hpp>
#include <strop/ops/elementwise/broadcast.hpp>

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace strop::inline v0 {

inline bool Dropout::drops(bool train) const { return (train || mode == always) && p > 0; }

inline Resources Dropout::resources(std::span<const Shape>) const {
  return {.random = drops(detail::call_mode.training)};
}

template <Real E>
inline void Dropout::forward(Cpu& ctx, View<const E> x, View<E> y, View<E> mask) const {
  const bool drop = drops(ctx.train);
  const bool whole = mask.size() == x.size();
  const random::Stream stream = drop ? ctx.random() : random::Stream{};
  parallel_for(mask.size(), grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t at = begin; at < end; at += block) {
      const std::int64_t count = std::min(block, end - at);
      if (drop)
        detail::draw_dropout(stream.from(at), p, mask.data() + at, count);
      else
        std::fill(mask.data() + at, mask.data() + at + count, E(1));
      if (whole)
        for (std::int64_t i = at; i < at + count; ++i) y[i] = x[i] * mask[i];
    }
  });
  if (!whole) multiply<E>(x, mask, y);
}

template <Real E>
inline void Dropout::grad(Cpu&, Head<"output", View<const E>> dy, Out<"mask", View<const E>> mask,
                          Grad<"data", View<E>> dx) const {
  if (dx) multiply<E>(dy, mask, dx);
}

template <class Node>
inline std::vector<Node> Dropout::gradient_again(std::span<const Node> heads, std::span<const Node> in) const {
  return {broadcast_mul(heads[0], in[1])};
}

template <class E>
inline void Dropout::multiply(View<const E> x, View<const E> mask, View<E> y) {
  if (x.size() == mask.size()) return detail::multiply_dropout(x.data(), mask.data(), y.data(), x.size());
  const detail::StridedIterator walk = detail::StridedIterator::of(Shape(x.shape()), Shape(mask.shape()));
  parallel_for(x.size(), grain, [&](std::int64_t begin, std::int64_t end) {
    E factors[block];
    for (std::int64_t at = begin; at < end; at += block) {
      const std::int64_t count = std::min(block, end - at);
      detail::expand<E>(walk, mask.data(), factors, at, count);
      for (std::int64_t i = 0; i < count; ++i) y[at + i] = x[at + i] * factors[i];
    }
  });
}

}  // namespace strop::inline v0
