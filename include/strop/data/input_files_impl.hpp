// SPDX-License-Identifier: Apache-2.0
/// \file
/// How files are found, and packed ones unpacked.
#pragma once
#include <dirent.h>
#include <fcntl.h>
#include <glob.h>
#include <sys/stat.h>
#include <unistd.h>
#include <strop/core/config.hpp>
#include <strop/core/error.hpp>
#include <strop/core/text.hpp>
#include <strop/data/input_files.hpp>
#include <strop/data/system_library.hpp>
#include <strop/tensor/format/file.hpp>
#include <strop/tensor/format/inflate.hpp>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <limits>
#include <utility>

namespace strop::inline v0::detail {

/// Appends what the gzip members that the bytes are were made of.
STROP_IMPL std::string unpacked_gzip(const std::string& bytes) {
  std::string out;
  const auto* const from = reinterpret_cast<const unsigned char*>(bytes.data());
  const std::size_t size = bytes.size();
  for (std::size_t at = 0; at < size;) {
    if (size - at < 18) fail(at == 0 ? "the gzip header is cut" : "behind the gzip data are bytes that are none");
    if (from[at] != 0x1f || from[at + 1] != 0x8b) fail("behind the gzip data are bytes that are none");
    if (from[at + 2] != 8) fail("the gzip header names a method that is not known");
    const unsigned flags = from[at + 3];
    if ((flags & 0xe0U) != 0) fail("the gzip header has flags that are not known");
    const std::size_t extra = from[at + 10] + 256U * from[at + 11];
    at += 10;
    if ((flags & 4U) != 0) at += 2 + extra;
    for (unsigned text = 8; text <= 16; text *= 2)  // the name, then the comment
      if ((flags & text) != 0) {
        while (at < size && from[at] != 0) ++at;
        ++at;
      }
    if ((flags & 2U) != 0) at += 2;
    if (at + 8 > size) fail("the gzip header is cut");
    Inflate inflate;
    const std::vector<unsigned char> some =
        inflate.run(from + at, static_cast<std::int64_t>(size - at), std::numeric_limits<std::int64_t>::max());
    if (!inflate.why.empty()) fail("the gzip data cannot be unpacked: ", inflate.why);
    at = size - static_cast<std::size_t>(inflate.left());
    if (size - at < 8) fail("the gzip data cannot be unpacked: the compressed data end early");
    const auto little = [&](std::size_t where) {
      std::uint32_t value = 0;
      for (std::size_t i = 4; i-- > 0;) value = value << 8 | from[where + i];
      return value;
    };
    if (little(at + 4) != static_cast<std::uint32_t>(some.size()) ||
        little(at) != crc32(0, some.data(), static_cast<std::int64_t>(some.size())))
      fail("the unpacked data does not match its check sum");
    at += 8;
    out.append(reinterpret_cast<const char*>(some.data()), some.size());
    while (at < size && from[at] == 0) ++at;  // as tapes and block devices pad
  }
  return out;
}

/// The functions of libzstd that unpacking needs.
struct ZstdLibrary {
  struct Piece {
    const void* from;
    std::size_t size, at;
  };
  struct Room {
    void* to;
    std::size_t size, at;
  };
  void* (*create)();
  std::size_t (*destroy)(void*);
  std::size_t (*run)(void*, Room*, Piece*);
  unsigned (*is_error)(std::size_t);
  const char* (*error_name)(std::size_t);
};
STROP_IMPL const ZstdLibrary& zstd_library() {
  static const ZstdLibrary library = [] {
    const SystemLibrary from("libzstd.so.1", "libzstd1", "zstd data", "zstd data needs");
    ZstdLibrary made{};
    from.bind(made.create, "ZSTD_createDStream");
    from.bind(made.destroy, "ZSTD_freeDStream");
    from.bind(made.run, "ZSTD_decompressStream");
    from.bind(made.is_error, "ZSTD_isError");
    from.bind(made.error_name, "ZSTD_getErrorName");
    return made;
  }();
  return library;
}
inline constexpr std::size_t least_room = std::size_t{1} << 16;  // behind what a buffer holds
STROP_IMPL std::string unpacked_zstd(const std::string& bytes) {
  const ZstdLibrary& zstd = zstd_library();
  struct Stream {
    const ZstdLibrary& of;
    void* stream;
    ~Stream() { of.destroy(stream); }
  } const made{zstd, zstd.create()};
  if (made.stream == nullptr) fail("there is not enough memory to unpack zstd data");
  std::string out;
  std::size_t filled = 0;  // of it
  ZstdLibrary::Piece piece{bytes.data(), bytes.size(), 0};
  for (std::size_t left = 1; piece.at < piece.size || left != 0;) {  // left: of a frame; 0 where one has ended
    const std::size_t taken = piece.at;
    if (out.size() - filled < least_room) out.resize(std::max(filled + least_room, filled + filled / 2));
    ZstdLibrary::Room room{out.data() + filled, out.size() - filled, 0};
    left = zstd.run(made.stream, &room, &piece);
    filled += room.at;
    if (zstd.is_error(left) != 0) fail("the zstd data cannot be unpacked: ", zstd.error_name(left));
    if (left != 0 && piece.at == piece.size && room.at == 0 && taken == piece.at)
      fail("the zstd data cannot be unpacked: the compressed data end early");
  }
  out.resize(filled);
  return out;
}

/// How packed data begins; zstd data also with a frame that is passed over, of 16 kinds.
inline constexpr std::string_view gzip_mark = "\x1f\x8b", zstd_mark = "\x28\xb5\x2f\xfd", passed_over = "\x2a\x4d\x18";
inline bool is_zstd(std::string_view bytes) {
  return bytes.starts_with(zstd_mark) || (bytes.size() >= 4 && (static_cast<unsigned char>(bytes[0]) & 0xf0U) == 0x50 &&
                                          bytes.substr(1).starts_with(passed_over));
}

STROP_IMPL std::string unpacked(std::string bytes) {
  if (bytes.starts_with(gzip_mark)) return unpacked_gzip(bytes);
  if (is_zstd(bytes)) return unpacked_zstd(bytes);
  return bytes;
}

/// A file that is open, closed with the object.
struct OpenFile {
  int number;
  explicit OpenFile(int file) : number(file) {}
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  ~OpenFile() {
    if (number > 0) ::close(number);
  }
  /// Up to `most` bytes behind those that were read; fewer at the end.
  std::string read(std::size_t most) const {
    std::string out;
    std::size_t filled = 0;  // of it
    while (filled < most) {
      if (filled == out.size()) out.resize(filled + std::min(most - filled, std::max(filled, least_room)));
      const ssize_t got = ::read(number, out.data() + filled, out.size() - filled);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) throw FileError(errno);
      if (got == 0) break;
      filled += static_cast<std::size_t>(got);
    }
    out.resize(filled);
    return out;
  }
};

