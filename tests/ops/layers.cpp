// SPDX-License-Identifier: Apache-2.0
#include "value_rows.hpp"

#include <algorithm>

using namespace ops_test;
using strop::array;

TEST_CASE("softmax as MXNet does it") {
  row("softmax", {}, {array({{1, 2, 3}, {-1, 0.5, 0}})},
      {{{2, 3}, {0.090030566, 0.24472848, 0.6652409, 0.12195165, 0.5465494, 0.33149892}}});
  row("softmax", {{"axis", "0"}}, {array({{1, 2, 3}, {-1, 0.5, 0}})},
      {{{2, 3}, {0.880797, 0.81757444, 0.95257413, 0.11920292, 0.18242551, 0.047425874}}});
  row("softmax", {{"temperature", "2.5"}}, {array({{1, 2, 3}, {-1, 0.5, 0}})},
      {{{2, 3}, {0.21198273, 0.31624106, 0.47177625, 0.23180644, 0.4223789, 0.34581462}}});
}

TEST_CASE("log_softmax as MXNet does it") {
  row("log_softmax", {}, {array({{1, 2, 3}, {-1, 0.5, 0}})},
      {{{2, 3}, {-2.4076037, -1.4076039, -0.40760596, -2.1041296, -0.6041296, -1.1041296}}});
  row("log_softmax", {{"axis", "0"}}, {array({{1, 2, 3}, {-1, 0.5, 0}})},
      {{{2, 3}, {-0.12692805, -0.20141333, -0.04858733, -2.126928, -1.7014134, -3.0485873}}});
  row("log_softmax", {{"temperature", "2.5"}}, {array({{1, 2, 3}, {-1, 0.5, 0}})},
      {{{2, 3}, {-1.5512505, -1.1512505, -0.7512505, -1.4618526, -0.8618525, -1.0618526}}});
}

TEST_CASE("softmin as MXNet does it") {
  row("softmin", {}, {array({{1, 2, 3}, {-1, 0.5, 0}})},
      {{{2, 3}, {0.66524094, 0.24472848, 0.09003057, 0.6285317, 0.14024438, 0.2312239}}});
  row("softmin", {{"axis", "0"}}, {array({{1, 2, 3}, {-1, 0.5, 0}})},
      {{{2, 3}, {0.11920292, 0.18242551, 0.047425874, 0.880797, 0.81757444, 0.95257413}}});
  row("softmin", {{"temperature", "2.5"}}, {array({{1, 2, 3}, {-1, 0.5, 0}})},
      {{{2, 3}, {0.47177625, 0.31624106, 0.21198273, 0.4506267, 0.24730916, 0.3020641}}});
}

TEST_CASE("losses as MXNet does them") {
  row("softmax_cross_entropy", {}, {array({{1, 2, 3}, {-1, 0.5, 0}}), array({2, 0})}, {{{1}, {2.5117364}}});
  row("SoftmaxOutput", {}, {array({{1, 2, 3}, {-1, 0.5, 0}}), array({2, 0})},
      {{{2, 3}, {0.090030566, 0.24472848, 0.6652409, 0.12195165, 0.5465494, 0.33149892}}});
  row("SoftmaxOutput", {{"preserve_shape", "True"}}, {count({1, 2, 3}), array({{2, 0}})},
      {{{1, 2, 3}, {0.09003057, 0.24472848, 0.66524094, 0.09003057, 0.24472848, 0.66524094}}});
  row("SoftmaxOutput", {{"multi_output", "True"}}, {count({1, 2, 3}), array({{1, 0, 1}})},
      {{{1, 2, 3}, {0.047425874, 0.047425874, 0.047425874, 0.95257413, 0.95257413, 0.95257413}}});
  row("LinearRegressionOutput", {}, {array({{1, 2, 3}, {-1, 0.5, 0}}), array({{1, 2, 3}, {-1, 0.5, 0}})},
      {{{2, 3}, {1, 2, 3, -1, 0.5, 0}}});
  row("LogisticRegressionOutput", {}, {array({{1, 2, 3}, {-1, 0.5, 0}}), array({{1, 2, 3}, {-1, 0.5, 0}})},
      {{{2, 3}, {0.7310586, 0.880797, 0.95257413, 0.26894143, 0.62245935, 0.5}}});
  row("MAERegressionOutput", {}, {array({{1, 2, 3}, {-1, 0.5, 0}}), array({{1, 2, 3}, {-1, 0.5, 0}})},
      {{{2, 3}, {1, 2, 3, -1, 0.5, 0}}});
  row("MakeLoss", {}, {array({{1, 2, 3}, {-1, 0.5, 0}})}, {{{2, 3}, {1, 2, 3, -1, 0.5, 0}}});
}

