// SPDX-License-Identifier: Apache-2.0
#include "value_rows.hpp"

using namespace ops_test;
using strop::array;

// The numbers are those of MXNet 1.9.1.

TEST_CASE("grids of positions as MXNet makes them") {
  const NDArray matrix = array({{2, 0.5, 0, 0.25, 1, -0.5}});
  const NDArray flow = count({1, 2, 2, 2});
  row("GridGenerator", {{"transform_type", "affine"}, {"target_shape", "(2, 3)"}}, {matrix},
      {{{1, 2, 2, 3}, {-2.5, -0.5, 1.5, -1.5, 0.5, 2.5, -1.75, -1.5, -1.25, 0.25, 0.5, 0.75}}});
  slopes("GridGenerator", {{"transform_type", "affine"}, {"target_shape", "(2, 3)"}}, {matrix}, {{4, 9, 21, 4, 9, 57}});
  row("GridGenerator", {{"transform_type", "warp"}}, {flow}, {{{1, 2, 2, 2}, {-1, 3, 3, 7, 7, 9, 13, 15}}});
  slopes("GridGenerator", {{"transform_type", "warp"}}, {flow}, {{2, 4, 6, 8, 10, 12, 14, 16}});
}

TEST_CASE("images sampled at positions as MXNet does it") {
  const NDArray x = count({1, 1, 3, 4}, 1);
  const NDArray loc = array({{1.5, 0.2, 0.1, -0.3, 1.4, 0.2}});
  row("SpatialTransformer", {{"target_shape", "(3, 3)"}, {"transform_type", "affine"}, {"sampler_type", "bilinear"}},
      {x, loc}, {{{1, 1, 3, 3}, {0.14, 1.88, 0.7999997, 2.8, 7.45, 0.7600011, 0.6299995, 4.380001, 0}}});
  slopes("SpatialTransformer", {{"target_shape", "(3, 3)"}, {"transform_type", "affine"}, {"sampler_type", "bilinear"}},
         {x, loc},
         {{0.08999996, 1.04, 0.5599999, 0.6599999, 0.8100001, 1.399999, 2.6, 0.5400007, 1.29, 0.5100002, 3.690001, 0},
          {-130.95, 18.74999, -9.150002, 44.50001, -141.6, -93}});
  const NDArray grid =
      strop::grid_generator(loc, {.transform_type = strop::GridGenerator::affine, .target_shape = {3, 3}});
  row("BilinearSampler", {}, {x, grid},
      {{{1, 1, 3, 3}, {0.14, 1.88, 0.7999997, 2.8, 7.45, 0.7600011, 0.6299995, 4.380001, 0}}});
  slopes("BilinearSampler", {}, {x, grid},
         {{0.08999996, 1.04, 0.5599999, 0.6599999, 0.8100001, 1.399999, 2.6, 0.5400007, 1.29, 0.5100002, 3.690001, 0},
          {2.1, 2.4, -9, 42, 7.5, -68.39999, 9.449991, 4.800001, 0, 0.3999999, 4.7, 4.799998, 6.400001, 20, 2.400003,
           -44.10001, -87.6, 0}});
}

TEST_CASE("maxima of regions as MXNet finds them") {
  const NDArray x = count({2, 1, 4, 5});
  const NDArray rois = array({{0, 0, 0, 4, 3}, {1, 1, 1, 3, 2}, {0, 3, 3, 3, 3}, {1, -2, 0, 9, 1}});
  row("ROIPooling", {{"pooled_size", "(2, 2)"}, {"spatial_scale", "1"}}, {x, rois},
      {{{4, 1, 2, 2}, {7, 9, 17, 19, 27, 28, 32, 33, 18, 18, 18, 18, 23, 24, 28, 29}}});
  slopes("ROIPooling", {{"pooled_size", "(2, 2)"}, {"spatial_scale", "1"}}, {x, rois},
         {{0, 0, 0, 0,  0,  0, 0, 1, 0,  2,  0, 0, 0, 0, 0, 0, 0, 3, 42, 4,
           0, 0, 0, 13, 14, 0, 0, 5, 21, 16, 0, 0, 7, 8, 0, 0, 0, 0, 0,  0},
          {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}});
  row("ROIPooling", {{"pooled_size", "(2, 3)"}, {"spatial_scale", "0.5"}},
      {x, array({{0, 1, 1, 7, 5}, {2, 1, 1, 7, 5}, {-1, 1, 1, 7, 5}})},
      {{{3, 1, 2, 3}, {12, 13, 14, 17, 18, 19, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}}});
}

TEST_CASE("means of regions as MXNet finds them") {
  const NDArray x = count({2, 1, 4, 5});
  const NDArray rois = array({{0, 0, 0, 4, 3}, {1, 1, 1, 3, 2}, {0, 3, 3, 3, 3}, {1, -2, 0, 9, 1}});
  row("_contrib_ROIAlign", {{"pooled_size", "(2, 2)"}, {"spatial_scale", "1"}}, {x, rois},
      {{{4, 1, 2, 2},
        {4.75, 6.75, 12.25, 14.25, 27.75, 28.75, 30.25, 31.25, 18.25, 18.75, 18.25, 18.75, 18.81944, 8.409722, 20.90278,
         9.243055}}},
      {1e-5, 1e-5});
  slopes("_contrib_ROIAlign", {{"pooled_size", "(2, 2)"}, {"spatial_scale", "1"}}, {x, rois},
         {{0.078125, 0.15625, 0.234375, 0.3125,   0.15625,  0.203125, 0.40625,  0.578125, 0.75,     0.375,
           0.484375, 0.96875, 1.140625, 1.3125,   0.65625,  0.234375, 0.46875,  0.546875, 21.125,   21.8125,
           3.84375,  2.4375,  2.4375,   2.538195, 4.826388, 4.128472, 5.368056, 8.618055, 5.975695, 5.159721,
           0,        3.25,    7,        3.75,     0,        0,        0,        0,        0,        0},
          {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}});
  row("_contrib_ROIAlign",
      {{"pooled_size", "(2, 2)"}, {"spatial_scale", "0.5"}, {"sample_ratio", "2"}, {"aligned", "True"}},
      {x, array({{0, 0, 0, 4, 3}, {1, 1, 1, 3, 2}, {1, -2, 0, 9, 1}})},
      {{{3, 1, 2, 2},
        {0.28125, 1.15625, 3.25, 4.125, 20.875, 21.375, 22.125, 22.625, 20.28125, 22.625, 20.28125, 22.625}}});
  row("_contrib_ROIAlign", {{"pooled_size", "(2, 2)"}, {"spatial_scale", "1"}, {"position_sensitive", "True"}},
      {count({1, 8, 4, 5}), array({{0, 0, 0, 4, 3}})},
      {{{1, 2, 2, 2}, {4.75, 26.75, 52.25, 74.25, 84.75, 106.75, 132.25, 154.25}}});
}
