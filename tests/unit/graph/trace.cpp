// SPDX-License-Identifier: Apache-2.0
/// \file
/// Traced functions: run once for each kind of arguments, then replayed; with the results of the function itself.
#include "operators.hpp"

#include <strop/autograd/backward.hpp>
#include <strop/autograd/tape.hpp>
#include <strop/graph/trace.hpp>
#include <strop/ops/cast.hpp>
#include <strop/tensor/random.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

using namespace graph_tests;

namespace {

/// s += g; the result is g.
struct Accumulate {
  static constexpr std::string_view inputs[] = {"s", "g"}, mutates[] = {"s"};
  constexpr auto forward(auto s, auto g) const { return std::make_tuple(g + 0 * s, s + g); }
};
inline constexpr Op<Accumulate> accumulate;

/// x + a number that is drawn
struct Noise {
  static constexpr Resources resources{.random = true};
  template <Real E>
  void forward(Cpu& ctx, View<const E> x, View<E> y) const {
    float u[1];
    ctx.random().fill_uniform(u, 1);
    for (std::int64_t i = 0; i < x.size(); ++i) y[i] = x[i] + u[0];
  }
  template <Real E>
  void grad_use_none(Cpu&, View<const E> dy, View<E> dx) const {
    for (std::int64_t i = 0; i < dy.size(); ++i) dx[i] = dy[i];
  }
};
inline constexpr Op<Noise> noise;

/// The same, without saying that it draws
struct QuietNoise {
  void forward(Cpu& ctx, View<const float> x, View<float> y) const {
    float u[1];
    ctx.random().fill_uniform(u, 1);
    for (std::int64_t i = 0; i < x.size(); ++i) y[i] = x[i] + u[0];
  }
};
inline constexpr Op<QuietNoise> quiet_noise;

/// 2·x, which a traced function computes within the kernel
struct InnerCalls {
  void forward(Cpu&, View<const float> x, View<float> y) const {
    static const auto doubled = trace_function([](const NDArray& v) { return quadratic(v, {.b = 2}); });
    const NDArray made = doubled(array(std::vector<float>(x.data(), x.data() + x.size())));
    std::copy_n(made.to_vector<float>().begin(), y.size(), y.data());
  }
};
inline constexpr Op<InnerCalls> inner_calls;

/// x, which must be positive
struct Positive {
  template <Real E>
  void forward(Cpu&, View<const E> x, View<E> y) const {
    for (std::int64_t i = 0; i < x.size(); ++i) {
      if (!(x[i] > 0)) throw Error("positive: an element is not above 0");
      y[i] = x[i];
    }
  }
  template <Real E>
  void grad_use_none(Cpu&, View<const E> dy, View<E> dx) const {
    for (std::int64_t i = 0; i < dy.size(); ++i) dx[i] = dy[i];
  }
};
inline constexpr Op<Positive> positive;

}  // namespace

TEST_CASE("the function runs once per shapes, types and storages, and its graph from then on") {
  int runs = 0;
  const auto f = trace_function([&](const NDArray& x, const NDArray& y) {
    ++runs;
    return times(quadratic(x, {.a = 1, .c = 2}), y);
  });
  const NDArray a = array({1.0f, 2.0f}), b = array({3.0f, -1.0f});
  const NDArray first = f(a, b), second = f(b, a);
  CHECK(runs == 1);
  CHECK(same(first, array({9.0f, -6.0f})));
  CHECK(same(second, array({11.0f, 6.0f})));
  CHECK(same(first, array({9.0f, -6.0f})));  // each call has results of its own
  CHECK(same(f(a, a), array({3.0f, 12.0f})));
  CHECK(runs == 1);
  CHECK(same(f(array<double>({1, 2}), array<double>({1, 1})), array<double>({3, 6})));
  CHECK(same(f(array({1.0f}), array({1.0f})), array({3.0f})));
  CHECK(allclose(f(array({{0, 1}}).to(csr), array({{2.0f, 2.0f}})), array({{4.0f, 6.0f}})));
  CHECK(runs == 4);
  CHECK(f.graphs() == 4);
  {
    const train_mode training;
    f(a, b);
  }
  CHECK(runs == 5);
  const auto copy = f;
  copy(a, b);
  CHECK(runs == 5);
}

