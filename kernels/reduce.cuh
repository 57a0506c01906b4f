// SPDX-License-Identifier: Apache-2.0
/// \file
/// Reductions over any axes: groups of threads take the terms of a result in turns, and join what they have. The order
/// depends on shapes and alignment alone, so that two runs agree bit for bit.
#pragma once
#include "reduce_steps.cuh"

#include <strop/cuda/block.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace strop::inline v0::cuda {

/// Neighbouring axes that are kept, or that go, merged: a number becomes an offset in elements.
struct Digits {
  static constexpr int most = 17;  // kept and reduced axes take turns at most so often
  int rank = 0;
  std::int64_t count = 1;
  std::int64_t extents[static_cast<std::size_t>(most)] = {}, strides[static_cast<std::size_t>(most)] = {};

  template <bool Wide>
  constexpr std::int64_t offset(std::int64_t i) const {
    if (rank == 0) return 0;
    if (rank == 1) return i * strides[0];
    return walk(static_cast<std::conditional_t<Wide, std::uint64_t, std::uint32_t>>(i));
  }
  constexpr bool wide() const { return rank > 1 && count > INT32_MAX; }

 private:
  template <class I>  // divisions of 64 bits take several times as long
  constexpr std::int64_t walk(I i) const {
    std::int64_t at = 0;
    for (int axis = rank - 1; axis > 0; --axis) {
      const I extent = static_cast<I>(extents[axis]), next = i / extent;
      at += static_cast<std::int64_t>(i - next * extent) * strides[axis];
      i = next;
    }
    return at + static_cast<std::int64_t>(i) * strides[0];
  }
};

/// How a reduction of a dense array runs.
struct ReduceShape {
  Digits kept, terms;
  bool along = false;       // neighbouring threads take neighbouring terms, not neighbouring results
  bool wide = false;        // numbers of results or of terms are divided in 64 bits, which takes several times as long
  bool packed = false;      // terms lie one behind the other, and begin at multiples of 16 bytes
  int group = 1;            // threads of a block for a result, a power of two
  std::int64_t pieces = 1;  // groups for a result; their states are joined by FinishReduce where there are several
  std::int64_t piece = 0;   // terms of a piece

  /// Axes are merged where they can be; axis i goes where bit i of `mask` is set. `width`: elements of a pack;
  /// `aligned`: whether x begins at a multiple of 16 bytes; `fill`: as many threads as keep the device busy.
  /// False where kept and reduced axes take turns too often.
  constexpr bool set(const std::int64_t* extents, int rank, std::uint64_t mask, std::int64_t width, bool aligned,
                     std::int64_t fill = std::int64_t{1} << 18) {
    std::int64_t stride = 1;
    for (int i = 0; i < rank; ++i) stride *= extents[i];
    Digits* before = nullptr;
    for (int i = 0; i < rank; ++i) {
      Digits& d = (mask >> i & 1U) != 0 ? terms : kept;
      stride = extents[i] != 0 ? stride / extents[i] : 0;
      d.count *= extents[i];
      if (extents[i] == 1) continue;
      if (before == &d) {
        d.extents[d.rank - 1] *= extents[i];
      } else {
        if (d.rank == Digits::most) return false;
        d.extents[d.rank++] = extents[i];
      }
      d.strides[d.rank - 1] = stride;
      before = &d;
    }
    along = kept.rank == 0 || (terms.rank > 0 && terms.strides[terms.rank - 1] == 1);
    wide = kept.wide() || terms.wide();
    packed = along && aligned && !wide && terms.rank == 1 && terms.count >= width;
    for (int i = 0; i < kept.rank; ++i) packed = packed && kept.strides[i] % width == 0;
    const std::int64_t loads = packed ? terms.count / width : terms.count;
    const std::int64_t wanted = kept.count > 0 ? fill / kept.count : 1;
    const int widest = along ? 256 : wide ? 1 : 8;
    while (group < widest && (along || group * 4 < wanted) && group * 2 < loads) group *= 2;
    // A thread sums up at most 1024 terms, whose rounding errors do not grow much, and more where the device is busy.
    const std::int64_t least = (loads + group * 1024 - 1) / (group * 1024);
    pieces = wanted / group < least ? least : wanted / group;
    const std::int64_t most_pieces = (loads + group * 16 - 1) / (group * 16);  // of 16 turns at least
    if (pieces > most_pieces) pieces = most_pieces;
    if (pieces > 1024) pieces = 1024;
    if (pieces < 1 || kept.count > INT32_MAX / pieces) pieces = 1;
    piece = (loads + pieces - 1) / pieces * (packed ? width : 1);
    if (piece < 1) piece = 1;
    pieces = terms.count > piece ? (terms.count + piece - 1) / piece : 1;
    return true;
  }
};

