// SPDX-License-Identifier: Apache-2.0
/// \file
/// Detectors of one pass: _contrib_MultiBoxPrior lays anchors over an image, _contrib_MultiBoxDetection makes boxes of
/// what they have learnt. What they are to learn says multibox_target.hpp.
#pragma once
#include <strop/core/checked.hpp>
#include <strop/core/numbers.hpp>
#include <strop/op/op.hpp>
#include <strop/ops/list.hpp>

#include <cstdint>
#include <string_view>

namespace strop::inline v0 {

namespace detail {

template <int = 0>
constexpr void expect_numbers(const Shapes& s, std::string_view parameter, const Numbers& numbers, int count) {
  if (numbers.count() != count)
    s.fail("parameter '", parameter, "' is ", print_numbers(numbers.list), ", expected ", count, " numbers");
}

}  // namespace detail

/// _contrib_MultiBoxPrior: boxes around each place of an image, one for each of `sizes` with the first of `ratios`,
/// then one for each further ratio with the first size; the places row by row. Positions are parts of the image.
///
/// data (batch, channels, rows, columns, …), of which nothing but the shape counts; the result is (1, rows · columns ·
/// boxes, 4) with left, top, right and bottom: a size is the height of a box of ratio 1, a ratio the width over the
/// height, both as pixels have them. Without steps, or where one of them is 0 or less, places are 1 / rows and 1 /
/// columns apart. Floating types; sparse arrays by the dense fallback. The gradient is 0. Error: fewer than 4
/// dimensions, no rows or columns, no sizes or ratios, steps of different signs, offsets beyond 0 to 1.
///
/// Example: `multi_box_prior(zeros({1, 1, 1, 2}), {.sizes = {0.5}})` is [[[0.125, 0.25, 0.375, 0.75], [0.625, 0.25,
/// 0.875, 0.75]]].
struct MultiBoxPrior {
  Numbers sizes = {1}, ratios = {1};
  bool clip = false;
  Numbers steps = {-1, -1}, offsets = {0.5, 0.5};

  static constexpr std::string_view name = "_contrib_MultiBoxPrior",
                                    aliases[] = {"MultiBoxPrior", "multi_box_prior", "_npx_multibox_prior"};
  static constexpr const char* doc = "Anchors, boxes of several sizes and ratios around each place of an image.";
  static constexpr Note notes[] = {{"data", "(batch, channels, rows, columns): its shape counts"},
                                   {"sizes", "heights of boxes whose ratio is 1"},
                                   {"ratios", "widths over heights: the first of all sizes, others of the first size"},
                                   {"clip", "boxes end where the image does"},
                                   {"steps", "from place to place, down and along; 0 or less: as data has them"},
                                   {"offsets", "where in a step a place is, down and along"}};
  static constexpr bool zero_gradient = true;

  template <int = 0>
  constexpr void infer_shape(Shapes& s) const {
    const auto expect = [&](bool holds, std::string_view parameter, const Numbers& numbers, std::string_view what) {
      if (!holds) s.fail("parameter '", parameter, "' is ", detail::print_numbers(numbers.list), ", expected ", what);
    };
    expect(sizes.count() > 0, "sizes", sizes, "a number or more");
    expect(ratios.count() > 0, "ratios", ratios, "a number or more");
    detail::expect_numbers(s, "steps", steps, 2);
    expect(steps[0] * steps[1] >= 0, "steps", steps, "numbers of one sign");
    detail::expect_numbers(s, "offsets", offsets, 2);
    for (int k = 0; k < 2; ++k) expect(offsets[k] >= 0 && offsets[k] <= 1, "offsets", offsets, "numbers from 0 to 1");
    const Shape& x = s.in(0);
    std::int64_t count = Shape::unknown_extent;
    if (x.has_rank()) {
      if (x.ndim() < 4 || x[2] == 0 || x[3] == 0)
        s.fail(s.name_in(0), " has shape ", x, ", expected (batch, channels, rows, columns) with a place or more");
      if (x[2] > 0 && x[3] > 0)
        count = detail::checked_product(detail::checked_product(x[2], x[3], s.op()), boxes(), s.op());
    }
    s.set_out(0, {1, count, 4});
  }
  template <Real E>
  void forward(Cpu&, View<const E> x, View<E, 3> y) const;

