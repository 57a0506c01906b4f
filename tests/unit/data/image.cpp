// SPDX-License-Identifier: Apache-2.0
/// \file
/// Images: what is decoded, of every kind of PNG and JPEG, sizes, crops, mirroring, normalisation; damaged bytes.
#include <strop/data/image.hpp>
#include <strop/data/image_codec.hpp>
#include <strop/memory/random.hpp>
#include <strop/strop.hpp>
#include <unit/data/pictures.hpp>

#include <doctest/doctest.h>
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace strop;
using test::sentence;

namespace {

using Bytes = std::vector<std::uint8_t>;

const auto skipped = doctest::skip(!test::decodes_pictures());

Bytes bytes_of(const NDArray& image) { return image.to_vector<std::uint8_t>(); }
/// A picture of one channel.
NDArray gray(std::int64_t height, std::int64_t width, Bytes values) {
  return detail::as_type(array(values), u8).reshape({height, width, 1});
}
/// The values of a picture of 6 rows of 8 pixels.
template <class F>
Bytes made(F value) {
  Bytes out;
  for (int y = 0; y < 6; ++y)
    for (int x = 0; x < 8; ++x) value(y, x, out);
  return out;
}
void put(Bytes& to, int value) { to.push_back(static_cast<std::uint8_t>(value)); }

const auto rgb = [](int y, int x, Bytes& to) { put(to, 10 * y + x), put(to, 100 + 10 * y + x), put(to, 200 + y + x); };

/// By how much the values differ at most.
int difference(const Bytes& a, const Bytes& b) {
  REQUIRE(a.size() == b.size());
  int most = 0;
  for (std::size_t i = 0; i < a.size(); ++i) most = std::max(most, std::abs(a[i] - b[i]));
  return most;
}

}  // namespace

TEST_CASE("PNG of every kind is decoded to the value" * skipped) {
  const NDArray image = image::decode(test::png_rgb);
  CHECK(image.shape() == Shape{6, 8, 3});
  CHECK(image.dtype() == u8);
  CHECK(bytes_of(image) == made(rgb));
  CHECK(bytes_of(image::decode(test::png_rgba)) == made(rgb));
  std::string linear = test::png_rgb;  // says that its numbers are linear; they are taken as they stand
  linear.insert(33, test::from_hex("0000000467414d41000186a031e8965f"));
  CHECK(bytes_of(image::decode(linear)) == made(rgb));
  CHECK(bytes_of(image::decode(test::png_palette)) == made(rgb));
  CHECK(bytes_of(image::decode(test::png_rgb, {.to_rgb = false})) ==
        made([](int y, int x, Bytes& to) { put(to, 200 + y + x), put(to, 100 + 10 * y + x), put(to, 10 * y + x); }));
  const auto luminance = [](int y, int x, Bytes& to) {
    put(to, static_cast<int>(0.299 * (10 * y + x) + 0.587 * (100 + 10 * y + x) + 0.114 * (200 + y + x) + 0.5));
  };
  CHECK(image::decode(test::png_rgb, {.flag = 0}).shape() == Shape{6, 8, 1});
  CHECK(difference(bytes_of(image::decode(test::png_rgb, {.flag = 0})), made(luminance)) <= 1);  // of a half
  CHECK(bytes_of(image::decode(test::png_rgba, {.flag = 0})) == bytes_of(image::decode(test::png_rgb, {.flag = 0})));
  for (const std::string& bytes : {test::png_gray, test::png_16}) {
    CHECK(bytes_of(image::decode(bytes, {.flag = 0})) == made([](int y, int x, Bytes& to) { put(to, 20 * y + x); }));
    CHECK(bytes_of(image::decode(bytes)) == made([](int y, int x, Bytes& to) {
            for (int c = 0; c < 3; ++c) put(to, 20 * y + x);
          }));
  }
  const Bytes list(test::png_rgb.begin(), test::png_rgb.end());
  CHECK(bytes_of(image::decode(list)) == made(rgb));
}

