// SPDX-License-Identifier: Apache-2.0
/// \file
/// Bodies of what is declared in ops/reduce_kernels.hpp, which only what builds their kernels reads.
#pragma once
#include <strop/core/list.hpp>
#include <strop/engine/pool.hpp>
#include <strop/number/lanes.hpp>
#include <strop/number/num.hpp>
#include <strop/ops/reduce_kernels.hpp>
#include <strop/ops/reduce_rows.hpp>

#include <array>
#include <concepts>
#include <cstdint>
#include <limits>
#include <span>

namespace strop::inline v0::detail {

/// dy, the gradient of a reduction of an array of shape `x`, in the shape that broadcasts to x: 1 for the axes that
/// went.
inline NDArray spread_shape(const NDArray& dy, const Shape& x, const Axes& axes, bool exclude, std::string_view op) {
  return view_as(dy, x.ndim() == 0 ? x : reduced_shape(x, axes, true, exclude, op));
}

/// One pass: y[o, i] = step over r of x[o, r, i].
struct ReducePass {
  std::int64_t outer, reduced, inner;
};

struct ReducePlan {
  static constexpr std::size_t most = 16;
  std::array<ReducePass, most> list;
  std::size_t count = 0;
  std::int64_t reduced = 1;  // elements that go into one

  ReducePlan(Span<const std::int64_t> shape, const Axes& axes, bool exclude) {
    const AxisMask mask = axis_mask(static_cast<int>(shape.size()), axes, exclude, "reduce");
    std::int64_t inner = 1;
    for (Index i = shape.size(); i-- > 0;) {
      if (!element(mask, i)) {
        inner *= shape[i];
        continue;
      }
      std::int64_t extent = shape[i];
      while (i > 0 && element(mask, i - 1)) extent *= shape[--i];
      std::int64_t outer = 1;
      for (Index k = 0; k < i; ++k) outer *= shape[k];
      if (count == most) fail("reduce: reduced and kept axes alternate more than ", most, " times");
      list[count++] = {outer, extent, inner};
      reduced *= extent;
    }
  }

  /// The innermost group of axes first.
  std::span<const ReducePass> passes() const { return {list.data(), count}; }
};

/// What the passes of a reduction do with elements of one type; all that is the same for every type is built once.
struct TypedPasses {
  void (*first)(const void* x, void* y, const ReducePass& pass);
  void (*next)(const void* x, void* y, const ReducePass& pass);
  void (*map)(const void* x, void* y, std::int64_t n);  // where no axis goes
  std::int64_t width;                                   // bytes of an element
};

inline void run_passes(const TypedPasses& passes, Cpu& ctx, const void* x, std::int64_t size, void* y,
                       const ReducePlan& plan) {
  if (plan.count == 0) return passes.map(x, y, size);
  for (std::size_t k = 0; k < plan.count; ++k) {
    const ReducePass& pass = plan.list[k];
    void* const to = k + 1 == plan.count ? y : ctx.temp<std::uint8_t>(pass.outer * pass.inner * passes.width).data();
    (k == 0 ? passes.first : passes.next)(x, to, pass);
    x = to;
  }
}

inline namespace STROP_ISA {

/// Rows to `inner` elements each: all of one register's lanes take turns at them, or there is one.
template <class Step, bool Mapped, class E>
void reduce_rows(const E* x, E* y, const ReducePass& p) {
  const std::int64_t length = p.reduced * p.inner;
  const auto reduce = [&]<bool mapped>(const E* from, std::int64_t n, E* to, std::bool_constant<mapped>) {
    if constexpr (std::floating_point<E>)
      if (p.inner != 1) return reduce_row<Step, mapped>(from, n, p.inner, to);
    *to = reduce_row<Step, mapped>(from, n);
  };
  if (p.outer != 1) {
    const std::int64_t rows = std::max<std::int64_t>(1, 32768 / std::max<std::int64_t>(1, length));
    return parallel_for(p.outer, rows, [&](std::int64_t begin, std::int64_t end) {
      if (p.inner == 1 && length < 16) {  // so short that a call would take as long
        for (std::int64_t o = begin; o < end; ++o) {
          E total = Step::template neutral<E>();
          for (const E *i = x + o * length, *const last = i + length; i != last; ++i)
            total = Step::template join<E>(total, contribution<Step, Mapped>(*i));
          y[o] = total;
        }
        return;
      }
      for (std::int64_t o = begin; o < end; ++o)
        reduce(x + o * length, length, y + o * p.inner, std::bool_constant<Mapped>{});
    });
  }
  if (length == 0) return std::fill(y, y + p.inner, Step::template neutral<E>());
  // One long row: fixed chunks, so that the result does not depend on the number of threads.
  constexpr std::int64_t chunk = 1 << 16;
  const std::int64_t chunks = (length + chunk - 1) / chunk;
  detail::List<E> partial(chunks * p.inner);
  parallel_for(chunks, 2, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t c = begin; c < end; ++c)
      reduce(x + c * chunk, std::min(chunk, length - c * chunk), partial.data() + c * p.inner,
             std::bool_constant<Mapped>{});
  });
  reduce(partial.data(), partial.size(), y, std::bool_constant<true>{});
}

