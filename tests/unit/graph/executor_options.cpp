// SPDX-License-Identifier: Apache-2.0
/// \file
/// Executors that share memory, and graphs on several devices.
#include <strop/engine/engine.hpp>
#include <strop/memory/statistics.hpp>
#include <strop/ops/cast.hpp>
#include <strop/ops/dropout.hpp>

#include "operators.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <string>
#include <string_view>
#include <type_traits>

using namespace graph_tests;

namespace {
/// x, and calls a function meanwhile
struct ExAside {
  static inline std::function<void()> work;
  template <Real E>
  void forward(Cpu&, View<const E> x, View<E> y) const {
    if (work) work();
    for (std::int64_t i = 0; i < x.size(); ++i) y[i] = x[i];
  }
  template <Real E>
  void grad_use_none(Cpu&, View<const E> dy, View<E> dx) const {
    for (std::int64_t i = 0; i < dy.size(); ++i) dx[i] = dy[i];
  }
};
constexpr Op<ExAside> aside;

/// 3, of no inputs
struct ExThree {
  void infer_shape(Shapes& s) const { s.set_out(0, {1}); }
  template <Real E>
  void forward(Cpu&, View<E, 1> y) const {
    y[0] = 3;
  }
};
constexpr Op<ExThree> three;

/// 3 · x, whose gradient is written with an operator that has no inputs
struct ExTriple {
  template <Real E>
  void forward(Cpu&, View<const E> x, View<E> y) const {
    for (std::int64_t i = 0; i < x.size(); ++i) y[i] = 3 * x[i];
  }
  auto gradient(const auto& dy, const auto&) const {
    if constexpr (std::is_same_v<decltype(dy), const Symbol&>)
      return times(dy, compose("ExThree", {}));
    else
      return times(dy, three());
  }
};
constexpr Op<ExTriple> triple;
}  // namespace

TEST_CASE("executors that run one after the other lie in one arena, as large as the larger one needs") {
  const auto live = [] {
    Engine::global().wait_all();  // what is pending holds memory
    return memory::statistics(cpu()).live_bytes;
  };
  const Symbol net = mlp();
  const auto bind = [&](std::int64_t rows, const Executor* shared) {
    BindOptions options;
    options.shared = shared;
    if (shared != nullptr) options.shared_args = {"fc1_weight", "fc1_bias", "fc2_weight", "fc2_bias"};
    return net.simple_bind(cpu(), {{"data", {rows, 4}}}, GradRequest::write, {{"data", f64}}, options);
  };
  const auto alone = [&](const Executor& like) {
    Executor run = bind(like.arg("data").shape()[0], nullptr);
    for (const auto& [name, array] : like.args()) run.copy_params_from({{name, array}});
    run.forward(true);
    run.backward();
    return run;
  };
  const auto check = [](Executor& run, const Executor& expected) {
    CHECK(same(run.outputs()[0], expected.outputs()[0]));
    for (const auto& [name, gradient] : expected.grads()) CHECK(same(run.grad(name), gradient));
  };
  const std::int64_t none = live();
  Executor first = bind(1000, nullptr);
  scatter(first.args());
  const std::int64_t one = live();
  Executor second = bind(1000, &first);
  CHECK(second.arg("fc1_weight").is(first.arg("fc1_weight")));
  CHECK(second.grad("fc2_bias").is(first.grad("fc2_bias")));
  CHECK_FALSE(second.arg("data").is(first.arg("data")));
  CHECK(one - none - (live() - one) >= first.plan().bytes());
  scatter(second.arg("data"), 50);
  scatter(second.arg("out_label"), 60);
  const Executor of_first = alone(first), of_second = alone(second);
  first.forward(true);
  first.backward();
  check(first, of_first);
  second.forward(true);
  second.backward();
  check(second, of_second);
  // One that runs between another's forward and backward writes over what is kept: that is computed again.
  first.forward(true);
  second.forward(true);
  first.backward();
  check(first, of_first);
  second.backward();
  check(second, of_second);

  // A larger one: the others move when they run next, and the smaller arena is given back.
  const std::int64_t two = live();
  Executor large = bind(4000, &second);
  scatter(large.arg("data"), 70);
  const std::int64_t three = live();
  CHECK(three - two >= large.plan().bytes());
  first.forward(true);
  second.forward(true);
  CHECK(three - live() >= first.plan().bytes());
  const Executor of_large = alone(large);
  large.forward(true);
  second.backward();
  check(second, of_second);
  large.backward();
  check(large, of_large);
  first = Executor(second);  // one of them goes
  second.forward(true);
  second.backward();
  check(second, of_second);
}

