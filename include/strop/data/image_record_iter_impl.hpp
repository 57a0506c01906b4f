// SPDX-License-Identifier: Apache-2.0
/// \file
/// How batches of packed pictures are made.
#pragma once
#include <strop/core/config.hpp>
#include <strop/core/error.hpp>
#include <strop/core/list.hpp>
#include <strop/data/batches.hpp>
#include <strop/data/data_part.hpp>
#include <strop/data/image_pixels.hpp>
#include <strop/data/image_record_impl.hpp>
#include <strop/data/image_record_iter.hpp>
#include <strop/data/record_file_impl.hpp>
#include <strop/data/row_order.hpp>
#include <strop/engine/pool.hpp>
#include <strop/memory/random.hpp>
#include <strop/tensor/convert.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <exception>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace strop::inline v0 {
namespace detail {

/// From a picture's bytes to a row of the batch.
class PictureRow {
 public:
  explicit PictureRow(const ImageRecordParams& params) : params_(params) {
    check();
    const float means[] = {params.mean_r, params.mean_g, params.mean_b};
    const float deviations[] = {params.std_r, params.std_g, params.std_b};
    for (int c = 0; c < channels(); ++c) {
      float values[256];
      const float by = params.scale / deviations[c];  // in this order, as the original's
      for (int v = 0; v < 256; ++v) values[v] = (static_cast<float>(v) - means[c]) * by;
      convert_elements(f32, values, params.dtype, values_[c], 256);
    }
  }

  int channels() const { return static_cast<int>(params_.data_shape[0]); }
  std::int64_t bytes() const { return channels() * height() * width() * size_of(params_.dtype); }

  void make(std::string_view bytes, const random::Stream& draws, std::byte* to) const {
    const bool shrinks = params_.resize > 0 && params_.scaled_decoding;
    Picture picture = decoded(bytes, channels(), shrinks ? params_.resize : 0);
    if (params_.resize > 0) picture = resized(picture);
    if (params_.pad > 0) picture = padded(picture);
    if (picture.height < height() || picture.width < width())
      fail("the picture has ", picture.height, " rows of ", picture.width, " pixels, data_shape is ",
           params_.data_shape);
    Index y = picture.height - height(), x = picture.width - width();
    y = params_.rand_crop ? below(y + 1, draws.bits(0)) : y / 2;
    x = params_.rand_crop ? below(x + 1, draws.bits(1)) : x / 2;
    const bool mirrored = params_.mirror || (params_.rand_mirror && below(2, draws.bits(2)) == 1);
    const std::uint8_t* const from = picture.bytes.get() + (y * picture.width + x) * channels();
    switch (size_of(params_.dtype)) {
      case 1:
        return write<1>(from, picture.width, mirrored, to);
      case 2:
        return write<2>(from, picture.width, mirrored, to);
      case 4:
        return write<4>(from, picture.width, mirrored, to);
      default:
        return write<8>(from, picture.width, mirrored, to);
    }
  }

 private:
  Index height() const { return params_.data_shape[1]; }
  Index width() const { return params_.data_shape[2]; }
  static Index below(Index n, std::uint32_t random) {
    return static_cast<Index>(static_cast<std::uint64_t>(n) * random >> 32);
  }