template <class Step, bool Mapped, class E>
void reduce_pass(const E* x, E* y, const ReducePass& p) {
  if (p.outer * p.inner == 0) return;  // no results
  bool narrow = p.inner == 1;
  if constexpr (std::floating_point<E>)
    narrow = narrow || (p.inner < number::Rep<number::Vec<E>>::lanes && (p.inner & (p.inner - 1)) == 0);
  if (narrow) return reduce_rows<Step, Mapped>(x, y, p);
  if (p.reduced == 0) return std::fill(y, y + p.outer * p.inner, Step::template neutral<E>());
  // Stretches of the inner axis, so that there is work for all threads where little is outside. A column's sum is the
  // same whatever stretch it is in.
  std::int64_t wide = std::min<std::int64_t>(p.inner, 1024);
  while (wide >= 256 && p.outer * (p.inner / wide) < 2 * num_threads()) wide /= 2;
  const std::int64_t stretches = (p.inner + wide - 1) / wide;
  parallel_for(p.outer * stretches, std::max<std::int64_t>(1, 32768 / (p.reduced * wide)),
               [&](std::int64_t begin, std::int64_t end) {
                 for (std::int64_t k = begin; k < end; ++k) {
                   const std::int64_t o = k / stretches, at = k % stretches * wide;
                   join_rows<Step, Mapped>(y + o * p.inner + at, x + o * p.reduced * p.inner + at, p.inner, p.reduced,
                                           std::min(wide, p.inner - at));
                 }
               });
}

template <class Step, class E>
inline constexpr TypedPasses passes_of{[](const void* x, void* y, const ReducePass& pass) {
                                         reduce_pass<Step, !maps<Step>>(static_cast<const E*>(x), static_cast<E*>(y),
                                                                        pass);
                                       },
                                       [](const void* x, void* y, const ReducePass& pass) {
                                         reduce_pass<Step, true>(static_cast<const E*>(x), static_cast<E*>(y), pass);
                                       },
                                       [](const void* x, void* y, std::int64_t n) {
                                         for (std::int64_t i = 0; i < n; ++i)
                                           static_cast<E*>(y)[i] = Step::template map<E>(static_cast<const E*>(x)[i]);
                                       },
                                       size_of(dtype_of<E>)};

template <class Step, class E>
void reduce(Cpu& ctx, View<const E> x, View<E> y, const ReducePlan& plan) {
  run_passes(passes_of<Step, E>, ctx, x.data(), x.size(), y.data(), plan);
}

}  // namespace STROP_ISA

