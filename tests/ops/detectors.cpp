// SPDX-License-Identifier: Apache-2.0
#include "value_rows.hpp"

using namespace ops_test;
using strop::array;

// The numbers are those of MXNet 1.9.1.

namespace {

constexpr Tolerance loose{1e-5, 1e-5};

/// The gradient of every input is 0.
void without_slopes(std::string_view op, strop::Attributes params, const Arrays& in) {
  Arrays heads;
  for (const NDArray& y : strop::invoke_all(op, in, {params.begin(), params.size()}))
    heads.push_back(count(y.shape(), 1));
  for (const Numbers& gradient : gradients(op, params, in, heads)) CHECK(gradient == Numbers(gradient.size(), 0.0));
}

NDArray few_anchors() {
  return array(
      {{{0.1, 0.2, 0.3, 0.4}, {0.2, 0.3, 0.5, 0.7}, {0.5, 0.5, 0.9, 0.9}, {0, 0, 0, 0}, {0.15, 0.2, 0.35, 0.45}}});
}

}  // namespace

TEST_CASE("rows and columns are paired as MXNet pairs them") {
  const NDArray x = array({{0.5, 0.6}, {0.1, 0.2}, {0.3, 0.4}});
  const NDArray ties =
      array({{{0.5, 0.6, 0.1}, {0.1, 0.5, 0.7}, {0.3, 0.4, 0.5}}, {{0.5, 0.5, 0.5}, {0.5, 0.5, 0.5}, {0.5, 0.5, 0.5}}});
  row("_contrib_bipartite_matching", {{"threshold", "1e-12"}}, {x}, {{{3}, {1, -1, 0}}, {{2}, {2, 0}}});
  row("_contrib_bipartite_matching", {{"threshold", "0.45"}}, {x}, {{{3}, {1, -1, -1}}, {{2}, {-1, 0}}});
  row("_contrib_bipartite_matching", {{"threshold", "0.35"}, {"is_ascend", "True"}}, {x},
      {{{3}, {-1, 0, -1}}, {{2}, {1, -1}}});
  row("_contrib_bipartite_matching", {{"threshold", "0.2"}}, {ties},
      {{{2, 3}, {1, 2, 0, 0, 1, 2}}, {{2, 3}, {2, 0, 1, 0, 1, 2}}});
  row("_contrib_bipartite_matching", {{"threshold", "0.9"}, {"is_ascend", "True"}}, {ties},
      {{{2, 3}, {2, 0, 1, 0, 1, 2}}, {{2, 3}, {1, 2, 0, 0, 1, 2}}});
  row("_contrib_bipartite_matching", {{"threshold", "0.2"}, {"topk", "1"}}, {ties},
      {{{2, 3}, {1, 2, -1, 0, 1, -1}}, {{2, 3}, {-1, 0, 1, 0, 1, -1}}});
  without_slopes("_contrib_bipartite_matching", {{"threshold", "0.1"}}, {x});
}

TEST_CASE("scores that are NaN make no pair, and none is made of none") {
  row("_contrib_bipartite_matching", {{"threshold", "0.1"}}, {array({{NaN, 0.5}, {0.4, NaN}})},
      {{{2}, {1, 0}}, {{2}, {1, 0}}});
  row("_contrib_bipartite_matching", {{"threshold", "0.1"}}, {strop::zeros({2, 0, 3})},
      {{{2, 0}, {}}, {{2, 3}, {-1, -1, -1, -1, -1, -1}}});
  CHECK(refusal("_contrib_bipartite_matching", {{"threshold", "0.1"}}, {count({3})}) ==
        "_contrib_bipartite_matching: input 'data' has shape (3,), expected 2 dimensions or more");
}

