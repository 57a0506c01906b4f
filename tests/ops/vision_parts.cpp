// SPDX-License-Identifier: Apache-2.0
#include "value_rows.hpp"

using namespace ops_test;
using strop::array;

// The numbers are those of MXNet 1.9.1.

TEST_CASE("means of parts as MXNet makes them") {
  const NDArray x = count({1, 1, 5, 7});
  row("_contrib_AdaptiveAvgPooling2D", {{"output_size", "()"}}, {x}, {{{1, 1, 1, 1}, {17}}});
  row("_contrib_AdaptiveAvgPooling2D", {{"output_size", "1"}}, {x}, {{{1, 1, 1, 1}, {17}}});
  row("_contrib_AdaptiveAvgPooling2D", {{"output_size", "(2, 3)"}}, {x}, {{{1, 1, 2, 3}, {8, 10, 12, 22, 24, 26}}});
  row("_contrib_AdaptiveAvgPooling2D", {{"output_size", "(3,)"}}, {x},
      {{{1, 1, 3, 3}, {4.5, 6.5, 8.5, 15, 17, 19, 25.5, 27.5, 29.5}}});
  row("_contrib_AdaptiveAvgPooling2D", {{"output_size", "(4, 8)"}}, {x},
      {{{1, 1, 4, 8}, {3.5,  4,  5,  6,  7,  8,  9,  9.5,  10.5, 11, 12, 13, 14, 15, 16, 16.5,
                       17.5, 18, 19, 20, 21, 22, 23, 23.5, 24.5, 25, 26, 27, 28, 29, 30, 30.5}}});
  slopes("_contrib_AdaptiveAvgPooling2D", {{"output_size", "(2, 3)"}}, {x},
         {{0.1111111, 0.1111111, 0.3333333, 0.2222222, 0.5555556, 0.3333333, 0.3333333, 0.1111111, 0.1111111,
           0.3333333, 0.2222222, 0.5555556, 0.3333333, 0.3333333, 0.5555556, 0.5555556, 1.333333,  0.7777777,
           1.777778,  1,         1,         0.4444444, 0.4444444, 1,         0.5555555, 1.222222,  0.6666667,
           0.6666667, 0.4444444, 0.4444444, 1,         0.5555555, 1.222222,  0.6666667, 0.6666667}});
}

