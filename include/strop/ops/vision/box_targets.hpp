// SPDX-License-Identifier: Apache-2.0
/// \file
/// Boxes to learn from: _contrib_bipartite_matching gives rows and columns to each other, _contrib_box_encode says
/// where a box lies seen from an anchor, _contrib_box_decode where a box lies of which that is known.
#pragma once
#include <strop/core/list.hpp>
#include <strop/engine/pool.hpp>
#include <strop/op/op.hpp>
#include <strop/ops/list.hpp>
#include <strop/ops/vision/boxes.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string_view>

namespace strop::inline v0 {

namespace detail {
inline namespace STROP_ISA {

/// A box by its centre.
template <class E>
struct CentredBox {
  E x, y, width, height;

  static CentredBox from(const E* b, BoxFormat format) {
    if (format == BoxFormat::center) return {b[0], b[1], b[2], b[3]};
    return {(b[0] + b[2]) / 2, (b[1] + b[3]) / 2, b[2] - b[0], b[3] - b[1]};
  }
  /// How far the centre of another box is away, in extents of this one, and the logarithms of that box's extents in
  /// those.
  CentredBox seen(const CentredBox& other) const {
    return {(other.x - x) / width, (other.y - y) / height, std::log(other.width / width),
            std::log(other.height / height)};
  }
  /// The box that is seen so.
  Box<E> at(const CentredBox& offset) const {
    const E across = offset.x * width + x, down = offset.y * height + y;
    const E half_width = std::exp(offset.width) * width / 2, half_height = std::exp(offset.height) * height / 2;
    return {across - half_width, down - half_height, across + half_width, down + half_height};
  }
};

}  // namespace STROP_ISA
}  // namespace detail

/// _contrib_bipartite_matching: pairs of a row and a column of a matrix of scores, the best score first, each in one
/// pair at most. Of equal scores the first in the matrix comes first; one that is no number makes no pair.
///
/// data (…, N, M); the outputs are (…, N), the column of each row, and (…, M), the row of each column, −1 for none.
/// With topk above 0 there are up to topk + 1 pairs, as in MXNet. Floating types; sparse arrays by the dense fallback.
/// The gradient is 0, as in MXNet. Error: fewer than 2 dimensions.
///
/// Example: `bipartite_matching(array({{0.5, 0.6}, {0.1, 0.2}, {0.3, 0.4}}), {.threshold = 0.0f})` is [1, −1, 0] and
/// [2, 0].
struct BipartiteMatching {
  bool is_ascend = false;
  Required<float> threshold = {};
  int topk = -1;

  static constexpr std::string_view name = "_contrib_bipartite_matching", aliases[] = {"bipartite_matching"},
                                    outputs[] = {"output0", "output1"};
  static constexpr const char* doc =
      "Pairs of rows and columns of a matrix of scores, best first: the column of each row, the row of each column.";
  static constexpr Note notes[] = {{"is_ascend", "the least scores are the best"},
                                   {"threshold", "scores that are not better than it make no pair"},
                                   {"topk", "above 0: so many pairs and one more are made at most"}};
  static constexpr bool zero_gradient = true;

  constexpr void infer_shape(Shapes& s) const {
    const Shape& x = s.in(0);
    if (!x.has_rank()) return;
    if (x.ndim() < 2) s.fail(s.name_in(0), " has shape ", x, ", expected 2 dimensions or more");
    Shape rows = x, columns = x;
    rows.erase(x.ndim() - 1);
    columns.erase(x.ndim() - 2);
    s.set_out(0, rows);
    s.set_out(1, columns);
  }
  template <Real E>
  void forward(Cpu&, View<const E> x, View<E> row_pairs, View<E> column_pairs) const {
    std::fill(row_pairs.begin(), row_pairs.end(), E(-1));
    std::fill(column_pairs.begin(), column_pairs.end(), E(-1));
    if (x.size() == 0) return;
    const std::int64_t columns = x.shape().back(), rows = x.shape()[x.shape().size() - 2], size = rows * columns;
    std::int64_t most = std::min(rows, columns);
    if (topk > 0) most = std::min(most, std::int64_t{topk} + 1);
    const auto better = [&](E a, E b) { return is_ascend ? a < b : a > b; };
    parallel_for(x.size() / size, 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t batch = begin; batch < end; ++batch) {
        const E* const scores = x.data() + batch * size;
        E *const of_row = row_pairs.data() + batch * rows, *const of_column = column_pairs.data() + batch * columns;
        detail::List<std::int64_t> order;
        for (std::int64_t i = 0; i < size; ++i)
          if (better(scores[i], static_cast<E>(*threshold))) order.push_back(i);
        std::sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
          return better(scores[a], scores[b]) || (scores[a] == scores[b] && a < b);
        });
        std::int64_t pairs = 0;
        for (detail::Index k = 0; k < order.size() && pairs < most; ++k) {
          const std::int64_t row = order[k] / columns, column = order[k] % columns;
          if (of_row[row] != E(-1) || of_column[column] != E(-1)) continue;
          of_row[row] = static_cast<E>(column);
          of_column[column] = static_cast<E>(row);
          ++pairs;
        }
      }
    });
  }
};