TEST_CASE("boxes seen from anchors as MXNet sees them") {
  const NDArray samples = array({{1, 0.5, 0.6, -1}}), matches = array({{0, 1, 1.7, 0}});
  const NDArray anchors = array({{{0, 0, 1, 1}, {0.5, 0.5, 1, 1}, {0.25, 0, 0.75, 0.5}, {0, 0.5, 1, 1}}});
  const NDArray refs = array({{{0.25, 0.25, 1, 0.5}, {0, 0.1, 0.6, 0.9}}});
  const NDArray means = array({0, 0.1, 0.2, 0.3}), stds = array({0.1, 0.1, 0.2, 0.2});
  row("_contrib_box_encode", {}, {samples, matches, anchors, refs, means, stds},
      {{{1, 4, 4}, {1.25, -2.25, -2.43841, -8.431472, 0, 0, 0, 0, -4, 4, -0.08839203, 0.8500178, 0, 0, 0, 0}},
       {{1, 4, 4}, {1, 1, 1, 1, 0, 0, 0, 0, 1, 1, 1, 1, 0, 0, 0, 0}}},
      loose);
  without_slopes("_contrib_box_encode", {}, {samples, matches, anchors, refs, means, stds});
  // Only the matches of anchors that have a box matter.
  const NDArray beyond = array({{0, 7, 1, -3}});
  const Arrays y = strop::invoke_all("_contrib_box_encode", {samples, beyond, anchors, refs, means, stds}),
               same = strop::invoke_all("_contrib_box_encode", {samples, matches, anchors, refs, means, stds});
  CHECK(values(y[0]) == values(same[0]));
  CHECK(refusal("_contrib_box_encode", {}, {samples, array({{0, 0, 2, 0}}), anchors, refs, means, stds}) ==
        "_contrib_box_encode: match 2 at (0, 2) is none of the 2 boxes of 'refs', which are numbered from 0");
  CHECK(refusal("_contrib_box_encode", {}, {samples, array({{NaN, 0, 0, 0}}), anchors, refs, means, stds}) ==
        "_contrib_box_encode: match nan at (0, 0) is none of the 2 boxes of 'refs', which are numbered from 0");
  CHECK(refusal("_contrib_box_encode", {}, {samples, matches, anchors, count({2, 2, 4}), means, stds}) ==
        "_contrib_box_encode: input 'refs' has shape (2, 2, 4), expected (1, ?, 4)");
}

TEST_CASE("boxes where MXNet finds them from anchors") {
  const NDArray x = array({{{0.1, -0.2, 0.3, -0.4}, {0, 0, 1, 2}}, {{1, 1, -1, -1}, {0.5, 0.25, 0.125, 0}}});
  const NDArray anchors = array({{{0.5, 0.5, 1, 0.75}, {0.25, 0, 0.75, 0.5}}});
  row("_contrib_box_decode", {}, {x, anchors},
      {{{2, 2, 4},
        {-0.07492942, 0.09862998, 1.27493, 0.60137, -0.7693557, -1.847264, 1.269356, 1.847264, 1.31606, 1.112045,
         1.68394, 1.387955, 0.2000693, -0.125, 1.049931, 0.375}}},
      loose);
  row("_contrib_box_decode", {{"format", "corner"}}, {x, anchors},
      {{{2, 2, 4},
        {0.4625353, 0.49121, 1.137465, 0.65879, -0.1795704, -1.597264, 1.17957, 2.097264, 1.15803, 0.8290151, 1.34197,
         0.9209849, 0.4667129, 0.125, 1.033287, 0.625}}},
      loose);
  row("_contrib_box_decode", {{"std0", "0.1"}, {"std1", "0.2"}, {"std2", "0.5"}, {"std3", "2"}, {"clip", "0.25"}},
      {x, anchors},
      {{{2, 2, 4},
        {-0.07091713, 0.3015016, 1.090917, 0.6384984, -0.2315095, -0.3210064, 0.7315096, 0.3210064, 0.2967347,
         0.5992492, 0.9032654, 0.7007507, -0.1116854, -0.225, 0.6866854, 0.275}}},
      loose);
  without_slopes("_contrib_box_decode", {}, {x, anchors});
  CHECK(refusal("_contrib_box_decode", {}, {x, count({2, 2, 4})}) ==
        "_contrib_box_decode: input 'anchors' has shape (2, 2, 4), expected (1, 2, 4)");
}

