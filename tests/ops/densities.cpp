// SPDX-License-Identifier: Apache-2.0
#include "value_rows.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

using namespace ops_test;
using strop::array;

// The numbers are those of MXNet 1.9.1.

TEST_CASE("sums up to each element as MXNet makes them") {
  const NDArray a = array({{1, 2}, {3, 4}});
  row("_np_cumsum", {}, {a}, {{{4}, {1, 3, 6, 10}}});
  slopes("_np_cumsum", {}, {a}, {{10, 9, 7, 4}});
  row("_np_cumsum", {{"axis", "0"}}, {a}, {{{2, 2}, {1, 2, 4, 6}}});
  slopes("_np_cumsum", {{"axis", "0"}}, {a}, {{4, 6, 3, 4}});
  row("_np_cumsum", {{"axis", "1"}}, {a}, {{{2, 2}, {1, 3, 3, 7}}});
  slopes("_np_cumsum", {{"axis", "1"}}, {a}, {{3, 2, 7, 4}});
}

TEST_CASE("densities as MXNet computes them") {
  const NDArray x = array({{0.5, 1.5, 2.5}, {1, 2, 3}});
  const NDArray counts = array({{0, 1, 2}, {1, 4, 7}});
  row("_random_pdf_uniform", {}, {x, array({0, 1}), array({4, 3})}, {{{2, 3}, {0.25, 0.25, 0.25, 0.5, 0.5, 0.5}}},
      {1e-5, 1e-5});
  slopes("_random_pdf_uniform", {}, {x, array({0, 1}), array({4, 3})},
         {{0, 0, 0, 0, 0, 0}, {0.375, 3.75}, {-0.375, -3.75}});
  row("_random_pdf_uniform", {{"is_log", "True"}}, {x, array({0, 1}), array({4, 3})},
      {{{2, 3}, {-1.386294, -1.386294, -1.386294, -0.6931472, -0.6931472, -0.6931472}}}, {1e-5, 1e-5});
  slopes("_random_pdf_uniform", {{"is_log", "True"}}, {x, array({0, 1}), array({4, 3})},
         {{0, 0, 0, 0, 0, 0}, {1.5, 7.5}, {-1.5, -7.5}});
  row("_random_pdf_normal", {}, {x, array({0, 1}), array({0.5, 2})},
      {{{2, 3}, {0.4839414, 0.008863697, 2.973439e-06, 0.1994711, 0.1760327, 0.1209854}}}, {1e-5, 1e-5});
  slopes("_random_pdf_normal", {}, {x, array({0, 1}), array({0.5, 2})},
         {{-0.9678829, -0.1063644, -8.920317e-05, 0, -0.2200408, -0.3629561},
          {1.074336, 0.5829969},
          {0.2840665, -0.7290035}});
  row("_random_pdf_normal", {{"is_log", "True"}}, {x, array({0, 1}), array({0.5, 2})},
      {{{2, 3}, {-0.7257913, -4.725791, -12.72579, -1.612086, -1.737086, -2.112086}}}, {1e-5, 1e-5});
  slopes("_random_pdf_normal", {{"is_log", "True"}}, {x, array({0, 1}), array({0.5, 2})},
         {{-2, -12, -30, 0, -1.25, -3}, {44, 4.25}, {176, -3.875}});
  row("_random_pdf_gamma", {}, {x, array({1.5, 3}), array({0.5, 2})},
      {{{2, 3}, {0.2196956, 0.2307995, 0.1807224, 0.5413411, 0.2930502, 0.08923508}}}, {1e-5, 1e-5});
  slopes(
      "_random_pdf_gamma", {}, {x, array({1.5, 3}), array({0.5, 2})},
      {{0.1098478, -0.07693316, -0.1626502, 0, -1.465251, -0.7138807}, {-0.3610195, 0.647169}, {1.512721, -0.4530591}});
  row("_random_pdf_gamma", {{"is_log", "True"}}, {x, array({1.5, 3}), array({0.5, 2})},
      {{{2, 3}, {-1.515512, -1.466206, -1.710793, -0.6137056, -1.227411, -2.416481}}}, {1e-5, 1e-5});
  slopes("_random_pdf_gamma", {{"is_log", "True"}}, {x, array({1.5, 3}), array({0.5, 2})},
         {{0.5, -0.3333333, -0.9, 0, -5, -8}, {-1.511167, 6.612853}, {7, -9.5}});
  row("_random_pdf_exponential", {}, {x, array({0.5, 2})},
      {{{2, 3}, {0.3894004, 0.2361833, 0.1432524, 0.2706706, 0.03663128, 0.004957505}}}, {1e-5, 1e-5});
  slopes("_random_pdf_exponential", {}, {x, array({0.5, 2})},
         {{-0.1947002, -0.2361833, -0.2148786, -2.165365, -0.3663128, -0.05949005}, {0.6054053, -0.8904383}});
  row("_random_pdf_exponential", {{"is_log", "True"}}, {x, array({0.5, 2})},
      {{{2, 3}, {-0.9431472, -1.443147, -1.943147, -1.306853, -3.306853, -5.306853}}}, {1e-5, 1e-5});
  slopes("_random_pdf_exponential", {{"is_log", "True"}}, {x, array({0.5, 2})},
         {{-0.5, -1, -1.5, -8, -10, -12}, {1, -24.5}});
  row("_random_pdf_poisson", {}, {counts, array({0.5, 2})},
      {{{2, 3}, {0.6065307, 0.3032653, 0.07581633, 0.2706706, 0.09022352, 0.003437087}}}, {1e-5, 1e-5});
  slopes("_random_pdf_poisson", {}, {counts, array({0.5, 2})}, {{0, 0, 0, 0, 0, 0}, {0.682347, -0.03866722}});
  row("_random_pdf_poisson", {{"is_log", "True"}}, {counts, array({0.5, 2})},
      {{{2, 3}, {-0.5, -1.193147, -2.579442, -1.306853, -2.405465, -5.673131}}}, {1e-5, 1e-5});
  slopes("_random_pdf_poisson", {{"is_log", "True"}}, {counts, array({0.5, 2})}, {{0, 0, 0, 0, 0, 0}, {10, 18}});
  row("_random_pdf_negative_binomial", {}, {counts, array({2, 3.5}), array({0.4, 0.7})},
      {{{2, 3}, {0.16, 0.192, 0.1728, 0.3013231, 0.05453477, 0.00424641}}}, {1e-5, 1e-5});
  slopes("_random_pdf_negative_binomial", {}, {counts, array({2, 3.5}), array({0.4, 0.7})},
         {{0, 0, 0, 0, 0, 0}, {-0.3494672, 0.06872621}, {2.944, -0.7305664}});
  row("_random_pdf_negative_binomial", {{"is_log", "True"}}, {counts, array({2, 3.5}), array({0.4, 0.7})},
      {{{2, 3}, {-1.832581, -1.65026, -1.75562, -1.199572, -2.908917, -5.461681}}}, {1e-5, 1e-5});
  slopes("_random_pdf_negative_binomial", {{"is_log", "True"}}, {counts, array({2, 3.5}), array({0.4, 0.7})},
         {{0, 0, 0, 0, 0, 0}, {-1.997744, 7.209803}, {16.66667, -145}});
  row("_random_pdf_generalized_negative_binomial", {}, {counts, array({2, 3.5}), array({0.4, 0.7})},
      {{{2, 3}, {0.2300481, 0.255609, 0.198807, 0.1729561, 0.09516858, 0.04207467}}}, {1e-5, 1e-5});
  slopes("_random_pdf_generalized_negative_binomial", {}, {counts, array({2, 3.5}), array({0.4, 0.7})},
         {{0, 0, 0, 0, 0, 0}, {-0.2698097, -0.05035795}, {-0.2689666, -0.3170108}});
  row("_random_pdf_generalized_negative_binomial", {{"is_log", "True"}}, {counts, array({2, 3.5}), array({0.4, 0.7})},
      {{{2, 3}, {-1.469467, -1.364106, -1.615421, -1.754717, -2.352105, -3.168309}}}, {1e-5, 1e-5});
  slopes("_random_pdf_generalized_negative_binomial", {{"is_log", "True"}},
         {counts, array({2, 3.5}), array({0.4, 0.7})},
         {{0, 0, 0, 0, 0, 0}, {-1.111112, 1.118012}, {-1.370701, -4.598287}});
  row("_random_pdf_dirichlet", {},
      {array({{{0.2, 0.3, 0.5}, {0.6, 0.1, 0.3}}, {{0.1, 0.1, 0.8}, {0.3, 0.3, 0.4}}}),
       array({{1, 2, 3}, {0.5, 1.5, 2.5}})},
      {{{2, 2}, {4.5, 0.54, 3.98587, 1.409218}}}, {1e-5, 1e-5});
  slopes("_random_pdf_dirichlet", {},
         {array({{{0.2, 0.3, 0.5}, {0.6, 0.1, 0.3}}, {{0.1, 0.1, 0.8}, {0.3, 0.3, 0.4}}}),
          array({{1, 2, 3}, {0.5, 1.5, 2.5}})},
         {{0, 15, 18, 0, 10.8, 7.199999, -59.78805, 59.78805, 22.42052, -9.394787, 9.394787, 21.13827},
          {4.946839, -0.7436681, -0.04845172, 24.66336, -10.52561, 4.231511}});
  row("_random_pdf_dirichlet", {{"is_log", "True"}},
      {array({{{0.2, 0.3, 0.5}, {0.6, 0.1, 0.3}}, {{0.1, 0.1, 0.8}, {0.3, 0.3, 0.4}}}),
       array({{1, 2, 3}, {0.5, 1.5, 2.5}})},
      {{{2, 2}, {1.504077, -0.6161862, 1.382756, 0.343035}}}, {1e-5, 1e-5});
  slopes("_random_pdf_dirichlet", {{"is_log", "True"}},
         {array({{{0.2, 0.3, 0.5}, {0.6, 0.1, 0.3}}, {{0.1, 0.1, 0.8}, {0.3, 0.3, 0.4}}}),
          array({{1, 2, 3}, {0.5, 1.5, 2.5}})},
         {{0, 3.333333, 4, 0, 20, 13.33333, -15, 15, 5.625, -6.666667, 6.666667, 15},
          {4.218912, -1.959142, -0.7510921, 11.74303, -2.256979, 0.4654067}});
  row("_random_pdf_dirichlet", {}, {array({0.2, 0.3, 0.5}), array({1, 2, 3})}, {{{1}, {4.5}}}, {1e-5, 1e-5});
}