/// Walks the elements x[…] in order with the position of the result that each goes to: f(element, result).
template <class F>
void each_reduced(const ReducePlan& plan, std::int64_t size, F f) {
  if (size == 0) return;
  // Digits of an element's position, the fastest first: kept axes (of passes[k], within passes[k − 1]) and reduced ones
  // take turns. A kept digit steps through the results, a reduced one does not.
  constexpr std::size_t most = 2 * ReducePlan::most + 1;
  std::array<std::int64_t, most> extents, steps, at{};
  std::size_t digits = 0;
  std::int64_t before = 1;
  for (const ReducePass& p : plan.passes()) {
    extents[digits] = p.inner / before, steps[digits++] = before;
    extents[digits] = p.reduced, steps[digits++] = 0;
    before = p.inner;
  }
  extents[digits] = size / (before * plan.reduced), steps[digits++] = before;
  for (std::int64_t i = 0, to = 0; i < size;) {
    const std::size_t first = extents[0] == 1 && digits > 1 ? 1 : 0;  // the last axis may be a reduced one
    const std::int64_t count = extents[first], step = steps[first];
    if (step == 0)
      for (std::int64_t j = 0; j < count; ++j) f(i + j, to);
    else
      for (std::int64_t j = 0; j < count; ++j) f(i + j, to + j);
    i += count;
    for (std::size_t k = first + 1; k < digits; ++k) {
      to += steps[k];
      if (++at[k] < extents[k]) break;
      to -= extents[k] * steps[k];
      at[k] = 0;
    }
  }
}

/// dx = factor · dy at the result of each element.
template <class E>
void spread(const ReducePlan& plan, std::span<const std::int64_t> shape, const E* dy, E* dx, E factor) {
  std::int64_t size = 1;
  for (std::int64_t extent : shape) size *= extent;
  each_reduced(plan, size, [&](std::int64_t i, std::int64_t at) { dx[i] = factor * dy[at]; });
}

template <class E>
void spread_product(const ReducePlan& plan, View<const E> x, View<const E> dy, View<const E> y, View<E> dx) {
  // Zeros among the factors: with one, only its own derivative is not zero; with more, none is.
  detail::List<int> zeros(y.size());
  detail::List<E> others(y.size(), E(1));
  each_reduced(plan, x.size(), [&](std::int64_t i, std::int64_t at) {
    if (x[i] == 0)
      ++zeros[at];
    else
      others[at] *= x[i];
  });
  each_reduced(plan, x.size(), [&](std::int64_t i, std::int64_t at) {
    const int count = zeros[at];
    if (x[i] == 0)
      dx[i] = count == 1 ? dy[at] * others[at] : E(0);
    else
      dx[i] = count == 0 ? dy[at] * y[at] / x[i] : E(0);
  });
}

