// SPDX-License-Identifier: Apache-2.0
/// \file
/// ZIP archives: reading of stored and deflated entries, writing of stored ones; sizes of 64 bits both ways.
#pragma once
#include <strop/core/span.hpp>
#include <strop/tensor/format/file.hpp>
#include <strop/tensor/format/inflate.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace strop::inline v0::detail {

/// An entry as the central directory lists it.
struct ZipEntry {
  std::string name;
  std::uint16_t method = 0;
  std::uint32_t checksum = 0;
  std::int64_t packed = 0, size = 0, offset = 0;  // bytes in the archive, bytes unpacked, where its local header is
};

inline constexpr std::uint32_t zip_local = 0x04034b50U, zip_central = 0x02014b50U, zip_end = 0x06054b50U;
inline constexpr std::uint32_t zip64_end = 0x06064b50U, zip64_locator = 0x07064b50U, zip_large = 0xffffffffU;

inline std::int64_t zip_extent(Input& in, std::uint64_t value) {
  if (value > static_cast<std::uint64_t>(in.size()))
    in.refuse(cat("the archive says ", std::to_string(value), " bytes, more than the file has"));
  return static_cast<std::int64_t>(value);
}

/// Where the central directory is, and how many entries it has.
struct ZipDirectory {
  std::int64_t offset = 0, size = 0;
  std::uint64_t count = 0;
};

inline ZipDirectory find_zip_directory(Input& file) {
  const std::int64_t tail = std::min<std::int64_t>(file.size(), 65535 + 22);
  std::string text;
  {
    Input part(file, file.size() - tail, tail, "");
    text = part.text(tail, "the end of the archive");
  }
  std::int64_t at = tail - 22;
  const auto little = [&](std::int64_t from, int bytes) {
    std::uint64_t value = 0;
    detail::copy_bytes(&value, text.data() + from, bytes);
    return value;
  };
  while (at >= 0 && !(little(at, 4) == zip_end && static_cast<std::int64_t>(little(at + 20, 2)) == tail - at - 22))
    --at;
  if (at < 0) file.refuse("the archive has no end record: the file is cut off or is no .npz file");
  const std::uint64_t count = little(at + 10, 2), size = little(at + 12, 4), offset = little(at + 16, 4);
  if (at >= 20 && little(at - 20, 4) == zip64_locator) {
    Input part(file, zip_extent(file, little(at - 12, 8)), 56, "");
    if (part.number<std::uint32_t>("the end record") != zip64_end)
      file.refuse("the archive's 64-bit end record is missing");
    part.text(28, "the end record");
    const auto entries = part.number<std::uint64_t>("the end record");
    const auto bytes = part.number<std::uint64_t>("the end record"),
               start = part.number<std::uint64_t>("the end record");
    return {zip_extent(file, start), zip_extent(file, bytes), entries};
  }
  return {zip_extent(file, offset), zip_extent(file, size), count};
}

