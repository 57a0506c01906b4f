// SPDX-License-Identifier: Apache-2.0
/// \file
/// Passes: what a graph becomes before it is bound, with the same results as without.
#include "operators.hpp"

#include <strop/autograd/backward.hpp>
#include <strop/graph/gradient.hpp>
#include <strop/graph/graph.hpp>
#include <strop/graph/passes/fused_map.hpp>
#include <strop/graph/trace.hpp>
#include <strop/op/map.hpp>
#include <strop/ops/cast.hpp>
#include <strop/ops/dropout.hpp>
#include <strop/ops/elementwise/activation.hpp>
#include <strop/ops/elementwise/broadcast.hpp>
#include <strop/ops/elementwise/elemwise.hpp>
#include <strop/ops/elementwise/identity.hpp>
#include <strop/ops/elementwise/scalar.hpp>
#include <strop/ops/init.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <random>
#include <string>
#include <tuple>
#include <vector>

using namespace graph_tests;

namespace {

// Maps whose gradients are had in every way: derived, from inputs, from outputs, from neither, none.
struct PaWave {
  float k = 1;
  constexpr auto forward(auto x) const { return sin(k * x); }
};
constexpr Op<PaWave> wave;
struct PaBend {
  constexpr auto forward(auto x) const { return x * x - 0.25f * x; }
  constexpr auto grad_use_in(auto dy, auto x) const { return dy * (2 * x - 0.25f); }
};
constexpr Op<PaBend> bend;
struct PaStep {
  static constexpr bool zero_gradient = true;
  constexpr auto forward(auto x) const { return where(x > 0, 1, 0); }
};
constexpr Op<PaStep> step_up;
struct PaMix {
  constexpr auto forward(auto a, auto b) const { return std::tuple(a * b, a - 0.5f * b); }
};
constexpr Op<PaMix> mix;
struct PaChoose {
  constexpr auto forward(auto a, auto b, auto c) const { return where(a > 0, b * a, c - a); }
};
constexpr Op<PaChoose> choose;

// Maps of integers; the second computes them in double.
struct PaAffine {
  static constexpr DtypeSet dtypes = floating | integral | boolean;
  int a = 3, b = 1;
  constexpr auto forward(auto x) const { return a * x + b; }
};
constexpr Op<PaAffine> affine;
struct PaRatio {
  static constexpr DtypeSet dtypes = floating | integral | boolean;
  constexpr auto forward(auto x) const { return x * 0.4; }
};
constexpr Op<PaRatio> ratio;
struct PaSum {
  static constexpr DtypeSet dtypes = floating | integral | boolean;
  constexpr auto forward(auto x, auto y) const { return x + y; }
};
constexpr Op<PaSum> sum_of;

struct PaSelf {
  constexpr auto forward(auto x) const { return x * x; }
};
constexpr Op<PaSelf> by_itself;

using Bits = std::vector<std::uint64_t>;
Bits bits(const NDArray& a) {
  Bits out;
  if (!a.defined()) return out;
  for (double v : a.to_vector<double>()) out.push_back(std::bit_cast<std::uint64_t>(v));
  return out;
}

struct Outcome {
  std::vector<Bits> outputs, gradients;
  friend bool operator==(const Outcome&, const Outcome&) = default;
};

/// Forward, and where there are heads the gradients of all arguments, each written and then added to a buffer of 2.
Outcome outcome(const Symbol& net, const NamedArrays& args, const std::vector<NDArray>& heads = {}) {
  Outcome out;
  for (const GradRequest request : {GradRequest::write, GradRequest::add}) {
    NamedArrays grads;
    if (!heads.empty())
      for (const auto& [name, a] : args) grads.emplace_back(name, full(a.shape(), 2, a.dtype()));
    Executor run = heads.empty() ? net.bind(cpu(), args) : net.bind(cpu(), args, grads, request);
    for (const NDArray& y : run.forward(true)) out.outputs.push_back(bits(y));
    if (heads.empty()) break;
    run.backward(heads);
    for (const auto& one : run.grads()) out.gradients.push_back(bits(one.second));
  }
  return out;
}
Outcome unfused(const Symbol& net, const NamedArrays& args, const std::vector<NDArray>& heads = {}) {
  const Fuse off("0");
  return outcome(net, args, heads);
}

/// The maps in each fused node of a graph.
Names fused(const Symbol& net) {
  Names found;
  const Symbol all = net.get_internals();
  for (std::int64_t i = 0; i < all.size(); ++i)
    if (all[i].outputs()[0].index == 0 && !all[i].attr("fused").empty()) found.push_back(all[i].attr("fused"));
  return found;
}
/// How many nodes of an operator a graph has.
int count(const Symbol& net, std::string_view op) {
  const detail::Graph graph(net.outputs());
  int n = 0;
  for (int i = 0; i < graph.size(); ++i)
    if (!graph.node(i).is_variable() && graph.node(i).entry->name == op) ++n;
  return n;
}

NDArray drawn(const Shape& shape, Dtype type, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> numbers(-2, 2);
  NDArray a = zeros(shape, f64);
  for (double& v : a.view<double>()) v = numbers(random);
  return a.to(type);
}

}  // namespace

