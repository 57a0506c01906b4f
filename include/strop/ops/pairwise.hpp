// SPDX-License-Identifier: Apache-2.0
/// \file
/// How sums keep their digits: stretches of numbers are added up one after the other, and the sums of stretches in
/// pairs, and those of pairs, so that what is lost grows with the logarithm of the length. What is joined with what
/// depends on the length alone.
#pragma once
#include <strop/number/lanes.hpp>

#include <bit>
#include <cstdint>

namespace strop::inline v0::detail {

/// How many numbers a stretch adds one after the other. Every addition of equal numbers may round the same way: their
/// sum is then off by 1.5 · 10⁻⁸ of itself in float for each of them, by 5 · 10⁻⁷ for 32.
inline constexpr std::int64_t chain_of_sums = 32;
/// The same of products of matrices, where it costs more to end a stretch than the loop hides of a shorter one.
inline constexpr std::int64_t chain_of_products = 64;

/// Sums that wait for their partner, at most: of 2³⁶ stretches.
inline constexpr int pair_levels = 36;
/// As many of so many stretches, beside the first.
constexpr std::int64_t pair_levels_of(std::int64_t stretches) {
  return static_cast<std::int64_t>(std::bit_width(static_cast<std::uint64_t>(stretches < 1 ? 0 : stretches - 1)));
}

/// Sums of stretches in their order, each of which is at hand in registers: push(merge, keep) calls merge(level) where
/// the sum at hand takes up one that waits, and keep(level) to let it wait itself; finish(merge) takes up the rest.
class Pairs {
 public:
  template <class Merge, class Keep>
  [[gnu::always_inline]] void push(Merge merge, Keep keep) {
    for (std::uint64_t c = count_++; (c & 1) != 0; c >>= 1) merge(--level_);
    keep(level_++);
  }
  template <class Merge>
  [[gnu::always_inline]] void finish(Merge merge) {
    while (level_ > 0) merge(--level_);
  }

 private:
  std::uint64_t count_ = 0;
  int level_ = 0;
};

/// The same of sums in memory: part(k, level) puts the sum of stretch k at a level, join(level) adds to it what stands
/// at the next one. The whole is then at level 0.
template <class Part, class Join>
void in_pairs(std::int64_t stretches, Part part, Join join) {
  std::int64_t level = 0;
  for (std::int64_t k = 0; k < stretches; ++k) {
    part(k, level);
    for (std::int64_t c = k; (c & 1) != 0; c >>= 1) join(--level);
    ++level;
  }
  while (--level > 0) join(level - 1);
}

inline namespace STROP_ISA {

/// to[i] += from[i].
template <class E>
void add_numbers(E* to, const E* from, std::int64_t n) {
  using R = number::Rep<number::Vec<E>>;
  std::int64_t i = 0;
  for (; i + R::lanes <= n; i += R::lanes) R::store(to + i, R::load(to + i) + R::load(from + i));
  for (; i < n; ++i) to[i] += from[i];
}

}  // namespace STROP_ISA

}  // namespace strop::inline v0::detail
