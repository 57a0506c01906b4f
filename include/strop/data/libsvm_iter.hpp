// SPDX-License-Identifier: Apache-2.0
/// \file
/// LibSVMIter: LibSVM files as batches of CSR rows, read ahead.
#pragma once
#include <strop/data/data_iter.hpp>

#include <cstdint>
#include <string>

namespace strop::inline v0 {

/// Parameters of LibSVMIter: MXNet's names, order and defaults, then ours.
struct LibSVMParams {
  Shape data_shape = {};          ///< (features,)
  std::string label_libsvm = "";  ///< a LibSVM file of the labels, or a folder; "" or "NULL": they stand with the data
  Shape label_shape = {1};        ///< (labels,) of a row
  std::int64_t num_parts = 1;     ///< of how many parts of the data
  std::int64_t part_index = 0;    ///< this one is read
  std::int64_t batch_size = 0;    ///< rows of a batch
  bool round_batch = true;        ///< the last batch is filled with rows of the beginning, else with empty rows
  std::int64_t prefetch_buffer = 4;  ///< batches that are made ahead; 0: none
  Dtype dtype = f32;                 ///< of data and labels
  bool one_based = false;            ///< the first column's index is 1, not 0
};

/// Batches of a LibSVM file (of all files that `data_libsvm` names, as of CSVIter): `data[0]` is CSR of shape
/// (batch_size, features), with int32 indices where these can number the features, `label[0]` dense of shape
/// (batch_size,), or (batch_size, labels) where there are several; of a label file it is CSR, in every part the labels
/// of that part's rows. Shapes with more elements than 64 bits can count are refused.
///
/// An epoch ends after the batch that holds the last row. With round_batch that batch is filled with the first rows,
/// `pad` of them, and the next epoch begins behind those, as MXNet's does. reset() in the middle of an epoch
/// begins it anew. Errors name file, line and byte (see load_libsvm); they are thrown where the batch is asked for. One
/// thread at a time uses it.
///
/// Example: `for (auto& batch : LibSVMIter("a.libsvm", {.data_shape = {1000}, .batch_size = 32})) use(batch.data[0]);`
class LibSVMIter : public DataIter {
 public:
  explicit LibSVMIter(const std::string& data_libsvm, const LibSVMParams& params);
};

}  // namespace strop::inline v0

#if !defined(STROP_COMPILED)
#include <strop/data/libsvm_iter_impl.hpp>
#endif
