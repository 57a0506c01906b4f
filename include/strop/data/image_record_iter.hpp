// SPDX-License-Identifier: Apache-2.0
/// \file
/// ImageRecordIter: files of packed pictures as batches, decoded and changed by several threads, read ahead.
#pragma once
#include <strop/core/push_macros.def>

#include <strop/data/data_iter.hpp>
#include <strop/data/image_record_params.hpp>

#include <string>

namespace strop::inline v0 {

/// Batches of the pictures, JPEG or PNG, of a file of records that pack() made, or MXNet's im2rec: `data[0]` of
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
