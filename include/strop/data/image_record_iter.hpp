// SPDX-License-Identifier: Apache-2.0
/// \file
/// ImageRecordIter: files of packed pictures as batches, decoded and changed by several threads, read ahead.
#pragma once
#include <strop/core/push_macros.def>

#include <strop/data/data_iter.hpp>

#include <cstdint>
#include <string>

namespace strop::inline v0 {

/// Parameters of ImageRecordIter: those of the original that are here, by its names and defaults but for
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

/// Batches of the pictures, JPEG or PNG, of a file of records that pack() made, or the original's im2rec: `data[0]` of
/// shape (batch_size, *data_shape), `label[0]` float32 of shape (batch_size,), or (batch_size, label_width). A picture
/// is decoded, resized, padded, cropped to data_shape and mirrored; then a value v becomes (v − mean) · scale / std of
/// its channel, red, green, blue. With dtype uint8 it stays as it is.
///
/// With an index part k of n has an equal share of its records, without one those whose first byte lies in its share of
/// the bytes. To shuffle without an index, the file is read through once at first. What is random follows from the
/// seed, the epoch and the number of the record. Of batches and epochs the rules are CSVIter's.
///
/// Throws Error at once where a parameter is wrong, or a file cannot be read. A picture that is damaged or smaller than
/// data_shape, and a label of another width, are an Error when their batch is asked for; it names file, record and
/// byte.
///
/// Example: `ImageRecordIter("a.rec", {.data_shape = {3, 224, 224}, .batch_size = 32, .rand_crop = true})`
class ImageRecordIter : public DataIter {
 public:
  ImageRecordIter(const std::string& path_imgrec, const ImageRecordParams& params);
};

}  // namespace strop::inline v0

#if !defined(STROP_COMPILED)
#include <strop/data/image_record_iter_impl.hpp>
#endif

#include <strop/core/pop_macros.def>
