// SPDX-License-Identifier: Apache-2.0
/// \file
/// Bodies of the operators of ops/histogram.hpp, which only what builds their kernels reads.
#pragma once
#include <strop/core/list.hpp>
#include <strop/engine/pool.hpp>
#include <strop/ops/histogram.hpp>

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace strop::inline v0 {

inline std::vector<std::string_view> Histogram::inputs() const {
  std::vector<std::string_view> names{"data"};
  if (!bin_cnt) names.push_back("bins");
  return names;
}

template <detail::Sortable E>
inline void Histogram::forward(Cpu&, View<const E> data, View<const E> bins, View<std::int64_t> counts,
                               View<E> edges) const {
  const std::int64_t count = counts.size();
  std::fill(counts.begin(), counts.end(), std::int64_t{0});
  if (!bin_cnt) {
    for (std::int64_t i = 0; i < count; ++i)
      if (!(bins[i] <= bins[i + 1]))
        fail("_histogram: bins ", i, " and ", i + 1, " are ", bins[i], " and ", bins[i + 1],
             ", expected ascending edges");
    std::copy(bins.begin(), bins.end(), edges.begin());
    return tally(data, counts, [&](E x) {
      if (!(x >= edges[0] && x <= edges[count])) return std::int64_t{-1};
      return last_from(x, edges);
    });
  }
  const std::pair<double, double> span = ends();
  const double low = span.first, high = span.second;
  for (std::int64_t i = 0; i <= count; ++i) {
    const double at = static_cast<double>(i), all = static_cast<double>(count);
    edges[i] = detail::from_double<E>((high * at + low * (all - at)) / all);
  }
  tally(data, counts, [&](E x) {
    const double value = static_cast<double>(x);
    if (!(value >= low && value <= high)) return std::int64_t{-1};
    const double share = (value - low) / (high - low);  // no number where numbers of that size have no halves
    return even_bin(x, edges, share > 0 ? static_cast<std::int64_t>(share * static_cast<double>(count)) : 0);
  });
}

inline std::pair<double, double> Histogram::ends() const {
  const double low = (*range)[0], high = (*range)[1];
  return low == high ? std::pair(low - 0.5, high + 0.5) : std::pair(low, high);
}

template <class E>
inline std::int64_t Histogram::last_from(E x, View<E> edges) {
  std::int64_t at = 0;
  for (std::int64_t n = edges.size() - 1; n > 1;) {
    const std::int64_t half = n / 2;
    at += edges[at + half] <= x ? half : 0;
    n -= half;
  }
  return at;
}

template <class E>
inline std::int64_t Histogram::even_bin(E x, View<E> edges, std::int64_t place) {
  const std::int64_t last = edges.size() - 2;
  place = std::min(place, last);
  if (x < edges[place]) return std::max<std::int64_t>(0, place - 1);
  return place < last && x >= edges[place + 1] ? place + 1 : place;
}

template <class E, class F>
inline void Histogram::tally(View<const E> data, View<std::int64_t> counts, F bin) {
  const std::int64_t bins = counts.size();
  parallel_for(data.size(), std::max<std::int64_t>(1 << 15, 4 * bins), [&](std::int64_t begin, std::int64_t end) {
    detail::List<std::int64_t> mine(bins);
    for (std::int64_t i = begin; i < end; ++i)
      if (const std::int64_t k = bin(data[i]); k >= 0) ++mine[k];
    for (std::int64_t k = 0; k < bins; ++k)
      if (mine[k] != 0) __atomic_fetch_add(&counts[k], mine[k], __ATOMIC_RELAXED);
  });
}

}  // namespace strop::inline v0
