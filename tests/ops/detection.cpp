// SPDX-License-Identifier: Apache-2.0
#include "value_rows.hpp"

using namespace ops_test;
using strop::array;

// The numbers are those of MXNet 1.9.1.

TEST_CASE("means of parts from channels of their own as MXNet finds them") {
  const NDArray rois = array({{0, 0, 0, 4, 2}, {1, 1, 1, 3.5, 2.5}, {0, 3, 2, 1, 1}, {1, -3, -2, 9, 0}});
  const strop::Attributes whole{{"spatial_scale", "1"}, {"output_dim", "1"}, {"pooled_size", "2"}};
  row("_contrib_PSROIPooling", whole, {count({2, 4, 3, 5}), rois},
      {{{4, 1, 2, 2}, {3.5, 20.5, 38.5, 55.5, 69, 86, 101.5, 118.5, 13, 28, 43, 58, 0, 0, 91.5, 108.5}}});
  constexpr double sixth = 1.0 / 6, third = 1.0 / 3;
  slopes("_contrib_PSROIPooling", whole, {count({2, 4, 3, 5}), rois},
         {{sixth,
           sixth,
           sixth,
           0,
           0,
           sixth,
           sixth,
           sixth,
           0,
           0,
           0,
           0,
           0,
           9,
           0,
           0,
           0,
           third,
           third,
           third,
           0,
           0,
           third,
           third,
           third,
           0,
           0,
           0,
           10,
           0,
           0,
           0,
           0,
           0,
           0,
           0.5,
           0.5,
           0.5,
           0,
           0,
           0.5,
           0.5,
           0.5,
           11,
           0,
           0,
           0,
           0,
           0,
           0,
           0,
           0,
           2 * third,
           2 * third,
           2 * third,
           0,
           0,
           2 * third,
           12 + 2 * third,
           2 * third,
           0,
           0,
           0,
           0,
           0,
           0,
           1.25,
           1.25,
           0,
           0,
           0,
           1.25,
           1.25,
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
           1.5,
           1.5,
           0,
           0,
           0,
           1.5,
           1.5,
           3.75,
           3.75,
           3.75,
           3.75,
           0,
           0,
           0,
           0,
           0,
           0,
           0,
           3.5,
           3.5,
           0,
           0,
           0,
           0,
           0,
           8,
           8,
           0,
           0,
           0,
           0,
           0,
           0,
           0,
           0,
           4,
           4},
          Numbers(20, 0.0)});
  row("_contrib_PSROIPooling",
      {{"spatial_scale", "0.5"}, {"output_dim", "2"}, {"pooled_size", "3"}, {"group_size", "2"}},
      {count({1, 8, 2, 3}), array({{0, 1, 0, 7, 5}})},
      {{{1, 2, 3, 3}, {0.5, 1.5, 8, 3.5, 4.5, 11, 0, 0, 0, 24.5, 25.5, 32, 27.5, 28.5, 35, 0, 0, 0}}});
  row("_contrib_PSROIPooling", whole, {count({1, 4, 1, 1}), array({{1, 0, 0, 1, 1}, {-1, 0, 0, 1, 1}})},
      {{{2, 1, 2, 2}, Numbers(8, 0.0)}});
  CHECK(refusal("_contrib_PSROIPooling", {{"spatial_scale", "1"}, {"output_dim", "3"}, {"pooled_size", "2"}},
                {count({1, 8, 3, 3}), count({1, 5})}) ==
        "_contrib_psroi_pooling: input 'data' has 8 channels, expected 12 or more: 2 x 2 for each of 3");
}

