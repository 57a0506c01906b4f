// SPDX-License-Identifier: Apache-2.0
/// \file
/// Bound graphs: forward, backward, requests, states, storages, and what is refused.
#include <strop/autograd/backward.hpp>
#include <strop/ops/cast.hpp>
#include <strop/ops/dot.hpp>
#include <strop/ops/dropout.hpp>
#include <strop/ops/elementwise/elemwise.hpp>
#include <strop/ops/elementwise/hyperbolic.hpp>
#include <strop/tensor/random.hpp>

#include "operators.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

using namespace graph_tests;

TEST_CASE("the program of the front page") {
  const NDArray v = array({1, 2});
  auto net = quadratic(var("data"), {.a = 1});
  auto run = net.bind(cpu(), {{"data", v}});
  CHECK(same(run.forward()[0], array({1, 4})));
  CHECK(run.outputs()[0].is(run.forward()[0]));
  CHECK(run.arg("data").is(v));
}

TEST_CASE("arguments that are given each other's arrays change places") {
  auto run = plus(quadratic(var("a"), {.b = 10}), var("b")).bind(cpu(), {{"a", array({1})}, {"b", array({2})}});
  CHECK(same(run.forward(false, {{"a", run.arg("b")}, {"b", run.arg("a")}})[0], array({21})));
  run.copy_params_from({{"a", run.arg("b").reshape({1})}, {"b", run.arg("a").reshape({1})}});
  CHECK(same(run.forward()[0], array({12})));
  auto centered = center(var("x"), {}, "c").simple_bind(cpu(), {{"x", {1}}});
  centered.copy_params_from({{"x", array({3})}}, {{"c_moving_mean", array({5})}});
  centered.copy_params_from({{"x", centered.aux("c_moving_mean")}}, {{"c_moving_mean", centered.arg("x")}});
  CHECK(same(centered.forward()[0], array({2})));
}

TEST_CASE("forward copies named arrays into the arguments") {
  const NDArray v = array({1, 2});
  auto run = quadratic(var("data"), {.a = 1}).bind(cpu(), {{"data", v}});
  CHECK(same(run.forward(false, {{"data", array({3, 4})}})[0], array({9, 16})));
  CHECK(same(v, array({3, 4})));
  CHECK(same(run.forward(false, {{"data", array<std::int32_t>({5, 6})}})[0], array({25, 36})));
  CHECK(sentence([&] { run.forward(false, {{"data", array({1, 2, 3})}}); }) ==
        "forward: argument 'data' has shape (3,), expected (2,)");
  CHECK(sentence([&] { run.forward(false, {{"date", array({1, 2})}}); }) ==
        "forward: no argument 'date'; nearest: data");
  CHECK(sentence([&] { run.forward(false, {{"data", NDArray()}}); }) ==
        "forward: argument 'data' is a handle without an array");
  CHECK(same(run.outputs()[0], array({25, 36})));
}

TEST_CASE("backward through a network agrees with finite differences") {
  auto run = mlp().simple_bind(cpu(), {{"data", {5, 4}}}, GradRequest::write, {{"data", f64}});
  scatter(run.args());
  run.forward(true);
  run.backward();
  const auto distance = [&] {
    const std::vector<double> y = run.forward()[0].to_vector<double>(),
                              label = run.arg("out_label").to_vector<double>();
    double sum = 0;
    for (std::size_t i = 0; i < y.size(); ++i) sum += (y[i] - label[i]) * (y[i] - label[i]) / 2;
    return sum;
  };
  for (const auto& [name, array] : run.args()) {
    const NDArray gradient = run.grad(name);
    REQUIRE(gradient.shape() == array.shape());
    for (std::int64_t i = 0; i < array.size(); ++i) {
      if (name == "out_label") {  // the head gives its label no gradient
        CHECK(gradient.view<double>()[i] == 0);
        continue;
      }
      double& x = array.view<double>()[i];
      const double before = x, step = 1e-5;
      x = before + step;
      const double above = distance();
      x = before - step;
      const double below = distance();
      x = before;
      CHECK(gradient.view<double>()[i] == doctest::Approx((above - below) / (2 * step)).epsilon(1e-6));
    }
  }
}

