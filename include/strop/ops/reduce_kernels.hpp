// SPDX-License-Identifier: Apache-2.0
/// \file
/// How reductions run: axes merged to [outer, reduced, inner] passes, rows in lanes, work shared between threads.
#pragma once
#include <strop/core/params.hpp>
#include <strop/engine/pool.hpp>
#include <strop/number/lanes.hpp>
#include <strop/op/context.hpp>

#include <cmath>
#include <limits>
#include <vector>

namespace strop::inline v0::detail {

/// Which axes are reduced, checked and counted from 0. `op` names the operator in errors.
inline std::vector<bool> axis_mask(int rank, const Axes& axes, bool exclude, std::string_view op) {
  std::vector<bool> mask(static_cast<std::size_t>(rank), !axes.list || axes.list->ndim() == 0);
  if (axes.list && axes.list->ndim() != 0) {
    for (std::int64_t asked : *axes.list) {
      const std::int64_t axis = asked < 0 ? asked + rank : asked;
      if (axis < 0 || axis >= rank)
        fail(op, ": axis ", asked, " is outside an array of ", rank, rank == 1 ? " dimension" : " dimensions");
      if (mask[static_cast<std::size_t>(axis)]) fail(op, ": axis ", asked, " is given twice");
      mask[static_cast<std::size_t>(axis)] = true;
    }
    if (exclude) mask.flip();
  }
  return mask;
}

inline Shape reduced_shape(const Shape& in, const Axes& axes, bool keepdims, bool exclude, std::string_view op) {
  const std::vector<bool> mask = axis_mask(in.ndim(), axes, exclude, op);
  Shape out;
  for (int i = 0; i < in.ndim(); ++i) {
    if (!mask[static_cast<std::size_t>(i)])
      out.push_back(in[i]);
    else if (keepdims)
      out.push_back(1);
  }
  if (out.ndim() == 0) out.push_back(1);  // the original has no shape ()
  return out;
}

/// One pass: y[o, i] = step over r of x[o, r, i].
struct ReducePass {
  std::int64_t outer, reduced, inner;
};

struct ReducePlan {
  std::vector<ReducePass> passes;  // the innermost group of axes first
  std::int64_t reduced = 1;        // elements that go into one

  ReducePlan(std::span<const std::int64_t> shape, const Axes& axes, bool exclude) {
    const std::vector<bool> mask = axis_mask(static_cast<int>(shape.size()), axes, exclude, "reduce");
    std::int64_t inner = 1;
    for (std::size_t i = shape.size(); i-- > 0;) {
      if (!mask[i]) {
        inner *= shape[i];
        continue;
      }
      std::int64_t extent = shape[i];
      while (i > 0 && mask[i - 1]) extent *= shape[--i];
      std::int64_t outer = 1;
      for (std::size_t k = 0; k < i; ++k) outer *= shape[k];
      passes.push_back({outer, extent, inner});
      reduced *= extent;
    }
  }
};

template <class E>
concept Summable = Real<E> || std::same_as<E, std::int32_t> || std::same_as<E, std::int64_t>;

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
    return x * x;
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
    using Rep = number::Rep<R>;
    return Rep::select(a > b, a, Rep::select(a != a, a, b));
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
    using Rep = number::Rep<R>;
    return Rep::select(a < b, a, Rep::select(a != a, a, b));
  }
};

