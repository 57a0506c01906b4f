// SPDX-License-Identifier: Apache-2.0
// Operators on symbols: the same callables build a graph, which is inferred, bound, run and differentiated.
#include <strop/strop.hpp>

struct Quadratic {
  float a = 0, b = 0, c = 0;
  constexpr auto forward(auto x) const { return (a * x + b) * x + c; }
};
inline constexpr strop::Op<Quadratic> quadratic;

static void print(const std::vector<std::string>& names) {
  for (const auto& name : names) fmt::print("{}{}", name, &name == &names.back() ? "\n" : " ");
}

int main() {
  auto data = strop::var("data");
  auto hidden = strop::fully_connected(data, strop::Symbol(), strop::Symbol(), {.num_hidden = 2}, "fc1");
  auto net = quadratic(hidden, {.a = 1}, "square");
  print(net.list_arguments());
  print(net.list_outputs());
  // expect: data fc1_weight fc1_bias
  // expect: square_output
  fmt::print("{}\n", net.get_internals()["fc1_output"].attr("num_hidden"));
  // expect: 2

  // By name, with parameters as text; inputs that are not given become variables.
  auto same = strop::compose("FullyConnected", {{"data", data}}, {{"num_hidden", "2"}, {"no_bias", "True"}});
  print(same.list_arguments());
  // expect: data fullyconnected0_weight

  const auto shapes = net.infer_shape({{"data", {3, 4}}});  // the parameters' shapes follow from the data's
  for (const auto& shape : shapes.args) fmt::print("{} ", shape);
  fmt::print("-> {}\n", shapes.outputs[0]);
  // expect: (3, 4) (2, 4) (2,) -> (3, 2)
  fmt::print("{}\n", quadratic(strop::var("x")).infer_storage({{"x", strop::csr}}).outputs[0] == strop::csr);
  // expect: true

  auto run = net.simple_bind(strop::cpu(), {{"data", {1, 3}}});  // new arrays, zeros; gradients for all arguments
  strop::elemwise_add(run.arg("fc1_weight"), strop::array({{1, 2, 3}, {0, 0, 1}}), strop::into(run.arg("fc1_weight")));
  fmt::print("{}\n", run.forward(true, {{"data", strop::array({{1, 1, 1}})}})[0]);
  // expect: [[36, 1]]
  run.backward(strop::full({1, 2}, 1));
  fmt::print("{}\n{}\n", run.grad("fc1_bias"), run.grad("fc1_weight"));
  // expect: [12, 2]
  // expect: [[12, 12, 12], [2, 2, 2]]

  // A gradient is a graph too; gradients are added to where asked for.
  auto x = strop::array({3}), dx = strop::array({100});
  auto v = strop::var("x"), square = quadratic(v, {.a = 1});
  auto bound = square.bind(strop::cpu(), {{"x", x}}, {{"x", dx}}, strop::GradRequest::add);
  bound.forward(true);
  bound.backward(strop::array({1}));
  fmt::print("{}\n", dx);
  // expect: [106]
  auto slope = strop::gradients(square, {v})[0];
  fmt::print("{}\n", slope.bind(strop::cpu(), {{"x", x}}).forward()[0]);
  // expect: [6]
}