TEST_CASE("leaky relu as MXNet does it") {
  row("LeakyReLU", {{"act_type", "leaky"}, {"slope", "0.3"}}, {array({{-2, -0.5, 0, 1.5}})},
      {{{1, 4}, {-0.6, -0.15, 0, 1.5}}});
  row("LeakyReLU", {{"act_type", "elu"}, {"slope", "0.3"}}, {array({{-2, -0.5, 0, 1.5}})},
      {{{1, 4}, {-0.25939944, -0.11804082, 0, 1.5}}});
  row("LeakyReLU", {{"act_type", "selu"}, {"slope", "0.3"}}, {array({{-2, -0.5, 0, 1.5}})},
      {{{1, 4}, {-1.5201665, -0.6917582, 0, 1.5760515}}});
  row("LeakyReLU", {{"act_type", "gelu"}, {"slope", "0.3"}}, {array({{-2, -0.5, 0, 1.5}})},
      {{{1, 4}, {-0.045500096, -0.15426877, 0, 1.399789}}});
  CHECK(difference(strop::invoke("LeakyReLU", {array({{-2, -0.5, 0, 1.5}})}, {{"act_type", "rrelu"}}),
                   Numbers{-0.459, -0.11475, 0, 1.5}, {1, 4})
            .empty());
  row("LeakyReLU", {{"act_type", "prelu"}}, {array({{-2, -0.5}, {1, -4}}), array({0.1, 0.5})},
      {{{2, 2}, {-0.2, -0.25, 1, -2}}});
  row("LeakyReLU", {{"act_type", "prelu"}}, {array({{-2, -0.5}, {1, -4}}), array({0.25})},
      {{{2, 2}, {-0.5, -0.125, 1, -1}}});
  // gamma along the channels, the examples, or both
  const NDArray x = array({{{-1, -2}, {1, -3}, {-4, 2}}, {{-5, 3}, {-6, -7}, {4, -8}}});
  const auto prelu = [&](const NDArray& gamma, const Numbers& wanted) {
    row("LeakyReLU", {{"act_type", "prelu"}}, {x, gamma}, {{{2, 3, 2}, wanted}});
    return gradients("LeakyReLU", {{"act_type", "prelu"}}, {x, gamma}, {strop::ones({2, 3, 2})});
  };
  const Numbers by_channel{-1, -2, 1, -6, -12, 2, -5, 3, -12, -14, 4, -24};
  CHECK(prelu(array({1, 2, 3}), by_channel)[1] == Numbers{-8, -16, -12});
  CHECK(prelu(array({{1, 2, 3}}), by_channel)[0] == Numbers{1, 1, 1, 2, 3, 1, 1, 1, 2, 2, 1, 3});
  CHECK(prelu(array({{1}, {2}}), {-1, -2, 1, -3, -4, 2, -10, 3, -12, -14, 4, -16})[1] == Numbers{-10, -26});
  CHECK(prelu(array({{1, 2, 3}, {4, 5, 6}}), {-1, -2, 1, -6, -12, 2, -20, 3, -30, -35, 4, -48})[1] ==
        Numbers{-3, -3, -4, -5, -13, -8});
  row("LeakyReLU", {{"act_type", "prelu"}}, {array({-1, -2, 3}), array({4, 5, 6})}, {{{3}, {-4, -10, 3}}});
}

TEST_CASE("rrelu shows its mask, the slopes") {
  const auto y = strop::invoke_all("LeakyReLU", {array({-2, 3})}, {{"act_type", "rrelu"}});
  REQUIRE(y.size() == 2);
  CHECK(difference(y[1], Numbers{(0.125 + 0.334) / 2, 1}, {2}).empty());
  CHECK(strop::invoke_all("LeakyReLU", {array({-2, 3})}).size() == 1);
}

TEST_CASE("layer norm as MXNet does it") {
  row("LayerNorm", {}, {array({{1, 2, 3}, {-1, 0.5, 0}}), array({1, 2, 0.5}), array({0, 1, -1})},
      {{{2, 3}, {-1.2247356, 1, -0.3876322, -1.3362889, 3.1380625, -0.8663711}}});
  row("LayerNorm", {{"axis", "0"}, {"eps", "0.1"}, {"output_mean_var", "True"}},
      {array({{1, 2, 3}, {-1, 0.5, 0}}), array({1, 2}), array({0, 1})},
      {{{2, 3}, {0.9534626, 0.9214426, 0.97849214, -0.9069252, -0.84288526, -0.9569843}},
       {{1, 3}, {0, 1.25, 1.5}},
       {{1, 3}, {1.0488088, 0.81394106, 1.5329709}}});
}

