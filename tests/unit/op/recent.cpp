// SPDX-License-Identifier: Apache-2.0
/// \file
/// Calls that are like an earlier one are not decided again, and nothing else changes.
#include <strop/ops/reduce.hpp>
#include <strop/strop.hpp>
#include <unit/sentence.hpp>

#include <doctest/doctest.h>
#include <limits>
#include <thread>

using namespace strop;
using testing::sentence;

namespace {

int inferred = 0;

/// Repeats each row: the shape depends on the inputs, a parameter and nothing else.
struct RepeatRows {
  static constexpr std::string_view name = "recent_repeat_rows";
  int times = 2;
  float scale = 1;
  void infer_shape(Shapes& s) const {
    ++inferred;
    if (s.in(0).known()) s.set_out(0, {s.in(0)[0] * times, s.in(0)[1]});
  }
  template <Real E>
  void forward(Cpu& ctx, View<const E, 2> x, View<E, 2> y) const {
    const E shown = static_cast<E>(ctx.train ? 100 : 0);
    for (std::int64_t i = 0; i < y.shape()[0]; ++i)
      for (std::int64_t j = 0; j < y.shape()[1]; ++j) y(i, j) = static_cast<E>(scale) * x(i / times, j) + shown;
  }
};
constexpr Op<RepeatRows> repeat_rows;

/// Calls, where it is told to, so many others that its own plan would not be kept.
struct CallsOthers {
  static constexpr std::string_view name = "recent_calls_others";
  static inline bool nests = false;
  void infer_shape(Shapes& s) const {
    ++inferred;
    s.set_out(0, s.in(0));
  }
  template <Real E>
  void forward(Cpu& ctx, View<const E, 1> x, View<E, 1> y) const {
    for (int again = 0; nests && again < 3; ++again)
      for (std::int64_t n = 1; n < 200; ++n) CHECK(sum(full({n, 3}, 2), {.axis = 1}).shape() == Shape{n});
    CHECK(ctx.request() == Request::write);  // which lies in the plan
    for (std::int64_t i = 0; i < x.size(); ++i) y[i] = 2 * x[i];
  }
};
constexpr Op<CallsOthers> calls_others;

struct TwoOfOne {
  static constexpr std::string_view name = "recent_two_of_one", outputs[] = {"twice", "thrice"};
  void infer_shape(Shapes& s) const { s.set_out(0, s.in(0)), s.set_out(1, s.in(0)); }
  template <Real E>
  void forward(Cpu&, View<const E, 1> x, View<E, 1> twice, View<E, 1> thrice) const {
    for (std::int64_t i = 0; i < x.size(); ++i) twice[i] = 2 * x[i], thrice[i] = 3 * x[i];
  }
};
constexpr Op<TwoOfOne> two_of_one;

/// How often a shape is inferred in `calls` equal calls.
template <class F>
int inferences(int calls, F call) {
  inferred = 0;
  for (int i = 0; i < calls; ++i) call();
  return inferred;
}

}  // namespace

TEST_CASE("the third equal call is decided already") {
  const NDArray x = array({{1, 2}, {3, 4}});
  CHECK(inferences(2, [&] { (void)repeat_rows(x, {.times = 3}); }) == 2);
  CHECK(inferences(10, [&] { (void)repeat_rows(x, {.times = 3}); }) == 0);
  CHECK(allclose(repeat_rows(x, {.times = 3}), array({{1, 2}, {1, 2}, {1, 2}, {3, 4}, {3, 4}, {3, 4}})));
  const NDArray other = array({{5, 6}, {7, 8}});  // of the same shape
  CHECK(inferences(1, [&] { CHECK(repeat_rows(other, {.times = 3}).shape() == Shape{6, 2}); }) == 0);
}

TEST_CASE("what a call is decided by is looked at each time") {
  const NDArray x = array({{1, 2}, {3, 4}});
  for (int i = 0; i < 4; ++i) {
    CHECK(repeat_rows(x, {.times = 1}).shape() == Shape{2, 2});
    CHECK(repeat_rows(x, {.times = 2}).shape() == Shape{4, 2});
    CHECK(allclose(repeat_rows(x, {.times = 1, .scale = 10}), x * 10));
    CHECK(repeat_rows(x.to(f64), {.times = 1}).dtype() == f64);
    CHECK(repeat_rows(x.reshape({1, 4}), {.times = 2}).shape() == Shape{2, 4});
    const NDArray y = full({2, 2}, 1);
    repeat_rows(x, {.times = 1}, into(y));
    CHECK(allclose(y, x));
    repeat_rows(x, {.times = 1}, add_to(y));
    CHECK(allclose(y, x * 2));
  }
}