TEST_CASE("one argument twice at the first call is two arguments") {
  const auto f =
      trace_function([](const NDArray& x, const NDArray& y) { return quadratic(plus(x, times(y, y)), {.b = 1}); });
  const NDArray a = array({2.0f}), b = array({3.0f});
  CHECK(same(f(a, a), array({6.0f})));
  CHECK(same(f(a, b), array({11.0f})));
  CHECK(same(f(b, a), array({7.0f})));
}

TEST_CASE("results: one array, vectors, tuples, pairs, arrays, an argument, an array from outside") {
  const NDArray a = array({4.0f, 1.0f}), b = array({1.0f, 2.0f}), outside = array({7.0f});
  const auto list = trace_function([](const NDArray& x, const NDArray& y) { return both(x, y); });
  const auto tuple = trace_function([&](const NDArray& x, const NDArray& y) {
    const NDArray sum = plus(x, y);
    return std::make_tuple(sum, x, outside, sum);
  });
  const auto pair =
      trace_function([](const NDArray& x) { return std::pair(quadratic(x, {.b = 2}), quadratic(x, {.b = 3})); });
  const auto fixed = trace_function([](const NDArray& x) { return std::array{quadratic(x, {.b = 5})}; });
  for (int i = 0; i < 2; ++i) {
    const std::vector<NDArray> two = list(a, b);
    REQUIRE(two.size() == 2);
    CHECK(same(two[0], array({5.0f, 3.0f})));
    CHECK(same(two[1], array({3.0f, -1.0f})));
    const auto [sum, argument, captured, again] = tuple(a, b);
    CHECK(same(sum, array({5.0f, 3.0f})));
    CHECK(argument.is(a));
    CHECK(captured.is(outside));
    CHECK(again.is(sum));
    CHECK(same(pair(a).second, array({12.0f, 3.0f})));
    CHECK(same(fixed(a)[0], array({20.0f, 5.0f})));
  }
}

TEST_CASE("arrays from outside are read as they are at each call") {
  NDArray w = array({2.0f, 3.0f});
  const auto f = trace_function([&](const NDArray& x) { return times(x, w); });
  const NDArray x = array({1.0f, 1.0f});
  CHECK(same(f(x), array({2.0f, 3.0f})));
  plus(w, array({1.0f, 1.0f}), into(w));
  CHECK(same(f(x), array({3.0f, 4.0f})));
  CHECK(same(f(w), array({9.0f, 16.0f})));
  // One that is an argument of the first call as well is an argument there, and comes from outside here.
  for (const Storage storage : {dense, csr, row_sparse}) {
    const NDArray both = array({{0, 2}, {3, 0}}).to(storage), other = array({{1, 1}, {1, 1}}).to(storage);
    const auto g = trace_function([&](const NDArray& v) { return times(v, both); });
    CHECK(same(g(both).to(dense), array({{0, 4}, {9, 0}})));
    CHECK(same(g(other).to(dense), array({{0, 2}, {3, 0}})));
  }
}

TEST_CASE("recorded calls have gradients: of arguments, of arrays from outside, twice, of the second order") {
  NDArray w = array<double>({2, -1}), x = array<double>({0.5, 3});
  int runs = 0;
  const auto g = [&](const NDArray& v) {
    ++runs;
    return times(quadratic(v, {.a = 1}), w);
  };
  const auto f = trace_function(g);
  w.attach_grad();
  x.attach_grad();
  for (int i = 0; i < 3; ++i) {
    {
      const record scope;
      f(f(x)).backward();
    }
    const NDArray dw = w.grad().copy(), dx = x.grad().copy();
    {
      const record scope;
      g(g(x)).backward();
    }
    CHECK(same(dw, w.grad()));
    CHECK(same(dx, x.grad()));
  }
  CHECK(f.graphs() == 1);
  NDArray second;
  {
    const record scope;
    second = grad(grad(f(x), {x}, {.create_graph = true})[0], {x})[0];
  }
  CHECK(same(second, array<double>({4, -2})));
  CHECK(same(f(x), g(x)));  // unrecorded
}