TEST_CASE("a chain of maps is one map") {
  const Symbol x = var("x");
  const Symbol net = squash(bend(wave(x, {.k = 2}, "first"), {}, "second"), {}, "third");
  const NamedArrays args{{"x", drawn({3, 50}, f32, 1)}};
  const Symbol made = optimized(net, cpu(), args);
  CHECK(fused(made) == Names{"first, second, third"});
  // In a cache the gradient reads what the maps' gradients read sooner than it computes it again; larger arrays it
  // reads once, and keeps nothing between.
  const auto rule = [&](const Shape& shape) {
    const Symbol trained = optimized(net, cpu(), {{"x", zeros(shape)}}, {"x"});
    CHECK(fused(trained) == Names{"first, second, third"});
    const detail::GradientRule& of = trained.outputs()[0].node->entry->gradient;
    return std::pair(trained.outputs()[0].node->outputs(), std::popcount(of.in) + std::popcount(of.out));
  };
  CHECK(rule({3, 50}) == std::pair(2, 3));  // the second needs no result of its own
  CHECK(rule({600, 600}) == std::pair(1, 2));
  CHECK(made.list_outputs() == Names{"third_output"});
  CHECK(made.list_arguments() == Names{"x"});
  CHECK(count(made, "_fused_maps") == 1);
  CHECK(outcome(net, args, {drawn({3, 50}, f32, 2)}) == unfused(net, args, {drawn({3, 50}, f32, 2)}));

  auto run = net.bind(cpu(), args);
  CHECK(run.symbol().attr("fused").empty());
  CHECK(run.forward()[0].shape() == Shape{3, 50});
  const NDArray eager = squash(bend(wave(args[0].second, {.k = 2})));
  CHECK(bits(run.forward()[0]) == bits(eager));

  const Fuse off("0");
  CHECK(fused(optimized(net, cpu(), args)).empty());
}

TEST_CASE("nodes that draw numbers draw them in the order of the graph, fused or not") {
  const Symbol x = var("x"), net = elemwise_add(sigmoid(dropout(x)), dropout(x));
  const NDArray ones_of = ones({64});
  const auto drawn = [&](const char* fuse) {
    const Fuse setting(fuse);
    Executor run = net.bind(cpu(), {{"x", ones_of}});
    random::seed(1);
    return run.forward(true)[0].to_vector<float>();
  };
  CHECK(drawn("1") == drawn("0"));
}

TEST_CASE("STROP_FUSE is 0 or 1") {
  const Fuse wrong("perhaps");
  CHECK(sentence([] { var("x").bind(cpu(), {{"x", array({1.0f})}}); }) == "STROP_FUSE: expected 0 or 1, got 'perhaps'");
}

