// SPDX-License-Identifier: Apache-2.0
/// \file
/// From a picture's bytes to a row of a batch: decoding, resizing, padding, the crop, mirroring, normalisation.
#pragma once
#include <strop/core/error.hpp>
#include <strop/data/data_part.hpp>
#include <strop/data/image_pixels.hpp>
#include <strop/data/image_record_params.hpp>
#include <strop/memory/random.hpp>
#include <strop/tensor/convert.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <string>
#include <string_view>

namespace strop::inline v0::detail {

/// From a picture's bytes to a row of the batch.
class PictureRow {
 public:
  PictureRow(std::string_view function, const ImageRecordParams& params) : function_(function), params_(params) {
    check();
    const float means[] = {params.mean_r, params.mean_g, params.mean_b};
    const float deviations[] = {params.std_r, params.std_g, params.std_b};
    for (int c = 0; c < channels(); ++c) {
      float values[256];
      const float by = params.scale / deviations[c];  // in this order, as MXNet's
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
  void check(bool holds, std::string_view name, const auto& value, const Expected&... expected) const {
    if (!holds) fail(function_, ": ", name, " is ", value, ", expected ", expected...);
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
    check_pixel_method(function_, "inter_method", p.inter_method);
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
      fail(function_, ": dtype is uint8, expected a floating type where a mean, a std or scale is given");
    check_part(function_, p.num_parts, p.part_index);
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

  std::string function_;
  ImageRecordParams params_;
  std::byte values_[3][256 * 8]{};  // what each value of a channel becomes, of the dtype
};

}  // namespace strop::inline v0::detail
