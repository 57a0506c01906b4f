// SPDX-License-Identifier: Apache-2.0
/// \file
/// How images are decoded and changed.
#pragma once
#include <strop/core/config.hpp>
#include <strop/core/error.hpp>
#include <strop/data/image.hpp>
#include <strop/data/image_codec.hpp>
#include <strop/data/image_pixels.hpp>
#include <strop/tensor/convert.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace strop::inline v0 {
namespace detail {

STROP_IMPL void check_image(std::string_view function, const NDArray& src) {
  if (!src.defined()) fail(function, ": src is an empty handle");
  const Shape& shape = src.shape();
  if (src.storage() != dense || src.device() != cpu() || src.ndim() != 3 || (shape[2] != 1 && shape[2] != 3))
    fail(function, ": src is ", name_of(src.storage()), " of shape ", shape, " on ", to_text(src.device()),
         ", expected a dense image of the CPU of shape (height, width, 1) or (height, width, 3)");
}

}  // namespace detail

namespace image {

STROP_IMPL NDArray decode(std::string_view bytes, const DecodeParams& params) {
  if (params.flag != 0 && params.flag != 1)
    fail("image::decode: flag is ", params.flag, ", expected 0 (luminance) or 1 (color)");
  const int channels = params.flag == 0 ? 1 : 3;
  try {
    detail::ImageCodec decoder(bytes);
    const NDArray out({decoder.height(), decoder.width(), channels}, u8);
    auto* const pixels = out.pointer<std::uint8_t>();
    decoder.decode(channels, pixels);
    if (channels == 3 && !params.to_rgb)
      for (std::int64_t i = 0; i < out.size(); i += 3) std::swap(pixels[i], pixels[i + 2]);
    return out;
  } catch (const Error& error) {
    fail("image::decode: ", error.what());
  }
}

STROP_IMPL std::string encode(const NDArray& src, std::string_view img_fmt, int quality) {
  detail::check_image("image::encode", src);
  const bool png = img_fmt == ".png";
  if (!png && img_fmt != ".jpg" && img_fmt != ".jpeg")
    fail("image::encode: img_fmt is \"", img_fmt, "\", expected .jpg, .jpeg or .png");
  if (quality < 1 || quality > 100) fail("image::encode: quality is ", quality, ", expected 1 to 100");
  const Shape& shape = src.shape();
  const std::int64_t most = png ? 1'000'000 : 65'500;
  if (src.dtype() != u8) fail("image::encode: src is ", name_of(src.dtype()), ", expected uint8");
  if (src.size() == 0 || std::max(shape[0], shape[1]) > most)
    fail("image::encode: src has ", shape[0], " rows of ", shape[1], " pixels, expected 1 to ", most, " of each");
  const auto* const pixels = src.pointer<const std::uint8_t>();
  const int channels = static_cast<int>(shape[2]);
  try {
    return png ? detail::ImageCodec::png_of(pixels, shape[0], shape[1], channels)
               : detail::ImageCodec::jpeg_of(pixels, shape[0], shape[1], channels, quality);
  } catch (const Error& error) {
    fail("image::encode: ", error.what());
  }
}

STROP_IMPL NDArray resize(const NDArray& src, std::int64_t w, std::int64_t h, int interp) {
  detail::check_image("image::resize", src);
  detail::check_pixel_method("image::resize", "interp", interp);
  const Shape& shape = src.shape();
  if (src.dtype() != u8) fail("image::resize: src is ", name_of(src.dtype()), ", expected uint8");
  if (w < 1 || h < 1) fail("image::resize: w is ", w, " and h is ", h, ", expected 1 or more");
  if (src.size() == 0) fail("image::resize: src has no pixels, its shape is ", shape);
  const NDArray out({h, w, shape[2]}, u8);
  detail::resize_pixels(src.pointer<const std::uint8_t>(), shape[0], shape[1], static_cast<int>(shape[2]),
                        out.pointer<std::uint8_t>(), h, w, static_cast<detail::PixelMethod>(interp));
  return out;
}

STROP_IMPL NDArray resize_short(const NDArray& src, std::int64_t size, int interp) {
  detail::check_image("image::resize_short", src);
  constexpr std::int64_t most = std::int64_t{1} << 20;
  if (size < 1 || size > most) fail("image::resize_short: size is ", size, ", expected 1 to ", most);
  if (src.size() == 0) fail("image::resize_short: src has no pixels, its shape is ", src.shape());
  const auto [h, w] = detail::short_edge(src.shape()[0], src.shape()[1], size);
  return resize(src, w, h, interp);
}

STROP_IMPL NDArray crop(const NDArray& src, std::int64_t x0, std::int64_t y0, std::int64_t w, std::int64_t h) {
  detail::check_image("image::crop", src);
  const Shape& shape = src.shape();
  if (w < 1 || h < 1 || x0 < 0 || y0 < 0 || w > shape[1] || h > shape[0] || x0 > shape[1] - w || y0 > shape[0] - h)
    fail("image::crop: ", w, " by ", h, " pixels from column ", x0, " and row ", y0, " on, the image has ", shape[1],
         " by ", shape[0]);
  const NDArray out({h, w, shape[2]}, src.dtype());
  const std::int64_t pixel = shape[2] * size_of(src.dtype());
  for (std::int64_t y = 0; y < h; ++y)
    detail::copy_bytes(out.bytes() + y * w * pixel, src.bytes() + ((y0 + y) * shape[1] + x0) * pixel, w * pixel);
  return out;
}

STROP_IMPL NDArray center_crop(const NDArray& src, std::int64_t w, std::int64_t h) {
  detail::check_image("image::center_crop", src);
  const Shape& shape = src.shape();
  if (w < 1 || h < 1 || w > shape[1] || h > shape[0])
    fail("image::center_crop: ", w, " by ", h, " pixels, the image has ", shape[1], " by ", shape[0]);
  return crop(src, (shape[1] - w) / 2, (shape[0] - h) / 2, w, h);
}

STROP_IMPL NDArray mirror(const NDArray& src) {
  detail::check_image("image::mirror", src);
  const NDArray out(src.shape(), src.dtype());
  const std::int64_t width = src.shape()[1], pixel = src.shape()[2] * size_of(src.dtype());
  const std::byte* from = src.bytes();
  std::byte* to = out.bytes();
  for (std::int64_t y = 0; y < src.shape()[0]; ++y, from += width * pixel, to += width * pixel)
    for (std::int64_t x = 0; x < width; ++x) detail::copy_bytes(to + x * pixel, from + (width - 1 - x) * pixel, pixel);
  return out;
}

STROP_IMPL NDArray normalize(const NDArray& src, const std::vector<float>& means,
                             const std::vector<float>& deviations) {
  detail::check_image("image::normalize", src);
  const std::int64_t channels = src.shape()[2];
  const auto check = [&](const char* what, const std::vector<float>& numbers) {
    if (std::ssize(numbers) != 1 && std::ssize(numbers) != channels)
      fail("image::normalize: ", what, " has ", numbers.size(), " numbers, expected 1 or ", channels,
           ", as src has channels");
  };
  check("means", means);
  check("deviations", deviations);
  if (src.dtype() != u8 && src.dtype() != f32)
    fail("image::normalize: src is ", name_of(src.dtype()), ", expected uint8 or float32");
  const NDArray out(src.shape(), f32);
  auto* const to = out.pointer<float>();
  detail::convert_elements(src.dtype(), src.bytes(), f32, out.bytes(), out.size());
  const auto of = [](const std::vector<float>& numbers, std::int64_t c) {
    return numbers[numbers.size() == 1 ? 0 : static_cast<std::size_t>(c)];
  };
  for (std::int64_t i = 0; i < out.size(); ++i)
    to[i] = (to[i] - of(means, i % channels)) / of(deviations, i % channels);
  return out;
}

}  // namespace image

STROP_IMPL std::string pack_img(const IRHeader& header, const NDArray& img, int quality, std::string_view img_fmt) {
  return pack(header, image::encode(img, img_fmt, quality));
}

}  // namespace strop::inline v0