TEST_CASE("anchors where MXNet lays them") {
  const NDArray x = count({1, 3, 1, 2});
  row("_contrib_MultiBoxPrior", {}, {x}, {{{1, 2, 4}, {0, 0, 0.5, 1, 0.5, 0, 1, 1}}});
  row("_contrib_MultiBoxPrior", {{"sizes", "(0.5, 0.25)"}, {"ratios", "[1, 2, 0.5]"}}, {x},
      {{{1, 8, 4}, {0.125,      0.25,      0.375,     0.75,      0.1875,    0.375,     0.3125,    0.625,
                    0.07322331, 0.3232233, 0.4267767, 0.6767767, 0.1616116, 0.1464466, 0.3383884, 0.8535534,
                    0.625,      0.25,      0.875,     0.75,      0.6875,    0.375,     0.8125,    0.625,
                    0.5732233,  0.3232233, 0.9267767, 0.6767767, 0.6616117, 0.1464466, 0.8383883, 0.8535534}}});
  row("_contrib_MultiBoxPrior", {{"sizes", "0.5"}, {"ratios", "(4, 2)"}}, {x},
      {{{1, 4, 4},
        {0, 0.375, 0.5, 0.625, 0.07322331, 0.3232233, 0.4267767, 0.6767767, 0.5, 0.375, 1, 0.625, 0.5732233, 0.3232233,
         0.9267767, 0.6767767}}});
  row("_contrib_MultiBoxPrior", {{"sizes", "1.5"}, {"clip", "True"}}, {x},
      {{{1, 2, 4}, {0, 0, 0.625, 1, 0.375, 0, 1, 1}}});
  row("_contrib_MultiBoxPrior", {{"sizes", "0.5"}, {"steps", "(0.3, 0.4)"}, {"offsets", "(0.25, 0.75)"}}, {x},
      {{{1, 2, 4}, {0.175, -0.175, 0.425, 0.325, 0.575, -0.175, 0.825, 0.325}}});
  row("_contrib_MultiBoxPrior", {{"sizes", "0.5"}, {"steps", "(0.3, 0)"}}, {x},
      {{{1, 2, 4}, {0.125, 0.25, 0.375, 0.75, 0.625, 0.25, 0.875, 0.75}}});
  without_slopes("_contrib_MultiBoxPrior", {}, {x});
  CHECK(refusal("_contrib_MultiBoxPrior", {}, {count({2, 3, 4})}) ==
        "_contrib_multi_box_prior: input 'data' has shape (2, 3, 4), expected (batch, channels, rows, columns) with a "
        "place or more");
  CHECK(refusal("_contrib_MultiBoxPrior", {{"sizes", "()"}}, {x}) ==
        "_contrib_multi_box_prior: parameter 'sizes' is (), expected a number or more");
  CHECK(refusal("_contrib_MultiBoxPrior", {{"sizes", "big"}}, {x}) ==
        "_contrib_multi_box_prior: parameter 'sizes' is 'big', expected numbers as (0.1, 0.2)");
  CHECK(refusal("_contrib_MultiBoxPrior", {{"steps", "0.1"}}, {x}) ==
        "_contrib_multi_box_prior: parameter 'steps' is (0.1,), expected 2 numbers");
  CHECK(refusal("_contrib_MultiBoxPrior", {{"steps", "(0.1, -1)"}}, {x}) ==
        "_contrib_multi_box_prior: parameter 'steps' is (0.1, -1), expected numbers of one sign");
  CHECK(refusal("_contrib_MultiBoxPrior", {{"offsets", "(0.5, 1.5)"}}, {x}) ==
        "_contrib_multi_box_prior: parameter 'offsets' is (0.5, 1.5), expected numbers from 0 to 1");
}

