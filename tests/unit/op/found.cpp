// SPDX-License-Identifier: Apache-2.0
/// \file
/// Tensor operators with outputs whose shapes follow from the data: strop::DenseResult.
#include <strop/strop.hpp>
#include <unit/sentence.hpp>

#include <doctest/doctest.h>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

using namespace strop;
using testing::sentence;
using Doubles = std::vector<double>;

namespace {

/// The elements above a bound.
struct Above {
  float bound = 0;
  static constexpr std::string_view name = "found_above";
  template <Real E>
  constexpr void forward(Cpu&, View<const E, 1> x, DenseResult<E, 1>& found) const {
    std::int64_t n = 0;
    for (const E e : x) n += e > E(bound) ? 1 : 0;
    const auto y = found.allocate({n});
    n = 0;
    for (const E e : x)
      if (e > E(bound)) y[n++] = e;
  }
  template <Real E>
  constexpr void grad_use_in(Cpu&, View<const E, 1> dy, View<const E, 1> x, View<E, 1> dx) const {
    std::int64_t n = 0;
    for (std::int64_t i = 0; i < x.size(); ++i) dx[i] = x[i] > E(bound) ? dy[n++] : E(0);
  }
};
constexpr Op<Above> above;

/// Two results, of which one is found: the different values in their order, and for each element which it is.
struct Distinct {
  static constexpr std::string_view name = "found_distinct", outputs[] = {"values", "inverse"};
  constexpr void infer_shape(Shapes& s) const {
    s.set_out(0, {Shape::unknown_extent});
    s.set_out(1, s.in(0));
  }
  template <Real E>
  void forward(Cpu& ctx, View<const E> x, DenseResult<E, 1>& found, View<std::int64_t> inverse) const {
    const auto seen = ctx.temp<E>(x.size());
    std::int64_t n = 0;
    for (std::int64_t i = 0; i < x.size(); ++i) {
      std::int64_t k = 0;
      while (k < n && seen[k] != x[i]) ++k;
      if (k == n) seen[n++] = x[i];
      inverse[i] = k;
    }
    const auto y = found.allocate({n});
    for (std::int64_t k = 0; k < n; ++k) y[k] = seen[k];
  }
};
constexpr Op<Distinct> distinct;

/// Of any rank; it may forget to allocate, or make something else than it has said.
struct Careless {
  int does = 0;
  static constexpr std::string_view name = "found_careless";
  void infer_shape(Shapes& s) const { s.set_out(0, {Shape::unknown_extent, 2}); }
  void forward(Cpu&, View<const float> x, DenseResult<float>& found) const {
    if (does == 0) return;
    if (does == 3) found.allocate({-1});
    if (does == 4) found.allocate({5, 2});
    const auto y = found.allocate(does == 1 ? Shape{x.size(), 2} : Shape{2, 3});
    for (float& e : y) e = 1;
  }
};
constexpr Op<Careless> careless;

/// A gradient that is written with operators, and what was found is read by it.
struct Positive {
  static constexpr std::string_view name = "found_positive";
  template <Real E>
  void forward(Cpu& ctx, View<const E, 1> x, DenseResult<E, 1> found) const {
    Above{}.forward(ctx, x, found);
  }
  template <Real E>
  void grad_use_in_out(Cpu& ctx, View<const E, 1> dy, View<const E, 1> x, View<const E, 1> y, View<E, 1> dx) const {
    CHECK(y.size() == dy.size());
    Above{}.grad_use_in(ctx, dy, x, dx);
  }
};
constexpr Op<Positive> positive;

/// Of integers: how often each of them is there, as long as the largest says.
struct Counts {
  static constexpr std::string_view name = "found_counts";
  template <Integer E>
  void forward(Cpu&, View<const E, 1> x, DenseResult<std::int64_t, 1>& found) const {
    std::int64_t top = -1;
    for (const E e : x) top = static_cast<std::int64_t>(e) > top ? static_cast<std::int64_t>(e) : top;
    const auto y = found.allocate({top + 1});
    for (std::int64_t& count : y) count = 0;
    for (const E e : x) ++y[static_cast<std::int64_t>(e)];
  }
};
constexpr Op<Counts> counts;

static_assert(check::shape(Above{}, Shape{7}) == Shape{-1} && check::type(Above{}, f64) == f64);
static_assert(check::type(Distinct{}, f32) == std::vector<Dtype>{f32, i64});
static_assert(check::value(Above{1}, check::tensor({1, 2, 0, 3})) == check::tensor({2, 3}));
static_assert(check::gradient(Above{1}, check::tensor({1, 2, 0, 3})) == check::tensor({0, 1, 0, 1}));
static_assert(check::differentiates(Above{}, check::tensor({1, -2, 5})));

Doubles values(const NDArray& a) { return a.to_vector<double>(); }
NDArray data() { return array({1, -2, 3, 0, 5}); }

}  // namespace