/// _contrib_box_encode: where the boxes of objects lie, seen from anchors: the distance of the centres in extents of
/// the anchor and the logarithms of the box's extents in those, less means and over stds.
///
/// samples and matches (batch, N), anchors (batch, N, 4), refs (batch, M, 4) with left, top, right and bottom, means
/// and stds (4,). The box of an anchor is the one that matches says, where its sample is above 0.5; the outputs are
/// (batch, N, 4), the numbers of those, and 1 where they are, else 0. What matches says of other anchors does not
/// matter, where MXNet reads the box all the same. Floating types; sparse arrays by the dense fallback. The gradient is
/// 0, as in MXNet. Error: other shapes, a match that is no box.
///
/// Example: of a sample 1, a match 0, an anchor [0, 0, 2, 2] and a box [1, 0, 3, 2], with means of 0 and stds of 1,
/// [0.5, 0, 0, 0] and [1, 1, 1, 1].
struct BoxEncode {
  static constexpr std::string_view name = "_contrib_box_encode", aliases[] = {"box_encode"},
                                    inputs[] = {"samples", "matches", "anchors", "refs", "means", "stds"},
                                    outputs[] = {"output0", "output1"};
  static constexpr const char* doc =
      "Where the boxes of objects lie, seen from anchors, in numbers to learn; and a mask of the anchors that have "
      "one.";
  static constexpr Note notes[] = {{"samples", "(batch, N): above 0.5 where an anchor has a box"},
                                   {"matches", "(batch, N): which box of refs, from 0"},
                                   {"anchors", "(batch, N, 4): left, top, right, bottom"},
                                   {"refs", "(batch, M, 4): boxes, likewise"},
                                   {"means", "(4,): what is taken off the numbers"},
                                   {"stds", "(4,): what they are then divided by"}};
  static constexpr bool zero_gradient = true;

  constexpr void infer_shape(Shapes& s) const {
    constexpr std::int64_t any = Shape::unknown_extent;
    s.set_in(2, {any, any, 4});
    for (int i = 0; i < 2; ++i) {
      s.set_in(2, s.out(i));
      s.set_in(i, {any, any});
      s.set_in(2, {s.in(i)[0], s.in(i)[1], 4});
    }
    s.set_in(3, {s.in(2)[0], any, 4});
    s.set_in(2, {s.in(3)[0], any, 4});
    for (int i = 0; i < 2; ++i) s.set_in(i, {s.in(2)[0], s.in(2)[1]});
    for (int i = 4; i < 6; ++i) s.set_in(i, {4});
    for (int i = 0; i < 2; ++i) s.set_out(i, s.in(2));
  }
  template <Real E>
  void forward(Cpu&, View<const E, 2> samples, View<const E, 2> matches, View<const E, 3> anchors,
               View<const E, 3> refs, View<const E, 1> means, View<const E, 1> stds, View<E, 3> targets,
               View<E, 3> masks) const {
    using detail::CentredBox;
    const std::int64_t count = anchors.shape()[1], boxes = refs.shape()[1];
    const auto has_box = [&](std::int64_t i) { return samples[i] > E(0.5); };
    for (std::int64_t i = 0; i < samples.size(); ++i)  // before threads begin: of several errors the first one is said
      if (has_box(i) && !(matches[i] > E(-1) && matches[i] < static_cast<E>(boxes)))
        fail("_contrib_box_encode: match ", matches[i], " at (", i / count, ", ", i % count, ") is none of the ", boxes,
             " boxes of 'refs', which are numbered from 0");
    parallel_for(samples.size(), 1 << 10, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        E *const to = targets.data() + i * 4, *const mask = masks.data() + i * 4;
        std::fill_n(mask, 4, has_box(i) ? E(1) : E(0));
        std::fill_n(to, 4, E(0));
        if (!has_box(i)) continue;
        const E* const box = refs.data() + (i / count * boxes + static_cast<std::int64_t>(matches[i])) * 4;
        const auto seen = CentredBox<E>::from(anchors.data() + i * 4, BoxFormat::corner)
                              .seen(CentredBox<E>::from(box, BoxFormat::corner));
        const E numbers[] = {seen.x, seen.y, seen.width, seen.height};
        for (std::int64_t k = 0; k < 4; ++k) to[k] = (numbers[k] - means[k]) / stds[k];
      }
    });
  }
};