TEST_CASE("a value with two readers, and outputs within a chain") {
  const NamedArrays args{{"x", drawn({700}, f64, 3)}, {"y", drawn({700}, f64, 4)}};
  const Symbol x = var("x"), y = var("y");
  const Symbol a = wave(x, {}, "a"), b = squash(a, {}, "b"), c = times(a, b, {}, "c"), d = plus(c, y, {}, "d");
  const std::vector<NDArray> one{drawn({700}, f64, 5)}, two{drawn({700}, f64, 6), drawn({700}, f64, 7)};
  CHECK(fused(optimized(d, cpu(), args)) == Names{"a, b, c, d"});
  CHECK(outcome(d, args, one) == unfused(d, args, one));
  const Symbol both_out = group({b, d});
  const Symbol made = optimized(both_out, cpu(), args);
  CHECK(fused(made) == Names{"a, b, c, d"});
  CHECK(made.size() == 2);
  CHECK(outcome(both_out, args, two) == unfused(both_out, args, two));
  // Of two outputs one alone may get a gradient: they are not one map then.
  CHECK(fused(optimized(both_out, cpu(), args, {"x", "y"})) == Names{"c, d"});
  // Read by an operator that is no map as well: it ends a group.
  const Symbol e = plus(d, even(b), {}, "f");
  CHECK(fused(optimized(e, cpu(), args)) == Names{"c, d, f"});
  CHECK(outcome(e, args) == unfused(e, args));
}

TEST_CASE("several results of one map") {
  const NamedArrays args{{"x", drawn({333}, f32, 8)}, {"y", drawn({333}, f32, 9)}};
  const Symbol m = mix(wave(var("x"), {}, "w"), var("y"), {}, "m");
  const Symbol net = times(squash(m[0], {}, "s"), m[1], {}, "t");
  CHECK(fused(optimized(net, cpu(), args)) == Names{"w, m, s, t"});
  CHECK(fused(optimized(net, cpu(), args, {"x", "y"})) == Names{"w, m, s, t"});
  const std::vector<NDArray> heads{drawn({333}, f32, 10)};
  CHECK(outcome(net, args, heads) == unfused(net, args, heads));
  const Symbol ends = group({m[0], m[1]});  // the last map gives both, one without readers
  CHECK(outcome(ends, args, {heads[0], heads[0]}) == unfused(ends, args, {heads[0], heads[0]}));
  CHECK(outcome(m[1], args, heads) == unfused(m[1], args, heads));
}

TEST_CASE("inputs that are broadcast are fused where no gradient of them is wanted") {
  NamedArrays args{{"x", drawn({40, 30}, f32, 11)}, {"s", drawn({1}, f32, 12)}, {"r", drawn({30}, f32, 13)}};
  const Symbol net = squash(plus(times(bend(var("x"), {}, "a"), var("s"), {}, "b"), var("r"), {}, "c"), {}, "d");
  CHECK(fused(optimized(net, cpu(), args, {"x"})) == Names{"a, b, c, d"});
  CHECK(fused(optimized(net, cpu(), args, {"x", "r"})) == Names{"a, b"});
  CHECK(outcome(net, args) == unfused(net, args));
  const std::vector<NDArray> heads{drawn({40, 30}, f32, 14)};
  CHECK(outcome(net, args, heads) == unfused(net, args, heads));
  // A column and a row: no input has the shape of the result.
  args = {{"x", drawn({40, 1}, f32, 15)}, {"r", drawn({1, 30}, f32, 16)}};
  const Symbol wide = squash(times(var("x"), var("r"), {}, "a"), {}, "b");
  CHECK(fused(optimized(wide, cpu(), args)) == Names{"a, b"});
  CHECK(outcome(wide, args) == unfused(wide, args));
}