TEST_CASE("the loss of sequences as MXNet computes it") {
  const NDArray x = array({{{1.76, 0.4, 0.98}, {2.24, 1.87, -0.98}},
                           {{0.95, -0.15, -0.1}, {0.41, 0.14, 1.45}},
                           {{0.76, 0.12, 0.44}, {0.33, 1.49, -0.21}},
                           {{0.31, -0.85, -2.55}, {0.65, 0.86, -0.74}}});
  row("CTCLoss", {}, {x, array({{1, 2}, {2, 0}})}, {{{2}, {2.464217, 2.736815}}}, {1e-5, 1e-5});
  slopes("CTCLoss", {}, {x, array({{1, 2}, {2, 0}})},
         {{0.167919,     -0.4352007, 0.2672817,  -0.7672616, 0.7982187,  -0.03095763, 0.2752467,  -0.2738609,
           -0.001386017, 0.102111,   0.3324392,  -0.4345508, 0.2743807,  0.1775249,   -0.4519056, -0.6402408,
           1.336747,     -0.696506,  -0.1211074, 0.228696,   -0.1075886, -0.9252056,  0.9937983,  -0.06859274}});
  row("CTCLoss", {}, {x, array({{1, 1}, {2, 2}})}, {{{2}, {3.131003, 4.80417}}}, {1e-5, 1e-5});
  slopes("CTCLoss", {}, {x, array({{1, 1}, {2, 2}})},
         {{0.3150584, -0.58234,  0.2672817, -0.670295,  0.7982187,   -0.1279243, -0.06895852, -0.1389901,
           0.2079486, 0.3343408, 0.3324392, -0.6667804, -0.09968022, -0.2225597, 0.32224,     -1.505592,
           1.336747,  0.1688449, 0.3819356, -0.4237145, 0.041779,    0.7452272,  0.9937983,   -1.739026}});
  row("CTCLoss", {{"blank_label", "last"}}, {x, array({{1, 0}, {0, -1}})}, {{{2}, {2.11374, 3.818826}}}, {1e-5, 1e-5});
  slopes("CTCLoss", {{"blank_label", "last"}}, {x, array({{1, 0}, {0, -1}})},
         {{0.5830677,  -0.4443544, -0.1387129, -0.5902115, 0.7982187,    -0.2080075, 0.3323277,  -0.3129709,
           -0.0193567, -0.9670017, 0.3324392,  0.6345624,  -0.130132,    0.03888547, 0.09124665, -0.9740026,
           1.336747,   -0.3627442, -0.2294766, 0.228696,   0.0007807314, -0.3734304, 0.9937983,  -0.6203676}});
  row("CTCLoss", {{"use_data_lengths", "True"}, {"use_label_lengths", "True"}},
      {x, array({{1, 2}, {2, 1}}), array({4, 3}), array({2, 1})}, {{{2}, {2.464217, 1.972031}}}, {1e-5, 1e-5});
  slopes("CTCLoss", {{"use_data_lengths", "True"}, {"use_label_lengths", "True"}},
         {x, array({{1, 2}, {2, 1}}), array({4, 3}), array({2, 1})},
         {{0.167919,     -0.4352007, 0.2672817,  -0.761479,  0.7982187,  -0.03674041, 0.2752467,  -0.2738609,
           -0.001386017, 0.1995913,  0.3324392,  -0.5320311, 0.2743807,  0.1775249,   -0.4519056, -0.7106692,
           1.336747,     -0.6260777, -0.1211074, 0.228696,   -0.1075886, 0,           0,          0}});
  row("CTCLoss", {{"use_label_lengths", "True"}}, {x, array({{1, 2}, {2, 1}}), array({2, 1})},
      {{{2}, {2.464217, 2.736815}}}, {1e-5, 1e-5});
  slopes("CTCLoss", {{"use_label_lengths", "True"}}, {x, array({{1, 2}, {2, 1}}), array({2, 1})},
         {{0.167919,     -0.4352007, 0.2672817,  -0.7672616, 0.7982187,  -0.03095763, 0.2752467,  -0.2738609,
           -0.001386017, 0.102111,   0.3324392,  -0.4345508, 0.2743807,  0.1775249,   -0.4519056, -0.6402408,
           1.336747,     -0.696506,  -0.1211074, 0.228696,   -0.1075886, -0.9252056,  0.9937983,  -0.06859274}});
  row("CTCLoss", {{"use_data_lengths", "True"}}, {x, array({{1, 2}, {2, 0}}), array({4, 2})},
      {{{2}, {2.464217, 0.9802995}}}, {1e-5, 1e-5});
  slopes("CTCLoss", {{"use_data_lengths", "True"}}, {x, array({{1, 2}, {2, 0}}), array({4, 2})},
         {{0.167919,   -0.4352007, 0.2672817,    -0.741785, 0.7982187, -0.05643364,
           0.2752467,  -0.2738609, -0.001386017, 0.4086879, 0.3324392, -0.7411271,
           0.2743807,  0.1775249,  -0.4519056,   0,         0,         0,
           -0.1211074, 0.228696,   -0.1075886,   0,         0,         0}});
  row("CTCLoss", {}, {x, array({{0, 0}, {2, 0}})}, {{{2}, {2.187737, 2.736815}}}, {1e-5, 1e-5});
  slopes("CTCLoss", {}, {x, array({{0, 0}, {2, 0}})},
         {{-0.4169323, 0.1496506, 0.2672817,  -0.7672616, 0.7982187,  -0.03095763, -0.4057555, 0.1978068,
           0.2079486,  0.102111,  0.3324392,  -0.4345508, -0.5562344, 0.2339943,   0.32224,    -0.6402408,
           1.336747,   -0.696506, -0.2704749, 0.228696,   0.041779,   -0.9252056,  0.9937983,  -0.06859274}});
}

