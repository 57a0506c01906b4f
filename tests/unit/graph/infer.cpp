// SPDX-License-Identifier: Apache-2.0
/// \file
/// Inference on graphs: shapes, types, storages.
#include "operators.hpp"

#include <strop/graph/mirror.hpp>
#include <strop/tensor/create.hpp>

#include <doctest/doctest.h>

using namespace graph_tests;

TEST_CASE("shapes of weights, states and labels follow from the data's") {
  const Inferred<Shape> found = mlp().infer_shape({{"data", {5, 4}}});
  CHECK(mlp().list_arguments() == Names{"data", "fc1_weight", "fc1_bias", "fc2_weight", "fc2_bias", "out_label"});
  CHECK(found.args == std::vector<Shape>{{5, 4}, {8, 4}, {8}, {3, 8}, {3}, {5, 3}});
  CHECK(found.outputs == std::vector<Shape>{{5, 3}});
  CHECK(found.aux.empty());
  CHECK(center(var("x")).infer_shape({{"x", {7}}}).aux == std::vector<Shape>{{1}});
  CHECK(found["fc1_weight"] == Shape{8, 4});
  CHECK(found["out_output"] == Shape{5, 3});
  CHECK(center(var("x"), Symbol(), {}, "c").infer_shape({{"x", {7}}})["c_moving_mean"] == Shape{1});
  CHECK(mlp().infer_type({{"data", f64}})["fc2_bias"] == f64);
  CHECK(sentence([&] {
          (void)found["fc1_weigth"];
        }).starts_with("infer: no argument, output or state 'fc1_weigth'; nearest: fc1_weight"));
}

TEST_CASE("shapes flow backwards, and from one input to another") {
  const Symbol x = var("x"), y = var("y");
  CHECK(add_same(quadratic(x), y).infer_shape({{"y", {2, 3}}}).args == std::vector<Shape>{{2, 3}, {2, 3}});
  CHECK(add_same(add_same(x, y), add_same(var("z"), x)).infer_shape({{"z", {4}}}).args ==
        std::vector<Shape>{{4}, {4}, {4}});
  const Symbol layer = add_same(dense_layer(x, {.num_hidden = 3}, "fc"), y);
  CHECK(layer.infer_shape({{"y", {6, 3}}, {"fc_weight", {3, 2}}}).args ==
        std::vector<Shape>{{6, 2}, {3, 2}, {3}, {6, 3}});
  CHECK(layer.infer_shape({{"y", {-1, 3}}, {"x", {6, 2}}}).args[3] == Shape{6, 3});
}

TEST_CASE("a variable's own shape takes part") {
  const Symbol x = var("x", {.shape = {-1, 4}});
  const Symbol net = dense_layer(x, {.num_hidden = 2}, "fc");
  CHECK(net.infer_shape_partial({}).args == std::vector<Shape>{{-1, 4}, {2, 4}, {2}});
  CHECK(net.infer_shape({{"x", {3, -1}}}).outputs == std::vector<Shape>{{3, 2}});
}

TEST_CASE("a shape or a type that is given counts more than what the variable says, wherever it is given") {
  const Symbol net = quadratic(var("d", {.shape = {2, 3}, .dtype = f64}), {.a = 1}, "q");
  const std::vector<Shape> given{{4, 5}};
  CHECK(net.infer_shape({}).outputs == std::vector<Shape>{{2, 3}});
  CHECK(net.infer_shape({{"d", {4, 5}}}).outputs == given);
  CHECK(net.infer_shape({{"d", {4, -1}}}).outputs == std::vector<Shape>{{4, 3}});
  CHECK(net.infer_shape({{"d", {4, 5, 6}}}).outputs == std::vector<Shape>{{4, 5, 6}});
  CHECK(net.infer_type({{"d", f32}}).outputs == std::vector<Dtype>{f32});
  auto run = net.simple_bind(cpu(), {{"d", {4, 5}}}, GradRequest::write, {{"d", f32}});
  CHECK(run.forward(true)[0].shape() == Shape{4, 5});
  run.backward(ones({4, 5}));
  CHECK(run.grad("d").dtype() == f32);
  CHECK(run.reshape({{"d", {9, 3}}}).forward()[0].shape() == Shape{9, 3});
  CHECK(run.reshape({}).forward()[0].shape() == Shape{4, 5});  // as it was bound, not as it says
  CHECK(net.bind(cpu(), {{"d", ones({7})}}).forward()[0].shape() == Shape{7});
  CHECK(mirror_within(net, {{"d", {4, 5}}}, 1 << 20) == detail::dry_plan(net, {{"d", {4, 5}}}, true).bytes());
  // What is inferred still has to agree with what is said.
  CHECK(sentence([&] { add_same(net, var("y")).infer_shape({{"y", {4, 5}}}); }).find("expected (2, 3)") !=
        std::string::npos);
}

