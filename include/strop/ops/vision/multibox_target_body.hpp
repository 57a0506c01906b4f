// SPDX-License-Identifier: Apache-2.0
/// \file
/// Bodies of the operators of ops/vision/multibox_target.hpp, which only what builds their kernels reads.
#pragma once
#include <strop/engine/pool.hpp>
#include <strop/ops/vision/multibox_target.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>

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

template <Real E>
inline void MultiBoxTarget::forward(Cpu&, View<const E, 3> anchors, View<const E, 3> labels,
                                    View<const E, 3> predictions, View<E, 2> loc_target, View<E, 2> loc_mask,
                                    View<E, 2> cls_target) const {
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

template <class E>
inline detail::List<detail::Index> MultiBoxTarget::count_objects(View<const E, 3> labels) {
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

template <class E>
inline void MultiBoxTarget::mine(const detail::AnchorObjects<E>& object, const E* predictions, std::int64_t classes,
                                 E* to) const {
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
    candidates.push_back({nothing >= E(0) ? nothing : E(-1), j});  // NaN has no order
  }
  if (candidates.size() < most)
    fail("_contrib_multi_box_target: an image has fewer anchors for class 0 than negative_mining_ratio asks for");
  std::partial_sort(candidates.begin(), candidates.begin() + most, candidates.end(),
                    [](const Candidate& a, const Candidate& b) {
                      return a.nothing < b.nothing || (a.nothing == b.nothing && a.anchor < b.anchor);
                    });
  for (detail::Index k = 0; k < most; ++k) to[candidates[k].anchor] = 0;
}

}  // namespace strop::inline v0
