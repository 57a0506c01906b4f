// SPDX-License-Identifier: Apache-2.0
#include "value_rows.hpp"

using namespace ops_test;
using strop::array;

TEST_CASE("products have a gradient of the gradient") {
  for (const std::string_view a : {"False", "True"})
    for (const std::string_view b : {"False", "True"})
      check_second_gradient(subject(
          "dot",
          {a == "True" ? count({3, 2}, -2) : count({2, 3}, -2), b == "True" ? count({2, 3}, 1) : count({3, 2}, 1)},
          {{"transpose_a", a}, {"transpose_b", b}}));
  check_second_gradient(subject("dot", {count({2, 2, 3}), count({3, 2}, -2)}));
  check_second_gradient(subject("dot", {count({3}), count({3}, -2)}));
  const NDArray x = count({2, 3}, -2), w = count({2, 3}, 1), bias = array({1, -1});
  check_second_gradient(subject("FullyConnected", {x, w, bias}, {{"num_hidden", "2"}}));
  check_second_gradient(subject("FullyConnected", {x, w}, {{"num_hidden", "2"}, {"no_bias", "True"}}));
  check_second_gradient(
      subject("FullyConnected", {count({2, 2, 3}, -4), w, bias}, {{"num_hidden", "2"}, {"flatten", "False"}}));
}

TEST_CASE("convolutions and pooling have a gradient of the gradient") {
  const NDArray line = count({2, 2, 5}, -3), three = count({3, 2, 2}, -2), bias = array({1, -1, 2});
  check_second_gradient(subject("Convolution", {line, three, bias}, {{"kernel", "(2,)"}, {"num_filter", "3"}}));
  check_second_gradient(
      subject("Convolution", {line, three},
              {{"kernel", "(2,)"}, {"num_filter", "3"}, {"no_bias", "True"}, {"stride", "(2,)"}, {"pad", "(1,)"}}));
  check_second_gradient(subject(
      "Convolution", {count({1, 4, 4, 3}, -5), count({2, 2, 2, 2}, -4), array({1, -1})},
      {{"kernel", "(2, 2)"}, {"num_filter", "2"}, {"num_group", "2"}, {"dilate", "(2, 1)"}, {"pad", "(0, 1)"}}));
  for (const std::string_view type : {"max", "avg", "sum"}) {
    const NDArray image = array({{{{3, 8, -1}, {5, 2, 9}, {-4, 6, 1}}, {{0, -2, 7}, {4, -5, 11}, {-3, 10, 12}}}});
    check_second_gradient(subject(
        "Pooling", {image}, {{"pool_type", type}, {"kernel", "(2, 2)"}, {"stride", "(1, 2)"}, {"pad", "(1, 0)"}}));
    check_second_gradient(
        subject("Pooling", {image}, {{"pool_type", type}, {"global_pool", "True"}, {"layout", "NHWC"}}));
  }
  check_second_gradient(
      subject("Pooling", {count({1, 1, 4}, 1)}, {{"pool_type", "lp"}, {"p_value", "1"}, {"kernel", "(2,)"}}));
  // Third order, in a graph: of y = (w·x)², of one element each, d³y/dx²dw = 4w.
  const strop::Symbol x = strop::var("x"), w = strop::var("w");
  const strop::Symbol y = strop::square(strop::convolution(x, w, {.kernel = {1}, .num_filter = 1, .no_bias = true}));
  const strop::Symbol first = strop::gradients(y, {{x}})[0], second = strop::gradients(first, {{x}})[0],
                      third = strop::gradients(second, {{w}})[0];
  const strop::NamedArrays args{{"x", strop::full({1, 1, 1}, 5)}, {"w", strop::full({1, 1, 1}, 3)}};
  CHECK(values(third.bind(strop::cpu(), args).forward()[0]) == Numbers{12});
}

TEST_CASE("gradients that are operators have gradients of every order") {
  const NDArray x = count({2, 3}, 1);
  check_second_gradient(subject("transpose", {x}));
  check_second_gradient(subject("slice", {x}, {{"begin", "(0, 1)"}, {"end", "(2, 3)"}}));
  check_second_gradient(subject("mean", {x}, {{"axis", "1"}}));
  check_second_gradient(subject("repeat", {x}, {{"repeats", "2"}, {"axis", "0"}}));
  check_second_gradient(subject("tanh", {array({{0.5, -0.25}})}));
  // Third order: d³(Σ (x·w)²) vanishes in x alone and not in x and w.
  const NDArray a = array({{1, 2}}), w = array({{3}, {4}});
  a.attach_grad();
  w.attach_grad();
  {
    strop::record scope;
    const NDArray y = strop::invoke("dot", {a, w});                             // 11
    const NDArray first = strop::grad(y * y, {a}, {.create_graph = true})[0];   // 2 y wᵀ
    const NDArray second = strop::grad(first, {a}, {.create_graph = true})[0];  // 2 wᵀ Σ w
    CHECK(values(first) == Numbers{66, 88});
    CHECK(values(second) == Numbers{42, 56});
    second.backward();  // of 2 (w₁ + w₂)²
  }
  CHECK(values(w.grad()) == Numbers{28, 28});
}
