// SPDX-License-Identifier: Apache-2.0
/// \file
/// Padded copies of the channels of an image, in which each place of a kernel is a distance: the windows that begin
/// side by side have their elements side by side, whatever stride, dilation and padding are.
#pragma once
#include <strop/core/list.hpp>
#include <strop/ops/gemm_tiles.hpp>
#include <strop/ops/windows_body.hpp>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace strop::inline v0::detail {

/// Planes of a channel: element i of an axis is the channel's element i · step + first, or 0 outside of it. There is a
/// plane for every remainder of a place by the stride, each with a `first` of its own.
struct Planes {
  static constexpr int axes = Windows::axes;
  std::int64_t in[axes] = {1, 1, 1}, extent[axes] = {1, 1, 1}, step[axes] = {1, 1, 1};
  List<std::int64_t, 4> first[axes];

  std::int64_t size() const { return extent[0] * extent[1] * extent[2]; }
  std::int64_t count() const { return first[0].size() * first[1].size() * first[2].size(); }
  /// Of a channel.
  std::int64_t elements() const { return size() * count(); }
  /// Where the element (0, b, c) of the planes of remainders `which` stands.
  std::int64_t place(const std::int64_t (&which)[axes], const std::int64_t (&at)[axes]) const {
    const std::int64_t plane = (which[0] * first[1].size() + which[1]) * first[2].size() + which[2];
    return plane * size() + (at[0] * extent[1] + at[1]) * extent[2] + at[2];
  }
};

/// A place of the kernel, and how far from a window's beginning its element is.
struct Tap {
  std::int64_t place, distance;
};

/// Results that the same taps make: along each axis `count` of them, `step` apart from `first` on.
struct SlidingPart {
  std::vector<Tap> taps;
  std::int64_t count[Planes::axes], first[Planes::axes];
};

/// What slides over planes: results of an image are sums over the taps of a part.
struct Sliding {
  static constexpr int axes = Planes::axes;
  Planes planes;
  std::vector<SlidingPart> parts;
  std::int64_t to[axes], step[axes];  // of the results
  bool whole = true;                  // each of them is in a part

  std::int64_t results() const { return to[0] * to[1] * to[2]; }

  /// The sums of windows, over planes of the data.
  static Sliding over(const Windows& w) {
    Sliding s;
    List<std::int64_t, 8> which[axes], shift[axes];
    for (int a = 0; a < axes; ++a) {
      s.planes.in[a] = w.in[a], s.planes.step[a] = w.stride[a], s.to[a] = w.out[a], s.step[a] = 1;
      for (std::int64_t k = 0; k < w.kernel[a]; ++k) {
        which[a].push_back(listed(s.planes.first[a], k * w.dilate[a] % w.stride[a] - w.pad[a]));
        shift[a].push_back(k * w.dilate[a] / w.stride[a]);
      }
      s.planes.extent[a] = shift[a].back() + w.out[a];
    }
    SlidingPart part;
    for (int a = 0; a < axes; ++a) part.count[a] = w.out[a], part.first[a] = 0;
    for (std::int64_t k = 0; k < w.kernel_size(); ++k) {
      const std::int64_t at[] = {k / (w.kernel[1] * w.kernel[2]), k / w.kernel[2] % w.kernel[1], k % w.kernel[2]};
      part.taps.push_back({k, s.planes.place({which[0][at[0]], which[1][at[1]], which[2][at[2]]},
                                             {shift[0][at[0]], shift[1][at[1]], shift[2][at[2]]})});
    }
    s.parts.push_back(std::move(part));
    return s;
  }

  /// The sums that windows are put back into, over planes of what the windows gave. Elements of the data that are a
  /// stride apart get the same places of the kernel: a part for each remainder.
  static Sliding back(const Windows& w) {
    Sliding s;
    struct Rest {  // of an axis: where its results begin, how many there are, and which places they get
      std::int64_t rest, begin, count;
      List<std::int64_t, 8> places;
    };
    std::vector<Rest> rests[axes];
    for (int a = 0; a < axes; ++a) {
      s.planes.in[a] = w.out[a], s.to[a] = w.in[a], s.step[a] = w.stride[a];
      List<std::int64_t, 8> values;
      for (std::int64_t k = 0; k < w.kernel[a]; ++k) {
        const std::int64_t rest = k * w.dilate[a] % w.stride[a], i = listed(values, rest);
        if (i == static_cast<std::int64_t>(rests[a].size())) {
          const std::int64_t begin = w.pad[a] > rest ? (w.pad[a] - rest - 1) / w.stride[a] + 1 : 0,
                             room = w.in[a] - 1 + w.pad[a] - rest;
          rests[a].push_back({rest, begin, room < 0 ? 0 : room / w.stride[a] - begin + 1, {}});
        }
        rests[a][static_cast<std::size_t>(i)].places.push_back(k);
      }
      s.whole = s.whole && values.size() == w.stride[a];
      std::int64_t low = INT64_MAX, high = INT64_MIN;
      for (const Rest& r : rests[a]) {
        if (r.count <= 0) continue;
        low = std::min(low, r.begin - r.places.back() * w.dilate[a] / w.stride[a]);
        high = std::max(high, r.begin + r.count - r.places[0] * w.dilate[a] / w.stride[a]);
      }
      s.planes.first[a].push_back(low), s.planes.extent[a] = std::max<std::int64_t>(0, low < high ? high - low : 0);
    }
    for (const Rest& x : rests[0])
      for (const Rest& y : rests[1])
        for (const Rest& z : rests[2]) {
          if (x.count <= 0 || y.count <= 0 || z.count <= 0) continue;
          const Rest* const of[] = {&x, &y, &z};
          SlidingPart part;
          for (int a = 0; a < axes; ++a)
            part.count[a] = of[a]->count, part.first[a] = of[a]->begin * w.stride[a] + of[a]->rest - w.pad[a];
          const auto reads = [&](int a, std::int64_t k) {
            return of[a]->begin - k * w.dilate[a] / w.stride[a] - s.planes.first[a][0];
          };
          for (const std::int64_t i : x.places)
            for (const std::int64_t j : y.places)
              for (const std::int64_t k : z.places)
                part.taps.push_back({(i * w.kernel[1] + j) * w.kernel[2] + k,
                                     s.planes.place({0, 0, 0}, {reads(0, i), reads(1, j), reads(2, k)})});
          s.parts.push_back(std::move(part));
        }
    return s;
  }