TEST_CASE("executors that share memory are refused where they would run at once, or could not compute again") {
  const Symbol net = quadratic(aside(quadratic(var("x"), {.a = 1}), {}, "aside"), {.a = 1});
  Executor first = net.simple_bind(cpu(), {{"x", {4}}}), second = first.reshape({{"x", {3}}});
  CHECK(second.arg("x").shape() == Shape{3});
  if (std::getenv("STROP_TEST_ASYNCHRONOUS") == nullptr) {  // where calls are at hand only while forward runs
    ExAside::work = [&] { second.forward(); };
    CHECK(sentence([&] { first.forward(); }) ==
          "Error in node aside: forward: an executor that shares its memory with this one is running; those that share "
          "run one after the other");
    ExAside::work = nullptr;
  }
  CHECK(same(first.forward(true, {{"x", array({1, 2, 3, 4})}})[0], array({1, 16, 81, 256})));
  CHECK(same(second.forward(true, {{"x", array({1, 2, 3})}})[0], array({1, 16, 81})));
  first.backward(ones({4}));
  CHECK(same(first.grad("x"), array({4, 32, 108, 256})));

  const Symbol drawn = quadratic(dropout(quadratic(var("x"), {.a = 1}), {.p = 0.5f}, "drop"), {.a = 1});
  Executor a = drawn.simple_bind(cpu(), {{"x", {64}}}), b = a.reshape({{"x", {32}}});
  a.forward(true);
  b.forward(true);
  CHECK(sentence([&] { a.backward(ones({64})); }) ==
        "backward: another executor has run in the same memory since the last forward, and node 'drop' (Dropout) does "
        "not compute the same twice; call forward before each backward");
  CHECK_NOTHROW(b.backward(ones({32})));
}

TEST_CASE("nodes run where their ctx_group says, and values that are read elsewhere are copied") {
  const auto build = [] {
    Symbol s = var("data");
    {
      const AttrScope scope{{"ctx_group", "one"}};
      s = quadratic(dense_layer(s, {.num_hidden = 8}, "fc1"), {.a = 0.5f, .b = 1}, "act");
    }
    {
      const AttrScope scope{{"ctx_group", "two"}};
      s = dense_layer(plus(s, times(s, s)), {.num_hidden = 3}, "fc2");
    }
    return loss(s, {}, "out");
  };
  const BindOptions options{.group2ctx = {{"one", cpu(1)}, {"two", cpu(2)}}};
  auto plain = build().simple_bind(cpu(), {{"data", {5, 4}}}, GradRequest::write, {{"data", f64}});
  auto placed = build().simple_bind(cpu(), {{"data", {5, 4}}}, GradRequest::write, {{"data", f64}}, options);
  scatter(plain.args());
  placed.copy_params_from(plain.args());
  CHECK(placed.arg("data").device() == cpu());
  CHECK(placed.arg("fc1_weight").device() == cpu(1));
  CHECK(placed.grad("fc1_weight").device() == cpu(1));
  CHECK(placed.arg("fc2_bias").device() == cpu(2));
  CHECK(placed.outputs()[0].device() == cpu(2));
  const auto check = [](Executor& a, Executor& b) {
    for (int i = 0; i < 3; ++i) {
      a.forward(true);
      b.forward(true);
      CHECK(b.outputs()[0].to_vector<double>() == a.outputs()[0].to_vector<double>());
      for (int k = 0; k < 2; ++k) {
        a.backward();
        b.backward();
        for (const auto& [name, gradient] : a.grads())
          CHECK(b.grad(name).to_vector<double>() == gradient.to_vector<double>());
      }
    }
  };
  check(plain, placed);
  const Executor small = plain.reshape({{"data", {2, 4}}, {"out_label", {2, 3}}});
  Executor other = placed.reshape({{"data", {2, 4}}, {"out_label", {2, 3}}});
  CHECK(other.arg("fc1_weight").is(placed.arg("fc1_weight")));
  Executor first = small;
  check(first, other);
  Names seen;
  placed.set_monitor([&](const std::string& name, const NDArray&) { seen.push_back(name); });
  check(plain, placed);
  // Each of three times in forward, and where the second backward has forward's nodes run once more.
  CHECK(std::count(seen.begin(), seen.end(), "act_output_on_cpu(2)_output") == 6);
  CHECK(std::count(seen.begin(), seen.end(), "data_on_cpu(1)_output") == 6);

  // Arrays that are given may lie anywhere; a state has to lie where it is written.
  const NDArray x = zeros({4}, f32, cpu(1)), mean = zeros({1});
  const Symbol net = center(var("x"), {}, "c");
  CHECK(sentence([&] { net.bind(cpu(), {{"x", x}, {"c_moving_mean", mean}}); }) ==
        "bind: argument 'x' is on cpu(1), expected cpu(0)");
  auto run = net.bind(cpu(), {{"x", x}}, {}, GradRequest::null, {{"c_moving_mean", mean}}, options);
  CHECK(run.forward()[0].device() == cpu());
  const AttrScope scope{{"ctx_group", "one"}};
  CHECK(
      sentence([&] {
        center(var("x"), {}, "c").bind(cpu(), {{"x", x}, {"c_moving_mean", mean}}, {}, GradRequest::null, {}, options);
      }) == "Error in node c: GtCenter writes 'c_moving_mean', which is on cpu(0), expected cpu(1) like the node");
}

