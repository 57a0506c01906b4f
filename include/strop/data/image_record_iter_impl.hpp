// SPDX-License-Identifier: Apache-2.0
/// \file
/// How batches of packed pictures are made.
#pragma once
#include <strop/core/config.hpp>
#include <strop/core/error.hpp>
#include <strop/core/list.hpp>
#include <strop/data/batches.hpp>
#include <strop/data/data_part.hpp>
#include <strop/data/image_record_impl.hpp>
#include <strop/data/image_record_iter.hpp>
#include <strop/data/picture_batches.hpp>
#include <strop/data/record_file_impl.hpp>
#include <strop/data/row_order.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

namespace strop::inline v0 {
namespace detail {

/// The pictures of a file of records.
class PackedPictures {
 public:
  PackedPictures(const std::string& path, const ImageRecordParams& params)
      : params_(params),
        path_(path),
        reader_(path, by_bytes() ? RecordParams{.num_parts = params.num_parts, .part_index = params.part_index}
                                 : RecordParams{}),
        order_(0, 0) {
    if (!by_bytes()) {
      for (const RecordIndex::Place& place : RecordIndex("ImageRecordIter", params.path_imgidx).places)
        begins_.push_back(place.byte);
      std::sort(begins_.begin(), begins_.end());
      const auto begin = [&](std::int64_t part) { return part_begin(begins_.size(), params.num_parts, part); };
      order_ = RowOrder(begin(params.part_index), begin(params.part_index + 1) - begin(params.part_index));
    } else if (params.shuffle) {
      std::string record;
      for (std::int64_t byte = reader_.tell(); reader_.read(record); byte = reader_.tell()) begins_.push_back(byte);
      order_ = RowOrder(0, begins_.size());
    }
  }

  bool take(Index place, GatheredPicture& one) {
    one.number = place;
    if (in_order()) {
      one.byte = reader_.tell();
      return reader_.read(one.record);
    }
    if (place == order_.size()) return false;
    one.number = order_[place];
    one.byte = begins_[one.number];
    reader_.seek_byte(one.byte);
    if (!reader_.read(one.record)) fail("ImageRecordIter: ", where(one), ": the file ends there");
    return true;
  }
  void open(const GatheredPicture& one, float* label, std::string_view& bytes, std::string&) const {
    const RecordParts parts(one.record);
    if (parts.label_count() != params_.label_width)
      fail("the label has ", parts.label_count(), parts.label_count() == 1 ? " number" : " numbers",
           ", label_width is ", params_.label_width);
    parts.copy_label(label);
    bytes = parts.bytes;
  }
  std::string where(const GatheredPicture& one) const {
    return cat('"', path_, "\", record ", one.number, ", byte ", one.byte);
  }
  void begin_epoch(std::int64_t epoch) {
    if (params_.shuffle) order_.shuffle("ImageRecordIter", params_.seed, epoch);
  }
  void rewind() { reader_.rewind(); }

 private:
  bool by_bytes() const { return params_.path_imgidx.empty(); }
  bool in_order() const { return by_bytes() && !params_.shuffle; }

  ImageRecordParams params_;
  std::string path_;
  RecordReader reader_;
  List<std::int64_t> begins_;  // of records; none where they are read as they stand
  RowOrder order_;
};

}  // namespace detail

STROP_IMPL ImageRecordIter::ImageRecordIter(const std::string& path_imgrec, const ImageRecordParams& params)
    : DataIter(
          "ImageRecordIter", params.prefetch_buffer,
          new detail::StageOf<detail::Batches<detail::PictureBatches<detail::PackedPictures>>>(
              "ImageRecordIter", params.batch_size, params.round_batch ? detail::Rest::rounded : detail::Rest::empty,
              "ImageRecordIter", params, path_imgrec, params)) {}

}  // namespace strop::inline v0
