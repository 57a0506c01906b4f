// SPDX-License-Identifier: Apache-2.0
/// \file
/// Rows of what detectors are made of: boxes that are proposed, regions from channels of their own or rotated ones, and
/// numbers of 8 bits.
#include "library.hpp"

namespace strop::inline v0::verify {

void add_detection_rows(std::vector<Row>& rows) {
  const Parts layer{.same_shape = false, .loose = 8}, without{.gradient = false, .same_shape = false, .loose = 8};
  // What the largest number becomes leaves room for what is added to it.
  const Sample numbers{{2, 3}, -0.9, 0.9}, low = listed({1}, {-1}), high = listed({1}, {0.5});
  for (const std::string type : {"out_type=int8", "out_type=uint8"})
    rows.push_back({"_contrib_quantize", type, {numbers, low, high}, without});
  // Numbers of 8 bits stay as they are, and only in their own type: tests/ops/quantization.cpp.
  for (const std::string type : {"int8", "uint8", "auto"})
    rows.push_back({"_contrib_quantize_v2",
                    "min_calib_range=-1; max_calib_range=0.5; out_type=" + type,
                    {numbers},
                    {.gradient = false, .dtypes = false, .sparse = type == "auto", .same_shape = false}});
  const Parts of_one_type{.gradient = false, .dtypes = false, .sparse = false, .same_shape = false};
  rows.push_back({"_contrib_dequantize", "", {numbers, low, high}, of_one_type});
  rows.push_back({"_contrib_requantize", "", {numbers, low, high}, of_one_type});

  // Image 0, 1 and 0, and corners that no small change rounds to others.
  const Sample image{{2, 8, 3, 4}},
      regions = listed({3, 5}, {0.5, 0.25, 0.25, 2.75, 2.25, 1.5, 1, 0, 3.25, 1, 0.5, 2, 1, 2.25, 2.25});
  rows.push_back({"_contrib_PSROIPooling", "spatial_scale=1; output_dim=2; pooled_size=2", {image, regions}, layer});
  rows.push_back({"_contrib_PSROIPooling",
                  "spatial_scale=0.5; output_dim=1; pooled_size=4; group_size=2",
                  {image, regions},
                  layer});
  const Sample rotated = listed({2, 6}, {0.5, 1.5, 1.25, 2, 1.5, 30, 1.5, 2, 1, 1.25, 2.5, -60});
  for (const std::string params :
       {"pooled_size=(2, 2); spatial_scale=1", "pooled_size=(1, 2); spatial_scale=0.5; sampling_ratio=2"})
    rows.push_back({"_contrib_RROIAlign", params, {{{2, 3, 3, 4}}, rotated}, without});

  const std::string anchors =
      "scales=(1,); ratios=(0.5, 2); feature_stride=8; rpn_min_size=2; rpn_post_nms_top_n=5; threshold=0.5; ";
  const auto proposals = [&](const std::string& op, std::int64_t images, const std::string& params) {
    rows.push_back({op,
                    anchors + params,
                    {{{images, 4, 2, 3}}, {{images, 8, 2, 3}, -0.2, 0.2}, listed({images, 3}, {16, 20, 1})},
                    without});
  };
  for (const std::string params : {"output_score=True", "iou_loss=True; rpn_pre_nms_top_n=4"}) {
    proposals("_contrib_Proposal", 1, params);
    proposals("_contrib_MultiProposal", 2, params);
  }
}

}  // namespace strop::inline v0::verify