TEST_CASE("integers, bool and halves go from map to map as through memory") {
  for (const Dtype type : {u8, i8, i32, i64, boolean, f16, bf16}) {
    CAPTURE(name_of(type));
    const NamedArrays args{{"x", drawn({1000}, f64, 17).to(type)}, {"y", drawn({1000}, f64, 18).to(type)}};
    const Symbol y = var("y");
    Symbol net = var("x");
    for (int i = 0; i < 3; ++i) net = sum_of(ratio(affine(net, {.a = 117, .b = -60})), y);
    const Symbol made = optimized(net, cpu(), args);
    CHECK(fused(made).size() == 1);
    CHECK(outcome(net, args) == unfused(net, args));
    const Symbol doubles = ratio(affine(var("x"), {.a = 1000, .b = 5}));
    const NamedArrays x{args[0]};
    CHECK(outcome(doubles, x) == unfused(doubles, x));
  }
}

TEST_CASE("sizes: none, one, around a block, and beyond the caches") {
  const Symbol x = var("x"), y = var("y");
  const Symbol net = times(squash(bend(plus(x, y))), wave(bend(x)));
  for (const std::int64_t n : {0, 1, 7, 255, 2047, 2048, 2049, 40000, 300000, 2200000}) {
    CAPTURE(n);
    const NamedArrays args{{"x", drawn({n}, f32, 19)}, {"y", drawn({n}, f32, 20)}};
    const std::vector<NDArray> heads{drawn({n}, f32, 21)};
    const bool large = n > 2000000;
    CHECK(outcome(net, args, large ? std::vector<NDArray>() : heads) ==
          unfused(net, args, large ? std::vector<NDArray>() : heads));
  }
}

TEST_CASE("a fused map works in the memory of any of its inputs") {
  const Shape shape{5000};
  const NamedArrays args{{"x", drawn(shape, f32, 22)}, {"y", drawn(shape, f32, 23)}};
  const Symbol x_var = var("x"), a = plus(bend(x_var), var("y"));
  const Symbol made = optimized(group({a, times(squash(a), x_var)}), cpu(), args);
  REQUIRE(fused(made).size() == 1);
  const detail::Node& node = *made.outputs()[0].node;
  REQUIRE(node.inputs.size() == 2);
  for (const int in_place : {-1, 0, 1})
    for (const int output : {0, 1}) {
      NDArray x[2], out[2];
      for (int i = 0; i < 2; ++i) x[i] = args[node.inputs[i].node->name == "x" ? 0 : 1].second.copy();
      if (in_place >= 0) out[output] = x[in_place];
      const NDArray* in[2] = {&x[0], &x[1]};
      detail::dispatch(*node.entry, node.op(), in, out);
      const NDArray &u = args[0].second, &v = args[1].second;
      const NDArray sum = plus(bend(u), v), product = times(squash(sum), u);
      CHECK(bits(out[0]) == bits(sum));
      CHECK(bits(out[1]) == bits(product));
    }
}

TEST_CASE("the gradient reads the inputs that it needs, and computes the rest again") {
  const NamedArrays args{{"x", drawn({9}, f32, 24)}, {"y", drawn({9}, f32, 25)}};
  const Symbol x = var("x"), y = var("y"), linear = plus(plus(x, y), y);
  const auto rule = [&](const Symbol& net) {
    const Symbol made = optimized(net, cpu(), args, {"x", "y"});
    return made.outputs()[0].node->entry->gradient;
  };
  CHECK(rule(linear).in == 0);
  CHECK(rule(linear).gives == 3);
  CHECK(rule(linear).out == 0);
  CHECK(std::popcount(rule(plus(bend(bend(x)), y)).in) == 1);
  CHECK(rule(plus(bend(x), y)).out == 0);
  CHECK(rule(squash(plus(bend(x), y))).out == 1);  // what is there and costs more than to be read
  CHECK(rule(step_up(step_up(var("x")))).zero);
}

