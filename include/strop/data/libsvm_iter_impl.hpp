// SPDX-License-Identifier: Apache-2.0
/// \file
/// How batches of LibSVM rows are made.
#pragma once
#include <strop/core/config.hpp>
#include <strop/data/libsvm.hpp>
#include <strop/data/libsvm_iter.hpp>
#include <strop/data/read_ahead.hpp>

#include <optional>
#include <utility>

namespace strop::inline v0 {

struct LibSVMIter::State {
  State(const std::string& path, const LibSVMParams& given)
      : params(checked(given)),
        labels(has_label_file(given) ? 1 : given.label_shape[0]),
        data("LibSVMIter", path,
             {.features = given.data_shape[0], .labels = labels, .one_based = given.one_based, .dtype = given.dtype},
             given.num_parts, given.part_index),
        ahead("LibSVMIter", static_cast<std::size_t>(given.prefetch_buffer), Maker{this}) {
    if (!has_label_file(given)) return;
    label_file.emplace(
        "LibSVMIter", given.label_libsvm,
        LibSVMFormat{.features = given.label_shape[0], .one_based = given.one_based, .dtype = given.dtype});
    // The lines of two files are not cut at the same places: labels are those of the part's rows, by their numbers.
    if (given.part_index > 0) label_file->begin_at_row(data.rows_before());
  }

  static bool has_label_file(const LibSVMParams& params) {
    return !params.label_libsvm.empty() && params.label_libsvm != "NULL";
  }
  static const LibSVMParams& checked(const LibSVMParams& p) {
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

  bool make(DataBatch& batch) {
    if (over) return false;
    rows.clear(), label_rows.clear();
    detail::Index got = read(params.batch_size);
    if (got == 0 && continued) {  // the last batch was filled with all rows, to the very last
      rewind();
      got = read(params.batch_size);
    }
    continued = false;
    if (got == 0) return over = true, false;
    batch = {};
    for (detail::Index k = 0; k < got; ++k) batch.index.push_back(row++);
    if (got < params.batch_size) {
      over = true;
      batch.pad = params.batch_size - got;
      fill(batch, batch.pad);
    }
    batch.data.push_back(rows.data(params.data_shape[0], params.dtype));
    batch.qid = rows.qid();
    batch.label.push_back(label_file ? label_rows.data(params.label_shape[0], params.dtype)
                                     : rows.label(labels, params.dtype));
    return true;
  }

  /// Rows of both files, as many of one as of the other.
  detail::Index read(detail::Index n) {
    const detail::Index got = data.read(n, rows);
    if (!label_file) return got;
    // One more at the end of the last part: whether the label file ends there as well.
    const bool last = got < n && params.part_index == params.num_parts - 1;
    const detail::Index labelled = label_file->read(last ? got + 1 : got, label_rows);
    if (labelled != got)
      fail("LibSVMIter: \"", params.label_libsvm, "\" has ", labelled < got ? "fewer" : "more", " rows than the data");
    return got;
  }

  void fill(DataBatch& batch, detail::Index missing) {
    if (!params.round_batch) {
      for (; missing > 0; --missing) {
        rows.append_empty(labels);
        if (label_file) label_rows.append_empty(1);
        batch.index.push_back(-1);
      }
      return;
    }
    while (missing > 0) {
      rewind();
      const detail::Index got = data.read(missing, rows);
      if (got == 0) fail("LibSVMIter: the data has become shorter while it was read");
      if (label_file) label_file->read(got, label_rows);
      for (detail::Index k = 0; k < got; ++k) batch.index.push_back(row++);
      missing -= got;
    }
    continues = true;
  }

  void rewind() {
    data.rewind();
    if (label_file) label_file->rewind();
    row = 0;
  }
  void begin_epoch(bool seen_whole) {
    continued = seen_whole && continues;
    if (!continued) rewind();
    over = continues = false;
  }

  struct Maker {
    State* of;
    bool operator()(DataBatch& batch) const { return of->make(batch); }
  };
  LibSVMParams params;
  std::int64_t labels;
  detail::LibSVMReader data;
  std::optional<detail::LibSVMReader> label_file;
  detail::LibSVMRows rows, label_rows;   // of the batch that is made
  std::int64_t row = 0;                  // the number of the next row
  bool over = false, continues = false;  // the epoch is made; the next one goes on where the last batch ended
  bool continued = false;                // this epoch began so, and no batch of it is made
  DataBatch current;
  bool begun = false, ended = false;          // as the caller sees the epoch
  detail::ReadAhead<DataBatch, Maker> ahead;  // last: it stops before what it reads is gone
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
  s.ahead.restart([&] { s.begin_epoch(s.ended || s.current.pad > 0); });
  s.begun = s.ended = false;
}

STROP_IMPL LibSVMIter::iterator LibSVMIter::begin() {
  reset();
  iterator first(this);
  return ++first;
}

}  // namespace strop::inline v0