/// Result o becomes v, or grows by it.
template <class Y, class R>
constexpr void put_result(const Global<Y>& y, std::int64_t o, R v, bool add) {
  if constexpr (std::integral<R>)
    y[o] = element_of<Y>(add ? plus(number_of<R>(y[o]), v) : v);
  else
    y[o] = element_of<Y>(add ? number_of<R>(y[o]) + v : v);
}

/// y[o] = the join of the terms of result o. `Along` and `Packed` are those of the shape. y without memory: nobody
/// asked.
template <class Step, class X, class Y, bool Along, bool Packed, bool Wide = false>
struct Reduce {
  using State = typename Step::State;
  static constexpr int threads = 256;
  struct Memory {
    Shared<State, Along ? threads / 32 : threads> states;
  };
  Step step;
  ReduceShape a;
  Global<const X> x;
  Global<Y> y;
  Global<State> parts;  // results × pieces, where there are several
  bool add = false;

  constexpr std::int64_t groups() const { return a.kept.count * a.pieces; }
  /// Blocks take further groups in turns where a grid does not have as many.
  constexpr std::int64_t blocks() const {
    const std::int64_t in_block = threads / a.group, n = (groups() + in_block - 1) / in_block;
    return !y ? 0 : n < INT32_MAX ? n : INT32_MAX;
  }

  constexpr void operator()(auto& block, auto& memory) const {
    const int in_block = threads / a.group;
    const int mine = Along ? block.thread() / a.group : block.thread() % in_block;
    const int turn = Along ? block.thread() % a.group : block.thread() / in_block;
    for (std::int64_t first = block.index() * in_block; first < groups(); first += block.blocks() * in_block) {
      const std::int64_t g = first + mine;
      // Neighbouring groups of a row read what lies together; of columns, neighbouring results do.
      std::int64_t o = g, p = 0;
      if (a.pieces > 1) {
        const std::uint32_t n = static_cast<std::uint32_t>(g);
        const std::uint32_t by = static_cast<std::uint32_t>(Along ? a.pieces : a.kept.count);
        o = Along ? n / by : n % by;
        p = Along ? n % by : n / by;
      }
      State s = step.neutral();
      if (g < groups()) s = taken(o, p, turn);
      s = joined(block, memory, s);
      if (g >= groups() || turn != 0) continue;
      if (a.pieces == 1)
        put_result(y, o, step.result(s), add);
      else
        parts[o * a.pieces + p] = s;
    }
  }

