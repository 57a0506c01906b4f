// SPDX-License-Identifier: Apache-2.0
/// \file
/// Reading that knows what a file holds; writing is core/output.hpp.
#pragma once
#include <sys/stat.h>
#include <strop/core/error.hpp>
#include <strop/core/output.hpp>
#include <strop/core/span.hpp>

#include <bit>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>

namespace strop::inline v0::detail {

static_assert(std::endian::native == std::endian::little, "the file formats are written for little-endian machines");

/// Text of a file as a sentence quotes it: at most 60 characters, those that are no printable ASCII as \xNN.
inline std::string excerpt(std::string_view text) {
  std::string out;
  for (const char c : text.substr(0, 60)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 32 && byte < 127)
      out += c;
    else
      out += cat("\\x", "0123456789abcdef"[byte >> 4], "0123456789abcdef"[byte & 15]);
  }
  return text.size() > 60 ? out + "..." : out;
}

/// Bytes to read, from memory or from a part of a file; every read is checked against what is there.
class Input {
 public:
  /// Bytes in memory that outlive the object; `name` stands for them in sentences.
  Input(const void* bytes, std::int64_t size, std::string name)
      : memory_(static_cast<const unsigned char*>(bytes)), left_(size), name_(std::move(name)) {}
  explicit Input(const std::string& path) : name_(path) {
    struct stat info{};
    if (::stat(path.c_str(), &info) != 0) refuse(std::strerror(errno));
    if (S_ISDIR(info.st_mode)) refuse(std::strerror(EISDIR));
    if (!S_ISREG(info.st_mode)) refuse("this is not a regular file");
    file_ = std::fopen(path.c_str(), "rb");
    if (file_ == nullptr) refuse(std::strerror(errno));
    left_ = static_cast<std::int64_t>(info.st_size);
  }
  Input(const Input&) = delete;
  Input& operator=(const Input&) = delete;
  ~Input() {
    if (file_ != nullptr && owner_ == nullptr) std::fclose(file_);
  }

  /// A part of the bytes, `size` of them from `offset` of the whole; one part is read at a time.
  Input(Input& whole, std::int64_t offset, std::int64_t size, std::string_view part)
      : file_(whole.file_), owner_(&whole), left_(size), name_(cat(whole.name_, part)) {
    if (offset < 0 || size < 0 || size > whole.size() || offset > whole.size() - size)
      refuse(cat("bytes ", offset, " to ", offset, " + ", size, " are outside the file"));
    if (file_ == nullptr)
      memory_ = whole.memory_ - whole.at_ + offset;
    else if (::fseeko(file_, static_cast<off_t>(offset), SEEK_SET) != 0)
      refuse(std::strerror(errno));
  }

  const std::string& name() const { return name_; }
  std::int64_t size() const { return at_ + left_; }
  std::int64_t left() const { return left_; }
  /// Rows of sparse arrays so far for which the file holds no indptr.
  std::int64_t unpaid = 0;
  /// CRC-32 of what has been read.
  bool checksummed = false;
  std::uint32_t checksum = 0;

  /// Throws Error with the file and what is wrong with it.
  [[noreturn]] void refuse(std::string_view why) const { fail("strop: load(\"", name_, "\"): ", why); }

  /// Refuses a count of bytes that is more than what is left.
  void require(std::int64_t bytes, std::string_view what) const {
    if (bytes < 0 || bytes > left_)
      refuse(cat("the file ends within ", what, ": ", bytes, " bytes are needed and ", left_, " are left"));
  }
  void read(void* to, std::int64_t bytes, std::string_view what);
  template <class N>
  N number(std::string_view what) {
    N value;
    read(&value, static_cast<std::int64_t>(sizeof value), what);
    return value;
  }
  std::string text(std::int64_t bytes, std::string_view what) {
    require(bytes, what);
    std::string out(static_cast<std::size_t>(bytes), '\0');
    read(out.data(), bytes, what);
    return out;
  }

 private:
  std::FILE* file_ = nullptr;
  Input* owner_ = nullptr;
  const unsigned char* memory_ = nullptr;
  std::int64_t at_ = 0, left_ = 0;
  std::string name_;
};

/// CRC-32 as in ZIP files, continued from `crc` (0 at the start), eight bytes at a time.
inline std::uint32_t crc32(std::uint32_t crc, const void* bytes, std::int64_t size) {
  struct Tables {
    std::uint32_t of[8][256];
    Tables() {
      for (std::uint32_t i = 0; i < 256; ++i) {
        std::uint32_t value = i;
        for (int bit = 0; bit < 8; ++bit) value = (value >> 1) ^ ((value & 1) != 0 ? 0xedb88320U : 0U);
        of[0][i] = value;
      }
      for (int t = 1; t < 8; ++t)
        for (std::uint32_t i = 0; i < 256; ++i) of[t][i] = (of[t - 1][i] >> 8) ^ of[0][of[t - 1][i] & 255];
    }
  };
  static const Tables tables;
  const auto& t = tables.of;
  const auto* at = static_cast<const unsigned char*>(bytes);
  crc = ~crc;
  for (; size >= 8; size -= 8, at += 8) {
    std::uint32_t low, high;
    std::memcpy(&low, at, 4);
    std::memcpy(&high, at + 4, 4);
    low ^= crc;
    crc = t[7][low & 255] ^ t[6][(low >> 8) & 255] ^ t[5][(low >> 16) & 255] ^ t[4][low >> 24] ^ t[3][high & 255] ^
          t[2][(high >> 8) & 255] ^ t[1][(high >> 16) & 255] ^ t[0][high >> 24];
  }
  for (; size > 0; --size, ++at) crc = (crc >> 8) ^ t[0][(crc ^ *at) & 255];
  return ~crc;
}

inline void Input::read(void* to, std::int64_t bytes, std::string_view what) {
  require(bytes, what);
  if (bytes == 0) return;
  if (file_ == nullptr) {
    detail::copy_bytes(to, memory_, bytes);
    memory_ += bytes;
  } else if (std::fread(to, 1, static_cast<std::size_t>(bytes), file_) != static_cast<std::size_t>(bytes)) {
    refuse(cat("reading ", what, " failed: ", std::ferror(file_) != 0 ? std::strerror(errno) : "the file has shrunk"));
  }
  at_ += bytes;
  left_ -= bytes;
  if (checksummed) checksum = crc32(checksum, to, bytes);
}

}  // namespace strop::inline v0::detail
