// SPDX-License-Identifier: Apache-2.0
/// \file
/// Batches of records: full ones, what fills the last one of an epoch, and where the next epoch begins.
#pragma once
#include <strop/core/error.hpp>
#include <strop/core/list.hpp>
#include <strop/data/batch.hpp>

#include <concepts>
#include <string_view>
#include <utility>

namespace strop::inline v0::detail {

/// Records that come one after the other, as those of a file do, and are gathered until a batch is made of them.
template <class R>
concept RecordSource = requires(R records, Index n, DataBatch& batch) {
  records.clear();                             // nothing is gathered
  { records.take(n) } -> std::same_as<Index>;  // gathers the next n, or what is left of them, and says how many
  records.take_empty(n);                       // gathers n that hold nothing
  records.give(batch);                         // writes data and labels of what is gathered
  records.rewind();                            // the first record is the next one
};

/// Batches of one size from records. The last one of an epoch is filled with `pad` records: where they are `rounded`
/// with those of the beginning, behind which the next epoch goes on, as the original's does; else with empty ones.
template <RecordSource Records>
class Batches {
 public:
  /// `function` begins the sentences of errors; of the rest the records are made.
  template <class... Args>
  Batches(std::string_view function, Index size, bool rounded, Args&&... records)
      : function_(function), size_(size), rounded_(rounded), records_(std::forward<Args>(records)...) {}

  /// Makes the next batch; false at the end of the epoch.
  bool next(DataBatch& batch) {
    if (over_) return false;
    records_.clear();
    Index got = records_.take(size_);
    if (got == 0 && continued_) {  // the last batch was filled with all records, to the very last
      rewind();
      got = records_.take(size_);
    }
    continued_ = false;
    over_ = got < size_;
    if (got == 0) return false;
    batch = {};
    number(batch, got);
    batch.pad = size_ - got;
    if (rounded_)
      fill(batch);
    else if (batch.pad > 0) {
      records_.take_empty(batch.pad);
      batch.index.insert(batch.index.end(), unsigned_size(batch.pad), -1);
    }
    records_.give(batch);
    return true;
  }

  /// Begins an epoch: behind the records that filled the last batch where whoever takes batches has `seen` the last one
  /// to its end, which those that were made ahead do not say, else with the first record.
  void begin_epoch(bool seen) {
    continued_ = seen && continues_;
    if (!continued_) rewind();
    over_ = continues_ = false;
  }

 private:
  void number(DataBatch& batch, Index count) {
    for (Index k = 0; k < count; ++k) batch.index.push_back(row_++);
  }
  void fill(DataBatch& batch) {
    for (Index missing = batch.pad; missing > 0;) {
      rewind();
      const Index got = records_.take(missing);
      if (got == 0) fail(function_, ": the data has become shorter while it was read");
      number(batch, got);
      missing -= got;
      continues_ = true;
    }
  }
  void rewind() {
    records_.rewind();
    row_ = 0;
  }

  std::string_view function_;
  Index size_;
  bool rounded_;
  Records records_;
  std::int64_t row_ = 0;                   // the number of the next record
  bool over_ = false, continues_ = false;  // the epoch is made; the next one goes on where the last batch ended
  bool continued_ = false;                 // this epoch began so, and no batch of it is made
};

}  // namespace strop::inline v0::detail