TEST_CASE("requests: null leaves, write overwrites, add adds, per argument") {
  const Symbol a = var("a"), b = var("b");
  const NDArray x = array({1, 2}), y = array({3, 4});
  const NDArray da = full({2}, 100), db = full({2}, 100);
  auto run = times(a, b).bind(cpu(), {{"a", x}, {"b", y}}, {{"a", da}, {"b", db}},
                              {{"a", GradRequest::add}, {"b", GradRequest::write}});
  for (int i = 1; i <= 3; ++i) {
    run.forward(true);
    run.backward(array({1, 10}));
    CHECK(same(da, array({100 + 3.0 * i, 100 + 40.0 * i})));
    CHECK(same(db, array({1, 20})));
  }
  const NDArray untouched = full({2}, 7), written = full({2}, 7);
  auto one =
      times(a, b).bind(cpu(), {{"a", x}, {"b", y}}, {{"a", untouched}, {"b", written}}, {{"b", GradRequest::write}});
  one.forward(true);
  one.backward(array({1, 1}));
  CHECK(same(untouched, full({2}, 7)));
  CHECK(same(written, array({1, 2})));
}

TEST_CASE("gradients that are sums, shared, heads themselves or zero arrive as requested") {
  const Symbol a = var("a"), b = var("b"), c = var("c");
  const NamedArrays args = {{"a", array({1, 2})}, {"b", array({3, 4})}, {"c", array({5, 6})}};
  for (const GradRequest request : {GradRequest::write, GradRequest::add}) {
    const NDArray da = full({2}, 10), db = full({2}, 10), dc = full({2}, 10);
    // a twice, b as an output, c behind a block
    const Symbol net = group({times(a, a), b, block(c)});
    auto run = net.bind(cpu(), args, {{"a", da}, {"b", db}, {"c", dc}}, request);
    run.forward(true);
    const float before = request == GradRequest::add ? 10 : 0;
    for (int i = 1; i <= 2; ++i) {
      run.backward({array({1, 1}), array({7, 8}), NDArray()});
      const float k = request == GradRequest::add ? static_cast<float>(i) : 1;
      CHECK(same(da, array({before + 2 * k, before + 4 * k})));
      CHECK(same(db, array({before + 7 * k, before + 8 * k})));
      CHECK(same(dc, full({2}, before)));
    }
  }
}

TEST_CASE("gradients that nobody asked for are not computed") {
  const int before = GtDense::data_gradients;
  const Symbol net = loss(dense_layer(var("data"), {.num_hidden = 2}, "fc"), {}, "out");
  auto run = net.simple_bind(cpu(), {{"data", {3, 4}}}, {{"fc_weight", GradRequest::write}});
  CHECK_FALSE(run.grad("data").defined());
  run.forward(true, {{"data", full({3, 4}, 1)}, {"out_label", full({3, 2}, 1)}});
  run.backward();
  CHECK(same(run.grad("fc_weight"), full({2, 4}, -3)));
  CHECK(GtDense::data_gradients.load() == before);
}

TEST_CASE("head gradients: needed unless all outputs are loss heads, and checked") {
  const Symbol a = var("a");
  const NDArray x = array({1, 2}), dx = zeros({2});
  auto run = quadratic(a, {.a = 1}, "q").bind(cpu(), {{"a", x}}, {{"a", dx}});
  CHECK(sentence([&] { run.backward(array({1, 1})); }) == "backward: forward has not run");
  run.forward(true);
  CHECK(sentence([&] { run.backward(); }) ==
        "backward: output 'q_output' is no loss and needs a head gradient of shape (2,)");
  CHECK(sentence([&] { run.backward(array({1, 1, 1})); }) ==
        "backward: the head gradient of 'q_output' has shape (3,), expected (2,)");
  CHECK(sentence([&] { run.backward({array({1, 1}), array({1, 1})}); }) == "backward: 2 head gradients for 1 outputs");
  run.backward(array<double>({1, 10}));  // other types are converted
  CHECK(same(dx, array({2, 40})));
  auto silent = quadratic(a).bind(cpu(), {{"a", x}});
  silent.forward();
  CHECK(sentence([&] { silent.backward(array({1, 1})); }) ==
        "backward: no argument asked for its gradient when the graph was bound");
}