TEST_CASE("sparse values cross devices as they are") {
  for (const Storage storage : {csr, row_sparse}) {
    CAPTURE(name_of(storage));
    const auto build = [](const Symbol& x) {
      Symbol s = x;
      {
        const AttrScope scope{{"ctx_group", "one"}};
        s = quadratic(s, {.b = 3}, "first");  // zero where nothing is stored: of the storage of x
      }
      {
        const AttrScope scope{{"ctx_group", "two"}};
        s = quadratic(s, {.a = 2}, "second");
      }
      return s;
    };
    const NDArray x = array({{0, 0, 2}, {0, 0, 0}, {0, 5, 0}, {1, 0, 0}}).to(storage);
    BindOptions options{.storages = {{"x", storage}}};
    for (const bool fused : {true, false}) {
      const Fuse choice(fused ? "1" : "0");
      options.group2ctx = {};
      auto plain = build(var("x")).simple_bind(cpu(), {{"x", {4, 3}}}, GradRequest::write, {}, options);
      options.group2ctx = {{"one", cpu(1)}, {"two", cpu(2)}};
      auto placed = build(var("x")).simple_bind(cpu(), {{"x", {4, 3}}}, GradRequest::write, {}, options);
      for (int i = 0; i < 2; ++i) {
        const NDArray y = placed.forward(true, {{"x", x}})[0], expected = plain.forward(true, {{"x", x}})[0];
        CHECK(y.storage() == storage);
        CHECK(y.nnz() == x.nnz());
        CHECK(y.device() == cpu(2));
        CHECK(same(y.to(dense).to(cpu()), expected.to(dense)));
        const NDArray head = full({4, 3}, 2);
        plain.backward(head);
        placed.backward(head.to(cpu(2)));
        CHECK(placed.grad("x").storage() == plain.grad("x").storage());
        CHECK(same(placed.grad("x").to(dense), plain.grad("x").to(dense)));
      }
    }
    // what works on dense arrays alone gets a dense copy where it runs
    const AttrScope scope{{"ctx_group", "one"}};
    const NamedArrays args{{"x", x}, {"w", ones({2, 3}, f32, cpu(1))}, {"b", zeros({2}, f32, cpu(1))}};
    auto layer = dense_layer(var("x"), var("w"), var("b"), {.num_hidden = 2})
                     .bind(cpu(), args, {}, GradRequest::null, {}, {.group2ctx = options.group2ctx});
    CHECK(same(layer.forward()[0].to(cpu()), array({{2, 2}, {0, 0}, {5, 5}, {1, 1}})));
  }
}

TEST_CASE("parts of a gradient that have no inputs run where the node runs that it is the gradient of") {
  const auto build = [] {
    const AttrScope scope{{"ctx_group", "one"}};
    return triple(quadratic(var("x"), {.a = 1}));
  };
  const BindOptions options{.group2ctx = {{"one", cpu(1)}, {"two", cpu(2)}}};
  const auto check = [](Executor run) {
    run.forward(true, {{"x", array({1, 2}).to(run.arg("x").device())}});
    run.backward(ones({2}, f32, cpu(1)));
    CHECK(run.grad("x").to_vector<float>() == std::vector<float>{6, 12});
  };
  check(build().simple_bind(cpu(), {{"x", {2}}}, GradRequest::write, {}, options));
  // Whatever scope the caller is in, and where the place follows from what is read alone.
  const Symbol follows = triple(build());
  const AttrScope scope{{"ctx_group", "two"}};
  check(build().simple_bind(cpu(), {{"x", {2}}}, GradRequest::write, {}, options));
  Executor run = follows.simple_bind(cpu(), {{"x", {2}}}, GradRequest::write, {}, options);
  run.forward(true, {{"x", array({1, 2}).to(run.arg("x").device())}});
  run.backward(ones({2}, f32, cpu(1)));
  CHECK(run.grad("x").to_vector<float>() == std::vector<float>{18, 36});
}

TEST_CASE("a monitor may take its leave, and a second backward reads one forward alone") {
  auto run = quadratic(quadratic(var("x"), {.a = 1}), {.b = 2}).bind(cpu(), {{"x", array({1, 2})}});
  int shown = 0;
  run.set_monitor([&](const std::string&, const NDArray&) {
    ++shown;
    run.set_monitor(nullptr);
  });
  CHECK(same(run.forward()[0], array({2, 8})));
  run.forward();
  CHECK(shown >= 1);
  CHECK(shown <= 2);

  // Another executor has run between: forward is computed again, and again by the second backward.
  const NDArray x = array({1, 2}), dx = zeros({2});
  const Symbol of = var("x");
  auto first = times(quadratic(of, {.a = 1}), of).bind(cpu(), {{"x", x}}, {{"x", dx}});
  auto second = first.reshape({{"x", {3}}});
  first.forward(true);
  second.forward(true);
  x.view<float>()[0] = 3;
  first.backward(ones({2}));
  const NDArray once = dx.copy();
  first.backward(ones({2}));
  CHECK(same(dx, once));
}
