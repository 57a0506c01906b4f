// SPDX-License-Identifier: Apache-2.0
/// \file
/// What LibSVM text says, and how it is read.
#pragma once
#include <strop/tensor/ndarray.hpp>

#include <cstdint>

namespace strop::inline v0 {

/// How LibSVM text is read.
struct LibSVMFormat {
  std::int64_t features = 0;  ///< columns of the data; 0: as many as the largest index asks for
  std::int64_t labels = 1;    ///< labels of a line, separated by commas
  bool one_based = false;     ///< the first column's index is 1, not 0
  Dtype dtype = f32;          ///< of data and labels
};

/// Rows of LibSVM text.
struct LibSVMData {
  NDArray data;   ///< CSR, (rows, features), with int32 indices where these can number the features
  NDArray label;  ///< (rows,), or (rows, labels) where a line has several
  NDArray qid;    ///< int64, (rows,), -1 where a line has none; an empty handle where no line has one
};

}  // namespace strop::inline v0