TEST_CASE("images of other extents as MXNet makes them") {
  const NDArray x = count({1, 1, 3, 4}) * count({1, 1, 3, 4});
  row("_contrib_BilinearResize2D", {{"height", "2"}, {"width", "5"}}, {x},
      {{{1, 1, 2, 5}, {0, 0.75, 2.5, 5.25, 9, 64, 76.75, 90.5, 105.25, 121}}}, {1e-5, 1e-5});
  row("_contrib_BilinearResize2D", {{"height", "6"}, {"width", "2"}, {"align_corners", "False"}}, {x},
      {{{1, 1, 6, 2}, {0.5, 6.5, 5.5, 15.5, 15.5, 33.5, 33.5, 59.5, 59.5, 93.5, 72.5, 110.5}}}, {1e-5, 1e-5});
  row("_contrib_BilinearResize2D", {{"height", "1"}, {"width", "1"}}, {x}, {{{1, 1, 1, 1}, {0}}}, {1e-5, 1e-5});
  row("_contrib_BilinearResize2D", {{"height", "1"}, {"width", "3"}, {"align_corners", "False"}}, {x},
      {{{1, 1, 1, 3}, {0.1666667, 2.5, 8.166668}}}, {1e-5, 1e-5});
  row("_contrib_BilinearResize2D", {{"scale_height", "1.5"}, {"scale_width", "0.6"}}, {x},
      {{{1, 1, 4, 2}, {0, 9, 10.66667, 35.66667, 32, 73, 64, 121}}}, {1e-5, 1e-5});
  row("_contrib_BilinearResize2D", {{"scale_height", "1.5"}, {"scale_width", "0.6"}, {"mode", "odd_scale"}}, {x},
      {{{1, 1, 4, 2}, {0, 9, 10.66667, 35.66667, 32, 73, 64, 121}}}, {1e-5, 1e-5});
  row("_contrib_BilinearResize2D", {{"mode", "to_even_down"}}, {x}, {{{1, 1, 2, 4}, {0, 1, 4, 9, 64, 81, 100, 121}}},
      {1e-5, 1e-5});
  row("_contrib_BilinearResize2D", {{"mode", "to_even_up"}}, {x},
      {{{1, 1, 4, 4}, {0, 1, 4, 9, 10.66667, 17, 25.33333, 35.66667, 32, 43.66667, 57.33334, 73, 64, 81, 100, 121}}},
      {1e-5, 1e-5});
  row("_contrib_BilinearResize2D", {{"mode", "to_odd_down"}}, {x},
      {{{1, 1, 3, 3}, {0, 2.5, 9, 16, 30.5, 49, 64, 90.5, 121}}}, {1e-5, 1e-5});
  row("_contrib_BilinearResize2D", {{"mode", "to_odd_up"}}, {x},
      {{{1, 1, 3, 5}, {0, 0.75, 2.5, 5.25, 9, 16, 22.75, 30.5, 39.25, 49, 64, 76.75, 90.5, 105.25, 121}}},
      {1e-5, 1e-5});
  row("_contrib_BilinearResize2D", {{"height", "3"}, {"width", "4"}, {"align_corners", "False"}}, {x},
      {{{1, 1, 3, 4}, {0, 1, 4, 9, 16, 25, 36, 49, 64, 81, 100, 121}}}, {1e-5, 1e-5});
  row("_contrib_BilinearResize2D", {{"mode", "like"}}, {x, strop::zeros({1, 3, 2, 2})},
      {{{1, 1, 2, 2}, {0, 9, 64, 121}}});
  slopes("_contrib_BilinearResize2D", {{"height", "2"}, {"width", "5"}}, {x},
         {{1.5, 3, 4.5, 6, 0, 0, 0, 0, 7.75, 9.25, 10.75, 12.25}});
  slopes("_contrib_BilinearResize2D", {{"height", "6"}, {"width", "2"}, {"align_corners", "False"}}, {x},
         {{2.25, 2.25, 3.25, 3.25, 6, 6, 7, 7, 9.75, 9.75, 10.75, 10.75}});
}