 private:
  /// The number of x in the list, where it is then.
  template <std::size_t Near>
  static std::int64_t listed(List<std::int64_t, Near>& all, std::int64_t x) {
    for (std::int64_t i = 0; i < all.size(); ++i)
      if (all[i] == x) return i;
    all.push_back(x);
    return all.size() - 1;
  }
};

inline namespace STROP_ISA {

/// Rows of numbers, from and to memory.
template <class E>
struct Rows {
  using R = number::Rep<number::Vec<E>>;
  using Tile = Tiles<E>;

  /// to[i] = f(from[i]), or += it.
  template <bool Add, class F>
  static void map(const E* from, E* to, std::int64_t n, F f) {
    std::int64_t i = 0;
    for (; i + R::lanes <= n; i += R::lanes) {
      const auto x = f(R::load(from + i));
      if constexpr (Add)
        R::store(to + i, R::load(to + i) + x);
      else
        R::store(to + i, x);
    }
    if constexpr (Tile::masks) {
      if (i == n) return;
      const auto some = Tile::mask(n - i);
      const auto x = f(Tile::load(from + i, some));
      if constexpr (Add)
        Tile::store(to + i, Tile::load(to + i, some) + x, some);
      else
        Tile::store(to + i, x, some);
    } else {
      for (; i < n; ++i) to[i] = (Add ? to[i] : E(0)) + f(from[i]);
    }
  }
  static void copy(const E* from, E* to, std::int64_t n) {
    map<false>(from, to, n, [](auto x) { return x; });
  }
  /// to[i · step] = from[i] + plus, or += it.
  static void spread(const E* from, E* to, std::int64_t n, std::int64_t step, E plus, bool add) {
    const auto sum = [plus](auto x) { return x + plus; };
    if (step == 1) return add ? map<true>(from, to, n, sum) : map<false>(from, to, n, sum);
    for (std::int64_t i = 0; i < n; ++i) to[i * step] = (add ? to[i * step] : E(0)) + from[i] + plus;
  }
  /// to[i] = from[i · step].
  static void pick(const E* from, E* to, std::int64_t n, std::int64_t step) {
    if (step == 1) return copy(from, to, n);
    std::int64_t i = 0;
    if (step == 2)
      for (; i + 8 <= n; i += 8)  // so many that the compiler makes shuffles of them
        for (std::int64_t j = 0; j < 8; ++j) to[i + j] = from[2 * (i + j)];
    for (; i < n; ++i) to[i] = from[i * step];
  }
};

/// The planes of a channel, to where there are zeros: what is outside of the channel is not written.
template <class E>
void copy_planes(const Planes& p, const E* channel, E* to) {
  struct Run {  // elements [begin, end) of an axis are in the channel
    std::int64_t begin, end;
  };
  const auto inside = [&](int a, std::int64_t first) {
    const auto steps = [&](std::int64_t x) { return p.step[a] == 1 ? x : x / p.step[a]; };  // to divide takes long
    const std::int64_t begin = first >= 0 ? 0 : steps(-first - 1) + 1, room = p.in[a] - 1 - first;
    return Run{begin, std::min(p.extent[a], room < 0 ? 0 : steps(room) + 1)};
  };
  for (const std::int64_t deep : p.first[0])
    for (const std::int64_t down : p.first[1])
      for (const std::int64_t along : p.first[2]) {
        const Run x = inside(0, deep), y = inside(1, down), z = inside(2, along);
        if (z.begin < z.end)
          for (std::int64_t i = x.begin; i < x.end; ++i)
            for (std::int64_t j = y.begin; j < y.end; ++j)
              Rows<E>::pick(channel + ((i * p.step[0] + deep) * p.in[1] + j * p.step[1] + down) * p.in[2] +
                                z.begin * p.step[2] + along,
                            to + (i * p.extent[1] + j) * p.extent[2] + z.begin, z.end - z.begin, p.step[2]);
        to += p.size();
      }
}

}  // namespace STROP_ISA

}  // namespace strop::inline v0::detail