 private:
  /// How many boxes a place has.
  constexpr std::int64_t boxes() const { return std::int64_t{sizes.count()} + ratios.count() - 1; }
};

/// _contrib_MultiBoxDetection: the boxes that anchors see, best first. An anchor's class is the most probable one but
/// class 0, nothing, and it sees a box where that probability is `threshold` or more. A box gives way to better ones of
/// its class, with `force_suppress` of any, that overlap it by nms_threshold or more.
///
/// cls_prob (batch, classes, anchors), loc_pred (batch, 4 · anchors) as _contrib_MultiBoxTarget gives loc_target,
/// anchor (1, anchors, 4); the result is (batch, anchors, 6): a class, counted without class 0, the probability, left,
/// top, right and bottom. A box that gives way has class −1, and so have those behind the nms_topk best, which stand as
/// anchors do, as in MXNet; rows behind the boxes are −1. An nms_threshold of 0 or less or above 1 leaves all boxes as
/// anchors stand. Floating types; sparse arrays by the dense fallback. The gradient is 0. Error: other shapes, no
/// anchor.
///
/// Example: `multi_box_detection(array({{{0.2}, {0.8}}}), zeros({1, 4}), array({{{0, 0, 0.5, 1}}}))` is [[[0, 0.8, 0,
/// 0, 0.5, 1]]].
struct MultiBoxDetection {
  bool clip = true;
  float threshold = 0.01f;
  int background_id = 0;
  float nms_threshold = 0.5f;
  bool force_suppress = false;
  Numbers variances = {0.1, 0.1, 0.2, 0.2};
  int nms_topk = -1;

  static constexpr std::string_view name = "_contrib_MultiBoxDetection",
                                    aliases[] = {"MultiBoxDetection", "multi_box_detection", "_npx_multibox_detection"},
                                    inputs[] = {"cls_prob", "loc_pred", "anchor"};
  static constexpr const char* doc =
      "What anchors see in an image: of each box its class, its probability and its corners, better ones first.";
  static constexpr Note notes[] = {{"cls_prob", "(batch, classes, anchors): probabilities; class 0 is nothing"},
                                   {"loc_pred", "(batch, 4 * anchors): where boxes lie, seen from the anchors"},
                                   {"anchor", "(1, anchors, 4): left, top, right, bottom"},
                                   {"clip", "boxes end where the image does, at 0 and 1"},
                                   {"threshold", "the least probability of a box"},
                                   {"background_id", "has no effect: class 0 is nothing"},
                                   {"nms_threshold", "how far boxes of a class may overlap not quite"},
                                   {"force_suppress", "boxes of other classes count as well"},
                                   {"variances", "what the numbers of a box are multiplied by"},
                                   {"nms_topk", "how many of the best boxes count; 0 or less: all"}};
  static constexpr bool zero_gradient = true;

  template <int = 0>
  constexpr void infer_shape(Shapes& s) const {
    constexpr std::int64_t any = Shape::unknown_extent;
    detail::expect_numbers(s, "variances", variances, 4);
    s.set_in(0, {any, any, any});
    s.set_in(2, {1, s.in(0)[2], 4});
    s.set_in(0, {any, any, s.in(2)[1]});
    const std::int64_t anchors = s.in(2)[1];
    if (anchors == 0) s.fail(s.name_in(2), " has shape ", s.in(2), ", expected one anchor or more");
    s.set_in(1, {s.in(0)[0], anchors < 0 ? any : detail::checked_product(anchors, 4, s.op())});
    s.set_in(0, {s.in(1)[0], any, any});
    s.set_out(0, {s.in(0)[0], anchors, 6});
  }
  template <Real E>
  void forward(Cpu&, View<const E, 3> probabilities, View<const E, 2> locations, View<const E, 3> anchors,
               View<E, 3> y) const;

 private:
  /// Writes the boxes of an image in the order of the anchors, and says how many there are.
  template <class E>
  std::int64_t put_boxes(const E* probabilities, std::int64_t classes, const E* locations, const E* anchors,
                         std::int64_t count, E* rows) const;
  /// Puts the best boxes first and marks those that give way.
  template <class E>
  void suppress(E* rows, std::int64_t boxes) const;
};

inline constexpr Op<MultiBoxPrior, OnUse> multi_box_prior;
inline constexpr Op<MultiBoxDetection, OnUse> multi_box_detection;

using MultiBoxOps = OpList<MultiBoxPrior, MultiBoxDetection>;

}  // namespace strop::inline v0

#if !defined(STROP_OPERATORS_COMPILED) || defined(__CUDACC__)
#include <strop/ops/vision/multibox_body.hpp>
#endif