  template <class... Expected>
  static void check(bool holds, std::string_view name, const auto& value, const Expected&... expected) {
    if (!holds) fail("ImageRecordIter: ", name, " is ", value, ", expected ", expected...);
  }
  void check() const {
    const ImageRecordParams& p = params_;
    constexpr std::int64_t most = std::int64_t{1} << 16;
    const Shape& shape = p.data_shape;
    check(shape.ndim() == 3 && (shape[0] == 1 || shape[0] == 3) && std::min(shape[1], shape[2]) >= 1, "data_shape",
          shape, "(3, height, width) or (1, height, width)");
    check(p.batch_size >= 1, "batch_size", p.batch_size, "1 or more");
    checked_count({p.batch_size, shape[0], shape[1], shape[2]}, 8);
    check(p.label_width >= 1, "label_width", p.label_width, "1 or more");
    checked_count({p.batch_size, p.label_width}, 4);
    check(p.preprocess_threads >= 0, "preprocess_threads", p.preprocess_threads, "0 (all) or more");
    check(is_floating(p.dtype) || p.dtype == u8, "dtype", name_of(p.dtype), "a floating type or uint8");
    check(p.resize == -1 || (p.resize >= 1 && p.resize <= most), "resize", p.resize, "-1 (none), or 1 to ", most);
    check(p.pad >= 0 && p.pad <= most, "pad", p.pad, "0 to ", most);
    check(p.fill_value >= 0 && p.fill_value <= 255, "fill_value", p.fill_value, "0 to 255");
    check_pixel_method("ImageRecordIter", "inter_method", p.inter_method);
    const struct {
      const char* name;
      float number;
      bool divides;
    } numbers[] = {{"mean_r", p.mean_r, false}, {"mean_g", p.mean_g, false}, {"mean_b", p.mean_b, false},
                   {"std_r", p.std_r, true},    {"std_g", p.std_g, true},    {"std_b", p.std_b, true},
                   {"scale", p.scale, false}};
    for (const auto& [name, number, divides] : numbers)
      check(std::isfinite(number) && (!divides || number != 0), name, number,
            divides ? "a finite number other than 0" : "a finite number");
    const float changed[] = {p.mean_r, p.mean_g, p.mean_b, p.std_r - 1, p.std_g - 1, p.std_b - 1, p.scale - 1};
    if (p.dtype == u8 && std::any_of(std::begin(changed), std::end(changed), [](float by) { return by != 0; }))
      fail("ImageRecordIter: dtype is uint8, expected a floating type where a mean, a std or scale is given");
    check_part("ImageRecordIter", p.num_parts, p.part_index);
  }

  Picture resized(const Picture& from) const {
    const auto [height, width] = short_edge(from.height, from.width, params_.resize);
    Picture to(height, width, from.channels);
    resize_pixels(from.bytes.get(), from.height, from.width, from.channels, to.bytes.get(), height, width,
                  static_cast<PixelMethod>(params_.inter_method));
    return to;
  }
  Picture padded(const Picture& from) const {
    const Index border = params_.pad, row = from.width * from.channels;
    Picture to(from.height + 2 * border, from.width + 2 * border, from.channels);
    const Index to_row = to.width * to.channels;
    std::memset(to.bytes.get(), params_.fill_value, unsigned_size(to.height * to_row));
    for (Index y = 0; y < from.height; ++y)
      copy_bytes(to.bytes.get() + (y + border) * to_row + border * to.channels, from.bytes.get() + y * row, row);
    return to;
  }

  /// Planes of channels, from the first pixel of the crop on.
  template <int Width>
  void write(const std::uint8_t* from, Index columns, bool mirrored, std::byte* to) const {
    const Index depth = channels(), step = mirrored ? -depth : depth, count = width();
    for (int c = 0; c < depth; ++c)
      for (Index y = 0; y < height(); ++y) {
        const std::uint8_t* pixel = from + y * columns * depth + (mirrored ? (count - 1) * depth : 0) + c;
        for (Index x = 0; x < count; ++x, pixel += step, to += Width)
          std::memcpy(to, values_[c] + *pixel * Width, Width);
      }
  }

  ImageRecordParams params_;
  std::byte values_[3][256 * 8]{};  // what each value of a channel becomes, of the dtype
};

/// Packed pictures for Batches.
class PackedPictures {
 public:
  PackedPictures(const std::string& path, const ImageRecordParams& params)
      : params_(params),
        path_(path),
        row_(params),
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