inline std::vector<ZipEntry> read_zip_directory(Input& file) {
  const ZipDirectory directory = find_zip_directory(file);
  Input in(file, directory.offset, directory.size, "");
  constexpr std::string_view what = "the archive's directory";
  std::vector<ZipEntry> entries;
  std::int64_t total = 0;
  for (std::uint64_t i = 0; i < directory.count; ++i) {
    if (in.number<std::uint32_t>(what) != zip_central) in.refuse("the archive's directory is damaged");
    ZipEntry entry;
    in.number<std::uint32_t>(what);  // versions
    const auto flags = in.number<std::uint16_t>(what);
    entry.method = in.number<std::uint16_t>(what);
    in.number<std::uint32_t>(what);  // time and date
    entry.checksum = in.number<std::uint32_t>(what);
    std::uint64_t packed = in.number<std::uint32_t>(what), size = in.number<std::uint32_t>(what);
    const auto name = in.number<std::uint16_t>(what), extra = in.number<std::uint16_t>(what),
               comment = in.number<std::uint16_t>(what);
    in.text(8, what);  // disk and attributes
    std::uint64_t offset = in.number<std::uint32_t>(what);
    entry.name = in.text(name, what);
    const std::string fields = in.text(extra, what);
    in.text(comment, what);
    for (std::size_t at = 0; at + 4 <= fields.size();) {
      std::uint16_t kind, length;
      std::memcpy(&kind, fields.data() + at, 2);
      std::memcpy(&length, fields.data() + at + 2, 2);
      at += 4;
      if (length > fields.size() - at) in.refuse("the archive's directory is damaged");
      std::size_t next = at;
      for (std::uint64_t* value : {&size, &packed, &offset}) {
        if (kind != 1 || *value != zip_large || next + 8 > at + length) continue;
        std::memcpy(value, fields.data() + next, 8);
        next += 8;
      }
      at += length;
    }
    if ((flags & 1) != 0) in.refuse(cat("entry '", excerpt(entry.name), "' is encrypted"));
    entry.packed = zip_extent(file, packed);
    entry.offset = zip_extent(file, offset);
    // DEFLATE makes at most 1032 bytes of one.
    if (size / 1032 > packed + 1 || (entry.method == 0 && size != packed))
      in.refuse(cat("entry '", excerpt(entry.name), "' cannot unpack from ", std::to_string(packed), " bytes to ",
                    std::to_string(size)));
    entry.size = static_cast<std::int64_t>(size);
    total += entry.packed;
    if (total > file.size()) in.refuse("the archive's entries overlap");
    entries.push_back(std::move(entry));
  }
  return entries;
}

/// Calls `use(bytes)` with an Input of the entry's unpacked bytes, then checks their CRC.
template <class Use>
auto read_zip_entry(Input& file, const ZipEntry& entry, Use&& use) {
  const std::string part = cat("[", excerpt(entry.name), "]");
  std::int64_t start = entry.offset + 30;
  {
    Input local(file, entry.offset, std::min<std::int64_t>(30, file.size() - entry.offset), part);
    if (local.number<std::uint32_t>("the entry's header") != zip_local) local.refuse("the entry's header is missing");
    local.text(22, "the entry's header");
    const auto name = local.number<std::uint16_t>("the entry's header"),
               extra = local.number<std::uint16_t>("the entry's header");
    start += name + extra;
  }
  Input packed(file, start, entry.packed, part);
  if (entry.method == 0) {
    packed.checksummed = true;
    auto result = use(packed);
    char rest[4096];
    while (packed.left() != 0) packed.read(rest, std::min<std::int64_t>(packed.left(), 4096), "the entry");
    if (packed.checksum != entry.checksum) packed.refuse("the entry is damaged: its CRC differs");
    return result;
  }
  if (entry.method != 8)
    packed.refuse(cat("the entry is compressed by method ", entry.method, "; stored (0) and deflated (8) are read"));
  const std::string compressed = packed.text(entry.packed, "the entry");
  Inflate inflate;
  const auto bytes = inflate.run(reinterpret_cast<const unsigned char*>(compressed.data()), entry.packed, entry.size);
  const auto size = static_cast<std::int64_t>(bytes.size());
  if (!inflate.why.empty()) packed.refuse(cat("the entry cannot be unpacked: ", inflate.why));
  if (size != entry.size) packed.refuse(cat("the entry unpacks to ", size, " bytes instead of ", entry.size));
  if (crc32(0, bytes.data(), size) != entry.checksum) packed.refuse("the entry is damaged: its CRC differs");
  Input unpacked(bytes.data(), size, packed.name());
  return use(unpacked);
}

/// Writes stored entries one after the other, then the directory.
class ZipWriter {
 public:
  explicit ZipWriter(Output& out) : out_(out) {}

