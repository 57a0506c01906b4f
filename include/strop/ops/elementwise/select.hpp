// SPDX-License-Identifier: Apache-2.0
/// \file
/// Choosing: clip and where.
#pragma once
#include <strop/core/params.hpp>
#include <strop/engine/pool.hpp>
#include <strop/number/lanes.hpp>
#include <strop/op/map_sparse.hpp>
#include <strop/op/op.hpp>
#include <strop/ops/arithmetic.hpp>
#include <strop/ops/list.hpp>
#include <strop/tensor/merged.hpp>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <tuple>

namespace strop::inline v0 {

/// Error: a bound is missing.
struct Clip {
  Required<float> a_min{};
  Required<float> a_max{};

  static constexpr std::string_view name = "clip";
  static constexpr std::string_view aliases[] = {"_sparse_clip", "_npi_clip"};
  static constexpr Note notes[] = {{"a_min", "the least result"}, {"a_max", "the greatest result"}};
  static constexpr const char* doc =
      "a_max where x > a_max, a_min where x < a_min, else x; NaN stays. Floating and integer types; on integers the "
      "bounds "
      "are truncated first. The derivative is 1 within the bounds, themselves included, and 0 beyond. A sparse input "
      "keeps "
      "its storage where 0 is within the bounds. Example: clip(array({-1, 2, 9}), {.a_min = 0, .a_max = 5}) is [0, 2, "
      "5].";
  static constexpr DtypeSet dtypes = floating | integral;
  constexpr auto forward(auto x) const {
    const auto low = detail::like(x, *a_min), high = detail::like(x, *a_max);
    return where(x > high, high, where(x < low, low, x));
  }
};

namespace detail {

template <class M>
inline constexpr bool is_mask = std::is_same_v<M, bool>;
template <class S>
inline constexpr bool is_mask<number::Mask<S>> = true;

inline namespace STROP_ISA {

/// to[i] = condition[i] ≠ 0 ? a[i] : b[i]. A, of the size of the elements, only carries their bits.
template <class A>
void choose_lanes(const A* condition, const A* a, const A* b, A* to, std::int64_t count) {
  using R = number::Rep<number::Vec<A>>;
  std::int64_t i = 0;
  for (; i + R::lanes <= count; i += R::lanes)
    R::store(to + i, R::select(R::load(condition + i) != R::splat(0), R::load(a + i), R::load(b + i)));
  for (; i < count; ++i) std::memcpy(to + i, (condition[i] != 0 ? a : b) + i, sizeof(A));
}

/// Elements as wide as A, with a condition of any type, converted block by block.
template <class A>
void choose_wide(const NDArray& condition, const std::byte* x, const std::byte* y, std::byte* out) {
  constexpr std::int64_t grain = 1 << 15, block = 1024;
  const Dtype type = condition.dtype();
  parallel_for(condition.size(), grain, [&](std::int64_t begin, std::int64_t end) {
    A held[block];
    bool truth[block];
    for (std::int64_t at = begin; at < end; at += block) {
      const std::int64_t count = std::min(block, end - at);
      const std::byte* from = condition.bytes() + at * size_of(type);
      const A* chosen = reinterpret_cast<const A*>(from);
      if (type == f64 && dtype_of<A> == f32) {  // a tiny double is not zero
        convert_elements(type, from, boolean, truth, count);
        convert_elements(boolean, truth, f32, held, count);
        chosen = held;
      } else if (type != dtype_of<A>) {
        convert_elements(type, from, dtype_of<A>, held, count);
        chosen = held;
      }
      const auto offset = [at](const std::byte* p) { return reinterpret_cast<const A*>(p) + at; };
      choose_lanes(chosen, offset(x), offset(y), reinterpret_cast<A*>(out) + at, count);
    }
  });
}

}  // namespace STROP_ISA

/// Runs of `bytes` bytes for each condition: narrow elements, or whole rows.
inline void choose_runs(const bool* condition, std::int64_t count, std::int64_t bytes, const std::byte* x,
                        const std::byte* y, std::byte* out) {
  constexpr std::int64_t grain = 1 << 16;
  if (bytes == 0) return;
  parallel_for(count, grain / bytes + 1, [&](std::int64_t begin, std::int64_t end) {
    if (bytes == 1)
      for (std::int64_t i = begin; i < end; ++i) out[i] = condition[i] ? x[i] : y[i];
    else
      for (std::int64_t i = begin; i < end; ++i)
        detail::copy_bytes(out + i * bytes, (condition[i] ? x : y) + i * bytes, bytes);
  });
}

/// The same for a condition in CSR of the arrays' shape: y, but where it stores a number that is not zero.
inline void choose_stored(const NDArray& given, const NDArray& x, const NDArray& y, const NDArray& out) {
  const NDArray condition = merged(given);
  const std::int64_t size = size_of(x.dtype()), stored = condition.nnz();
  if (x.size() == 0) return;
  parallel_for(y.size() * size, 1 << 18, [from = y.bytes(), to = out.bytes()](std::int64_t begin, std::int64_t end) {
    copy_bytes(to + begin, from + begin, end - begin);
  });
  const NDArray truth(Shape{stored}, boolean), chosen(Shape{stored}, x.dtype());
  convert_elements(condition.dtype(), condition.bytes(), boolean, truth.bytes(), stored);
  const StoredPattern places = pattern_of(condition);
  choose_runs(truth.pointer<const bool>(), stored, size, values_at(x, places, x.shape(), csr).bytes(),
              values_at(y, places, x.shape(), csr).bytes(), chosen.bytes());
  scatter_values(chosen, places, out);
}

}  // namespace detail

/// The condition has their shape and any type, or is a vector with an entry for each of their rows (positions along the
/// first axis). Errors: other shapes.
struct Where {
  static constexpr std::string_view name = "where";
  static constexpr std::string_view aliases[] = {"_sparse_where", "_npi_where"};
  static constexpr std::string_view inputs[] = {"condition", "x", "y"};
  static constexpr Note notes[] = {{"condition", "of the shape of x, or a vector as long as its first axis"},
                                   {"x", "taken where the condition is not 0"},
                                   {"y", "taken elsewhere"}};
  static constexpr const char* doc =
      "x where the condition is not 0, else y. The condition has their shape and any type, or is a vector with an "
      "entry for "
      "each of their rows. x and y have one shape and one type, any. The gradients are the head gradient where the "
      "element "
      "was chosen and 0 elsewhere; the condition's is 0. CSR arrays give CSR, a CSR condition of dense ones dense. "
      "Example: "
      "where(array({1, 0}), array({1, 2}), array({3, 4})) is [1, 4].";
  static constexpr DtypeSet dtypes = any_dtype;

