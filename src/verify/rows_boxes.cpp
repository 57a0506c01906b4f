// SPDX-License-Identifier: Apache-2.0
/// \file
/// Rows of the operators of what detectors learn and of the boxes that they find.
#include "library.hpp"

namespace strop::inline v0::verify {

void add_box_rows(std::vector<Row>& rows) {
  const auto add = [&](const std::string& op, const std::string& params, std::vector<Sample> in) {
    rows.push_back({op, params, std::move(in), {.gradient = false, .same_shape = false, .loose = 8}});
  };
  // Elements that halves have, and far from what decides: neither type nor order of sums makes another choice.
  const Sample scores = listed({2, 2, 3}, {0.5, 0.75, 0.125, 1, 0.25, 0.875, 0.5, 0.5, 0.375, 0.5, 0.0625, 0.75});
  add("_contrib_bipartite_matching", "threshold=0.2", {scores});
  add("_contrib_bipartite_matching", "threshold=0.8; is_ascend=True; topk=1", {scores});
  const Sample anchors = listed({1, 3, 4}, {0, 0, 0.5, 0.5, 0.25, 0.25, 0.75, 1, 0.5, 0, 1, 0.5});
  add("_contrib_box_encode", "",
      {listed({1, 3}, {1, 0, 1}), listed({1, 3}, {1, 5, 0}), anchors,
       listed({1, 2, 4}, {0.5, 0.25, 1, 0.5, 0, 0, 1, 0.25}), listed({4}, {0, 0.5, 0.25, -0.25}),
       listed({4}, {0.5, 0.5, 0.25, 0.25})});
  for (const std::string params : {"", "std0=0.5; std1=0.5; std2=0.25; std3=0.25; clip=0.125; format=corner"})
    add("_contrib_box_decode", params, {{{2, 3, 4}, -0.9, 0.9}, anchors});
  for (const std::string params :
       {"", "sizes=(0.5, 0.25); ratios=(1, 4, 0.25)", "sizes=1.5; clip=True; steps=(0.5, 0.25); offsets=(0, 0.25)"})
    add("_contrib_MultiBoxPrior", params, {{{1, 2, 2, 4}}});
  const Sample labels =
                   listed({2, 2, 5}, {1, 0.25, 0, 1, 0.5, -1, -1, -1, -1, -1, 0, 0, 0, 0.5, 0.5, 2, 0.25, 0, 1, 1}),
               predictions = listed({2, 3, 3}, {1, -1, 0.5, 0, 0.25, 2, 3, -2, 1, 0.5, 2, -1, 1, 0, -2, 0.25, 1, 3});
  for (const std::string params : {"", "overlap_threshold=0.2; variances=(1, 1, 0.5, 0.5)",
                                   "negative_mining_ratio=1; negative_mining_thresh=0.9; ignore_label=-2"})
    add("_contrib_MultiBoxTarget", params, {anchors, labels, predictions});
  const Sample probabilities = listed({1, 3, 3}, {0.25, 0.125, 0.5, 0.5, 0.125, 0.25, 0.25, 0.75, 0.125}),
               places = listed({1, 12}, {0, 0.5, 0.25, 0, 1, 0, -0.5, 0.25, -1, 0.25, 0, 0.5});
  for (const std::string params : {"", "nms_threshold=0.04; force_suppress=True; clip=False", "nms_topk=1",
                                   "nms_threshold=0; threshold=0.6; variances=(1, 1, 0.5, 0.5)"})
    add("_contrib_MultiBoxDetection", params, {probabilities, places, anchors});
}

}  // namespace strop::inline v0::verify