inline namespace STROP_ISA {

/// A contiguous row to one element. Later passes take partial results as they are: `Mapped` says that map was applied.
template <class Step, bool Mapped, class E>
E reduce_row(const E* x, std::int64_t n) {
  const auto mapped = []<class R>(R v) {
    if constexpr (Mapped)
      return v;
    else
      return Step::template map<R>(v);
  };
  E total = Step::template neutral<E>();
  std::int64_t i = 0;
  if constexpr (std::floating_point<E>) {
    using V = number::Vec<E>;
    using R = number::Rep<V>;
    constexpr std::int64_t L = R::lanes;
    if (n >= 4 * L) {
      V a[4];
      for (V& v : a) v = R::splat(Step::template neutral<E>());
      for (; i + 4 * L <= n; i += 4 * L)
        for (int k = 0; k < 4; ++k) a[k] = Step::template join<V>(a[k], mapped(R::load(x + i + k * L)));
      const V all = Step::template join<V>(Step::template join<V>(a[0], a[1]), Step::template join<V>(a[2], a[3]));
      E lanes[static_cast<std::size_t>(L)];
      R::store(lanes, all);
      for (E v : lanes) total = Step::template join<E>(total, v);
    }
  }
  for (; i < n; ++i) total = Step::template join<E>(total, mapped(x[i]));
  return total;
}

/// y[i] = join(y[i], x[i]) for a row.
template <class Step, bool Mapped, class E>
void join_row(E* y, const E* x, std::int64_t n) {
  std::int64_t i = 0;
  if constexpr (std::floating_point<E>) {
    using V = number::Vec<E>;
    using R = number::Rep<V>;
    for (; i + R::lanes <= n; i += R::lanes) {
      V v = R::load(x + i);
      if constexpr (!Mapped) v = Step::template map<V>(v);
      R::store(y + i, Step::template join<V>(R::load(y + i), v));
    }
  }
  for (; i < n; ++i) {
    E v = x[i];
    if constexpr (!Mapped) v = Step::template map<E>(v);
    y[i] = Step::template join<E>(y[i], v);
  }
}

template <class Step, bool Mapped, class E>
void reduce_pass(const E* x, E* y, const ReducePass& p) {
  if (p.inner == 1) {
    const std::int64_t rows = std::max<std::int64_t>(1, 32768 / std::max<std::int64_t>(1, p.reduced));
    if (p.outer != 1) {
      parallel_for(p.outer, rows, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t o = begin; o < end; ++o) y[o] = reduce_row<Step, Mapped>(x + o * p.reduced, p.reduced);
      });
    } else if (p.reduced > 0) {
      // One long row: fixed chunks, so that the result does not depend on the number of threads.
      constexpr std::int64_t chunk = 1 << 16;
      const std::int64_t chunks = (p.reduced + chunk - 1) / chunk;
      std::vector<E> partial(static_cast<std::size_t>(chunks));
      parallel_for(chunks, 2, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t c = begin; c < end; ++c)
          partial[static_cast<std::size_t>(c)] =
              reduce_row<Step, Mapped>(x + c * chunk, std::min(chunk, p.reduced - c * chunk));
      });
      y[0] = reduce_row<Step, true>(partial.data(), chunks);
    } else {
      y[0] = Step::template neutral<E>();
    }
    return;
  }
  parallel_for(p.outer, std::max<std::int64_t>(1, 32768 / std::max<std::int64_t>(1, p.reduced * p.inner)),
               [&](std::int64_t begin, std::int64_t end) {
                 for (std::int64_t o = begin; o < end; ++o) {
                   E* row = y + o * p.inner;
                   for (std::int64_t i = 0; i < p.inner; ++i) row[i] = Step::template neutral<E>();
                   for (std::int64_t r = 0; r < p.reduced; ++r)
                     join_row<Step, Mapped>(row, x + (o * p.reduced + r) * p.inner, p.inner);
                 }
               });
}

template <class Step, class E>
void reduce(Cpu& ctx, View<const E> x, View<E> y, const ReducePlan& plan) {
  if (plan.passes.empty()) {
    for (std::int64_t i = 0; i < x.size(); ++i) y[i] = Step::template map<E>(x[i]);
    return;
  }
  const E* from = x.data();
  for (std::size_t k = 0; k < plan.passes.size(); ++k) {
    const ReducePass& pass = plan.passes[k];
    E* to = k + 1 == plan.passes.size() ? y.data() : ctx.temp<E>(pass.outer * pass.inner).data();
    if (k == 0)
      reduce_pass<Step, false>(from, to, pass);
    else
      reduce_pass<Step, true>(from, to, pass);
    from = to;
  }
}

}  // namespace STROP_ISA

