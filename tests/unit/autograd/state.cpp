// SPDX-License-Identifier: Apache-2.0
/// \file
/// Operators that keep a state, and operators that announce temporary space.
#include <strop/strop.hpp>

#include <doctest/doctest.h>
#include <string>
#include <vector>

using namespace strop;

namespace {

int states_made = 0, runs_of_last = 0;

/// Largest element of each row. Backward needs only where it stood.
struct RowMax {
  static constexpr std::string_view name = "state_row_max";
  struct Positions {
    std::vector<std::int64_t> at;
    int runs = 0;
  };
  void infer_shape(Shapes& s) const {
    if (s.in(0).known()) s.set_out(0, {s.in(0)[0]});
  }
  Positions make_state(Cpu&, const Shape& data) const {
    ++states_made;
    return {std::vector<std::int64_t>(static_cast<std::size_t>(data[0])), 0};
  }
  template <Real E>
  void forward(Cpu&, Positions& state, View<const E, 2> x, View<E, 1> y) const {
    runs_of_last = ++state.runs;
    for (std::int64_t i = 0; i < x.shape()[0]; ++i) {
      std::int64_t best = 0;
      for (std::int64_t j = 1; j < x.shape()[1]; ++j)
        if (x(i, j) > x(i, best)) best = j;
      state.at[static_cast<std::size_t>(i)] = best;
      y(i) = x(i, best);
    }
  }
  template <Real E>
  void grad_use_none(Cpu&, Positions& state, View<const E, 1> dy, View<E, 2> dx) const {
    for (E& value : dx) value = 0;
    for (std::int64_t i = 0; i < dy.size(); ++i) dx(i, state.at[static_cast<std::size_t>(i)]) = dy(i);
  }
};
constexpr Op<RowMax> row_max;
static_assert(HasState<RowMax> && !RequestsResource<RowMax>);

/// The sum of the squares, through temporary space that is announced.
struct SquareSum {
  static constexpr std::string_view name = "state_square_sum";
  std::int64_t announced = 0;  // bytes
  Resources resources(std::span<const Shape>) const { return {.temp_bytes = announced}; }
  void infer_shape(Shapes& s) const { s.set_out(0, {1}); }
  template <Real E>
  void forward(Cpu& ctx, View<const E> x, View<E, 1> y) const {
    const auto squares = ctx.temp<E>(x.size());
    const auto again = ctx.temp<E>(x.size());
    CHECK(reinterpret_cast<std::uintptr_t>(squares.data()) % 64 == 0);
    CHECK(reinterpret_cast<std::uintptr_t>(again.data()) % 64 == 0);
    CHECK((again.data() >= squares.data() + x.size() || squares.data() >= again.data() + x.size()));
    y(0) = 0;
    for (std::int64_t i = 0; i < x.size(); ++i) again(i) = squares(i) = x[i] * x[i];
    for (E value : again) y(0) += value;
  }
};
constexpr Op<SquareSum> sum_of_squares;
static_assert(RequestsResource<SquareSum> && !HasState<SquareSum>);

struct Noise {
  [[maybe_unused]] static constexpr std::string_view name = "state_noise";
  static constexpr Resources resources{.random = true};
  constexpr auto forward(auto x) const { return x; }
};
static_assert(RequestsResource<Noise>);

}  // namespace

TEST_CASE("each recorded call keeps a state of its own until its gradient has run") {
  const NDArray x = array({{1, 5, 2}, {7, 3, 9}}), z = array({{4, 3}, {1, 2}});
  x.attach_grad();
  z.attach_grad();
  states_made = 0;
  record scope;
  const NDArray a = row_max(x), b = row_max(z);
  CHECK(a.to_vector<float>() == std::vector<float>{5, 9});
  backward({a, b}, {array({10, 20}), array({1, 2})});
  CHECK(x.grad().to_vector<float>() == std::vector<float>{0, 10, 0, 0, 0, 20});
  CHECK(z.grad().to_vector<float>() == std::vector<float>{1, 0, 0, 2});
  CHECK(states_made == 2);
}

