// SPDX-License-Identifier: Apache-2.0
/// \file
/// How libjpeg-turbo and libpng are called. What is declared here of them is of their stable binary interfaces:
/// libturbojpeg.so.0 and the simplified interface of libpng16.so.16.
#pragma once
#include <strop/core/config.hpp>
#include <strop/core/error.hpp>
#include <strop/core/printable.hpp>
#include <strop/data/image_codec.hpp>
#include <strop/data/system_library.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace strop::inline v0::detail {

/// A JPEG picture.
struct ImageCodec::Jpeg {
  static constexpr int rgb = 0, gray = 6, cmyk = 11;      // formats of pixels
  static constexpr int space_cmyk = 3, space_ycck = 4;    // what a picture may have
  static constexpr int limit_scans = 32768, warning = 0;  // a flag, and a kind of error
  static constexpr int half_colors = 2, no_colors = 3;    // what a file has of them

  struct Library {
    void* (*init)();
    int (*header)(void*, const unsigned char*, unsigned long, int*, int*, int*, int*);
    int (*decompress)(void*, const unsigned char*, unsigned long, unsigned char*, int, int, int, int, int);
    void* (*init_compress)();
    int (*compress)(void*, const unsigned char*, int, int, int, int, unsigned char**, unsigned long*, int, int, int);
    void (*free)(unsigned char*);
    int (*destroy)(void*);
    char* (*error_text)(void*);
    int (*error_code)(void*);
  };
  static const Library& library() {
    static const Library turbo = [] {
      const SystemLibrary from("libturbojpeg.so.0", "libturbojpeg0", "JPEG", "pictures need");
      Library made{};
      from.bind(made.init, "tjInitDecompress");
      from.bind(made.header, "tjDecompressHeader3");
      from.bind(made.decompress, "tjDecompress2");
      from.bind(made.init_compress, "tjInitCompress");
      from.bind(made.compress, "tjCompress2");
      from.bind(made.free, "tjFree");
      from.bind(made.destroy, "tjDestroy");
      from.bind(made.error_text, "tjGetErrorStr2");
      from.bind(made.error_code, "tjGetErrorCode");
      return made;
    }();
    return turbo;
  }

  explicit Jpeg(std::string_view of)
      : bytes(reinterpret_cast<const unsigned char*>(of.data())), size(of.size()), handle(library().init()) {
    if (handle == nullptr) fail("libjpeg-turbo cannot begin: ", printable(library().error_text(nullptr)));
  }
  Jpeg(const Jpeg&) = delete;
  Jpeg& operator=(const Jpeg&) = delete;
  ~Jpeg() { library().destroy(handle); }

  void header() {
    int sampling = 0;
    if (library().header(handle, bytes, size, &width, &height, &sampling, &space) != 0) refuse();
    if (width < 1) fail("the JPEG picture is damaged: there are no pixels behind its tables");
  }
  void decode(int format, std::uint8_t* to) const {
    // Both extents are given: the largest picture that fits both is made, which is the one that `to` has room for.
    if (library().decompress(handle, bytes, size, to, width, 0, height, format, limit_scans) == 0) return;
    // Cameras leave bytes between two parts of a picture, which lacks nothing then. Other warnings say that it does,
    // but the first one alone is told: whether the last part has an end is looked for here.
    if (library().error_code(handle) == warning && ends() &&
        std::string_view(library().error_text(handle)).find("extraneous bytes") != std::string_view::npos)
      return;
    refuse();
  }
  bool ends() const {
    const std::string_view all(reinterpret_cast<const char*>(bytes), size);
    const std::size_t scan = all.rfind("\xff\xda"), end = all.rfind("\xff\xd9");  // markers, which no pixels look like
    return scan != std::string_view::npos && end != std::string_view::npos && end > scan;
  }
  [[noreturn]] void refuse() const { fail("the JPEG picture is damaged: ", printable(library().error_text(handle))); }
  /// Whether its frame is of blocks, which can be decoded at a part of their size. Lossless frames come out whole
  /// whatever is asked for.
  bool scales() const {
    for (std::size_t at = 2; at + 4 <= size && bytes[at] == 0xff;) {
      const int marker = bytes[at + 1];
      const bool table = marker == 0xc4 || marker == 0xc8 || marker == 0xcc;
      if (marker >= 0xc0 && marker <= 0xcf && !table) return (marker & 3) != 3;
      if (marker == 0xff)  // fill
        at += 1;
      else if (marker == 0x01 || (marker >= 0xd0 && marker <= 0xd8))  // without a length
        at += 2;
      else
        at += 2U + 256U * bytes[at + 2] + bytes[at + 3];
    }
    return false;
  }
  bool has_black() const { return space == space_cmyk || space == space_ycck; }