TEST_CASE("correlations as MXNet computes them") {
  const NDArray a = count({1, 2, 3, 4});
  const NDArray b = array({{{{2, 0, 1, 3}, {5, 1, 0, 2}, {4, 4, 1, 3}}, {{1, 1, 2, 5}, {0, 2, 3, 1}, {6, 2, 0, 1}}}});
  row("Correlation", {{"pad_size", "1"}}, {a, b},
      {{{1, 9, 3, 4},
        {0,  0,    0,  0,   0,  13.5, 9,  22.5, 0,  22.5, 27, 34.5, 0,  0,   0,  0,   12, 8.5,  21, 58,   20, 25.5,
         33, 22.5, 0,  0,   0,  0,    8,  19.5, 54, 0,    24, 31.5, 21, 0,   0,  7.5, 7,  16.5, 0,  12.5, 21, 28.5,
         0,  81,   42, 5.5, 6,  6.5,  15, 42,   10, 19.5, 27, 16.5, 76, 39,  5,  28,  6,  13.5, 38, 0,    18, 25.5,
         15, 0,    36, 4.5, 26, 0,    0,  2.5,  15, 22.5, 0,  61,   30, 3.5, 0,  0,   0,  0,    0,  13.5, 21, 10.5,
         56, 27,   3,  20,  0,  0,    0,  0,    12, 19.5, 9,  0,    24, 2.5, 18, 0,   0,  0,    0,  0}}},
      {1e-5, 1e-5});
  slopes("Correlation", {{"pad_size", "1"}}, {a, b},
         {{310, 297, 256.5, 186, 562, 540, 502.5, 268, 321, 279, 270.5, 138,
           152, 339, 483,   328, 456, 519, 389.5, 198, 273, 269, 145.5, 60},
          {68,  188,  302,  304,  377,  798,  1068, 935,  808,  1436, 1682, 1316,
           728, 1412, 1562, 1300, 2087, 3714, 4038, 3149, 2428, 4100, 4382, 3272}});
  row("Correlation", {{"kernel_size", "3"}, {"stride1", "2"}, {"pad_size", "2"}}, {a, b},
      {{{1, 9, 2, 2}, {1.5,      5,        4,        14.33333, 2.277778, 9.722222, 7.333333, 18.72222, 3.055556,
                       8.166667, 9.222222, 14,       2.222222, 10.33333, 10.38889, 21.16667, 4.666667, 14.05556,
                       16.05556, 15,       7,        10.22222, 9.333333, 7.888889, 7.055555, 14.94444, 6.777778,
                       10.5,     10.72222, 10.55556, 9.222222, 5.555555, 6.444445, 5.444445, 2.944444, 2.277778}}},
      {1e-5, 1e-5});
  slopes("Correlation", {{"kernel_size", "3"}, {"stride1", "2"}, {"pad_size", "2"}}, {a, b},
         {{11.77778, 22.83333, 9.888889, 7.111111, 42.22223, 82.00001, 38.33334, 20.22222,
           11.88889, 20.94444, 10.22222, 5.111111, 5.777778, 25.94444, 18.66667, 12.55556,
           34.22222, 78.77778, 30.11111, 15.11111, 10.11111, 20.16667, 5.555556, 2.222222},
          {6.944445, 17.16667, 25.38889, 18.22222, 33.55556, 61.11111, 79.11111, 50.44445,
           66.72222, 105.6111, 124.3889, 73,       50.94444, 98.50001, 116.7222, 68.88889,
           158.8889, 258.4445, 289.7777, 162.4444, 210.7222, 320.2778, 349.0555, 190.3333}});
  row("Correlation", {{"max_displacement", "2"}, {"stride2", "2"}, {"pad_size", "2"}, {"is_multiply", "False"}}, {a, b},
      {{{1, 9, 3, 4},
        {6,    7,  8,    9,  10,  11,  12,  13, 14,  15,  14.5, 16.5, 6,  7,  8,    9,  10,  11,  12, 13, 12.5, 14.5,
         14.5, 13, 6,    7,  8,   9,   10,  11, 12,  13,  12.5, 11,   16, 17, 6,    7,  6.5, 8.5, 10, 11, 9.5,  11.5,
         14,   15, 11,   14, 6.5, 6.5, 6.5, 5,  8.5, 9.5, 10.5, 11.5, 9,  12, 15.5, 15, 5.5, 5,   8,  9,  8.5,  9.5,
         12,   13, 13.5, 13, 16,  17,  6,   7,  5,   7,   10,   11,   12, 13, 14,   15, 16,  17,  5,  7,  7.5,  7,
         10,   11, 12,   13, 14,  15,  16,  17, 6.5, 7,   8,    9,    10, 11, 12,   13, 14,  15,  16, 17}}},
      {1e-5, 1e-5});
  slopes("Correlation", {{"max_displacement", "2"}, {"stride2", "2"}, {"pad_size", "2"}, {"is_multiply", "False"}},
         {a, b},
         {{-71.5, -21, 154.5, 158, 185.5, 243, 247.5, 252, 256.5, 261, 265.5, 270,
           220.5, 225, 229.5, 234, 238.5, 243, 247.5, 252, 256.5, 261, 265.5, 270},
          {-11, -62, -23, -24, 5,   -49, -60, -61, 28,   28,   -59,  -60,
           -60, -62, -84, -86, -48, -49, -60, -61, -132, -134, -156, -158}});
}

TEST_CASE("overlaps of boxes as MXNet computes them") {
  const NDArray lhs = array({{0, 0, 2, 2}, {1, 1, 3, 4}, {0, 0, 0, 0}});
  const NDArray rhs = array({{0, 0, 1, 1}, {1, 1, 2, 3}});
  row("_contrib_box_iou", {}, {lhs, rhs}, {{{3, 2}, {0.25, 0.2, 0, 0.3333333, 0, 0}}});
  row("_contrib_box_iou", {{"format", "center"}}, {lhs, rhs}, {{{3, 2}, {0.25, 0.1764706, 0.08333334, 0.5, 0, 0}}});
}