TEST_CASE("a bound graph keeps one state per node through all its runs") {
  const NDArray x = array({{1, 5, 2}, {7, 3, 9}}), gradient = zeros({2, 3});
  states_made = 0;
  Symbol net = row_max(var("x"));
  auto run = net.bind(cpu(), {{"x", x}}, {{"x", gradient}});
  for (int i = 0; i < 3; ++i) {
    CHECK(run.forward(true)[0].to_vector<float>() == std::vector<float>{5, 9});
    run.backward({array({1, 2})});
    CHECK(gradient.to_vector<float>() == std::vector<float>{0, 1, 0, 0, 0, 2});
  }
  CHECK(states_made == 1);
  auto other = net.bind(cpu(), {{"x", x}});
  other.forward();
  CHECK(states_made == 2);
}

TEST_CASE("a state goes on while a monitor looks on, and when it goes") {
  const NDArray x = array({{1, 5, 2}, {7, 3, 9}}), gradient = zeros({2, 3});
  states_made = 0;
  auto run = row_max(var("x")).bind(cpu(), {{"x", x}}, {{"x", gradient}});
  run.forward(true);
  run.set_monitor([](const std::string&, const NDArray&) {});
  run.forward(true);
  CHECK(runs_of_last == 2);
  run.backward({array({1, 2})});
  CHECK(gradient.to_vector<float>() == std::vector<float>{0, 1, 0, 0, 0, 2});
  run.set_monitor(nullptr);
  run.forward(true);
  CHECK(runs_of_last == 3);
  CHECK(states_made == 1);

  auto other = row_max(var("x")).bind(cpu(), {{"x", x}});  // which has no state yet
  other.set_monitor([](const std::string&, const NDArray&) {});
  other.forward();
  other.set_monitor(nullptr);
  other.forward();
  CHECK(runs_of_last == 2);
  CHECK(states_made == 2);
}

TEST_CASE("states in loops belong to executors, and are found by gradients that are composed again") {
  const NDArray x = array({{{1, 5}, {7, 3}}, {{2, 0}, {4, 6}}, {{1, 2}, {3, 4}}}), gradient = zeros({3, 2, 2});
  const auto body = [](const Symbol& entry, const Symbol& s) { return std::pair(row_max(entry), s); };
  const Symbol data = var("x"), net = foreach(body, data, var("s")).first;
  const NamedArrays args{{"x", x}, {"s", zeros({1})}};
  auto one = net.bind(cpu(), args), other = net.bind(cpu(), args);
  for (int i = 1; i <= 2; ++i)
    for (Executor* run : {&one, &other}) {
      CHECK(run->forward()[0].to_vector<float>() == std::vector<float>{5, 7, 2, 6, 2, 4});
      CHECK(runs_of_last == 3 * i);
    }
  auto trained = net.bind(cpu(), args, {{"x", gradient}});
  trained.forward(true);
  trained.backward(ones({3, 2}));
  CHECK(gradient.to_vector<float>() == std::vector<float>{0, 1, 1, 0, 1, 0, 0, 1, 0, 1, 0, 1});
  const Symbol slope = gradients(net, {data}, {var("h")})[0];
  auto composed = slope({{"h", var("k") * 2}}).bind(cpu(), {{"x", x}, {"s", zeros({1})}, {"k", ones({3, 2})}});
  CHECK(composed.forward(true)[0].to_vector<float>() == std::vector<float>{0, 2, 2, 0, 2, 0, 0, 2, 0, 2, 0, 2});
}

TEST_CASE("temporary space that is announced is there before forward begins; more than that still comes") {
  const NDArray x = array({1, 2, 3});
  for (const std::int64_t bytes : {0, 12, 64, 128, 4096})
    CHECK(sum_of_squares(x, {.announced = bytes}).item<float>() == 14);
  const NDArray y = full({1}, 7);
  const auto ask_too_much = [&] {
    sum_of_squares(x, {.announced = std::int64_t{1} << 60}, into(y));
    y.wait();
  };
  CHECK_THROWS_AS(ask_too_much(), std::exception);
  if (!y.busy()) CHECK(y.item<float>() == 7);  // else the call was asynchronous, and y has failed
}