TEST_CASE("a kernel may call a traced function of its own while one is traced") {
  const auto f =
      trace_function([](const NDArray& v) { return quadratic(inner_calls(quadratic(v, {.b = 2})), {.b = 3}); });
  for (int call = 0; call < 3; ++call) CHECK(same(f(array({1.0f, 2.0f})), array({12.0f, 24.0f})));
}

TEST_CASE("a scope's attributes are not said of what a trace or a gradient makes for itself") {
  const AttrScope scope{{"__shape__", "(7,)"}, {"__dtype__", "float16"}};
  const auto f = trace_function([](const NDArray& v) { return quadratic(v, {.a = 1}); });
  for (int call = 0; call < 2; ++call) CHECK(same(f(array({2.0f})), array({4.0f})));
  CHECK(f.graphs_by_calls() == 0);
  Symbol v;
  {
    const AttrScope none{{"__shape__", "(2,)"}, {"__dtype__", "float32"}};
    v = var("v");
  }
  auto run = quadratic(v, {.a = 1}).bind(cpu(), {{"v", array({1.0f, 2.0f})}}, {{"v", zeros({2})}});
  run.forward(true);
  run.backward(ones({2}));
  CHECK(same(run.grad("v"), array({2.0f, 4.0f})));
}

TEST_CASE("views and copies within the function") {
  const auto g = [](const NDArray& x) {
    const NDArray square = quadratic(x, {.a = 1});
    return std::array{times(square[1], square.reshape({-1}).slice(0, 2)), plus(square.copy(), square.detach()),
                      quadratic(x.slice(0, 1), {.b = 1})};
  };
  const auto f = trace_function(g);
  NDArray a = array({{1.0f, 2.0f}, {3.0f, 4.0f}}), b = array({{0.5f, -1.0f}, {2.0f, 7.0f}});
  for (const NDArray& x : {a, b, a}) {
    const auto got = f(x), expected = g(x);
    for (std::size_t k = 0; k < got.size(); ++k) CHECK(same(got[k], expected[k]));
  }
  a.attach_grad();
  for (int i = 0; i < 2; ++i) {
    {
      const record scope;
      backward({f(a)[0], f(a)[2]});
    }
    const NDArray found = a.grad().copy();
    {
      const record scope;
      backward({g(a)[0], g(a)[2]});
    }
    CHECK(same(found, a.grad()));
  }
}

TEST_CASE("operators that write an input write arguments and arrays from outside") {
  const NDArray mean = array({4.0f});
  const auto f =
      trace_function([&](const NDArray& x, const NDArray& own) { return plus(center(x, mean), center(x, own)); });
  const NDArray own = array({0.0f}), x = array({1.0f, 3.0f});
  const train_mode training;
  f(x, own);
  CHECK(mean.item<float>() == 3);
  CHECK(own.item<float>() == 1);
  f(x, own);
  CHECK(mean.item<float>() == 2.5f);
  CHECK(own.item<float>() == 1.5f);
}

TEST_CASE("what is written outside is written at every call, and read in the order of the function") {
  const NDArray g = array({1.0f, 2.0f});
  NDArray s = zeros({2});
  const auto unread = trace_function([&](const NDArray& x) {
    accumulate(s, x);
    return plus(x, x);
  });
  for (int i = 0; i < 3; ++i) unread(g);
  CHECK(s.to_vector<float>() == std::vector<float>{3, 6});
  s = zeros({2});
  const auto before = trace_function([&](const NDArray& x) {
    const NDArray read = plus(s, s), copied = s.copy();
    accumulate(s, x);
    return std::tuple(read, copied, plus(s, s));
  });
  for (float i = 0; i < 3; ++i) {
    const auto [read, copied, after] = before(g);
    CHECK(read.to_vector<float>() == std::vector<float>{2 * i, 4 * i});
    CHECK(copied.to_vector<float>() == std::vector<float>{i, 2 * i});
    CHECK(after.to_vector<float>() == std::vector<float>{2 * i + 2, 4 * i + 4});
  }
}