TEST_CASE("what anchors learn as in MXNet") {
  const NDArray anchors = few_anchors();
  const NDArray labels = array({{{1, 0.1, 0.25, 0.3, 0.4}, {0, 0.45, 0.5, 0.95, 0.85}, {-1, -1, -1, -1, -1}},
                                {{2, 0.2, 0.3, 0.5, 0.72}, {-1, -1, -1, -1, -1}, {0, 0.45, 0.5, 0.95, 0.85}},
                                {{-1, -1, -1, -1, -1}, {-1, -1, -1, -1, -1}, {-1, -1, -1, -1, -1}}});
  const NDArray predictions =
      array({{{1.5, -0.5, -0.25, -1, 1}, {-2, 1.75, -0.75, 0.25, -0.25}, {1.5, -2, -0.25, -0.5, 1}},
             {{-1, -0.25, -1, 0, 0.5}, {-1, 1, 1, 0.5, 1}, {-0.75, 0, -1, -0.25, 0.5}},
             {{-0.75, -0.5, -0.75, -1, -0.75}, {0, -1, 0.25, 1.75, 0.75}, {-0.25, -1, -0.75, 1.75, 0}}});
  row("_contrib_MultiBoxTarget", {}, {anchors, labels, predictions},
      {{{3, 20}, {0, 1.249999, 0, -1.43841, 0, 0, 0, 0, 0, -0.6249994, 1.115718,  -0.6676563, 0,         0, 0,
                  0, 0,        0, 0,        0, 0, 0, 0, 0, 0,          0.2499998, 0,          0.2439512, 0, 0,
                  0, 0,        0, 0,        0, 0, 0, 0, 0, 0,          0,         0,          0,         0, 0,
                  0, 0,        0, 0,        0, 0, 0, 0, 0, 0,          0,         0,          0,         0, 0}},
       {{3, 20}, {1, 1, 1, 1, 0, 0, 0, 0, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 0, 0,
                  0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}},
       {{3, 5}, {2, 0, 1, 0, 0, 0, 3, 0, 0, 0, -1, -1, -1, -1, -1}}},
      loose);
  row("_contrib_MultiBoxTarget", {{"overlap_threshold", "0.3"}, {"variances", "(1, 1, 0.5, 0.5)"}},
      {anchors, labels, predictions},
      {{{3, 20},
        {0,
         0.1249999,
         0,
         -0.5753642,
         0,
         0,
         0,
         0,
         0,
         -0.06249994,
         0.4462873,
         -0.2670625,
         0,
         0,
         0,
         0,
         -0.25,
         0,
         2.384186e-07,
         -1.021651,
         0,
         0,
         0,
         0,
         0,
         0.02499998,
         0,
         0.09758046,
         0,
         0,
         0,
         0,
         0,
         0,
         0,
         0,
         0,
         0,
         0,
         0,
         0,
         0,
         0,
         0,
         0,
         0,
         0,
         0,
         0,
         0,
         0,
         0,
         0,
         0,
         0,
         0,
         0,
         0,
         0,
         0}},
       {{3, 20}, {1, 1, 1, 1, 0, 0, 0, 0, 1, 1, 1, 1, 0, 0, 0, 0, 1, 1, 1, 1, 0, 0, 0, 0, 1, 1, 1, 1, 0, 0,
                  0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}},
       {{3, 5}, {2, 0, 1, 0, 2, 0, 3, 0, 0, 0, -1, -1, -1, -1, -1}}},
      loose);
  row("_contrib_MultiBoxTarget",
      {{"overlap_threshold", "0"},
       {"ignore_label", "-7"},
       {"negative_mining_ratio", "1"},
       {"minimum_negative_samples", "3"}},
      {anchors, labels, predictions},
      {{{3, 20}, {0, 1.249999, 0, -1.43841, 0, 0, 0, 0, 0, -0.6249994, 1.115718,  -0.6676563, 0,         0, 0,
                  0, 0,        0, 0,        0, 0, 0, 0, 0, 0,          0.2499998, 0,          0.2439512, 0, 0,
                  0, 0,        0, 0,        0, 0, 0, 0, 0, 0,          0,         0,          0,         0, 0,
                  0, 0,        0, 0,        0, 0, 0, 0, 0, 0,          0,         0,          0,         0, 0}},
       {{3, 20}, {1, 1, 1, 1, 0, 0, 0, 0, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 0, 0,
                  0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}},
       {{3, 5}, {2, 0, 1, 0, -7, -7, 3, 0, -7, -7, -7, -7, -7, -7, -7}}},
      loose);
  without_slopes("_contrib_MultiBoxTarget", {}, {anchors, labels, predictions});
}

