// SPDX-License-Identifier: Apache-2.0
/// \file
/// Any bytes as a file of records, whole and in parts: an Error, or records that read back the same after they were
/// written; and as a packed header.
#include <strop/data/image_record.hpp>
#include <strop/data/record_file.hpp>

#include <unistd.h>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

using namespace strop;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  if (size < 1) return 0;
  const std::string_view text(reinterpret_cast<const char*>(bytes) + 1, size - 1);
  static const std::string path = cat("/tmp/strop-fuzz-", ::getpid(), ".rec");
  std::FILE* const file = std::fopen(path.c_str(), "wb");
  std::fwrite(text.data(), 1, text.size(), file);
  std::fclose(file);
  const std::int64_t parts = bytes[0] % 4 + 1;
  std::vector<std::string> records;
  try {
    for (std::int64_t part = 0; part < parts; ++part)
      for (const std::string& record : RecordReader(path, {.num_parts = parts, .part_index = part}))
        records.push_back(record);
    {
      RecordWriter writer(path);
      for (const std::string& record : records) writer.write(record);
    }
    RecordReader again(path);
    std::size_t count = 0;
    for (const std::string& record : again)
      if (count == records.size() || record != records[count++]) std::abort();
    if (count != records.size()) std::abort();
  } catch (const Error&) {
  }
  ::unlink(path.c_str());
  try {
    const auto [header, rest] = unpack(text);
    if (unpack(pack(header, rest)).second != rest) std::abort();
  } catch (const Error&) {
  }
  return 0;
}
