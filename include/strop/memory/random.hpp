// SPDX-License-Identifier: Apache-2.0
/// \file
/// Random numbers as a function of seed, order of calls and element, never of threads: streams and who hands them out.
#pragma once
#include <strop/core/device.hpp>
#include <strop/core/list.hpp>
#include <strop/core/span.hpp>
#include <strop/memory/normal.hpp>
#include <strop/memory/philox.hpp>
#include <strop/memory/uniform_range.hpp>

#include <array>
#include <cstdint>
#include <cstring>
#include <optional>

namespace strop::inline v0::random {

/// Elements begin to end - 1 of a stream.
struct Range {
  std::int64_t begin = 0, end = 0;
};

/// A sequence of random numbers of which every element can be computed alone: element i is a function of seed, call,
/// offset and i. All members may be called at compile time and in CUDA kernels, but for the fills. Elements of one kind
/// (words, doubles, normal numbers) of one index share their random bits. `offset` is even: normal() takes numbers in
/// pairs from there.
struct Stream {
  std::uint64_t seed = 0;
  std::uint64_t offset = 0;
  std::uint64_t call = 0;  // below 2^63: streams of different calls have no element in common

  /// 32 random bits.
  constexpr std::uint32_t bits(std::int64_t i) const { return word(offset + static_cast<std::uint64_t>(i), 0); }

  /// Uniform in [0, 1): a multiple of 2^-24.
  constexpr float uniform01(std::int64_t i) const { return unit(bits(i)); }

  /// Uniform in [0, 1): a multiple of 2^-53.
  constexpr double uniform01d(std::int64_t i) const {
    const std::uint64_t at = offset + static_cast<std::uint64_t>(i);
    return unit(word(at, 0), word(at, 1));
  }

  /// Uniform in [lo, hi): lo + uniform01(i) (hi - lo), rounded once, below hi if lo < hi. hi - lo must be finite.
  constexpr float uniform(std::int64_t i, float lo, float hi) const {
    return scaled(uniform01(i), lo, hi, detail::last_between(lo, hi, f32));
  }

  /// Normal with mean 0 and deviation 1, between -6.67 and 6.67: elements 2 k and 2 k + 1 are a Box-Muller pair.
  constexpr float normal(std::int64_t i) const {
    const std::uint64_t at = offset + static_cast<std::uint64_t>(i), even = at & ~std::uint64_t{1};
    const detail::Pair pair = detail::normal_pair(word(even, 0), word(even + 1, 0));
    return at == even ? pair.even : pair.odd;
  }

  /// Normal: mean + normal(i) deviation, rounded once.
  constexpr float normal(std::int64_t i, float mean, float deviation) const {
    return detail::fused(normal(i), deviation, mean);
  }

  /// The stream that starts at element i, an even one.
  constexpr Stream from(std::int64_t i) const { return {seed, offset + static_cast<std::uint64_t>(i), call}; }

  // out[i] = element i for every i of the range: exactly the numbers of the functions above, many at a time. Parts of
  // one array may be filled by several threads.
  void fill_bits(std::uint32_t* out, Range range) const {
    fill(out, range, [](const Words& word, const Words&, std::uint32_t* to) { std::memcpy(to, word, sizeof word); });
  }
  /// With a type: numbers that stay below hi when they are rounded to it.
  void fill_uniform(float* out, Range range, float lo = 0, float hi = 1, Dtype type = f32) const {
    const float top = detail::last_between(lo, hi, type);
    fill(out, range, [=](const Words& word, const Words&, float* to) {
      const float l = lo, h = hi, t = top;  // locals, which no store to `to` can change
      for (int i = 0; i < detail::group_words; ++i) to[i] = scaled(unit(word[i]), l, h, t);
    });
  }
  void fill_uniform01d(double* out, Range range) const {
    fill(out, range, [](const Words& high, const Words& low, double* to) {
      for (int i = 0; i < detail::group_words; ++i) to[i] = unit(high[i], low[i]);
    });
  }
  void fill_normal(float* out, Range range, float mean = 0, float deviation = 1) const {
    fill(out, range, [=](const Words& word, const Words&, float* to) {
      const float m = mean, d = deviation;  // locals, which no store to `to` can change
      for (int i = 0; i < detail::group_words; i += 2) {
        const detail::Pair pair = detail::normal_pair(word[i], word[i + 1]);
        to[i] = detail::fused(pair.even, d, m);
        to[i + 1] = detail::fused(pair.odd, d, m);
      }
    });
  }

  // Elements 0 to n - 1.
  void fill_bits(std::uint32_t* out, std::int64_t n) const { fill_bits(out, Range{0, n}); }
  void fill_uniform(float* out, std::int64_t n, float lo = 0, float hi = 1, Dtype type = f32) const {
    fill_uniform(out, Range{0, n}, lo, hi, type);
  }
  void fill_uniform01d(double* out, std::int64_t n) const { fill_uniform01d(out, Range{0, n}); }
  void fill_normal(float* out, std::int64_t n, float mean = 0, float deviation = 1) const {
    fill_normal(out, Range{0, n}, mean, deviation);
  }

  friend constexpr bool operator==(const Stream&, const Stream&) = default;

 private:
  /// The upper half of the counters of a domain.
  constexpr std::array<std::uint32_t, 2> upper(std::uint32_t domain) const {
    return {static_cast<std::uint32_t>(call >> 32) << 1 | domain, static_cast<std::uint32_t>(call)};
  }
  /// The word at a position. Domain 1 holds the lower halves of doubles.
  constexpr std::uint32_t word(std::uint64_t at, std::uint32_t domain) const {
    const std::uint64_t block = at / 4;
    const std::array<std::uint32_t, 2> high = upper(domain);
    return philox({static_cast<std::uint32_t>(block), static_cast<std::uint32_t>(block >> 32), high[0], high[1]},
                  {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)})[at % 4];
  }