TEST_CASE("sums up to each element are of any type, along any axis") {
  const NDArray bytes = array<std::int8_t>({100, 100}), halves = array({1, 2, 3}).to(strop::f16);
  CHECK(values(strop::cumsum(bytes)) == Numbers{100, -56});  // beyond 127 they go on from -128
  CHECK(values(strop::cumsum(bytes, {.dtype = strop::i32})) == Numbers{100, 200});
  CHECK(strop::cumsum(halves).dtype() == strop::f16);
  CHECK(values(strop::cumsum(halves)) == Numbers{1, 3, 6});
  CHECK(values(strop::cumsum(array({2048, 1, 1}).to(strop::f16))) == Numbers{2048, 2048, 2050});  // 2049 is no half
  CHECK(values(strop::cumsum(array({{1, 2}, {3, 4}}), {.axis = -1})) == Numbers{1, 3, 3, 7});     // where MXNet fails
  CHECK(strop::cumsum(strop::zeros({0, 2})).shape() == Shape{0});
  CHECK(strop::cumsum(strop::scalar(3)).shape() == Shape{1});
  CHECK(refusal("_np_cumsum", {{"axis", "2"}}, {array({{1}})}) ==
        "_np_cumsum: axis 2 is outside an array of 2 dimensions");
}

TEST_CASE("sequences that cannot say their labels, and labels that are none") {
  const NDArray x = strop::zeros({2, 2, 3});
  row("CTCLoss", {}, {x, array({{1, 1}, {1, 2}})}, {{{2}, {0, 2.1972246}}});
  slopes("CTCLoss", {}, {x, array({{1, 1}, {2, 2}})}, {Numbers(12, 0.0)});
  CHECK(strop::ctc_loss(strop::zeros({3, 0, 2}), strop::zeros({0, 1})).shape() == Shape{0});
  CHECK(refusal("CTCLoss", {}, {x, array({{3, 0}, {1, 2}})}) ==
        "ctc_loss: label 3 at (0, 0) is no class, expected 0 to 2");
  CHECK(refusal("CTCLoss", {}, {x, count({2, 3})}) ==
        "ctc_loss: input 'label' has shape (2, 3), expected at most 2 labels, the steps of input 'data'");
  CHECK(refusal("CTCLoss", {{"use_label_lengths", "True"}}, {x, array({{1, 0}, {1, 2}}), array({1, 3})}) ==
        "ctc_loss: element 1 of input 'label_lengths' is 3, expected 0 to 2");
  CHECK(refusal("CTCLoss", {{"use_data_lengths", "True"}}, {x, array({{1, 0}, {1, 2}}), array({1, 3, 1})}) ==
        "ctc_loss: input 'data_lengths' has shape (3,), expected (2,)");
}

