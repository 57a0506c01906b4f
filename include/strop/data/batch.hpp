// SPDX-License-Identifier: Apache-2.0
/// \file
/// What an iterator over data gives at a time, and what it says of it beforehand.
#pragma once
#include <strop/tensor/ndarray.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace strop::inline v0 {

/// The name, shape and type of an array of every batch.
struct DataDesc {
  std::string name;
  Shape shape;
  Dtype dtype = f32;
  friend bool operator==(const DataDesc&, const DataDesc&) = default;
};

/// Some rows of a data set.
struct DataBatch {
  std::vector<NDArray> data, label;
  /// Of LibSVM lines: the groups that they belong to, int64, -1 where a line names none; empty where no line does.
  NDArray qid;
  /// How many of the last rows are there only to fill the batch: rows of the beginning, or empty ones. Where rows roll
  /// over to the next epoch: how many of the first rows the epoch before left, as MXNet counts; these are data.
  std::int64_t pad = 0;
  /// The number of each row in the data set, or in the part of it that is read, from 0; -1 of an empty one.
  std::vector<std::int64_t> index;
};

}  // namespace strop::inline v0