TEST_CASE("means of rotated regions as MXNet finds them") {
  const NDArray x = count({2, 2, 4, 5});
  const NDArray rois = array({{0, 2, 1.5, 4, 2, 30}, {1, 1, 1, 0, 0, -90}, {0, 4, 3, 6, 4, 45}, {1, -9, 0, 2, 2, 10}});
  row("_contrib_RROIAlign", {{"pooled_size", "(2, 2)"}, {"spatial_scale", "1"}}, {x, rois},
      {{{4, 2, 2, 2},
        {8.718911, 5.450962, 13.54904, 10.28109, 28.71891, 25.45096, 33.54904, 30.28109, 45,       47.5,     44.5,
         47,       65,       67.5,     64.5,     67,       13.82986, 8.644414, 3.166667, 3.166667, 30.49653, 25.31108,
         6.5,      6.5,      0,        0,        0,        0,        0,        0,        0,        0}}},
      {1e-5, 1e-5});
  row("_contrib_RROIAlign", {{"pooled_size", "(1, 2)"}, {"spatial_scale", "0.5"}, {"sampling_ratio", "2"}},
      {count({1, 1, 4, 5}), array({{0, 2, 1.5, 4, 2, 30}, {1, 1, 1, 0, 0, -90}})},
      {{{2, 1, 1, 2}, {5.566987, 3.933013, 0, 0}}}, {1e-5, 1e-5});
  // No number of an image, of a place or of a size is too large, or none.
  row("_contrib_RROIAlign", {{"pooled_size", "(1, 1)"}, {"spatial_scale", "1"}},
      {x, array({{-1, 1, 1, 1, 1, 0},
                 {1e30, 1, 1, 1, 1, 0},
                 {0, NaN, 1, 1, 1, 0},
                 {0, 1, Inf, 1, 1, 0},
                 {0, 1, 1, Inf, 1, 0},
                 {0, 1, 1, 1, 1, Inf}})},
      {{{6, 2, 1, 1}, Numbers(12, 0.0)}});
  // Of 10⁸ × 10⁸ samples those in the image count: its sum, and that of what lies up to 1 beyond it.
  const NDArray large =
      strop::invoke("_contrib_RROIAlign", {strop::full({1, 1, 4, 5}, 1), array({{0, 2, 2, 1e8, 1e8, 30}})},
                    {{"pooled_size", "(1, 1)"}, {"spatial_scale", "1"}});
  CHECK(large.item<float>() == doctest::Approx(30e-16).epsilon(0.05));
  CHECK(refusal("_contrib_RROIAlign", {{"pooled_size", "(2, 2)"}, {"spatial_scale", "1"}}, {x, count({1, 5})}) ==
        "_contrib_rroi_align: input 'rois' has shape (1, 5), expected (?, 6)");
  CHECK(refusal("_contrib_RROIAlign",
                {{"pooled_size", "(1, 4)"}, {"spatial_scale", "1"}, {"sampling_ratio", "1000000"}},
                {x, count({1, 6})}) ==
        "_contrib_rroi_align: sampling_ratio is 1000000, of each of 4 parts along an axis, expected at most 1048576 "
        "samples along it");
}

