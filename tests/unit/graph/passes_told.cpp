// SPDX-License-Identifier: Apache-2.0
/// \file
/// STROP_PASSES: what passes say of themselves, and what is said of passes that fail or make what is not legal.
#include "operators.hpp"

#include <strop/core/log.hpp>
#include <strop/graph/passes/list.hpp>
#include <strop/ops/cast.hpp>
#include <strop/ops/elementwise/elemwise.hpp>
#include <strop/ops/elementwise/scalar.hpp>
#include <strop/ops/reduce.hpp>

#include <doctest/doctest.h>

#include <cstdlib>
#include <stdexcept>
#include <string>
#include <vector>

using namespace graph_tests;

namespace {

struct PtWave {
  float k = 1;
  constexpr auto forward(auto x) const { return sin(k * x); }
};
constexpr Op<PtWave> wave;
struct PtBend {
  constexpr auto forward(auto x) const { return x * x; }
  constexpr auto grad_use_in(auto dy, auto x) const { return 2 * x * dy; }
};
constexpr Op<PtBend> bend;

/// Sets STROP_PASSES while it lives, has no test fail by what it finds, and keeps what is logged.
struct Asked {
  static inline std::vector<std::string> said;
  explicit Asked(const char* value)
      : sink(set_log_sink([](std::string_view line) noexcept { said.emplace_back(line); })) {
    ::setenv("STROP_PASSES", value, 1);
    said.clear();
  }
  ~Asked() {
    ::unsetenv("STROP_PASSES");
    set_log_sink(sink);
    detail::illegal_graphs = told;
  }
  Asked(const Asked&) = delete;
  Asked& operator=(const Asked&) = delete;
  LogSink sink;
  void (*told)(const std::string&) = detail::illegal_graphs.exchange(nullptr);
};

const NamedArrays args{{"x", array({1, 2, 3})}, {"y", array({1, 1, 1})}};

std::string told() {
  std::string all;
  for (const std::string& line : Asked::said) all += line + '\n';
  return all;
}

/// What one pass does to the graph of a symbol.
std::string refusal(const Symbol& net, const detail::Pass& pass) {
  detail::PassGraph graph{net.outputs(), cpu()};
  const detail::Graph nodes(net.outputs());
  for (int n = 0; n < nodes.size(); ++n)
    if (nodes.node(n).is_variable())
      graph.variables.add({detail::Ref(&nodes.node(n)), 0},
                          nodes.node(n).name == "x" ? args[0].second : args[1].second);
  return sentence([&] { detail::run_passes({&pass, 1}, graph); });
}
/// A copy of the last node, changed.
template <class F>
void change(detail::PassGraph& graph, F f) {
  const detail::Ref<detail::Node> made(new detail::Node(*graph.outputs[0].node));
  f(*made);
  graph.outputs[0].node = made;
}

}  // namespace

TEST_CASE("STROP_PASSES=print: a line for each pass") {
  const Symbol x = var("x"), y = var("y");
  const Symbol a = wave(x, {.k = 2}, "a"), b = wave(x, {.k = 2}, "b"), c = elemwise_add(a, b, {}, "c");
  const Symbol net = elemwise_mul(bend(c, {}, "d"), y, {}, "e");
  const Asked asked("print");
  net.bind(cpu(), args);
  CHECK(told() ==
        "pass place: 5 nodes: a = PtWave(x, k=2); b = PtWave(x, k=2); c = elemwise_add(a, b); d = PtBend(c); "
        "e = elemwise_mul(d, y)\n"
        "pass settle: 5 nodes, as before\n"
        "pass merge: 5 nodes to 4: a = PtWave(x, k=2); c = elemwise_add(a, a); d = PtBend(c); e = elemwise_mul(d, y)\n"
        "pass fold: 4 nodes, as before\n"
        "pass fuse: 4 nodes to 1: e = _fused_maps[a, c, d, e](x, y)\n");
}

TEST_CASE("the passes of gradients, and of steps, say theirs") {
  const Symbol x = var("x");
  const Symbol net = elemwise_add(bend(x, {}, "a"), wave(x, {}, "b"), {}, "c");
  const Fuse off("0");
  const Asked asked("print");
  net.simple_bind(cpu(), {{"x", {3}}});
  CHECK(told() ==
        "pass place: 3 nodes: a = PtBend(x); b = PtWave(x); c = elemwise_add(a, b)\n"
        "pass gradient: 3 nodes to 7: a = PtBend(x); b = PtWave(x); c = elemwise_add(a, b); "
        "c_backward = _backward_elemwise_add(c_output_head); b_backward = _backward_PtWave(c_backward[1], x); "
        "a_backward = _backward_PtBend(c_backward[0], x); x_grad_sum = _grad_sum2(b_backward, a_backward)\n"
        "pass mirror: 7 nodes, as before\n"
        "pass drop_unused: 4 steps\n"
        "pass run_early: 4 steps\n"
        "pass add_in_place: 4 steps\n");
}

TEST_CASE("of a large graph the nodes that a pass has made") {
  Symbol net = var("x");
  for (int i = 0; i < 18; ++i) net = bend(net, {}, "n" + std::to_string(i));
  net = elemwise_add(bend(net, {}, "p"), bend(net, {}, "q"), {}, "r");
  const Asked asked("print");
  net.bind(cpu(), {{"x", array({1})}});
  CHECK(
      told() ==
      "pass place: 21 nodes\n"
      "pass settle: 21 nodes, as before\n"
      "pass merge: 21 nodes to 20: r = elemwise_add(p, p)\n"
      "pass fold: 20 nodes, as before\n"
      "pass fuse: 20 nodes to 1: r = _fused_maps[n0, n1, n2, n3, n4, n5, n6, n7, n8, n9, n10, n11, n12, n13, n14, n15, "
      "n16, n17, p, r](x)\n");
}

