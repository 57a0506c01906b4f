// SPDX-License-Identifier: Apache-2.0
/// \file
/// CSVIter: files of numbers between commas as batches, read ahead.
#pragma once
#include <strop/core/push_macros.def>

#include <strop/data/data_iter.hpp>

#include <cstdint>
#include <string>

namespace strop::inline v0 {

/// Parameters of CSVIter: MXNet's names, order and defaults, then ours.
struct CSVParams {
  Shape data_shape = {};             ///< of a row
  std::string label_csv = "";        ///< a file of the labels, or a folder; "" or "NULL": every label is 0
  Shape label_shape = {1};           ///< of a row's label
  std::int64_t batch_size = 0;       ///< rows of a batch
  bool round_batch = true;           ///< the last batch is filled with rows of the beginning, else with zeros
  std::int64_t prefetch_buffer = 4;  ///< batches that are made ahead; 0: none
  Dtype dtype = f32;                 ///< of data and labels
  std::int64_t num_parts = 1;        ///< of how many parts of the data
  std::int64_t part_index = 0;       ///< this one is read
};

/// Batches of a file of numbers between commas (of all files that `data_csv` names: a folder, a pattern, several with
/// semicolons between them, packed by gzip or zstd, a pipe, "-"), a line a row:
/// `data[0]` of shape (batch_size, *data_shape), `label[0]` of shape (batch_size, *label_shape), of one label a row
/// (batch_size,). Empty lines, and comments from '#' on, are passed over. Numbers are read to the nearest float32
/// (float64 where `dtype` is that) and become another floating type from there; of an integer type only whole numbers
/// that it can hold are taken. A part has the rows whose first byte lies in its share of the bytes, and their labels.
///
/// An epoch ends after the batch that holds the last row. With round_batch that batch is filled with the first rows,
/// `pad` of them, and the next epoch begins behind those, as MXNet's does. A wrong parameter is
/// an Error at once. A line that has other things than numbers, or not as many as the shape, is an Error when its batch
/// is asked for; it names file, line and byte.
///
/// Example: `for (auto& batch : CSVIter("a.csv", {.data_shape = {3}, .batch_size = 4})) use(batch.data[0]);`
class CSVIter : public DataIter {
 public:
  CSVIter(const std::string& data_csv, const CSVParams& params);
};

}  // namespace strop::inline v0

#if !defined(STROP_COMPILED)
#include <strop/data/csv_iter_impl.hpp>
#endif

#include <strop/core/pop_macros.def>
