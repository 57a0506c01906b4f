// SPDX-License-Identifier: Apache-2.0
#include "elementwise_rows.hpp"

using namespace ops_test;
using Floats = std::vector<float>;

namespace {
Floats floats(const NDArray& a) { return a.to_vector<float>(); }
}  // namespace

TEST_CASE("operators on arrays") {
  const NDArray x = strop::array({1, 2, -3}), y = strop::array({2, 2, 2});
  CHECK(floats(x + y) == Floats{3, 4, -1});
  CHECK(floats(x - y) == Floats{-1, 0, -5});
  CHECK(floats(x * y) == Floats{2, 4, -6});
  CHECK(floats(x / y) == Floats{0.5, 1, -1.5});
  CHECK(floats(x % y) == Floats{1, 0, 1});
  CHECK(floats(-x) == Floats{-1, -2, 3});
  CHECK((+x).is(x));
  CHECK(floats(x == y) == Floats{0, 1, 0});
  CHECK(floats(x != y) == Floats{1, 0, 1});
  CHECK(floats(x < y) == Floats{1, 0, 1});
  CHECK(floats(x <= y) == Floats{1, 1, 1});
  CHECK(floats(x > y) == Floats{0, 0, 0});
  CHECK(floats(x >= y) == Floats{0, 1, 0});
}

TEST_CASE("a number on either side") {
  const NDArray x = strop::array({1, 2, -3});
  CHECK(floats(x + 2) == Floats{3, 4, -1});
  CHECK(floats(2 + x) == Floats{3, 4, -1});
  CHECK(floats(x - 2) == Floats{-1, 0, -5});
  CHECK(floats(2 - x) == Floats{1, 0, 5});
  CHECK(floats(x * 0.5) == Floats{0.5, 1, -1.5});
  CHECK(floats(0.5f * x) == Floats{0.5, 1, -1.5});
  CHECK(floats(x / 2) == Floats{0.5, 1, -1.5});
  CHECK(floats(6 / x) == Floats{6, 3, -2});
  CHECK(floats(x % 2) == Floats{1, 0, 1});
  CHECK(floats(5 % x) == Floats{0, 1, -1});
  CHECK(floats(x == 2) == Floats{0, 1, 0});
  CHECK(floats(2 == x) == Floats{0, 1, 0});
  CHECK(floats(2 != x) == Floats{1, 0, 1});
  CHECK(floats(x < 2) == Floats{1, 0, 1});
  CHECK(floats(2 < x) == Floats{0, 0, 0});
  CHECK(floats(2 <= x) == Floats{0, 1, 0});
  CHECK(floats(2 > x) == Floats{1, 0, 1});
  CHECK(floats(1 >= x) == Floats{1, 0, 1});
}

TEST_CASE("arrays broadcast") {
  const NDArray m = strop::array({{1, 2}, {3, 4}}), v = strop::array({10, 20});
  CHECK(floats(m + v) == Floats{11, 22, 13, 24});
  CHECK(floats(v - m) == Floats{9, 18, 7, 16});
  CHECK(error_of([&] { (void)(m + strop::array({1, 2, 3})); }) ==
        "broadcast_add: input 'rhs' has shape (3,), which does not broadcast with (2, 2)");
  CHECK(error_of([&] { (void)(m + m.to(strop::f64)); }) ==
        "broadcast_add: input 'rhs' is float64, expected float32 like input 'lhs'; convert one of them with cast");
}

TEST_CASE("in place, for every handle") {
  const NDArray x = strop::array({1, 2, -3}), same = x;
  const std::byte* memory = x.bytes();
  x += 1;
  CHECK(floats(same) == Floats{2, 3, -2});
  x *= x;
  x -= strop::array({1, 1, 1});
  x /= 3;
  x %= 2;
  CHECK(values(same)[0] == 1);
  CHECK(values(same)[1] == doctest::Approx(2.0 / 3));
  CHECK(same.bytes() == memory);
  const NDArray m = strop::array({{1, 2}, {3, 4}});
  m += strop::array({10, 20});
  CHECK(floats(m) == Floats{11, 22, 13, 24});
  CHECK(error_of([&] { strop::array({1, 2}) += m; }).find("expected") != std::string::npos);
}

TEST_CASE("integers: exact, the number is truncated first, as MXNet has it") {
  const NDArray x = strop::array({1, -2, 7}).to(strop::i32);
  CHECK(floats(x + 1.5) == Floats{2, -1, 8});
  CHECK(floats(1.5 - x) == Floats{0, 3, -6});
  CHECK(floats(x / 2) == Floats{0, -1, 3});
  CHECK(floats(x % 2.5) == Floats{1, 0, 1});
  CHECK(floats(x > 1.5) == Floats{0, 0, 1});
  CHECK(floats(x / 0) == Floats{0, 0, 0});
  CHECK(floats(strop::array({5, -5}).to(strop::i32) % strop::array({-3, 3}).to(strop::i32)) == Floats{-1, 1});
  CHECK(floats(strop::array({250, 5}).to(strop::u8) + strop::array({10, 5}).to(strop::u8)) == Floats{4, 10});
  const NDArray big = strop::full({1}, (std::int64_t{1} << 53) + 1, strop::i64);
  CHECK((big + 1).item<std::int64_t>() == (std::int64_t{1} << 53) + 2);
  CHECK((big % 2).item<std::int64_t>() == 1);
}