TEST_CASE("batch norm as MXNet does it") {
  row("BatchNorm", {{"fix_gamma", "False"}, {"output_mean_var", "True"}},
      {array({{1, 2, 3}, {-1, 0.5, 0}}), array({1, 2, 0.5}), array({0, 1, -1}), array({0.5, 0, 1}),
       array({1, 2, 0.25})},
      {{{2, 3}, {0.4997502, 3.8277204, 0.9960121, -1.4992507, 1.7069302, -1.9980061}},
       {{3}, {0.5, 0, 1}},
       {{3}, {0.9995004, 0.7069301, 1.9960121}}});
  row("BatchNorm", {{"eps", "0.01"}},
      {array({{1, 2, 3}, {-1, 0.5, 0}}), array({1, 2, 0.5}), array({0, 1, -1}), array({0.5, 0, 1}),
       array({1, 2, 0.25})},
      {{{2, 3}, {0.49751857, 2.4106913, 2.9223228, -1.4925557, 1.3526728, -2.9611614}}});
}

TEST_CASE("softmax of large, infinite and masked numbers") {
  row("softmax", {}, {array({{1000, 1000, -Inf}})}, {{{1, 3}, {0.5, 0.5, 0}}});
  row("log_softmax", {}, {array({{-1000, 0}})}, {{{1, 2}, {-1000, 0}}});
  // Along the axis only the first elements count; 1 / (1 + e) and e / (1 + e).
  const double low = 1 / (1 + std::exp(1.0));
  const NDArray x = array({{0, 1, 5}, {2, 7, 7}}), length = array({2, 1});
  row("softmax", {{"use_length", "True"}}, {x, length}, {{{2, 3}, {low, 1 - low, 0, 1, 0, 0}}});
  row("log_softmax", {{"use_length", "True"}}, {x, length}, {{{2, 3}, {std::log(low), std::log(1 - low), 0, 0, 0, 0}}});
  const auto g = gradients("log_softmax", {{"use_length", "True"}}, {x, length}, {array({{1, 0, 9}, {5, 9, 9}})})[0];
  CHECK(std::abs(g[0] - (1 - low)) < 1e-6);
  CHECK(std::abs(g[1] + (1 - low)) < 1e-6);
  CHECK(Numbers(g.begin() + 2, g.end()) == Numbers{0, 0, 0, 0});
  CHECK(strop::invoke("softmax", {x}, {{"dtype", "float64"}}).dtype() == strop::f64);
}