TEST_CASE(
    "the first of anchors that are overlapped alike learns an object, and no object has two before all have one") {
  NDArray anchors(Shape{1, 16, 4});
  for (std::int64_t i = 0; i < 64; ++i)
    anchors.pointer<float>()[i] = static_cast<float>(i / (i % 2 == 0 ? 16 : 4) % 4 + i % 4 / 2) / 4;
  const NDArray labels = array({{{0, 0.125, 0.125, 0.375, 0.375},
                                 {1, 0.125, 0.125, 0.375, 0.375},
                                 {2, 0, 0, 0.5, 0.5},
                                 {0, 0.25, 0.25, 0.75, 0.75},
                                 {1, 0, 0, 1, 1}}});
  const auto classes = [&](strop::Attributes params) {
    return values(strop::invoke_all("_contrib_MultiBoxTarget", {anchors, labels, strop::zeros({1, 2, 16})}, params)[2]);
  };
  CHECK(classes({}) == Numbers{3, 1, 2, 0, 2, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0});
  CHECK(classes({{"overlap_threshold", "0.1"}, {"negative_mining_ratio", "0.5"}, {"negative_mining_thresh", "0.6"}}) ==
        Numbers{3, 1, 2, 0, 2, 1, 1, 0, 0, 1, 1, 0, -1, -1, -1, -1});
}

TEST_CASE("what no anchor can learn") {
  const NDArray anchors = array({{{0, 0, 1, 1}, {0.5, 0, 1, 1}}}), predictions = count({1, 2, 2});
  const NDArray labels = array({{{0, 0, 0, 1, 1}}});
  const auto refused = [&](strop::Attributes params, const NDArray& label) {
    return refusal("_contrib_MultiBoxTarget", params, {anchors, label, predictions});
  };
  CHECK(refused({}, array({{{-1, -1, 0, -1, -1}}})) ==
        "_contrib_multi_box_target: row 0 of the labels of image 0 has class -1, which ends them, and a box");
  CHECK(refused({}, array({{{0, 0, 1, 1}}})) ==
        "_contrib_multi_box_target: input 'label' has shape (1, 1, 4), expected one object or more and 5 numbers of "
        "each or more");
  CHECK(refused({{"variances", "(1, 2)"}}, labels) ==
        "_contrib_multi_box_target: parameter 'variances' is (1, 2), expected 4 numbers");
  CHECK(refused({{"negative_mining_ratio", "1"}, {"negative_mining_thresh", "0"}}, labels) ==
        "_contrib_multi_box_target: parameter 'negative_mining_thresh' is 0, expected more than 0");
  CHECK(refused({{"negative_mining_ratio", "1"}, {"negative_mining_thresh", "0.1"}}, labels) ==
        "_contrib_multi_box_target: an image has fewer anchors for class 0 than negative_mining_ratio asks for");
  CHECK(refused({}, count({2, 1, 5})) ==
        "_contrib_multi_box_target: input 'label' has shape (2, 1, 5), expected (1, ?, ?)");
}