TEST_CASE("states are written in training only, and training reaches the gradient") {
  const Symbol net = center(var("x"), {}, "c");
  auto run = net.simple_bind(cpu(), {{"x", {4}}});
  CHECK(same(run.forward(false, {{"x", array({1, 2, 3, 6})}})[0], array({1, 2, 3, 6})));
  CHECK(same(run.aux("c_moving_mean"), array({0})));
  run.backward(array({4, 0, 0, 0}));
  CHECK(same(run.grad("x"), array({4, 0, 0, 0})));
  CHECK(same(run.forward(true)[0], array({-2, -1, 0, 3})));
  CHECK(same(run.aux("c_moving_mean"), array({1.5})));
  run.backward(array({4, 0, 0, 0}));
  CHECK(same(run.grad("x"), array({3, -1, -1, -1})));
  // States are given apart, or among the arguments.
  const NDArray mean = array({1}), x = array({5});
  CHECK(same(net.bind(cpu(), {{"x", x}}, {}, GradRequest::null, {{"c_moving_mean", mean}}).forward()[0], array({4})));
  CHECK(same(net.bind(cpu(), {{"x", x}, {"c_moving_mean", mean}}).forward()[0], array({4})));
}

TEST_CASE("gradients of integers are truncated, and added as integers") {
  const NDArray x = array<std::int32_t>({1, 2, 3}), y = array<std::int32_t>({4, -5, 6});
  for (const GradRequest request : {GradRequest::write, GradRequest::add}) {
    auto run = elemwise_mul(var("x"), var("y")).simple_bind(cpu(), {{"x", {3}}}, request, {{"x", i32}, {"y", i32}});
    run.forward(true, {{"x", x}, {"y", y}});
    for (int i = 0; i < 2; ++i) run.backward(array<std::int32_t>({1, 10, 2}));
    const int times = request == GradRequest::add ? 2 : 1;
    CHECK(run.grad("x").to_vector<std::int32_t>() == std::vector{4 * times, -50 * times, 12 * times});
    CHECK(run.grad("y").to_vector<std::int32_t>() == std::vector{1 * times, 20 * times, 6 * times});
  }
  auto head = quadratic(cast(var("x"), {.dtype = f32}), {.b = 1.5f})
                  .simple_bind(cpu(), {{"x", {2}}}, GradRequest::write, {{"x", i64}});
  head.forward(true);
  head.backward(array({3, -3}));
  CHECK(head.grad("x").to_vector<std::int64_t>() == std::vector<std::int64_t>{4, -4});
}

TEST_CASE("a graph whose gradient does not exist predicts all the same") {
  auto run = even(quadratic(var("x"), {.b = 1}), {}, "e").simple_bind(cpu(), {{"x", {2}}});
  CHECK(same(run.forward(false, {{"x", array({3, 5})}})[0], array({2, 4})));
  CHECK(sentence([&] { run.backward(array({1, 1})); }) ==
        "Error in node e: GtEven has no gradient, which the gradient of 'x' needs");
}

TEST_CASE("sparse arguments stay sparse where operators keep them, and get gradients as their buffers are") {
  const Symbol x = var("x");
  const NDArray data = array({{0, 2, 0}, {3, 0, 4}}).to(csr);
  const Symbol net = quadratic(x, {.a = 1, .b = 1}, "q");
  const std::size_t before = fallbacks().size();
  auto run = net.bind(cpu(), {{"x", data}});
  CHECK(run.forward()[0].storage() == csr);
  CHECK(same(run.outputs()[0], array({{0, 6, 0}, {12, 0, 20}})));
  CHECK(same(run.forward(false, {{"x", array({{1, 0, 0}, {0, 0, 1}})}})[0], array({{2, 0, 0}, {0, 0, 2}})));
  CHECK(run.outputs()[0].nnz() == 2);
  const NDArray full_buffer = zeros({2, 3}), sparse_buffer = zeros({2, 3}, csr);
  for (const NDArray& buffer : {full_buffer, sparse_buffer}) {
    auto trained = net.bind(cpu(), {{"x", data}}, {{"x", buffer}});
    trained.forward(true);
    trained.backward(full({2, 3}, 1));
  }
  CHECK(same(full_buffer, array({{3, 1, 1}, {1, 1, 3}})));
  CHECK(sparse_buffer.storage() == csr);
  CHECK(same(sparse_buffer, array({{3, 0, 0}, {0, 0, 3}})));
  CHECK(fallbacks().size() == before);  // all of the gradient, for the dense buffer, takes no dense copy of x
}

