// SPDX-License-Identifier: Apache-2.0
/// \file
/// Bytes for the tests of the file formats: from hexadecimal text, by hand, and in files that are gone afterwards.
#pragma once
#include <strop/tensor/format/file.hpp>
#include <unit/sentence.hpp>

#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <type_traits>

namespace test {

inline std::string from_hex(std::string_view hex) {
  std::string out;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2)
    out += static_cast<char>(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16));
  return out;
}

/// Appends numbers of the given width, little-endian.
class Bytes {
 public:
  template <class N>
    requires std::is_arithmetic_v<N>
  Bytes& put(N value) {
    char raw[sizeof value];
    std::memcpy(raw, &value, sizeof value);
    text.append(raw, sizeof value);
    return *this;
  }
  Bytes& put(std::string_view more) {
    text += more;
    return *this;
  }
  std::string text;
};

using testing::sentence;

/// A folder that is removed with everything in it.
class Folder {
 public:
  Folder() {
    static int count = 0;
    const auto base = std::filesystem::temp_directory_path();
    do
      path_ = base /
              ("strop-test-" + std::to_string(++count) + "-" + std::to_string(reinterpret_cast<std::uintptr_t>(this)));
    while (!std::filesystem::create_directory(path_));
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  std::string operator/(const char* name) const { return (path_ / name).string(); }
  std::size_t files() const {
    std::size_t n = 0;
    for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(path_)) ++n;
    return n;
  }

 private:
  std::filesystem::path path_;
};

inline void put_file(const std::string& path, std::string_view content) {
  std::FILE* file = std::fopen(path.c_str(), "wb");
  std::fwrite(content.data(), 1, content.size(), file);
  std::fclose(file);
}
/// What a file has in it; nothing where there is none.
inline std::string content_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace test
