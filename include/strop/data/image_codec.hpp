// SPDX-License-Identifier: Apache-2.0
/// \file
/// Decoding of JPEG and PNG pictures by libjpeg-turbo and libpng, which are opened at run time when the first is
/// decoded.
#pragma once
#include <strop/core/span.hpp>

#include <cstdint>
#include <memory>
#include <string_view>

namespace strop::inline v0::detail {

/// A picture that is decoded: first its size is known, then its pixels are. Bytes that are no whole picture are an
/// Error, and so is a library that is missing; the sentences name no function, whoever calls puts that before them. The
/// bytes stay where they are meanwhile.
class ImageDecoder {
 public:
  explicit ImageDecoder(std::string_view bytes);
  ImageDecoder(const ImageDecoder&) = delete;
  ImageDecoder& operator=(const ImageDecoder&) = delete;
  ~ImageDecoder();

  Index width() const { return width_; }
  Index height() const { return height_; }
  /// Has a JPEG decoded at a half, a quarter or an eighth of its size, the least at which both edges keep so many
  /// pixels.
  void shrink(Index least);
  /// Writes rows of width() pixels of 1 channel (luminance) or 3 (red, green, blue). Transparency is passed over.
  void decode(int channels, std::uint8_t* to);

 private:
  struct Jpeg;
  struct Png;

  Index width_ = 0, height_ = 0;
  std::unique_ptr<Jpeg> jpeg_;  // one of the two
  std::unique_ptr<Png> png_;
};

/// Opens a library of decoders. Throws Error that names Debian's package of it.
void* open_image_library(const char* file, const char* package, const char* format);

}  // namespace strop::inline v0::detail

#if !defined(STROP_COMPILED)
#include <strop/data/image_codec_impl.hpp>
#endif