TEST_CASE("variadic inputs, zero sizes, scalars and one variable under several operators") {
  auto run = chain(std::vector<Symbol>{var("a"), var("b"), var("a2")}, {}, "c")
                 .simple_bind(cpu(), {{"a", {2}}, {"b", {0}}, {"a2", {1}}});
  CHECK(same(run.forward(true, {{"a", array({1, 2})}, {"a2", array({3})}})[0], array({1, 2, 3})));
  run.backward(array({4, 5, 6}));
  CHECK(same(run.grad("a"), array({4, 5})));
  CHECK(same(run.grad("a2"), array({6})));
  const NDArray nothing = zeros({0, 3}), number = scalar(3);
  CHECK(quadratic(var("x")).bind(cpu(), {{"x", nothing}}).forward()[0].shape() == Shape{0, 3});
  CHECK(same(quadratic(var("x"), {.a = 1}).bind(cpu(), {{"x", number}}).forward()[0], scalar(9)));
}

TEST_CASE("halves and doubles run through tensor operators") {
  for (const Dtype type : {f16, bf16, f64}) {
    auto run = loss(dense_layer(var("data"), {.num_hidden = 2, .no_bias = true}, "fc"), {}, "out")
                   .simple_bind(cpu(), {{"data", {1, 2}}}, GradRequest::write, {{"data", type}});
    run.forward(true,
                {{"data", array({{1, 2}})}, {"fc_weight", array({{1, 0}, {0, 1}})}, {"out_label", array({{0, 1}})}});
    CHECK(run.outputs()[0].dtype() == type);
    CHECK(run.outputs()[0].to_vector<float>() == std::vector<float>{1, 2});
    run.backward();
    CHECK(run.grad("fc_weight").dtype() == type);
    CHECK(run.grad("fc_weight").to_vector<float>() == std::vector<float>{1, 2, 1, 2});
  }
}

TEST_CASE("running a graph is not recorded and leaves the thread's mode alone") {
  const NDArray v = array({1, 2});
  v.attach_grad();
  auto run = quadratic(var("x"), {.a = 1}).bind(cpu(), {{"x", v}});
  const record scope;
  CHECK_FALSE(run.forward(false)[0].body().gradient_node);
  CHECK(is_recording());
  CHECK(is_training());
}