TEST_CASE("boxes that anchors see as MXNet finds them") {
  const NDArray anchors = few_anchors();
  const NDArray probabilities =
      array({{{0.25, 0.5, 0.375, 0.25, 0.5}, {0.125, 0.125, 0.375, 0.25, 0}, {0.625, 0.375, 0.25, 0.5, 0.5}},
             {{0.25, 0.375, 0.25, 0.25, 0.75}, {0.25, 0.5, 0.5, 0.5, 0.125}, {0.5, 0.125, 0.25, 0.25, 0.125}}});
  const NDArray locations =
      array({{-0.25, 0, 0.5, 0.25, -1, -0.25, 0.5, 0, 0.5, 0, -0.25, 0, 0.25, 0, 0, -0.25, 0.25, 0, 0.5, 0.5},
             {0, -0.25, -0.5, 0.25, 0, -0.25, 0, -0.25, 0.5, 0, -0.25, 0.75, 1, 0, 0, 0.25, 0.5, 0.25, -0.25, 0}});
  row("_contrib_MultiBoxDetection", {}, {probabilities, locations, anchors},
      {{{2, 5, 6},
        {1, 0.625, 0.0844829, 0.1948729, 0.3055171, 0.4051271, 1, 0.5,   0,         0,         0,         0,
         1, 0.5,   0.1444829, 0.1868536, 0.3655171, 0.4631463, 1, 0.375, 0.1542243, 0.29,      0.4857756, 0.69,
         0, 0.375, 0.5297541, 0.5,       0.9102458, 0.9,       1, 0.5,   0.1095163, 0.1898729, 0.2904837, 0.4001271,
         0, 0.5,   0.2,       0.2997541, 0.5,       0.6802459, 0, 0.5,   0.5297541, 0.4676332, 0.9102458, 0.9323668,
         0, 0.5,   0,         0,         0,         0,         0, 0.125, 0.1648771, 0.20625,   0.3551229, 0.45625}}},
      loose);
  row("_contrib_MultiBoxDetection", {{"nms_threshold", "0.05"}, {"force_suppress", "True"}, {"clip", "False"}},
      {probabilities, locations, anchors},
      {{{2, 5, 6},
        {1,  0.625, 0.0844829, 0.1948729, 0.3055171, 0.4051271, 1,  0.5,   0,         0,         0,         0,
         -1, 0.5,   0.1444829, 0.1868536, 0.3655171, 0.4631463, -1, 0.375, 0.1542243, 0.29,      0.4857756, 0.69,
         0,  0.375, 0.5297541, 0.5,       0.9102458, 0.9,       1,  0.5,   0.1095163, 0.1898729, 0.2904837, 0.4001271,
         -1, 0.5,   0.2,       0.2997541, 0.5,       0.6802459, 0,  0.5,   0.5297541, 0.4676332, 0.9102458, 0.9323668,
         0,  0.5,   0,         0,         0,         0,         -1, 0.125, 0.1648771, 0.20625,   0.3551229, 0.45625}}},
      loose);
  row("_contrib_MultiBoxDetection", {{"nms_threshold", "0.05"}, {"nms_topk", "3"}}, {probabilities, locations, anchors},
      {{{2, 5, 6},
        {1,  0.625, 0.0844829, 0.1948729, 0.3055171, 0.4051271, 1,  0.5,   0,         0,         0,         0,
         -1, 0.5,   0.1444829, 0.1868536, 0.3655171, 0.4631463, -1, 0.5,   0,         0,         0,         0,
         -1, 0.5,   0.1444829, 0.1868536, 0.3655171, 0.4631463, 1,  0.5,   0.1095163, 0.1898729, 0.2904837, 0.4001271,
         0,  0.5,   0.2,       0.2997541, 0.5,       0.6802459, 0,  0.5,   0.5297541, 0.4676332, 0.9102458, 0.9323668,
         -1, 0.5,   0,         0,         0,         0,         -1, 0.125, 0.1648771, 0.20625,   0.3551229, 0.45625}}},
      loose);
  row("_contrib_MultiBoxDetection",
      {{"nms_threshold", "0"}, {"threshold", "0.45"}, {"variances", "(1, 1, 0.5, 0.5)"}, {"background_id", "1"}},
      {probabilities, locations, anchors},
      {{{2, 5, 6},
        {1,  0.625, 0.02159745, 0.1866852, 0.2784026, 0.4133148, 1,  0.5, 0,         0,         0,         0,
         1,  0.5,   0.1715975,  0.1644968, 0.4284025, 0.4855031, -1, -1,  -1,        -1,        -1,        -1,
         -1, -1,    -1,         -1,        -1,        -1,        1,  0.5, 0.1221199, 0.1366852, 0.2778801, 0.3633148,
         0,  0.5,   0.2,        0.2235006, 0.5,       0.5764993, 0,  0.5, 0.7235006, 0.4090017, 1,         0.9909983,
         0,  0.5,   0,          0,         0,         0,         -1, -1,  -1,        -1,        -1,        -1}}},
      loose);
  without_slopes("_contrib_MultiBoxDetection", {}, {probabilities, locations, anchors});
  CHECK(refusal("_contrib_MultiBoxDetection", {}, {probabilities, count({1, 20}), anchors}) ==
        "_contrib_multi_box_detection: input 'loc_pred' has shape (1, 20), expected (2, 20)");
  CHECK(refusal("_contrib_MultiBoxDetection", {{"variances", "1"}}, {probabilities, locations, anchors}) ==
        "_contrib_multi_box_detection: parameter 'variances' is (1,), expected 4 numbers");
}
