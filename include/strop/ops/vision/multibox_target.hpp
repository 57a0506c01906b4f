// SPDX-License-Identifier: Apache-2.0
/// \file
/// _contrib_MultiBoxTarget: what the anchors of a detector are to learn of the objects in images.
#pragma once
#include <strop/core/checked.hpp>
#include <strop/core/list.hpp>
#include <strop/core/numbers.hpp>
#include <strop/op/op.hpp>
#include <strop/ops/list.hpp>
#include <strop/ops/vision/multibox.hpp>

#include <cstdint>
#include <string_view>

namespace strop::inline v0 {

namespace detail {
inline namespace STROP_ISA {

template <class E>
class AnchorObjects;

}  // namespace STROP_ISA
}  // namespace detail

/// _contrib_MultiBoxTarget: what anchors are to learn of the objects in images. Each object is given to the anchor that
/// it overlaps most, the best pairs first; then an anchor without one learns the object that overlaps it most, if it
/// does by more than overlap_threshold. The others learn that there is nothing, class 0; with a negative_mining_ratio
/// above 0 only so many times the anchors with an object do, those of which cls_pred is least sure that there is
/// nothing, and overlapped by less than negative_mining_thresh.
///
/// anchor (1, anchors, 4), label (batch, objects, 5 or more) with a class and left, top, right and bottom, ended by −1
/// in all five; cls_pred (batch, classes, anchors) before softmax, class 0 for nothing. The outputs: loc_target (batch,
/// 4 · anchors), where the box lies seen from the anchor as _contrib_box_encode says it, over variances; loc_mask, 1
/// where there is one, else 0; cls_target (batch, anchors), the class and 1, 0, or ignore_label, which all anchors of
/// an image without objects learn. Floating types; sparse arrays by the dense fallback. The gradient is 0. Error: other
/// shapes, no anchor or object in them, a class of −1 with another box, too few anchors that may learn that there is
/// nothing.
///
/// Example: of anchors [0, 0, 1, 1] and [2, 2, 3, 3] and a label [1, 0, 0, 1, 1] cls_target is [2, 0].
struct MultiBoxTarget {
  float overlap_threshold = 0.5f, ignore_label = -1, negative_mining_ratio = -1, negative_mining_thresh = 0.5f;
  int minimum_negative_samples = 0;
  Numbers variances = {0.1, 0.1, 0.2, 0.2};

  static constexpr std::string_view name = "_contrib_MultiBoxTarget",
                                    aliases[] = {"MultiBoxTarget", "multi_box_target", "_npx_multibox_target"},
                                    inputs[] = {"anchor", "label", "cls_pred"},
                                    outputs[] = {"loc_target", "loc_mask", "cls_target"};
  static constexpr const char* doc = "The boxes and classes that anchors are to learn, from the objects in images.";
  static constexpr Note notes[] = {
      {"anchor", "(1, anchors, 4): left, top, right, bottom"},
      {"label", "(batch, objects, 5): class, left, top, right, bottom; -1 behind the last"},
      {"cls_pred", "(batch, classes, anchors): what was learnt, before softmax"},
      {"overlap_threshold", "anchors learn what overlaps them by more; 0 or less: one for each object does"},
      {"ignore_label", "the class of anchors that learn nothing"},
      {"negative_mining_ratio", "anchors without an object over those with one; 0 or less: all"},
      {"negative_mining_thresh", "anchors that are overlapped by this or more are not among those"},
      {"minimum_negative_samples", "has no effect"},
      {"variances", "what the numbers of a box are divided by"}};
  static constexpr bool zero_gradient = true;

  template <int = 0>
  constexpr void infer_shape(Shapes& s) const {
    constexpr std::int64_t any = Shape::unknown_extent;
    detail::expect_numbers(s, "variances", variances, 4);
    if (negative_mining_ratio > 0 && !(negative_mining_thresh > 0))
      s.fail("parameter 'negative_mining_thresh' is ", negative_mining_thresh, ", expected more than 0");
    s.set_in(0, {1, any, 4});
    s.set_in(2, {any, any, s.in(0)[1]});
    s.set_in(0, {1, s.in(2)[2], 4});
    s.set_in(1, {s.in(2)[0], any, any});
    s.set_in(2, {s.in(1)[0], any, any});
    const Shape &anchors = s.in(0), &label = s.in(1), &classes = s.in(2);
    if (anchors[1] == 0) s.fail(s.name_in(0), " has shape ", anchors, ", expected one anchor or more");
    if (label[1] == 0 || (label[2] >= 0 && label[2] < 5))
      s.fail(s.name_in(1), " has shape ", label, ", expected one object or more and 5 numbers of each or more");
    if (classes[1] == 0) s.fail(s.name_in(2), " has shape ", classes, ", expected one class or more");
    const std::int64_t numbers = anchors[1] < 0 ? any : detail::checked_product(anchors[1], 4, s.op());
    s.set_out(0, {label[0], numbers});
    s.set_out(1, {label[0], numbers});
    s.set_out(2, {label[0], anchors[1]});
  }
  template <Real E>
  void forward(Cpu&, View<const E, 3> anchors, View<const E, 3> labels, View<const E, 3> predictions,
               View<E, 2> loc_target, View<E, 2> loc_mask, View<E, 2> cls_target) const;

 private:
  /// How many objects each image has.
  template <class E>
  static detail::List<detail::Index> count_objects(View<const E, 3> labels);
  /// Class 0 for the anchors without an object that are to learn it.
  template <class E>
  void mine(const detail::AnchorObjects<E>& object, const E* predictions, std::int64_t classes, E* to) const;
};

inline constexpr Op<MultiBoxTarget, OnUse> multi_box_target;

using MultiBoxTargetOps = OpList<MultiBoxTarget>;

}  // namespace strop::inline v0

#if !defined(STROP_OPERATORS_COMPILED) || defined(__CUDACC__)
#include <strop/ops/vision/multibox_target_body.hpp>
#endif