TEST_CASE("what does not fit is refused when it is bound") {
  const Symbol net = dense_layer(var("data"), {.num_hidden = 2}, "fc");
  const NDArray x = zeros({3, 4}), w = zeros({2, 4}), b = zeros({2});
  CHECK(sentence([&] { net.bind(cpu(), {{"data", x}, {"fc_weight", w}}); }) ==
        "bind: no array for fc_bias; the graph's variables are data, fc_weight, fc_bias");
  CHECK(sentence([&] {
          net.bind(cpu(), {{"data", x}, {"fc_weight", w}, {"fc_bias", b}, {"fc_bia", b}});
        }).starts_with("bind: no argument 'fc_bia'; nearest: fc_bias"));
  CHECK(sentence([&] { net.bind(cpu(), {{"data", x}, {"fc_weight", zeros({2, 5})}, {"fc_bias", b}}); }) ==
        "Error in node fc: FullyConnected: input 'weight' has shape (2, 5), expected (2, 4)");
  CHECK(sentence([&] { net.bind(cpu(), {{"data", x}, {"fc_weight", zeros({2, 4}, f64)}, {"fc_bias", b}}); }) ==
        "Error in node fc: FullyConnected: input 'weight' is float64, expected float32");
  const NamedArrays args = {{"data", x}, {"fc_weight", w}, {"fc_bias", b}};
  CHECK(sentence([&] { net.bind(cpu(), args, {{"fc_weight", zeros({4, 2})}}); }) ==
        "bind: the gradient of 'fc_weight' is float32 (4, 2) on cpu(0), expected float32 (2, 4) on cpu(0)");
  const NDArray wide = zeros({2, 4}, f64), whole = zeros({2, 4}, i32);
  Executor cast = net.bind(cpu(), {{"data", full({3, 4}, 0.5)}, {"fc_weight", w}, {"fc_bias", b}},
                           {{"fc_weight", wide}}, {{"fc_weight", GradRequest::add}});
  for (int i = 0; i < 2; ++i) {
    cast.forward(true);
    cast.backward(full({3, 2}, 1));
  }
  CHECK(same(wide, full({2, 4}, 3, f64)));
  CHECK(sentence([&] { net.bind(cpu(), args, {{"fc_weight", whole}}); }) ==
        "bind: the gradient of 'fc_weight' is int32 (2, 4) on cpu(0), expected float32 (2, 4) on cpu(0)");
  CHECK(sentence([&] {
          net.bind(cpu(), args, {{"weight", w}});
        }).starts_with("bind: gradients: no argument 'weight'; nearest: "));
  CHECK(sentence([&] {
          net.bind(cpu(), args, {}, {{"weight", GradRequest::add}});
        }).starts_with("bind: gradient requests: no argument 'weight'; nearest: "));
  CHECK(sentence([&] { net.bind(gpu(0), args); }) == "bind: argument 'data' is on cpu(0), expected gpu(0)");
  CHECK(sentence([&] { plus(var("x"), var("x")).bind(cpu(), {{"x", x}}); }) ==
        "bind: two variables are called 'x'; give them different names");
  CHECK(sentence([&] { Symbol().bind(cpu(), {}); }) == "bind: the symbol is empty");
  CHECK(sentence([&] {
          net.simple_bind(cpu(), {});
        }).starts_with("infer_shape: from what is given these shapes do not follow: data (...)"));
  auto run = net.bind(cpu(), args);
  CHECK(sentence([&] { run.arg("wait"); }).starts_with("executor: no argument 'wait'; nearest: "));
  CHECK(sentence([&] { run.aux("x"); }).starts_with("executor: no auxiliary state 'x'; nearest: "));
}

TEST_CASE("another size of the batch shares what keeps its shape") {
  auto run = mlp().simple_bind(cpu(), {{"data", {5, 4}}},
                               {{"fc1_weight", GradRequest::add}, {"data", GradRequest::write}}, {{"data", f64}});
  scatter(run.args());
  auto small = run.reshape({{"data", {2, 4}}, {"out_label", {2, 3}}});
  CHECK(small.arg("data").shape() == Shape{2, 4});
  CHECK(small.arg("fc1_weight").is(run.arg("fc1_weight")));
  CHECK(small.grad("fc1_weight").is(run.grad("fc1_weight")));
  CHECK(small.grad("data").shape() == Shape{2, 4});
  CHECK_FALSE(small.grad("fc2_weight").defined());
  const NDArray whole = run.forward(true)[0];
  CHECK(same(small.forward(true, {{"data", run.arg("data").slice(1, 3)}})[0], whole.slice(1, 3)));
  small.arg("out_label").view<double>()[0] = 1;
  small.backward();
  const std::vector<double> once = run.grad("fc1_weight").to_vector<double>();
  small.backward();
  for (std::size_t i = 0; i < once.size(); ++i)
    CHECK(run.grad("fc1_weight").to_vector<double>()[i] == doctest::Approx(2 * once[i]));
  CHECK(sentence([&] { run.reshape({{"data", {2, 4}}}); }) ==
        "reshape: argument 'out_label' would have shape (2, 3) instead of (5, 3); name it as well, if that is meant");
  CHECK(sentence([&] { run.reshape({{"date", {2, 4}}}); }).starts_with("reshape: no argument 'date'; nearest: data"));
  auto predict = quadratic(var("x"), {.a = 1}).bind(cpu(), {{"x", array({1, 2})}}).reshape({{"x", {3}}});
  CHECK(same(predict.forward(false, {{"x", array({1, 2, 3})}})[0], array({1, 4, 9})));
}

