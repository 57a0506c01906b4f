// SPDX-License-Identifier: Apache-2.0
/// \file
/// Batches of records: full ones, what becomes of a last one that is not full, and where the next epoch begins.
#pragma once
#include <strop/core/error.hpp>
#include <strop/core/list.hpp>
#include <strop/core/text.hpp>
#include <strop/data/batch.hpp>

#include <concepts>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace strop::inline v0::detail {

/// What becomes of the last records of an epoch where they do not fill a batch.
enum class Rest : std::uint8_t {
  rounded,    // records of the next epoch's beginning fill it, behind which that goes on, as MXNet's round_batch
  empty,      // empty records fill it
  pad,        // records of this epoch's beginning fill it, and the next one begins with its first record
  discard,    // they are left out
  roll_over,  // the next epoch begins with them
};

/// Records that come one after the other, as those of a file do, and are gathered until a batch is made of them. Where
/// they can, they also have
/// - `begin_epoch(n)`: puts the records into the order of epoch n; rewind() follows;
/// - `append_numbers(from, count, list)`: which records those are that were taken from place `from` on;
/// - `left()`: how many more there are in the epoch;
/// - `gather(numbers)`: gathers the records of these numbers, where it has each of them, `has(number)`;
/// - `take_empty(n)`: gathers n that hold nothing.
template <class R>
concept RecordSource = requires(R records, Index n, DataBatch& batch) {
  records.clear();                             // nothing is gathered
  { records.take(n) } -> std::same_as<Index>;  // gathers the next n, or what is left of them, and says how many
  records.give(batch);                         // writes data and labels of what is gathered
  records.rewind();                            // the first record is the next one
};

/// Batches of one size from records.
template <RecordSource Records>
class Batches {
 public:
  /// `function` begins the sentences of errors; of the rest the records are made.
  template <class... Args>
  Batches(std::string_view function, Index size, Rest rest, Args&&... records)
      : function_(function), size_(size), rest_(rest), records_(std::forward<Args>(records)...) {
    order(0);
  }

  /// Makes the next batch; false at the end of the epoch. Throws Error where the rest is discarded and an epoch is no
  /// more.
  bool next(DataBatch& batch) {
    if (over_) return false;
    const Index kept = std::exchange(kept_, 0);
    if (kept == 0) drop();
    gather(size_ - kept);
    if (count() == 0 && continued_) {  // the last batch was filled with all records, to the very last
      rewind();
      gather(size_);
    }
    continued_ = false;
    over_ = count() < size_;
    if (count() == 0) return false;
    if (over_ && rest_ == Rest::roll_over) kept_ = count();
    if (over_ && rest_ == Rest::discard && place_ == count())
      fail(function_, ": an epoch has ", count(), " records, which is no batch of ", size_,
           ", and the rest is discarded");
    if (over_ && (rest_ == Rest::roll_over || rest_ == Rest::discard)) return false;
    batch = {};
    batch.pad = rest_ == Rest::roll_over ? kept : size_ - count();
    if (rest_ == Rest::rounded || rest_ == Rest::pad)
      fill();
    else if (over_)
      fill_empty();
    records_.give(batch);
    batch.index.assign(numbers_.begin(), numbers_.end());
    return true;
  }

  /// Whether the batch that was made last is known to be the epoch's last one.
  bool last() const {
    if constexpr (requires { records_.left(); })
      if (rest_ == Rest::roll_over || rest_ == Rest::discard) return records_.left() < size_;
    return over_;
  }

  /// Begins an epoch. `seen`: the last epoch's batches were all taken, and not only made ahead. Then it begins behind
  /// the records that filled the last batch, or with those that were kept; else with the first record.
  void begin_epoch(bool seen) {
    if (rest_ == Rest::roll_over) {
      if (!seen || !over_) drop();
      if (seen && !over_) gather(size_);
      kept_ = seen ? count() : 0;
    }
    ++epoch_;
    continued_ = seen && continues_;
    over_ = continues_ = false;
    if (!continued_) order(epoch_);
  }

