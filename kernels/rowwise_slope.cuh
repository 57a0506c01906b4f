// SPDX-License-Identifier: Apache-2.0
/// \file
/// Gradients of softmax and log_softmax along an axis, of a row by a warp, a block or a thread as in rowwise.cuh.
#pragma once
#include "rowwise.cuh"

#include <cmath>
#include <cstdint>

namespace strop::inline v0::cuda {

/// In `a` stands what forward gave as x, dx as y, and the factor as scale. softmax: dx = y · (dy − Σ dy · y) · scale;
/// log_softmax: dx = (dy − e^y · Σ dy) · scale. Behind the end of a row dx is 0.
template <bool Log, class Y, class X>
struct SoftmaxSlopes {
  using C = ComputeAs<Y>;
  SoftmaxRows<Y, X> a;
  Global<const Y> dy;

  constexpr C term(std::int64_t i) const {
    const C head = number_of<C>(dy[i]);
    if constexpr (Log)
      return head;
    else
      return head * number_of<C>(a.x[i]);
  }
  constexpr void put(std::int64_t i, bool counts, C sum) const {
    C result = 0;
    if (counts) {
      const C head = number_of<C>(dy[i]), y = number_of<C>(a.x[i]);
      if constexpr (Log)
        result = (head - std::exp(y) * sum) * a.scale;
      else
        result = y * (head - sum) * a.scale;
    }
    a.y[i] = element_of<X>(result);
  }
};

template <bool Log, class Y, class X>
struct SoftmaxSlopeWarps {
  using C = ComputeAs<Y>;
  static constexpr int threads = 128;
  struct Memory {};
  SoftmaxSlopes<Log, Y, X> s;

  constexpr std::int64_t blocks() const { return s.a.blocks_of(threads / 32); }
  constexpr void operator()(auto& block, auto&) const {
    for (std::int64_t row = block.index() * (threads / 32) + block.warp(); row < s.a.rows;
         row += block.blocks() * (threads / 32)) {
      const std::int64_t start = s.a.start(row), n = s.a.count(row);
      C sum = 0;
      for (std::int64_t i = block.lane(); i < n; i += 32) sum += s.term(start + i * s.a.inner);
      for (int with = 16; with > 0; with /= 2) sum += block.shuffle_xor(sum, with);
      for (std::int64_t i = block.lane(); i < s.a.length; i += 32) s.put(start + i * s.a.inner, i < n, sum);
    }
  }
};

template <bool Log, class Y, class X>
struct SoftmaxSlopeBlocks {
  using C = ComputeAs<Y>;
  static constexpr int threads = 256;
  struct Memory {
    Shared<C, threads / 32> sums;
  };
  SoftmaxSlopes<Log, Y, X> s;

  constexpr std::int64_t blocks() const { return s.a.blocks_of(1); }
  constexpr void operator()(auto& block, auto& memory) const {
    for (std::int64_t row = block.index(); row < s.a.rows; row += block.blocks()) {
      const std::int64_t start = s.a.start(row), n = s.a.count(row);
      C sum = 0;
      for (std::int64_t i = block.thread(); i < n; i += threads) sum += s.term(start + i * s.a.inner);
      for (int with = 16; with > 0; with /= 2) sum += block.shuffle_xor(sum, with);
      block.sync();  // behind what the row before read
      if (block.lane() == 0) memory.sums[block.warp()] = sum;
      block.sync();
      C total = 0;
      for (int w = 0; w < threads / 32; ++w) {
        const C more = memory.sums[w];
        total += more;
      }
      for (std::int64_t i = block.thread(); i < s.a.length; i += threads) s.put(start + i * s.a.inner, i < n, total);
    }
  }
};

template <bool Log, class Y, class X>
struct SoftmaxSlopeThreads {
  using C = ComputeAs<Y>;
  static constexpr int threads = 128;
  struct Memory {};
  SoftmaxSlopes<Log, Y, X> s;

  constexpr std::int64_t blocks() const { return s.a.blocks_of(threads); }
  constexpr void operator()(auto& block, auto&) const {
    for (std::int64_t row = block.index() * threads + block.thread(); row < s.a.rows; row += block.blocks() * threads) {
      const std::int64_t start = s.a.start(row), n = s.a.count(row);
      C sum = 0;
      for (std::int64_t i = 0; i < n; ++i) sum += s.term(start + i * s.a.inner);
      for (std::int64_t i = 0; i < s.a.length; ++i) s.put(start + i * s.a.inner, i < n, sum);
    }
  }
};

/// Calls run(kernel) for the kernel that suits the rows. dx may be the memory of dy where they have one type.
template <bool Log, class Y, class X, class Run>
void run_softmax_slopes(const SoftmaxSlopes<Log, Y, X>& s, const Run& run) {
  if (s.a.inner > 1)
    run(SoftmaxSlopeThreads<Log, Y, X>{s});
  else if (s.a.length <= 32 * 32)
    run(SoftmaxSlopeWarps<Log, Y, X>{s});
  else
    run(SoftmaxSlopeBlocks<Log, Y, X>{s});
}

}  // namespace strop::inline v0::cuda
