// SPDX-License-Identifier: Apache-2.0
// The reductions of kernels/reduce.cuh, on the emulator, give what the operators give on the CPU.
#include <strop/strop.hpp>

#include "gpu_once.hpp"

#include "../../kernels/reduce.cuh"

#include <strop/cuda/emulate.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace {

using namespace strop;
using cuda::ReduceShape;

/// n elements at a multiple of 16 bytes, or one element behind it.
template <class X>
struct Memory {
  std::vector<cuda::Pack<X>> packs;
  X* data;
  Memory(std::int64_t n, bool aligned) : packs(static_cast<std::size_t>(n / cuda::Pack<X>::size + 2)) {
    data = &packs[0].e[0] + (aligned ? 0 : 1);
  }
};

struct Way {
  bool add = false, aligned = true;
  std::int64_t fill = 1 << 18;
};

/// The kernels' results; with `add`, of an array of threes.
template <class Y, class X, class Step>
std::vector<double> reduced(const Step& step, const NDArray& x, std::uint64_t mask, Way way) {
  const auto from = x.view<X>();
  const std::int64_t n = from.size();
  Memory<X> in(n, way.aligned);
  std::copy(from.begin(), from.end(), in.data);
  std::vector<std::int64_t> extents;
  for (int i = 0; i < x.ndim(); ++i) extents.push_back(x.shape()[i]);
  ReduceShape a;
  REQUIRE(a.set(extents.data(), x.ndim(), mask, cuda::Pack<X>::size, way.aligned, way.fill));
  const std::int64_t results = a.kept.count;
  std::vector<typename Step::State> parts(a.pieces > 1 ? static_cast<std::size_t>(results * a.pieces) : 0);
  std::vector<Y> y(static_cast<std::size_t>(results), cuda::element_of<Y>(3.0F));
  cuda::run_reduce<X, Y>(step, a, {in.data, n}, {y.data(), results},
                         {parts.data(), static_cast<std::int64_t>(parts.size())}, way.add,
                         [](const auto& kernel) { cuda::emulate(kernel, next_order()); });
  std::vector<double> values;
  for (const Y v : y) values.push_back(convert<double>(v));
  return values;
}

/// Equal to what half the digits of the type hold, and NaN where that is.
void same(const std::vector<double>& got, const NDArray& want, Way way) {
  const double digits = want.dtype() == f16 ? 2e-3 : want.dtype() == bf16 ? 1.6e-2 : want.dtype() == f64 ? 1e-12 : 1e-5;
  std::vector<double> expected = (way.add ? want + full(want.shape(), 3, want.dtype()) : want).to_vector<double>();
  REQUIRE(got.size() == expected.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (got[i] == expected[i] || (std::isnan(got[i]) && std::isnan(expected[i]))) continue;
    CAPTURE(i);
    CAPTURE(expected[i]);
    CHECK(std::abs(got[i] - expected[i]) <= digits * (1 + std::abs(expected[i])));
  }
}

NDArray numbers(const Shape& shape, Dtype dtype) {
  std::vector<float> x(static_cast<std::size_t>(shape.size()));
  for (std::size_t i = 0; i < x.size(); ++i) {
    const int k = static_cast<int>(i * 7 % 25) - 12;
    x[i] = dtype == u8          ? static_cast<float>(k + 12)
           : is_floating(dtype) ? 0.25F * static_cast<float>(k)
                                : static_cast<float>(k);
  }
  return array(x, shape).to(dtype);
}
Axes axes_of(int rank, std::uint64_t mask) {
  Shape axes;
  for (int i = 0; i < rank; ++i)
    if ((mask >> i & 1U) != 0) axes.push_back(i);
  return axes;
}
/// Whether there is nothing to choose from, which operators refuse.
bool chooses_from_nothing(const Shape& shape, std::uint64_t mask) {
  for (int i = 0; i < shape.ndim(); ++i)
    if ((mask >> i & 1U) != 0 && shape[i] == 0) return true;
  return false;
}