  /// One entry of two pieces.
  void add(const std::string& name, std::string_view head, const void* body, std::int64_t body_bytes) {
    if (name.size() > 65535) out_.refuse("a name is longer than 65535 bytes");
    ZipEntry entry;
    entry.name = name;
    entry.checksum = crc32(crc32(0, head.data(), static_cast<std::int64_t>(head.size())), body, body_bytes);
    entry.size = entry.packed = static_cast<std::int64_t>(head.size()) + body_bytes;
    entry.offset = out_.written();
    const bool large = entry.size >= zip_large;
    out_.number(zip_local);
    describe(entry, large);
    out_.number(static_cast<std::uint16_t>(large ? 20 : 0));
    out_.write(name);
    if (large) {
      out_.number(std::uint16_t{1});
      out_.number(std::uint16_t{16});
      out_.number(entry.size);
      out_.number(entry.packed);
    }
    out_.write(head);
    out_.write(body, body_bytes);
    entries_.push_back(std::move(entry));
  }

  void finish() {
    std::vector<std::string_view> names;
    for (const ZipEntry& entry : entries_) names.push_back(entry.name);
    std::sort(names.begin(), names.end());
    for (std::size_t i = 1; i < names.size(); ++i)
      if (names[i] == names[i - 1]) out_.refuse(cat("two entries are named '", excerpt(names[i]), "'"));
    const std::int64_t start = out_.written();
    for (const ZipEntry& entry : entries_) {
      const bool large = entry.size >= zip_large, far = entry.offset >= zip_large;
      const int extra = (large ? 16 : 0) + (far ? 8 : 0);
      out_.number(zip_central);
      out_.number(std::uint16_t{45});
      describe(entry, large || far);
      out_.number(static_cast<std::uint16_t>(extra == 0 ? 0 : extra + 4));
      out_.write(std::string_view("\0\0\0\0\0\0\0\0\0\0", 10));  // comment, disk, attributes
      out_.number(far ? zip_large : static_cast<std::uint32_t>(entry.offset));
      out_.write(entry.name);
      if (extra == 0) continue;
      out_.number(std::uint16_t{1});
      out_.number(static_cast<std::uint16_t>(extra));
      if (large) {
        out_.number(entry.size);
        out_.number(entry.packed);
      }
      if (far) out_.number(entry.offset);
    }
    const std::int64_t end = out_.written(), size = end - start;
    const auto count = static_cast<std::uint64_t>(entries_.size());
    const bool wide = count >= 65535 || end >= zip_large;
    if (wide) {
      out_.number(zip64_end);
      out_.number(std::uint64_t{44});
      out_.number(std::uint32_t{45 << 16 | 45});
      out_.number(std::uint64_t{0});
      out_.number(count);
      out_.number(count);
      out_.number(size);
      out_.number(start);
      out_.number(zip64_locator);
      out_.number(std::uint32_t{0});
      out_.number(end);
      out_.number(std::uint32_t{1});
    }
    out_.number(zip_end);
    out_.number(std::uint32_t{0});
    for (int i = 0; i < 2; ++i) out_.number(static_cast<std::uint16_t>(wide ? 65535 : count));
    out_.number(wide ? zip_large : static_cast<std::uint32_t>(size));
    out_.number(wide ? zip_large : static_cast<std::uint32_t>(start));
    out_.number(std::uint16_t{0});
  }

 private:
  /// What local headers and the directory have in common, from the needed version to the length of the name.
  void describe(const ZipEntry& entry, bool wide) {
    const bool large = entry.size >= zip_large;
    bool ascii = true;
    for (char c : entry.name) ascii = ascii && static_cast<unsigned char>(c) < 128;
    out_.number(static_cast<std::uint16_t>(wide ? 45 : 20));
    out_.number(static_cast<std::uint16_t>(ascii ? 0 : 0x800));  // UTF-8
    out_.number(std::uint16_t{0});                               // stored
    out_.number(std::uint32_t{0x21U << 16});                     // 1980-01-01: equal arrays make equal files
    out_.number(entry.checksum);
    out_.number(large ? zip_large : static_cast<std::uint32_t>(entry.packed));
    out_.number(large ? zip_large : static_cast<std::uint32_t>(entry.size));
    out_.number(static_cast<std::uint16_t>(entry.name.size()));
  }

  Output& out_;
  std::vector<ZipEntry> entries_;
};

}  // namespace strop::inline v0::detail