TEST_CASE("executors move and keep their arrays") {
  auto first = quadratic(var("x"), {.a = 1}).bind(cpu(), {{"x", array({2})}});
  const NDArray output = first.forward()[0];
  auto second = std::move(first);
  CHECK(second.forward(false, {{"x", array({3})}})[0].is(output));
  CHECK(same(output, array({9})));
}

TEST_CASE("what draws numbers in training alone has announced it, however large the arrays are") {
  for (const std::int64_t n : {64, 3000, 300000}) {
    CAPTURE(n);
    const NDArray x = ones({n}), gradient = zeros({n});
    Executor run = dropout(var("x"), {.p = 0.5f}).bind(cpu(), {{"x", x}}, {{"x", gradient}});
    CHECK(run.forward(false)[0].to_vector<float>() == x.to_vector<float>());
    const std::vector<float> y = run.forward(true)[0].to_vector<float>();
    CHECK(std::count(y.begin(), y.end(), 0.0f) > n / 4);
    CHECK(std::count(y.begin(), y.end(), 2.0f) > n / 4);
    run.backward(ones({n}));
    CHECK(gradient.to_vector<float>() == y);
  }
}

TEST_CASE("a second backward has the numbers that forward drew, or says that it cannot") {
  const NDArray x = random::uniform({64, 64}), w = random::uniform({64, 64}), gradient = zeros({64, 64});
  const Symbol weight = var("w"), hidden = dropout(dot(var("x"), weight), {.p = 0.5f});
  Executor run =
      dot(elemwise_mul(strop::tanh(hidden), hidden), weight).bind(cpu(), {{"x", x}, {"w", w}}, {{"w", gradient}});
  run.forward(true);
  run.backward(ones({64, 64}));
  const NDArray first = gradient.copy();
  std::string said;
  try {
    run.backward(ones({64, 64}));
  } catch (const Error& error) {
    said = error.what();
  }
  if (said.empty())
    CHECK(allclose(gradient, first));
  else
    CHECK(said.find("does not compute the same twice") != std::string::npos);
  run.forward(false);  // nothing is drawn
  run.backward(ones({64, 64}));
  const NDArray plain = gradient.copy();
  CHECK_NOTHROW(run.backward(ones({64, 64})));
  CHECK(allclose(gradient, plain));
}

TEST_CASE("a gradient may go to the memory of an argument: it comes there at the end") {
  const NDArray x = random::uniform({6, 6}), a = random::uniform({6, 6}), b = random::uniform({6, 6});
  const Symbol net = dot(strop::tanh(dot(var("x"), var("a"))), var("b"));
  const auto gradients = [&](bool shared) {
    const NDArray weight = a.copy(), dx = zeros({6, 6}), db = shared ? weight : zeros({6, 6});
    Executor run = net.bind(cpu(), {{"x", x}, {"a", weight}, {"b", b}}, {{"x", dx}, {"b", db}});
    run.forward(true);
    run.backward(ones({6, 6}));
    return std::pair(dx.to_vector<float>(), db.to_vector<float>());
  };
  CHECK(gradients(true) == gradients(false));
}

