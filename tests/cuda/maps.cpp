// SPDX-License-Identifier: Apache-2.0
/// \file
/// The kernels of maps by themselves: index arithmetic, packs and tails, sums.
#include "shim.hpp"

#include <cmath>
#include <vector>

namespace {

using namespace strop;
using cuda::MapLayout;
using cuda::MapPacks;

struct Quadratic {
  float a = 0, b = 0, c = 0;
  constexpr auto forward(auto x) const { return (a * x + b) * x + c; }
};
struct Times {
  constexpr auto forward(auto x, auto y) const { return x * y; }
};

std::vector<float> numbers(int n, float from) {
  std::vector<float> x(static_cast<std::size_t>(n));
  for (int i = 0; i < n; ++i) x[static_cast<std::size_t>(i)] = from + 0.37F * static_cast<float>(i % 11);
  return x;
}
template <class Kernel>
void run(const Kernel& kernel, std::int64_t threads) {
  for (std::int64_t thread = 0; thread < threads; ++thread) kernel(thread, threads);
}
/// The layout of x · y on these shapes.
MapLayout<2, 1> layout(const Shape& a, const Shape& b, const Shape& common, const Shape& result) {
  static const Entry entry;
  const detail::MapOperand in[] = {{nullptr, f32, a}, {nullptr, f32, b}}, out[] = {{nullptr, f32, result}};
  return cuda::layout_of<2, 1>({entry, nullptr, f32, common, in, out});
}

}  // namespace

TEST_CASE("threads that do not divide the elements visit each of them once") {
  alignas(16) float x[1000], y[1001];
  for (int i = 0; i < 1000; ++i) x[i] = 0.5F * static_cast<float>(i % 17);
  for (const std::int64_t n : {0, 1, 4, 999, 1000})
    for (const std::int64_t threads : {1, 7, 96, 4096}) {
      std::fill(std::begin(y), std::end(y), -1.0F);
      run(MapPacks<Quadratic, float, 1, 1>{{1, 2, 3}, {x}, {1}, {y}, {false}, n}, threads);
      for (std::int64_t i = 0; i < n; ++i) CHECK(y[i] == (x[i] + 2) * x[i] + 3);
      CHECK(y[n] == -1);
    }
}

TEST_CASE("add accumulates, a step of 0 is one element for all, no memory is 0 or nowhere") {
  alignas(16) float x[70], y[70];
  const float factor = 1.5F;
  for (int i = 0; i < 70; ++i) x[i] = 0.25F * static_cast<float>(i), y[i] = 10;
  run(MapPacks<Times, float, 2, 1>{{}, {x, &factor}, {1, 0}, {y}, {true}, 70}, 5);
  for (int i = 0; i < 70; ++i) CHECK(y[i] == 10 + 1.5F * x[i]);
  run(MapPacks<Times, float, 2, 1>{{}, {x, nullptr}, {1, 0}, {y}, {false}, 70}, 5);
  for (const float value : y) CHECK(value == 0);
  run(MapPacks<Times, float, 2, 1>{{}, {x, x}, {1, 1}, {nullptr}, {false}, 70}, 5);  // nothing to write
}

TEST_CASE("halves are computed in float and rounded once") {
  alignas(16) half x[19], y[19];
  for (int i = 0; i < 19; ++i) x[i] = half(0.1F * static_cast<float>(i));
  run(MapPacks<Quadratic, half, 1, 1>{{3, 0.3F, 1}, {x}, {1}, {y}, {false}, 19}, 2);
  for (int i = 0; i < 19; ++i) {
    const auto wide = static_cast<float>(x[i]);
    CHECK(y[i].bits == half((3 * wide + 0.3F) * wide + 1).bits);
  }
}

TEST_CASE("axes are merged where all operands allow it") {
  CHECK(layout({4, 5}, {4, 5}, {4, 5}, {4, 5}).rank == 1);
  CHECK(layout({4, 5}, {}, {4, 5}, {4, 5}).rank == 1);
  CHECK(layout({1, 1}, {1}, {1, 1}, {1, 1}).rank == 0);
  CHECK(layout({2, 3, 4}, {4}, {2, 3, 4}, {2, 3, 4}).rank == 2);
  CHECK(layout({2, 3, 4}, {2, 1, 4}, {2, 3, 4}, {2, 3, 4}).rank == 3);
  const auto a = layout({2, 1, 3}, {5, 1}, {2, 5, 3}, {2, 5, 3});
  CHECK(a.rank == 3);
  std::int64_t at[3] = {};
  a.locate(1 * 15 + 4 * 3 + 2, at);
  CHECK(at[0] == 5);
  CHECK(at[1] == 4);
  CHECK(at[2] == 29);
}