STROP_IMPL FileError::FileError(int why) : Error(std::strerror(why)), number(why) {}
STROP_IMPL std::string bytes_of_file(const std::string& path) {
  const OpenFile file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.number < 0) throw FileError(errno);
  return file.read(std::numeric_limits<std::size_t>::max());
}

STROP_IMPL void add_input_file(std::string_view function, const std::string& path, std::vector<InputFile>& to) {
  const auto refuse = [&](std::string_view why) { fail(function, ": \"", path, "\": ", why); };
  constexpr std::size_t all = std::numeric_limits<std::size_t>::max();
  try {
    const bool standard = path == "-";
    const OpenFile file(standard ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    struct stat info{};
    if (file.number < 0 || ::fstat(file.number, &info) != 0) fail(std::strerror(errno));
    const bool regular = S_ISREG(info.st_mode);
    if (!regular && !S_ISFIFO(info.st_mode) && !S_ISSOCK(info.st_mode) && ::isatty(file.number) == 0)
      fail("this is no regular file and no pipe");
    InputFile one{path, info.st_size, false, {}};
    std::string begin = file.read(regular && !standard ? zstd_mark.size() : all);
    if (!regular || standard || begin.starts_with(gzip_mark) || is_zstd(begin)) {
      if (regular && !standard) begin += file.read(all);
      one.text = unpacked(std::move(begin));
      one.size = static_cast<std::int64_t>(one.text.size());
      one.in_memory = true;
    }
    to.push_back(std::move(one));
  } catch (const std::bad_alloc&) {
    refuse("there is not enough memory for what the file holds");
  } catch (const Error& error) {
    refuse(error.what());
  }
}

/// A file, or those of a folder. Whether there is such a path; errno says why not.
STROP_IMPL bool add_existing(std::string_view function, const std::string& path, std::vector<InputFile>& to) {
  struct stat info{};
  if (::stat(path.c_str(), &info) != 0) return false;
  if (S_ISDIR(info.st_mode)) {
    DIR* const folder = ::opendir(path.c_str());
    if (folder == nullptr) fail(function, ": \"", path, "\": ", std::strerror(errno));
    std::vector<std::string> names;
    while (const dirent* entry = ::readdir(folder))
      if (entry->d_name[0] != '.') names.push_back(cat(path, "/", entry->d_name));
    ::closedir(folder);
    std::sort(names.begin(), names.end());
    const std::size_t before = to.size();
    for (const std::string& name : names) {
      if (::stat(name.c_str(), &info) != 0) fail(function, ": \"", name, "\": ", std::strerror(errno));
      if (S_ISREG(info.st_mode)) add_input_file(function, name, to);
    }
    if (to.size() == before) fail(function, ": \"", path, "\": the folder holds no files");
  } else {
    add_input_file(function, path, to);
  }
  return true;
}

STROP_IMPL void add_input(std::string_view function, const std::string& path, std::vector<InputFile>& to) {
  if (path == "-") return add_input_file(function, path, to);
  if (add_existing(function, path, to)) return;
  const int error = errno;
  if (const std::size_t end = path.find(';'); end != std::string::npos) {
    for (std::string_view left = path; !left.empty();) {
      const std::size_t next = left.find(';');
      if (next != 0) add_input(function, std::string(left.substr(0, next)), to);
      left.remove_prefix(next == std::string_view::npos ? left.size() : next + 1);
    }
    return;
  }
  if (path.find_first_of("*?[") != std::string::npos) {
    struct Found {
      ::glob_t list{};
      ~Found() { ::globfree(&list); }
    } found;
    const int result = ::glob(path.c_str(), GLOB_NOSORT, nullptr, &found.list);
    if (result == 0) {
      std::vector<std::string> names(found.list.gl_pathv, found.list.gl_pathv + found.list.gl_pathc);
      std::sort(names.begin(), names.end());  // by bytes, in every locale
      for (const std::string& name : names)   // a match is no pattern, whatever its letters are
        if (!add_existing(function, name, to)) fail(function, ": \"", name, "\": ", std::strerror(errno));
      return;
    }
    if (result != GLOB_NOMATCH)
      fail(function, ": \"", path, "\": ",
           result == GLOB_NOSPACE ? "there is not enough memory for the names"
                                  : "a folder of this pattern cannot be read");
    fail(function, ": \"", path, "\": no file matches this pattern");
  }
  fail(function, ": \"", path, "\": ", std::strerror(error));
}

STROP_IMPL std::vector<InputFile> input_files(std::string_view function, const std::string& path) {
  std::vector<InputFile> files;
  add_input(function, path, files);
  if (files.empty()) fail(function, ": \"", path, "\": this names no file");
  return files;
}

}  // namespace strop::inline v0::detail