TEST_CASE("losses start the backward pass") {
  const NDArray x = array({{1, 2}, {3, 4}}), label = array({{0, 2}, {5, 4}}), head = array({{9, 9}, {9, 9}});
  CHECK(gradients("LinearRegressionOutput", {}, {x, label}, {head})[0] == Numbers{0.5, 0, -1, 0});
  CHECK(gradients("MAERegressionOutput", {{"grad_scale", "4"}}, {x, label}, {head})[0] == Numbers{2, -2, -2, -2});
  const Numbers logistic = gradients("LogisticRegressionOutput", {}, {strop::zeros({2, 2}), label}, {head})[0];
  CHECK(logistic == Numbers{0.25, -0.75, -2.25, -1.75});
  CHECK(gradients("MakeLoss", {{"grad_scale", "6"}, {"normalization", "batch"}}, {x}, {head})[0] == Numbers(4, 3.0));
  CHECK(gradients("MakeLoss", {{"grad_scale", "6"}, {"normalization", "valid"}, {"valid_thresh", "2"}}, {x},
                  {head})[0] == Numbers(4, 3.0));
  // (softmax − one-hot) · grad_scale: 0.5 each.
  const NDArray even = strop::zeros({2, 2}), one = array({1, 0});
  const auto softmax = [&](strop::Attributes params, const NDArray& labels) {
    return gradients("SoftmaxOutput", params, {even, labels}, {head})[0];
  };
  CHECK(softmax({}, one) == Numbers{0.5, -0.5, -0.5, 0.5});
  CHECK(softmax({{"grad_scale", "2"}, {"normalization", "batch"}}, one) == Numbers{0.5, -0.5, -0.5, 0.5});
  CHECK(softmax({{"use_ignore", "True"}, {"ignore_label", "0"}}, one) == Numbers{0.5, -0.5, 0, 0});
  CHECK(softmax({{"use_ignore", "True"}, {"ignore_label", "0"}, {"grad_scale", "4"}, {"normalization", "valid"}},
                one) == Numbers{2, -2, 0, 0});
  CHECK(softmax({{"smooth_alpha", "0.5"}}, one) == Numbers{0, 0, 0, 0});
  CHECK(softmax({}, array({{1, 0}, {0.5, 0.5}})) == Numbers{-0.5, 0.5, 0, 0});
  // Of data with several labels per example each of them counts: normalization divides by their number.
  const auto several = [&](strop::Attributes params) {
    return gradients("SoftmaxOutput", params, {strop::zeros({2, 3, 2}), array({{1, 0, 0}, {1, 1, 0}})},
                     {strop::zeros({2, 3, 2})})[0][0];
  };
  for (std::string_view kept : {"True", "False"}) {
    CHECK(several({{"preserve_shape", kept}, {"normalization", "batch"}, {"grad_scale", "12"}}) ==
          doctest::Approx(kept == "True" ? 1 : 1.0 / 3));
    CHECK(
        several({{"preserve_shape", kept}, {"normalization", "valid"}, {"ignore_label", "0"}, {"grad_scale", "12"}}) ==
        doctest::Approx(kept == "True" ? 2 : 2.0 / 3));
  }
  // With multi_output the gradient is divided by the positions of an example.
  CHECK(gradients("SoftmaxOutput", {{"multi_output", "True"}}, {strop::zeros({1, 2, 2}), array({{1, 0}})},
                  {strop::zeros({1, 2, 2})})[0] == Numbers{0.25, -0.25, -0.25, 0.25});
}

TEST_CASE("dropout drops in training, as often as it says, and nothing elsewhere") {
  const NDArray x = strop::ones({100, 100});
  CHECK(values(strop::invoke("Dropout", {x})) == values(x));
  strop::random::seed(3);
  NDArray y;
  x.attach_grad();
  {
    strop::record scope;
    y = strop::invoke("Dropout", {x}, {{"p", "0.25"}});
  }
  y.backward(strop::full({100, 100}, 3));
  const Numbers kept = values(y), gradient = values(x.grad());
  std::size_t zeros = 0;
  for (std::size_t i = 0; i < kept.size(); ++i) {
    zeros += kept[i] == 0;
    const bool sound = kept[i] == 0 || std::abs(kept[i] - 4.0 / 3) < 1e-6;
    if (!sound || std::abs(gradient[i] - 3 * kept[i]) > 1e-5) FAIL_CHECK("element ", i, " is ", kept[i]);
  }
  CHECK(zeros > 2200);  // 2500 expected, deviation 43
  CHECK(zeros < 2800);
  strop::random::seed(3);
  const NDArray rows = strop::invoke("Dropout", {x}, {{"p", "0.5"}, {"mode", "always"}, {"axes", "(1,)"}});
  for (std::int64_t i = 0; i < 100; ++i) {
    const Numbers one = values(rows[i]);
    CHECK(one == Numbers(100, one[0]));
  }
  row("Dropout", {{"p", "1"}, {"mode", "always"}}, {array({1, 2})}, {{{2}, {0, 0}}});
  row("Dropout", {{"p", "0"}, {"mode", "always"}}, {array({1, 2})}, {{{2}, {1, 2}}});
}

TEST_CASE("batch norm in training moves its statistics once") {
  // Two channels: means 2 and 10, variances 1 and 4.
  const NDArray x = array({{1, 8}, {3, 12}}), gamma = array({2, 1}), beta = array({0, 1}), mean = array({0, 10}),
                var = array({1, 1});
  {
    strop::train_mode training;
    const NDArray y =
        strop::invoke("BatchNorm", {x, gamma, beta, mean, var}, {{"fix_gamma", "False"}, {"eps", "1e-10"}});
    CHECK(difference(y, Numbers{-2, 0, 2, 2}, {2, 2}, {1e-5, 1e-5}).empty());
  }
  CHECK(difference(mean, Numbers{0.2, 10}, {2}).empty());
  CHECK(difference(var, Numbers{1, 1.3}, {2}).empty());
  {
    strop::train_mode training;
    (void)strop::invoke("BatchNorm", {x, gamma, beta, mean, var}, {{"use_global_stats", "True"}});
  }
  CHECK(difference(mean, Numbers{0.2, 10}, {2}).empty());
}