 private:
  /// The terms of a piece that are this thread's.
  constexpr State taken(std::int64_t o, std::int64_t p, int turn) const {
    constexpr std::int64_t width = Packed ? Pack<X>::size : 1;
    const std::int64_t base = a.kept.template offset<Wide>(o), begin = p * a.piece;
    const std::int64_t end = begin + a.piece < a.terms.count ? begin + a.piece : a.terms.count;
    const std::int64_t stride = a.group * width, whole = Packed ? end - (end - begin) % width : end;
    std::int64_t t = begin + turn * width;
    State total = step.neutral();
    while (t < whole) {  // in stretches of 32 loads, so that sums keep their digits
      State part = step.neutral();
      for (int k = 0; k < 8 && t < whole; ++k) {
        if (t + 3 * stride < whole) {  // four loads on their way
          take<4>(part, base, t, stride);
          t += 4 * stride;
        } else {
          take<1>(part, base, t, stride);
          t += stride;
        }
      }
      total = step.join(total, part);
    }
    if (Packed)
      for (std::int64_t i = whole + turn; i < end; i += a.group) total = step.join(total, step.of(x[base + i], i));
    return total;
  }
  template <int N>
  constexpr void take(State& part, std::int64_t base, std::int64_t t, std::int64_t stride) const {
    if constexpr (Packed) {
      Pack<X> v[N];
      for (int j = 0; j < N; ++j) v[j] = x.load(base + t + j * stride);
      for (int j = 0; j < N; ++j)
        for (int e = 0; e < Pack<X>::size; ++e) part = step.join(part, step.of(v[j].e[e], t + j * stride + e));
    } else {
      X v[N];
      for (int j = 0; j < N; ++j) v[j] = x[base + a.terms.template offset<Wide>(t + j * stride)];
      for (int j = 0; j < N; ++j) part = step.join(part, step.of(v[j], t + j * stride));
    }
  }

  /// The states of a group, in its first thread.
  constexpr State joined(auto& block, auto& memory, State s) const {
    if constexpr (Along) {
      for (int by = a.group < 32 ? a.group / 2 : 16; by > 0; by /= 2) s = step.join(s, shuffled_down(block, s, by));
      if (a.group <= 32) return s;
      block.sync();  // behind what the group before read
      if (block.lane() == 0) memory.states[block.warp()] = s;
      block.sync();
      const int warps = a.group / 32;
      if (block.thread() % a.group == 0)
        for (int w = 1; w < warps; ++w) {
          const State more = memory.states[block.warp() + w];
          s = step.join(s, more);
        }
    } else {
      if (a.group == 1) return s;
      block.sync();
      memory.states[block.thread()] = s;
      block.sync();
      const int in_block = threads / a.group;
      if (block.thread() < in_block)
        for (int k = 1; k < a.group; ++k) {
          const State more = memory.states[block.thread() + k * in_block];
          s = step.join(s, more);
        }
    }
    return s;
  }
};

/// y[o] = the join of the pieces of result o, by a warp.
template <class Step, class Y>
struct FinishReduce {
  using State = typename Step::State;
  static constexpr int threads = 128;
  struct Memory {};
  Step step;
  std::int64_t results, pieces;
  Global<const State> parts;
  Global<Y> y;
  bool add = false;

  constexpr std::int64_t blocks() const {
    const std::int64_t n = (results + threads / 32 - 1) / (threads / 32);
    return !y ? 0 : n < INT32_MAX ? n : INT32_MAX;
  }
  constexpr void operator()(auto& block, auto&) const {
    for (std::int64_t o = block.index() * (threads / 32) + block.warp(); o < results;
         o += block.blocks() * (threads / 32)) {
      State s = step.neutral();
      for (std::int64_t p = block.lane(); p < pieces; p += 32) s = step.join(s, parts[o * pieces + p]);
      for (int by = 16; by > 0; by /= 2) s = step.join(s, shuffled_down(block, s, by));
      if (block.lane() == 0) put_result(y, o, step.result(s), add);
    }
  }
};

/// Calls run(kernel) for the kernels of a reduction, one after the other. `parts` has room for results × pieces states
/// where the shape has several pieces.
template <class X, class Y, class Step, class Run>
void run_reduce(const Step& step, const ReduceShape& a, Global<const X> x, Global<Y> y,
                Global<typename Step::State> parts, bool add, const Run& run) {
  if (a.packed)
    run(Reduce<Step, X, Y, true, true>{step, a, x, y, parts, add});
  else if (a.wide)
    run(Reduce<Step, X, Y, true, false, true>{step, a, x, y, parts, add});
  else if (a.along)
    run(Reduce<Step, X, Y, true, false>{step, a, x, y, parts, add});
  else
    run(Reduce<Step, X, Y, false, false>{step, a, x, y, parts, add});
  if (a.pieces > 1) run(FinishReduce<Step, Y>{step, a.kept.count, a.pieces, {parts.data(), parts.size()}, y, add});
}

}  // namespace strop::inline v0::cuda