  /// The epoch, the place in its order, what holds of the two, and the records that are kept from the epoch before.
  std::string position() const {
    if (kept_ > 0 && !can_gather) return {};
    std::string text = cat(epoch_, ' ', place_, ' ', over_ ? 1 : 0, ' ', continues_ ? 1 : 0, ' ', continued_ ? 1 : 0);
    for (Index k = 0; k < kept_; ++k) text += cat(' ', numbers_[k]);
    return text;
  }
  void resume(std::string_view position) {
    List<std::int64_t> said;
    const std::string_view text = position;
    while (!position.empty()) {
      const std::size_t end = position.find(' ');
      std::int64_t number = -1;
      if (!parse_integer(position.substr(0, end), number) || number < 0) refuse_position(text);
      said.push_back(number);
      position.remove_prefix(end == std::string_view::npos ? position.size() : end + 1);
    }
    if (said.size() < 5 || said[2] > 1 || said[3] > 1 || said[4] > 1) refuse_position(text);
    const Index kept = said.size() - 5;
    if (kept >= size_ || (kept > 0 && rest_ != Rest::roll_over)) refuse_position(text);
    drop();
    epoch_ = said[0];
    over_ = said[2] != 0, continues_ = said[3] != 0, continued_ = said[4] != 0;
    order(continues_ ? epoch_ + 1 : epoch_);
    skip(said[1], text);
    if constexpr (can_gather) {
      numbers_.append(said.span().subspan(5));
      for (const std::int64_t number : numbers_)
        if (!records_.has(number)) refuse_position(text);
      records_.gather(numbers_.span());
    } else if (kept > 0) {
      refuse_position(text);
    }
    kept_ = kept;
  }

  std::vector<DataDesc> provide_data() const { return records_.provide_data(size_); }
  std::vector<DataDesc> provide_label() const { return records_.provide_label(size_); }

 private:
  static constexpr bool can_gather = requires(Records& records, Span<const std::int64_t> n) { records.gather(n); };

  /// How many are gathered.
  Index count() const { return numbers_.size(); }
  void drop() {
    records_.clear();
    numbers_.clear();
  }
  Index gather(Index most) {
    const Index got = records_.take(most);
    if constexpr (requires { records_.append_numbers(place_, got, numbers_); })
      records_.append_numbers(place_, got, numbers_);
    else
      for (Index k = 0; k < got; ++k) numbers_.push_back(place_ + k);
    place_ += got;
    return got;
  }
  void fill() {
    while (count() < size_) {
      if (rest_ == Rest::pad) {
        rewind();
      } else {
        order(epoch_ + 1);
        continues_ = true;
      }
      if (gather(size_ - count()) == 0) fail(function_, ": the data has become shorter while it was read");
    }
  }
  void fill_empty() {
    const Index missing = size_ - count();
    if constexpr (requires { records_.take_empty(missing); }) records_.take_empty(missing);
    for (Index k = 0; k < missing; ++k) numbers_.push_back(-1);
  }
  void order(std::int64_t epoch) {
    if constexpr (requires { records_.begin_epoch(epoch); }) records_.begin_epoch(epoch);
    rewind();
  }
  void rewind() {
    records_.rewind();
    place_ = 0;
  }
  void skip(Index n, std::string_view position) {
    while (place_ < n) {
      const Index wanted = n - place_ < 4096 ? n - place_ : 4096;
      if (gather(wanted) < wanted) refuse_position(position);
      drop();
    }
  }
  [[noreturn]] void refuse_position(std::string_view text) const {
    fail(function_, ": \"", text, "\" is no position in this data");
  }

  std::string function_;
  Index size_;
  Rest rest_;
  Records records_;
  List<std::int64_t> numbers_;             // of the records that are gathered
  Index kept_ = 0;                         // so many of them are of the epoch before
  std::int64_t epoch_ = 0, place_ = 0;     // how many began before this one; where in its order the next record is
  bool over_ = false, continues_ = false;  // the epoch is made; the next one goes on where the last batch ended
  bool continued_ = false;                 // this epoch began so, and no batch of it is made
};

}  // namespace strop::inline v0::detail