TEST_CASE("a monitor is shown what every node computes, also where nodes are fused or lie in the same memory") {
  const Symbol net = loss(
      quadratic(quadratic(dense_layer(var("data"), {.num_hidden = 3}, "fc"), {.a = 1}, "square"), {.b = 2}, "twice"),
      {}, "out");
  for (const GradRequest request : {GradRequest::write, GradRequest::add}) {
    auto run = net.simple_bind(cpu(), {{"data", {5, 4}}}, request, {{"data", f64}});
    scatter(run.args());
    const NDArray output = run.forward(true)[0];
    run.backward();
    const NDArray expected = output.copy();
    NamedArrays gradients;
    for (const auto& [name, gradient] : run.grads()) gradients.emplace_back(name, gradient.copy());

    NamedArrays seen;
    const auto names = [&] {
      Names all;
      for (const auto& one : seen) all.push_back(one.first);
      return all;
    };
    run.set_monitor([&](const std::string& name, const NDArray& value) { seen.emplace_back(name, value); });
    CHECK(sentence([&] { run.backward(); }) == "backward: forward has not run");
    for (int i = 0; i < 2; ++i) {
      seen.clear();
      CHECK(run.forward(true)[0].is(output));
      CHECK(names() == Names{"fc_output", "square_output", "twice_output", "out_output"});
      CHECK(same(seen[1].second, quadratic(seen[0].second, {.a = 1})));
      CHECK(same(seen[2].second, quadratic(seen[1].second, {.b = 2})));
      CHECK(output.to_vector<double>() == expected.to_vector<double>());
      CHECK(run.outputs()[0].is(output));
    }
    seen.clear();
    for (const auto& [name, gradient] : run.grads()) (void)gradient.copy();
    run.backward();
    CHECK(names() == Names{"out_backward_data", "twice_backward_data", "square_backward_data", "fc_backward_data",
                           "fc_backward_weight", "fc_backward_bias"});
    const float k = request == GradRequest::add ? 2 : 1;
    for (const auto& [name, gradient] : gradients) CHECK(same(run.grad(name), quadratic(gradient, {.b = k})));
    CHECK(same(seen[1].second, quadratic(seen[0].second, {.b = 2})));
    CHECK(same(seen[4].second, gradients[1].second));  // of itself, whatever it is added to

    seen.clear();
    run.set_monitor([&](std::string_view name, const NDArray& value) { seen.emplace_back(name, value); }, true);
    run.forward();
    CHECK(names() == Names{"data", "fc_data", "fc_weight", "fc_weight", "fc_bias", "fc_bias", "fc_output",
                           "square_data", "square_output", "twice_data", "twice_output", "out_data", "out_label",
                           "out_label", "out_output"});
    CHECK(same(seen[7].second, seen[6].second));
    run.set_monitor(nullptr);
    seen.clear();
    run.forward(true);
    CHECK(seen.empty());
    CHECK(output.to_vector<double>() == expected.to_vector<double>());
  }
  // What it throws comes out of forward.
  auto plain = quadratic(var("x"), {.a = 1}, "q").bind(cpu(), {{"x", array({3})}});
  plain.set_monitor([](const std::string& name, const NDArray&) { fail("not ", name); });
  CHECK(sentence([&] { plain.forward(); }) == "not q_output");
}

TEST_CASE("parameters are copied into an executor, all or none") {
  auto run = mlp().simple_bind(cpu(), {{"data", {5, 4}}});
  const NDArray weight = full({8, 4}, 2, f64), bias = full({3}, 4);
  run.copy_params_from({{"fc1_weight", weight}, {"fc2_bias", bias}});
  CHECK(same(run.arg("fc1_weight"), full({8, 4}, 2)));
  CHECK(same(run.arg("fc2_bias"), bias));
  CHECK(sentence([&] { run.copy_params_from({{"fc2_bias", full({3}, 7)}, {"fc1_weight", full({8, 5}, 1)}}); }) ==
        "copy_params_from: argument 'fc1_weight' has shape (8, 5), expected (8, 4)");
  CHECK(sentence([&] {
          run.copy_params_from({{"fc2_bias", full({3}, 7)}, {"fc3_bias", bias}});
        }).starts_with("copy_params_from: no argument 'fc3_bias'; nearest: "));
  CHECK(sentence([&] {
          run.copy_params_from({}, {{"fc2_bias", bias}});
        }).starts_with("copy_params_from: no auxiliary state 'fc2_bias'"));
  CHECK(same(run.arg("fc2_bias"), bias));
  run.copy_params_from({{"fc2_bias", full({3}, 7)}, {"fc3_bias", bias}}, {{"mean", bias}}, true);
  CHECK(same(run.arg("fc2_bias"), full({3}, 7)));
  auto centered = center(var("x"), {}, "c").simple_bind(cpu(), {{"x", {4}}});
  centered.copy_params_from({}, {{"c_moving_mean", array({2})}});
  CHECK(same(centered.forward(false, {{"x", array({1, 2, 3, 6})}})[0], array({-1, 0, 1, 4})));
  const BindOptions sparse{.storages = {{"x", csr}}};
  CHECK(quadratic(var("x"), {.a = 1})
            .simple_bind(cpu(), {{"x", {2, 3}}}, GradRequest::null, {}, sparse)
            .forward()[0]
            .storage() == csr);
}