TEST_CASE("a parameter that is not equal to itself is computed with all the same") {
  const NDArray x = array({{1, 2}});
  for (int i = 0; i < 4; ++i)
    CHECK(repeat_rows(x, {.times = 1, .scale = std::numeric_limits<float>::quiet_NaN()}).shape() == Shape{1, 2});
}

TEST_CASE("a call sees the mode that it is made in") {
  const NDArray x = array({{1, 2}});
  const auto first = [&] { return repeat_rows(x, {.times = 1}).to_vector<float>()[0]; };
  for (int i = 0; i < 4; ++i) {
    CHECK(first() == 1);
    const record scope;
    CHECK(first() == 101);
  }
}

TEST_CASE("what is refused stays refused, and says the same") {
  const NDArray x = array({{1, 2}, {3, 4}}), y = zeros({2, 2});
  for (int i = 0; i < 4; ++i) {
    repeat_rows(x, {.times = 1}, into(y));
    CHECK(sentence([&] { repeat_rows(x, {.times = 1}, into(zeros({3, 2}))); }).find("(3, 2)") != std::string::npos);
    CHECK(sentence([&] { repeat_rows(x, {.times = 1}, into(x)); }).find("overlaps the memory of input 'data'") !=
          std::string::npos);
    CHECK(sentence([&] { repeat_rows(x, {.times = 1}, into(x.slice(0, 1).reshape({1, 2}))); }) != "");
  }
  CHECK(allclose(x, array({{1, 2}, {3, 4}})));
}

TEST_CASE("results that share memory are refused each time") {
  const NDArray x = array({1, 2}), block = zeros({5});
  for (int i = 0; i < 4; ++i) {
    two_of_one(x, {}, into({block.slice(0, 2), block.slice(2, 4)}));
    CHECK(allclose(block, array({2, 4, 3, 6, 0})));
    CHECK(sentence([&] { two_of_one(x, {}, into({block.slice(0, 2), block.slice(1, 3)})); }) ==
          "recent_two_of_one: output 'thrice' overlaps the memory of output 'twice'");
    const NDArray nothing = zeros({0}), none = zeros({0});
    two_of_one(nothing, {}, into({none, zeros({0})}));
    CHECK(sentence([&] { two_of_one(nothing, {}, into({none, none})); }) ==
          "recent_two_of_one: output 'thrice' overlaps the memory of output 'twice'");
  }
}

TEST_CASE("a result that no memory fits is refused each time") {
  for (int i = 0; i < 4; ++i)
    CHECK(sentence([&] { (void)repeat_rows(NDArray::shell({std::int64_t{1} << 61, 1}, f64), {.times = 2}); }) != "");
}

TEST_CASE("a plan stays as long as a call runs by it") {
  const NDArray x = array({1, 2, 3});
  const auto call = [&] { CHECK(allclose(calls_others(x), array({2, 4, 6}))); };
  inferences(3, call);  // it is kept
  CallsOthers::nests = true;
  CHECK(inferences(3, call) == 0);
  CallsOthers::nests = false;
}

TEST_CASE("more shapes than plans are kept of") {
  for (int again = 0; again < 3; ++again)
    for (std::int64_t n = 1; n < 300; ++n) {
      const NDArray x = full({n, 3}, 2);
      CHECK(sum(x, {.axis = 1}).shape() == Shape{n});
      CHECK(sum(x, {.axis = 0}).shape() == Shape{3});
      CHECK(sum(x).item<float>() == 6.0F * static_cast<float>(n));
    }
}

TEST_CASE("every thread decides for itself") {
  const NDArray x = array({{1, 2}, {3, 4}});
  const auto many = [&x] {
    for (int i = 0; i < 100; ++i) static_cast<void>(dot(x, x));
  };
  many();
  std::thread other(many);
  other.join();
  CHECK(allclose(dot(x, x), array({{7, 10}, {15, 22}})));
}