TEST_CASE("labels that cannot occur, and activations that are NaN") {
  const NDArray never = array({{{0, -Inf, 0}}, {{0, -Inf, 0}}, {{0, -Inf, 0}}}), label = array({{1}});
  row("CTCLoss", {}, {never, label}, {{{1}, {Inf}}});
  slopes("CTCLoss", {}, {never, label}, {{0.5, 0, 0.5, 0.5, 0, 0.5, 0.5, 0, 0.5}});
  const NDArray late = array({{{0, -Inf, 0}}, {{0, -Inf, 0}}, {{0, 0, 0}}});
  row("CTCLoss", {}, {late, label}, {{{1}, {2.4849067}}});
  slopes("CTCLoss", {}, {late, label}, {{-0.5, 0, 0.5, -0.5, 0, 0.5, 0.33333333, -0.66666667, 0.33333333}});
  for (int step = 0; step < 3; ++step) {
    NDArray x = strop::zeros({3, 1, 3});
    x.pointer<float>()[3 * step + 1] = static_cast<float>(NaN);
    row("CTCLoss", {}, {x, label}, {{{1}, {NaN}}});
  }
  // Less than any double: the label has to be said, and the step has hardly a chance of it.
  const NDArray hardly = array({{{0, -1e30}}});
  row("CTCLoss", {}, {hardly, label}, {{{1}, {1e30}}});
  slopes("CTCLoss", {}, {hardly, label}, {{1, -1}});
}