TEST_CASE("a pass that fails says its name and that of the node") {
  const Symbol net = bend(wave(var("x"), {}, "first"), {}, "second");
  const detail::Pass broken{"broken",
                            [](detail::PassGraph& graph) {
                              graph.known->at = &graph.known->graph.node(1);
                              throw std::runtime_error("out of luck");
                            },
                            detail::Pass::for_speed};
  CHECK(refusal(net, broken) == "Error in node first: the pass broken failed: out of luck");
  detail::PassGraph graph{net.outputs(), cpu()};
  CHECK_THROWS_AS(detail::run_passes({&broken, 1}, graph), detail::PassError);  // nobody looks for another way then
  const detail::Pass lost{"lost", [](detail::PassGraph&) { fail("no node at all"); }, detail::Pass::for_speed};
  CHECK(refusal(net, lost) == "the pass lost failed: no node at all");
  const detail::Pass refuses{"refuses", [](detail::PassGraph&) { fail("what the user says is wrong"); }};
  CHECK(refusal(net, refuses) == "what the user says is wrong");
}

TEST_CASE("STROP_PASSES=check: what a pass made is legal") {
  const Asked asked("check");
  const Symbol x = var("x"), y = var("y");
  const Symbol net = elemwise_mul(wave(x, {}, "a"), y, {}, "b");
  const detail::Pass nothing{"nothing", [](detail::PassGraph&) {}};
  CHECK(refusal(net, nothing).empty());
  const auto said = [&](void (*run)(detail::PassGraph&)) { return refusal(net, {"broken", run}); };
  CHECK(said([](detail::PassGraph& graph) { change(graph, [](detail::Node& node) { node.inputs.resize(1); }); }) ==
        "Error in node b: the pass broken made what is not legal: it has 1 input, and elemwise_mul takes 2");
  CHECK(said([](detail::PassGraph& graph) { change(graph, [](detail::Node& node) { node.inputs[1] = {}; }); }) ==
        "Error in node b: the pass broken made what is not legal: it has no 'rhs'");
  CHECK(said([](detail::PassGraph& graph) { change(graph, [](detail::Node& node) { node.inputs[0].index = 1; }); }) ==
        "Error in node b: the pass broken made what is not legal: it reads output 1 of 'a', which has 1");
  CHECK(said([](detail::PassGraph& graph) { graph.outputs[0].index = 2; }) ==
        "Error in node b: the pass broken made what is not legal: the graph gives its output 2, and it has 1");
  CHECK(said([](detail::PassGraph& graph) { graph.outputs = {}; }) ==
        "the pass broken made what is not legal: the graph has 0 outputs instead of 1");
  CHECK(said([](detail::PassGraph& graph) {  // another type
          const Symbol zero = strop::cast(Symbol(graph.outputs), {.dtype = f64}, "wide");
          graph.outputs = zero.outputs();
        }) ==
        "Error in node wide: the pass broken made what is not legal: its output 0 was dense float32 (3,) and is dense "
        "float64 (3,)");
  CHECK(said([](detail::PassGraph& graph) { graph.outputs = sum(Symbol(graph.outputs), {}, "less").outputs(); }) ==
        "Error in node less: the pass broken made what is not legal: its output 0 was dense float32 (3,) and is dense "
        "float32 (1,)");
  // A cycle, which is opened again for it to go.
  static detail::Node* first = nullptr;
  CHECK(said([](detail::PassGraph& graph) {
          first = graph.outputs[0].node->inputs[0].node.get();
          first->inputs[0] = graph.outputs[0];
        }) == "Error in node a: the pass broken made what is not legal: it reads 'b', which does not come before it");
  first->inputs[0] = x.outputs()[0];
  CHECK(refusal(net, nothing).empty());
  CHECK(Asked::said.empty());
}

TEST_CASE("what passes know of values follows from their graph") {
  const Asked asked("check");
  const detail::Pass wrong{"wrong",
                           [](detail::PassGraph& graph) {
                             detail::Rewriting made(*graph.known);
                             for (int n = 0; n < graph.known->graph.size(); ++n) made.keep(n);
                             const Symbol other = bend(Symbol(graph.outputs[0].node->inputs[0]), {}, "other");
                             made.replace(graph.known->graph.value(graph.outputs[0]), other.outputs()[0]);
                             graph.known = made.finish();
                             graph.known->storages[graph.known->graph.value(graph.known->roots[0])] = csr;
                           },
                           detail::Pass::for_speed};
  CHECK(refusal(bend(wave(var("x"), {}, "a"), {}, "b"), wrong) ==
        "Error in node other: the pass wrong made what is not legal: its output 0 was csr float32 (3,) and is dense "
        "float32 (3,)");
}

TEST_CASE("STROP_PASSES is print, check or both") {
  {
    const Asked two("print,check");
    CHECK_NOTHROW(var("x").bind(cpu(), {{"x", array({1})}}));
    CHECK(Asked::said.size() == 5);
  }
  const Asked all("all");
  CHECK(sentence([] { var("x").bind(cpu(), {{"x", array({1})}}); }) ==
        "STROP_PASSES: expected print, check or print,check, got 'all'");
}