TEST_CASE("sparse arrays") {
  const QuietFallbacks quiet;
  const NDArray c = strop::array({{0, 1}, {2, 0}}).to(strop::csr), d = strop::array({{5, 5}, {5, 5}});
  for (const NDArray& y : {c * 2, c / 2, -c, c + c, c - c, c * d, d * c, c + 0, c > 0, c != 0, strop::maximum(c, 0)})
    CHECK(y.storage() == strop::csr);
  for (const NDArray& y : {c + 1, 1 - c, c == 0, c + d, d - c, c <= 1, strop::maximum(c, 1)})
    CHECK(y.storage() == strop::dense);
  CHECK(floats(c * d) == Floats{0, 5, 10, 0});
  CHECK(floats(c + d) == Floats{5, 6, 7, 5});
}

TEST_CASE("functions of those names") {
  const NDArray x = strop::array({1, 2, -3}), y = strop::array({2, 2, 2});
  CHECK(floats(strop::add(x, y)) == floats(x + y));
  CHECK(floats(strop::subtract(1, x)) == floats(1 - x));
  CHECK(floats(strop::multiply(x, 3)) == floats(x * 3));
  CHECK(floats(strop::divide(x, y)) == floats(x / y));
  CHECK(floats(strop::modulo(x, 2)) == floats(x % 2));
  CHECK(floats(strop::power(x, 2)) == Floats{1, 4, 9});
  CHECK(floats(strop::power(2, x)) == Floats{2, 4, 0.125});
  CHECK(floats(strop::maximum(x, y)) == Floats{2, 2, 2});
  CHECK(floats(strop::maximum(0, x)) == Floats{1, 2, 0});
  CHECK(floats(strop::minimum(x, 0)) == Floats{0, 0, -3});
  CHECK(floats(strop::hypot(strop::array({3}), 4)) == Floats{5});
  CHECK(floats(strop::greater(x, 1)) == Floats{0, 1, 0});
  CHECK(floats(strop::lesser_equal(1, x)) == Floats{1, 1, 0});
  CHECK(floats(strop::equal(x, y)) == Floats{0, 1, 0});
  CHECK(floats(strop::logical_and(x, 0)) == Floats{0, 0, 0});
  CHECK(floats(strop::logical_xor(x, y)) == Floats{0, 0, 0});
  CHECK(floats(strop::logical_or(0, x)) == Floats{1, 1, 1});
}

TEST_CASE("gradients pass through operators") {
  const NDArray x = strop::array({1, 2, -3});
  x.attach_grad();
  NDArray y;
  {
    strop::record scope;
    y = (x * x + 2 * x - 1) / 2;
  }
  y.backward();
  CHECK(floats(x.grad()) == Floats{2, 3, -2});
}

TEST_CASE("gradients of integers are computed in double and truncated; positions are added up as integers") {
  const NDArray x = strop::arange(1, 5, strop::i32).reshape({2, 2});
  x.attach_grad(strop::GradRequest::add);
  for (int times = 0; times < 2; ++times) {
    NDArray y;
    {
      strop::record scope;
      y = strop::sum(3 * x * x + strop::take(x, strop::array({0, 0})));
    }
    CHECK(y.dtype() == strop::i32);
    y.backward();
  }
  CHECK(x.grad().dtype() == strop::i32);
  CHECK(x.grad().to_vector<int>() == std::vector{16, 28, 36, 48});
  strop::record scope;
  CHECK_THROWS_AS(strop::grad(strop::sum(x * x), {x}, {.create_graph = true}), strop::Error);
}

TEST_CASE("operators on symbols") {
  const strop::Symbol a = strop::var("a"), b = strop::var("b");
  const auto eval = [](const strop::Symbol& s) {
    return floats(s.bind(strop::cpu(), {{"a", strop::array({1, 2, -3})}, {"b", strop::array({2, 2, 2})}}).forward()[0]);
  };
  CHECK(eval(a + b) == Floats{3, 4, -1});
  CHECK(eval(2 - a * b) == Floats{0, -2, 8});
  CHECK(eval((a == b) + 0 * b) == Floats{0, 1, 0});
  CHECK(eval(-a % b) == Floats{1, 0, 1});
  CHECK(eval(strop::maximum(a, 1) + b) == Floats{3, 4, 3});
  strop::Symbol c = a;
  c += b;
  c *= 2;
  CHECK(eval(c) == Floats{6, 8, -2});
}

TEST_CASE("a function knows the line that it is called from") {
  strop::clear_fallbacks();
  const QuietFallbacks quiet;
  const NDArray c = strop::array({{0, 1}, {2, 0}}).to(strop::csr);
  (void)strop::maximum(c, 1);
  (void)(2 - c);
  const auto seen = strop::fallbacks();
  REQUIRE(seen.size() == 2);
  CHECK(seen[0].where.find("arithmetic.cpp") != std::string::npos);
  CHECK(seen[1].where.empty());
}