/// _contrib_box_decode: the boxes of which data says where they lie seen from anchors, as _contrib_box_encode does with
/// means of 0.
///
/// data (batch, N, 4), anchors (1, N, 4) in `format`; the result has the shape of data, with left, top, right and
/// bottom. Floating types; sparse arrays by the dense fallback. The gradient is 0, as in MXNet. Error: other shapes.
///
/// Example: `box_decode(array({{{0.5, 0, 0, 0}}}), array({{{1, 1, 2, 2}}}))` is [[[1, 0, 3, 2]]].
struct BoxDecode {
  float std0 = 1, std1 = 1, std2 = 1, std3 = 1, clip = -1;
  BoxFormat format = BoxFormat::center;

  static constexpr std::string_view name = "_contrib_box_decode", aliases[] = {"box_decode"},
                                    inputs[] = {"data", "anchors"};
  static constexpr const char* doc = "The boxes of which data says where they lie, seen from anchors.";
  static constexpr Note notes[] = {{"data", "(batch, N, 4): distances of the centres, logarithms of the extents"},
                                   {"anchors", "(1, N, 4)"},
                                   {"std0", "by what the first number is multiplied"},
                                   {"std1", "by what the second is"},
                                   {"std2", "by what the third is"},
                                   {"std3", "by what the fourth is"},
                                   {"clip", "above 0: the logarithms are this at most"},
                                   {"format", "of anchors: left, top, right, bottom; or x, y, width, height"}};
  static constexpr bool zero_gradient = true;

  constexpr void infer_shape(Shapes& s) const {
    s.set_in(0, {Shape::unknown_extent, Shape::unknown_extent, 4});
    s.set_in(0, s.out(0));
    s.set_in(1, {1, s.in(0)[1], 4});
    s.set_in(0, {Shape::unknown_extent, s.in(1)[1], 4});
    s.set_out(0, s.in(0));
  }
  template <Real E>
  void forward(Cpu&, View<const E, 3> x, View<const E, 3> anchors, View<E, 3> y) const {
    const std::int64_t count = x.shape()[1];
    const auto limited = [&](E extent) { return clip > 0 ? std::min(static_cast<E>(clip), extent) : extent; };
    parallel_for(x.size() / 4, 1 << 10, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        const E* const from = x.data() + i * 4;
        detail::CentredBox<E>::from(anchors.data() + i % count * 4, format)
            .at({from[0] * static_cast<E>(std0), from[1] * static_cast<E>(std1),
                 limited(from[2] * static_cast<E>(std2)), limited(from[3] * static_cast<E>(std3))})
            .put(y.data() + i * 4, BoxFormat::corner);
      }
    });
  }
};

inline constexpr Op<BipartiteMatching, OnUse> bipartite_matching;
inline constexpr Op<BoxEncode, OnUse> box_encode;
inline constexpr Op<BoxDecode, OnUse> box_decode;

using BoxTargetOps = OpList<BipartiteMatching, BoxEncode, BoxDecode>;

}  // namespace strop::inline v0
