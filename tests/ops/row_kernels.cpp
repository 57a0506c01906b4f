// SPDX-License-Identifier: Apache-2.0
/// \file
/// Softmaxes and normalisations in registers of lanes: of float what they are of double, at every extent
/// beside an axis, with ends of registers, for any number of threads.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <strop/strop.hpp>
#include <vector>

namespace {

using namespace strop;
using Results = std::vector<std::vector<double>>;

/// The result of f and the gradients of its arguments, in `type`, for head gradients that all differ.
template <class F>
Results results(const std::vector<NDArray>& from, Dtype type, F f) {
  std::vector<NDArray> in;
  for (const NDArray& a : from) in.push_back(a.to(type).copy());
  for (const NDArray& a : in) a.attach_grad();
  NDArray y;
  {
    const record scope;
    y = f(in);
  }
  NDArray head(y.shape(), f32);
  for (std::int64_t i = 0; i < y.size(); ++i) head.pointer<float>()[i] = static_cast<float>((i * 37 % 101) - 40) / 64;
  y.backward(head.to(type));
  Results out{y.to_vector<double>()};
  for (const NDArray& a : in) out.push_back(a.grad().to_vector<double>());
  return out;
}
/// The largest distance of a result of float from that of double, against the largest number of the result; and that
/// threads change nothing.
template <class F>
double off(const std::vector<NDArray>& from, F f) {
  const int before = num_threads();
  set_num_threads(1);
  const Results got = results(from, f32, f), wanted = results(from, f64, f);
  for (const int threads : {2, 5}) {
    set_num_threads(threads);
    CHECK(results(from, f32, f) == got);
  }
  set_num_threads(before);
  double largest = 0;
  for (std::size_t k = 0; k < got.size(); ++k) {
    double size = 1e-30;
    for (const double v : wanted[k]) size = std::max(size, std::abs(v));
    for (std::size_t i = 0; i < wanted[k].size(); ++i)
      largest = std::max(largest, std::abs(got[k][i] - wanted[k][i]) / size);
  }
  return largest;
}

NDArray numbers(const Shape& shape, double low = -2, double high = 2) {
  return random::uniform(shape, static_cast<float>(low), static_cast<float>(high));
}
constexpr std::int64_t beside[] = {1, 2, 3, 7, 8, 9, 15, 16, 17, 40, 63, 64, 65, 130};

}  // namespace

TEST_CASE("softmaxes along any axis, of any extent beside it") {
  for (const std::int64_t inner : beside)
    for (const std::int64_t n : {1, 5, 33, 64, 200}) {
      INFO("inner ", inner, ", n ", n);
      const NDArray x = numbers({2, n, inner}, -9, 9);
      CHECK(off({x}, [](const auto& in) { return softmax(in[0], {.axis = 1}); }) <= 2e-6);
      if (n > 1)  // the logarithm of 1 is what the rounding of a product leaves
        CHECK(off({x}, [](const auto& in) { return log_softmax(in[0], {.axis = 1, .temperature = 0.7}); }) <= 2e-6);
      CHECK(off({x}, [](const auto& in) { return softmin(in[0], {.axis = 1}); }) <= 2e-6);
    }
  // too long for four registers of columns
  CHECK(off({numbers({3000, 67})}, [](const auto& in) { return softmax(in[0], {.axis = 0}); }) <= 2e-6);
}

TEST_CASE("softmaxes down columns of large, infinite and masked numbers, in place and added") {
  constexpr float inf = std::numeric_limits<float>::infinity();
  NDArray x = full({3, 20}, 1000);
  for (int j = 0; j < 20; ++j) x.pointer<float>()[j] = -inf;
  const NDArray y = softmax(x, {.axis = 0});
  for (int j = 0; j < 20; ++j) {
    CHECK(y.pointer<float>()[j] == 0);
    CHECK(y.pointer<float>()[20 + j] == 0.5f);
  }
  const NDArray nan = full({3, 20}, 1);
  nan.pointer<float>()[25] = std::numeric_limits<float>::quiet_NaN();
  const NDArray z = softmax(nan, {.axis = 0});
  for (int i = 0; i < 60; ++i) CHECK(std::isnan(z.pointer<float>()[i]) == (i % 20 == 5));
  const NDArray v = numbers({33, 70}), wanted = softmax(v, {.axis = 0}), sum = ones({33, 70}), own = v.copy();
  softmax(v, {.axis = 0}, add_to(sum));
  CHECK(allclose(sum, wanted + 1));
  softmax(own, {.axis = 0}, into(own));
  CHECK(own.to_vector<float>() == wanted.to_vector<float>());
}

TEST_CASE("LayerNorm along any axis, and its sums over rows") {
  for (const std::int64_t inner : beside)
    for (const std::int64_t n : {3, 16, 49, 300}) {
      INFO("inner ", inner, ", n ", n);
      CHECK(off({numbers({5, n, inner}), numbers({n}), numbers({n})},
                [](const auto& in) { return layer_norm(in[0], in[1], in[2], {.axis = 1, .eps = 1e-2f}); }) <= 4e-6);
    }
  CHECK(off({numbers({3000, 37}), numbers({37}), numbers({37})},
            [](const auto& in) { return layer_norm(in[0], in[1], in[2]); }) <= 4e-6);
  // gradients of gamma of equal numbers, whose additions all round in one direction
  const NDArray x = zeros({1 << 20, 2}), g = ones({2}), b = zeros({2});
  b.attach_grad();
  NDArray y;
  {
    const record scope;
    y = layer_norm(x, g, b);
  }
  y.backward(full(x.shape(), 0.1f, f32));
  CHECK(std::abs(b.grad().to_vector<double>()[1] / (static_cast<double>(0.1f) * (1 << 20)) - 1) <= 1e-6);
}

TEST_CASE("BatchNorm of channels of any extent") {
  for (const std::int64_t inner : {1, 2, 3, 5, 9, 11, 13, 15, 16, 17, 49, 70})
    for (const std::int64_t channels : {1, 3, 31, 64, 65, 130}) {
      INFO(channels, " channels of ", inner);
      CHECK(off({numbers({40, channels, inner}, 3, 5), numbers({channels}), numbers({channels})}, [&](const auto& in) {
              const Dtype type = in[0].dtype();
              return batch_norm(in[0], in[1], in[2], zeros({channels}, type), ones({channels}, type),
                                {.eps = 1e-2, .fix_gamma = false});
            }) <= 1e-5);
    }
}

TEST_CASE("softmax_cross_entropy of any number of classes") {
  for (const std::int64_t classes : {1, 2, 15, 16, 17, 100, 1000}) {
    INFO(classes, " classes");
    const NDArray label({40}, f32);
    for (std::int64_t i = 0; i < 40; ++i) label.pointer<float>()[i] = static_cast<float>(i * 7 % classes);
    CHECK(off({numbers({40, classes}, -5, 5)},
              [&](const auto& in) { return softmax_cross_entropy(in[0], label.to(in[0].dtype())); }) <= 1e-6);
  }
}