TEST_CASE("forward makes what it finds") {
  CHECK(values(above(data())) == Doubles{1, 3, 5});
  CHECK(above(data(), {.bound = 9}).shape() == Shape{0});
  CHECK(above(zeros({0})).shape() == Shape{0});
  CHECK(values(invoke("found_above", {data()}, {{"bound", "2"}})) == Doubles{3, 5});
  for (const Dtype type : {f16, bf16, f64}) {
    CHECK(values(above(data().to(type))) == Doubles{1, 3, 5});
    CHECK(above(data().to(type)).dtype() == type);
  }
  for (const Dtype type : {u8, i8, i32, i64}) {
    CHECK(values(counts(array({3, 0, 3}).to(type))) == Doubles{1, 0, 0, 2});
    CHECK(counts(array({3, 0, 3}).to(type)).dtype() == i64);
  }
  const NDArray sparse = array({{0, 2}, {3, 0}}).to(csr);
  CHECK(values(boolean_mask(sparse, array<bool>({false, true}))) == Doubles{3, 0});
  const std::vector<NDArray> both = distinct(array({{3, 1}, {1, 3}, {2, 1}}));
  CHECK(values(both[0]) == Doubles{3, 1, 2});
  CHECK(values(both[1]) == Doubles{0, 1, 1, 0, 2, 1});
  CHECK(both[1].shape() == Shape{3, 2});
  CHECK(careless(data(), {.does = 1}).shape() == Shape{5, 2});
}

TEST_CASE("what is pending is waited for, and what was found goes on") {
  const NDArray large = random::uniform({300000}), y = above(strop::exp(large) - 1.5f);
  std::int64_t count = 0;
  for (const double e : values(strop::exp(large) - 1.5f)) count += e > 0 ? 1 : 0;
  CHECK(y.shape() == Shape{count});
  CHECK(sum(y * 2).shape() == Shape{1});
}

TEST_CASE("results into arrays that are there") {
  const NDArray y = zeros({3});
  above(data(), into(y));
  above(data(), add_to(y));
  CHECK(values(y) == Doubles{2, 6, 10});
  CHECK(sentence([&] { above(data(), {.bound = 2}, into(y)); }) ==
        "found_above: output 'output' was made of shape (2,), expected (3,)");
  CHECK(values(y) == Doubles{2, 6, 10});
  CHECK(sentence([&] { (void)careless(data()); }) == "found_careless: forward has not allocated output 'output'");
  CHECK(sentence([&] { (void)careless(data(), {.does = 2}); }) ==
        "found_careless: output 'output' was made of shape (2, 3), expected (?, 2)");
  CHECK(sentence([&] { (void)careless(data(), {.does = 3}); }) ==
        "found_careless: allocate: the result would have -1 elements along axis 0");
  CHECK(sentence([&] { (void)careless(data(), {.does = 4}); }) ==
        "found_careless: allocate: the result has shape (5, 2) already; count first, and allocate once");
}

TEST_CASE("recorded calls have gradients of what was found") {
  const NDArray x = data();
  x.attach_grad();
  {
    record scope;
    const NDArray y = above(x * 2, {.bound = 2});
    CHECK(y.shape() == Shape{2});
    sum(y * y).backward();
  }
  CHECK(values(x.grad()) == Doubles{0, 0, 24, 0, 40});
  {
    record scope;
    positive(x).backward(array({1, 2, 3}));
  }
  CHECK(values(x.grad()) == Doubles{1, 0, 2, 0, 3});
  x.attach_grad();
  {
    record scope;
    const NDArray none = above(x, {.bound = 9});
    sum(none).backward();
  }
  CHECK(values(x.grad()) == Doubles(5, 0));
}

TEST_CASE("what knows shapes before there are elements refuses it in one sentence") {
  const std::string said =
      "found_above: the shape of its result follows from the data, which a graph does not know; call it on arrays";
  CHECK(sentence([] { (void)above(var("x")); }) == said);
  const std::string_view file = R"({"nodes": [{"op": "null", "name": "x", "inputs": []},
    {"op": "found_above", "name": "a", "inputs": [[0, 0, 0]]}], "arg_nodes": [0], "heads": [[1, 0, 0]]})";
  CHECK(sentence([&] { Symbol::from_json(file); }).ends_with(said));
  const auto f = trace_function([](const NDArray& x) { return above(x) * 2; });
  for (int n = 0; n < 2; ++n) CHECK(values(f(data())) == Doubles{2, 6, 10});  // without a graph, as the log says
  CHECK(f.graphs() == 0);
  CHECK(f.without_graph() == 1);
  CHECK(values(above(data())) == Doubles{1, 3, 5});
}
