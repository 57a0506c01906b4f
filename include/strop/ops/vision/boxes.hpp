// SPDX-License-Identifier: Apache-2.0
/// \file
/// Boxes in images: _contrib_box_iou, how far they overlap; _contrib_box_nms, those that no better one overlaps.
#pragma once
#include <strop/op/op.hpp>
#include <strop/ops/list.hpp>

#include <cstdint>
#include <string_view>

namespace strop::inline v0 {

/// What the four numbers of a box are: corner: left, top, right, bottom; center: the centre (x, y), width and height.
enum class BoxFormat : int { corner, center };

/// _contrib_box_iou: the area that two boxes share over that which they cover together, for each box of lhs with each
/// of rhs.
///
/// lhs (…, 4), rhs (…, 4), of one dimension or more; the result has the shape of lhs without its last axis, followed by
/// that of rhs without its own. A box without an area shares none. Floating types; sparse arrays by the dense fallback.
/// The gradient is 0, as in MXNet. Error: a last axis other than 4.
///
/// Example: `box_iou(array({{0, 0, 2, 2}}), array({{0, 0, 1, 1}}))` is [[0.25]].
struct BoxIou {
  BoxFormat format = BoxFormat::corner;

  static constexpr std::string_view name = "_contrib_box_iou", aliases[] = {"box_iou"}, inputs[] = {"lhs", "rhs"};
  static constexpr const char* doc = "The area that two boxes share over that of both, for all pairs.";
  static constexpr Note notes[] = {{"format", "corner: left, top, right, bottom; center: x, y, width, height"}};
  static constexpr bool zero_gradient = true;

  template <int = 0>
  constexpr void infer_shape(Shapes& s) const {
    Shape out;
    bool known = true;
    for (int i = 0; i < 2; ++i) {
      const Shape& x = s.in(i);
      known = known && x.has_rank();
      if (!x.has_rank()) continue;
      if (x.ndim() == 0 || (x.back() >= 0 && x.back() != 4))
        s.fail(s.name_in(i), " has shape ", x, ", expected (..., 4)");
      for (int axis = 0; axis + 1 < x.ndim(); ++axis) out.push_back(x[axis]);
    }
    if (known) s.set_out(0, out);
  }
  template <Real E>
  void forward(Cpu&, View<const E> lhs, View<const E> rhs, View<E> y) const;
};

/// _contrib_box_nms: the boxes, best first, that overlap no better one by more than overlap_thresh.
///
/// data (…, boxes, numbers): a row has four coordinates from coord_start on, a score at score_index and, with an
/// id_index of 0 or more, a class there. Rows with a score of valid_thresh or less, or of class background_id, do not
/// count, nor do those behind the topk best; a topk below 0 is all, and of 0 the result is data, as in MXNet. With
/// classes a box gives way to those of its own only, unless `force_suppress`. The result has the shape of data: the
/// rows that stay, in out_format, then rows of −1. Floating types; sparse arrays by the dense fallback. The gradient of
/// a row that stays is that of its place in the result; it needs data, not the hidden output of MXNet. Error: fewer
/// than 2 dimensions, an index outside a row, two for the same number of a row.
///
/// Example: `box_nms(array({{0, 0.5, 0, 0, 1, 1}, {0, 0.9, 0, 0, 1, 1}}))` is [[0, 0.9, 0, 0, 1, 1], [−1, −1, −1, −1,
/// −1, −1]].
struct BoxNms {
  float overlap_thresh = 0.5f, valid_thresh = 0;
  int topk = -1, coord_start = 2, score_index = 1, id_index = -1, background_id = -1;
  bool force_suppress = false;
  BoxFormat in_format = BoxFormat::corner, out_format = BoxFormat::corner;

  static constexpr std::string_view name = "_contrib_box_nms",
                                    aliases[] = {"box_nms", "_contrib_box_non_maximum_suppression"};
  static constexpr const char* doc = "The boxes that no better one overlaps too far, best first, and rows of -1.";
  static constexpr Note notes[] = {{"overlap_thresh", "how far boxes may overlap: shared area over that of both"},
                                   {"valid_thresh", "scores that are not above it do not count"},
                                   {"topk", "how many of the best boxes count; below 0: all; 0: the result is data"},
                                   {"coord_start", "where the four coordinates of a row begin"},
                                   {"score_index", "where its score is"},
                                   {"id_index", "where its class is; below 0: there are no classes"},
                                   {"background_id", "the class of no object, which does not count"},
                                   {"force_suppress", "boxes of other classes count as well"},
                                   {"in_format", "the coordinates of data: corners, or centre, width and height"},
                                   {"out_format", "those of the result"}};

  template <int = 0>
  constexpr void infer_shape(Shapes& s) const {
    s.set_out(0, s.in(0));
    s.set_in(0, s.out(0));
    if (id_index >= 0 && id_index == score_index) s.fail("id_index and score_index are both ", id_index);
    const auto expect_beside_coordinates = [&](std::string_view parameter, int index) {
      if (index >= coord_start && index - coord_start < 4)
        s.fail(parameter, " is ", index, ", where a coordinate is: coord_start is ", coord_start);
    };
    expect_beside_coordinates("score_index", score_index);
    if (id_index >= 0) expect_beside_coordinates("id_index", id_index);
    const Shape& x = s.in(0);
    if (!x.has_rank()) return;
    if (x.ndim() < 2) s.fail(s.name_in(0), " has shape ", x, ", expected 2 dimensions or more");
    if (x.back() < 0) return;
    const auto expect = [&](std::string_view parameter, std::int64_t index, std::int64_t numbers) {
      if (index < 0 || index > x.back() - numbers)
        s.fail(parameter, " is ", index, ", and rows of ", s.name_in(0), " have ", x.back(), " numbers");
    };
    expect("coord_start", coord_start, 4);
    expect("score_index", score_index, 1);
    if (id_index >= 0) expect("id_index", id_index, 1);
  }
  template <Real E>
  void forward(Cpu&, View<const E> x, View<E> y) const;
  template <Real E>
  void grad_use_in(Cpu&, View<const E> dy, View<const E> x, View<E> dx) const;

 private:
  /// f(row of data, row of the result) for each box that stays.
  template <class E, class F>
  void each_kept(View<const E> x, F f) const;
};

inline constexpr Op<BoxIou, OnUse> box_iou;
inline constexpr Op<BoxNms, OnUse> box_nms;

using BoxOps = OpList<BoxIou, BoxNms>;

}  // namespace strop::inline v0

#if !defined(STROP_OPERATORS_COMPILED) || defined(__CUDACC__)
#include <strop/ops/vision/boxes_body.hpp>
#endif