  const unsigned char* bytes;
  unsigned long size;
  void* handle;
  int width = 0, height = 0, space = 0;
};

/// A PNG picture.
struct ImageCodec::Png {
  static constexpr std::uint32_t alpha = 1, color = 2;  // of a format; neither: luminance
  static constexpr std::uint32_t srgb_of_16_bits = 4;   // a flag: 16 bits a channel are as 8 would be, not linear

  struct Image {  // png_image of libpng 1.6
    void* opaque = nullptr;
    std::uint32_t version = 1, width = 0, height = 0, format = 0, flags = 0, colormap_entries = 0, warning_or_error = 0;
    char message[64] = {};
  };
  struct Library {
    int (*begin)(Image*, const void*, std::size_t);
    int (*finish)(Image*, const void*, void*, std::int32_t, void*);
    int (*write)(Image*, void*, std::size_t*, int, const void*, std::int32_t, const void*);
    void (*free)(Image*);
  };
  static const Library& library() {
    static const Library png = [] {
      const SystemLibrary from("libpng16.so.16", "libpng16-16", "PNG", "pictures need");
      Library made{};
      from.bind(made.begin, "png_image_begin_read_from_memory");
      from.bind(made.finish, "png_image_finish_read");
      from.bind(made.write, "png_image_write_to_memory");
      from.bind(made.free, "png_image_free");
      return made;
    }();
    return png;
  }

  Png() { static_cast<void>(library()); }
  Png(const Png&) = delete;
  Png& operator=(const Png&) = delete;
  ~Png() { library().free(&image); }

  /// What says how bright the numbers are goes before libpng sees it, which would turn them into others. They are taken
  /// as they stand, as MXNet does.
  void begin(std::string_view bytes) {
    kept = bytes.substr(0, mark);
    bool changed = false;
    for (std::size_t at = mark; at < bytes.size();) {
      std::size_t whole = bytes.size() - at;  // of a chunk: length, name, data, check sum
      if (whole >= 12) {
        std::size_t length = 0;
        for (std::size_t i = 0; i < 4; ++i) length = length << 8 | static_cast<unsigned char>(bytes[at + i]);
        if (length <= whole - 12) whole = length + 12;
      }
      const std::string_view chunk = bytes.substr(at, whole), name = chunk.substr(std::min(std::size_t{4}, whole), 4);
      if (name == "IDAT") {  // these stand before the pixels
        if (changed) kept += bytes.substr(at);
        break;
      }
      if (name == "gAMA" || name == "cHRM" || name == "sRGB" || name == "iCCP")
        changed = true;
      else
        kept += chunk;
      at += whole;
    }
    if (changed) bytes = kept;
    if (library().begin(&image, bytes.data(), bytes.size()) == 0) refuse();
    image.flags |= srgb_of_16_bits;
  }
  void decode(std::uint32_t format, std::uint8_t* to) {
    image.format = format;
    if (library().finish(&image, nullptr, to, 0, nullptr) == 0) refuse();
  }
  [[noreturn]] void refuse() const { fail("the PNG picture is damaged: ", printable(image.message)); }

  static constexpr std::size_t mark = 8;  // bytes that every PNG file begins with
  std::string kept;                       // the file, where chunks of it went
  Image image;
};

/// Pixels of red, green and blue with another channel, or of luminance with another one, without that, as those of 1 or
/// 3 channels.
inline void take_channels(const std::uint8_t* from, Index pixels, int there, int channels, std::uint8_t* to) {
  for (Index i = 0; i < pixels; ++i, from += there, to += channels) {
    const int red = from[0], green = from[there < 3 ? 0 : 1], blue = from[there < 3 ? 0 : 2];
    if (channels == 3)
      to[0] = from[0], to[1] = static_cast<std::uint8_t>(green), to[2] = static_cast<std::uint8_t>(blue);
    else  // 0.299, 0.587 and 0.114 of them, in 16384ths
      to[0] = static_cast<std::uint8_t>((red * 4899 + green * 9617 + blue * 1868 + 8192) >> 14);
  }
}