namespace {
/// The loss of one sequence whose blank is class 0, by logarithms, place by place.
long double loss_of_paths(const std::vector<long double>& x, std::size_t classes, const std::vector<int>& labels) {
  const long double never = -std::numeric_limits<long double>::infinity();
  std::vector<std::size_t> places{0};
  for (const int k : labels) places.insert(places.end(), {static_cast<std::size_t>(k), 0});
  std::vector<long double> before(places.size(), never);
  for (std::size_t t = 0; t < x.size() / classes; ++t) {
    const auto first = x.begin() + static_cast<std::ptrdiff_t>(t * classes);
    const long double most = *std::max_element(first, first + static_cast<std::ptrdiff_t>(classes));
    long double total = 0;
    for (std::size_t k = 0; k < classes; ++k) total += std::exp(x[t * classes + k] - most);
    std::vector<long double> now(places.size(), never);
    for (std::size_t s = 0; s < places.size(); ++s) {
      long double from[] = {before[s], s > 0 ? before[s - 1] : never, never};
      if (s > 1 && places[s] != places[s - 2]) from[2] = before[s - 2];
      if (t == 0) from[0] = s < 2 ? 0 : never;
      const long double top = std::max({from[0], from[1], from[2]});
      long double sum = 0;
      for (const long double one : from) sum += top == never ? 0 : std::exp(one - top);
      now[s] = top + std::log(sum) + x[t * classes + places[s]] - most - std::log(total);
      if (top == never) now[s] = never;
    }
    before = now;
  }
  const long double last[] = {before.back(), before[before.size() - 2]}, top = std::max(last[0], last[1]);
  return -(top + std::log(std::exp(last[0] - top) + std::exp(last[1] - top)));
}
}  // namespace