TEST_CASE("JPEG of every kind is decoded as Pillow does" * skipped) {
  Bytes drawn, bright;
  for (int y = 0; y < 16; ++y)
    for (int x = 0; x < 24; ++x) {
      const int r = 20 + 8 * x, g = 30 + 12 * y, b = 200 - 5 * x + 2 * y;
      put(drawn, r), put(drawn, g), put(drawn, b);
      put(bright, static_cast<int>(0.299 * r + 0.587 * g + 0.114 * b + 0.5));
    }
  const auto decoded = [](const std::string& bytes) { return bytes_of(image::decode(bytes)); };
  CHECK(image::decode(test::jpeg).shape() == Shape{16, 24, 3});
  CHECK(difference(decoded(test::jpeg), drawn) <= 4);
  CHECK(difference(decoded(test::jpeg_progressive), drawn) <= 11);  // its colors have half the rows and columns
  CHECK(difference(decoded(test::jpeg_cmyk), drawn) <= 3);
  CHECK(difference(bytes_of(image::decode(test::jpeg, {.flag = 0})), bright) <= 3);
  CHECK(difference(bytes_of(image::decode(test::jpeg_gray, {.flag = 0})), bright) <= 3);
  const auto pixel = [](const Bytes& of, int y, int x) {
    const auto at = of.begin() + 3 * (24 * y + x);
    return Bytes(at, at + 3);
  };
  const Bytes one = decoded(test::jpeg), other = decoded(test::jpeg_progressive), none = decoded(test::jpeg_gray);
  CHECK(difference(pixel(one, 0, 0), {19, 30, 200}) <= 1);
  CHECK(difference(pixel(one, 7, 11), {109, 114, 156}) <= 1);
  CHECK(difference(pixel(one, 15, 23), {204, 210, 114}) <= 1);
  CHECK(difference(pixel(other, 0, 0), {18, 32, 190}) <= 1);
  CHECK(difference(pixel(other, 15, 23), {205, 207, 123}) <= 1);
  CHECK(difference(pixel(none, 7, 11), {117, 117, 117}) <= 1);
}

TEST_CASE("a JPEG is decoded at a part of its size where that is enough" * skipped) {
  const auto size = [](const std::string& bytes, detail::Index least) {
    detail::ImageCodec decoder(bytes);
    decoder.shrink(least);
    Bytes out(static_cast<std::size_t>(decoder.width() * decoder.height()));
    decoder.decode(1, out.data());
    return std::pair(decoder.height(), decoder.width());
  };
  using Size = std::pair<detail::Index, detail::Index>;
  CHECK(size(test::jpeg, 9) == Size{16, 24});
  CHECK(size(test::jpeg, 8) == Size{8, 12});
  CHECK(size(test::jpeg, 3) == Size{4, 6});
  CHECK(size(test::jpeg, 1) == Size{2, 3});
  CHECK(size(test::png_rgb, 1) == Size{6, 8});
}

TEST_CASE("what is encoded is decoded: PNG to the value, JPEG nearly" * skipped) {
  for (const int flag : {0, 1}) {
    const NDArray image = image::decode(test::jpeg, {.flag = flag});
    const std::string png = image::encode(image, ".png");
    CHECK(png.starts_with("\x89PNG"));
    CHECK(bytes_of(image::decode(png, {.flag = flag})) == bytes_of(image));
    const std::string good = image::encode(image), poor = image::encode(image, ".jpeg", 30);
    CHECK(good.starts_with("\xff\xd8\xff"));
    CHECK(poor.size() < good.size());
    CHECK(difference(bytes_of(image::decode(good, {.flag = flag})), bytes_of(image)) <= 8);
  }
  const auto [header, bytes] = unpack(pack_img({.label = 3, .id = 4}, image::decode(test::png_rgb), 95, ".png"));
  CHECK(header.label[0] == 3);
  CHECK(bytes_of(image::decode(bytes)) == made(rgb));
}

TEST_CASE("bilinear and area, by hand") {
  const NDArray two = gray(1, 2, {0, 100});
  CHECK(bytes_of(image::resize(two, 4, 1)) == Bytes{0, 25, 75, 100});
  CHECK(bytes_of(image::resize(two, 4, 2, 3)) == Bytes{0, 25, 75, 100, 0, 25, 75, 100});
  const NDArray four = gray(4, 4, {0, 2, 10, 20, 4, 6, 30, 40, 1, 1, 9, 9, 1, 2, 9, 9});
  CHECK(bytes_of(image::resize(four, 2, 2, 3)) == Bytes{3, 25, 1, 9});
  CHECK(bytes_of(image::resize(four, 2, 2)) == Bytes{3, 25, 1, 9});  // between the two pixels of each axis
  CHECK(bytes_of(image::resize(four, 4, 4, 3)) == bytes_of(four));
  CHECK(bytes_of(image::resize(four, 4, 4)) == bytes_of(four));
  CHECK(bytes_of(image::resize(gray(1, 3, {0, 90, 240}), 2, 1, 3)) == Bytes{30, 190});
  CHECK(bytes_of(image::resize(gray(1, 5, {10, 20, 30, 40, 50}), 2, 1)) == Bytes{18, 43});  // at 0.75 and 3.25
  const NDArray pairs = detail::as_type(array({0, 100, 7, 200, 50, 9}), u8).reshape({1, 2, 3});
  CHECK(bytes_of(image::resize(pairs, 1, 1)) == Bytes{100, 75, 8});
  CHECK(image::resize_short(gray(2, 5, Bytes(10)), 3).shape() == Shape{3, 7, 1});
  CHECK(image::resize_short(gray(5, 2, Bytes(10)), 3).shape() == Shape{7, 3, 1});
  // Any sizes: a picture of one value stays so.
  for (std::int64_t n = 1; n < 40; n += 3)
    for (std::int64_t m = 1; m < 40; m += 5)
      for (const int method : {1, 3}) {
        const Bytes some =
            bytes_of(image::resize(gray(n, 3, Bytes(static_cast<std::size_t>(3 * n), 251)), m, n, method));
        CHECK(std::count(some.begin(), some.end(), 251) == n * m);
      }
}

