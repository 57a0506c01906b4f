// SPDX-License-Identifier: Apache-2.0
/// \file
/// Pictures of 8 bits a channel as rows of pixels: decoded, resized, padded.
#pragma once
#include <strop/core/span.hpp>

#include <cstdint>
#include <memory>
#include <string_view>

namespace strop::inline v0::detail {

/// A picture: rows of pixels, pixels of channels, without gaps.
struct Picture {
  Index height = 0, width = 0;
  int channels = 0;
  std::unique_ptr<std::uint8_t[]> bytes;

  Picture() = default;
  /// Its bytes are anything. Throws Error where there are more than 2²⁸ pixels.
  Picture(Index rows, Index columns, int depth);
};

/// The picture that JPEG or PNG bytes are; see ImageCodec, whose shrink(least) is called where `least` is above 0.
Picture decoded(std::string_view bytes, int channels, Index least = 0);

/// How pixels between pixels are computed, numbered as in MXNet.
enum PixelMethod : int {
  nearest_pixels = 0,
  bilinear_pixels = 1,
  bicubic_pixels = 2,
  area_pixels = 3,
  lanczos_pixels = 4
};
/// Refuses a number that is none of them.
void check_pixel_method(std::string_view function, std::string_view parameter, int method);

/// Writes the picture of `height` rows of `width` pixels in `to_height` rows of `to_width`. Pixel i of n that become m
/// has its middle at (i + ½) n / m. Bilinear: of the two pixels of each axis beside that place, the nearer the more.
/// Area: the mean of what the pixel covers; bilinear along an axis that becomes longer. Nearest: pixel ⌊i n / m⌋.
/// Bicubic: of four pixels of each axis, by Keys' cubic with -¾, as OpenCV has it. Lanczos: of eight pixels of each
/// axis. Where these lie outside, the pixels at the edge stand for them.
void resize_pixels(const std::uint8_t* from, Index height, Index width, int channels, std::uint8_t* to, Index to_height,
                   Index to_width, PixelMethod method);

/// The size at which the shorter edge is `size` long and the ratio of the edges nearly stays: the longer one is rounded
/// down.
struct PictureSize {
  Index height, width;
};
constexpr PictureSize short_edge(Index height, Index width, Index size) {
  return height > width ? PictureSize{size * height / width, size} : PictureSize{size, size * width / height};
}

}  // namespace strop::inline v0::detail

#if !defined(STROP_COMPILED)
#include <strop/data/image_pixels_impl.hpp>
#endif
