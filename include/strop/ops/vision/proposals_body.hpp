// SPDX-License-Identifier: Apache-2.0
/// \file
/// Bodies of the operators of ops/vision/proposals.hpp, which only what builds their kernels reads.
#pragma once
#include <strop/core/list.hpp>
#include <strop/engine/pool.hpp>
#include <strop/ops/vision/proposals.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <string_view>

namespace strop::inline v0 {

namespace detail {

inline namespace STROP_ISA {

/// A box of whole pixels, so that right − left + 1 of them are beside each other.
template <class E>
struct PixelBox {
  E left = 0, top = 0, right = 0, bottom = 0;

  E width() const { return right - left + 1; }
  E height() const { return bottom - top + 1; }
  /// Shared pixels over those of both, of boxes that have these many.
  E overlap(E area, const PixelBox& with, E with_area) const {
    const E wide = std::max(E(0), std::min(right, with.right) - std::max(left, with.left) + 1),
            high = std::max(E(0), std::min(bottom, with.bottom) - std::max(top, with.top) + 1);
    return wide * high / (area + with_area - wide * high);
  }
};

/// The anchors around the first cell: for each ratio those of all scales.
template <class E>
List<PixelBox<E>> make_anchors(const Numbers& ratios, const Numbers& scales, int stride) {
  List<PixelBox<E>> anchors;
  const E cell = static_cast<E>(stride), middle = (cell - 1) / 2;
  for (const double given : ratios)
    for (const double times : scales) {
      const E ratio = static_cast<E>(given), scale = static_cast<E>(times);
      const E wide = std::floor(std::sqrt(std::floor(cell * cell / ratio)) + E(0.5)) * scale,
              high = std::floor(wide / scale * ratio + E(0.5)) * scale;
      const E half_width = (wide - 1) / 2, half_height = (high - 1) / 2;
      anchors.push_back({middle - half_width, middle - half_height, middle + half_width, middle + half_height});
    }
  return anchors;
}

/// The boxes of one image.
template <class E>
class ImageProposals {
 public:
  ImageProposals(std::int64_t rows, std::int64_t columns, Span<const PixelBox<E>> anchors)
      : rows_(rows), columns_(columns), anchors_(anchors) {}

  /// Moves the anchors of each cell by what `shifts`, four planes for each anchor, has for it, and cuts them to an
  /// image of info[0] × info[1] pixels that is info[2] times as large as it was. A score of −1 have boxes of cells
  /// beyond the image, and those that are too small, which are made larger by the least size as well.
  void place(const E* scores, const E* shifts, const E* info, int stride, bool corners, int least) {
    const std::int64_t count = anchors_.size(), cells = rows_ * columns_;
    const E rows = std::trunc(info[0] / static_cast<E>(stride)), columns = std::trunc(info[1] / static_cast<E>(stride)),
            least_size = static_cast<E>(least) * info[2], far_right = info[1] - 1, far_bottom = info[0] - 1;
    boxes_.resize(cells * count);
    scores_.resize(cells * count);
    parallel_for(cells, 1 << 8, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t cell = begin; cell < end; ++cell)
        for (std::int64_t a = 0; a < count; ++a) {
          const std::int64_t row = cell / columns_, column = cell % columns_;
          const E across = static_cast<E>(column), down = static_cast<E>(row), right = across * static_cast<E>(stride),
                  below = down * static_cast<E>(stride);
          const PixelBox<E> anchor{anchors_[a].left + right, anchors_[a].top + below, anchors_[a].right + right,
                                   anchors_[a].bottom + below};
          const E* const by = shifts + 4 * a * cells + cell;
          PixelBox<E> box = corners ? moved(anchor, by, cells) : scaled(anchor, by, cells);
          box = {within(box.left, far_right), within(box.top, far_bottom), within(box.right, far_right),
                 within(box.bottom, far_bottom)};
          E score = scores[a * cells + cell];
          if (down >= rows || across >= columns) score = -1;
          if (box.width() < least_size || box.height() < least_size) {
            const E more = least_size / 2;
            box = {box.left - more, box.top - more, box.right + more, box.bottom + more};
            score = -1;
          }
          boxes_[cell * count + a] = box;
          scores_[cell * count + a] = score;
        }
    });
  }

  /// Of the `looked_at` best boxes the first `wanted` that overlap no better one too far, best first; of equal scores
  /// the first box.
  List<std::int64_t> best(std::int64_t looked_at, std::int64_t wanted, E threshold) const {
    List<std::int64_t> order(boxes_.size());
    std::iota(order.begin(), order.end(), std::int64_t{0});
    const auto above = [](E a, E b) { return a > b || (a == a && b != b); };  // NaN comes last
    const auto before = [&](std::int64_t a, std::int64_t b) {
      return above(scores_[a], scores_[b]) || (!above(scores_[b], scores_[a]) && a < b);
    };
    const std::int64_t count = looked_at > 0 ? std::min<std::int64_t>(looked_at, order.size()) : order.size();
    if (count < order.size()) std::nth_element(order.begin(), order.begin() + count, order.end(), before);
    std::sort(order.begin(), order.begin() + count, before);
    List<PixelBox<E>> boxes(count);
    List<E> areas(count);
    for (std::int64_t i = 0; i < count; ++i) {
      boxes[i] = boxes_[order[i]];
      areas[i] = boxes[i].width() * boxes[i].height();
    }
    List<char> gone(count, 0);
    List<std::int64_t> kept;
    for (std::int64_t i = 0; i < count && kept.size() < wanted; ++i) {
      if (gone[i] != 0) continue;
      kept.push_back(order[i]);
      for (std::int64_t j = i + 1; j < count; ++j)
        gone[j] = static_cast<char>(gone[j] | (boxes[i].overlap(areas[i], boxes[j], areas[j]) > threshold ? 1 : 0));
    }
    return kept;
  }
  const PixelBox<E>& box(std::int64_t k) const { return boxes_[k]; }
  E score(std::int64_t k) const { return scores_[k]; }