TEST_CASE("a box with a coordinate that is NaN overlaps none") {
  const NDArray box = array({{0, 0, 2, 2}}),
                none = array({{NaN, 0, 2, 2}, {0, NaN, 2, 2}, {0, 0, NaN, 2}, {0, 0, 2, NaN}});
  row("_contrib_box_iou", {}, {none, box}, {{{4, 1}, {0, 0, 0, 0}}});
  row("_contrib_box_iou", {}, {box, none}, {{{1, 4}, {0, 0, 0, 0}}});
  row("_contrib_box_iou", {{"format", "center"}}, {box, none}, {{{1, 4}, {0, 0, 0, 0}}});
  row("_contrib_box_nms", {}, {array({{0, 0.5, 0, 0, 1, 1}, {0, 0.9, NaN, 0, 1, 1}})},
      {{{2, 6}, {0, 0.9, NaN, 0, 1, 1, 0, 0.5, 0, 0, 1, 1}}});
}

TEST_CASE("boxes that stay as MXNet chooses them") {
  const NDArray x = array({{0, 0.5, 0.1, 0.1, 0.2, 0.2},
                           {1, 0.4, 0.1, 0.1, 0.2, 0.2},
                           {0, 0.3, 0.1, 0.1, 0.14, 0.14},
                           {2, 0.6, 0.5, 0.5, 0.7, 0.8},
                           {0, 0.05, 0.1, 0.1, 0.19, 0.2},
                           {0, 0.45, 0.1, 0.1, 0.19, 0.2}});
  row("_contrib_box_nms", {}, {x},
      {{{6, 6}, {2,  0.6, 0.5, 0.5, 0.7, 0.8, 0,  0.5, 0.1, 0.1, 0.2, 0.2, 0,  0.3, 0.1, 0.1, 0.14, 0.14,
                 -1, -1,  -1,  -1,  -1,  -1,  -1, -1,  -1,  -1,  -1,  -1,  -1, -1,  -1,  -1,  -1,   -1}}});
  row("_contrib_box_nms", {{"id_index", "0"}}, {x},
      {{{6, 6}, {2, 0.6, 0.5, 0.5, 0.7,  0.8,  0,  0.5, 0.1, 0.1, 0.2, 0.2, 1,  0.4, 0.1, 0.1, 0.2, 0.2,
                 0, 0.3, 0.1, 0.1, 0.14, 0.14, -1, -1,  -1,  -1,  -1,  -1,  -1, -1,  -1,  -1,  -1,  -1}}});
  row("_contrib_box_nms", {{"id_index", "0"}, {"force_suppress", "True"}}, {x},
      {{{6, 6}, {2,  0.6, 0.5, 0.5, 0.7, 0.8, 0,  0.5, 0.1, 0.1, 0.2, 0.2, 0,  0.3, 0.1, 0.1, 0.14, 0.14,
                 -1, -1,  -1,  -1,  -1,  -1,  -1, -1,  -1,  -1,  -1,  -1,  -1, -1,  -1,  -1,  -1,   -1}}});
  row("_contrib_box_nms", {{"topk", "3"}, {"overlap_thresh", "0.9"}}, {x},
      {{{6, 6}, {2,  0.6, 0.5, 0.5, 0.7, 0.8, 0,  0.5, 0.1, 0.1, 0.2, 0.2, 0,  0.45, 0.1, 0.1, 0.19, 0.2,
                 -1, -1,  -1,  -1,  -1,  -1,  -1, -1,  -1,  -1,  -1,  -1,  -1, -1,   -1,  -1,  -1,   -1}}});
  row("_contrib_box_nms", {{"valid_thresh", "0.35"}}, {x},
      {{{6, 6}, {2,  0.6, 0.5, 0.5, 0.7, 0.8, 0,  0.5, 0.1, 0.1, 0.2, 0.2, -1, -1, -1, -1, -1, -1,
                 -1, -1,  -1,  -1,  -1,  -1,  -1, -1,  -1,  -1,  -1,  -1,  -1, -1, -1, -1, -1, -1}}});
  row("_contrib_box_nms", {{"id_index", "0"}, {"background_id", "0"}}, {x},
      {{{6, 6}, {2,  0.6, 0.5, 0.5, 0.7, 0.8, 1,  0.4, 0.1, 0.1, 0.2, 0.2, -1, -1, -1, -1, -1, -1,
                 -1, -1,  -1,  -1,  -1,  -1,  -1, -1,  -1,  -1,  -1,  -1,  -1, -1, -1, -1, -1, -1}}});
  row("_contrib_box_nms", {{"in_format", "center"}}, {x},
      {{{6, 6}, {2,  0.6, 0.15, 0.09999999, 0.85, 0.9, 0,  0.5, 0,  0,  0.2, 0.2, 0,  0.3, 0.03, 0.03, 0.17, 0.17,
                 -1, -1,  -1,   -1,         -1,   -1,  -1, -1,  -1, -1, -1,  -1,  -1, -1,  -1,   -1,   -1,   -1}}});
  row("_contrib_box_nms", {{"out_format", "center"}}, {x},
      {{{6, 6}, {2,  0.6, 0.6, 0.65, 0.2, 0.3, 0,  0.5, 0.15, 0.15, 0.1, 0.1, 0,  0.3, 0.12, 0.12, 0.04, 0.04,
                 -1, -1,  -1,  -1,   -1,  -1,  -1, -1,  -1,   -1,   -1,  -1,  -1, -1,  -1,   -1,   -1,   -1}}});
  row("_contrib_box_nms", {{"in_format", "center"}, {"out_format", "center"}, {"overlap_thresh", "0.1"}}, {x},
      {{{6, 6}, {2,  0.6, 0.5, 0.5, 0.7, 0.8, 0,  0.5, 0.1, 0.1, 0.2, 0.2, -1, -1, -1, -1, -1, -1,
                 -1, -1,  -1,  -1,  -1,  -1,  -1, -1,  -1,  -1,  -1,  -1,  -1, -1, -1, -1, -1, -1}}});
  slopes("_contrib_box_nms", {{"id_index", "0"}, {"topk", "3"}}, {x},
         {{7, 8, 9, 10, 11, 12, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
           1, 2, 3, 4,  5,  6,  0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}});
}

