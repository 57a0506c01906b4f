// SPDX-License-Identifier: Apache-2.0
/// \file
/// How reductions run: every choice of axes of many shapes against plain loops, positions, NaN, walks over elements.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <strop/ops/reduce_kernels_body.hpp>
#include <vector>

namespace {

using namespace strop;
using namespace strop::detail;

/// The result's position of every element, by division.
std::vector<std::int64_t> targets(const Shape& shape, unsigned axes) {
  std::vector<std::int64_t> at(static_cast<std::size_t>(shape.size()));
  for (std::int64_t i = 0; i < shape.size(); ++i) {
    std::int64_t rest = i, step = 1, to = 0;
    for (int k = shape.ndim() - 1; k >= 0; --k) {
      if ((axes >> k & 1) == 0) {
        to += rest % shape[k] * step;
        step *= shape[k];
      }
      rest /= shape[k];
    }
    at[static_cast<std::size_t>(i)] = to;
  }
  return at;
}

Axes list(unsigned axes, int rank) {
  Shape chosen;
  for (int k = 0; k < rank; ++k)
    if ((axes >> k & 1) != 0) chosen.push_back(k);
  return Axes(chosen);
}

template <class Step, class E>
std::vector<E> reduced(const Shape& shape, const Axes& axes, const std::vector<E>& x, std::int64_t results) {
  std::vector<E> y(static_cast<std::size_t>(results), E(-7));
  Cpu ctx(cpu(), {}, false);
  const std::int64_t extents[] = {shape.size()}, out[] = {results};
  reduce<Step>(ctx, View<const E>(x.data(), extents), View<E>(y.data(), out), ReducePlan(shape, axes, false));
  return y;
}

const Shape shapes[] = {{1},        {7},        {64},       {1000},          {3, 5},       {5, 3},       {4, 40},
                        {33, 17},   {2, 3, 4},  {5, 1, 70}, {3, 20, 9},      {2, 3, 4, 5}, {1, 6, 1, 9}, {70000},
                        {3, 40000}, {40000, 3}, {600, 100}, {2, 3, 2, 3, 2}, {9, 2500}};

TEST_CASE("reductions over every choice of axes") {
  std::mt19937 random(3);
  for (const Shape& shape : shapes) {
    std::vector<double> x(static_cast<std::size_t>(shape.size()));
    for (double& v : x) v = static_cast<double>(static_cast<int>(random() % 2001) - 1000);  // sums are exact
    for (unsigned axes = 1; axes < 1U << shape.ndim(); ++axes) {
      const auto at = targets(shape, axes);
      std::int64_t results = 1;
      for (int k = 0; k < shape.ndim(); ++k) results *= (axes >> k & 1) != 0 ? 1 : shape[k];
      const auto n = static_cast<std::size_t>(results);
      std::vector<double> sums(n), largest(n, -1e9), smallest(n, 1e9);
      for (std::size_t i = 0; i < x.size(); ++i) {
        const auto k = static_cast<std::size_t>(at[i]);
        sums[k] += x[i];
        largest[k] = std::max(largest[k], x[i]);
        smallest[k] = std::min(smallest[k], x[i]);
      }
      const Axes a = list(axes, shape.ndim());
      INFO(to_text(shape), ", axes as bits ", axes);
      CHECK(reduced<AddStep>(shape, a, x, results) == sums);
      CHECK(reduced<MaxStep>(shape, a, x, results) == largest);
      CHECK(reduced<MinStep>(shape, a, x, results) == smallest);
      std::vector<std::int64_t> integers(x.begin(), x.end()), integer_sums(sums.begin(), sums.end());
      CHECK(reduced<AddStep>(shape, a, integers, results) == integer_sums);

      std::vector<std::int64_t> walked;
      bool in_order = true;
      each_reduced(ReducePlan(shape, a, false), shape.size(), [&](std::int64_t element, std::int64_t result) {
        in_order = in_order && element == static_cast<std::int64_t>(walked.size());
        walked.push_back(result);
      });
      CHECK(in_order);
      CHECK(walked == at);
    }
  }
}

template <bool Largest, class E>
void check_positions(std::int64_t outer, std::int64_t extent, std::int64_t inner, bool with_nan) {
  std::mt19937 random(5);
  std::vector<E> x(static_cast<std::size_t>(outer * extent * inner)), y(static_cast<std::size_t>(outer * inner));
  for (E& v : x) v = static_cast<E>(random() % 50);  // ties
  if constexpr (std::floating_point<E>)
    if (with_nan)
      for (E& v : x)
        if (random() % 99 == 0) v = std::numeric_limits<E>::quiet_NaN();
  const std::int64_t shape[] = {outer, extent, inner}, size[] = {outer * extent * inner}, out[] = {outer * inner};
  reduce_position<Largest>(ReducePlan(shape, Axes(1), false), View<const E>(x.data(), size), View<E>(y.data(), out));
  for (std::int64_t o = 0; o < outer; ++o)
    for (std::int64_t i = 0; i < inner; ++i) {
      const auto value = [&](std::int64_t r) { return x[static_cast<std::size_t>((o * extent + r) * inner + i)]; };
      const auto is_nan = [&](std::int64_t r) { return value(r) != value(r); };
      std::int64_t best = 0;
      for (std::int64_t r = 1; r < extent && !is_nan(best); ++r)
        if (is_nan(r) || (Largest ? value(r) > value(best) : value(r) < value(best))) best = r;
      if (y[static_cast<std::size_t>(o * inner + i)] != static_cast<E>(best)) {
        INFO(outer, " x ", extent, " x ", inner, " at ", o, ", ", i);
        REQUIRE(y[static_cast<std::size_t>(o * inner + i)] == static_cast<E>(best));
      }
    }
  CHECK(y.size() == static_cast<std::size_t>(outer * inner));
}

TEST_CASE("positions of the largest and the smallest") {
  for (const bool with_nan : {false, true})
    for (const std::int64_t inner : {1, 3, 8, 19, 300})
      for (const std::int64_t extent : {1, 2, 31, 64, 77, 1000}) {
        check_positions<true, float>(3, extent, inner, with_nan);
        check_positions<false, float>(3, extent, inner, with_nan);
        check_positions<true, double>(2, extent, inner, with_nan);
        check_positions<false, std::int32_t>(2, extent, inner, false);
      }
}

TEST_CASE("NaN comes out of max and min wherever it stands, and of no other element") {
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  for (const std::int64_t n : {3, 8, 40, 100, 1000})
    for (std::int64_t at = 0; at < n; at += n / 3) {
      std::vector<float> x(static_cast<std::size_t>(2 * n), 1.0f);
      x[static_cast<std::size_t>(n + at)] = nan;
      for (const bool along_rows : {true, false}) {
        const Shape shape = along_rows ? Shape{2, n} : Shape{2 * n / 2, 2};
        const auto y = reduced<MaxStep>(shape, Axes(along_rows ? 1 : 0), x, 2);
        const auto z = reduced<MinStep>(shape, Axes(along_rows ? 1 : 0), x, 2);
        const std::size_t hit = along_rows ? 1 : static_cast<std::size_t>((n + at) % 2);
        CHECK(std::isnan(y[hit]));
        CHECK(std::isnan(z[hit]));
        CHECK(y[1 - hit] == 1.0f);
        CHECK(z[1 - hit] == 1.0f);
      }
    }
}

TEST_CASE("a reduction of nothing gives the neutral element") {
  CHECK(reduced<AddStep>(Shape{0}, Axes(), std::vector<float>{}, 1) == std::vector<float>{0});
  CHECK(reduced<MultiplyStep>(Shape{0, 3}, Axes(0), std::vector<float>{}, 3) == std::vector<float>{1, 1, 1});
  CHECK(reduced<AddStep>(Shape{2, 0}, Axes(1), std::vector<float>{}, 2) == std::vector<float>{0, 0});
}

}  // namespace
