// SPDX-License-Identifier: Apache-2.0
/// \file
/// Bodies of the operators of ops/vision/multibox.hpp, which only what builds their kernels reads.
#pragma once
#include <strop/core/list.hpp>
#include <strop/engine/pool.hpp>
#include <strop/ops/vision/box_targets.hpp>
#include <strop/ops/vision/box_targets_body.hpp>
#include <strop/ops/vision/multibox.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace strop::inline v0 {

namespace detail {

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

template <Real E>
inline void MultiBoxPrior::forward(Cpu&, View<const E> x, View<E, 3> y) const {
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

template <Real E>
inline void MultiBoxDetection::forward(Cpu&, View<const E, 3> probabilities, View<const E, 2> locations,
                                       View<const E, 3> anchors, View<E, 3> y) const {
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

template <class E>
inline std::int64_t MultiBoxDetection::put_boxes(const E* probabilities, std::int64_t classes, const E* locations,
                                                 const E* anchors, std::int64_t count, E* rows) const {
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
    const auto box =
        detail::CentredBox<E>::from(anchors + j * 4, BoxFormat::corner).at(detail::times(locations + j * 4, variances));
    E* const to = rows + boxes++ * 6;
    to[0] = static_cast<E>(found[j] - 1);
    to[1] = best[j];
    to[2] = cut(box.left), to[3] = cut(box.top), to[4] = cut(box.right), to[5] = cut(box.bottom);
  }
  return boxes;
}

template <class E>
inline void MultiBoxDetection::suppress(E* rows, std::int64_t boxes) const {
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

}  // namespace strop::inline v0
