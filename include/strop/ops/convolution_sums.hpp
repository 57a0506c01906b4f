// SPDX-License-Identifier: Apache-2.0
/// \file
/// Convolutions of few channels without a matrix: sums over the taps of a kernel, of registers that hold neighbouring
/// results of one channel.
#pragma once
#include <strop/core/span.hpp>
#include <strop/ops/convolution_planes.hpp>
#include <strop/ops/gemm.hpp>
#include <strop/ops/pairwise.hpp>

#include <algorithm>
#include <cstdint>
#include <utility>

namespace strop::inline v0::detail {
inline namespace STROP_ISA {

/// The sums of a task, which has so many channels to read and to make. The weight of a result, a source and a place is
/// `by_result` and `by_source` elements from those of the next.
template <class E>
struct SlidingSums {
  using Tile = Tiles<E>;
  using V = typename Tile::V;
  using R = typename Tile::R;
  using Space = typename Gemm<E>::Space;
  static constexpr std::int64_t lanes = R::lanes;
  struct Term {
    std::int64_t distance;
    E weight;
  };

  const Sliding& sliding;
  std::int64_t sources, results, by_source, by_result;

  /// For the tasks [first, last), of `groups` an image.
  void run(std::int64_t first, std::int64_t last, std::int64_t groups, const E* from, const E* weight,
           std::int64_t weight_of_group, const E* bias, E* to, bool add) const {
    const Planes& planes = sliding.planes;
    const std::int64_t in = planes.in[0] * planes.in[1] * planes.in[2], out = sliding.results();
    std::int64_t longest = 0, taps = 0;
    for (const SlidingPart& part : sliding.parts) {
      longest = std::max(longest, flat(part));
      taps = std::max(taps, static_cast<std::int64_t>(part.taps.size()));
    }
    const Space copies(sources * planes.elements() + lanes), row(longest + lanes);
    std::fill_n(copies.data, sources * planes.elements() + lanes, E(0));
    List<Term, 32> terms(sources * taps);
    for (std::int64_t task = first; task < last; ++task) {
      const std::int64_t group = task % groups;
      for (std::int64_t s = 0; s < sources; ++s)
        copy_planes(planes, from + (task * sources + s) * in, copies.data + s * planes.elements());
      E* const made = to + task * results * out;
      if (!sliding.whole && !add) std::fill_n(made, results * out, E(0));
      for (std::int64_t r = 0; r < results; ++r)
        for (const SlidingPart& part : sliding.parts) {
          const E* const own = weight + group * weight_of_group + r * by_result;
          std::int64_t count = 0;
          for (std::int64_t s = 0; s < sources; ++s)
            for (const Tap& tap : part.taps)
              terms[count++] = {s * planes.elements() + tap.distance, own[s * by_source + tap.place]};
          const E plus = bias == nullptr ? E(0) : bias[group * results + r];
          for (std::int64_t i = 0; i < part.count[0]; ++i) {
            strips(copies.data + i * planes.extent[1] * planes.extent[2], terms.data(), count, row.data, flat(part));
            E* const slice = made + r * out + (part.first[0] + i * sliding.step[0]) * sliding.to[1] * sliding.to[2];
            for (std::int64_t j = 0; j < part.count[1]; ++j)
              Rows<E>::spread(row.data + j * planes.extent[2],
                              slice + (part.first[1] + j * sliding.step[1]) * sliding.to[2] + part.first[2],
                              part.count[2], sliding.step[2], plus, add);
          }
        }
    }
  }

 private:
  /// From the first result of a slice to the last, with what is between the rows.
  std::int64_t flat(const SlidingPart& part) const {
    return (part.count[1] - 1) * sliding.planes.extent[2] + part.count[2];
  }
  static void strips(const E* from, const Term* terms, std::int64_t count, E* to, std::int64_t n) {
    std::int64_t rest = (n + lanes - 1) / lanes;
    const auto whole = [&]<int N>(std::integral_constant<int, N>) {
      for (; rest >= N; rest -= N, from += N * lanes, to += N * lanes)
        strip(from, terms, count, to, std::make_integer_sequence<int, N>{});
    };
    whole(std::integral_constant<int, 8>{});
    whole(std::integral_constant<int, 4>{});
    whole(std::integral_constant<int, 2>{});
    whole(std::integral_constant<int, 1>{});
  }
  template <int... I>
  [[gnu::noinline]] static void strip(const E* from, const Term* terms, std::int64_t count, E* to,
                                      std::integer_sequence<int, I...>) {
    V acc[sizeof...(I)];
    ((acc[I] = V{}), ...);
    const auto stretch = [&](const Term* end) __attribute__((always_inline)) {
      for (; terms != end; ++terms) {
        const V w = Tile::splat(terms->weight);
        const E* const x = from + terms->distance;
        ((acc[I] = Tile::fma(w, R::load(x + I * lanes), acc[I])), ...);
      }
    };
    const Term* const end = terms + count;
    stretch(std::min(end, terms + std::min(count, chain_of_products)));
    while (terms != end) {
      V before[sizeof...(I)];
      ((before[I] = acc[I], acc[I] = V{}), ...);
      stretch(terms + std::min<std::int64_t>(end - terms, chain_of_products));
      ((acc[I] += before[I]), ...);
    }
    ((R::store(to + I * lanes, acc[I])), ...);
  }
};

/// The gradient of weights from few channels: for each filter and place of the kernel the dot product of the head
/// gradient with the elements that the place meets, row by row.
template <class E>
struct SlidingDots {
  using Tile = Tiles<E>;
  using V = typename Tile::V;
  using R = typename Tile::R;
  using Space = typename Gemm<E>::Space;
  static constexpr std::int64_t lanes = R::lanes;

  const Sliding& sliding;  // over the data
  std::int64_t channels, filters;

  /// dw = the sum over the images, or dw += it, for one group; an image of x and dy is so far from the next.
  void run(std::int64_t images, const E* x, std::int64_t x_image, const E* dy, std::int64_t dy_image, E* dw,
           bool add) const {
    const Planes& planes = sliding.planes;
    const std::int64_t in = planes.in[0] * planes.in[1] * planes.in[2], lines = sliding.to[0] * sliding.to[1],
                       width = (sliding.to[2] + lanes - 1) / lanes * lanes, of_x = channels * planes.elements() + lanes,
                       of_dy = filters * lines * width;
    const auto& taps = sliding.parts[0].taps;
    const std::int64_t terms = channels * static_cast<std::int64_t>(taps.size()), size = filters * terms;
    List<std::int64_t, 32> distance(terms);
    for (std::int64_t t = 0; t < terms; ++t) {
      const auto places = static_cast<std::int64_t>(taps.size());
      distance[t] = t / places * planes.elements() + taps[static_cast<std::size_t>(t % places)].distance;
    }
    constexpr std::int64_t most = 16;  // images whose sums are added up one after the other
    const std::int64_t stretches = (images + most - 1) / most;
    const Space copy_x(of_x), copy_dy(of_dy), waiting(pair_levels_of(stretches) * size);
    std::fill_n(copy_x.data, of_x, E(0));
    std::fill_n(copy_dy.data, of_dy, E(0));
    if (!add) std::fill_n(dw, size, E(0));
    const auto at = [&](std::int64_t level) { return level == 0 ? dw : waiting.data + (level - 1) * size; };
    in_pairs(
        stretches,
        [&](std::int64_t k, std::int64_t level) {
          if (level > 0) std::fill_n(at(level), size, E(0));
          for (std::int64_t image = k * most; image < std::min(images, (k + 1) * most); ++image) {
            for (std::int64_t c = 0; c < channels; ++c)
              copy_planes(planes, x + image * x_image + c * in, copy_x.data + c * planes.elements());
            for (std::int64_t i = 0; i < filters * lines; ++i)
              Rows<E>::copy(dy + image * dy_image + i * sliding.to[2], copy_dy.data + i * width, sliding.to[2]);
            for (std::int64_t f = 0; f < filters; ++f)
              for (std::int64_t t = 0; t < terms; t += taps_at_once)
                dots(copy_dy.data + f * lines * width, copy_x.data, &distance[t], std::min(taps_at_once, terms - t),
                     at(level) + f * terms + t, std::make_integer_sequence<int, taps_at_once>{});
          }
        },
        [&](std::int64_t level) { add_numbers(at(level), at(level + 1), size); });
  }

 private:
  static constexpr std::int64_t taps_at_once = 9;

  /// sums[t] += Σ dy · x there, for `count` places.
  template <int... T>
  [[gnu::noinline]] void dots(const E* dy, const E* x, const std::int64_t* distance, std::int64_t count, E* sums,
                              std::integer_sequence<int, T...>) const {
    const Planes& planes = sliding.planes;
    const std::int64_t n = sliding.to[2], whole = n - n % lanes;
    const auto rest = Tile::mask(n - whole);
    const std::int64_t far[] = {distance[T < count ? T : count - 1]...};
    V acc[sizeof...(T)], total[sizeof...(T)], waiting[std::size_t{pair_levels}][sizeof...(T)];
    ((acc[T] = total[T] = V{}), ...);
    Pairs pairs;
    std::int64_t steps = 0, chains = 0;
    const auto merge = [&](int level) { ((total[T] = waiting[level][T] + total[T]), ...); };
    const auto stepped = [&](std::int64_t more) __attribute__((always_inline)) {
      steps += more;
      if (steps < chain_of_products) return;
      if (chains == chain_of_sums) {
        pairs.push(merge, [&](int level) { ((waiting[level][T] = total[T], total[T] = V{}), ...); });
        chains = 0;
      }
      ((total[T] += acc[T], acc[T] = V{}), ...);
      steps = 0, ++chains;
    };
    for (std::int64_t i = 0; i < sliding.to[0]; ++i)
      for (std::int64_t j = 0; j < sliding.to[1]; ++j, dy += (n + lanes - 1) / lanes * lanes) {
        const E* const row = x + (i * planes.extent[1] + j) * planes.extent[2];
        const E* const from[] = {row + far[T]...};
        for (std::int64_t p = 0; p < whole;) {
          const std::int64_t begin = p, stop = std::min(whole, p + (chain_of_products - steps) * lanes);
          for (; p < stop; p += lanes) {
            const V y = R::load(dy + p);
            ((acc[T] = Tile::fma(y, R::load(from[T] + p), acc[T])), ...);
          }
          stepped((p - begin) / lanes);
        }
        if (whole == n) continue;
        const V y = R::load(dy + whole);  // zeros behind the row; what stands there in x may be infinite
        ((acc[T] = Tile::fma(y, some(from[T] + whole, n - whole, rest), acc[T])), ...);
        stepped(1);
      }
    ((total[T] += acc[T]), ...);
    pairs.finish(merge);
    const E all[] = {Gemm<E>::sum(total[T])...};
    for (std::int64_t t = 0; t < count; ++t) sums[t] += all[t];
  }
  /// The first n lanes, the others zero.
  [[gnu::always_inline]] static inline V some(const E* p, std::int64_t n, typename Tile::Mask mask) {
    if constexpr (Tile::masks) {
      return Tile::load(p, mask);
    } else if constexpr (lanes == 1) {  // there is no rest
      return V{};
    } else {
      typename R::Mask lane{};
      for (std::int64_t i = 0; i < lanes; ++i) lane[i] = i < n ? -1 : 0;
      return lane ? R::load(p) : V{};
    }
  }
};

}  // namespace STROP_ISA
}  // namespace strop::inline v0::detail
