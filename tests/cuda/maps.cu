// SPDX-License-Identifier: Apache-2.0
/// \file
/// Maps and their derived gradients as CUDA kernels: the threads run on the CPU under the shim, and on a GPU where
/// there is one.
#include "shim.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

namespace {

using strop::Gradient;
using strop::cuda::MapArguments;

struct Quadratic {
  float a = 0, b = 0, c = 0;
  constexpr auto forward(auto x) const { return (a * x + b) * x + c; }
};
struct SoftHinge {
  constexpr auto forward(auto x, auto y) const { return where(x > y, log1p(exp(x - y)), tanh(x * y)); }
};

std::vector<float> numbers(int n, float from) {
  std::vector<float> x(static_cast<std::size_t>(n));
  for (int i = 0; i < n; ++i) x[static_cast<std::size_t>(i)] = from + 0.37F * static_cast<float>(i % 11);
  return x;
}

}  // namespace

TEST_CASE("a grid that does not divide the elements visits each of them once") {
  const auto x = numbers(1000, -2);
  std::vector<float> y(1000, -1);
  shim::run_map(Quadratic{1, 2, 3}, MapArguments<float, 1, 1>{{x.data()}, {1}, {y.data()}, 1000, false}, 3, 32);
  for (std::size_t i = 0; i < x.size(); ++i) CHECK(y[i] == doctest::Approx((x[i] + 2) * x[i] + 3));
}

TEST_CASE("add accumulates, a step of 0 broadcasts") {
  const auto x = numbers(70, 0.5F);
  const float one = 1.5F;
  std::vector<float> y(70, 10);
  shim::run_map(SoftHinge{}, MapArguments<float, 2, 1>{{x.data(), &one}, {1, 0}, {y.data()}, 70, true}, 1, 64);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double v = x[i], want = v > 1.5 ? std::log1p(std::exp(v - 1.5)) : std::tanh(v * 1.5);
    CHECK(y[i] == doctest::Approx(10 + want));
  }
}

TEST_CASE("the derived gradient is a kernel as well") {
  const auto x = numbers(40, -1);
  const std::vector<float> dy(40, 2);
  std::vector<float> dx(40);
  shim::run_map(Gradient<Quadratic>{{1, 2, 3}},
                MapArguments<float, 2, 1>{{dy.data(), x.data()}, {1, 1}, {dx.data()}, 40, false}, 2, 8);
  for (std::size_t i = 0; i < x.size(); ++i) CHECK(dx[i] == doctest::Approx(2 * (2 * x[i] + 2)));
}

TEST_CASE("[gpu] the same kernels on the device") {
  const auto x = numbers(100003, -2);
  const auto bytes = x.size() * sizeof(float);
  float *in = nullptr, *out = nullptr;
  REQUIRE(cudaMalloc(&in, bytes) == cudaSuccess);
  REQUIRE(cudaMalloc(&out, bytes) == cudaSuccess);
  REQUIRE(cudaMemcpy(in, x.data(), bytes, cudaMemcpyHostToDevice) == cudaSuccess);
  strop::cuda::map_kernel<<<64, 256>>>(
      Quadratic{1, 2, 3}, MapArguments<float, 1, 1>{{in}, {1}, {out}, static_cast<std::int64_t>(x.size()), false});
  std::vector<float> y(x.size());
  REQUIRE(cudaMemcpy(y.data(), out, bytes, cudaMemcpyDeviceToHost) == cudaSuccess);
  for (std::size_t i = 0; i < x.size(); ++i) CHECK(y[i] == doctest::Approx((x[i] + 2) * x[i] + 3));
  strop::cuda::map_kernel<<<64, 256>>>(
      Gradient<Quadratic>{{1, 2, 3}},
      MapArguments<float, 2, 1>{{in, in}, {1, 1}, {out}, static_cast<std::int64_t>(x.size()), false});
  REQUIRE(cudaMemcpy(y.data(), out, bytes, cudaMemcpyDeviceToHost) == cudaSuccess);
  for (std::size_t i = 0; i < x.size(); ++i) CHECK(y[i] == doctest::Approx(x[i] * (2 * x[i] + 2)));
  cudaFree(in);
  cudaFree(out);
}
