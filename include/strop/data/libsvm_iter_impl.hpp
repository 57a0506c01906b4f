// SPDX-License-Identifier: Apache-2.0
/// \file
/// How batches of LibSVM rows are made.
#pragma once
#include <strop/core/config.hpp>
#include <strop/data/batches.hpp>
#include <strop/data/libsvm_iter.hpp>
#include <strop/data/libsvm_reader.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace strop::inline v0 {

namespace detail {

STROP_IMPL const LibSVMParams& checked(const LibSVMParams& p) {
  const auto refuse = [](const auto&... parts) { fail("LibSVMIter: ", parts...); };
  if (p.data_shape.ndim() != 1 || p.data_shape[0] < 1)
    refuse("data_shape is ", p.data_shape, ", expected one extent, the number of features");
  if (p.label_shape.ndim() != 1 || p.label_shape[0] < 1)
    refuse("label_shape is ", p.label_shape, ", expected one extent, the number of labels of a row");
  if (p.batch_size < 1) refuse("batch_size is ", p.batch_size, ", expected 1 or more");
  check_part("LibSVMIter", p.num_parts, p.part_index);
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
        labels_(names_label_file(given.label_libsvm) ? 1 : given.label_shape[0]),
        lines_("LibSVMIter", path, format(given.data_shape[0], labels_), {given.num_parts, given.part_index},
               given.label_libsvm, label_format()) {}

  void clear() { rows_.clear(), label_rows_.clear(); }
  Index take(Index n) { return lines_.read(n, rows_, label_rows_); }
  void take_empty(Index n) {
    for (; n > 0; --n) {
      rows_.append_empty(labels_);
      if (lines_.has_labels()) label_rows_.append_empty(1);
    }
  }
  void give(DataBatch& batch) {
    batch.data.push_back(rows_.data(params_.data_shape[0], params_.dtype));
    batch.qid = rows_.qid();
    batch.label.push_back(lines_.has_labels() ? label_rows_.data(params_.label_shape[0], params_.dtype)
                                              : rows_.label(labels_, params_.dtype));
  }
  void rewind() { lines_.rewind(); }
  std::vector<DataDesc> provide_data(Index size) const {
    return {{"data", {size, params_.data_shape[0]}, params_.dtype}};
  }
  std::vector<DataDesc> provide_label(Index size) const {
    const bool one = !lines_.has_labels() && labels_ == 1;
    return {{"softmax_label", one ? Shape{size} : Shape{size, params_.label_shape[0]}, params_.dtype}};
  }

 private:
  LibSVMText format(std::int64_t features, std::int64_t labels) const {
    return {{.features = features, .labels = labels, .one_based = params_.one_based, .dtype = params_.dtype}};
  }
  std::optional<LibSVMText> label_format() const {
    if (!names_label_file(params_.label_libsvm)) return std::nullopt;
    return format(params_.label_shape[0], 1);
  }

  LibSVMParams params_;
  std::int64_t labels_;
  LabelledReader<LibSVMText> lines_;
  LibSVMRows rows_, label_rows_;  // of the batch that is made
};

}  // namespace detail

STROP_IMPL LibSVMIter::LibSVMIter(const std::string& data_libsvm, const LibSVMParams& params)
    : DataIter("LibSVMIter", params.prefetch_buffer,
               new detail::StageOf<detail::Batches<detail::LibSVMRecords>>(
                   "LibSVMIter", params.batch_size, params.round_batch ? detail::Rest::rounded : detail::Rest::empty,
                   data_libsvm, params)) {}

}  // namespace strop::inline v0
