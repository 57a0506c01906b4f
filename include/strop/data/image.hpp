// SPDX-License-Identifier: Apache-2.0
/// \file
/// Pictures as arrays: decoding, encoding, resizing, crops, mirroring, normalisation. An image is a dense array of the
/// CPU of shape (height, width, channels); channels are 1 (luminance) or 3 (red, green, blue).
#pragma once
#include <strop/core/push_macros.def>

#include <strop/data/image_record.hpp>
#include <strop/tensor/ndarray.hpp>

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace strop::inline v0::image {

/// Parameters of decode(), with the names of MXNet's imdecode.
struct DecodeParams {
  int flag = 1;        ///< 1: three channels; 0: one, luminance
  bool to_rgb = true;  ///< channels are red, green, blue; else blue, green, red
};

/// The picture that the bytes of a JPEG or PNG file are: uint8 of shape (height, width, 3), or (height, width, 1) with
/// `flag` 0. Transparency and the orientation that a camera notes are passed over. libjpeg-turbo and libpng do it,
/// which are opened when the first picture is decoded. Throws Error where the bytes are no whole picture, or have more
/// than 2²⁸ pixels, and where the library is missing.
///
/// Example: `NDArray image = image::decode(bytes);`
NDArray decode(std::string_view bytes, const DecodeParams& params = {});
/// The same of other lists of bytes.
template <class Bytes>
  requires(!std::convertible_to<const Bytes&, std::string_view> &&
           requires(const Bytes& bytes) {
             requires sizeof(*bytes.data()) == 1;
             { bytes.size() } -> std::integral;
           })
NDArray decode(const Bytes& bytes, const DecodeParams& params = {}) {
  return decode(std::string_view(reinterpret_cast<const char*>(bytes.data()), static_cast<std::size_t>(bytes.size())),
                params);
}

/// The bytes of a JPEG or PNG file of an image of uint8, whose three channels are red, green, blue. img_fmt is ".jpg",
/// ".jpeg" or ".png"; quality, from 1 to 100, is of JPEG: the more, the more bytes. Throws Error where src is no such
/// image, a parameter is another one, and where the library is missing.
///
/// Example: `std::string bytes = image::encode(image, ".png");`
std::string encode(const NDArray& src, std::string_view img_fmt = ".jpg", int quality = 95);

/// The image in another size, uint8 as it is. interp 0 is the nearest pixel, 1 bilinear, 2 bicubic, 4 Lanczos. 3 is the
/// mean of the area that a pixel covers, better where the image becomes smaller; along an axis that becomes longer it
/// is bilinear. Throws Error where src is no image of uint8, an extent is below 1, or interp is another one.
///
/// Example: `image::resize(image, 224, 224)`
NDArray resize(const NDArray& src, std::int64_t w, std::int64_t h, int interp = 1);
/// The same with a shorter edge of `size` pixels, the ratio of the edges kept: the longer one is rounded down.
NDArray resize_short(const NDArray& src, std::int64_t size, int interp = 1);

/// The w by h pixels whose first one is in column x0 and row y0, of any type. Throws Error where the image has not all
/// of them.
///
/// Example: `image::crop(image, 16, 0, 224, 224)`
NDArray crop(const NDArray& src, std::int64_t x0, std::int64_t y0, std::int64_t w, std::int64_t h);
/// The w by h pixels in the middle; where what is left is odd, one more of it is to the right or below.
NDArray center_crop(const NDArray& src, std::int64_t w, std::int64_t h);

/// The image with its columns in reverse order, of any type.
NDArray mirror(const NDArray& src);

/// (src − mean) / deviation as float32; means and deviations have a number for each channel, or one for all. Throws
/// Error where they have another count, or src is neither uint8 nor float32.
///
/// Example: `image::normalize(image, {123.7F, 116.3F, 103.5F}, {58.4F, 57.1F, 57.4F})`
NDArray normalize(const NDArray& src, const std::vector<float>& means, const std::vector<float>& deviations = {1});

}  // namespace strop::inline v0::image

namespace strop::inline v0 {

/// A record of a header and the bytes that image::encode() makes of an image.
///
/// Example: `out.write(pack_img({.label = 1}, image, 90));`
std::string pack_img(const IRHeader& header, const NDArray& img, int quality = 95, std::string_view img_fmt = ".jpg");

}  // namespace strop::inline v0

#if !defined(STROP_COMPILED)
#include <strop/data/image_impl.hpp>
#endif

#include <strop/core/pop_macros.def>