TEST_CASE("what is known in part stays known; what is missing is named") {
  const Inferred<Shape> found = mlp().infer_shape_partial({});
  CHECK(found.args[1] == Shape{8, -1});
  CHECK(found.args[2] == Shape{8});
  CHECK_FALSE(found.args[0].has_rank());
  CHECK(found.outputs[0] == Shape{-1, 3});
  CHECK(sentence([] {
          mlp().infer_shape({});
        }).starts_with("infer_shape: from what is given these shapes do not follow: data (...), fc1_weight (8, ?), "));
}

TEST_CASE("an extent that is not known is 1 or the one that it broadcasts with") {
  const auto product = [](const Shape& a, const Shape& b) {
    return times(var("a"), var("b"), {}, "t").infer_shape_partial({{"a", a}, {"b", b}}).outputs[0];
  };
  CHECK(product({-1, 3}, {4, 1}) == Shape{4, 3});
  CHECK(product({-1, 3}, {1, -1}) == Shape{-1, 3});
  CHECK(product({2, -1, 3}, {-1, 1}) == Shape{2, -1, 3});
  CHECK(product({-1}, {0, 1}) == Shape{0, -1});
  CHECK_FALSE(product(Shape::unknown(), {2}).has_rank());
  CHECK(sentence([&] { product({-1, 3}, {1, 2}); }) ==
        "Error in node t: GtTimes: input 'rhs' has shape (1, 2), which does not broadcast with (?, 3)");
}

TEST_CASE("contradictions name the node, the argument and both shapes") {
  CHECK(sentence([] { mlp().infer_shape({{"data", {5, 4}}, {"fc1_weight", {8, 5}}}); }) ==
        "Error in node fc1: FullyConnected: input 'weight' has shape (8, 5), expected (8, 4)");
  CHECK(sentence([] { mlp().infer_shape({{"data", {5, 4, 3}}}); }) ==
        "Error in node fc1: FullyConnected: input 'data' has shape (5, 4, 3), expected 2 dimensions");
  CHECK(sentence([] { times(var("a"), var("b"), {}, "t").infer_shape({{"a", {2, 3}}, {"b", {4}}}); }) ==
        "Error in node t: GtTimes: input 'rhs' has shape (4,), which does not broadcast with (2, 3)");
  CHECK(sentence([] {
          mlp().infer_shape({{"date", {5, 4}}});
        }).starts_with("infer_shape: no argument 'date'; nearest: data, "));
  CHECK(sentence([] { mlp().infer_shape({{"data", {5, 4}}, {"data", {5, 4}}}); }) ==
        "infer_shape: argument 'data' is given twice");
}

TEST_CASE("types spread from any argument; without any they are float32") {
  CHECK(mlp().infer_type().args == std::vector<Dtype>(6, f32));
  CHECK(mlp().infer_type({{"fc2_bias", f64}}).args == std::vector<Dtype>(6, f64));
  CHECK(mlp().infer_type({{"fc2_bias", f64}}).outputs == std::vector<Dtype>{f64});
  const Symbol typed = plus(var("a", {.dtype = f16}), var("b"), {}, "p");
  CHECK(typed.infer_type().args == std::vector<Dtype>{f16, f16});
  CHECK(sentence([&] { typed.infer_type({{"b", f32}}); }) ==
        "Error in node p: GtPlus: input 'rhs' is float32, expected float16 like input 'lhs'; convert one of them with "
        "cast");
}

TEST_CASE("each group of variables that nothing is known of has a type of its own, wherever it hangs together") {
  // Two that meet at the end only by a map that leaves types open between them would take each other's.
  const Symbol a = var("a"), b = var("b", {.dtype = f64});
  Symbol left = a, right = b;
  for (int i = 0; i < 50; ++i) {
    left = plus(left, var("l" + std::to_string(i)));
    right = plus(var("r" + std::to_string(i)), right);
  }
  const Inferred<Dtype> found = group({left, right}).infer_type();
  for (int i = 0; i < 50; ++i) {
    CHECK(found["l" + std::to_string(i)] == f32);
    CHECK(found["r" + std::to_string(i)] == f64);
  }
  CHECK(found.outputs == std::vector<Dtype>{f32, f64});
}

TEST_CASE("a node of many inputs is asked once for all that follows of them") {
  std::vector<Symbol> many;
  for (int i = 0; i < 20000; ++i) many.push_back(var("v" + std::to_string(i)));
  CHECK(chain(many).infer_type().args == std::vector<Dtype>(many.size(), f32));
}

TEST_CASE("storages spread as the operators derive them") {
  const Symbol x = var("x");
  CHECK(quadratic(x, {.a = 1}).infer_storage({{"x", csr}}).outputs == std::vector<Storage>{csr});
  CHECK(quadratic(x, {.a = 1, .c = 1}).infer_storage({{"x", csr}}).outputs == std::vector<Storage>{dense});
  CHECK(times(quadratic(x, {.a = 1}), var("y")).infer_storage({{"x", row_sparse}}).outputs ==
        std::vector<Storage>{row_sparse});
  CHECK(times(var("s", {.storage = csr}), var("y")).infer_storage().outputs == std::vector<Storage>{csr});
  CHECK(dense_layer(x, {.num_hidden = 2}).infer_storage({{"x", csr}}).outputs == std::vector<Storage>{dense});
}

