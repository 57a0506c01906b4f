// SPDX-License-Identifier: Apache-2.0
/// \file
/// Calls that are refused, each in a sentence that names the argument: memory that would be written twice or read after
/// it was written, types that an operator does not serve, parameters out of their range.
#include <strop/ops/dot.hpp>
#include <strop/ops/optimizer.hpp>
#include <strop/strop.hpp>
#include <unit/sentence.hpp>

#include <doctest/doctest.h>
#include <cmath>
#include <optional>
#include <string_view>
#include <tuple>
#include <vector>

using namespace strop;
using testing::sentence;

namespace {

struct Two {
  static constexpr std::string_view name = "refused_two", outputs[] = {"square", "triple"};
  constexpr auto forward(auto x) const { return std::tuple(x * x, x * 3); }
};
constexpr Op<Two> two;
struct Copies {
  static constexpr std::string_view name = "refused_copies", outputs[] = {"first", "second"};
  template <Real E>
  void forward(Cpu&, View<const E> x, View<E> y, View<E> z) const {
    for (std::int64_t i = 0; i < x.size(); ++i) y[i] = z[i] = x[i];
  }
};
constexpr Op<Copies> copies;
/// A map of two states.
struct Walk {
  static constexpr std::string_view name = "refused_walk", inputs[] = {"x", "v", "z"}, mutates[] = {"v", "z"};
  constexpr auto forward(auto x, auto v, auto z) const { return std::tuple(x + v, v + 1, z + x); }
};
constexpr Op<Walk> walk;
/// The same on views.
struct Adam {
  static constexpr std::string_view name = "refused_adam", inputs[] = {"x", "v", "z"}, mutates[] = {"v", "z"};
  static constexpr Share inplace[] = {{0, 0}};
  template <Real E>
  void forward(Cpu&, View<const E> x, View<E> v, View<E> z, View<E> y) const {
    for (std::int64_t i = 0; i < x.size(); ++i) y[i] = x[i] + v[i]++ + z[i]--;
  }
};
constexpr Op<Adam> adam;
struct Product {
  static constexpr std::string_view name = "refused_product";
  constexpr auto forward(auto x, auto y) const { return x * y; }
};
constexpr Op<Product> product;

struct Maybe {
  static constexpr std::string_view name = "refused_maybe";
  std::optional<float> t = {};
  Required<int> n = 1;
  static constexpr Range range[] = {{"t", 0, 1}, {"n", 1}};
  constexpr auto forward(auto x) const { return x * t.value_or(0.5F); }
};
constexpr Op<Maybe> maybe;

struct KeepAbove {
  static constexpr std::string_view name = "refused_keep_above", inputs[] = {"data"};
  static constexpr int sparse_tensors = 2;
  float bound = 0;
  bool infer_storage(Storages& s) const { return s.in(0) == csr && s.set_out(0, csr); }
  template <Real E>
  void forward_sparse(Cpu&, CsrView<const E> x, CsrResult<E> y) const {
    std::vector<E> values;
    std::vector<std::int64_t> columns, ends{0};
    for (std::int64_t i = 0; i < x.rows; ++i) {
      for (std::int64_t k = x.indptr[i]; k < x.indptr[i + 1]; ++k)
        if (x.data[k] > E(bound)) values.push_back(x.data[k]), columns.push_back(x.indices[k]);
      ends.push_back(std::ssize(values));
    }
    y.allocate(std::ssize(values));
    std::copy(values.begin(), values.end(), y.data().begin());
    std::copy(columns.begin(), columns.end(), y.indices().begin());
    std::copy(ends.begin(), ends.end(), y.indptr().begin());
  }
};
constexpr Op<KeepAbove> keep_above;

using Values = std::vector<double>;

}  // namespace