  constexpr void infer_shape(Shapes& shapes) const {
    shapes.set_in(2, shapes.in(1));
    shapes.set_in(1, shapes.in(2));
    shapes.set_out(0, shapes.in(1));
    shapes.set_in(1, shapes.out(0));
    shapes.set_in(2, shapes.out(0));
    const Shape &c = shapes.in(0), &x = shapes.in(1);
    if (!x.known() || !c.known()) return;
    if (c != x && !(c.ndim() == 1 && x.ndim() > 0 && c[0] == x[0]))
      shapes.fail(shapes.name_in(0), " has shape ", c, ", expected ", x, x.ndim() > 1 ? cat(" or ", Shape{x[0]}) : "",
                  " like ", shapes.name_in(1));
  }
  constexpr void infer_type(Types& types) const {
    types.set_out(0, types.in(1) ? types.in(1) : types.in(2));
    types.set_in(1, types.out(0));
    types.set_in(2, types.out(0));
  }
  /// A CSR condition costs its stored values, beside a copy of y; of CSR arrays alone the result has their places.
  constexpr bool infer_storage(Storages& s) const {
    if (s.in(0) == csr && s.in(1) == csr && s.in(2) == csr) return s.set_out(0, csr);
    return s.set_out(0, dense) && s.in(0) != row_sparse && s.in(1) == dense && s.in(2) == dense;
  }
  void forward(Cpu& ctx, const NDArray& condition, const NDArray& x, const NDArray& y, NDArray& out) const {
    if (x.storage() == csr) {  // a place for what x or y stores: elsewhere both are zero
      const NDArray a = detail::merged(x, true), b = detail::merged(y, true), c = detail::merged(condition, true);
      detail::StoredPattern places = detail::merge_patterns(detail::pattern_of(a), detail::pattern_of(b), false);
      const auto laid = [&](const NDArray& from) { return detail::values_at(from, places, x.shape(), csr); };
      detail::store_pattern(out, places);
      NDArray chosen = detail::view_as(out.data(), {out.stored()});
      return forward(ctx, laid(c), laid(a), laid(b), chosen);
    }
    if (condition.storage() == csr) return detail::choose_stored(condition, x, y, out);
    const std::int64_t count = condition.size(), size = size_of(x.dtype());
    if (count == x.size() && size == 4) return detail::choose_wide<float>(condition, x.bytes(), y.bytes(), out.bytes());
    if (count == x.size() && size == 8)
      return detail::choose_wide<double>(condition, x.bytes(), y.bytes(), out.bytes());
    const NDArray truth = condition.dtype() == boolean ? condition : NDArray(condition.shape(), boolean);
    if (!truth.is(condition))
      detail::convert_elements(condition.dtype(), condition.bytes(), boolean, truth.bytes(), count);
    detail::choose_runs(truth.pointer<bool>(), count, count == 0 ? 0 : x.size() / count * size, x.bytes(), y.bytes(),
                        out.bytes());
  }
  /// Nothing is less than itself: a zero that no infinity spoils.
  auto gradient(const auto& dy, const auto& condition, const auto&, const auto&) const {
    const auto zero = dy < dy;
    return std::tuple(condition < condition, Op<Where, OnUse>{}(condition, dy, zero),
                      Op<Where, OnUse>{}(condition, zero, dy));
  }
  /// On numbers: the choice itself.
  static constexpr auto on_numbers(auto c, auto x, auto y) {
    if constexpr (detail::is_mask<decltype(c)>)
      return where(c, x, y);
    else
      return where(c != 0, x, y);
  }
};

inline constexpr Op<Clip, OnUse> clip;
template <>
inline constexpr bool detail::reads_any_index<Where> = true;
template <>
inline constexpr bool detail::zero_unless_stored<Where> = true;
inline constexpr Op<Where, OnUse> where;

using SelectOps = OpList<Clip, Where>;

}  // namespace strop::inline v0
