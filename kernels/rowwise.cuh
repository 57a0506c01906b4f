// SPDX-License-Identifier: Apache-2.0
/// \file
/// softmax and log_softmax along an axis: a warp has a row in registers, a block reads a longer one twice, and of rows
/// that do not lie together in memory each thread takes one.
#pragma once
#include "map_layout.cuh"

#include <strop/cuda/block.hpp>

#include <cmath>
#include <cstdint>
#include <limits>

namespace strop::inline v0::cuda {

/// Rows of `length` elements, `inner` apart, of outer × inner of them. `lengths` says, where it has memory, how many
/// elements of each row count; the others become 0. y without memory: nobody asked.
template <class X, class Y>
struct SoftmaxRows {
  using C = ComputeAs<X>;
  Global<const X> x;
  Global<Y> y;
  Global<const std::int64_t> lengths;
  std::int64_t rows, length, inner;
  C scale;  // softmax(scale · x)
  bool add;

  constexpr std::int64_t start(std::int64_t row) const { return row / inner * length * inner + row % inner; }
  constexpr std::int64_t count(std::int64_t row) const {
    if (!lengths) return length;
    const std::int64_t n = lengths[row];
    return n < 0 ? 0 : n > length ? length : n;
  }
  constexpr C at(std::int64_t i) const { return number_of<C>(x[i]) * scale; }
  constexpr void put(std::int64_t i, C v) const { y[i] = element_of<Y>(add ? number_of<C>(y[i]) + v : v); }
  constexpr std::int64_t blocks_of(std::int64_t in_block) const {
    const std::int64_t n = (rows + in_block - 1) / in_block;
    return !y || length == 0 ? 0 : n < INT32_MAX ? n : INT32_MAX;
  }
};

/// The largest element so far, and Σ e^(v − top). A sum is NaN where an element is, or is +∞, as in the CPU's two
/// passes.
template <class C>
struct ExpSum {
  C top = -std::numeric_limits<C>::infinity(), sum = 0;

  constexpr void take(C v) {
    if (v > top) {
      sum = sum * std::exp(top - v) + (v - v + C(1));  // NaN for +∞
      top = v;
    } else if (v != -std::numeric_limits<C>::infinity()) {
      sum += std::exp(v - top);
    }
  }
  constexpr void join(C other_top, C other_sum) {
    const C both = other_top > top ? other_top : top;
    if (top != -std::numeric_limits<C>::infinity()) sum *= std::exp(top - both);
    sum += other_top != -std::numeric_limits<C>::infinity() ? other_sum * std::exp(other_top - both) : other_sum;
    top = both;
  }
};

/// What every element of a row becomes.
template <bool Log, class C>
constexpr C softmax_value(C v, C top, C of_sum) {  // of_sum: log Σ, or 1 / Σ
  if constexpr (Log)
    return (v - top) - of_sum;
  else
    return std::exp(v - top) * of_sum;
}
template <bool Log, class C>
constexpr C softmax_factor(C sum) {
  if constexpr (Log)
    return std::log(sum);
  else
    return C(1) / sum;
}

/// A warp for a row of at most 32 · Items elements, which stay in its registers.
template <bool Log, class X, class Y, int Items>
struct SoftmaxWarps {
  using C = typename SoftmaxRows<X, Y>::C;
  static constexpr int threads = 128;
  struct Memory {};
  SoftmaxRows<X, Y> a;