TEST_CASE("outputs that share memory are refused") {
  for (const std::int64_t n : {4, 1 << 19}) {  // at once, and handed to the engine
    const NDArray x = full({n}, 2), a = zeros({n}), memory = zeros({n + 1});
    const NDArray low = memory.slice(0, n), high = memory.slice(1, n + 1);
    CHECK(sentence([&] { two(x, into({a, a})); }) ==
          "refused_two: output 'triple' overlaps the memory of output 'square'");
    CHECK(sentence([&] { two(x, {}, add_to({a, a})); }) ==
          "refused_two: output 'triple' overlaps the memory of output 'square'");
    CHECK(sentence([&] { two(x, into({low, high})); }) ==
          "refused_two: output 'triple' overlaps the memory of output 'square'");
    CHECK(sentence([&] { copies(x, into({low, high})); }) ==
          "refused_copies: output 'second' overlaps the memory of output 'first'");
    const NDArray shell = NDArray::shell({n}, f32);
    CHECK(sentence([&] { two(x, into({shell, shell})); }) ==
          "refused_two: output 'triple' overlaps the memory of output 'square'");
    two(x, into({x, a}));  // in place, one of them
    CHECK(x[n - 1].item<float>() == 4);
    CHECK(a[n - 1].item<float>() == 6);
    const NDArray halves = zeros({2, n});
    two(a, into({halves[0], halves[1]}));  // one beside the other
    CHECK(halves[1][n - 1].item<float>() == 18);
  }
  const NDArray x = array({{0, 1}, {2, 0}}).to(csr), y = zeros({2, 2}, csr);
  CHECK(sentence([&] { two(x, into({y, y})); }) ==
        "refused_two: output 'triple' overlaps the memory of output 'square'");
}

TEST_CASE("a dense result does not go to the parts of a sparse input") {
  const NDArray d = array({{1, 2}, {3, 4}}), full_rows = array({{5, 6}, {7, 8}});
  const NDArray rows = full_rows.to(row_sparse), m = full_rows.to(csr);
  CHECK(sentence([&] { add_n(rows, d, into(rows.data())); }) ==
        "add_n: output 'output' is dense and overlaps the memory of input 'arg0', which is row_sparse");
  CHECK(sentence([&] { add_n(d, m, into(m.data().reshape({2, 2}))); }) ==
        "add_n: output 'output' is dense and overlaps the memory of input 'arg1', which is csr");
  CHECK(sentence([&] { two(m, into({zeros({2, 2}), m.data().reshape({2, 2})})); }) ==
        "refused_two: output 'triple' is dense and overlaps the memory of input 'data', which is csr");
  CHECK(sentence([&] { cast(m, {.dtype = i64}, into(m.indices().reshape({2, 2}))); }) ==
        "cast: output 'output' is dense and overlaps the memory of input 'data', which is csr");
  CHECK(rows.to(dense).to_vector<double>() == Values{5, 6, 7, 8});
  const NDArray sum = zeros({2, 2});
  add_n(rows, d, into(sum));
  CHECK(sum.to_vector<double>() == Values{6, 8, 10, 12});
}

TEST_CASE("gradients of a graph go to one memory only where all are added to it") {
  const NDArray x = array({1, 2}), y = array({3, 5}), g = array({10, 10});
  const Symbol net = product(var("x"), var("y"));
  CHECK(sentence([&] { net.bind(cpu(), {{"x", x}, {"y", y}}, {{"x", g}, {"y", g}}); }) ==
        "bind: the gradient of 'y' overlaps the memory of that of 'x'; both have to be added to it");
  Executor run = net.bind(cpu(), {{"x", x}, {"y", y}}, {{"x", g}, {"y", g}}, GradRequest::add);
  run.forward(true);
  run.backward({ones({2})});
  CHECK(g.to_vector<double>() == Values{14, 17});
}

TEST_CASE("what an operator writes of its inputs lies apart from everything else") {
  const NDArray w = array({1, 2, 3}), g = array({4, 5, 6}), v = zeros({3}), z = zeros({3});
  CHECK(sentence([&] { nag_mom_update(w, g, v, {.lr = 1}, into(v)); }) ==
        "nag_mom_update: output 'output' overlaps the memory of input 'mom', which the operator writes");
  CHECK(sentence([&] { nag_mom_update(w, g, w, {.lr = 1}); }) ==
        "nag_mom_update: input 'mom', which the operator writes, overlaps the memory of input 'weight'");
  const auto each = [&](const auto& op, std::string_view name) {
    CHECK(sentence([&] { op(w, v, v); }) ==
          cat(name, ": input 'v', which the operator writes, overlaps the memory of input 'z'"));
    CHECK(sentence([&] { op(w, v, w); }) ==
          cat(name, ": input 'z', which the operator writes, overlaps the memory of input 'x'"));
    CHECK(sentence([&] { op(w.slice(0, 2), v.slice(0, 2), v.slice(1, 3)); }) ==
          cat(name, ": input 'v', which the operator writes, overlaps the memory of input 'z'"));
    CHECK(sentence([&] { op(w, v, z, into(z)); }) ==
          cat(name, ": output 'output' overlaps the memory of input 'z', which the operator writes"));
    CHECK(v.to_vector<double>() == Values{0, 0, 0});
    const NDArray weight = w.copy(), state = zeros({3}), other = zeros({3});
    op(weight, state, other, into(weight));
    CHECK(weight.to_vector<double>() == Values{1, 2, 3});
    CHECK(state.to_vector<double>() == Values{1, 1, 1});
  };
  each(walk, "refused_walk");
  each(adam, "refused_adam");
  const NDArray m = array({{0, 1}, {2, 0}}).to(csr);
  CHECK(sentence([&] { (void)walk(m, m, zeros({2, 2})); }) ==
        "refused_walk: input 'v', which the operator writes, overlaps the memory of input 'x'");
}