TEST_CASE("a fused gradient keeps no more than the gradients of its members") {
  const NamedArrays args{{"x", array({{1, -2}, {3, 4}})}, {"y", array({{5, 1}, {-9, 2}})}};
  // the result tells relu what its gradient is; a sum keeps nothing
  const Symbol rectified = relu(elemwise_add(var("x"), var("y"), {}, "sum"), {}, "rectified");
  const Symbol made = optimized(rectified, cpu(), args, {"x", "y"});
  CHECK(fused(made) == Names{"sum, rectified"});
  const detail::GradientRule& rule = made.outputs()[0].node->entry->gradient;
  CHECK(rule.in == 0);
  CHECK(rule.out == 1);
  // the member's result, once; both inputs, which are what a gradient beyond the caches would read, were more
  const Symbol squared = by_itself(elemwise_add(var("x"), var("y"), {}, "sum"), {}, "squared");
  const Symbol within = optimized(squared, cpu(), args, {"x", "y"});
  CHECK(fused(within) == Names{"sum, squared"});
  CHECK(within.outputs()[0].node->entry->gradient.in == 0);
  CHECK(std::popcount(within.outputs()[0].node->entry->gradient.out) == 1);
  const NamedArrays large{{"x", zeros({600, 600})}, {"y", zeros({600, 600})}};
  CHECK(fused(optimized(squared, cpu(), large, {"x", "y"})).empty());
  CHECK(fused(optimized(squared, cpu(), args)) == Names{"sum, squared"});
  for (const Symbol& net : {rectified, squared}) {
    const Outcome together = outcome(net, args, {array({{1, 2}, {3, 4}})});
    const Fuse apart("0");
    CHECK(together == outcome(net, args, {array({{1, 2}, {3, 4}})}));
  }
}

TEST_CASE("random graphs of maps: the bits of eager calls, fused or not, and gradients to rounding") {
  constexpr int kinds = 9;
  int groups = 0, equal = 0, all = 0;
  for (unsigned seed = 1; seed <= 120; ++seed) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    const Dtype type = seed % 3 == 0 ? f32 : f64;
    const bool large = seed % 30 == 0;  // beyond the caches, where functions are computed again as well
    const Shape shape{large ? 270000 : static_cast<std::int64_t>(random() % 300)};
    std::vector<NDArray> arrays;
    std::vector<Symbol> symbols;
    NamedArrays args;
    for (unsigned i = 0; i < 3; ++i) {
      arrays.push_back(drawn(shape, type, 100 * seed + i));
      symbols.push_back(var("x" + std::to_string(i)));
    }
    const std::vector<NDArray> leaves = arrays;
    for (const NDArray& leaf : leaves) leaf.attach_grad();
    const auto perform = [](unsigned what, const auto& a, const auto& b, const auto& c) {
      switch (what) {
        case 0:
          return plus(a, b);
        case 1:
          return times(a, b);
        case 2:
          return wave(a, {.k = 0.7F});
        case 3:
          return squash(a);
        case 4:
          return mix(a, b)[0];
        case 5:
          return mix(b, c)[1];
        case 6:
          return choose(a, b, c);
        case 7:
          return graph_tests::quadratic(a, {.a = 0.1F, .b = 1, .c = -0.2F});
        default:
          return bend(squash(a));
      }
    };
    const auto length = 3 + random() % 20;
    std::vector<std::size_t> outputs;
    {
      const record scope;
      for (unsigned s = 0; s < length; ++s) {
        const auto any = [&] { return arrays.size() - 1 - random() % std::min<std::size_t>(arrays.size(), 4); };
        const auto what = static_cast<unsigned>(random() % kinds);
        const std::size_t a = any(), b = any(), c = any();
        arrays.push_back(perform(what, arrays[a], arrays[b], arrays[c]));
        symbols.push_back(perform(what, symbols[a], symbols[b], symbols[c]));
        if (random() % 8 == 0) outputs.push_back(arrays.size() - 1);
      }
    }
    if (outputs.empty() || outputs.back() != arrays.size() - 1) outputs.push_back(arrays.size() - 1);
    std::vector<Symbol> ends;
    std::vector<NDArray> heads, results;
    for (const std::size_t k : outputs) {
      ends.push_back(symbols[k]);
      results.push_back(arrays[k]);
      heads.push_back(drawn(shape, type, 7000 + seed));
    }
    const Symbol net = group(ends);
    for (const std::string& name : net.list_arguments())
      args.emplace_back(name, leaves[static_cast<std::size_t>(name[1] - '0')]);
    backward(results, heads);

    groups += static_cast<int>(fused(optimized(net, cpu(), args, {"x0", "x1", "x2"})).size());
    const Outcome with = outcome(net, args, heads), without = unfused(net, args, heads);
    CHECK(with.outputs == without.outputs);
    for (std::size_t k = 0; k < results.size(); ++k) CHECK(with.outputs[k] == bits(results[k]));
    ++all;
    if (with.gradients == without.gradients) ++equal;
    const double close = type == f32 ? 1e-4 : 1e-12;
    for (std::size_t g = 0; g < args.size(); ++g) {
      const std::vector<double> eager = args[g].second.grad().to_vector<double>();
      const auto furthest = [&](const Bits& from, double added) {
        double most = 0;
        for (std::size_t i = 0; i < eager.size(); ++i) {
          const double expected = eager[i] + added;
          most = std::max(most, std::abs(std::bit_cast<double>(from[i]) - expected) / (10 + std::abs(expected)));
        }
        return most;
      };
      CHECK(furthest(with.gradients[g], 0) < close);
      CHECK(furthest(with.gradients[args.size() + g], 2) < close);
      CHECK(furthest(without.gradients[g], 0) < close);
    }
  }
  CHECK(groups > 60);
  // Sums of contributions to a value that several groups read are added in another order.
  CHECK(2 * equal > all);
}