TEST_CASE("random numbers are drawn in the order of the function, also those that nobody reads") {
  const NDArray x = zeros({1});
  x.attach_grad();
  const auto check_drawn = [&](const auto& g, bool as_graph) {
    const auto f = trace_function(g);
    random::seed(11);
    std::vector<float> expected;
    for (int i = 0; i < 4; ++i)
      for (const float v : g(x).template to_vector<float>()) expected.push_back(v);
    random::seed(11);
    std::vector<float> found;
    for (int i = 0; i < 4; ++i) {
      std::optional<record> scope;
      if (i >= 2) scope.emplace();
      for (const float v : f(x).template to_vector<float>()) found.push_back(v);
    }
    CHECK(found == expected);
    CHECK(f.graphs() == 2);
    CHECK(f.graphs_by_calls() == (as_graph ? 0 : 2));
  };
  check_drawn([](const NDArray& v) { return noise(noise(v)); }, true);
  check_drawn(
      [](const NDArray& v) {
        const NDArray first = noise(v), second = noise(v);
        return quadratic(plus(second, quadratic(first, {.b = 2})), {.b = 1});
      },
      false);
  check_drawn(
      [](const NDArray& v) {
        (void)noise(v);
        const NDArray read = noise(v);
        (void)noise(quadratic(v, {.b = 3}));
        return plus(read, noise(v));
      },
      false);
  const auto quiet = trace_function([](const NDArray& v) { return quadratic(quiet_noise(v), {.b = 2}); });
  for (int i = 0; i < 2; ++i)
    CHECK(sentence([&] { (void)quiet(x).item<float>(); }).find("announces no random numbers") != std::string::npos);
}

TEST_CASE("an error of a replay names the operator and the line of its call") {
  const int line = __LINE__ + 1;
  const auto f = trace_function([](const NDArray& x) { return quadratic(positive(x), {.b = 1}); });
  const NDArray good = array({1.0f, 2.0f}), bad = array({1.0f, -2.0f});
  for (int i = 0; i < 2; ++i) CHECK(same(f(good), good));
  const std::string place = "trace.cpp:" + std::to_string(line);
  for (const bool recorded : {false, true}) {
    bad.attach_grad();
    std::optional<record> scope;
    if (recorded) scope.emplace();
    f(good);
    std::string said;
    try {
      f(bad).wait();
    } catch (const Error& error) {
      said = error.what();
    }
    CAPTURE(said);
    CHECK(said.find("positive: an element is not above 0") != std::string::npos);
    CHECK(said.find(place) != std::string::npos);
    CHECK(same(f(good), good));
  }
}

TEST_CASE("an error of the call that traces names the line, of the first shape and of a new one, as a replay does") {
  const int line = __LINE__ + 1;
  const auto f = trace_function([](const NDArray& x) { return plus(positive(x), array({1.0f, 1.0f})); });
  const std::string place = "trace.cpp:" + std::to_string(line);
  const NDArray bad = array({1.0f, 2.0f, 3.0f});
  const auto said = [&](const NDArray& x) { return sentence([&] { f(x); }); };
  const std::string shapes = said(bad);
  CAPTURE(shapes);
  CHECK(shapes.starts_with("Error in node gtplus0, called at "));
  CHECK(shapes.find(place + ": gt_plus: ") != std::string::npos);
  CHECK(same(f(array({1.0f, 2.0f})), array({2.0f, 3.0f})));
  CHECK(said(bad) == shapes);
  const record scope;
  CHECK(said(bad) == shapes);
  if (std::getenv("STROP_TEST_ASYNCHRONOUS") != nullptr) return;  // there the kernel's own errors come with a wait
  const std::string first = said(array({-1.0f, 1.0f}));
  CHECK(same(f(array({1.0f, 2.0f})), array({2.0f, 3.0f})));
  CHECK(said(array({-1.0f, 1.0f})) == first);
  CHECK(first.find(place + ": positive: an element") != std::string::npos);
}