TEST_CASE("nearest, bicubic and Lanczos as OpenCV has them, to one") {
  const NDArray six = gray(1, 6, {0, 100, 200, 50, 10, 255});
  const auto row = [&](std::int64_t width, int method) { return bytes_of(image::resize(six, width, 1, method)); };
  CHECK(row(4, 0) == Bytes{0, 100, 50, 10});
  CHECK(row(9, 0) == Bytes{0, 0, 100, 200, 200, 50, 10, 10, 255});
  CHECK(difference(row(4, 2), {19, 197, 17, 198}) <= 1);
  CHECK(difference(row(9, 2), {0, 41, 126, 200, 138, 27, 0, 129, 255}) <= 1);
  CHECK(difference(row(4, 4), {11, 196, 6, 203}) <= 1);
  CHECK(difference(row(9, 4), {0, 32, 127, 200, 148, 19, 0, 136, 255}) <= 1);
  for (const int method : {0, 1, 2, 3, 4}) CHECK(row(6, method) == bytes_of(six));
}

TEST_CASE("crops, mirroring and normalisation") {
  const NDArray numbers = gray(3, 4, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11});
  CHECK(bytes_of(image::crop(numbers, 1, 2, 3, 1)) == Bytes{9, 10, 11});
  CHECK(bytes_of(image::center_crop(numbers, 1, 2)) == Bytes{1, 5});
  CHECK(bytes_of(image::center_crop(numbers, 2, 3)) == Bytes{1, 2, 5, 6, 9, 10});
  CHECK(bytes_of(image::mirror(numbers)) == Bytes{3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8});
  const NDArray pixels = detail::as_type(array({1, 2, 3, 4, 5, 6}), u8).reshape({1, 2, 3});
  CHECK(bytes_of(image::mirror(pixels)) == Bytes{4, 5, 6, 1, 2, 3});
  const NDArray normal = image::normalize(pixels, {1, 2, 3}, {1, 2, 4});
  CHECK(normal.shape() == Shape{1, 2, 3});
  CHECK(normal.to_vector<float>() == std::vector<float>{0, 0, 0, 3, 1.5F, 0.75F});
  CHECK(image::normalize(normal, {3}).to_vector<float>()[3] == 0);
  CHECK(image::mirror(normal).to_vector<float>() == std::vector<float>{3, 1.5F, 0.75F, 0, 0, 0});
}

