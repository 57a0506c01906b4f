// SPDX-License-Identifier: Apache-2.0
/// \file
/// Bodies of the operators of ops/vision/box_targets.hpp, which only what builds their kernels reads.
#pragma once
#include <strop/core/list.hpp>
#include <strop/engine/pool.hpp>
#include <strop/ops/vision/box_targets.hpp>
#include <strop/ops/vision/boxes_body.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>

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

template <class E>
  requires(Real<E> || std::same_as<E, half> || std::same_as<E, bfloat16>)
inline void BipartiteMatching::forward(Cpu& cpu, View<const E> x, View<E> row_pairs, View<E> column_pairs) const {
  if (const std::int64_t columns = x.shape().back(), rows = x.shape()[x.shape().size() - 2],
      longest = std::max(rows, columns), most = detail::positions_held(dtype_of<E>);
      longest > most)
    fail("bipartite_matching: ", name_of(dtype_of<E>), " does not hold ", longest,
         " positions exactly, expected at most ", most, "; convert the scores to a wider type");
  if constexpr (!Real<E>) {
    detail::List<float> scores(x.size()), of_rows(row_pairs.size()), of_columns(column_pairs.size());
    detail::convert_elements(dtype_of<E>, x.data(), f32, scores.data(), x.size());
    forward<float>(cpu, {scores.data(), x.shape()}, {of_rows.data(), row_pairs.shape()},
                   {of_columns.data(), column_pairs.shape()});
    detail::convert_elements(f32, of_rows.data(), dtype_of<E>, row_pairs.data(), row_pairs.size());
    detail::convert_elements(f32, of_columns.data(), dtype_of<E>, column_pairs.data(), column_pairs.size());
  } else {
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
}

template <Real E>
inline void BoxEncode::forward(Cpu&, View<const E, 2> samples, View<const E, 2> matches, View<const E, 3> anchors,
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

template <Real E>
inline void BoxDecode::forward(Cpu&, View<const E, 3> x, View<const E, 3> anchors, View<E, 3> y) const {
  const std::int64_t count = x.shape()[1];
  const auto limited = [&](E extent) { return clip > 0 ? std::min(static_cast<E>(clip), extent) : extent; };
  parallel_for(x.size() / 4, 1 << 10, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const E* const from = x.data() + i * 4;
      detail::CentredBox<E>::from(anchors.data() + i % count * 4, format)
          .at({from[0] * static_cast<E>(std0), from[1] * static_cast<E>(std1), limited(from[2] * static_cast<E>(std2)),
               limited(from[3] * static_cast<E>(std3))})
          .put(y.data() + i * 4, BoxFormat::corner);
    }
  });
}

}  // namespace strop::inline v0