STROP_IMPL ImageCodec::ImageCodec(std::string_view bytes) {
  if (bytes.starts_with("\xff\xd8\xff")) {
    jpeg_.reset(new Jpeg(bytes));
    jpeg_->header();
    width_ = jpeg_->width, height_ = jpeg_->height;
  } else if (bytes.starts_with("\x89PNG\r\n\x1a\n")) {
    png_.reset(new Png);
    png_->begin(bytes);
    width_ = png_->image.width, height_ = png_->image.height;
  } else if (bytes.empty()) {
    fail("there are no bytes, expected a JPEG or PNG picture");
  } else {
    fail("the bytes begin with '", printable(bytes.substr(0, 8)), "', which no JPEG or PNG picture does");
  }
  // A bit of JPEG is at most 64 pixels as a rule, a byte of PNG some 8000 of one bit.
  const Index bytes_allow = static_cast<Index>(bytes.size()) << 14, most = std::min(Index{1} << 28, bytes_allow);
  if (width_ > most / height_)
    fail("the picture has ", height_, " rows of ", width_, " pixels, expected at most ", most, " pixels in ",
         bytes.size(), " bytes");
}
STROP_IMPL ImageCodec::~ImageCodec() = default;

STROP_IMPL void ImageCodec::shrink(Index least) {
  if (!jpeg_ || !jpeg_->scales()) return;
  Index by = 1;
  while (by < 8 && std::min(width_, height_) >= 2 * by * least) by *= 2;
  width_ = (width_ + by - 1) / by, height_ = (height_ + by - 1) / by;
  jpeg_->width = static_cast<int>(width_), jpeg_->height = static_cast<int>(height_);
}

STROP_IMPL void ImageCodec::decode(int channels, std::uint8_t* to) {
  const Index pixels = width_ * height_;
  const auto decode_then_take = [&](int there, auto decode, auto change) {
    const auto all = std::make_unique_for_overwrite<std::uint8_t[]>(unsigned_size(pixels * there));
    decode(all.get());
    change(all.get());
    take_channels(all.get(), pixels, there, channels, to);
  };
  const auto nothing = [](std::uint8_t*) {};
  if (jpeg_ && jpeg_->has_black()) {  // as Adobe writes them: 255 is no ink
    decode_then_take(
        4, [&](std::uint8_t* all) { jpeg_->decode(Jpeg::cmyk, all); },
        [&](std::uint8_t* all) {
          for (std::uint8_t* p = all; p < all + 4 * pixels; p += 4)
            for (int c = 0; c < 3; ++c) p[c] = static_cast<std::uint8_t>((p[c] * p[3] + 127) / 255);
        });
  } else if (jpeg_) {
    jpeg_->decode(channels == 1 ? Jpeg::gray : Jpeg::rgb, to);
  } else {
    const std::uint32_t format = png_->image.format & (Png::color | Png::alpha);
    const int there = static_cast<int>((format & Png::color) + 1 + (format & Png::alpha));
    if (there == channels)
      png_->decode(format, to);
    else
      decode_then_take(there, [&](std::uint8_t* all) { png_->decode(format, all); }, nothing);
  }
}

STROP_IMPL std::string ImageCodec::jpeg_of(const std::uint8_t* from, Index height, Index width, int channels,
                                           int quality) {
  const Jpeg::Library& turbo = Jpeg::library();
  const std::unique_ptr<void, int (*)(void*)> handle(turbo.init_compress(), turbo.destroy);
  if (!handle) fail("libjpeg-turbo cannot begin: ", printable(turbo.error_text(nullptr)));
  unsigned char* bytes = nullptr;
  unsigned long size = 0;
  const int failed = turbo.compress(handle.get(), from, static_cast<int>(width), 0, static_cast<int>(height),
                                    channels == 1 ? Jpeg::gray : Jpeg::rgb, &bytes, &size,
                                    channels == 1 ? Jpeg::no_colors : Jpeg::half_colors, quality, 0);
  const std::unique_ptr<unsigned char, void (*)(unsigned char*)> owned(bytes, turbo.free);
  if (failed != 0) fail("libjpeg-turbo says: ", printable(turbo.error_text(handle.get())));
  return {reinterpret_cast<const char*>(bytes), size};
}

STROP_IMPL std::string ImageCodec::png_of(const std::uint8_t* from, Index height, Index width, int channels) {
  const Png::Library& png = Png::library();
  Png::Image image;
  image.width = static_cast<std::uint32_t>(width), image.height = static_cast<std::uint32_t>(height);
  image.format = channels == 1 ? 0 : Png::color;
  const auto written = [&](void* to, std::size_t& size) {
    if (png.write(&image, to, &size, 0, from, 0, nullptr) != 0) return;
    const std::string why = printable(image.message);
    png.free(&image);
    fail("libpng says: ", why);
  };
  std::size_t size = 0;
  written(nullptr, size);  // how many bytes it takes
  std::string bytes(size, '\0');
  written(bytes.data(), size);
  bytes.resize(size);
  return bytes;
}

}  // namespace strop::inline v0::detail
