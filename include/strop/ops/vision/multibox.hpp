// SPDX-License-Identifier: Apache-2.0
/// \file
/// Detectors of one pass: _contrib_MultiBoxPrior lays anchors over an image, _contrib_MultiBoxDetection makes boxes of
/// what they have learnt. What they are to learn says multibox_target.hpp.
#pragma once
#include <strop/core/checked.hpp>
#include <strop/core/list.hpp>
#include <strop/core/numbers.hpp>
#include <strop/engine/pool.hpp>
#include <strop/op/op.hpp>
#include <strop/ops/list.hpp>
#include <strop/ops/vision/box_targets.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string_view>

namespace strop::inline v0 {

namespace detail {

constexpr void expect_numbers(const Shapes& s, std::string_view parameter, const Numbers& numbers, int count) {
  if (numbers.count() != count)
    s.fail("parameter '", parameter, "' is ", print_numbers(numbers.list), ", expected ", count, " numbers");
}

inline namespace STROP_ISA {

/// Numbers as CentredBox::at takes them, of such as were divided by these.
template <class E>
CentredBox<E> times(const E* numbers, const Numbers& variances) {
  const auto by = [&](int k) { return numbers[k] * static_cast<E>(variances[k]); };
  return {by(0), by(1), by(2), by(3)};
}

/// Boxes and their classes, in blocks that the processor compares with another box at once.
template <class E>
class KeptBoxes {
 public:
  void add(const Box<E>& box, E of) {
    const Index at = size_++ % block;
    if (at == 0) blocks_.push_back({});  // boxes without an area, which overlap nothing
    Block& to = blocks_.back();
    to.left[at] = box.left, to.top[at] = box.top, to.right[at] = box.right, to.bottom[at] = box.bottom;
    to.area[at] = box.area();
    to.of[at] = of;
  }
  /// Whether one of them, of that class or of any, overlaps the box by `threshold` or more, which is above 0.
  bool any_covers(const Box<E>& box, E of, bool of_any, E threshold) const {
    const E area = box.area();
    for (const Block& b : blocks_) {
      int covers = 0;
      for (Index k = 0; k < block; ++k) {
        const E width = std::max(E(0), std::min(b.right[k], box.right) - std::max(b.left[k], box.left)),
                height = std::max(E(0), std::min(b.bottom[k], box.bottom) - std::max(b.top[k], box.top)),
                common = width * height;
        covers |= int{common / (b.area[k] + area - common) >= threshold} & (int{b.of[k] == of} | int{of_any});
      }
      if (covers != 0) return true;
    }
    return false;
  }

 private:
  static constexpr Index block = 16;
  struct Block {
    E left[block], top[block], right[block], bottom[block], area[block], of[block];
  };
  List<Block> blocks_;
  Index size_ = 0;
};

}  // namespace STROP_ISA
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
  void forward(Cpu&, View<const E> x, View<E, 3> y) const {
    const std::int64_t rows = x.shape()[2], columns = x.shape()[3];
    const bool stated = steps[0] > 0 && steps[1] > 0;
    const E step_down = stated ? static_cast<E>(steps[0]) : E(1) / static_cast<E>(rows),
            step_along = stated ? static_cast<E>(steps[1]) : E(1) / static_cast<E>(columns);
    detail::List<E> halves;  // of each box of a place: half of the width and of the height
    const auto add = [&](double size_of, double ratio_of) {
      const E size = static_cast<E>(size_of), ratio = std::sqrt(static_cast<E>(ratio_of));
      halves.push_back(size * static_cast<E>(rows) / static_cast<E>(columns) * ratio / 2);
      halves.push_back(size / ratio / 2);
    };
    for (const double size : sizes) add(size, ratios[0]);
    for (int k = 1; k < ratios.count(); ++k) add(sizes[0], ratios[k]);
    const auto cut = [&](E at) { return clip ? (at < E(0) ? E(0) : at > E(1) ? E(1) : at) : at; };
    parallel_for(rows * columns, 1 << 8, [&](std::int64_t begin, std::int64_t end) {
      E* to = y.data() + begin * boxes() * 4;
      for (std::int64_t place = begin; place < end; ++place) {
        const std::int64_t row = place / columns;
        const E down = (static_cast<E>(row) + static_cast<E>(offsets[0])) * step_down,
                along = (static_cast<E>(place % columns) + static_cast<E>(offsets[1])) * step_along;
        for (detail::Index k = 0; k < halves.size(); k += 2, to += 4) {
          to[0] = cut(along - halves[k]);
          to[1] = cut(down - halves[k + 1]);
          to[2] = cut(along + halves[k]);
          to[3] = cut(down + halves[k + 1]);
        }
      }
    });
  }

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
               View<E, 3> y) const {
    const std::int64_t count = anchors.shape()[1], classes = probabilities.shape()[1];
    std::fill(y.begin(), y.end(), E(-1));
    parallel_for(y.shape()[0], 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t n = begin; n < end; ++n) {
        E* const rows = y.data() + n * count * 6;
        const std::int64_t boxes = put_boxes(probabilities.data() + n * classes * count, classes,
                                             locations.data() + n * count * 4, anchors.data(), count, rows);
        if (nms_threshold > 0 && nms_threshold <= 1) suppress(rows, boxes);
      }
    });
  }

 private:
  /// Writes the boxes of an image in the order of the anchors, and says how many there are.
  template <class E>
  std::int64_t put_boxes(const E* probabilities, std::int64_t classes, const E* locations, const E* anchors,
                         std::int64_t count, E* rows) const {
    detail::List<E> best(count, E(-1));
    detail::List<std::int64_t> found(count, 0);
    for (std::int64_t c = 1; c < classes; ++c)
      for (std::int64_t j = 0; j < count; ++j)
        if (const E probability = probabilities[c * count + j]; probability > best[j])
          best[j] = probability, found[j] = c;
    const auto cut = [&](E at) { return clip ? std::max(E(0), std::min(E(1), at)) : at; };
    std::int64_t boxes = 0;
    for (std::int64_t j = 0; j < count; ++j) {
      if (found[j] == 0 || best[j] < static_cast<E>(threshold)) continue;
      const auto box = detail::CentredBox<E>::from(anchors + j * 4, BoxFormat::corner)
                           .at(detail::times(locations + j * 4, variances));
      E* const to = rows + boxes++ * 6;
      to[0] = static_cast<E>(found[j] - 1);
      to[1] = best[j];
      to[2] = cut(box.left), to[3] = cut(box.top), to[4] = cut(box.right), to[5] = cut(box.bottom);
    }
    return boxes;
  }
  /// Puts the best boxes first and marks those that give way.
  template <class E>
  void suppress(E* rows, std::int64_t boxes) const {
    const detail::List<E> before(detail::Span<const E>(rows, boxes * 6));
    detail::List<std::int64_t> order(boxes);
    for (std::int64_t i = 0; i < boxes; ++i) order[i] = i;
    std::sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {  // of equal ones the first anchor's
      const E one = before[a * 6 + 1], other = before[b * 6 + 1];
      return one > other || (one == other && a < b);
    });
    const std::int64_t most = nms_topk > 0 ? std::min<std::int64_t>(nms_topk, boxes) : boxes;
    detail::KeptBoxes<E> kept;
    for (std::int64_t i = 0; i < most; ++i) {
      E* const row = rows + i * 6;
      std::copy_n(before.data() + order[i] * 6, 6, row);
      const auto box = detail::Box<E>::from(row + 2, BoxFormat::corner);
      if (kept.any_covers(box, row[0], force_suppress, static_cast<E>(nms_threshold)))
        row[0] = -1;
      else
        kept.add(box, row[0]);
    }
    for (std::int64_t i = most; i < boxes; ++i) rows[i * 6] = -1;
  }
};

inline constexpr Op<MultiBoxPrior, OnUse> multi_box_prior;
inline constexpr Op<MultiBoxDetection, OnUse> multi_box_detection;

using MultiBoxOps = OpList<MultiBoxPrior, MultiBoxDetection>;

}  // namespace strop::inline v0