TEST_CASE("many names are given, replaced and copied at once, and each has to be one that is there") {
  constexpr int count = 3000;
  std::vector<Symbol> variables;
  NamedShapes shapes;
  NamedSymbols others;
  NamedArrays arrays;
  for (int i = 0; i < count; ++i) {
    const std::string name = "v" + std::to_string(i);
    variables.push_back(var(name));
    shapes.emplace_back(name, Shape{1});
    others.emplace_back(name, var("w" + std::to_string(i)));
    arrays.emplace_back(name, full({1}, i));
  }
  const Symbol net = chain(variables, {}, "cat");
  CHECK(net.infer_shape(shapes).outputs == std::vector<Shape>{{count}});
  CHECK(net(others).list_arguments()[count - 1] == others.back().second.name());
  CHECK(net.outputs()[0].node->signature.inputs[2345] == "arg2345");
  auto run = net.simple_bind(cpu(), shapes);
  const NDArray out = run.forward(true, arrays)[0];
  CHECK(out.to_vector<float>()[2345] == 2345);
  run.backward(out);
  CHECK(run.grad("v2999").item<float>() == 2999);
  shapes.emplace_back("v7", Shape{1});
  CHECK(sentence([&] { net.infer_shape(shapes); }) == "infer_shape: argument 'v7' is given twice");
  shapes.back().first = "v3000";
  CHECK(sentence([&] { net.infer_shape(shapes); }).starts_with("infer_shape: no argument 'v3000'; nearest: "));
}

namespace {

/// 2·x, which counts how often its rules are asked.
struct GtAsked {
  static inline int shapes = 0, types = 0;
  void infer_shape(Shapes& s) const {
    ++shapes;
    s.set_out(0, s.in(0));
    s.set_in(0, s.out(0));
  }
  void infer_type(Types& t) const {
    ++types;
    if (t.in(0)) t.set_out(0, t.in(0));
    if (t.out(0)) t.set_in(0, t.out(0));
  }
  template <Real E>
  void forward(Cpu&, View<const E> x, View<E> y) const {
    for (std::int64_t i = 0; i < x.size(); ++i) y[i] = x[i] * E(2);
  }
  template <Real E>
  void grad(Cpu&, Head<"output", View<const E>> dy, Grad<"data", View<E>> dx) const {
    for (std::int64_t i = 0; i < dy.size(); ++i) dx[i] = dy[i] * E(2);
  }
};
constexpr Op<GtAsked> asked;

}  // namespace

namespace {

/// Looks at an input before it completes it, as rules may.
struct GtEven {
  static constexpr std::string_view inputs[] = {"data", "weight"};
  void infer_shape(Shapes& s) const {
    if (s.in(0).has_rank() && s.in(0)[0] >= 0 && s.in(0)[0] % 2 != 0) s.fail(s.name_in(0), " has an odd extent");
    s.set_in(0, s.in(1));
    s.set_out(0, s.in(0));
  }
  template <Real E>
  void forward(Cpu&, View<const E> x, View<const E>, View<E> y) const {
    for (std::int64_t i = 0; i < x.size(); ++i) y[i] = x[i];
  }
};
constexpr Op<GtEven> even_extent;

}  // namespace

TEST_CASE("a rule that looks before it completes is asked again") {
  const Symbol net = even_extent(var("x"), var("w"));
  CHECK(sentence([&] { (void)net.infer_shape({{"x", {-1}}, {"w", {3}}}); }).find("odd extent") != std::string::npos);
  CHECK(net.infer_shape({{"x", {-1}}, {"w", {4}}}).outputs[0] == Shape{4});
}

TEST_CASE("a node's rules are asked once when a graph is bound") {
  constexpr int nodes = 5;
  Symbol net = var("x");
  for (int i = 0; i < nodes; ++i) net = asked(net);
  GtAsked::shapes = GtAsked::types = 0;
  const auto count_is = [](int expected) {
    CHECK(GtAsked::shapes == expected);
    CHECK(GtAsked::types == expected);
    GtAsked::shapes = GtAsked::types = 0;
  };
  Executor run = net.bind(cpu(), {{"x", ones({3})}});
  count_is(nodes);
  CHECK(run.forward()[0].to_vector<float>() == std::vector<float>(3, 32));
  count_is(0);
  Executor trained = net.simple_bind(cpu(), {{"x", {3}}}, GradRequest::write, {{"x", f32}});
  count_is(nodes);
  trained.forward(true);
  trained.backward(ones({3}));
  CHECK(trained.grad("x").to_vector<float>() == std::vector<float>(3, 32));
  count_is(0);
}
