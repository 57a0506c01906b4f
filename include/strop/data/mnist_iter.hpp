// SPDX-License-Identifier: Apache-2.0
/// \file
/// MNISTIter: images and labels of idx files as batches.
#pragma once
#include <strop/core/push_macros.def>

#include <strop/data/data_iter.hpp>

#include <cstdint>
#include <string>

namespace strop::inline v0 {

/// Parameters of MNISTIter: MXNet's names, order and defaults.
struct MNISTParams {
  std::int64_t batch_size = 128;  ///< images of a batch
  bool shuffle = true;            ///< the images come in an order that follows from the seed, the same in every epoch
  bool flat = false;              ///< an image is a vector
  std::uint64_t seed = 0;
  bool silent = false;               ///< taken for MXNet's programs; nothing is printed
  std::int64_t num_parts = 1;        ///< of how many parts of the images
  std::int64_t part_index = 0;       ///< this one is read
  std::int64_t prefetch_buffer = 4;  ///< batches that are made ahead; 0: none
  Dtype dtype = f32;                 ///< of data and labels, a floating type
};

/// Batches of the images of two idx files, plain or gzip: `data[0]` of shape (batch_size, 1, rows, columns), or
/// (batch_size, pixels) where they are flat, a byte divided by 256, as MXNet does; `label[0]` of shape
/// (batch_size,). What does not fill a batch is left out. Part k of n has images ⌊N k / n⌋ to ⌊N (k + 1) / n⌋ − 1.
/// Throws Error where a file is no idx file of bytes of so many axes, the two differ in count, or a parameter is wrong.
///
/// Example: `MNISTIter("images.gz", "labels.gz", {.batch_size = 100, .flat = true})`
class MNISTIter : public DataIter {
 public:
  MNISTIter(const std::string& image, const std::string& label, const MNISTParams& params = {});
};

}  // namespace strop::inline v0

#if !defined(STROP_COMPILED)
#include <strop/data/mnist_iter_impl.hpp>
#endif

#include <strop/core/pop_macros.def>
