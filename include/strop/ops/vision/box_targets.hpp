// SPDX-License-Identifier: Apache-2.0
/// \file
/// Boxes to learn from: _contrib_bipartite_matching gives rows and columns to each other, _contrib_box_encode says
/// where a box lies seen from an anchor, _contrib_box_decode where a box lies of which that is known.
#pragma once
#include <strop/op/op.hpp>
#include <strop/ops/list.hpp>
#include <strop/ops/vision/boxes.hpp>

#include <cstdint>
#include <string_view>

namespace strop::inline v0 {

/// _contrib_bipartite_matching: pairs of a row and a column of a matrix of scores, the best score first, each in one
/// pair at most. Of equal scores the first in the matrix comes first; one that is NaN makes no pair.
///
/// data (…, N, M); the outputs are (…, N), the column of each row, and (…, M), the row of each column, −1 for none.
/// With topk above 0 there are up to topk + 1 pairs, as in MXNet. Floating types; sparse arrays by the dense fallback.
/// The gradient is 0, as in MXNet. Errors: fewer than 2 dimensions, more rows or columns than the type counts exactly.
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

  template <int = 0>
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
  template <class E>
    requires(Real<E> || std::same_as<E, half> || std::same_as<E, bfloat16>)
  void forward(Cpu&, View<const E> x, View<E> row_pairs, View<E> column_pairs) const;
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

  template <int = 0>
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
               View<E, 3> masks) const;
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

  template <int = 0>
  constexpr void infer_shape(Shapes& s) const {
    s.set_in(0, {Shape::unknown_extent, Shape::unknown_extent, 4});
    s.set_in(0, s.out(0));
    s.set_in(1, {1, s.in(0)[1], 4});
    s.set_in(0, {Shape::unknown_extent, s.in(1)[1], 4});
    s.set_out(0, s.in(0));
  }
  template <Real E>
  void forward(Cpu&, View<const E, 3> x, View<const E, 3> anchors, View<E, 3> y) const;
};

inline constexpr Op<BipartiteMatching, OnUse> bipartite_matching;
inline constexpr Op<BoxEncode, OnUse> box_encode;
inline constexpr Op<BoxDecode, OnUse> box_decode;

using BoxTargetOps = OpList<BipartiteMatching, BoxEncode, BoxDecode>;

}  // namespace strop::inline v0

#if !defined(STROP_OPERATORS_COMPILED) || defined(__CUDACC__)
#include <strop/ops/vision/box_targets_body.hpp>
#endif
