// SPDX-License-Identifier: Apache-2.0
/// \file
/// How batches of LibSVM rows are made.
#pragma once
#include <strop/core/config.hpp>
#include <strop/data/batches.hpp>
#include <strop/data/libsvm.hpp>
#include <strop/data/libsvm_iter.hpp>
#include <strop/data/read_ahead.hpp>

#include <optional>
#include <utility>

namespace strop::inline v0 {

namespace detail {

STROP_IMPL const LibSVMParams& checked(const LibSVMParams& p) {
  const auto refuse = [](const auto&... parts) { fail("LibSVMIter: ", parts...); };
  if (p.data_shape.ndim() != 1 || p.data_shape[0] < 1)
    refuse("data_shape is ", p.data_shape, ", expected one extent, the number of features");
  if (p.label_shape.ndim() != 1 || p.label_shape[0] < 1)
    refuse("label_shape is ", p.label_shape, ", expected one extent, the number of labels of a row");
  if (p.batch_size < 1) refuse("batch_size is ", p.batch_size, ", expected 1 or more");
  if (p.num_parts < 1) refuse("num_parts is ", p.num_parts, ", expected 1 or more");
  if (p.part_index < 0 || p.part_index >= p.num_parts)
    refuse("part_index is ", p.part_index, ", expected one of 0 to ", p.num_parts - 1);
  if (p.prefetch_buffer < 0 || p.prefetch_buffer > 1024)
    refuse("prefetch_buffer is ", p.prefetch_buffer, ", expected 0 to 1024");
  const auto refuse_count = [&](std::string_view what, std::int64_t of_row) {
    std::int64_t count = 0;
    if (__builtin_mul_overflow(p.batch_size, of_row, &count))
      refuse(what, " is (", of_row, ",), of which ", p.batch_size,
             " rows, a batch, have more elements than 64 bits can count");
  };
  refuse_count("data_shape", p.data_shape[0]);
  refuse_count("label_shape", p.label_shape[0]);
  return p;
}

/// Rows of LibSVM text for Batches, with their labels: of the line, or of a file of their own.
class LibSVMRecords {
 public:
  LibSVMRecords(const std::string& path, const LibSVMParams& given)
      : params_(checked(given)),
        labels_(has_label_file() ? 1 : given.label_shape[0]),
        data_("LibSVMIter", path,
              {.features = given.data_shape[0], .labels = labels_, .one_based = given.one_based, .dtype = given.dtype},
              given.num_parts, given.part_index) {
    if (!has_label_file()) return;
    label_file_.emplace(
        "LibSVMIter", given.label_libsvm,
        LibSVMFormat{.features = given.label_shape[0], .one_based = given.one_based, .dtype = given.dtype});
    // The lines of two files are not cut at the same places: labels are those of the part's rows, by their numbers.
    if (given.part_index > 0) label_file_->begin_at_row(data_.rows_before());
  }

  void clear() { rows_.clear(), label_rows_.clear(); }
  /// Rows of both files, as many of one as of the other.
  Index take(Index n) {
    const Index got = data_.read(n, rows_);
    if (!label_file_) return got;
    // One more at the end of the last part: whether the label file ends there as well.
    const bool last = got < n && params_.part_index == params_.num_parts - 1;
    const Index labelled = label_file_->read(last ? got + 1 : got, label_rows_);
    if (labelled != got)
      fail("LibSVMIter: \"", params_.label_libsvm, "\" has ", labelled < got ? "fewer" : "more", " rows than the data");
    return got;
  }
  void take_empty(Index n) {
    for (; n > 0; --n) {
      rows_.append_empty(labels_);
      if (label_file_) label_rows_.append_empty(1);
    }
  }
  void give(DataBatch& batch) {
    batch.data.push_back(rows_.data(params_.data_shape[0], params_.dtype));
    batch.qid = rows_.qid();
    batch.label.push_back(label_file_ ? label_rows_.data(params_.label_shape[0], params_.dtype)
                                      : rows_.label(labels_, params_.dtype));
  }
  void rewind() {
    data_.rewind();
    if (label_file_) label_file_->rewind();
  }

 private:
  bool has_label_file() const { return !params_.label_libsvm.empty() && params_.label_libsvm != "NULL"; }

  LibSVMParams params_;
  std::int64_t labels_;
  LibSVMReader data_;
  std::optional<LibSVMReader> label_file_;
  LibSVMRows rows_, label_rows_;  // of the batch that is made
};

}  // namespace detail

/// Lines of the files, the parser, batching and reading ahead, one on the other; and what the caller sees of it.
struct LibSVMIter::State {
  State(const std::string& path, const LibSVMParams& params)
      : batches("LibSVMIter", params.batch_size, params.round_batch, path, params),
        ahead("LibSVMIter", static_cast<std::size_t>(params.prefetch_buffer), Make{&batches}) {}

  using Batches = detail::Batches<detail::LibSVMRecords>;
  struct Make {
    Batches* from;
    bool operator()(DataBatch& batch) const { return from->next(batch); }
  };
  Batches batches;
  DataBatch current;
  bool begun = false, ended = false;         // as the caller sees the epoch
  detail::ReadAhead<DataBatch, Make> ahead;  // last: it stops before what it reads is gone
};

STROP_IMPL LibSVMIter::LibSVMIter(const std::string& data_libsvm, const LibSVMParams& params)
    : state_(new State(data_libsvm, params)) {}
STROP_IMPL LibSVMIter::LibSVMIter(LibSVMIter&& from) noexcept : state_(std::exchange(from.state_, nullptr)) {}
STROP_IMPL LibSVMIter& LibSVMIter::operator=(LibSVMIter&& from) noexcept {
  std::swap(state_, from.state_);
  return *this;
}
STROP_IMPL LibSVMIter::~LibSVMIter() { delete state_; }

STROP_IMPL bool LibSVMIter::next() {
  State& s = *state_;
  s.begun = s.ended = true;  // until there is a batch: where making it throws, there is none
  s.ended = !s.ahead.next(s.current);
  return !s.ended;
}

STROP_IMPL DataBatch& LibSVMIter::batch() const {
  if (!state_->begun || state_->ended) fail("LibSVMIter: there is no current batch; next() makes one");
  return state_->current;
}

STROP_IMPL void LibSVMIter::reset() {
  State& s = *state_;
  if (!s.begun) return;
  s.ahead.restart([&] { s.batches.begin_epoch(s.ended || s.current.pad > 0); });
  s.begun = s.ended = false;
}

STROP_IMPL LibSVMIter::iterator LibSVMIter::begin() {
  reset();
  iterator first(this);
  return ++first;
}

}  // namespace strop::inline v0
