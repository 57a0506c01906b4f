// SPDX-License-Identifier: Apache-2.0
/// \file
/// Random programs of operators: recorded and as a graph they give the same values and gradients, and the gradients are
/// those of finite differences.
#include <strop/autograd/backward.hpp>
#include <strop/graph/executor.hpp>
#include <strop/ops/arithmetic.hpp>
#include <strop/ops/dot.hpp>
#include <strop/ops/fully_connected.hpp>
#include <strop/ops/reduce.hpp>
#include <strop/ops/shape/join.hpp>
#include <strop/ops/shape/reshape.hpp>
#include <strop/ops/shape/slice.hpp>
#include <strop/ops/shape/transpose.hpp>
#include <strop/ops/softmax.hpp>
#include <strop/tensor/create.hpp>

#include <doctest/doctest.h>
#include <cmath>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

using strop::array, strop::NDArray, strop::Op, strop::Symbol;

namespace {

struct Wave {
  static constexpr std::string_view name = "random_wave";
  float k = 1;
  constexpr auto forward(auto x) const { return sin(k * x); }
};
constexpr Op<Wave> wave;
struct Mix {
  static constexpr std::string_view name = "random_mix";
  constexpr auto forward(auto a, auto b) const { return std::tuple(a * b, a - 0.5 * b); }
};
constexpr Op<Mix> mix;
/// Its gradient from the output.
struct Squash {
  static constexpr std::string_view name = "random_squash";
  constexpr auto forward(auto x) const { return tanh(x); }
  constexpr auto grad_use_out(auto dy, auto y) const { return dy * (1 - y * y); }
};
constexpr Op<Squash> squash;

Symbol first_of(const Symbol& s, std::size_t i) { return s[static_cast<int>(i)]; }
NDArray first_of(const std::vector<NDArray>& a, std::size_t i) { return a[i]; }

/// One step: which operator, on which earlier values. All values have shape (3, 3).
struct Instruction {
  int what;
  std::size_t a, b, c;
};
constexpr int kinds = 14;

template <class N>
N perform(const Instruction& s, const std::vector<N>& v) {
  const N &a = v[s.a], &b = v[s.b], &c = v[s.c];
  switch (s.what) {
    case 0:
      return strop::broadcast_add(a, b);
    case 1:
      return strop::broadcast_mul(a, b);
    case 2:
      return wave(a, {.k = 0.7F});
    case 3:
      return squash(a);
    case 4:
      return first_of(mix(a, b), s.c % 2);
    case 5:
      return strop::dot(a, b) * 0.3;
    case 6:
      return strop::dot(a, b, {.transpose_a = true}) * 0.3;
    case 7:
      return strop::transpose(a);
    case 8:
      return strop::broadcast_mul(a, strop::mean(b, {.axis = {1}, .keepdims = true}));
    case 9:
      return strop::broadcast_add(strop::sum(a, {.axis = {0}, .keepdims = true}) * 0.2, b);
    case 10:
      return strop::softmax(a);
    case 11:
      return strop::slice_axis(strop::concat({a, b}, {.dim = 0}), {.axis = 0, .begin = 2, .end = 5});
    case 12:
      return strop::fully_connected(
                 a, b, strop::reshape(strop::slice_axis(c, {.axis = 0, .begin = 0, .end = 1}), {.shape = {-1}}),
                 {.num_hidden = 3}) *
             0.3;
    default:
      return strop::reshape(strop::reshape(a, {.shape = {9}}), {.shape = {3, 3}}) - b;
  }
}

template <class N>
N evaluate(const std::vector<Instruction>& program, std::vector<N> values) {
  for (const Instruction& s : program) values.push_back(perform(s, values));
  return values.back();
}

double total(const std::vector<Instruction>& program, const std::vector<NDArray>& leaves, const NDArray& weights) {
  double out = 0;
  const std::vector<double> y = evaluate(program, leaves).to_vector<double>(), w = weights.to_vector<double>();
  for (std::size_t i = 0; i < y.size(); ++i) out += y[i] * w[i];
  return out;
}

}  // namespace

TEST_CASE("random programs") {
  constexpr int programs = 60, length = 9;
  constexpr std::size_t inputs = 3;
  for (unsigned seed = 1; seed <= programs; ++seed) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    std::vector<NDArray> leaves;
    std::uniform_real_distribution<double> numbers(-1, 1);
    const auto draw = [&] {
      NDArray a = strop::zeros({3, 3}, strop::f64);
      for (double& v : a.view<double>()) v = numbers(random);
      return a;
    };
    for (std::size_t i = 0; i < inputs; ++i) leaves.push_back(draw());
    const NDArray weights = draw();
    std::vector<Instruction> program;
    for (std::size_t i = 0; i < length; ++i) {
      const auto any = [&] { return random() % (inputs + i); };
      program.push_back({static_cast<int>(random() % kinds), any(), any(), any()});
    }

    for (const NDArray& leaf : leaves) leaf.attach_grad();
    NDArray y;
    {
      strop::record scope;
      y = evaluate(program, leaves);
      const bool depends = static_cast<bool>(y.body().gradient_node);
      if (depends) y.backward(weights);
    }

    std::vector<Symbol> symbols;
    strop::NamedArrays args, grads;
    for (std::size_t i = 0; i < inputs; ++i) {
      const std::string name = "x" + std::to_string(i);
      symbols.push_back(strop::var(name));
    }
    const Symbol net = evaluate(program, symbols);
    for (std::size_t i = 0; i < inputs; ++i) {
      const std::string name = "x" + std::to_string(i);
      for (const std::string& argument : net.list_arguments())
        if (argument == name) {
          args.emplace_back(name, leaves[i]);
          grads.emplace_back(name, strop::full({3, 3}, 77, strop::f64));
        }
    }
    ::setenv("STROP_FUSE", seed % 2 == 0 ? "1" : "0", 1);
    auto run = net.bind(strop::cpu(), args, grads, strop::GradRequest::write, {}, {.side_by_side = seed % 5 == 0});
    ::unsetenv("STROP_FUSE");
    const std::vector<double> eager = y.to_vector<double>(), graph = run.forward(true)[0].to_vector<double>();
    CHECK(eager == graph);
    for (unsigned i = 0; i < seed % 4; ++i) {  // values lie at the same bytes; whatever ran before leaves no trace
      run.backward({weights});
      if (i == 1) CHECK(run.forward(false)[0].to_vector<double>() == eager);
    }
    run.backward({weights});
    CHECK(run.outputs()[0].to_vector<double>() == eager);

    for (std::size_t i = 0; i < inputs; ++i) {
      const std::vector<double> g = leaves[i].grad().to_vector<double>();
      for (const auto& [name, from_graph] : grads)
        if (name == "x" + std::to_string(i)) {
          const std::vector<double> h = from_graph.to_vector<double>();
          for (std::size_t k = 0; k < g.size(); ++k) CHECK(h[k] == doctest::Approx(g[k]).epsilon(1e-12).scale(1));
        }
      for (std::size_t k = 0; k < g.size(); ++k) {
        constexpr double step = 1e-5;
        // A new view each time: it waits for calls that read the leaf and that no result needs.
        const auto at = [&]() -> double& { return leaves[i].view<double>()[static_cast<std::int64_t>(k)]; };
        const double before = at();
        at() = before + step;
        const double up = total(program, leaves, weights);
        at() = before - step;
        const double down = total(program, leaves, weights);
        at() = before;
        CHECK(g[k] == doctest::Approx((up - down) / (2 * step)).epsilon(1e-6).scale(1));
      }
    }
  }
}