TEST_CASE("a type that is not served is said with the argument that has it") {
  const NDArray n = array<std::int64_t>({1, 2}), x = array({1, 2});
  CHECK(sentence([&] { (void)two(n); }) ==
        "refused_two: input 'data' is int64, expected one of float16, bfloat16, float32, float64");
  CHECK(sentence([&] { (void)product(x, n); }) ==
        "refused_product: input 'rhs' is int64, expected float32 like input 'lhs'; convert one of them with cast");
  CHECK(sentence([&] { (void)dot(n, n); }) ==
        "dot: input 'lhs' is int64, expected one of float16, bfloat16, float32, float64");
  CHECK(sentence([&] { (void)copies(n); }) ==
        "refused_copies: input 'data' is int64, expected one of float16, bfloat16, float32, float64");
}

TEST_CASE("an operator on sparse arrays alone sees halves as converted copies") {
  const NDArray m = array({{0, 1}, {2, 3}});
  for (const Dtype type : {f16, bf16, f32, f64}) {
    const NDArray x = m.to(type).to(csr), y = keep_above(x, {.bound = 1}), z = zeros({2, 2}, csr, type);
    CHECK(y.dtype() == type);
    CHECK(y.storage() == csr);
    CHECK(y.to_vector<double>() == Values{0, 0, 2, 3});
    keep_above(x, {.bound = 2}, into(z));
    CHECK(z.nnz() == 1);
    keep_above(x, {.bound = 2}, add_to(z));
    CHECK(z.to_vector<double>() == Values{0, 0, 0, 6});
  }
  CHECK(sentence([&] { (void)keep_above(m.to(i32).to(csr)); }) ==
        "refused_keep_above: input 'data' is int32, expected one of float16, bfloat16, float32, float64");
}

TEST_CASE("a range holds for an optional parameter that has a value") {
  const NDArray x = array({2});
  CHECK(maybe(x).item<float>() == 1);
  CHECK(maybe(x, {.t = 1}).item<float>() == 2);
  CHECK(sentence([&] { (void)maybe(x, {.t = 5}); }) ==
        "refused_maybe: parameter 't' is 5, expected a value from 0 to 1");
  CHECK(sentence([&] { (void)maybe(x, {.t = NAN}); }) ==
        "refused_maybe: parameter 't' is nan, expected a value from 0 to 1");
  CHECK(sentence([&] { (void)maybe(x, {.n = 0}); }) == "refused_maybe: parameter 'n' is 0, expected at least 1");
  CHECK(sentence([&] { (void)invoke("refused_maybe", {x}, {{"t", "-1"}}); }) ==
        "refused_maybe: parameter 't' is -1, expected a value from 0 to 1");
  CHECK(invoke("refused_maybe", {x}, {{"t", "None"}}).item<float>() == 1);
}

TEST_CASE("a number has one sign") {
  const NDArray x = array({2});
  CHECK(invoke("refused_maybe", {x}, {{"t", "+1"}, {"n", "+3"}}).item<float>() == 2);
  for (const char* text : {"+-3", "-+3", "++3", "--3", "+"}) {
    CHECK(sentence([&] { (void)invoke("refused_maybe", {x}, {{"n", text}}); }) ==
          cat("refused_maybe: parameter 'n' is '", text, "', expected an int"));
    CHECK(sentence([&] { (void)invoke("refused_maybe", {x}, {{"t", text}}); }) ==
          cat("refused_maybe: parameter 't' is '", text, "', expected a float"));
  }
}