TEST_CASE("losses and gradients of long and improbable sequences") {
  constexpr std::int64_t steps = 70, batch = 5, classes = 13, most = 21;
  for (const double scale : {1.0, 40.0, 700.0}) {
    CAPTURE(scale);
    NDArray x(Shape{steps, batch, classes}, strop::f64), label = strop::zeros({batch, most});
    for (std::int64_t i = 0; i < x.size(); ++i)
      x.pointer<double>()[i] = scale * std::sin(0.37 * static_cast<double>(i * i % 1009));
    std::vector<std::vector<int>> labels(batch);
    for (std::int64_t n = 0; n < batch; ++n)  // 1, 6, 11, 16 and 21 labels, some like the one before
      for (std::int64_t k = 0; k < 5 * n + 1; ++k) {
        labels[static_cast<std::size_t>(n)].push_back(static_cast<int>(1 + (k / 2 * 5 + n) % (classes - 1)));
        label.pointer<float>()[n * most + k] = static_cast<float>(labels[static_cast<std::size_t>(n)].back());
      }
    const auto losses = [&](int threads) {
      strop::set_num_threads(threads);
      Arrays given{x.copy(), label};
      std::vector<Numbers> out{gradients("CTCLoss", {}, given, {strop::ones({batch}, strop::f64)})[0]};
      out.push_back(values(strop::ctc_loss(given[0], label)));
      return out;
    };
    const int threads = strop::num_threads();
    const std::vector<Numbers> found = losses(1);
    CHECK(losses(2) == found);
    strop::set_num_threads(threads);
    for (std::int64_t n = 0; n < batch; ++n) {
      std::vector<long double> alone;
      for (std::int64_t t = 0; t < steps; ++t)
        for (std::int64_t k = 0; k < classes; ++k) alone.push_back(x.pointer<double>()[(t * batch + n) * classes + k]);
      const auto loss = [&] { return loss_of_paths(alone, classes, labels[static_cast<std::size_t>(n)]); };
      const double wanted = static_cast<double>(loss());
      CHECK(std::abs(found[1][static_cast<std::size_t>(n)] - wanted) <= 1e-12 * (1 + wanted));
      for (std::size_t i = static_cast<std::size_t>(n); i < alone.size(); i += 29) {
        const long double here = alone[i], step = 1e-5L;
        alone[i] = here + step;
        const long double above = loss();
        alone[i] = here - step;
        const double slope = static_cast<double>((above - loss()) / (2 * step));
        alone[i] = here;
        const std::size_t at = (i / classes * batch + static_cast<std::size_t>(n)) * classes + i % classes;
        CHECK(std::abs(found[0][at] - slope) <= 1e-8);
      }
    }
  }
}

