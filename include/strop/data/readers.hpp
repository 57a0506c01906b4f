// SPDX-License-Identifier: Apache-2.0
/// \file
/// Readers, which yield records, and stages over any of them: one of several parts, and another order.
#pragma once
#include <strop/core/push_macros.def>

#include <strop/core/error.hpp>
#include <strop/core/list.hpp>
#include <strop/data/data_part.hpp>
#include <strop/memory/random.hpp>

#include <concepts>
#include <cstdint>
#include <string>
#include <utility>

namespace strop::inline v0 {

/// What yields records, byte strings, one after the other: RecordReader, TextLines, a struct of one's own. It may also
/// have
/// - `number()`: which record of the data set was read last; else they are counted;
/// - `begin_epoch(n)`: puts the records into the order of epoch n; rewind() follows.
template <class R>
concept Reader = requires(R& reader, std::string& record) {
  { reader.read(record) } -> std::same_as<bool>;  // the next record; false behind the last one
  reader.rewind();                                // the first record is the next one
};

namespace detail {

/// A reader and which record it read last.
template <Reader R>
class Numbered {
 public:
  explicit Numbered(R reader) : reader_(std::move(reader)) {}
  bool read(std::string& record) {
    if (!reader_.read(record)) return false;
    ++count_;
    return true;
  }
  std::int64_t number() const {
    if constexpr (requires { reader_.number(); })
      return reader_.number();
    else
      return count_ - 1;
  }
  void rewind() {
    reader_.rewind();
    count_ = 0;
  }
  void begin_epoch([[maybe_unused]] std::int64_t epoch) {
    if constexpr (requires { reader_.begin_epoch(epoch); }) reader_.begin_epoch(epoch);
  }

 private:
  R reader_;
  std::int64_t count_ = 0;  // read since rewind()
};

}  // namespace detail

/// One of several parts of the records: record k is of part k mod num_parts.
template <Reader R>
class Sharded {
 public:
  Sharded(R reader, std::int64_t num_parts, std::int64_t part_index)
      : reader_(std::move(reader)), parts_(num_parts), part_(part_index) {
    detail::check_part("Sharded", num_parts, part_index);
  }
  bool read(std::string& record) {
    for (std::int64_t skipped = first_ ? part_ : parts_ - 1; skipped > 0; --skipped)
      if (!reader_.read(record)) return false;
    first_ = false;
    return reader_.read(record);
  }
  std::int64_t number() const { return reader_.number(); }
  void rewind() {
    reader_.rewind();
    first_ = true;
  }
  void begin_epoch(std::int64_t epoch) { reader_.begin_epoch(epoch); }

 private:
  detail::Numbered<R> reader_;
  std::int64_t parts_, part_;
  bool first_ = true;
};

/// The records in an order that follows from a seed and the epoch: of a window of so many records one is drawn, and the
/// next record takes its place. With a window of all records every order is as likely as any other.
template <Reader R>
class Shuffled {
 public:
  Shuffled(R reader, std::int64_t window, std::uint64_t seed) : reader_(std::move(reader)), seed_(seed) {
    if (window < 1) fail("Shuffled: window is ", window, ", expected 1 or more");
    window_ = window;
  }
  bool read(std::string& record) {
    std::string next;
    while (!filled_ && records_.size() < window_) {
      filled_ = !reader_.read(next);
      if (!filled_) records_.push_back({std::move(next), reader_.number()});
    }
    filled_ = true;
    if (records_.empty()) return false;
    const random::Stream stream{.seed = seed_, .call = static_cast<std::uint64_t>(epoch_)};
    const auto below = static_cast<std::uint64_t>(records_.size());
    const std::uint64_t high = stream.bits(2 * drawn_), low = stream.bits(2 * drawn_ + 1);
    ++drawn_;
    Record& drawn = records_[static_cast<detail::Index>((high * below + (low * below >> 32)) >> 32)];
    std::swap(record, drawn.bytes);
    number_ = drawn.number;
    if (reader_.read(drawn.bytes)) {
      drawn.number = reader_.number();
    } else {
      std::swap(drawn, records_.back());
      records_.pop_back();
    }
    return true;
  }
  std::int64_t number() const { return number_; }
  void rewind() {
    reader_.rewind();
    records_.clear();
    filled_ = false;
    drawn_ = 0;
  }
  void begin_epoch(std::int64_t epoch) {
    reader_.begin_epoch(epoch);
    epoch_ = epoch;
  }

 private:
  struct Record {
    std::string bytes;
    std::int64_t number;
  };
  detail::Numbered<R> reader_;
  std::uint64_t seed_;
  std::int64_t window_ = 1, epoch_ = 0, drawn_ = 0, number_ = -1;
  bool filled_ = false;
  detail::List<Record> records_;  // of the window
};

}  // namespace strop::inline v0

#include <strop/core/pop_macros.def>