  void clear() { gathered_.clear(); }
  Index take(Index n) {
    for (Index got = 0; got < n; ++got) {
      Gathered one;
      one.number = place_;
      if (in_order()) {
        one.byte = reader_.tell();
        if (!reader_.read(one.record)) return got;
      } else {
        if (place_ == order_.size()) return got;
        one.number = order_[place_];
        one.byte = begins_[one.number];
        reader_.seek_byte(one.byte);
        if (!reader_.read(one.record)) refuse(one, "the file ends there");
      }
      one.epoch = epoch_;
      ++place_;
      gathered_.push_back(std::move(one));
    }
    return n;
  }
  void take_empty(Index n) { gathered_.resize(gathered_.size() + n); }
  void append_numbers(Index, Index count, List<std::int64_t>& to) const {
    for (const Gathered& one : gathered_.span().last(count)) to.push_back(one.number);
  }
  void give(DataBatch& batch) const {
    const Index count = gathered_.size(), threads = std::min(params_.preprocess_threads, count);
    const NDArray data(provide_data(count)[0].shape, params_.dtype), label(provide_label(count)[0].shape, f32);
    std::byte* const rows = data.bytes();
    auto* const labels = label.pointer<float>();
    std::vector<std::exception_ptr> failures(unsigned_size(count));  // thrown in the order of the records
    parallel_for(count, threads == 0 ? 1 : (count + threads - 1) / threads, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t k = begin; k < end; ++k) {
        try {
          make(gathered_[k], rows + k * row_.bytes(), labels + k * params_.label_width);
        } catch (...) {
          failures[unsigned_size(k)] = std::current_exception();
        }
      }
    });
    for (const std::exception_ptr& failure : failures)
      if (failure) std::rethrow_exception(failure);
    batch.data.push_back(data);
    batch.label.push_back(label);
  }
  void begin_epoch(std::int64_t epoch) {
    epoch_ = epoch;
    if (params_.shuffle) order_.shuffle("ImageRecordIter", params_.seed, epoch);
  }
  void rewind() {
    place_ = 0;
    reader_.rewind();
  }
  std::vector<DataDesc> provide_data(Index size) const {
    const Shape& shape = params_.data_shape;
    return {{"data", {size, shape[0], shape[1], shape[2]}, params_.dtype}};
  }
  std::vector<DataDesc> provide_label(Index size) const {
    return {{"softmax_label", params_.label_width == 1 ? Shape{size} : Shape{size, params_.label_width}, f32}};
  }

 private:
  struct Gathered {
    std::string record;
    std::int64_t number = -1, byte = 0, epoch = 0;  // -1: an empty one
  };

  bool by_bytes() const { return params_.path_imgidx.empty(); }
  bool in_order() const { return by_bytes() && !params_.shuffle; }
  [[noreturn]] void refuse(const Gathered& one, std::string_view why) const {
    fail("ImageRecordIter: \"", path_, "\", record ", one.number, ", byte ", one.byte, ": ", why);
  }
  void make(const Gathered& one, std::byte* row, float* label) const {
    if (one.number < 0) {
      clear_bytes(row, row_.bytes());
      std::fill_n(label, params_.label_width, 0.0F);
      return;
    }
    // Streams of one seed and call have no element in common with those of the order, whose numbers end below 2³³.
    constexpr std::uint64_t behind_order = std::uint64_t{1} << 40;
    const random::Stream draws{.seed = params_.seed,
                               .offset = behind_order + 4 * static_cast<std::uint64_t>(one.number),
                               .call = static_cast<std::uint64_t>(one.epoch)};
    try {
      const RecordParts parts(one.record);
      if (parts.label_count() != params_.label_width)
        fail("the label has ", parts.label_count(), parts.label_count() == 1 ? " number" : " numbers",
             ", label_width is ", params_.label_width);
      parts.copy_label(label);
      row_.make(parts.bytes, draws, row);
    } catch (const Error& error) {
      refuse(one, error.what());
    }
  }

  ImageRecordParams params_;
  std::string path_;
  PictureRow row_;
  RecordReader reader_;
  List<std::int64_t> begins_;  // of records; none where they are read as they stand
  RowOrder order_;
  Index place_ = 0;
  std::int64_t epoch_ = 0;
  List<Gathered> gathered_;
};

}  // namespace detail

STROP_IMPL ImageRecordIter::ImageRecordIter(const std::string& path_imgrec, const ImageRecordParams& params)
    : DataIter("ImageRecordIter", params.prefetch_buffer,
               new detail::StageOf<detail::Batches<detail::PackedPictures>>(
                   "ImageRecordIter", params.batch_size,
                   params.round_batch ? detail::Rest::rounded : detail::Rest::empty, path_imgrec, params)) {}

}  // namespace strop::inline v0
