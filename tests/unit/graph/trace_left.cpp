// SPDX-License-Identifier: Apache-2.0
/// \file
/// Traced functions that no graph can have, or that one can have call by call alone: their results, and what the log
/// says.
#include "operators.hpp"

#include <strop/autograd/backward.hpp>
#include <strop/autograd/function.hpp>
#include <strop/autograd/tape.hpp>
#include <strop/core/log.hpp>
#include <strop/graph/trace.hpp>
#include <strop/ops/cast.hpp>
#include <strop/tensor/random.hpp>

#include <doctest/doctest.h>

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

using namespace graph_tests;

namespace {

struct Doubled : Function {
  std::vector<NDArray> forward(std::span<const NDArray> in) override { return {plus(in[0], in[0])}; }
  std::vector<NDArray> backward(std::span<const NDArray> heads) override { return {plus(heads[0], heads[0])}; }
};

/// What the log has got since; one at a time.
class Logged {
 public:
  Logged() { lines().clear(); }
  ~Logged() { set_log_sink(before_); }
  Logged(const Logged&) = delete;
  Logged& operator=(const Logged&) = delete;
  static std::vector<std::string>& lines() {
    static std::vector<std::string> all;
    return all;
  }

 private:
  const LogSink before_ = set_log_sink([](std::string_view line) noexcept { lines().emplace_back(line); });
};

}  // namespace

TEST_CASE("a sparse array without its history ends the trace") {
  const NDArray a = array({{0, 1}, {2, 0}}).to(csr);
  for (const bool made : {false, true}) {
    const Logged logged;
    const auto g = [&](const NDArray& v) { return quadratic((made ? quadratic(v, {.a = 1}) : v).detach(), {.a = 1}); };
    const auto f = trace_function(g);
    for (int n = 0; n < 2; ++n) CHECK(same(f(a).to(dense), g(a).to(dense)));
    CHECK(f.graphs() == 0);
    CHECK(f.without_graph() == 1);
    CHECK(Logged::lines().size() == 1);
    CHECK(Logged::lines()[0].find("detach() of a sparse array") != std::string::npos);
  }
}

TEST_CASE("a function that does what a graph cannot runs at each call, and says so once") {
  const NDArray x = array({1.0f, 2.0f}), other = array({3.0f, 5.0f}), longer = array({1.0f, 2.0f, 4.0f});
  /// Calls it as it is and traced, and gives what the log says.
  const auto told = [&](auto g, bool drawn = false) {
    const Logged logged;
    const auto f = trace_function(g);
    const int line = __LINE__ - 1;
    for (const NDArray& v : {x, other, x, longer}) {
      const NDArray y = f(v), wanted = g(v);
      CHECK(y.shape() == wanted.shape());
      if (!drawn) CHECK(same(y, wanted));
    }
    CHECK(f.graphs() == 0);
    CHECK(f.without_graph() == 2);
    CHECK_FALSE(is_recording());
    CHECK(same(quadratic(x, {.b = 1}), x));  // calls are no longer watched
    CHECK(Logged::lines().size() == 1);
    const std::string said = Logged::lines().empty() ? "" : Logged::lines()[0];
    CHECK(said.find(strop::cat("trace_left.cpp:", line, ": it stays without a graph, since ")) != std::string::npos);
    CHECK(said.ends_with(" (STROP_TRACE_LOG=0 silences this)"));
    return said;
  };
  const auto has = [](const std::string& said, std::string_view words) {
    CAPTURE(said);
    CHECK(said.find(words) != std::string::npos);
  };
  has(told([](const NDArray& v) {
        const NDArray y = quadratic(v, {.b = 2});
        return quadratic(y, {.b = y.slice(0, 1).item<float>()});
      }),
      "since item() cannot be traced: a graph has no values yet, and what depends on them would be fixed; compute with "
      "operators; the last call before was gt_quadratic at ");
  has(told([](const NDArray& v) { return array(v.to_vector<float>()); }), "to_vector() cannot be traced");
  has(told([](const NDArray& v) {
        (void)v.view<float>();
        return quadratic(v, {.b = 1});
      }),
      "view() cannot be traced");
  NDArray to = array({1.0f, 2.0f}), to_longer = array({1.0f, 2.0f, 4.0f});
  has(told([&](const NDArray& v) { return quadratic(v, {.b = 1}, into(v.size() == 2 ? to : to_longer)); }),
      "gt_quadratic cannot be traced: its result goes into an array that is there already; let it make one");
  has(told([](const NDArray& v) { return plus(v, random::uniform(v.shape())); }, true),
      "random::uniform cannot be traced: it would be drawn once; draw with an operator");
  has(told([](const NDArray& v) { return apply<Doubled>({v})[0]; }), "a Function cannot be traced");
  has(told([](const NDArray& v) {
        NDArray w = v.copy();
        w.attach_grad();
        const record scope;
        quadratic(w, {.a = 1}).backward();
        return w.grad();
      }),
      "backward cannot be traced");
  has(told([](const NDArray& v) {
        auto run = quadratic(var("x")).bind(cpu(), {{"x", v}});
        return run.forward()[0];
      }),
      "an Executor cannot be traced");
  has(told([](const NDArray& v) { return center(v, quadratic(v.slice(0, 1))); }),
      "gt_center cannot be traced: it writes its input 'moving_mean'");
  const Logged logged;
  const auto parts =
      trace_function([](const NDArray& v) { return quadratic(quadratic(v, {.b = 2}).data(), {.b = 1}); });
  CHECK(same(parts(array({{0, 1}}).to(csr)), array({2})));
  has(Logged::lines()[0], "it takes a part of an array");
}

TEST_CASE("a function without a graph is differentiated as its calls are") {
  const Logged logged;
  const auto g = [](const NDArray& v) {
    const NDArray y = times(v, v);
    if (y.to_vector<float>()[0] > 10) return times(y, v);
    const strop::pause scope;  // the mode that it restores is that of a function that is traced
    return y;
  };
  const auto f = trace_function(g);
  const NDArray x = array({1.0f, 2.0f});
  x.attach_grad();
  for (const float first : {1.0f, 5.0f, 2.0f}) {
    x.view<float, 1>()[0] = first;
    std::vector<NDArray> gradients;
    for (const auto& function :
         {std::function<NDArray(const NDArray&)>(f), std::function<NDArray(const NDArray&)>(g)}) {
      const record scope;
      function(x).backward();
      CHECK(is_recording());
      gradients.push_back(x.grad().copy());
    }
    CHECK(same(gradients[0], gradients[1]));
  }
  CHECK(f.without_graph() == 1);
  CHECK(Logged::lines().size() == 1);
}

TEST_CASE("a graph that is replayed call by call says why, once") {
  const Logged logged;
  const NDArray mean = array({0.0f});
  const auto f = trace_function([&](const NDArray& v) { return plus(center(v.slice(0, 1), mean), mean); });
  for (const NDArray& v : {array({1.0f, 2.0f}), array({3.0f, 4.0f})}) (void)f(v);
  CHECK(f.graphs_by_calls() == 1);
  CHECK(Logged::lines().size() == 1);
  CHECK(Logged::lines()[0].find(": its graph is replayed call by call, since what one of its operators writes is read "
                                "elsewhere in it as well (STROP_TRACE_LOG=0 silences this)") != std::string::npos);
}
