// SPDX-License-Identifier: Apache-2.0
/// \file
/// What becomes of pictures on their way into batches.
#pragma once
#include <strop/core/push_macros.def>

#include <strop/tensor/ndarray.hpp>

#include <cstdint>
#include <string>

namespace strop::inline v0 {

/// Parameters of ImageRecordIter: those of MXNet that are here, by its names and defaults but for
/// `preprocess_threads`, and ours.
struct ImageRecordParams {
  std::string path_imgidx = "";         ///< the index file; "": none
  std::int64_t label_width = 1;         ///< numbers of a record's label
  Shape data_shape = {};                ///< of a row: (3, height, width), or (1, height, width) of luminance
  std::int64_t batch_size = 0;          ///< pictures of a batch
  bool shuffle = false;                 ///< each epoch has an order of its own, which follows from the seed
  std::uint64_t seed = 0;               ///< of the order, of crops and of mirroring
  bool round_batch = true;              ///< the last batch is filled with pictures of the beginning, else with zeros
  std::int64_t num_parts = 1;           ///< of how many parts of the records
  std::int64_t part_index = 0;          ///< this one is read
  std::int64_t preprocess_threads = 0;  ///< at most so many threads decode; 0: all
  std::int64_t prefetch_buffer = 4;     ///< batches that are made ahead; 0: none
  Dtype dtype = f32;                    ///< of the data: a floating type, or uint8
  std::int64_t resize = -1;             ///< pixels of the shorter edge before the crop; -1: as it is
  bool scaled_decoding = true;  ///< a JPEG whose shorter edge is at least twice `resize` is decoded at ½, ¼ or ⅛
  bool rand_crop = false;       ///< the crop lies anywhere, else in the middle
  int fill_value = 255;         ///< of the pixels that `pad` adds
  int inter_method = 1;         ///< how `resize` computes, as image::resize numbers it
  std::int64_t pad = 0;         ///< pixels that are added on each side before the crop
  bool mirror = false;          ///< columns come in reverse order
  bool rand_mirror = false;     ///< so do those of a half of the pictures
  float mean_r = 0, mean_g = 0, mean_b = 0;  ///< of each channel; of luminance the first one counts
  float std_r = 1, std_g = 1, std_b = 1;
  float scale = 1;
};

}  // namespace strop::inline v0

#include <strop/core/pop_macros.def>