  constexpr std::int64_t blocks() const { return a.blocks_of(threads / 32); }
  constexpr void operator()(auto& block, auto&) const {
    constexpr C lowest = -std::numeric_limits<C>::infinity();
    for (std::int64_t row = block.index() * (threads / 32) + block.warp(); row < a.rows;
         row += block.blocks() * (threads / 32)) {
      const std::int64_t start = a.start(row), n = a.count(row);
      C v[Items] = {};
      for (int k = 0; k < Items; ++k) {
        const std::int64_t i = block.lane() + 32 * k;
        v[k] = i < n ? a.at(start + i * a.inner) : lowest;
      }
      C top = lowest;
      for (int k = 0; k < Items; ++k) top = v[k] > top ? v[k] : top;
      for (int with = 16; with > 0; with /= 2) {
        const C other = block.shuffle_xor(top, with);
        top = other > top ? other : top;
      }
      C sum = 0;
      for (int k = 0; k < Items; ++k) {
        const bool counts = block.lane() + 32 * k < n;
        if (Log)
          sum += counts ? std::exp(v[k] - top) : C(0);
        else
          sum += v[k] = counts ? std::exp(v[k] - top) : C(0);
      }
      for (int with = 16; with > 0; with /= 2) sum += block.shuffle_xor(sum, with);
      const C factor = softmax_factor<Log>(sum);
      for (int k = 0; k < Items; ++k) {
        const std::int64_t i = block.lane() + 32 * k;
        if (i >= a.length) continue;
        const C result = Log ? (v[k] - top) - factor : v[k] * factor;
        a.put(start + i * a.inner, i < n ? result : C(0));
      }
    }
  }
};

/// A block for a row: once through it for its largest element and its sum, once more for the results.
template <bool Log, class X, class Y>
struct SoftmaxBlocks {
  using C = typename SoftmaxRows<X, Y>::C;
  static constexpr int threads = 256;
  struct Memory {
    Shared<C, threads / 32> tops, sums;
  };
  SoftmaxRows<X, Y> a;

  constexpr std::int64_t blocks() const { return a.blocks_of(1); }
  constexpr void operator()(auto& block, auto& memory) const {
    for (std::int64_t row = block.index(); row < a.rows; row += block.blocks()) {
      const std::int64_t start = a.start(row), n = a.count(row);
      ExpSum<C> s;
      std::int64_t i = block.thread();
      for (; i + 3 * threads < n; i += 4 * threads) {  // four loads on their way
        C v[4] = {};
        for (int k = 0; k < 4; ++k) v[k] = a.at(start + (i + k * threads) * a.inner);
        for (int k = 0; k < 4; ++k) s.take(v[k]);
      }
      for (; i < n; i += threads) s.take(a.at(start + i * a.inner));
      for (int with = 16; with > 0; with /= 2) {
        const C top = block.shuffle_xor(s.top, with), sum = block.shuffle_xor(s.sum, with);
        s.join(top, sum);
      }
      block.sync();  // behind what the row before read
      if (block.lane() == 0) {
        memory.tops[block.warp()] = s.top;
        memory.sums[block.warp()] = s.sum;
      }
      block.sync();
      ExpSum<C> all;
      for (int w = 0; w < threads / 32; ++w) {
        const C top = memory.tops[w], sum = memory.sums[w];
        all.join(top, sum);
      }
      const C factor = softmax_factor<Log>(all.sum);
      for (i = block.thread(); i < a.length; i += threads) {
        const std::int64_t at = start + i * a.inner;
        a.put(at, i < n ? softmax_value<Log>(a.at(at), all.top, factor) : C(0));
      }
    }
  }
};

/// A thread for a row; neighbouring threads read what lies together, one element of each row.
template <bool Log, class X, class Y>
struct SoftmaxThreads {
  using C = typename SoftmaxRows<X, Y>::C;
  static constexpr int threads = 128;
  struct Memory {};
  SoftmaxRows<X, Y> a;

  constexpr std::int64_t blocks() const { return a.blocks_of(threads); }
  constexpr void operator()(auto& block, auto&) const {
    for (std::int64_t row = block.index() * threads + block.thread(); row < a.rows; row += block.blocks() * threads) {
      const std::int64_t start = a.start(row), n = a.count(row);
      ExpSum<C> s;
      for (std::int64_t i = 0; i < n; ++i) s.take(a.at(start + i * a.inner));
      const C factor = softmax_factor<Log>(s.sum);
      for (std::int64_t i = 0; i < a.length; ++i) {
        const std::int64_t at = start + i * a.inner;
        a.put(at, i < n ? softmax_value<Log>(a.at(at), s.top, factor) : C(0));
      }
    }
  }
};

/// Calls run(kernel) for the kernel that suits the rows. x and y may be the same memory where they have one type and
/// results are not added.
template <bool Log, class X, class Y, class Run>
void run_softmax_rows(const SoftmaxRows<X, Y>& a, const Run& run) {
  if (a.inner > 1)
    run(SoftmaxThreads<Log, X, Y>{a});
  else if (a.length <= 32 * 4)
    run(SoftmaxWarps<Log, X, Y, 4>{a});
  else if (a.length <= 32 * 32)
    run(SoftmaxWarps<Log, X, Y, 32>{a});
  else
    run(SoftmaxBlocks<Log, X, Y>{a});
}

}  // namespace strop::inline v0::cuda
