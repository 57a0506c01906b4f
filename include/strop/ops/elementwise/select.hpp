// SPDX-License-Identifier: Apache-2.0
/// \file
/// Choosing: clip, where, and the sum of any number of arrays.
#pragma once
#include <strop/core/params.hpp>
#include <strop/engine/pool.hpp>
#include <strop/op/op.hpp>
#include <strop/ops/arithmetic.hpp>
#include <strop/ops/list.hpp>

#include <span>
#include <string_view>
#include <tuple>
#include <vector>

namespace strop::inline v0 {

/// clip: a_max where x > a_max, a_min where x < a_min, else x; NaN stays. On integers the bounds are truncated first. The
/// derivative is 1 within the bounds, themselves included, and 0 beyond. Error: a bound is missing. Example:
/// `clip(array({-1, 2, 9}), {.a_min = 0, .a_max = 5})` is [0, 2, 5].
struct Clip {
  Required<float> a_min{};
  Required<float> a_max{};

  static constexpr std::string_view name = "clip";
  static constexpr std::string_view aliases[] = {"_sparse_clip", "_npi_clip"};
  static constexpr Note notes[] = {{"a_min", "the least result"}, {"a_max", "the greatest result"}};
  static constexpr std::string_view doc =
      "a_max where x > a_max, a_min where x < a_min, else x; NaN stays. Floating and integer types; on integers the bounds "
      "are truncated first. The derivative is 1 within the bounds, themselves included, and 0 beyond. A sparse input keeps "
      "its storage where 0 is within the bounds. Example: clip(array({-1, 2, 9}), {.a_min = 0, .a_max = 5}) is [0, 2, 5].";
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

/// out[i] = condition[i] ? x[i] : y[i] in runs of `run` elements per condition; elements of `size` bytes are moved.
inline void choose_elements(const bool* condition, std::int64_t count, std::int64_t run, const std::byte* x, const std::byte* y, std::byte* out,
                            std::int64_t size) {
  constexpr std::int64_t grain = 1 << 16;
  const std::int64_t bytes = run * size;
  const auto one_by_one = [&]<class Bits>(Bits) {
    const auto* a = reinterpret_cast<const Bits*>(x);
    const auto* b = reinterpret_cast<const Bits*>(y);
    auto* to = reinterpret_cast<Bits*>(out);
    parallel_for(count, grain, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) to[i] = condition[i] ? a[i] : b[i];
    });
  };
  if (run == 1) {
    switch (size) {
      case 1: return one_by_one(std::uint8_t{});
      case 2: return one_by_one(std::uint16_t{});
      case 4: return one_by_one(std::uint32_t{});
      default: return one_by_one(std::uint64_t{});
    }
  }
  if (bytes == 0) return;
  parallel_for(count, grain / bytes + 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i)
      std::memcpy(out + i * bytes, (condition[i] ? x : y) + i * bytes, static_cast<std::size_t>(bytes));
  });
}

}  // namespace detail

/// where: x where the condition is not 0, else y. The condition has their shape and any type, or is a vector with an entry
/// for each of their rows (positions along the first axis). x and y have one shape and one type. The gradients are the head
/// gradient where the element was chosen and 0 elsewhere; the condition's is 0. Errors: other shapes. Sparse inputs are
/// computed densely. Example: `where(array({1, 0}), array({1, 2}), array({3, 4}))` is [1, 4].
struct Where {
  static constexpr std::string_view name = "where";
  static constexpr std::string_view aliases[] = {"_sparse_where", "_npi_where"};
  static constexpr std::string_view inputs[] = {"condition", "x", "y"};
  static constexpr Note notes[] = {{"condition", "of the shape of x, or a vector as long as its first axis"}, {"x", "taken where the condition is not 0"}, {"y", "taken elsewhere"}};
  static constexpr std::string_view doc =
      "x where the condition is not 0, else y. The condition has their shape and any type, or is a vector with an entry for "
      "each of their rows. x and y have one shape and one type, any. The gradients are the head gradient where the element "
      "was chosen and 0 elsewhere; the condition's is 0. Sparse inputs are computed densely. Example: "
      "where(array({1, 0}), array({1, 2}), array({3, 4})) is [1, 4].";
  static constexpr DtypeSet dtypes = any_dtype;

  void infer_shape(Shapes& shapes) const {
    shapes.set_in(2, shapes.in(1));
    shapes.set_in(1, shapes.in(2));
    shapes.set_out(0, shapes.in(1));
    shapes.set_in(1, shapes.out(0));
    shapes.set_in(2, shapes.out(0));
    const Shape &c = shapes.in(0), &x = shapes.in(1);
    if (!x.known() || !c.known()) return;
    if (c != x && !(c.ndim() == 1 && x.ndim() > 0 && c[0] == x[0]))
      shapes.fail(shapes.name_in(0), " has shape ", c, ", expected ", x, x.ndim() > 1 ? cat(" or ", Shape{x[0]}) : "", " like ", shapes.name_in(1));
  }
  void infer_type(Types& types) const {
    types.set_out(0, types.in(1) ? types.in(1) : types.in(2));
    types.set_in(1, types.out(0));
    types.set_in(2, types.out(0));
  }
  void forward(Cpu&, const NDArray& condition, const NDArray& x, const NDArray& y, NDArray& out) const {
    NDArray chosen = condition;
    if (condition.dtype() != boolean) {
      chosen = NDArray(condition.shape(), boolean);
      detail::convert_elements(condition.dtype(), condition.bytes(), boolean, chosen.bytes(), condition.size());
    }
    const std::int64_t count = condition.size();
    detail::choose_elements(chosen.pointer<bool>(), count, count == 0 ? 0 : x.size() / count, x.bytes(), y.bytes(), out.bytes(), size_of(x.dtype()));
  }
  /// Nothing is less than itself: a zero that no infinity spoils.
  auto gradient(const auto& dy, const auto& condition, const auto&, const auto&) const {
    const auto zero = dy < dy;
    return std::tuple(condition < condition, Op<Where, OnUse>{}(condition, dy, zero), Op<Where, OnUse>{}(condition, zero, dy));
  }
  /// On numbers: the choice itself.
  static constexpr auto on_numbers(auto c, auto x, auto y) {
    if constexpr (detail::is_mask<decltype(c)>) return where(c, x, y);
    else return where(c != 0, x, y);
  }
};

inline constexpr Op<Clip, OnUse> clip;
inline constexpr Op<Where, OnUse> where;

using SelectOps = OpList<Clip, Where>;

}  // namespace strop::inline v0
