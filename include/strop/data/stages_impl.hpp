// SPDX-License-Identifier: Apache-2.0
/// \file
/// How iterators take the batches of others.
#pragma once
#include <strop/core/config.hpp>
#include <strop/core/error.hpp>
#include <strop/core/text.hpp>
#include <strop/data/stages.hpp>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace strop::inline v0 {
namespace detail {

/// Takes a number and the mark behind it off a position; false where there is none.
STROP_IMPL bool take_number(std::string_view& text, char mark, std::int64_t& number) {
  const std::size_t end = text.find(mark);
  if (end == std::string_view::npos || !parse_integer(text.substr(0, end), number) || number < 0) return false;
  text.remove_prefix(end + 1);
  return true;
}

/// Where an iterator is; empty where it cannot say.
STROP_IMPL std::string position_of(const Upstream& of) { return of->has_position() ? of->position() : std::string(); }

/// So many batches of another iterator.
class Resized {
 public:
  Resized(DataIter of, std::int64_t size, bool reset_internal)
      : of_(std::move(of)), size_(size), reset_internal_(reset_internal) {
    if (size < 1) fail("ResizeIter: size is ", size, ", expected 1 or more");
    start_ = position_of(of_);
  }
  bool next(DataBatch& batch) {
    if (given_ == size_) return false;
    // Of few rows that roll over into one batch an epoch may have none, and the next one has.
    for (int epochs = 0; !of_->next(); ++epochs) {
      if (epochs == 2) fail("ResizeIter: the iterator has no batches");
      of_->reset();
    }
    batch = std::move(of_->batch());
    ++given_;
    last_of_inner_ = of_.last();
    return true;
  }
  bool last() const { return given_ == size_; }
  /// Where the end was not seen, epochs of the other iterator that began meanwhile do not count: who resets may have
  /// seen none of them.
  void begin_epoch(bool seen) {
    given_ = 0;
    if (reset_internal_ && seen) {
      of_.begin_epoch(last_of_inner_);  // reset() would not, right behind resume()
    } else if (reset_internal_) {
      if (!start_.empty()) of_->resume(start_);
      of_.begin_epoch(false);
    }
    start_ = position_of(of_);
  }
  /// How many were given, whether the other iterator's last is among them, where the epoch began (how long that is, and
  /// it), where the other iterator is.
  std::string position() const {
    return start_.empty() ? std::string()
                          : cat(given_, '/', last_of_inner_ ? 1 : 0, '/', start_.size(), ':', start_, of_->position());
  }
  void resume(std::string_view position) {
    std::string_view of = position;
    std::int64_t size = 0, last = 0;
    if (!take_number(of, '/', given_) || given_ > size_ || !take_number(of, '/', last) || last > 1 ||
        !take_number(of, ':', size) || unsigned_size(size) > of.size())
      fail("ResizeIter: \"", position, "\" is no position in these batches");
    last_of_inner_ = last == 1;
    start_ = of.substr(0, unsigned_size(size));
    of_->resume(of.substr(unsigned_size(size)));
  }
  std::vector<DataDesc> provide_data() const { return of_->provide_data(); }
  std::vector<DataDesc> provide_label() const { return of_->provide_label(); }

 private:
  Upstream of_;
  std::int64_t size_, given_ = 0;
  bool reset_internal_, last_of_inner_ = false;
  std::string start_;  // where the epoch began; empty where the other iterator cannot say
};

/// The batches of another iterator as they are.
class Passed {
 public:
  explicit Passed(DataIter of) : of_(std::move(of)) {}
  bool next(DataBatch& batch) {
    if (!of_->next()) return false;
    batch = std::move(of_->batch());
    return true;
  }
  bool last() const { return of_.last(); }
  void begin_epoch(bool seen) { of_.begin_epoch(seen); }
  std::string position() const { return position_of(of_); }
  void resume(std::string_view position) { of_->resume(position); }
  std::vector<DataDesc> provide_data() const { return of_->provide_data(); }
  std::vector<DataDesc> provide_label() const { return of_->provide_label(); }

