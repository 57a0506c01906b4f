// SPDX-License-Identifier: Apache-2.0
#include "value_rows.hpp"

using namespace ops_test;
using strop::array;

// The numbers are those of MXNet 1.9.1.

TEST_CASE("normalisations of parts of an example as MXNet does them") {
  const NDArray x = count({1, 4, 2});
  row("GroupNorm", {{"num_groups", "2"}}, {x, array({1, 2}), array({0.5, -0.5})},
      {{{1, 4, 2},
        {-0.8416354656219482, 0.05278816819190979, 0.9472118616104126, 1.8416354656219482, -3.1832709312438965,
         -1.3944237232208252, 0.3944236636161804, 2.1832709312438965}}});
  row("InstanceNorm", {}, {x, array({1, 2, 3, 4}), array({0.5, -0.5, 1, 2})},
      {{{1, 4, 2},
        {-0.49800604581832886, 1.4980061054229736, -2.4960122108459473, 1.4960120916366577, -1.9940180778503418,
         3.994018077850342, -1.9920241832733154, 5.9920244216918945}}});
  row("L2Normalization", {{"mode", "instance"}}, {x},
      {{{1, 4, 2},
        {0, 0.08451542258262634, 0.16903084516525269, 0.25354626774787903, 0.33806169033050537, 0.4225771129131317,
         0.5070925354957581, 0.591607928276062}}});
  row("L2Normalization", {{"mode", "channel"}}, {x},
      {{{1, 4, 2},
        {0, 0.10910893976688385, 0.26726123690605164, 0.32732683420181274, 0.5345224738121033, 0.5455446839332581,
         0.8017836809158325, 0.7637625932693481}}});
  row("L2Normalization", {{"mode", "spatial"}}, {x},
      {{{1, 4, 2},
        {0, 1, 0.5547001957893372, 0.8320503234863281, 0.6246950626373291, 0.7808687686920166, 0.650791347026825,
         0.7592566013336182}}});
  row("LRN", {{"nsize", "3"}, {"alpha", "0.5"}}, {x.reshape({1, 4, 2, 1})},
      {{{1, 4, 2, 1},
        {0, 0.37739524245262146, 0.5698767304420471, 0.6407096982002258, 0.6475774645805359, 0.6299277544021606,
         1.016552209854126, 0.950249433517456}}});
}

TEST_CASE("group norm shows its statistics where it is asked to") {
  const NDArray x = array({{{1, 3}, {5, 9}}});
  const std::vector<NDArray> y = strop::invoke_all("GroupNorm", {x, array({1, 1}), array({0, 0})},
                                                   {{"num_groups", "2"}, {"output_mean_var", "True"}, {"eps", "0"}});
  REQUIRE(y.size() == 3);
  CHECK(values(y[0]) == Numbers{-1, 1, -1, 1});
  CHECK(values(y[1]) == Numbers{2, 7});
  CHECK(values(y[2]) == Numbers{1, 2});
  CHECK(values(strop::group_norm(strop::zeros({0, 2, 3}), array({1}), array({0}))).empty());
}

TEST_CASE("softmax of an example and of channels as MXNet does it") {
  const NDArray x = count({1, 2, 2}) / 2;
  row("SoftmaxActivation", {}, {x},
      {{{1, 2, 2}, {0.3775406777858734, 0.622459352016449, 0.3775406777858734, 0.622459352016449}}});
  row("SoftmaxActivation", {{"mode", "channel"}}, {x},
      {{{1, 2, 2}, {0.2689414322376251, 0.2689414322376251, 0.7310585975646973, 0.7310585975646973}}});
}

TEST_CASE("the gradient of SVMOutput is that of its margins, whatever comes from above") {
  for (const bool linear : {false, true}) {
    const NDArray x = array({{0.5, 0.5, -2}, {2, -0.5, 0.1}});
    x.attach_grad();
    {
      strop::record scope;
      (strop::svm_output(x, array({1, 0}), {.margin = 1.5, .regularization_coefficient = 0.5, .use_linear = linear}) *
       100)
          .backward();
    }
    CHECK(difference(x.grad(), linear ? Numbers{0.5, -0.5, 0, 0, 0.5, 0.5} : Numbers{2, -1, 0, 0, 1, 1.6}, {2, 3},
                     {1e-6, 1e-6})
              .empty());
  }
}

TEST_CASE("deconvolution as MXNet does it") {
  const NDArray x = count({1, 2, 1, 2}), w = count({2, 2, 3, 2});
  row("Deconvolution",
      {{"kernel", "(3, 2)"}, {"stride", "(2, 2)"}, {"pad", "(1, 0)"}, {"adj", "(1, 1)"}, {"num_filter", "2"}}, {x, w},
      {{{1, 2, 2, 5}, {28, 30, 44, 48, 0, 32, 34, 52, 56, 0, 40, 42, 68, 72, 0, 44, 46, 76, 80, 0}}});
  row("Deconvolution", {{"kernel", "(3, 2)"}, {"stride", "(2, 2)"}, {"target_shape", "(2, 3)"}, {"num_filter", "2"}},
      {x, w}, {{{1, 2, 2, 3}, {30, 44, 48, 34, 52, 56, 42, 68, 72, 46, 76, 80}}});
  row("Deconvolution",
      {{"kernel", "(3, 2)"}, {"dilate", "(1, 2)"}, {"num_filter", "4"}, {"num_group", "2"}, {"no_bias", "False"}},
      {x, w, array({1, 2, 3, 4})}, {{{1, 4, 3, 4}, {1,  1,  1,  2,  1,  3,  1,  4,  1,  5,  1,  6,  2,  8,  2,  9,
                                                    2,  10, 2,  11, 2,  12, 2,  13, 27, 39, 29, 42, 31, 45, 33, 48,
                                                    35, 51, 37, 54, 40, 58, 42, 61, 44, 64, 46, 67, 48, 70, 50, 73}}});
}