TEST_CASE("parameters of densities have the first extents of the sample") {
  const NDArray x = count({2, 3}, 1);
  CHECK(refusal("_random_pdf_normal", {}, {x, array({1, 2, 3}), array({1, 2, 3})}) ==
        "_random_pdf_normal: input 'mu' has shape (3,), expected (2,)");
  CHECK(
      refusal("_random_pdf_exponential", {}, {x, count({2, 3, 1})}) ==
      "_random_pdf_exponential: input 'lam' has shape (2, 3, 1), expected 0 to 2 dimensions, those of input 'sample'");
  CHECK(values(strop::random_pdf_normal(strop::zeros({0, 3}), strop::zeros({0}), strop::zeros({0}))).empty());
  row("_random_pdf_uniform", {}, {x, strop::scalar(0), strop::scalar(4)}, {{{2, 3}, Numbers(6, 0.25)}});
}

TEST_CASE("densities of numbers that are nearly Poisson's") {
  // Of mu 2: log p = log Poisson(x) + alpha ((x - 2)² - x) / 2 + ..., and its slopes (x - mu) / mu and ((x - 2)² - x)
  // / 2.
  const NDArray x = array({{3, 0, 7}}).to(strop::f64), mu = array({2}).to(strop::f64);
  const Numbers poisson{-1.7123179275482192, -2, -5.673131097145798};
  for (const double alpha : {0.0, 1e-300, 1e-16, 1e-8}) {
    const NDArray dispersion = strop::full({1}, alpha, strop::f64);
    row("_random_pdf_generalized_negative_binomial", {{"is_log", "True"}}, {x, mu, dispersion},
        {{{1, 3}, {poisson[0] - alpha, poisson[1] + 2 * alpha, poisson[2] + 9 * alpha}}}, {1e-13, 1e-13});
    row("_random_pdf_generalized_negative_binomial", {}, {x, mu, dispersion},
        {{{1, 3}, {0.18044704431548356, 0.1353352832366127, 0.0034370867}}}, {1e-7, 1e-7});
    const std::vector<Numbers> found = gradients("_random_pdf_generalized_negative_binomial", {{"is_log", "True"}},
                                                 {x, mu, dispersion}, {array({{1, 2, 3}}).to(strop::f64)});
    CHECK(std::abs(found[1][0] - 6) < 1e-6);
    CHECK(std::abs(found[2][0] - (-1 + 2 * 2 + 3 * 9)) < 1e-5);
  }
  // At both sides of the bound up to which the series serves, the same of mu + alpha: nothing leaps.
  const auto at = [&](double alpha) {
    return gradients("_random_pdf_generalized_negative_binomial", {{"is_log", "True"}},
                     {x, mu, strop::full({1}, alpha, strop::f64)}, {array({{1, 1, 1}}).to(strop::f64)});
  };
  const std::vector<Numbers> below = at(0.03125 - 1e-13), above = at(0.03125 + 1e-13);
  CHECK(std::abs(below[1][0] - above[1][0]) < 1e-11);
  CHECK(std::abs(below[2][0] - above[2][0]) < 1e-9);
}

