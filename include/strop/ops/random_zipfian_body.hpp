// SPDX-License-Identifier: Apache-2.0
/// \file
/// Bodies of the operators of ops/random_zipfian.hpp, which only what builds their kernels reads.
#pragma once
#include <strop/core/list.hpp>
#include <strop/ops/random_draws.hpp>
#include <strop/ops/random_zipfian.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

namespace strop::inline v0 {

namespace detail {

/// A set of up to `most` numbers of 0 or more: each stands in the first free slot from that of its hash on. Every
/// program reads this header, and <unordered_set> takes longer to compile than all else in it.
class NumberSet {
 public:
  explicit NumberSet(std::int64_t most)
      : slots_(static_cast<std::int64_t>(std::bit_ceil(2 * static_cast<std::uint64_t>(most) + 1)), free) {}

  void clear() { std::fill(slots_.begin(), slots_.end(), free); }
  /// Whether the number was not there.
  bool insert(std::int64_t number) {
    const std::uint64_t last = static_cast<std::uint64_t>(slots_.size()) - 1;
    for (std::uint64_t at = (static_cast<std::uint64_t>(number) * 0x9E3779B97F4A7C15U) >> 32;; ++at) {
      std::int64_t& slot = slots_[at & last];
      if (slot == number) return false;
      if (slot != free) continue;
      slot = number;
      return true;
    }
  }

 private:
  static constexpr std::int64_t free = -1;
  List<std::int64_t> slots_;
};

}  // namespace detail

inline void SampleUniqueZipfian::forward(Cpu& cpu, NDArray& y, NDArray& drawn) const {
  const random::Stream stream = cpu.random();
  const double scale = std::log(static_cast<double>(*range_max));
  std::int64_t *to = y.pointer<std::int64_t>(), count = 0;
  detail::NumberSet taken(shape[1]);
  for (std::int64_t row = 0; row < shape[0]; ++row) {
    const std::int64_t before = count;
    taken.clear();
    for (const std::int64_t* const end = to + shape[1]; to != end;) {
      const double u = detail::ElementDraws(stream, count++).uniform();
      const std::int64_t k = (std::llround(std::exp(u * scale)) - 1) % *range_max;
      if (taken.insert(k)) *to++ = k;
    }
    drawn.pointer<std::int64_t>()[row] = count - before;
  }
}

}  // namespace strop::inline v0
