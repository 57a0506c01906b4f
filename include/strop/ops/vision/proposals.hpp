// SPDX-License-Identifier: Apache-2.0
/// \file
/// _contrib_Proposal, _contrib_MultiProposal: boxes where objects may be, from scores and shifts of anchors.
#pragma once
#include <strop/core/numbers.hpp>
#include <strop/op/op.hpp>
#include <strop/ops/list.hpp>

#include <cstdint>
#include <span>
#include <string_view>

namespace strop::inline v0 {

namespace detail {

inline constexpr std::string_view proposal_inputs[] = {"cls_prob", "bbox_pred", "im_info"};
inline constexpr std::string_view proposal_outputs[] = {"output", "score"};
inline constexpr Note proposal_notes[] = {
    {"rpn_pre_nms_top_n", "how many of the best boxes are looked at; 0 or less: all"},
    {"rpn_post_nms_top_n", "how many boxes each image gets"},
    {"threshold", "how far boxes may overlap: shared area over that of both"},
    {"rpn_min_size", "the least width and height of a box, in pixels of the image before it was scaled"},
    {"scales", "sizes of the anchors, in cells"},
    {"ratios", "heights over widths of the anchors"},
    {"feature_stride", "pixels from one cell to the next"},
    {"output_score", "the scores of the boxes are a second result"},
    {"iou_loss", "bbox_pred is what the corners are moved by"}};
inline constexpr Range proposal_range[] = {{"rpn_post_nms_top_n", 0}, {"feature_stride", 1}};

/// Shapes of a call; `images` is how many it takes, or unknown.
template <class T>
constexpr void infer_proposal_shapes(Shapes& s, const T& op, std::int64_t images) {
  constexpr std::int64_t any = Shape::unknown_extent;
  const std::int64_t anchors = static_cast<std::int64_t>(op.scales.count()) * op.ratios.count();
  if (anchors == 0) s.fail("scales or ratios has no numbers, expected one or more of each");
  s.set_in(0, {images, 2 * anchors, any, any});
  s.set_in(1, {s.in(0)[0], 4 * anchors, s.in(0)[2], s.in(0)[3]});
  s.set_in(2, {s.in(1)[0], 3});
  s.set_in(1, {s.in(2)[0], any, any, any});
  s.set_in(0, {s.in(1)[0], any, s.in(1)[2], s.in(1)[3]});
  const Shape& x = s.in(0);
  if (x[2] == 0 || x[3] == 0) s.fail(s.name_in(0), " has shape ", x, ", expected one cell or more");
  const std::int64_t boxes = x[0] < 0 ? any : checked_product(x[0], op.rpn_post_nms_top_n, s.op());
  s.set_out(0, {boxes, 5});
  s.set_out(1, {boxes, 1});
}

}  // namespace detail

/// _contrib_Proposal: the boxes of one image where objects are likely to be, best first. Each cell has an anchor for
/// each ratio and scale: feature_stride² pixels at that ratio, in whole pixels, times the scale, around the cell; it is
/// moved as bbox_pred says and cut to the image. Of the rpn_pre_nms_top_n best boxes a result of rpn_post_nms_top_n has
/// those that overlap no better one by more than threshold; where they are fewer, from the first one on again.
///
/// cls_prob (1, 2 · anchors, rows, columns): the scores, for each anchor, of there being nothing, then of something;
/// bbox_pred (1, 4 · anchors, rows, columns): for each anchor what its centre moves in widths and heights and the
/// logarithms of what these grow by; im_info (1, 3): rows and columns of the image and how far it was scaled. Anchors
/// are those of all scales for each ratio. The results are rows of 0 and the corners (rpn_post_nms_top_n, 5), and with
/// `output_score` the scores (rpn_post_nms_top_n, 1), a hidden output otherwise. Boxes of cells beyond the image, and
/// smaller ones than rpn_min_size times the scale, which grow by that much, have score −1. Of equal scores the first
/// box comes first. Floating types; sparse arrays by the dense fallback. The gradient is 0, as in MXNet.
/// Error: more than one image, other shapes, an image of more cells than there are.
///
/// Example: `proposal(array({{{{0.5}}, {{0.5}}}}), zeros({1, 4, 1, 1}), array({{8, 8, 1}}), {.rpn_post_nms_top_n = 1,
/// .rpn_min_size = 1, .scales = {1}, .ratios = {1}, .feature_stride = 8})` is [[0, 0, 0, 7, 7]].
struct Proposal {
  int rpn_pre_nms_top_n = 6000, rpn_post_nms_top_n = 300;
  float threshold = 0.7f;
  int rpn_min_size = 16;
  Numbers scales = {4, 8, 16, 32}, ratios = {0.5, 1, 2};
  int feature_stride = 16;
  bool output_score = false, iou_loss = false;