TEST_CASE("a topk of 0 leaves boxes as they are") {
  const NDArray x = array({{0, 0.5, 0.1, 0.1, 0.2, 0.2}, {0, 0.9, 0.1, 0.1, 0.2, 0.2}, {0, -1, 0, 0, 1, 1}});
  row("_contrib_box_nms", {{"topk", "0"}, {"in_format", "center"}}, {x}, {{{3, 6}, values(x)}});
  slopes("_contrib_box_nms", {{"topk", "0"}}, {x}, {values(count({3, 6}, 1))});
}

TEST_CASE("maxima of regions leave out NaN") {
  const NDArray x = array({{{{NaN, 3, NaN}, {NaN, NaN, -Inf}}}});
  const NDArray rois = array({{0, 0, 0, 2, 1}, {0, 0, 0, 0, 1}, {0, 2, 0, 2, 1}, {0, 7, 7, 8, 8}});
  row("ROIPooling", {{"pooled_size", "(1, 1)"}, {"spatial_scale", "1"}}, {x, rois},
      {{{4, 1, 1, 1}, {3, -Inf, -Inf, 0}}});
  slopes("ROIPooling", {{"pooled_size", "(1, 1)"}, {"spatial_scale", "1"}}, {x, rois}, {{0, 1, 0, 0, 0, 3}});
}

