// SPDX-License-Identifier: Apache-2.0
/// \file
/// _contrib_MultiBoxTarget: what the anchors of a detector are to learn of the objects in images.
#pragma once
#include <strop/core/checked.hpp>
#include <strop/core/list.hpp>
#include <strop/core/numbers.hpp>
#include <strop/engine/pool.hpp>
#include <strop/op/op.hpp>
#include <strop/ops/list.hpp>
#include <strop/ops/vision/multibox.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string_view>

namespace strop::inline v0 {

namespace detail {
inline namespace STROP_ISA {

/// Which object of an image each anchor is to learn.
template <class E>
class AnchorObjects {
 public:
  static constexpr Index nobody = -1;

  /// Objects are rows of `width` numbers, of which the first is a class and the next four are a box.
  AnchorObjects(View<const E, 3> anchors, const E* objects, Index count, Index width)
      : anchors_(anchors.data()),
        objects_(objects),
        count_(count),
        width_(width),
        object_(anchors.shape()[1], nobody),
        nearest_(object_.size()) {
    for (Index j = 0; j < size(); ++j)
      for (Index k = 0; k < count_; ++k)
        if (const E covered = overlap(j, k); k == 0 || covered > nearest_[j].overlap) nearest_[j] = {k, covered};
  }
  Index size() const { return object_.size(); }
  /// The object of an anchor, or nobody.
  Index operator[](Index anchor) const { return object_[anchor]; }
  /// How far any object overlaps the anchor.
  E most_overlap(Index anchor) const { return nearest_[anchor].overlap; }
  /// How many anchors have an object.
  Index matched() const { return matched_; }

  /// Each object is given to an anchor that it overlaps, the pair first that overlaps most; of equal ones the first
  /// anchor's.
  void match_objects() {
    List<Nearest> best(count_);  // of each object the anchor, among those that have none
    for (Index k = 0; k < count_; ++k) best[k] = free_anchor(k);
    while (true) {
      Index next = nobody;
      for (Index k = 0; k < count_; ++k)
        if (best[k].at != nobody && (next == nobody || best[k].before(best[next]))) next = k;
      if (next == nobody) return;
      const Index anchor = best[next].at;
      match(anchor, next);
      best[next].at = nobody;
      for (Index k = 0; k < count_; ++k)
        if (best[k].at == anchor) best[k] = free_anchor(k);
    }
  }
  /// Anchors that have none are given the object that overlaps them most, if it does by more than `threshold`.
  void match_anchors(E threshold) {
    for (Index j = 0; j < size(); ++j)
      if (object_[j] == nobody && nearest_[j].overlap > threshold) match(j, nearest_[j].at);
  }

 private:
  struct Nearest {
    Index at = nobody;
    E overlap = 0;

    bool before(const Nearest& other) const {
      return overlap > other.overlap || (overlap == other.overlap && at < other.at);
    }
  };
  E overlap(Index anchor, Index object) const {
    return Box<E>::from(anchors_ + anchor * 4, BoxFormat::corner)
        .overlap(Box<E>::from(objects_ + object * width_ + 1, BoxFormat::corner));
  }
  Nearest free_anchor(Index object) const {
    Nearest best{nobody, static_cast<E>(1e-6f)};  // what overlaps less does not overlap
    for (Index j = 0; j < size(); ++j)
      if (object_[j] == nobody)
        if (const E covered = overlap(j, object); covered > best.overlap) best = {j, covered};
    return best;
  }
  void match(Index anchor, Index object) {
    object_[anchor] = object;
    ++matched_;
  }

  const E *anchors_, *objects_;
  Index count_, width_, matched_ = 0;
  List<Index> object_;
  List<Nearest> nearest_;  // of each anchor the object
};

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
               View<E, 2> loc_target, View<E, 2> loc_mask, View<E, 2> cls_target) const {
    using detail::Index, detail::CentredBox;
    const Index batch = labels.shape()[0], most = labels.shape()[1], width = labels.shape()[2];
    const Index count = anchors.shape()[1];
    std::fill(loc_target.begin(), loc_target.end(), E(0));
    std::fill(loc_mask.begin(), loc_mask.end(), E(0));
    std::fill(cls_target.begin(), cls_target.end(), static_cast<E>(ignore_label));
    const detail::List<Index> objects = count_objects(labels);
    parallel_for(batch, 1, [&, this](std::int64_t begin, std::int64_t end) {
      for (std::int64_t n = begin; n < end; ++n) {
        if (objects[n] == 0) continue;
        const E* const rows = labels.data() + n * most * width;
        detail::AnchorObjects<E> object(anchors, rows, objects[n], width);
        object.match_objects();
        if (overlap_threshold > 0) object.match_anchors(static_cast<E>(overlap_threshold));
        E* const classes = cls_target.data() + n * count;
        if (negative_mining_ratio > 0)
          mine(object, predictions.data() + n * predictions.shape()[1] * count, predictions.shape()[1], classes);
        else
          std::fill_n(classes, count, E(0));
        for (Index j = 0; j < count; ++j) {
          if (object[j] == object.nobody) continue;
          const E* const row = rows + object[j] * width;
          const auto seen = CentredBox<E>::from(anchors.data() + j * 4, BoxFormat::corner)
                                .seen(CentredBox<E>::from(row + 1, BoxFormat::corner));
          const E numbers[] = {seen.x, seen.y, seen.width, seen.height};
          E* const to = loc_target.data() + (n * count + j) * 4;
          for (int k = 0; k < 4; ++k) to[k] = numbers[k] / static_cast<E>(variances[k]);
          std::fill_n(loc_mask.data() + (n * count + j) * 4, 4, E(1));
          classes[j] = row[0] + 1;
        }
      }
    });
  }

