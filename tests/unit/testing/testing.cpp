// SPDX-License-Identifier: Apache-2.0
/// \file
/// What strop/testing.hpp gives to tests: right answers pass, and every check can fail.
#include <strop/testing.hpp>
#include <unit/sentence.hpp>

#include <doctest/doctest.h>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

using strop::array, strop::csr, strop::dense, strop::f16, strop::f32, strop::f64, strop::NDArray, strop::row_sparse,
    strop::Shape, strop::var;
using ::testing::sentence;
namespace st = strop::testing;

namespace {

struct Quad {
  static constexpr std::string_view name = "testing_quad";
  float a = 1;
  constexpr auto forward(auto x, auto y) const { return a * x * x + y; }
};
constexpr strop::Op<Quad> quad;
struct Wrong {
  static constexpr std::string_view name = "testing_wrong";
  constexpr auto forward(auto x) const { return x * x; }
  constexpr auto grad_use_in(auto dy, auto x) const { return dy * x; }
};
constexpr strop::Op<Wrong> wrong;

}  // namespace

TEST_CASE("testing: random shapes stay in their bounds, take every extent, and repeat by the seed") {
  strop::random::seed(3);
  std::vector<int> seen(6);
  for (int i = 0; i < 100; ++i) {
    const Shape s = st::random_shape(2, 5);
    REQUIRE(s.ndim() == 2);
    for (const std::int64_t extent : s) {
      REQUIRE((extent >= 1 && extent <= 5));
      ++seen[static_cast<std::size_t>(extent)];
    }
  }
  for (std::size_t extent = 1; extent <= 5; ++extent) CHECK(seen[extent] > 10);
  CHECK(st::random_shape(0) == Shape{});
  strop::random::seed(4);
  const Shape one = st::random_shape(3, 100);
  strop::random::seed(4);
  CHECK(st::random_shape(3, 100) == one);
  CHECK(sentence([] { st::random_shape(2, 0); }).starts_with("random_shape: rank 2 with extents to 0"));
  CHECK_FALSE(sentence([] { st::random_shape(-1); }).empty());
}

TEST_CASE("testing: random arrays have the storage, density, range and type that are asked for") {
  strop::random::seed(5);
  const Shape shape{200, 50};
  for (const auto storage : {dense, csr, row_sparse})
    for (const double density : {0.0, 0.1, 0.7, 1.0}) {
      const NDArray a = st::random_array(shape, storage, {.low = 1, .high = 2, .density = density, .dtype = f64});
      CHECK(a.storage() == storage);
      CHECK(a.dtype() == f64);
      a.check_format();
      double stored = 0;
      for (const double x : a.to_vector<double>()) {
        REQUIRE((x == 0 || (x >= 1 && x < 2)));
        stored += x != 0 ? 1 : 0;
      }
      const double tolerance = storage == row_sparse ? 0.12 : 0.02;
      CHECK(std::abs(stored / 1e4 - density) <= (density == 0 || density == 1 ? 0 : tolerance));
      if (storage == csr) CHECK(static_cast<double>(a.nnz()) == stored);
      if (storage == row_sparse) CHECK(static_cast<double>(a.nnz() * 50) == stored);
    }
  CHECK(st::random_array({3, 4}).dtype() == f32);
  CHECK(st::random_array({0, 4}, csr).nnz() == 0);
  CHECK(st::random_array({4, 0}, row_sparse).shape() == Shape{4, 0});
  CHECK(st::random_array({5}, dense, {.density = 0}).to_vector<float>() == std::vector<float>(5));
  CHECK(sentence([] { st::random_array({3}, dense, {.density = 1.5}); }) ==
        "random_array: a density of 1.5, expected at most 1");
  CHECK_FALSE(sentence([] { st::random_array({3}, dense, {.low = 1, .high = 1}); }).empty());
  CHECK_FALSE(sentence([] { st::random_array({3}, csr); }).empty());
}

TEST_CASE("testing: forward of a symbol") {
  const auto net = quad(var("x"), var("y"), {.a = 2});
  const NDArray x = array({1, 2}), y = array({10, 20});
  CHECK(st::check_forward(net, {x, y}, {array({12, 28})}));
  const st::Check bad = st::check_forward(net, {x, y}, {array({12, 29})});
  CHECK_FALSE(bad);
  CHECK_MESSAGE(fmt::format("{}", bad).find("is 28 at element 1, expected 29") != std::string::npos, bad.wrong);
  CHECK(st::check_forward(net, {x, y}, {array({12, 29})}, {.rtol = 0.1}));
  CHECK_FALSE(st::check_forward(net, {x, y}, {array({{12, 28}})}));
  CHECK(
      sentence([&] { st::check_forward(net, {x}, {x}); }).starts_with("check_forward: 1 arrays, expected 2 arguments"));
  CHECK_FALSE(sentence([&] { st::check_forward(net, {x, y}, {}); }).empty());
}

TEST_CASE("testing: backward of a symbol, for chosen arguments, heads and requests") {
  const auto net = quad(var("x"), var("y"), {.a = 2});
  const NDArray x = array({1, 2}), y = array({10, 20}), head = array({1, 0.5});
  CHECK(st::check_backward(net, {x, y}, {head}, {array({4, 4}), head}));
  CHECK(st::check_backward(net, {x, y}, {}, {array({4, 8}), array({1, 1})}));
  CHECK(st::check_backward(net, {x, y}, {head}, {NDArray(), head}));
  CHECK(st::check_backward(net, {x, y}, {head}, {array({4, 4}), head}, {}, strop::GradRequest::add));
  const st::Check bad = st::check_backward(net, {x, y}, {head}, {array({4, 5}), head});
  CHECK_FALSE(bad);
  CHECK_MESSAGE(bad.wrong.starts_with("the gradient of x is 4 at element 1, expected 5"), bad.wrong);
  CHECK_FALSE(sentence([&] { st::check_backward(net, {x, y}, {head}, {head}); }).empty());
}

TEST_CASE("testing: gradients of a symbol against differences") {
  const NDArray x = array({0.5, -1.5, 2.0});
  CHECK(st::check_gradient(strop::tanh(quad(var("x"), var("y"))), {x, x}));
  const strop::GradientCheck bad = st::check_gradient(wrong(var("x")) * 2.0, {x});
  CHECK_FALSE(bad);
  CHECK_MESSAGE(bad.text.starts_with("the gradient of x at element"), bad.text);
}

TEST_CASE("testing: agreement between types and devices") {
  strop::random::seed(6);
  const auto net = strop::tanh(quad(var("x"), var("y")));
  CHECK(st::check_consistency(net, {{"x", {4, 5}}, {"y", {4, 5}}}, {{.dtype = f16}, {.dtype = f32}, {.dtype = f64}}));
  const st::Check tight =
      st::check_consistency(net, {{"x", {4, 5}}, {"y", {4, 5}}}, {{.dtype = f16}, {.dtype = f64}}, {1e-9, 1e-9});
  CHECK_FALSE(tight);
  CHECK_MESSAGE(tight.wrong.find("on cpu(0) in float16, beside cpu(0) in float64") != std::string::npos, tight.wrong);
  CHECK_FALSE(sentence([&] { st::check_consistency(net, {}, {{}}); }).empty());
}