TEST_CASE("gradients of gradients are fused like other maps") {
  const Symbol x = var("x");
  const Symbol y = times(squash(bend(x)), x);
  const Symbol first = gradients(y, {x})[0];
  const Symbol second = gradients(bend(first), {x})[0];
  const NamedArrays args{{"x", drawn({64}, f64, 30)}};
  const std::vector<NDArray> heads{drawn({64}, f64, 31)};
  CHECK(outcome(first, args).outputs == unfused(first, args).outputs);
  CHECK(outcome(second, args).outputs == unfused(second, args).outputs);
  const std::vector<Bits> with = outcome(first, args, heads).gradients, without = unfused(first, args, heads).gradients;
  for (std::size_t i = 0; i < 64; ++i)
    CHECK(std::bit_cast<double>(with[0][i]) ==
          doctest::Approx(std::bit_cast<double>(without[0][i])).epsilon(1e-12).scale(10));
}

TEST_CASE("what is not dense, or runs elsewhere, is not fused") {
  const NDArray sparse = array({{0, 1}, {2, 0}}).to(csr);
  const Symbol net = bend(bend(var("x")));
  CHECK(fused(optimized(net, cpu(), {{"x", sparse}})).empty());
  CHECK(net.bind(cpu(), {{"x", sparse}}).forward()[0].storage() == csr);
  Symbol apart;
  {
    const AttrScope here({{"ctx_group", "a"}});
    apart = bend(var("x"));
  }
  CHECK(fused(optimized(bend(apart), cpu(), {{"x", array({1.0f})}})).empty());
  CHECK(fused(optimized(bend(dropout(bend(var("x")), {.p = 0.5f})), cpu(), {{"x", array({1.0f})}})).empty());
}

TEST_CASE("a hundred thousand maps in a chain") {
  Symbol net = var("x");
  for (int i = 0; i < 100000; ++i) net = graph_tests::quadratic(net, {.b = 1, .c = 1e-5f});
  const NamedArrays args{{"x", array({1.0f, 2.0f})}};
  const Symbol made = optimized(net, cpu(), args, {"x"});
  CHECK(count(made, "_fused_maps") == 100000 / detail::most_fused_maps);
  CHECK(count(made, "gt_quadratic") + count(made, "GtQuadratic") == 0);
  auto run = net.bind(cpu(), args, {{"x", zeros({2})}});
  CHECK(run.forward()[0].to_vector<float>()[0] == doctest::Approx(2).epsilon(1e-2));
  run.backward(array({1.0f, 1.0f}));
  CHECK(run.grad("x").to_vector<float>() == std::vector<float>{1, 1});
}

