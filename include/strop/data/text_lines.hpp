// SPDX-License-Identifier: Apache-2.0
/// \file
/// TextLines: the lines of text files as records.
#pragma once
#include <strop/core/push_macros.def>

#include <strop/data/lines.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace strop::inline v0 {

/// The lines of a file, or of all files of a folder in the order of their names, one after the other, without their
/// ends; of `num_parts` parts that with the number `part_index`. Throws Error where a file cannot be read.
class TextLines {
 public:
  explicit TextLines(const std::string& path, std::int64_t num_parts = 1, std::int64_t part_index = 0);
  TextLines(TextLines&& from) noexcept
      : lines_(std::exchange(from.lines_, nullptr)), left_(std::exchange(from.left_, {})) {}
  TextLines& operator=(TextLines&& from) noexcept {
    std::swap(lines_, from.lines_);
    std::swap(left_, from.left_);
    return *this;
  }
  ~TextLines() { delete lines_; }

  /// The next line; false behind the last one.
  bool read(std::string& line);
  void rewind();

 private:
  detail::LineBlocks& lines() const;

  detail::LineBlocks* lines_;  // alone, so that the object may be moved
  std::string_view left_;      // of the block
};

}  // namespace strop::inline v0

#if !defined(STROP_COMPILED)
#include <strop/data/text_lines_impl.hpp>
#endif

#include <strop/core/pop_macros.def>