TEST_CASE("boxes where objects may be as MXNet proposes them") {
  const NDArray scores = array({0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.2, 0.9, 0.4, 0.8, 0.1, 0.7}).reshape({1, 2, 2, 3}),
                image = array({{16, 20, 1}}),
                shifts = array({0.0, -0.25, -0.125, 0.125, -0.25, -0.25, -0.25,  0.125, 0.0, 0.125, -0.125, -0.125,
                                0.0, -0.25, 0.25,   0.25,  -0.25, 0.0,   -0.125, 0.0,   0.0, 0.0,   0.25,   -0.125})
                             .reshape({1, 4, 2, 3});
  row("_contrib_Proposal",
      {{"scales", "(1,)"},
       {"ratios", "(1,)"},
       {"feature_stride", "8"},
       {"rpn_min_size", "2"},
       {"rpn_post_nms_top_n", "5"},
       {"threshold", "0.3"},
       {"output_score", "True"}},
      {scores, shifts, image},
      {{{5, 5}, {0, 6.884797, 1, 12.1152,  8,        0,       0,  9, 9.136102, 15, 0,  0, 0,
                 7, 4.529987, 0, 6.884797, 5.863898, 12.1152, 15, 0, 13.8639,  0,  19, 7}},
       {{5, 1}, {0.9, 0.8, 0.2, 0.1, -1}}},
      {1e-5, 1e-5});
  row("_contrib_Proposal",
      {{"scales", "(1,)"},
       {"ratios", "(1,)"},
       {"feature_stride", "8"},
       {"rpn_min_size", "2"},
       {"rpn_post_nms_top_n", "5"},
       {"threshold", "0.3"},
       {"iou_loss", "True"}},
      {scores, shifts * 8, image},
      {{{5, 5}, {0, 6, 1, 13, 7, 0, 1, 9, 9, 15, 0, 0, 0, 7, 6, 0, 6, 7, 13, 15, 0, 15, 0, 19, 7}}});
  // Three that are too small and overlap, and again from the first one on.
  row("_contrib_Proposal",
      {{"scales", "(1,)"},
       {"ratios", "(1,)"},
       {"feature_stride", "8"},
       {"rpn_min_size", "9"},
       {"rpn_post_nms_top_n", "5"},
       {"threshold", "0.3"},
       {"iou_loss", "True"},
       {"output_score", "True"}},
      {scores, shifts * 8, image},
      {{{5, 5}, {0,    -4.5, -4.5, 11.5, 10.5, 0,    10.5, -4.5, 23.5, 11.5, 0,    -3.5, 4.5,
                 13.5, 19.5, 0,    -4.5, -4.5, 11.5, 10.5, 0,    10.5, -4.5, 23.5, 11.5}},
       {{5, 1}, {-1, -1, -1, -1, -1}}});
  CHECK(strop::proposal(scores, shifts, image, {.rpn_post_nms_top_n = 0, .scales = 1, .ratios = 1}).shape() ==
        Shape{0, 5});
  const NDArray two_images = strop::stack({scores.reshape({2, 2, 3}), scores.reshape({2, 2, 3})}),
                two_shifts = strop::stack({shifts.reshape({4, 2, 3}), shifts.reshape({4, 2, 3})});
  row("_contrib_MultiProposal",
      {{"scales", "(1,)"},
       {"ratios", "(1,)"},
       {"feature_stride", "8"},
       {"rpn_min_size", "2"},
       {"rpn_post_nms_top_n", "2"},
       {"threshold", "0.3"}},
      {two_images, two_shifts, array({{16, 20, 1}, {16, 20, 1}})},
      {{{4, 5},
        {0, 6.884797, 1, 12.1152, 8, 0, 0, 9, 9.136102, 15, 1, 6.884797, 1, 12.1152, 8, 1, 0, 9, 9.136102, 15}}},
      {1e-5, 1e-5});
  for (const Numbers& gradient :
       gradients("_contrib_Proposal", {{"scales", "1"}, {"ratios", "1"}, {"rpn_post_nms_top_n", "2"}},
                 {scores, shifts, image}, {count({2, 5})}))
    CHECK(gradient == Numbers(gradient.size(), 0.0));
}

TEST_CASE("proposals refuse in a sentence") {
  const NDArray scores = count({1, 2, 2, 3}), shifts = count({1, 4, 2, 3}), image = array({{16, 20, 1}});
  const strop::Attributes one{{"scales", "(1,)"}, {"ratios", "(1,)"}, {"feature_stride", "8"}};
  CHECK(refusal("_contrib_Proposal", {}, {scores, shifts, image}) ==
        "_contrib_proposal: input 'cls_prob' has shape (1, 2, 2, 3), expected (1, 24, ?, ?)");
  CHECK(refusal("_contrib_Proposal", one, {count({2, 2, 2, 3}), count({2, 4, 2, 3}), count({2, 3})}) ==
        "_contrib_proposal: input 'cls_prob' has shape (2, 2, 2, 3), expected (1, 2, ?, ?)");
  CHECK(refusal("_contrib_MultiProposal", one, {scores, count({1, 8, 2, 3}), image}) ==
        "_contrib_multi_proposal: input 'bbox_pred' has shape (1, 8, 2, 3), expected (1, 4, 2, 3)");
  CHECK(refusal("_contrib_MultiProposal", {{"scales", "()"}}, {scores, shifts, image}) ==
        "_contrib_multi_proposal: scales or ratios has no numbers, expected one or more of each");
  CHECK(refusal("_contrib_Proposal", one, {strop::zeros({1, 2, 0, 3}), strop::zeros({1, 4, 0, 3}), image}) ==
        "_contrib_proposal: input 'cls_prob' has shape (1, 2, 0, 3), expected one cell or more");
  CHECK(refusal("_contrib_Proposal", one, {scores, shifts, array({{16, 40, 1}})}) ==
        "_contrib_proposal: image 0 is 40 pixels wide, and 3 cells of 8 are less");
}
