// SPDX-License-Identifier: Apache-2.0
/// \file
/// Rows of the operators on images and boxes, of sums along an axis, of densities and of the loss of sequences.
#include "library.hpp"

namespace strop::inline v0::verify {
namespace {

void add_density_rows(std::vector<Row>& rows) {
  // Elements that halves have, within the support of each distribution.
  const Sample sample{{2, 3}, 0.2, 1.8}, first{{2}, 1.2, 1.9}, second{{2}, 2.1, 2.9},
      counts = listed({2, 3}, {0, 3, 1, 2});
  const auto add = [&](const std::string& of, std::vector<Sample> in) {
    // Probabilities of counts have no gradient there, which differences do not know.
    const bool discrete = of.ends_with("poisson") || of.ends_with("binomial") || of == "uniform";
    for (const std::string log : {"", "is_log=True"})
      rows.push_back({"_random_pdf_" + of,
                      log,
                      in,
                      {.gradient = !discrete, .same_shape = false, .loose = 16},
                      false,
                      discrete ? gradient_elsewhere : nowhere});
  };
  add("uniform", {sample, first, second});
  add("normal", {sample, first, second});
  add("gamma", {sample, first, second});
  add("exponential", {sample, first});
  add("poisson", {counts, first});
  add("negative_binomial", {counts, first, {{2}, 0.2, 0.8}});
  add("generalized_negative_binomial", {counts, first, second});
  add("dirichlet", {{{2, 2, 3}, 0.2, 0.8}, {{2, 3}, 1.2, 2.9}});
  add("dirichlet", {{{3}, 0.2, 0.8}, {{3}, 1.2, 2.9}});
}

}  // namespace

void add_vision_rows(std::vector<Row>& rows) {
  const Parts layer{.same_shape = false, .loose = 8}, without{.gradient = false, .same_shape = false, .loose = 8};
  const Sample image{{2, 2, 3, 4}}, matrices{{2, 6}, -0.9, 0.9};
  const auto add = [&](const std::string& op, const std::string& params, std::vector<Sample> in) {
    rows.push_back({op, params, std::move(in), layer});
  };
  add("GridGenerator", "transform_type=affine; target_shape=(2, 3)", {matrices});
  add("GridGenerator", "transform_type=affine; target_shape=(1, 2)", {matrices});
  add("GridGenerator", "transform_type=warp", {{{2, 2, 3, 4}, -0.9, 0.9}});
  add("BilinearSampler", "", {image, {{2, 2, 2, 3}, -0.3, 0.2}});
  add("SpatialTransformer", "transform_type=affine; sampler_type=bilinear; target_shape=(2, 2)",
      {image, listed({2, 6}, {0.25, 0.125, 0.0625, -0.125, 0.25, 0.0625})});
  // Image 0, 1 and 0, and corners that no small change rounds to others.
  const Sample regions = listed({3, 5}, {0.5, 0.25, 0.25, 2.75, 2.25, 1.5, 1, 0, 3.25, 1, 0.5, 2, 1, 2.25, 2.25});
  add("ROIPooling", "pooled_size=(2, 2); spatial_scale=1", {image, regions});
  // Means change with the corners, to which there is no gradient.
  for (const std::string params :
       {"pooled_size=(2, 2); spatial_scale=1",
        "pooled_size=(1, 2); spatial_scale=0.5; sample_ratio=2; position_sensitive=True; aligned=True"})
    rows.push_back({"_contrib_ROIAlign", params, {image, regions}, without, false, gradient_elsewhere});
  for (const std::string size : {"", "output_size=(2, 3)", "output_size=(4, 5)"})
    add("_contrib_AdaptiveAvgPooling2D", size, {image});
  add("_contrib_BilinearResize2D", "height=2; width=5", {image});
  add("_contrib_BilinearResize2D", "height=4; width=2; align_corners=False", {image});
  add("_contrib_BilinearResize2D", "mode=odd_scale; scale_height=1.5; scale_width=0.5", {image});
  add("_contrib_BilinearResize2D", "mode=to_even_up", {image});
  add("_contrib_BilinearResize2D", "mode=like", {image, {{1, 1, 2, 2}}});
  add("Correlation", "pad_size=1", {image, image});
  add("Correlation", "kernel_size=3; max_displacement=2; stride1=2; stride2=2; pad_size=3; is_multiply=False",
      {image, {{2, 2, 3, 4}, 1.1, 1.9}});
  const Sample corners = listed({3, 4}, {0, 0, 2, 2, 1, 1, 3, 4, 0, 0, 0, 0});
  for (const std::string format : {"", "format=center"})
    rows.push_back({"_contrib_box_iou", format, {corners, listed({2, 4}, {0, 0, 1, 1, 1, 1, 2, 3})}, without});
  rows.push_back({"_contrib_box_nms",
                  "",
                  {listed({4, 6}, {0, 0.5, 1, 1, 3, 3, 1, 0.75, 1, 1, 3, 4, 0, 0.25, 5, 5, 7, 7, 0, 1, 9, 9, 10, 10})},
                  {.gradient = false, .same_shape = false},
                  false,
                  gradient_elsewhere});
  for (const std::string axis : {"", "axis=0", "axis=-1"}) {
    add("_np_cumsum", axis, {{{2, 3, 2}}});
    add("_np_cumsum", axis, {{{2, 0, 3}}});
  }
  rows.push_back({"_np_cumsum", "dtype=float64", {{{2, 3}}}, {.dtypes = false, .same_shape = false, .loose = 8}});
  const Sample steps{{4, 2, 3}, -2, 2.1}, label = listed({2, 2}, {1.5, 2.5, 2.5, 0.5});
  add("CTCLoss", "", {steps, label});
  add("CTCLoss", "blank_label=last", {steps, listed({2, 2}, {1.5, 0.5, 0.5, 0.5})});
  add("CTCLoss", "use_data_lengths=True; use_label_lengths=True",
      {steps, label, listed({2}, {4.5, 2.5}), listed({2}, {2.5, 1.5})});
  rows.push_back({"_sample_unique_zipfian",
                  "range_max=9; shape=(2, 4)",
                  {},
                  {.gradient = false, .dtypes = false, .sparse = false, .same_shape = false},
                  true});
  add_density_rows(rows);
}

}  // namespace strop::inline v0::verify
