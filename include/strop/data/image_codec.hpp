// SPDX-License-Identifier: Apache-2.0
/// \file
/// JPEG and PNG by libjpeg-turbo and libpng, which are opened at run time when the first picture needs them.
#pragma once
#include <strop/core/span.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace strop::inline v0::detail {

/// The bytes of a picture, which stay where they are, while it is decoded: first its size is known, then its pixels
/// are. Bytes that are no whole picture are an Error; a library that is missing is NoLibrary. The sentences of errors
/// name no function: whoever calls puts that before them.
class ImageCodec {
 public:
  explicit ImageCodec(std::string_view bytes);
  ImageCodec(const ImageCodec&) = delete;
  ImageCodec& operator=(const ImageCodec&) = delete;
  ~ImageCodec();

  Index width() const { return width_; }
  Index height() const { return height_; }
  /// Has a JPEG decoded at a half, a quarter or an eighth of its size, the least at which both edges keep so many
  /// pixels.
  void shrink(Index least);
  /// Writes rows of width() pixels of 1 channel (luminance) or 3 (red, green, blue). Transparency is passed over.
  void decode(int channels, std::uint8_t* to);

  /// The bytes of a JPEG or PNG file of rows of pixels of 1 or 3 channels; quality is from 1 to 100.
  static std::string jpeg_of(const std::uint8_t* from, Index height, Index width, int channels, int quality);
  static std::string png_of(const std::uint8_t* from, Index height, Index width, int channels);

 private:
  struct Jpeg;
  struct Png;

  Index width_ = 0, height_ = 0;
  std::unique_ptr<Jpeg> jpeg_;  // one of the two
  std::unique_ptr<Png> png_;
};

}  // namespace strop::inline v0::detail

#if !defined(STROP_COMPILED)
#include <strop/data/image_codec_impl.hpp>
#endif