TEST_CASE("gradients of means of samples in regions as MXNet computes them") {
  const NDArray x = count({1, 1, 4, 5}) * count({1, 1, 4, 5}), rois = array({{0, 0.5, 0.25, 3, 2.5}, {0, 1, 1, 4, 3}});
  slopes("_contrib_ROIAlign", {{"pooled_size", "(2, 2)"}, {"spatial_scale", "1"}, {"sample_ratio", "2"}}, {x, rois},
         {{0.02197266, 0.1611328, 0.3442383, 0.1757812, 0.0,    0.1157227,  1.629883, 3.348145, 2.828125, 0.9375,
           0.206543,   3.389648,  6.524902,  5.863281,  2.1875, 0.03076172, 1.319336, 2.782715, 2.882812, 1.25}});
  slopes("_contrib_ROIAlign",
         {{"pooled_size", "(2, 2)"}, {"spatial_scale", "1"}, {"sample_ratio", "2"}, {"aligned", "True"}}, {x, rois},
         {{0.296875, 1.121094, 1.375,    0.5976562, 0.046875, 1.039062,  4.769531, 5.140625,  3.707031, 0.34375,
           0.859375, 4.875,    5.148438, 4.382812,  0.421875, 0.0546875, 0.546875, 0.5859375, 0.625,    0.0625}});
  slopes("_contrib_ROIAlign",
         {{"pooled_size", "(1, 2)"}, {"spatial_scale", "0.5"}, {"sample_ratio", "3"}, {"aligned", "True"}}, {x, rois},
         {{2.15625, 3.260417, 0.3333333, 0, 0, 1.399305, 2.517361, 0.3333333, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}});
  const NDArray channels = count({1, 4, 3, 4}), region = array({{0, 0.5, 0.25, 3, 2.5}});
  slopes("_contrib_ROIAlign",
         {{"pooled_size", "(2, 2)"}, {"spatial_scale", "1"}, {"sample_ratio", "1"}, {"position_sensitive", "True"}},
         {channels, region},
         {{0.0,      0.1640625, 0.0234375, 0.0, 0.0,      0.7109375, 0.1015625, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0,
           0.234375, 0.140625,  0.0,       0.0, 1.015625, 0.609375,  0.0,       0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0,
           0.0,      0.1640625, 0.0234375, 0.0, 0.0,      2.460938,  0.3515625, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0,
           0.15625,  0.09375,   0.0,       0.0, 2.34375,  1.40625}});
  slopes("_contrib_ROIAlign",
         {{"pooled_size", "(2, 2)"},
          {"spatial_scale", "1"},
          {"sample_ratio", "2"},
          {"position_sensitive", "True"},
          {"aligned", "True"}},
         {channels, region},
         {{0.2578125, 0.4296875, 0.0, 0.0,       0.1171875, 0.1953125,  0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.3007812,
           0.9453125, 0.1289062, 0.0, 0.1367188, 0.4296875, 0.05859375, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0,
           0.6328125, 1.054688,  0.0, 0.0,       0.4921875, 0.8203125,  0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.4921875,
           1.546875,  0.2109375, 0.0, 0.3828125, 1.203125,  0.1640625}});
}

TEST_CASE("boxes of several images are those of each") {
  const NDArray x = NDArray(Shape{3, 6, 6});
  for (std::int64_t i = 0; i < 108; ++i) {
    const std::int64_t row = i / 6, at = i % 6, k = row * 7 % 18;
    const double low = static_cast<double>(k % 5) / 10,
                 numbers[] = {static_cast<double>(k % 2), static_cast<double>(k) / 20, low, low, low + 0.3, low + 0.25};
    x.pointer<float>()[i] = static_cast<float>(numbers[at]);
  }
  Numbers each;
  for (std::int64_t k = 0; k < 3; ++k)
    for (const double value : values(strop::box_nms(x.slice(k, k + 1), {.overlap_thresh = 0.3f})))
      each.push_back(value);
  CHECK(values(strop::box_nms(x, {.overlap_thresh = 0.3f})) == each);
}

TEST_CASE("samples and regions do not depend on how many threads there are") {
  const NDArray image = strop::sin(count({2, 67, 9, 8})),
                rois = array({{0, 0.5, 0.25, 6, 7}, {1, 1, 1, 4, 3}, {0, 2, 0, 7, 8}});
  const NDArray grid = strop::sin(count({2, 2, 13, 21})),
                loc = array({{1, 0.2, 0.1, -0.1, 0.9, 0}, {0.5, 0, 0.3, 0, 1.2, -0.2}});
  const auto all = [&] {
    std::vector<std::vector<Numbers>> found;
    const auto add = [&](std::string_view op, strop::Attributes params, const Arrays& in) {
      const NDArray y = strop::invoke(op, in, {params.begin(), params.size()});
      found.push_back({values(y)});
      found.push_back(gradients(op, params, in, {strop::cos(count(y.shape()))}));
    };
    add("BilinearSampler", {}, {image, grid});
    add("SpatialTransformer",
        {{"transform_type", "affine"}, {"sampler_type", "bilinear"}, {"target_shape", "(13, 21)"}}, {image, loc});
    add("GridGenerator", {{"transform_type", "warp"}}, {grid});
    for (const char* op : {"ROIPooling", "_contrib_ROIAlign"})
      add(op, {{"pooled_size", "(3, 4)"}, {"spatial_scale", "1"}}, {image, rois});
    return found;
  };
  const int before = strop::num_threads();
  strop::set_num_threads(1);
  const auto alone = all();
  strop::set_num_threads(4);
  const auto together = all();
  strop::set_num_threads(before);
  CHECK(alone == together);
}