TEST_CASE("deconvolution is the gradient of convolution") {
  const strop::Convolution forth{.kernel = {3, 2}, .stride = {2, 1}, .pad = {1, 0}, .num_filter = 3, .no_bias = true};
  const strop::Deconvolution back{.kernel = {3, 2}, .stride = {2, 1}, .pad = {1, 0}, .num_filter = 2};
  const NDArray x = count({2, 2, 5, 4}) / 7, w = count({3, 2, 3, 2}, 1) / 5;
  x.attach_grad();
  NDArray head;
  {
    strop::record scope;
    const NDArray y = strop::convolution(x, w, forth);
    head = count(y.shape()) / 3;
    y.backward(head);
  }
  CHECK(difference(strop::deconvolution(head, w, back), x.grad(), {1e-5, 1e-5}).empty());
}

TEST_CASE("larger images as MXNet makes them") {
  const NDArray x = count({1, 1, 1, 2}), more = count({1, 1, 2, 1}, 5);
  const Numbers twice{0, 0, 1, 1, 0, 0, 1, 1};
  row("UpSampling", {{"scale", "2"}, {"sample_type", "nearest"}}, {x}, {{{1, 1, 2, 4}, twice}});
  row("UpSampling", {{"scale", "2"}, {"sample_type", "nearest"}, {"num_args", "2"}}, {x, more},
      {{{1, 2, 2, 4}, {0, 0, 1, 1, 0, 0, 1, 1, 5, 5, 5, 5, 6, 6, 6, 6}}});
  row("UpSampling", {{"scale", "2"}, {"sample_type", "nearest"}, {"multi_input_mode", "sum"}}, {x, more},
      {{{1, 1, 2, 4}, {5, 5, 6, 6, 6, 6, 7, 7}}});
  row("UpSampling", {{"scale", "2"}, {"sample_type", "bilinear"}, {"num_filter", "1"}}, {x, count({1, 1, 4, 4})},
      {{{1, 1, 2, 4}, {0, 4, 5, 6, 0, 8, 9, 10}}});
}

TEST_CASE("older layers refuse in a sentence") {
  const NDArray m = count({2, 3}), c = count({2, 3, 4}), image = count({1, 2, 3, 3});
  CHECK(refusal("GroupNorm", {{"num_groups", "2"}}, {c, array({1, 1}), array({1, 1})}) ==
        "group_norm: input 'data' has 3 channels, expected a multiple of num_groups, 2");
  CHECK(refusal("InstanceNorm", {}, {m, array({1, 1, 1}), array({1, 1, 1})}) ==
        "instance_norm: input 'data' has shape (2, 3), expected 3 dimensions or more");
  CHECK(refusal("L2Normalization", {{"mode", "channel"}}, {m}) ==
        "l2_normalization: input 'data' has shape (2, 3), expected 3 dimensions or more");
  CHECK(refusal("LRN", {{"nsize", "2"}}, {c}) == "lrn: nsize is 2, expected an odd number");
  CHECK(refusal("SVMOutput", {}, {m, array({1, 2, 3})}) == "svm_output: input 'label' has shape (3,), expected (2,)");
  CHECK(refusal("SoftmaxActivation", {}, {array({1, 2})}) ==
        "softmax_activation: input 'data' has shape (2,), expected 2 dimensions or more");
  const NDArray w = count({2, 1, 2, 2});
  CHECK(refusal("Deconvolution", {{"kernel", "(2, 2)"}, {"num_filter", "1"}, {"adj", "(1, 0)"}}, {image, w}) ==
        "deconvolution: adj = (1, 0), expected numbers below those of stride, which is 1 on axis 0");
  CHECK(refusal("Deconvolution", {{"kernel", "(2, 2)"}, {"num_filter", "1"}, {"target_shape", "(5, 4)"}}, {image, w}) ==
        "deconvolution: target_shape = (5, 4), expected at most 4 on axis 0");
  CHECK(refusal("Deconvolution", {{"kernel", "(2, 2)"}, {"num_filter", "1"}, {"pad", "(3, 0)"}}, {image, w}) ==
        "deconvolution: axis 2 of input 'data' has extent 3, whose windows reach 4, and pad cuts off 6");
  CHECK(refusal("UpSampling", {{"scale", "2"}, {"sample_type", "nearest"}}, {image, count({1, 1, 4, 3})}) ==
        "up_sampling: input 'arg1' has shape (1, 1, 4, 3), whose extents do not divide those of the result, (1, 3, 6, "
        "6)");
  CHECK(refusal("UpSampling", {{"scale", "2"}, {"sample_type", "bilinear"}, {"num_filter", "2"}}, {image}) ==
        "up_sampling: takes 2 inputs (data, weight) to be bilinear, not 1");
}