TEST_CASE("traced functions are fused") {
  const NDArray w = drawn({100}, f32, 40), x = drawn({100}, f32, 41), z = drawn({100}, f32, 42);
  const auto f = [&](const NDArray& a) {
    const NDArray h = squash(times(a, w));
    return std::vector<NDArray>{h, bend(plus(h, a)), a};
  };
  const auto traced = trace_function(f);
  traced(x);
  for (const NDArray& in : {x, z}) {
    const std::vector<NDArray> got = traced(in), expected = f(in);
    for (std::size_t k = 0; k < 3; ++k) CHECK(bits(got[k]) == bits(expected[k]));
    CHECK(got[2].is(in));
  }
  CHECK(traced.graphs() == 1);
}

TEST_CASE("common subexpressions are computed once") {
  const Symbol x = var("x"), y = var("y");
  const NamedArrays args{{"x", drawn({4, 4}, f64, 50)}, {"y", drawn({4, 4}, f64, 51)}};
  const auto kept = [&](const Symbol& net, std::string_view op) { return count(optimized(net, cpu(), args), op); };
  const std::string name = "zeros_like";
  CHECK(kept(plus(zeros_like(x), zeros_like(x)), name) == 1);
  CHECK(kept(plus(zeros_like(zeros_like(x)), zeros_like(zeros_like(x))), name) == 2);
  CHECK(kept(plus(zeros_like(x), zeros_like(y)), name) == 2);
  CHECK(kept(group({zeros_like(x), zeros_like(x)}), name) == 2);        // outputs are arrays of their own
  CHECK(kept(group({zeros_like(x), bend(zeros_like(x))}), name) == 1);  // which others read
  CHECK(kept(plus(dropout(zeros_like(x)), dropout(zeros_like(x))), "Dropout") == 2);
  const std::string own(even(x).outputs()[0].node->entry->name);
  CHECK(kept(plus(even(x), even(x)), own) == 2);  // an operator of the program's own may do what it does not state
  // Parameters and attributes decide; of functions it is not known what they do.
  const auto distinct = [&](const Symbol& a, const Symbol& b) {
    return count(optimized(zeros_like(plus(zeros_like(a), zeros_like(b))), cpu(), args), name) == 3;
  };
  CHECK_FALSE(distinct(wave(x, {.k = 2}), wave(x, {.k = 2})));
  CHECK(distinct(wave(x, {.k = 2}), wave(x, {.k = 3})));
  const auto square = [](auto v) { return v * v; };
  CHECK_FALSE(distinct(map(square, x), map(square, x)));
  for (const float k : {2.0f, 3.0f}) {
    const auto held = [k](auto v) { return k * v; };
    CHECK(distinct(map(held, x), map(held, x)));
  }
  Symbol other;
  {
    const AttrScope here({{"ctx_group", "a"}});
    other = wave(x);
  }
  CHECK(distinct(wave(x), other));
  Symbol many = wave(x, {.k = 1}, "w");  // of one input, some with equal parameters
  for (int i = 1; i < 300; ++i) many = plus(many, zeros_like(wave(x, {.k = static_cast<float>(i % 60)})));
  CHECK(kept(many, name) == 60);
  // A state that is written in between is read where it was.
  const NamedArrays center_args{{"x", array({1, 2, 3})}, {"s", array({5})}};
  const Symbol s = var("s"), c = center(x, s);
  const Symbol net = plus(plus(zeros_like(s), c), zeros_like(s));
  CHECK(count(optimized(net, cpu(), center_args), name) == 2);
  const Symbol shared = times(squash(bend(x)), squash(bend(x)));
  const std::vector<NDArray> heads{drawn({4, 4}, f64, 52)};
  const NamedArrays x_only{args[0]};
  CHECK(outcome(shared, x_only).outputs == unfused(shared, x_only).outputs);
  const Bits with = outcome(shared, x_only, heads).gradients[0], without = unfused(shared, x_only, heads).gradients[0];
  for (std::size_t i = 0; i < with.size(); ++i)
    CHECK(std::bit_cast<double>(with[i]) == doctest::Approx(std::bit_cast<double>(without[i])).epsilon(1e-13));
}

