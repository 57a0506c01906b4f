// SPDX-License-Identifier: Apache-2.0
/// \file
/// Bodies of the operators of ops/vision/boxes.hpp, which only what builds their kernels reads.
#pragma once
#include <strop/core/list.hpp>
#include <strop/engine/pool.hpp>
#include <strop/ops/vision/boxes.hpp>

#include <algorithm>
#include <cstdint>

namespace strop::inline v0 {

namespace detail {

inline namespace STROP_ISA {

template <class E>
struct Box {
  E left, top, right, bottom;

  static Box from(const E* x, BoxFormat format) {
    if (format == BoxFormat::corner) return {x[0], x[1], x[2], x[3]};
    const E half_width = x[2] / 2, half_height = x[3] / 2;
    return {x[0] - half_width, x[1] - half_height, x[0] + half_width, x[1] + half_height};
  }
  void put(E* to, BoxFormat format) const {
    const bool corners = format == BoxFormat::corner;
    to[0] = corners ? left : (left + right) / 2;
    to[1] = corners ? top : (top + bottom) / 2;
    to[2] = corners ? right : right - left;
    to[3] = corners ? bottom : bottom - top;
  }
  /// 0 where it has no extent, or a coordinate is NaN.
  E area() const { return right > left && bottom > top ? (right - left) * (bottom - top) : E(0); }
  /// The part that both cover of what one of them covers; 0 where that is nothing.
  E overlap(const Box& with) const {
    const E mine = area(), other = with.area();
    if (!(mine > E(0) && other > E(0))) return E(0);  // the part below would leave out NaN
    const Box both{std::max(left, with.left), std::max(top, with.top), std::min(right, with.right),
                   std::min(bottom, with.bottom)};
    const E common = both.area();
    return common > E(0) ? common / (mine + other - common) : E(0);
  }
};

}  // namespace STROP_ISA

}  // namespace detail

template <Real E>
inline void BoxIou::forward(Cpu&, View<const E> lhs, View<const E> rhs, View<E> y) const {
  const std::int64_t count = rhs.size() / 4;
  const std::int64_t grain = std::max<std::int64_t>(1, (1 << 12) / std::max<std::int64_t>(1, count));
  parallel_for(lhs.size() / 4, grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const auto box = detail::Box<E>::from(lhs.data() + i * 4, format);
      for (std::int64_t j = 0; j < count; ++j)
        y[i * count + j] = box.overlap(detail::Box<E>::from(rhs.data() + j * 4, format));
    }
  });
}

template <Real E>
inline void BoxNms::forward(Cpu&, View<const E> x, View<E> y) const {
  if (topk == 0) return void(std::copy(x.begin(), x.end(), y.begin()));
  std::fill(y.begin(), y.end(), E(-1));
  const std::int64_t width = x.shape().back();
  each_kept(x, [&](std::int64_t from, std::int64_t to) {
    std::copy_n(x.data() + from * width, width, y.data() + to * width);
    if (in_format == out_format) return;
    detail::Box<E>::from(x.data() + from * width + coord_start, in_format)
        .put(y.data() + to * width + coord_start, out_format);
  });
}

template <Real E>
inline void BoxNms::grad_use_in(Cpu&, View<const E> dy, View<const E> x, View<E> dx) const {
  if (topk == 0) return void(std::copy(dy.begin(), dy.end(), dx.begin()));
  std::fill(dx.begin(), dx.end(), E(0));
  const std::int64_t width = x.shape().back();
  each_kept(x, [&](std::int64_t to, std::int64_t from) {
    std::copy_n(dy.data() + from * width, width, dx.data() + to * width);
  });
}

template <class E, class F>
inline void BoxNms::each_kept(View<const E> x, F f) const {
  const std::int64_t width = x.shape().back(), boxes = x.shape()[x.shape().size() - 2];
  if (x.size() == 0) return;
  parallel_for(x.size() / (boxes * width), 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t batch = begin; batch < end; ++batch) {
      const E* const rows = x.data() + batch * boxes * width;
      const auto class_of = [&](std::int64_t row) { return id_index < 0 ? E(0) : rows[row * width + id_index]; };
      detail::List<std::int64_t> order;
      for (std::int64_t i = 0; i < boxes; ++i)
        if (rows[i * width + score_index] > static_cast<E>(valid_thresh) &&
            (id_index < 0 || class_of(i) != static_cast<E>(background_id)))
          order.push_back(i);
      std::sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {  // of equal scores the first row
        const E one = rows[a * width + score_index], other = rows[b * width + score_index];
        return one > other || (one == other && a < b);
      });
      const detail::Index count = topk > 0 ? std::min<detail::Index>(topk, order.size()) : order.size();
      detail::List<std::int64_t> kept;
      for (detail::Index k = 0; k < count; ++k) {
        const std::int64_t row = order[k];
        const auto box = detail::Box<E>::from(rows + row * width + coord_start, in_format);
        const bool overlapped = std::any_of(kept.begin(), kept.end(), [&](std::int64_t better) {
          return (force_suppress || class_of(better) == class_of(row)) &&
                 box.overlap(detail::Box<E>::from(rows + better * width + coord_start, in_format)) >
                     static_cast<E>(overlap_thresh);
        });
        if (overlapped) continue;
        f(batch * boxes + row, batch * boxes + kept.size());
        kept.push_back(row);
      }
    }
  });
}

}  // namespace strop::inline v0
