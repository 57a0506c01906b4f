// SPDX-License-Identifier: Apache-2.0
/// \file
/// How batches of lines of numbers are made.
#pragma once
#include <strop/core/config.hpp>
#include <strop/data/batches.hpp>
#include <strop/data/csv_iter.hpp>
#include <strop/data/csv_rows.hpp>
#include <strop/tensor/convert.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace strop::inline v0 {
namespace detail {

/// Rows of numbers for Batches, with their labels.
class CSVRecords {
 public:
  CSVRecords(const std::string& path, const CSVParams& given)
      : params_(given),
        data_(text("data_shape", given.data_shape)),
        label_(text("label_shape", given.label_shape)),
        lines_("CSVIter", path, data_, part(), given.label_csv,
               names_label_file(given.label_csv) ? std::optional<CSVText>(label_) : std::nullopt) {}

  void clear() { rows_.clear(), label_rows_.clear(); }
  Index take(Index n) {
    const Index got = lines_.read(n, rows_, label_rows_);
    if (!lines_.has_labels()) label_.append_empty(label_rows_, got);
    return got;
  }
  void take_empty(Index n) {
    data_.append_empty(rows_, n);
    label_.append_empty(label_rows_, n);
  }
  void give(DataBatch& batch) {
    batch.data.push_back(data_.array(rows_, shape(rows_.count(), params_.data_shape)));
    batch.label.push_back(label_.array(label_rows_, label_shape(rows_.count())));
  }
  void rewind() { lines_.rewind(); }
  std::vector<DataDesc> provide_data(Index size) const {
    return {{"data", shape(size, params_.data_shape), params_.dtype}};
  }
  std::vector<DataDesc> provide_label(Index size) const {
    return {{"softmax_label", label_shape(size), params_.dtype}};
  }

 private:
  static Shape shape(Index size, const Shape& of_row) {
    Shape out{size};
    for (int axis = 0; axis < of_row.ndim(); ++axis) out.push_back(of_row[axis]);
    return out;
  }
  Shape label_shape(Index size) const {
    return params_.label_shape == Shape{1} ? Shape{size} : shape(size, params_.label_shape);
  }
  CSVText text(std::string_view what, const Shape& of_row) const {
    if (params_.batch_size < 1) fail("CSVIter: batch_size is ", params_.batch_size, ", expected 1 or more");
    for (int axis = 0; axis < of_row.ndim(); ++axis)
      if (of_row[axis] < 1) fail("CSVIter: ", what, " is ", of_row, ", expected extents of 1 or more");
    if (of_row.ndim() == 0) fail("CSVIter: ", what, " is (), expected the shape of a row, such as (3,)");
    checked_count(shape(params_.batch_size, of_row), 8);
    return {checked_count(of_row), params_.dtype};
  }
  DataPart part() const {
    check_part("CSVIter", params_.num_parts, params_.part_index);
    return {params_.num_parts, params_.part_index};
  }

  CSVParams params_;
  CSVText data_, label_;
  LabelledReader<CSVText> lines_;
  CSVRows rows_, label_rows_;  // of the batch that is made
};

}  // namespace detail

STROP_IMPL CSVIter::CSVIter(const std::string& data_csv, const CSVParams& params)
    : DataIter("CSVIter", params.prefetch_buffer,
               new detail::StageOf<detail::Batches<detail::CSVRecords>>(
                   "CSVIter", params.batch_size, params.round_batch ? detail::Rest::rounded : detail::Rest::empty,
                   data_csv, params)) {}

}  // namespace strop::inline v0