TEST_CASE("constants are folded, and what changes nothing is left out") {
  const Symbol x = var("x");
  const NamedArrays args{{"x", array({-0.0f, 1.0f, std::numeric_limits<float>::quiet_NaN()})}};
  const auto made = [&](const Symbol& net) { return optimized(net, cpu(), args); };
  const std::span<const Symbol> none;
  const Symbol ones = ones_op(none, {.shape = {3}}), zeros3 = zeros_op(none, {.shape = {3}});
  const Symbol third = plus_scalar(mul_scalar(ones, {.scalar = 4}), {.scalar = -3.9}, "third");
  CHECK(count(made(even(third)), "_constant") == 1);
  CHECK(count(made(even(third)), "_ones") == 0);
  CHECK(made(even(third)).get_children().list_outputs() == Names{"third_output"});
  CHECK(outcome(even(third), {}).outputs == unfused(even(third), {}).outputs);
  CHECK(outcome(third, {}).outputs == unfused(third, {}).outputs);

  const auto is_x = [&](const Symbol& y) { return made(even(y)).get_children().list_outputs() == Names{"x"}; };
  CHECK(is_x(mul_scalar(x, {.scalar = 1})));
  CHECK(is_x(div_scalar(x, {.scalar = 1})));
  CHECK(is_x(minus_scalar(x, {.scalar = 0})));
  CHECK(is_x(plus_scalar(x, {.scalar = -0.0})));
  CHECK(is_x(identity(x)));
  CHECK(is_x(broadcast_mul(x, ones)));
  CHECK(is_x(broadcast_mul(plus_scalar(mul_scalar(third, {.scalar = 0}), {.scalar = 1}), x)));
  CHECK(is_x(broadcast_sub(x, zeros3)));
  CHECK_FALSE(is_x(plus_scalar(x, {.scalar = 0})));  // −0 + 0 is 0
  CHECK_FALSE(is_x(broadcast_add(x, zeros3)));
  CHECK_FALSE(is_x(broadcast_sub(zeros3, x)));
  CHECK_FALSE(is_x(mul_scalar(x, {.scalar = 2})));
  CHECK_FALSE(is_x(broadcast_mul(x, ones_op(none, {.shape = {2, 3}}))));
  CHECK(made(mul_scalar(x, {.scalar = 1})).list_outputs() != Names{"x"});  // an output is an array of its own
  for (const Symbol& y : {mul_scalar(x, {.scalar = 1}), minus_scalar(x, {.scalar = 0}), broadcast_sub(x, zeros3),
                          plus_scalar(x, {.scalar = 0}), broadcast_mul(ones, x), broadcast_mul(x, third)})
    CHECK(outcome(even(y), args).outputs == unfused(even(y), args).outputs);

  const NamedArrays whole{{"x", array<std::int32_t>({-1, 0, 7})}};
  const Symbol same_x = plus_scalar(x, {.scalar = 0});
  CHECK(optimized(affine(same_x), cpu(), whole).get_children().list_outputs() == Names{"x"});
  CHECK(outcome(affine(same_x), whole).outputs == unfused(affine(same_x), whole).outputs);
  const NamedArrays large{{"x", array<std::int64_t>({9007199254740993, 0, 7})}};
  CHECK(optimized(even(same_x), cpu(), large).get_children().list_outputs() != Names{"x"});
}
