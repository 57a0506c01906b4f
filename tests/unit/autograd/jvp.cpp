// SPDX-License-Identifier: Apache-2.0
/// \file
/// Forward mode.
#include <strop/ops/dot.hpp>
#include <strop/ops/elementwise/broadcast.hpp>
#include <strop/ops/reduce.hpp>
#include <strop/strop.hpp>
#include <unit/sentence.hpp>

#include <doctest/doctest.h>
#include <cmath>
#include <string>

using strop::array, strop::jvp, strop::NDArray, strop::Op, strop::sum, strop::zeros;

namespace {

struct Bend {
  static constexpr std::string_view name = "jvp_bend";
  float a = 1;
  constexpr auto forward(auto x, auto y) const { return a * sin(x) * y; }
};
constexpr Op<Bend> bend;
/// The stated gradient is another than the body's: it counts.
struct Straight {
  static constexpr std::string_view name = "jvp_straight";
  constexpr auto forward(auto x) const { return round(x); }
  constexpr auto grad_use_none(auto dy) const { return 3 * dy; }
};
constexpr Op<Straight> straight;
/// Its gradient from the output.
struct Grow {
  static constexpr std::string_view name = "jvp_grow";
  constexpr auto forward(auto x) const { return exp(x); }
  constexpr auto grad_use_out(auto dy, auto y) const { return dy * y; }
};
constexpr Op<Grow> grow;

bool close(const NDArray& a, std::vector<double> b) {
  const auto v = a.to_vector<double>();
  bool good = v.size() == b.size();
  for (std::size_t i = 0; good && i < b.size(); ++i) good = std::fabs(v[i] - b[i]) < 1e-5 * (1 + std::fabs(b[i]));
  return good;
}
using testing::sentence;

}  // namespace

TEST_CASE("a map runs once on dual numbers") {
  const NDArray x = array({0.5, 1, 2}), y = array({1, 2, 3}), dx = array({1, 10, -1}), dy = array({2, 0, 1});
  const auto [value, slope] = jvp(bend, {x, y}, {dx, dy}, {.a = 2});
  std::vector<double> v, s;
  for (int i = 0; i < 3; ++i) {
    const double a = x.to_vector<double>()[static_cast<std::size_t>(i)], b = i + 1.0,
                 da = dx.to_vector<double>()[static_cast<std::size_t>(i)],
                 db = dy.to_vector<double>()[static_cast<std::size_t>(i)];
    v.push_back(2 * std::sin(a) * b);
    s.push_back(2 * (std::cos(a) * b * da + std::sin(a) * db));
  }
  CHECK(close(value, v));
  CHECK(close(slope, s));
  CHECK(close(jvp(straight, {array({1.4, -2.6})}, {array({1, 2})}).second, {3, 6}));
  CHECK(close(jvp(grow, {array({0, 1})}, {array({1, 2})}).second, {1, 2 * std::exp(1.0)}));
}

TEST_CASE("forward and backward mode agree: vᵀ(J·t) = (Jᵀ·v)ᵀt") {
  const NDArray x = strop::random::uniform({3, 4}), y = strop::random::uniform({4}),
                dx = strop::random::uniform({3, 4}), dy = strop::random::uniform({4}),
                v = strop::random::uniform({3, 4});
  x.attach_grad();
  y.attach_grad();
  {
    strop::record scope;
    bend(x, y).backward(v);
  }
  const NDArray pushed = jvp(bend, {x, y}, {dx, dy}).second;
  const double left = sum(pushed * v).item<double>(),
               right = sum(x.grad() * dx).item<double>() + sum(y.grad() * dy).item<double>();
  CHECK(std::fabs(left - right) < 1e-5 * std::fabs(left));
}

TEST_CASE("of a function of arrays, whatever operators it is made of") {
  const NDArray x = array({{1, 2}, {3, 4}}), dx = array({{1, 0}, {0, -1}});
  const auto cubes = [](std::span<const NDArray> in) { return sum(in[0] * in[0] * in[0], {.axis = {1}}); };
  const auto [value, slope] = jvp(cubes, {x}, {dx});
  CHECK(close(value, {9, 91}));
  CHECK(close(slope, {3, -48}));
  CHECK(close(x, {1, 2, 3, 4}));
  CHECK(!x.grad().defined());
  const auto constant = [](std::span<const NDArray>) { return array({1, 2}); };
  CHECK(close(jvp(constant, {x}, {dx}).second, {0, 0}));
  const auto linear = [](std::span<const NDArray> in) { return in[0] + 2 * in[1]; };
  CHECK(close(jvp(linear, {x, x}, {dx, dx}).second, {3, 0, 0, -3}));
}

TEST_CASE("backward over forward: a Hessian's product with a vector") {
  const NDArray x = array({0.5, 1, 2}), v = array({1, 2, 3}), one = array({1, 1, 1}), none = zeros({3});
  x.attach_grad();
  strop::record scope;
  jvp(bend, {x, one}, {v, none}).second.backward();  // d/dx cos(x)·v = −sin(x)·v
  CHECK(close(x.grad(), {-std::sin(0.5), -2 * std::sin(1.0), -3 * std::sin(2.0)}));
}

TEST_CASE("tangents are refused in one sentence") {
  const NDArray x = array({1, 2});
  CHECK(sentence([&] { jvp(grow, {x}, {array({1, 2, 3})}); }) ==
        "jvp: the tangent of input 0 of jvp_grow has shape (3,), expected (2,)");
  CHECK(sentence([&] { jvp(grow, {x}, {}); }) == "jvp: jvp_grow has 1 inputs, 0 tangents were given");
}