 private:
  Upstream of_;
};

/// The batches of several iterators side by side.
class Joined {
 public:
  Joined(std::vector<DataIter> of, const PrefetchParams& params) : params_(params) {
    if (of.empty()) fail("PrefetchingIter: there is no iterator");
    const auto check = [&](const char* what, std::size_t count) {
      if (count != 0 && count != of.size())
        fail("PrefetchingIter: ", what, " has names for ", count, " iterators, there are ", of.size());
    };
    check("rename_data", params.rename_data.size());
    check("rename_label", params.rename_label.size());
    for (DataIter& each : of) of_.emplace_back(DataIter(Passed(std::move(each)), params.prefetch_buffer));
  }
  bool next(DataBatch& batch) {
    std::size_t there = 0;
    for (Upstream& each : of_) there += each->next() ? 1U : 0U;
    if (there == 0) return false;
    if (there < of_.size()) fail("PrefetchingIter: one iterator has ended and another one has not");
    batch = std::move(of_[0]->batch());
    for (std::size_t k = 1; k < of_.size(); ++k) {
      DataBatch& more = of_[k]->batch();
      if (more.pad != batch.pad)
        fail("PrefetchingIter: of one iterator ", batch.pad, " rows only fill the batch, of another one ", more.pad);
      batch.data.insert(batch.data.end(), more.data.begin(), more.data.end());
      batch.label.insert(batch.label.end(), more.label.begin(), more.label.end());
      if (!batch.qid.defined()) batch.qid = more.qid;
    }
    return true;
  }
  bool last() const {
    return std::all_of(of_.begin(), of_.end(), [](const Upstream& each) { return each.last(); });
  }
  void begin_epoch(bool seen) {
    for (Upstream& each : of_) each.begin_epoch(seen);
  }
  /// Of each iterator how long its position is, and that.
  std::string position() const {
    std::string out;
    for (const Upstream& each : of_) {
      const std::string one = position_of(each);
      if (one.empty()) return {};
      out += cat(one.size(), ':', one);
    }
    return out;
  }
  void resume(std::string_view position) {
    std::string_view left = position;
    for (Upstream& each : of_) {
      std::int64_t size = 0;
      if (!take_number(left, ':', size) || unsigned_size(size) > left.size())
        fail("PrefetchingIter: \"", position, "\" is no position in these batches");
      each->resume(left.substr(0, unsigned_size(size)));
      left.remove_prefix(unsigned_size(size));
    }
  }
  std::vector<DataDesc> provide_data() const {
    return described([](const DataIter& of) { return of.provide_data(); }, params_.rename_data);
  }
  std::vector<DataDesc> provide_label() const {
    return described([](const DataIter& of) { return of.provide_label(); }, params_.rename_label);
  }

 private:
  template <class F>
  std::vector<DataDesc> described(F provide, const std::vector<PrefetchParams::Renames>& renames) const {
    std::vector<DataDesc> out;
    for (std::size_t k = 0; k < of_.size(); ++k)
      for (DataDesc& one : provide(*of_[k])) {
        if (!renames.empty())
          for (const auto& [from, to] : renames[k])
            if (one.name == from) {
              one.name = to;
              break;
            }
        out.push_back(std::move(one));
      }
    return out;
  }

  PrefetchParams params_;
  std::vector<Upstream> of_;
};

STROP_IMPL std::vector<DataIter> alone(DataIter of) {
  std::vector<DataIter> list;
  list.push_back(std::move(of));
  return list;
}

}  // namespace detail

STROP_IMPL ResizeIter::ResizeIter(DataIter data_iter, std::int64_t size, bool reset_internal)
    : DataIter("ResizeIter", 0, new detail::StageOf<detail::Resized>(std::move(data_iter), size, reset_internal)) {}
STROP_IMPL PrefetchingIter::PrefetchingIter(DataIter of, const PrefetchParams& params)
    : PrefetchingIter(detail::alone(std::move(of)), params) {}
STROP_IMPL PrefetchingIter::PrefetchingIter(std::vector<DataIter> of, const PrefetchParams& params)
    : DataIter("PrefetchingIter", 0, new detail::StageOf<detail::Joined>(std::move(of), params)) {}

}  // namespace strop::inline v0