TEST_CASE("rrelu draws its slopes in training and takes their middle elsewhere") {
  const NDArray x = strop::full({1000}, -1);
  CHECK(std::abs(values(strop::invoke("LeakyReLU", {x}, {{"act_type", "rrelu"}}))[7] + (0.125 + 0.334) / 2) < 1e-6);
  strop::random::seed(5);
  x.attach_grad();
  NDArray y;
  {
    strop::record scope;
    y = strop::invoke("LeakyReLU", {x}, {{"act_type", "rrelu"}, {"lower_bound", "0.1"}, {"upper_bound", "0.3"}});
  }
  y.backward();
  double least = 0, most = -1, sum = 0;
  for (double v : values(y)) least = std::min(least, v), most = std::max(most, v), sum += v;
  CHECK(least >= -0.3);
  CHECK(most <= -0.1);
  CHECK(std::abs(sum / 1000 + 0.2) < 0.01);
  Numbers slopes = values(x.grad());
  for (double& v : slopes) v = -v;
  CHECK(difference(y, slopes, {1000}).empty());
}

TEST_CASE("layers refuse in a sentence") {
  const NDArray m = count({2, 3}), c = count({2, 3, 4});
  CHECK(refusal("softmax", {{"axis", "2"}}, {m}) == "softmax: axis 2 is outside input 'data' of shape (2, 3)");
  CHECK(refusal("softmax", {}, {m.to(strop::i32)}) ==
        "softmax: input 'data' is int32, expected one of float16, bfloat16, float32, float64");
  CHECK(refusal("softmax", {{"use_length", "True"}}, {m, array({1})}) ==
        "softmax: input 'length' has shape (1,), expected (2,)");
  CHECK(refusal("softmax_cross_entropy", {}, {c, array({1})}) ==
        "softmax_cross_entropy: input 'data' has shape (2, 3, 4), expected 2 dimensions");
  CHECK(refusal("softmax_cross_entropy", {}, {m, array({1})}) ==
        "softmax_cross_entropy: input 'label' has shape (1,), expected (2,)");
  CHECK(refusal("SoftmaxOutput", {}, {m, array({1})}) == "softmax_output: input 'label' has shape (1,), expected (2,)");
  CHECK(refusal("LinearRegressionOutput", {}, {m, array({1})}) ==
        "linear_regression_output: input 'label' has shape (1,), expected (2, 3)");
  CHECK(refusal("LeakyReLU", {{"act_type", "prelu"}}, {m, array({1, 2})}) ==
        "leaky_relu: input 'gamma' has shape (2,), expected (3,)");
  CHECK(refusal("LeakyReLU", {{"act_type", "swish"}}, {m}) ==
        "leaky_relu: parameter 'act_type' is 'swish', expected one of {'rrelu', 'leaky', 'prelu', 'elu', 'selu', "
        "'gelu'}");
  CHECK(refusal("Dropout", {{"p", "2"}}, {m}) == "dropout: parameter 'p' is 2, expected a value from 0 to 1");
  CHECK(refusal("Dropout", {{"axes", "(2,)"}}, {m}) == "dropout: axis 2 is outside input 'data' of shape (2, 3)");
  CHECK(refusal("BatchNorm", {}, {m, array({1, 1}), array({1, 1, 1}), array({1, 1, 1}), array({1, 1, 1})}) ==
        "batch_norm: input 'gamma' has shape (2,), expected (3,)");
  CHECK(
      refusal("BatchNorm", {{"axis", "2"}}, {m, array({1, 1}), array({1, 1, 1}), array({1, 1, 1}), array({1, 1, 1})}) ==
      "batch_norm: axis 2 is outside input 'data' of shape (2, 3)");
  CHECK(refusal("LayerNorm", {}, {m, array({1, 1}), array({1, 1, 1})}) ==
        "layer_norm: input 'gamma' has shape (2,), expected (3,)");
  CHECK(refusal("Activation", {}, {m}) ==
        "activation: parameter 'act_type' ({'relu', 'sigmoid', 'tanh', 'softrelu', 'softsign'}) is required");
  CHECK(
      refusal("Activation", {{"act_type", "tan"}}, {m}) ==
      "activation: parameter 'act_type' is 'tan', expected one of {'relu', 'sigmoid', 'tanh', 'softrelu', 'softsign'}");
  CHECK(refusal("SoftmaxOutput", {{"smooth_alpha", "2"}}, {m, array({1, 0})}) ==
        "softmax_output: parameter 'smooth_alpha' is 2, expected a value from 0 to 1");
}