TEST_CASE("operators on images have results without elements, and positions that are none") {
  const NDArray none = strop::zeros({0, 2, 3, 4}), image = count({1, 2, 3, 4});
  CHECK(strop::bilinear_sampler(none, strop::zeros({0, 2, 5, 6})).shape() == Shape{0, 2, 5, 6});
  CHECK(strop::bilinear_sampler(image, strop::zeros({1, 2, 0, 6})).shape() == Shape{1, 2, 0, 6});
  CHECK(values(strop::bilinear_sampler(image, array({{{{NaN, Inf}}, {{0, -1e30}}}}))) == Numbers{0, 0, 0, 0});
  row("BilinearSampler", {}, {strop::zeros({1, 1, 0, 2}), strop::zeros({1, 2, 1, 2})}, {{{1, 1, 1, 2}, {0, 0}}});
  row("GridGenerator", {{"transform_type", "affine"}, {"target_shape", "(1, 2)"}}, {array({{1, 0, 0, 0, 1, 0}})},
      {{{1, 2, 1, 2}, {-1, 1, 0, 0}}});  // where MXNet divides by 0
  row("GridGenerator", {{"transform_type", "warp"}}, {count({1, 2, 2, 1})}, {{{1, 2, 2, 1}, {-1, 1, 3, 7}}});
  for (const char* op : {"ROIPooling", "_contrib_ROIAlign"}) {
    row(op, {{"pooled_size", "(1, 1)"}, {"spatial_scale", "1"}}, {image, strop::zeros({0, 5})}, {{{0, 2, 1, 1}, {}}});
    row(op, {{"pooled_size", "(1, 1)"}, {"spatial_scale", "1"}}, {image, array({{0, NaN, -1e30, 1e30, Inf}})},
        {{{1, 2, 1, 1}, op[0] == 'R' ? Numbers{11, 23} : Numbers{0, 0}}});
    row(op, {{"pooled_size", "(1, 1)"}, {"spatial_scale", "1"}}, {image, array({{7, 0, 0, 1, 1}})},
        {{{1, 2, 1, 1}, {0, 0}}});
  }
  row("_contrib_ROIAlign", {{"pooled_size", "(1, 1)"}, {"spatial_scale", "1"}}, {image, array({{0, 0, 1, 1}})},
      {{{1, 2, 1, 1}, {2.5, 14.5}}});
  row("_contrib_AdaptiveAvgPooling2D", {{"output_size", "(0, 2)"}}, {image}, {{{1, 2, 0, 2}, {}}});
  row("_contrib_AdaptiveAvgPooling2D", {}, {strop::zeros({1, 1, 0, 2})}, {{{1, 1, 1, 1}, {0}}});
  row("_contrib_BilinearResize2D", {{"mode", "to_even_down"}}, {strop::zeros({1, 1, 1, 3})}, {{{1, 1, 0, 2}, {}}});
  CHECK(strop::correlation(none, none, {.pad_size = 1}).shape() == Shape{0, 9, 3, 4});
  CHECK(strop::box_iou(strop::zeros({0, 4}), strop::zeros({2, 3, 4})).shape() == Shape{0, 2, 3});
  row("Correlation", {{"pad_size", "1"}, {"max_displacement", "0"}},
      {strop::zeros({1, 0, 1, 1}), strop::zeros({1, 0, 1, 1})}, {{{1, 1, 3, 3}, Numbers(9, 0.0)}});
  CHECK(strop::box_nms(strop::zeros({2, 0, 6})).shape() == Shape{2, 0, 6});
}