TEST_CASE("a copy is a copy at every call, and modes within the function are those of its calls") {
  const NDArray x = array({2.0f, 3.0f});
  x.attach_grad();
  const auto copy = trace_function([](const NDArray& a) { return a.copy(); });
  const auto apart = trace_function([](const NDArray& a) {
    const strop::pause scope;
    return times(a, a);
  });
  for (int i = 0; i < 2; ++i) {
    record scope;
    CHECK(copy(x).address() != x.address());
    plus(apart(x), x).backward();
    CHECK(x.grad().to_vector<float>() == std::vector<float>{1, 1});
  }
}

TEST_CASE("a traced function within another becomes part of its graph") {
  int inner_runs = 0;
  const auto inner = trace_function([&](const NDArray& x) {
    ++inner_runs;
    return quadratic(x, {.a = 1});
  });
  const auto outer = trace_function([&](const NDArray& x) { return plus(inner(x), inner(inner(x))); });
  CHECK(same(outer(array({2.0f})), array({20.0f})));
  CHECK(same(outer(array({1.0f})), array({2.0f})));
  CHECK(inner_runs == 3);
  CHECK(inner.graphs() == 0);
}

TEST_CASE("modes within the function hold for what they hold") {
  NDArray x = array({3.0f});
  x.attach_grad();
  const auto f = trace_function([](const NDArray& v) {
    CHECK(is_recording());
    NDArray fixed;
    {
      const strop::pause scope;
      CHECK_FALSE(is_recording());
      fixed = quadratic(v, {.a = 1});
    }
    return times(fixed, v);
  });
  const record scope;
  f(x).backward();
  CHECK(same(x.grad(), array({9.0f})));
}

TEST_CASE("what fails in a traced function is refused, and nothing is left behind") {
  const NDArray x = array({1.0f, 2.0f});
  const auto refused = [&](auto g) {
    const auto f = trace_function(g);
    const std::string said = sentence([&] { f(x); });
    CHECK(f.graphs() + f.without_graph() == 0);
    CHECK_FALSE(is_recording());
    CHECK(same(quadratic(x, {.b = 1}), x));  // calls are no longer watched
    return said;
  };
  const std::string shapes = refused([](const NDArray& v) { return plus(v, array({1, 2, 3})); });
  CHECK(shapes.starts_with("Error in node "));
  CHECK(shapes.find("trace.cpp:") != std::string::npos);
  CHECK(shapes.find(": gt_plus: ") != std::string::npos);
  CHECK(refused([](const NDArray&) { return NDArray(); }) ==
        "trace_function: the function returned a handle without an array");
  CHECK(sentence([] { trace_function([](const NDArray& v) { return v; })(NDArray()); }) ==
        "trace_function: argument 0 is a handle without an array");
}

TEST_CASE("threads take turns, each with its own results") {
  const auto f = trace_function([](const NDArray& x) { return quadratic(quadratic(x, {.b = 2}), {.c = 1}); });
  std::array<std::thread, 4> threads;
  std::array<int, 4> wrong{};
  for (std::size_t t = 0; t < threads.size(); ++t)
    threads[t] = std::thread([&, t] {
      for (int i = 0; i < 200; ++i) {
        const NDArray x = full({3}, static_cast<double>(i));
        if (!same(f(x), full({3}, 1))) ++wrong[t];
        if (!same(trace_function([](const NDArray& v) { return plus(v, v); })(x), full({3}, 2.0 * i))) ++wrong[t];
      }
    });
  for (std::thread& thread : threads) thread.join();
  for (int n : wrong) CHECK(n == 0);
}