TEST_CASE("broadcast operands are moved by packs where the last axis allows it") {
  alignas(16) float x[96], y[96], result[97];
  const float* const start = x;
  for (int i = 0; i < 96; ++i) x[i] = 0.25F * static_cast<float>(i % 13), y[i] = 1 + 0.5F * static_cast<float>(i % 7);
  const auto at = [](const Shape& own, int i, int j) {
    return own == Shape{8} ? j : own == Shape{12, 1} ? i : own == Shape{1, 1} ? 0 : 8 * i + j;
  };
  for (const Shape& a : {Shape{12, 8}, Shape{12, 1}})
    for (const Shape& b : {Shape{8}, Shape{12, 8}, Shape{12, 1}, Shape{1, 1}})
      for (const bool add : {false, true}) {
        if (a == Shape{12, 1} && b != Shape{8} && b != Shape{12, 8}) continue;  // no operand goes along the last axis
        std::fill(std::begin(result), std::end(result), 10.0F);
        auto packs = layout(a, b, {12, 8}, {12, 8});
        packs.in[0] = x, packs.in[1] = y, packs.out[0] = result, packs.add[0] = add;
        CHECK(cuda::in_packs<float>(packs));
        CHECK(packs.n == 24);
        const int last = packs.rank - 1;
        run(cuda::MapRows<Times, float, 2, 1>{{}, packs, {packs.strides[last][0] == 0, packs.strides[last][1] == 0}},
            5);
        for (int i = 0; i < 12; ++i)
          for (int j = 0; j < 8; ++j) CHECK(result[8 * i + j] == (add ? 10 : 0) + x[at(a, i, j)] * y[at(b, i, j)]);
        CHECK(result[96] == 10);
      }
  auto narrow = layout({16, 6}, {6}, {16, 6}, {16, 6});  // 6 is no multiple of 4
  narrow.in[0] = x, narrow.in[1] = y, narrow.out[0] = result;
  CHECK(!cuda::in_packs<float>(narrow));
  auto shifted = layout({8, 8}, {8}, {8, 8}, {8, 8});
  shifted.in[0] = start + 1, shifted.in[1] = y, shifted.out[0] = result;
  CHECK(!cuda::in_packs<float>(shifted));
  auto smaller = layout({12, 8}, {8}, {12, 8}, {12, 1});  // a result that lacks an axis
  smaller.in[0] = x, smaller.in[1] = y, smaller.out[0] = result;
  CHECK(!cuda::in_packs<float>(smaller));
}

TEST_CASE("beyond 2^31 elements indices are of 64 bits") {
  const std::int64_t rows = 70000, columns = 80000, last = rows * columns - 1;
  const auto a = layout({rows, 1}, {1, columns}, {rows, columns}, {rows, columns});
  std::int64_t at[3] = {}, in[3] = {};
  a.locate(last, at);
  CHECK(at[0] == rows - 1);
  CHECK(at[1] == columns - 1);
  CHECK(at[2] == last);
  layout({rows, 1}, {1, columns}, {rows, columns}, {rows, 1}).locate_in(2, rows - 1, columns - 1, in);
  CHECK(in[0] == rows - 1);
  CHECK(in[1] == columns - 1);
  CHECK(in[2] == rows - 1);
}

TEST_CASE("a smaller result is the sum over the axes that it lacks, in any number of pieces") {
  const auto x = numbers(12, -2), y = numbers(5, 1);
  double want[12] = {};
  for (std::size_t i = 0; i < 12; ++i)
    for (const float v : y) want[i] += static_cast<double>(x[i] * v);
  for (const std::int64_t pieces : {1, 2, 5}) {
    std::vector<double> sums(60);
    std::vector<float> result(12, 100);
    auto a = layout({12, 1}, {5}, {12, 5}, {12, 1});
    a.in[0] = x.data(), a.in[1] = y.data(), a.out[0] = result.data(), a.add[0] = true;
    run(cuda::MapResult<Times, float, 2, 1>{{}, a, 0, 12, 5, pieces, pieces == 2, sums.data()}, 7);
    if (pieces > 1) run(cuda::FinishSums{sums.data(), 12, pieces, f32, result.data(), true}, 3);
    for (std::size_t i = 0; i < 12; ++i) CHECK(result[i] == doctest::Approx(100 + want[i]));
  }
}
