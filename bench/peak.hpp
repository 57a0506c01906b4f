// SPDX-License-Identifier: Apache-2.0
/// \file
/// The processor's rates, which are bounds of what operators take: fused multiply-adds, and copies.
#pragma once
#include "measure.hpp"

#include <strop/engine/pool.hpp>
#include <strop/number/lanes.hpp>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <utility>

namespace bench {

/// Operations a nanosecond of one thread when nothing but independent fused multiply-adds of registers happens.
template <class E, int... I>
double peak(std::integer_sequence<int, I...>) {
  using V = strop::number::Vec<E>;
  using R = strop::number::Rep<V>;
  Contest contest;
  contest.add([] {
    V x = R::splat(E(0.5));
    asm volatile("" : "+x"(x));
    V a[] = {x + static_cast<E>(I)...};
    for (int i = 0; i < 1000; ++i) ((a[I] = strop::number::detail_lanes::fma(a[I], x, x)), ...);
    V sum = V{};
    ((sum += a[I]), ...);
    asm volatile("" ::"x"(sum));
  });
  contest.run();
  return 2.0 * 1000 * sizeof...(I) * R::lanes / contest.best(0);
}
template <class E>
double peak() {
  static const double found = peak<E>(std::make_integer_sequence<int, 12>{});
  return found;
}

/// What it takes to move so many bytes, one half of them read and the other written, with the program's threads:
/// nanoseconds, by the rate of a copy that moves the power of two above it.
inline double copying(double bytes) {
  static std::map<std::uint64_t, double> rates;
  const auto most = std::bit_ceil(std::max<std::uint64_t>(static_cast<std::uint64_t>(bytes), 1 << 12));
  const auto [at, is_new] = rates.try_emplace(most, 0.0);
  if (is_new) {
    const auto half = static_cast<std::int64_t>(most / 2);
    const std::unique_ptr<char[]> from(new char[most / 2]()), to(new char[most / 2]());
    Contest contest;
    contest.add([&] {
      strop::parallel_for(half, 1 << 18, [&](std::int64_t begin, std::int64_t end) {
        std::memcpy(to.get() + begin, from.get() + begin, static_cast<std::size_t>(end - begin));
      });
      touch(to.get());
    });
    contest.run(1e7);
    at->second = static_cast<double>(most) / contest.best(0);
  }
  return bytes / at->second;
}

}  // namespace bench