template <class X>
void sums_and_extremes(const NDArray& x, std::uint64_t mask, Way way) {
  const Axes axes = axes_of(x.ndim(), mask);
  same(reduced<X, X>(cuda::SumStep<X>(), x, mask, way), sum(x, {.axis = axes}), way);
  if (chooses_from_nothing(x.shape(), mask)) return;
  same(reduced<X, X>(cuda::ExtremeStep<X, true>(), x, mask, way), max(x, {.axis = axes}), way);
  same(reduced<X, X>(cuda::ExtremeStep<X, false>(), x, mask, way), min(x, {.axis = axes}), way);
}
/// Along one axis, or all; where the type holds them.
template <class X>
void positions(const NDArray& x, std::uint64_t mask, Way way) {
  if (chooses_from_nothing(x.shape(), mask) || x.size() > detail::positions_held(x.dtype())) return;
  for (int i = 0; i <= x.ndim(); ++i) {
    if (mask != (i < x.ndim() ? std::uint64_t{1} << i : (std::uint64_t{1} << x.ndim()) - 1)) continue;
    const std::optional<int> axis = i < x.ndim() ? std::optional(i) : std::nullopt;
    same(reduced<X, X>(cuda::PositionStep<X, true>(), x, mask, way), argmax(x, {.axis = axis}), way);
    same(reduced<X, X>(cuda::PositionStep<X, false>(), x, mask, way), argmin(x, {.axis = axis}), way);
    return;
  }
}
template <class X>
void floating_ones(const NDArray& x, std::uint64_t mask, Way way) {
  const Axes axes = axes_of(x.ndim(), mask);
  std::int64_t terms = 1;
  for (int i = 0; i < x.ndim(); ++i) terms *= (mask >> i & 1U) != 0 ? x.shape()[i] : 1;
  same(reduced<X, X>(cuda::MeanStep<X>(terms), x, mask, way), mean(x, {.axis = axes}), way);
  same(reduced<X, X>(cuda::LengthStep<X>(), x, mask, way), norm(x, {.axis = axes}), way);
  same(reduced<X, X>(cuda::MagnitudeStep<X>(), x, mask, way), norm(x, {.ord = 1, .axis = axes}), way);
  const NDArray near = x * 0.03 + 1;
  same(reduced<X, X>(cuda::ProductStep<X>(), near, mask, way), prod(near, {.axis = axes}), way);
}

const Shape shapes[] = {{1},    {7},    {0},       {1031},   {3, 5},       {5, 1, 9}, {4, 257},     {261, 6},
                        {0, 4}, {4, 0}, {2, 3, 4}, {16, 16}, {2, 3, 2, 5}, {3, 64},   {2, 1, 3, 1}, {1, 1}};
template <class F>
void each_reduction(Dtype dtype, F f) {
  for (const Shape& shape : shapes)
    for (std::uint64_t mask = 1; mask < std::uint64_t{1} << shape.ndim(); ++mask) {
      CAPTURE(to_text(shape));
      CAPTURE(mask);
      CAPTURE(name_of(dtype));
      const int k = shape.ndim() + static_cast<int>(mask);
      f(numbers(shape, dtype), mask, Way{k % 3 == 0, k % 2 == 0});
    }
}
template <class X>
void each_type(Dtype dtype) {
  each_reduction(dtype, [](const NDArray& x, std::uint64_t mask, Way way) {
    sums_and_extremes<X>(x, mask, way);
    positions<X>(x, mask, way);
    if constexpr (!std::integral<X>) floating_ones<X>(x, mask, way);
  });
}

}  // namespace