TEST_CASE("densities at the ends of what samples and parameters can be") {
  const NDArray zero = array({0}), one = array({1}), two = array({2});
  row("_random_pdf_gamma", {}, {zero, one, two}, {{{1}, {2}}});
  slopes("_random_pdf_gamma", {}, {zero, one, two}, {{-4}, {-Inf}, {1}});
  slopes("_random_pdf_gamma", {}, {zero, array({3}), two}, {{0}, {0}, {0}});
  row("_random_pdf_poisson", {}, {zero, array({0})}, {{{1}, {1}}});
  slopes("_random_pdf_poisson", {}, {zero, array({0})}, {{0}, {-1}});
  slopes("_random_pdf_negative_binomial", {}, {zero, two, one}, {{0}, {0}, {2}});
  const NDArray shares = array({0, 0.5, 0.5});
  row("_random_pdf_dirichlet", {}, {shares, array({1, 1, 1})}, {{{1}, {2}}});
  slopes("_random_pdf_dirichlet", {}, {shares, array({1, 1, 1})}, {{0, 0, 0}, {-Inf, 1.613706, 1.613706}});
  slopes("_random_pdf_dirichlet", {}, {shares, array({3, 1, 1})}, {{0, 0, 0}, {0, 0, 0}});
}

TEST_CASE("densities whose logarithm there is none of have the value of the formula, as in MXNet") {
  row("_random_pdf_uniform", {}, {array({3}), array({5}), array({1})}, {{{1}, {-0.25}}});
  slopes("_random_pdf_uniform", {}, {array({3}), array({5}), array({1})}, {{0}, {0.0625}, {-0.0625}});
  row("_random_pdf_uniform", {{"is_log", "True"}}, {array({3}), array({5}), array({1})}, {{{1}, {NaN}}});
  row("_random_pdf_normal", {}, {array({0.5}), array({0}), array({-2})}, {{{1}, {-0.19333406}}});
  slopes("_random_pdf_normal", {}, {array({0.5}), array({0}), array({-2})},
         {{0.024166757}, {-0.024166757}, {-0.090625338}});
  row("_random_pdf_exponential", {}, {array({0.5}), array({-2})}, {{{1}, {-5.4365635}}});
}

TEST_CASE("numbers of a row are different, small ones more often, as MXNet draws them") {
  strop::random::seed(1);
  const std::vector<NDArray> all =
      strop::invoke_all("_sample_unique_zipfian", {}, {{"range_max", "5"}, {"shape", "(3, 5)"}});
  REQUIRE(all.size() == 2);
  for (std::int64_t row = 0; row < 3; ++row) {
    Numbers numbers = values(all[0].slice(row, row + 1));
    std::ranges::sort(numbers);
    CHECK(numbers == Numbers{0, 1, 2, 3, 4});
    CHECK(values(all[1])[static_cast<std::size_t>(row)] >= 5);
  }
  const std::vector<NDArray> full =
      strop::invoke_all("_sample_unique_zipfian", {}, {{"range_max", "5"}, {"shape", "(1000, 5)"}});
  double draws = 0, most = 0;
  for (const double n : values(full[1])) draws += n, most = std::max(most, n);
  CHECK(most > 5);  // numbers that are there already are drawn again
  CHECK(std::abs(draws / 1000 - 18.42) < 2.4);
  const std::vector<NDArray> single =
      strop::invoke_all("_sample_unique_zipfian", {}, {{"range_max", "3"}, {"shape", "(2000, 1)"}});
  CHECK(values(single[1]) == Numbers(2000, 1.0));
  const double last = static_cast<double>(std::ranges::count(values(single[0]), 2.0)) / 2000;
  CHECK(std::abs(last - 0.1659563) < 0.035);  // log(3 / (3 - 1/2)) / log 3
  double ones = 0;
  for (const double k :
       values(strop::invoke("_sample_unique_zipfian", {}, {{"range_max", "10"}, {"shape", "(20000, 1)"}})))
    ones += k == 1 ? 1 : 0;
  CHECK(std::abs(ones / 20000 - 0.2218487) < 0.015);  // log(5/3) / log 10
  CHECK(refusal("_sample_unique_zipfian", {{"range_max", "3"}, {"shape", "(1, 4)"}}, {}) ==
        "_sample_unique_zipfian: shape = (1, 4) asks for 4 different numbers below range_max, 3");
}