 private:
  /// How many objects each image has.
  template <class E>
  static detail::List<detail::Index> count_objects(View<const E, 3> labels) {
    const auto [batch, most, width] = labels.shape();
    detail::List<detail::Index> counts(batch);
    for (std::int64_t n = 0; n < batch; ++n)
      for (; counts[n] < most; ++counts[n]) {
        const E* const row = labels.data() + (n * most + counts[n]) * width;
        if (row[0] != E(-1)) continue;
        if (std::any_of(row + 1, row + 5, [](E x) { return x != E(-1); }))
          fail("_contrib_multi_box_target: row ", counts[n], " of the labels of image ", n,
               " has class -1, which ends them, and a box");
        break;
      }
    return counts;
  }
  /// Class 0 for the anchors without an object that are to learn it.
  template <class E>
  void mine(const detail::AnchorObjects<E>& object, const E* predictions, std::int64_t classes, E* to) const {
    const detail::Index count = object.size();
    const float wanted = static_cast<float>(object.matched()) * negative_mining_ratio;
    const detail::Index left = count - object.matched(),
                        most = wanted < static_cast<float>(left) ? static_cast<detail::Index>(wanted) : left;
    if (most == 0) return;
    struct Candidate {
      E nothing;  // the probability of class 0
      detail::Index anchor;
    };
    detail::List<Candidate> candidates;
    for (detail::Index j = 0; j < count; ++j) {
      if (object[j] != object.nobody || !(object.most_overlap(j) < static_cast<E>(negative_mining_thresh))) continue;
      E greatest = predictions[j], total = 0;
      for (std::int64_t c = 1; c < classes; ++c) greatest = std::max(greatest, predictions[c * count + j]);
      for (std::int64_t c = 0; c < classes; ++c) total += std::exp(predictions[c * count + j] - greatest);
      const E nothing = std::exp(predictions[j] - greatest) / total;
      candidates.push_back({nothing >= E(0) ? nothing : E(-1), j});  // what is no number has no order
    }
    if (candidates.size() < most)
      fail("_contrib_multi_box_target: an image has fewer anchors for class 0 than negative_mining_ratio asks for");
    std::partial_sort(candidates.begin(), candidates.begin() + most, candidates.end(),
                      [](const Candidate& a, const Candidate& b) {
                        return a.nothing < b.nothing || (a.nothing == b.nothing && a.anchor < b.anchor);
                      });
    for (detail::Index k = 0; k < most; ++k) to[candidates[k].anchor] = 0;
  }
};

inline constexpr Op<MultiBoxTarget, OnUse> multi_box_target;

using MultiBoxTargetOps = OpList<MultiBoxTarget>;

}  // namespace strop::inline v0