TEST_CASE("operators on images refuse in a sentence") {
  const NDArray image = count({1, 2, 3, 4}), matrix = strop::zeros({1, 6});
  CHECK(refusal("GridGenerator", {{"transform_type", "affine"}}, {matrix}) ==
        "grid_generator: target_shape = (0, 0), expected (rows, columns) of 1 or more");
  CHECK(refusal("BilinearSampler", {}, {image, count({1, 3, 1, 1})}) ==
        "bilinear_sampler: input 'grid' has shape (1, 3, 1, 1), expected (1, 2, ?, ?)");
  CHECK(refusal("ROIPooling", {{"pooled_size", "(2,)"}, {"spatial_scale", "1"}}, {image, count({1, 5})}) ==
        "roi_pooling: pooled_size = (2,), expected (rows, columns) of 1 or more");
  CHECK(refusal("_contrib_ROIAlign", {{"pooled_size", "(2, 2)"}, {"spatial_scale", "1"}}, {image, count({1, 6})}) ==
        "_contrib_roi_align: input 'rois' has shape (1, 6), expected rows of 5 numbers, or of 4 without the image");
  CHECK(refusal("_contrib_ROIAlign",
                {{"pooled_size", "(2, 2)"}, {"spatial_scale", "1"}, {"position_sensitive", "True"}},
                {image, count({1, 5})}) ==
        "_contrib_roi_align: input 'data' has 2 channels, expected a multiple of 4, the parts of a region");
  CHECK(refusal("_contrib_ROIAlign", {{"pooled_size", "(1, 1)"}, {"spatial_scale", "1"}, {"aligned", "True"}},
                {image, array({{0, 1, 1, 1, 2}})}) ==
        "_contrib_roi_align: region 0 is 0 wide and 1 high, expected more than 0");
  CHECK(refusal("_contrib_BilinearResize2D", {{"mode", "odd_scale"}, {"scale_width", "2"}}, {image}) ==
        "_contrib_bilinear_resize2d: mode odd_scale needs parameters 'scale_height' and 'scale_width'");
  CHECK(refusal("_contrib_BilinearResize2D", {{"height", "2"}}, {strop::zeros({1, 1, 0, 2})}) ==
        "_contrib_bilinear_resize2d: input 'data' has shape (1, 1, 0, 2), which has no elements for (1, 1, 2, 1)");
  CHECK(refusal("_contrib_BilinearResize2D", {{"scale_height", "-1"}}, {image}) ==
        "_contrib_bilinear_resize2d: a scale of -1 gives axis 2 of input 'data', of 3 elements, no extent");
  CHECK(refusal("Correlation", {{"kernel_size", "2"}}, {image, image}) ==
        "correlation: kernel_size is 2, expected an odd number");
  CHECK(refusal("Correlation", {{"max_displacement", "2"}}, {image, image}) ==
        "correlation: axis 2 of input 'data1' has extent 3, with padding 3, and a window with its displacements covers "
        "5");
  CHECK(refusal("_contrib_box_iou", {}, {count({2, 3}), count({2, 4})}) ==
        "_contrib_box_iou: input 'lhs' has shape (2, 3), expected (..., 4)");
  CHECK(refusal("_contrib_box_nms", {{"coord_start", "3"}}, {count({2, 6})}) ==
        "_contrib_box_nms: coord_start is 3, and rows of input 'data' have 6 numbers");
  const NDArray boxes = count({2, 6});
  CHECK(refusal("_contrib_box_nms", {{"id_index", "1"}}, {boxes}) ==
        "_contrib_box_nms: id_index and score_index are both 1");
  CHECK(refusal("_contrib_box_nms", {{"score_index", "5"}}, {boxes}) ==
        "_contrib_box_nms: score_index is 5, where a coordinate is: coord_start is 2");
  CHECK(refusal("_contrib_box_nms", {{"id_index", "2"}}, {boxes}) ==
        "_contrib_box_nms: id_index is 2, where a coordinate is: coord_start is 2");
  CHECK(refusal("_contrib_ROIAlign", {{"pooled_size", "(1, 4)"}, {"spatial_scale", "1"}, {"sample_ratio", "1000000"}},
                {image, count({1, 5})}) ==
        "_contrib_roi_align: sample_ratio is 1000000, of each of 4 parts along an axis, expected at most 1048576 "
        "samples along it");
}
