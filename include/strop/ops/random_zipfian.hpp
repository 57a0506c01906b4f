// SPDX-License-Identifier: Apache-2.0
/// \file
/// _sample_unique_zipfian: rows of different classes, the first ones more often than later ones.
#pragma once
#include <strop/core/list.hpp>
#include <strop/op/op.hpp>
#include <strop/ops/init.hpp>
#include <strop/ops/list.hpp>
#include <strop/ops/random_draws.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <string_view>

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

/// _sample_unique_zipfian: in each row different numbers from 0 to below range_max, drawn one after the other as
/// ⌊e^(u · log range_max) + ½⌋ − 1 with u uniform from 0 to 1, without those that are there already. A first
/// draw is k with the probability log(to / from) / log range_max, from being k + ½, but 1 of 0, and to k + 3/2, but
/// range_max of the last number; with a range_max of 1 it is 0.
///
/// Outputs: the numbers, of shape (rows, numbers), and how many were drawn for each row, both int64. Without a
/// gradient. Error: a shape of other dimensions, rows longer than range_max, range_max below 1.
struct SampleUniqueZipfian {
  static constexpr Resources resources{.random = true};
  Required<int> range_max = {};
  Shape shape = {};

  static constexpr std::string_view name = "_sample_unique_zipfian", aliases[] = {"sample_unique_zipfian"},
                                    outputs[] = {"output0", "output1"};
  static constexpr const char* doc =
      "Rows of different numbers below range_max, small ones more often, and how many were drawn for each.";
  static constexpr Note notes[] = {{"range_max", "the numbers lie below it"},
                                   {"shape", "how many rows, and numbers in each"}};
  static constexpr Range range[] = {{"range_max", 1}};

  constexpr void infer_shape(Shapes& s) const {
    detail::check_shape_param(s, shape);
    if (shape.ndim() != 2) s.fail("shape = ", shape, ", expected (rows, numbers)");
    if (shape[1] > *range_max)
      s.fail("shape = ", shape, " asks for ", shape[1], " different numbers below range_max, ", *range_max);
    s.set_out(0, shape);
    s.set_out(1, {shape[0]});
  }
  constexpr void infer_type(Types& t) const {
    t.set_out(0, i64);
    t.set_out(1, i64);
  }
  void forward(Cpu& cpu, NDArray& y, NDArray& drawn) const {
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
};
inline constexpr Op<SampleUniqueZipfian, OnUse> sample_unique_zipfian;

using RandomZipfianOps = OpList<SampleUniqueZipfian>;

}  // namespace strop::inline v0