  static constexpr std::string_view name = "_contrib_Proposal", aliases[] = {"Proposal", "proposal"};
  static constexpr std::span<const std::string_view> inputs = detail::proposal_inputs,
                                                     outputs = detail::proposal_outputs;
  static constexpr const char* doc = "The boxes of an image where objects are likely to be, from scores of anchors.";
  static constexpr std::span<const Note> notes = detail::proposal_notes;
  static constexpr std::span<const Range> range = detail::proposal_range;
  static constexpr bool zero_gradient = true;

  static constexpr int visible = 1;  // what a call in C++ gives; invoke_all gives those that visible_count says
  constexpr int visible_count() const { return output_score ? 2 : 1; }
  constexpr void infer_shape(Shapes& s) const { detail::infer_proposal_shapes(s, *this, 1); }
  template <Real E>
  void forward(Cpu&, View<const E, 4> cls_prob, View<const E, 4> bbox_pred, View<const E, 2> im_info, View<E, 2> y,
               View<E, 2> score) const;
};

/// _contrib_MultiProposal: what Proposal does, for each image of a batch.
///
/// cls_prob (batch, 2 · anchors, rows, columns), bbox_pred (batch, 4 · anchors, rows, columns), im_info (batch, 3); the
/// results are rows of the image and the corners (batch · rpn_post_nms_top_n, 5), and with `output_score` the scores
/// (batch · rpn_post_nms_top_n, 1), a hidden output otherwise. All else is as there. Error: other shapes, an image of
/// more cells than there are.
///
/// Example: `multi_proposal(array({{{{0.5}}, {{0.5}}}}), zeros({1, 4, 1, 1}), array({{8, 8, 1}}), {.rpn_post_nms_top_n
/// = 1, .rpn_min_size = 1, .scales = {1}, .ratios = {1}, .feature_stride = 8})` is [[0, 0, 0, 7, 7]].
struct MultiProposal {
  int rpn_pre_nms_top_n = 6000, rpn_post_nms_top_n = 300;
  float threshold = 0.7f;
  int rpn_min_size = 16;
  Numbers scales = {4, 8, 16, 32}, ratios = {0.5, 1, 2};
  int feature_stride = 16;
  bool output_score = false, iou_loss = false;

  static constexpr std::string_view name = "_contrib_MultiProposal", aliases[] = {"MultiProposal", "multi_proposal"};
  static constexpr std::span<const std::string_view> inputs = detail::proposal_inputs,
                                                     outputs = detail::proposal_outputs;
  static constexpr const char* doc = "The boxes of each image where objects are likely to be, from scores of anchors.";
  static constexpr std::span<const Note> notes = detail::proposal_notes;
  static constexpr std::span<const Range> range = detail::proposal_range;
  static constexpr bool zero_gradient = true;

  static constexpr int visible = 1;
  constexpr int visible_count() const { return output_score ? 2 : 1; }
  constexpr void infer_shape(Shapes& s) const { detail::infer_proposal_shapes(s, *this, Shape::unknown_extent); }
  template <Real E>
  void forward(Cpu&, View<const E, 4> cls_prob, View<const E, 4> bbox_pred, View<const E, 2> im_info, View<E, 2> y,
               View<E, 2> score) const;
};

inline constexpr Op<Proposal, OnUse> proposal;
inline constexpr Op<MultiProposal, OnUse> multi_proposal;

using ProposalOps = OpList<Proposal, MultiProposal>;

}  // namespace strop::inline v0

#if !defined(STROP_OPERATORS_COMPILED) || defined(__CUDACC__)
#include <strop/ops/vision/proposals_body.hpp>
#endif