 private:
  static E within(E at, E most) { return std::max(std::min(at, most), E(0)); }

  /// Each corner by its own number.
  static PixelBox<E> moved(const PixelBox<E>& anchor, const E* by, std::int64_t apart) {
    return {anchor.left + by[0], anchor.top + by[apart], anchor.right + by[2 * apart], anchor.bottom + by[3 * apart]};
  }
  /// The centre by shares of the extents, the extents by exponentials.
  static PixelBox<E> scaled(const PixelBox<E>& anchor, const E* by, std::int64_t apart) {
    const E wide = anchor.width(), high = anchor.height(), x = by[0] * wide + (anchor.left + (wide - 1) / 2),
            y = by[apart] * high + (anchor.top + (high - 1) / 2);
    const double half_width = (static_cast<double>(std::exp(by[2 * apart]) * wide) - 1) / 2,
                 half_height = (static_cast<double>(std::exp(by[3 * apart]) * high) - 1) / 2;
    const auto edge = [](E middle, double half) { return static_cast<E>(static_cast<double>(middle) + half); };
    return {edge(x, -half_width), edge(y, -half_height), edge(x, half_width), edge(y, half_height)};
  }

  std::int64_t rows_, columns_;
  Span<const PixelBox<E>> anchors_;
  List<PixelBox<E>> boxes_;
  List<E> scores_;
};

/// What both operators do, image by image.
template <class E, class T>
void propose(const T& op, std::string_view name, View<const E, 4> cls_prob, View<const E, 4> bbox_pred,
             View<const E, 2> im_info, View<E, 2> y, View<E, 2> score) {
  const auto [images, channels, rows, columns] = cls_prob.shape();
  const List<PixelBox<E>> anchors = make_anchors<E>(op.ratios, op.scales, op.feature_stride);
  const std::int64_t count = anchors.size(), wanted = op.rpn_post_nms_top_n, plane = rows * columns, height = rows,
                     width = columns;
  for (std::int64_t n = 0; n < images; ++n)
    for (int side = 0; side < 2; ++side) {
      const E covered = std::trunc(im_info[n * 3 + side] / static_cast<E>(op.feature_stride));
      if (const std::int64_t cells = side == 0 ? rows : columns; !(covered <= static_cast<E>(cells)))
        fail(name, ": image ", n, " is ", im_info[n * 3 + side], side == 0 ? " pixels high" : " pixels wide", ", and ",
             cells, " cells of ", op.feature_stride, " are less");
    }
  if (wanted == 0) return;
  parallel_for(images, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t n = begin; n < end; ++n) {
      ImageProposals<E> proposals(height, width, anchors.span());
      // The first half of the channels are the scores of there being nothing.
      proposals.place(cls_prob.data() + (2 * n + 1) * count * plane, bbox_pred.data() + n * 4 * count * plane,
                      im_info.data() + n * 3, op.feature_stride, op.iou_loss, op.rpn_min_size);
      const List<std::int64_t> kept = proposals.best(op.rpn_pre_nms_top_n, wanted, static_cast<E>(op.threshold));
      for (std::int64_t i = 0; i < wanted; ++i) {
        const std::int64_t k = kept[i % kept.size()];
        const PixelBox<E>& box = proposals.box(k);
        E* const to = y.data() + (n * wanted + i) * 5;
        to[0] = static_cast<E>(n);
        to[1] = box.left;
        to[2] = box.top;
        to[3] = box.right;
        to[4] = box.bottom;
        score[n * wanted + i] = proposals.score(k);
      }
    }
  });
}

}  // namespace STROP_ISA

}  // namespace detail

template <Real E>
inline void Proposal::forward(Cpu&, View<const E, 4> cls_prob, View<const E, 4> bbox_pred, View<const E, 2> im_info,
                              View<E, 2> y, View<E, 2> score) const {
  detail::propose(*this, "_contrib_proposal", cls_prob, bbox_pred, im_info, y, score);
}

template <Real E>
inline void MultiProposal::forward(Cpu&, View<const E, 4> cls_prob, View<const E, 4> bbox_pred,
                                   View<const E, 2> im_info, View<E, 2> y, View<E, 2> score) const {
  detail::propose(*this, "_contrib_multi_proposal", cls_prob, bbox_pred, im_info, y, score);
}

}  // namespace strop::inline v0