TEST_CASE("what is no image, and what is not in one, is refused") {
  const NDArray two = gray(1, 2, {0, 100});
  const auto said = [](auto call) { return sentence([&] { call(); }); };
  CHECK(said([&] { image::resize(two, 0, 3); }) == "image::resize: w is 0 and h is 3, expected 1 or more");
  CHECK(said([&] { image::resize(two, 1, 1, 5); }) ==
        "image::resize: interp is 5, expected 0 (nearest), 1 (bilinear), 2 (bicubic), 3 (area) or 4 (Lanczos)");
  CHECK(said([&] { image::resize(detail::as_type(two, f32), 1, 1); }) ==
        "image::resize: src is float32, expected uint8");
  CHECK(said([&] { image::resize_short(two, 0); }).find("image::resize_short: size is 0") == 0);
  CHECK(said([&] { image::crop(two, 1, 0, 2, 1); }) ==
        "image::crop: 2 by 1 pixels from column 1 and row 0 on, the image has 2 by 1");
  CHECK(said([&] { image::center_crop(two, 3, 1); }) == "image::center_crop: 3 by 1 pixels, the image has 2 by 1");
  CHECK(said([&] { image::mirror(zeros({2, 2})); }).find("image::mirror: src is dense of shape (2, 2) on cpu") == 0);
  CHECK(said([&] { image::normalize(two, {1, 2}); }) ==
        "image::normalize: means has 2 numbers, expected 1 or 1, as src has channels");
  CHECK(said([&] { image::decode("abcdefghij"); }) ==
        "image::decode: the bytes begin with 'abcdefgh', which no JPEG or PNG picture does");
  CHECK(said([&] { image::decode(""); }) == "image::decode: there are no bytes, expected a JPEG or PNG picture");
  CHECK(said([&] { image::encode(two, ".gif"); }) ==
        "image::encode: img_fmt is \".gif\", expected .jpg, .jpeg or .png");
  CHECK(said([&] { image::encode(two, ".jpg", 0); }) == "image::encode: quality is 0, expected 1 to 100");
  CHECK(said([&] { image::encode(gray(0, 2, {}), ".jpg"); }) ==
        "image::encode: src has 0 rows of 2 pixels, expected 1 to 65500 of each");
  CHECK(said([&] { image::decode("", {.flag = -1}); }) ==
        "image::decode: flag is -1, expected 0 (luminance) or 1 (color)");
  CHECK(said([&] {
          const detail::SystemLibrary none("libstrop-none.so.0", "libturbojpeg0", "JPEG", "pictures need");
        }).find("JPEG needs libstrop-none.so.0 (Debian's libturbojpeg0), which cannot be opened: ") == 0);
}

TEST_CASE("a picture that ends early or is too large is refused" * skipped) {
  const auto said = [](std::string_view bytes) { return sentence([&] { image::decode(bytes); }); };
  for (const std::string& bytes : {test::jpeg, test::jpeg_progressive, test::png_rgb, test::png_palette})
    for (std::size_t size = 8; size + 12 < bytes.size(); size += 7) {
      INFO(size, " of ", bytes.size(), " bytes");
      CHECK(said(std::string_view(bytes).substr(0, size)).find("picture is damaged: ") != std::string::npos);
    }
  // Bytes between two parts are no fault of a picture, and hide none of it.
  const std::string& whole = test::jpeg_progressive;
  std::size_t tables = whole.find("\xff\xc4", whole.find("\xff\xda"));
  REQUIRE(tables != std::string::npos);
  const std::string beside = whole.substr(0, tables) + std::string(4, '\x01') + whole.substr(tables);
  CHECK(said(beside) == "");
  CHECK(said(std::string_view(beside).substr(0, beside.size() - 40)).find("picture is damaged: ") != std::string::npos);
  CHECK(said(std::string_view(test::jpeg).substr(0, 300)).find("image::decode: the JPEG picture is damaged: ") == 0);
  std::string large = test::jpeg;
  const std::size_t frame = large.find("\xff\xc0");
  REQUIRE(frame != std::string::npos);
  large.replace(frame + 5, 4, "\xff\xdc\xff\xdc");
  CHECK(said(large) ==
        "image::decode: the picture has 65500 rows of 65500 pixels, expected at most 6144000 pixels in 375 bytes");
}

TEST_CASE("any bytes are an image or an Error" * skipped) {
  const std::string seeds[] = {test::jpeg, test::jpeg_progressive, test::jpeg_cmyk, test::png_rgb, test::png_palette};
  std::int64_t images = 0, errors = 0;
  for (std::uint64_t turn = 0; turn < 2000; ++turn) {
    const random::Stream draws{.seed = 7, .call = turn};
    const auto below = [&](std::int64_t i, std::size_t n) { return draws.bits(i) % n; };
    std::string bytes = seeds[below(0, std::size(seeds))];
    for (std::int64_t k = 0, count = static_cast<std::int64_t>(1 + below(1, 4)); k < count; ++k) {
      const std::size_t at = below(4 + 4 * k, bytes.size());
      switch (below(5 + 4 * k, 4)) {
        case 0:
          bytes[at] = static_cast<char>(draws.bits(6 + 4 * k));
          break;
        case 1:
          bytes[at] = static_cast<char>(bytes[at] ^ (1 << below(6 + 4 * k, 8)));
          break;
        case 2:
          bytes.erase(at, 1 + below(6 + 4 * k, 16));
          break;
        default:
          bytes.insert(at, bytes.substr(below(6 + 4 * k, bytes.size()), 1 + below(7 + 4 * k, 16)));
      }
      if (bytes.empty()) break;
    }
    try {
      const NDArray image = image::decode(bytes);
      CHECK(image.size() == 3 * image.shape()[0] * image.shape()[1]);
      ++images;
    } catch (const Error&) {
      ++errors;
    }
  }
  CHECK(images > 50);
  CHECK(errors > 500);
}