/// Walks the elements x[…] in order with the position of the result that each goes to: f(element, result).
template <class F>
void each_reduced(const ReducePlan& plan, std::int64_t size, F f) {
  for (std::int64_t i = 0; i < size; ++i) {
    std::int64_t at = i;
    for (const ReducePass& p : plan.passes) {
      const std::int64_t inner = at % p.inner, outer = at / (p.inner * p.reduced);
      at = outer * p.inner + inner;
    }
    f(i, at);
  }
}

/// dx = factor · dy at the result of each element.
template <class E>
void spread(const ReducePlan& plan, std::span<const std::int64_t> shape, const E* dy, E* dx, E factor) {
  std::int64_t size = 1;
  for (std::int64_t extent : shape) size *= extent;
  if (plan.passes.size() == 1) {
    const ReducePass& p = plan.passes[0];
    for (std::int64_t o = 0; o < p.outer; ++o)
      for (std::int64_t r = 0; r < p.reduced; ++r) {
        E* to = dx + (o * p.reduced + r) * p.inner;
        const E* from = dy + o * p.inner;
        for (std::int64_t i = 0; i < p.inner; ++i) to[i] = factor * from[i];
      }
    return;
  }
  each_reduced(plan, size, [&](std::int64_t i, std::int64_t at) { dx[i] = factor * dy[at]; });
}

template <class E>
void spread_equal(const ReducePlan& plan, View<const E> x, View<const E> dy, View<const E> y, View<E> dx) {
  each_reduced(plan, x.size(), [&](std::int64_t i, std::int64_t at) { dx[i] = x[i] == y[at] ? dy[at] : E(0); });
}

template <class E>
void spread_product(const ReducePlan& plan, View<const E> x, View<const E> dy, View<const E> y, View<E> dx) {
  // Zeros among the factors: with one, only its own derivative is not zero; with more, none is.
  std::vector<int> zeros(static_cast<std::size_t>(y.size()));
  std::vector<E> others(static_cast<std::size_t>(y.size()), E(1));
  each_reduced(plan, x.size(), [&](std::int64_t i, std::int64_t at) {
    if (x[i] == 0)
      ++zeros[static_cast<std::size_t>(at)];
    else
      others[static_cast<std::size_t>(at)] *= x[i];
  });
  each_reduced(plan, x.size(), [&](std::int64_t i, std::int64_t at) {
    const int count = zeros[static_cast<std::size_t>(at)];
    if (x[i] == 0)
      dx[i] = count == 1 ? dy[at] * others[static_cast<std::size_t>(at)] : E(0);
    else
      dx[i] = count == 0 ? dy[at] * y[at] / x[i] : E(0);
  });
}

/// Position along the reduced axis of the largest (smallest) element; the first of equal ones.
template <bool Largest, class E>
void reduce_position(const ReducePlan& plan, View<const E> x, View<E> y) {
  if (plan.passes.empty()) {
    for (E& value : y) value = 0;
    return;
  }
  const ReducePass p = plan.passes[0];
  if (p.reduced == 0)
    fail(Largest ? "argmax" : "argmin", ": an axis without elements has no ", Largest ? "largest" : "smallest", " one");
  parallel_for(p.outer, std::max<std::int64_t>(1, 16384 / std::max<std::int64_t>(1, p.reduced * p.inner)),
               [&](std::int64_t begin, std::int64_t end) {
                 for (std::int64_t o = begin; o < end; ++o)
                   for (std::int64_t i = 0; i < p.inner; ++i) {
                     const E* from = x.data() + o * p.reduced * p.inner + i;
                     E best = from[0];
                     std::int64_t at = 0;
                     for (std::int64_t r = 1; r < p.reduced; ++r) {
                       const E value = from[r * p.inner];
                       if (Largest ? value > best : value < best) best = value, at = r;
                     }
                     y[o * p.inner + i] = static_cast<E>(at);
                   }
               });
}

}  // namespace strop::inline v0::detail