inline namespace STROP_ISA {

/// The first position of the largest (smallest) of n ≥ 1 elements, or of the first NaN where there is one.
template <bool Largest, class E>
std::int64_t position_in_row(const E* x, std::int64_t n) {
  const auto first_nan = [x](std::int64_t begin, std::int64_t end) {
    while (begin < end && x[begin] == x[begin]) ++begin;
    return begin;
  };
  const auto better = [](auto a, auto b) {
    if constexpr (Largest)
      return a > b;
    else
      return a < b;
  };
  E best = x[0];
  std::int64_t at = 0, i = 1;
  if constexpr (std::floating_point<E>) {
    using V = number::Vec<E>;
    using R = number::Rep<V>;
    constexpr std::int64_t L = R::lanes, step = 4 * L;
    // Every lane of four registers remembers its best value and the step that it is from, as a number of type E.
    constexpr std::int64_t chunk = std::int64_t{1} << 20;
    for (i = 0; i + step <= n;) {
      V now = R::splat(0);
      struct Found {
        V value, from, unordered;  // a NaN stays in its lane of `unordered`
      } found[4];
      for (Found& f : found) f = {R::splat(best), now, R::splat(0)};
      const auto take = [&](Found& f, V v, V from, auto yes) {
        f.value = R::select(yes, v, f.value);
        f.from = R::select(yes, from, f.from);
      };
      const auto look = [&](Found& f, const E* from) {
        const V v = R::load(from);
        f.unordered = R::select(v != v, v, f.unordered);
        take(f, v, now, better(v, f.value));
      };
      const std::int64_t begin = i, end = std::min(n, begin + chunk);
      for (; i + step <= end; i += step, now += E(step)) {
        look(found[0], x + i);
        look(found[1], x + i + L);
        look(found[2], x + i + 2 * L);
        look(found[3], x + i + 3 * L);
      }
      for (const Found& f : found)
        if (R::any(f.unordered != f.unordered)) return first_nan(begin, i);
      Found& all = found[0];
      for (int k = 1; k < 4; ++k) {
        const V v = found[k].value, from = found[k].from + static_cast<E>(k * L);
        take(all, v, from, better(v, all.value) | ((v == all.value) & (from < all.from)));
      }
      E value[unsigned_size(L)], place[unsigned_size(L)];
      R::store(value, all.value);
      R::store(place, all.from);
      E first = 0, largest = best;
      for (std::int64_t k = 0; k < L; ++k) {
        place[k] += static_cast<E>(k);
        const bool yes = better(value[k], largest) || (value[k] == largest && place[k] < first);
        largest = yes ? value[k] : largest;
        first = yes ? place[k] : first;
      }
      if (better(largest, best)) best = largest, at = begin + static_cast<std::int64_t>(first);
    }
  }
  for (; i < n; ++i) {
    if (x[i] != x[i]) return i;
    if (better(x[i], best)) best = x[i], at = i;
  }
  return at;
}

/// The same for n neighbouring columns of rows that are `stride` apart.
template <bool Largest, class E>
void positions_in_columns(const E* x, std::int64_t stride, std::int64_t rows, std::int64_t n, E* y) {
  const auto column = [&]<class V>(std::type_identity<V>, std::int64_t i) {
    using R = number::Rep<V>;
    V best = R::load(x + i), at = R::splat(E(0)), unordered = best;  // a NaN stays in its lane of `unordered`
    for (std::int64_t r = 1; r < rows; ++r) {
      const V value = R::load(x + r * stride + i);
      if constexpr (std::floating_point<E>) unordered = R::select(value != value, value, unordered);
      typename R::Mask better;
      if constexpr (Largest)
        better = value > best;
      else
        better = value < best;
      best = R::select(better, value, best);
      at = R::select(better, R::splat(static_cast<E>(r)), at);
    }
    R::store(y + i, at);
    if constexpr (std::floating_point<E>)
      if (R::any(unordered != unordered))
        for (std::int64_t k = i; k < i + R::lanes; ++k)
          for (std::int64_t r = 0; r < rows; ++r)
            if (const E value = x[r * stride + k]; value != value) {
              y[k] = static_cast<E>(r);
              break;
            }
  };
  std::int64_t i = 0;
  if constexpr (std::floating_point<E>) {
    using V = number::Vec<E>;
    for (; i + number::Rep<V>::lanes <= n; i += number::Rep<V>::lanes) column(std::type_identity<V>{}, i);
  }
  for (; i < n; ++i) column(std::type_identity<E>{}, i);
}

}  // namespace STROP_ISA

/// Position along the reduced axis of the largest (smallest) element; the first of equal ones.
template <bool Largest, class E>
void reduce_position(const ReducePlan& plan, View<const E> x, View<E> y) {
  if (plan.count == 0) {
    for (E& value : y) value = E(0);
    return;
  }
  const ReducePass p = plan.list[0];
  check_row<Largest>(Largest ? "argmax" : "argmin", dtype_of<E>, p.reduced);
  if (p.outer * p.inner == 0) return;
  if constexpr (!Summable<E>) {
    List<float> wide(x.size()), found(y.size());
    convert_elements(dtype_of<E>, x.data(), f32, wide.data(), x.size());
    reduce_position<Largest>(plan, View<const float>(wide.data(), x.shape()), View<float>(found.data(), y.shape()));
    return convert_elements(f32, found.data(), dtype_of<E>, y.data(), y.size());
  } else {
    const std::int64_t wide = std::min<std::int64_t>(p.inner, 256), stretches = (p.inner + wide - 1) / wide;
    parallel_for(p.outer * stretches, std::max<std::int64_t>(1, 16384 / std::max<std::int64_t>(1, p.reduced * wide)),
                 [&](std::int64_t begin, std::int64_t end) {
                   for (std::int64_t k = begin; k < end; ++k) {
                     const std::int64_t o = k / stretches, at = k % stretches * wide;
                     const E* from = x.data() + o * p.reduced * p.inner + at;
                     if (p.inner == 1)
                       y[o] = static_cast<E>(position_in_row<Largest>(from, p.reduced));
                     else
                       positions_in_columns<Largest>(from, p.inner, p.reduced, std::min(wide, p.inner - at),
                                                     y.data() + o * p.inner + at);
                   }
                 });
  }
}

}  // namespace strop::inline v0::detail