TEST_CASE("kernels of reductions give what the CPU gives: floating types" * once) {
  each_type<float>(f32);
  each_type<double>(f64);
  each_type<half>(f16);
  each_type<bfloat16>(bf16);
}
TEST_CASE("kernels of reductions give what the CPU gives: integers" * once) {
  each_type<std::int8_t>(i8);
  each_type<std::uint8_t>(u8);
  each_type<std::int32_t>(i32);
  each_type<std::int64_t>(i64);
  for (const Shape& shape : {Shape{40}, Shape{3, 7}}) {  // products wrap
    const NDArray x = numbers(shape, i8) + full(shape, 1, i8) + numbers(shape, i8) * 2;
    same(reduced<std::int8_t, std::int8_t>(cuda::ProductStep<std::int8_t>(), x, 1, {}),
         prod(x, {.axis = axes_of(x.ndim(), 1)}), {});
  }
}
TEST_CASE("results of many terms are joined from pieces" * once) {
  for (const std::int64_t fill : {1, 1 << 10, 1 << 18})
    for (const Shape& shape : {Shape{20011}, Shape{5000, 3}, Shape{3, 5000}, Shape{2, 3000, 5}})
      for (std::uint64_t mask = 1; mask < std::uint64_t{1} << shape.ndim(); ++mask) {
        if (shape.ndim() == 3 && mask != 2 && mask != 5) continue;
        CAPTURE(to_text(shape));
        CAPTURE(mask);
        CAPTURE(fill);
        const NDArray x = numbers(shape, f32);
        sums_and_extremes<float>(x, mask, {.aligned = mask != 2, .fill = fill});
        positions<float>(x, mask, {.add = true, .fill = fill});
      }
}
TEST_CASE("NaN, infinities, ties, overflow and underflow follow the rules of the CPU" * once) {
  constexpr float nan = std::numeric_limits<float>::quiet_NaN(), inf = std::numeric_limits<float>::infinity();
  std::vector<float> x(5 * 67, 1.0F);
  const auto at = [&](int row, int i) -> float& { return x[static_cast<std::size_t>(67 * row + i)]; };
  at(0, 30) = at(0, 66) = 5;   // ties
  at(1, 40) = at(1, 9) = nan;  // the first NaN is the largest, and the smallest
  at(2, 3) = inf, at(2, 50) = -inf;
  for (int i = 0; i < 67; ++i) at(3, i) = 3e38F, at(4, i) = 1e-30F;
  const NDArray rows = array(x, {5, 67});
  for (const bool columns : {false, true}) {
    const NDArray a = columns ? transpose(rows) : rows;
    const std::uint64_t mask = columns ? 1 : 2;
    for (const Way way : {Way{}, Way{.aligned = false}, Way{.fill = 1}}) {
      sums_and_extremes<float>(a, mask, way);
      positions<float>(a, mask, way);
      floating_ones<float>(a, mask, way);
      same(reduced<float, float>(cuda::SumStep<float, true>(), a, mask, way), nansum(a, {.axis = axes_of(2, mask)}),
           way);
      same(reduced<float, float>(cuda::ProductStep<float, true>(), a, mask, way),
           nanprod(a, {.axis = axes_of(2, mask)}), way);
    }
  }
  for (const double scale : {1e300, 1e-300, 1.0}) {  // squares that no double holds
    const NDArray big = numbers({3, 41}, f64) * scale;
    same(reduced<double, double>(cuda::LengthStep<double>(), big, 2, {}), norm(big, {.axis = axes_of(2, 2)}), {});
    same(reduced<double, double>(cuda::MeanStep<double>(41), big, 2, {}), mean(big, {.axis = axes_of(2, 2)}), {});
  }
}
TEST_CASE("a result that nobody asked for runs no kernel, and shapes are cut as they lie" * once) {
  ReduceShape a;
  const std::int64_t extents[] = {4, 1, 8};
  REQUIRE(a.set(extents, 3, 4, 4, true));
  CHECK((a.along && a.packed && a.kept.rank == 1 && a.terms.rank == 1));
  CHECK(cuda::Reduce<cuda::SumStep<float>, float, float, true, true>{{}, a, {}, {}, {}}.blocks() == 0);
  ReduceShape wide;  // more than 2^31 results on two axes
  const std::int64_t large[] = {60000, 2, 60000};
  REQUIRE(wide.set(large, 3, 2, 4, true));
  CHECK((wide.wide && !wide.packed && wide.group == 1 && wide.pieces == 1));
  CHECK(wide.kept.offset<true>(std::int64_t{60000} * 59999 + 7) == std::int64_t{120000} * 59999 + 7);
}