  static constexpr float unit(std::uint32_t word) {
    return static_cast<float>(static_cast<std::int32_t>(word >> 8)) * 0x1p-24F;
  }
  static constexpr double unit(std::uint32_t high, std::uint32_t low) {
    return static_cast<double>(static_cast<std::int64_t>((std::uint64_t{high} << 32 | low) >> 11)) * 0x1p-53;
  }
  static constexpr float scaled(float u, float lo, float hi, float top) {
    const float x = detail::fused(u, hi - lo, lo);
    return x < top ? x : top;
  }

  using Words = std::uint32_t[detail::group_words];

  /// Whole groups go straight to `out`, the parts of groups at both ends by way of a buffer.
  template <class T, class Convert>
  void fill(T* out, Range range, Convert convert) const {
    constexpr std::uint64_t group = detail::group_words;
    if (range.begin >= range.end) return;
    std::uint64_t at = offset + static_cast<std::uint64_t>(range.begin);
    const std::uint64_t end = offset + static_cast<std::uint64_t>(range.end);
    T* to = out + range.begin;
    Words word, second;
    while (at < end) {
      const std::uint64_t start = at / group * group, stop = end - start < group ? end : start + group;
      detail::philox_group(start / 4, upper(0), seed, word);
      if constexpr (sizeof(T) == 8) detail::philox_group(start / 4, upper(1), seed, second);
      if (stop - at == group) {
        convert(word, second, to);
      } else {
        T part[group];
        convert(word, second, part);
        std::memcpy(to, part + (at - start), (stop - at) * sizeof(T));
      }
      to += stop - at;
      at = stop;
    }
  }
};

/// Restarts the random numbers of the process: from here on they are a function of `seed` and of the order of calls.
/// Thread-safe. A program that never calls it runs with seed 0.
void seed(std::uint64_t seed);

/// Gives one device random numbers of its own, apart from those of the process until the next seed(seed): programs that
/// feed several devices from several threads stay reproducible.
void seed(std::uint64_t seed, Device device);

/// While it lives, next() gives this thread streams that follow from one stream and their number, counted from `number`
/// on: what drew them can be run again, and draws the same.
class Replay {
 public:
  /// Without a stream nothing changes.
  Replay(const std::optional<Stream>& from, std::uint64_t number) : before_(current) {
    if (!from) return;
    next_ = {mixed(*from), 0, number};
    current = this;
  }
  /// Hands out streams that were noted; where there are none, nothing changes.
  explicit Replay(strop::detail::Span<const Stream> noted) : noted_(noted), before_(current) {
    if (!noted.empty()) current = this;
  }
  ~Replay() { current = before_; }
  Replay(const Replay&) = delete;
  Replay& operator=(const Replay&) = delete;

  static inline constinit thread_local Replay* current = nullptr;
  Stream next() {
    if (at_ < noted_.size()) return noted_[at_++];
    const Stream now = next_;
    ++next_.call;
    return now;
  }

 private:
  /// A key of its own for every stream (the finalizer of SplitMix64).
  static std::uint64_t mixed(const Stream& from) {
    std::uint64_t z = from.seed + 0x9e3779b97f4a7c15U * (from.call + 1);
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9U;
    z = (z ^ z >> 27) * 0x94d049bb133111ebU;
    return z ^ z >> 31;
  }
  Stream next_;
  strop::detail::Span<const Stream> noted_;
  strop::detail::Index at_ = 0;
  Replay* const before_;
};

/// While it lives, the streams that this thread takes are noted, but for those of replays within.
class Noting {
 public:
  explicit Noting(strop::detail::List<Stream>& to) : to_(to), before_(current) { current = this; }
  ~Noting() { current = before_; }
  Noting(const Noting&) = delete;
  Noting& operator=(const Noting&) = delete;

  static inline constinit thread_local Noting* current = nullptr;
  void see(const Stream& taken) {
    if (Replay::current == around_) to_.push_back(taken);
  }

 private:
  strop::detail::List<Stream>& to_;
  Replay* const around_ = Replay::current;
  Noting* const before_;
};

namespace detail {
/// How many streams this thread has taken: whether a call draws shows by it.
std::uint64_t streams_taken();
Stream take_stream(Device device);

/// Has every child of a fork draw numbers of its own from here on.
bool join_forks() noexcept;
/// Before main, in programs that draw: a child has numbers of its own also where its parent has drawn none. A template
/// that only templates name, by a parameter of theirs, so that a program which does not draw has nothing of it.
template <int = 0>
struct JoinedAtStart {
  static inline const bool joined = join_forks();
  static constexpr const bool* here() { return &joined; }
};
}  // namespace detail

/// A stream that has no element in common with any other until the next seed. Thread-safe; which thread gets which
/// stream is the order of the calls.
///
/// The child of a fork goes on with a seed of its own, which follows from its parent's and from how many forks came
/// before: its streams are neither its parent's nor those of another child, and the same in every run of the program.
template <int Once = 0>
Stream next(Device device = cpu()) {
  static_cast<void>(detail::JoinedAtStart<Once>::here());
  return detail::take_stream(device);
}

}  // namespace strop::inline v0::random

#if !defined(STROP_COMPILED)
#include <strop/memory/random_impl.hpp>
#endif
