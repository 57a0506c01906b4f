// SPDX-License-Identifier: Apache-2.0
// The softmaxes of kernels/rowwise.cuh, on the emulator, give what the operators give on the CPU.
#include <strop/strop.hpp>

#include "gpu_once.hpp"

#include "../../kernels/rowwise.cuh"

#include <strop/cuda/emulate.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

namespace {

using namespace strop;

struct Case {
  Shape shape;
  int axis;
};
const Case cases[] = {{{1}, 0},      {{7}, 0},        {{0, 5}, 1},    {{5, 0}, 1},     {{3, 31}, 1}, {{2, 128}, 1},
                      {{3, 129}, 1}, {{1, 1024}, 1},  {{2, 1025}, 1}, {{2, 3001}, -1}, {{6, 4}, 0},  {{3, 5, 7}, 1},
                      {{131, 3}, 1}, {{2, 40, 3}, 1}, {{1, 1}, 0},    {{2, 3, 1}, 1}};

NDArray numbers(const Shape& shape, Dtype dtype) {
  std::vector<float> x(static_cast<std::size_t>(shape.size()));
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = 0.25F * static_cast<float>(static_cast<int>(i * 7 % 25) - 12);
  return array(x, shape).to(dtype);
}

/// As the kernel has it: results of an array of threes, where they are added.
template <bool Log, class X, class Y>
std::vector<double> rows(const NDArray& x, int axis, double scale, const std::vector<std::int64_t>& lengths, bool add) {
  const cuda::Emulation how = next_order();
  const auto from = x.view<X>();
  const int at = axis < 0 ? axis + x.ndim() : axis;
  std::int64_t inner = 1;
  for (int i = at + 1; i < x.ndim(); ++i) inner *= x.shape()[i];
  const std::int64_t length = x.shape()[at];
  std::vector<Y> y(static_cast<std::size_t>(from.size()), cuda::element_of<Y>(3.0F));
  using Rows = cuda::SoftmaxRows<X, Y>;
  const Rows a{{from.data(), from.size()},
               {y.data(), from.size()},
               {lengths.empty() ? nullptr : lengths.data(), static_cast<std::int64_t>(lengths.size())},
               length == 0 ? 0 : from.size() / length,
               length,
               inner,
               static_cast<typename Rows::C>(scale),
               add};
  cuda::run_softmax_rows<Log>(a, [&](const auto& kernel) { cuda::emulate(kernel, how); });
  std::vector<double> values;
  for (const Y v : y) values.push_back(convert<double>(v));
  return values;
}

void same(const std::vector<double>& got, const NDArray& want, bool add) {
  const double digits = want.dtype() == f16 ? 2e-3 : want.dtype() == bf16 ? 1.6e-2 : want.dtype() == f64 ? 1e-12 : 1e-5;
  const auto expected = (add ? want + full(want.shape(), 3, want.dtype()) : want).to_vector<double>();
  REQUIRE(got.size() == expected.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (got[i] == expected[i] || (std::isnan(got[i]) && std::isnan(expected[i]))) continue;
    CAPTURE(i);
    CAPTURE(expected[i]);
    CHECK(std::abs(got[i] - expected[i]) <= digits * (1 + std::abs(expected[i])));
  }
}

template <class X>
void each_case(Dtype dtype) {
  for (const auto& [shape, axis] : cases)
    for (const bool add : {false, true}) {
      CAPTURE(to_text(shape));
      CAPTURE(axis);
      CAPTURE(name_of(dtype));
      const NDArray x = numbers(shape, dtype);
      same(rows<false, X, X>(x, axis, 1, {}, add), softmax(x, {.axis = axis}), add);
      same(rows<true, X, X>(x, axis, 0.5, {}, add), log_softmax(x, {.axis = axis, .temperature = 2}), add);
      if (!add) same(rows<false, X, X>(x, axis, -1, {}, add), softmin(x, {.axis = axis}), add);
    }
}

}  // namespace

TEST_CASE("kernels of softmax give what the CPU gives" * once) {
  each_case<float>(f32);
  each_case<double>(f64);
  each_case<half>(f16);
  each_case<bfloat16>(bf16);
}
TEST_CASE("a softmax of another type than its input" * once) {
  const NDArray x = numbers({3, 40}, f16);
  same(rows<false, half, float>(x, 1, 1, {}, false), softmax(x, {.dtype = f32}), false);
  same(rows<true, half, double>(x, 1, 1, {}, false), log_softmax(x, {.dtype = f64}).to(f32),
       false);  // it is computed in float
}
TEST_CASE("rows that end early" * once) {
  for (const auto& [shape, axis] : {Case{{4, 37}, 1}, Case{{4, 1030}, 1}, Case{{6, 4}, 0}}) {
    CAPTURE(to_text(shape));
    const std::vector<std::int64_t> lengths = {0, 5, 1000000, -3};
    const NDArray x = numbers(shape, f32), length = array(lengths, {4});
    same(rows<false, float, float>(x, axis, 1, lengths, false), softmax(x, length, {.axis = axis, .use_length = true}),
         false);
    same(rows<true, float, float>(x, axis, 1, lengths, true),
         log_softmax(x, length, {.axis = axis, .use_length = true}), true);
  }
}
TEST_CASE("infinities and NaN in a row are those of the CPU" * once) {
  constexpr float nan = std::numeric_limits<float>::quiet_NaN(), inf = std::numeric_limits<float>::infinity();
  for (const int n : {40, 1100})
    for (const bool columns : {false, true}) {
      std::vector<float> x(static_cast<std::size_t>(6 * n), 0.5F);
      const auto at = [&](int row, int i) -> float& { return x[static_cast<std::size_t>(n * row + i)]; };
      at(0, 3) = -inf, at(0, n - 1) = 2;
      at(1, 7) = inf;
      at(2, n - 2) = nan;
      for (int i = 0; i < n; ++i) at(3, i) = -inf, at(4, i) = 1e30F * static_cast<float>(i), at(5, i) = -200;
      const NDArray a = columns ? transpose(array(x, {6, n})) : array(x, {6, n});
      const int axis = columns ? 0 : 1;
      same(rows<false, float, float>(a, axis, 1, {}, false), softmax(a, {.axis = axis}), false);
      same(rows<true, float, float>(a, axis, 1, {}, false), log_softmax(a, {.axis = axis}), false);
    }
}
