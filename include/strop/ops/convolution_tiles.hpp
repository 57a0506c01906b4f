// SPDX-License-Identifier: Apache-2.0
/// \file
/// Convolutions as matrix products without the matrix of windows: tiles of a product (ops/gemm_tiles.hpp) whose rows
/// of B are stretches of planes (ops/convolution_planes.hpp).
#pragma once
#include <strop/engine/pool.hpp>
#include <strop/ops/convolution_planes.hpp>
#include <strop/ops/gemm.hpp>
#include <strop/ops/pairwise.hpp>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace strop::inline v0::detail {
inline namespace STROP_ISA {

/// The products of tasks, each of which has so many channels to read and to make.
template <class E>
class SlidingTiles {
  using Product = Gemm<E>;
  using Tile = Tiles<E>;
  using Space = typename Product::Space;
  static constexpr std::int64_t cols = Tile::cols, lanes = Tile::lanes;

 public:
  /// The weight of a result, a source and a place is `by_result` and `by_source` elements from those of the next; a
  /// group has `of_group` of them. They are copied once, in the order in which the tiles read them.
  SlidingTiles(const Sliding& sliding, std::int64_t groups, std::int64_t sources, std::int64_t results,
               std::int64_t by_source, std::int64_t by_result, std::int64_t of_group, const E* weight)
      : sliding_(sliding),
        groups_(groups),
        sources_(sources),
        results_(results),
        high_(Product::up(results, Tile::third)),
        packed_(groups * sources * high_ * taps_of(sliding)) {
    List<std::int64_t, 32> place;
    for (const SlidingPart& part : sliding.parts)
      for (std::int64_t s = 0; s < sources; ++s)
        for (const Tap& tap : part.taps) {
          distance_.push_back(s * sliding.planes.elements() + tap.distance);
          place.push_back(s * by_source + tap.place);
        }
    const std::int64_t strips = Product::pieces(results, Tile::rows);  // each packs what begins in it
    parallel_for(groups * strips, 1 + (1 << 13) / (1 + place.size()), [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t q = begin; q < end; ++q)
        each_chunk([&](std::int64_t at, std::int64_t steps) {
          each_strip([&](std::int64_t i, std::int64_t height) {
            if (i / Tile::rows != q % strips) return;
            E* to = packed_.data + q / strips * high_ * place.size() + at * high_ + i * steps;
            const E* const own = weight + q / strips * of_group + i * by_result;
            for (std::int64_t p = at; p < at + steps; ++p)
              for (std::int64_t r = 0; r < height; ++r) *to++ = i + r < results_ ? own[r * by_result + place[p]] : E(0);
          });
        });
    });
  }

  /// The tasks [first, last).
  void run(std::int64_t first, std::int64_t last, const E* from, const E* bias, E* to, bool add) const {
    const Planes& planes = sliding_.planes;
    const std::int64_t in = planes.in[0] * planes.in[1] * planes.in[2], out = sliding_.results(),
                       of_copies = sources_ * planes.elements() + cols;
    const Space copies(of_copies);
    std::fill_n(copies.data, of_copies, E(0));
    for (std::int64_t task = first; task < last; ++task) {
      parallel_for(sources_, 1 + (1 << 15) / in, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t s = begin; s < end; ++s)
          copy_planes(planes, from + (task * sources_ + s) * in, copies.data + s * planes.elements());
      });
      E* const made = to + task * results_ * out;
      if (!sliding_.whole && !add) std::fill_n(made, results_ * out, E(0));
      const std::int64_t group = task % groups_;
      std::int64_t terms = 0;  // of the parts before
      for (const SlidingPart& part : sliding_.parts) {
        const std::int64_t k = sources_ * static_cast<std::int64_t>(part.taps.size());
        slide(part, copies.data, packed_.data + (group * distance_.size() + terms) * high_, distance_.data() + terms, k,
              bias == nullptr ? nullptr : bias + group * results_, made, add);
        terms += k;
      }
    }
  }

 private:
  static std::int64_t taps_of(const Sliding& sliding) {
    std::size_t all = 0;
    for (const SlidingPart& part : sliding.parts) all += part.taps.size();
    return static_cast<std::int64_t>(all);
  }
  /// Of k terms: f(first, how many), block by block of a tile's depth.
  template <class F>
  static void each_block(std::int64_t k, F f) {
    const std::int64_t along = Product::pieces(k, Product::pieces(k, Product::depth));
    for (std::int64_t p = 0; p < k; p += along) f(p, std::min(along, k - p));
  }
  /// f(first, how many) for each block of each stretch of the terms of each part.
  template <class F>
  void each_chunk(F f) const {
    std::int64_t terms = 0;
    for (const SlidingPart& part : sliding_.parts) {
      const std::int64_t k = sources_ * static_cast<std::int64_t>(part.taps.size());
      for (std::int64_t s = 0; s < k; s += Product::longest)
        each_block(std::min(Product::longest, k - s),
                   [&](std::int64_t p, std::int64_t steps) { f(terms + s + p, steps); });
      terms += k;
    }
  }
  template <class F>
  void each_strip(F f) const {
    for (std::int64_t i = 0, height; i < results_; i += height) {
      height = Tile::height(results_ - i);
      f(i, height);
    }
  }

  /// The results of a part, in blocks of some whole rows or of a piece of one.
  void slide(const SlidingPart& part, const E* copies, const E* weight, const std::int64_t* distance, std::int64_t k,
             const E* bias, E* made, bool add) const {
    const auto& extent = sliding_.planes.extent;
    const std::int64_t room = std::max(4 * cols, (1 << 16) / high_),
                       lines = std::max<std::int64_t>(1, room / extent[2]),
                       wide = lines == 1 ? std::min(room, part.count[2]) : part.count[2],
                       across = Product::pieces(part.count[2], wide), down = Product::pieces(part.count[1], lines),
                       stretches = Product::pieces(k, Product::longest);
    parallel_for(part.count[0] * down * across, 1, [&](std::int64_t begin, std::int64_t end) {
      const Space space((1 + pair_levels_of(stretches)) * high_ *
                        Product::up(std::min(lines, part.count[1]) * extent[2], lanes));
      for (std::int64_t q = begin; q < end; ++q) {
        const std::int64_t i = q / (down * across), j = q / across % down * lines, l = q % across * wide,
                           rows = std::min(lines, part.count[1] - j), width = std::min(wide, part.count[2] - l),
                           n = Product::up((rows - 1) * extent[2] + width, lanes);
        const E* const from = copies + (i * extent[1] + j) * extent[2] + l;
        in_pairs(
            stretches,
            [&](std::int64_t s, std::int64_t level) {
              const std::int64_t at = s * Product::longest;
              each_block(std::min(Product::longest, k - at), [&](std::int64_t p, std::int64_t steps) {
                for (std::int64_t x = 0; x < n; x += cols)
                  each_strip([&](std::int64_t y, std::int64_t height) {
                    Tile::template kernel_of<ListedRows<E>>(static_cast<int>(height), n - x > lanes)(
                        {weight + (at + p) * high_ + y * steps, 1, height}, {from + x, distance + at + p}, steps,
                        space.data + (level * high_ + y) * n + x, n, height, std::min(cols, n - x), p > 0);
                  });
              });
            },
            [&](std::int64_t level) {
              add_numbers(space.data + level * high_ * n, space.data + (level + 1) * high_ * n, high_ * n);
            });
        const auto& to = sliding_.to;
        const auto& step = sliding_.step;
        for (std::int64_t r = 0; r < results_; ++r)
          for (std::int64_t y = 0; y < rows; ++y)
            Rows<E>::spread(
                space.data + r * n + y * extent[2],
                made + ((r * to[0] + part.first[0] + i * step[0]) * to[1] + part.first[1] + (j + y) * step[1]) * to[2] +
                    part.first[2] + l * step[2],
                width, step[2], bias == nullptr ? E(0) : bias[r], add);
      }
    });
  }

  const Sliding& sliding_;
  std::int64_t groups_, sources_, results_, high_;
  Space packed_;
  List<std::int64_t, 32> distance_;
};

}  // namespace STROP_ISA
}  // namespace strop::inline v0::detail
