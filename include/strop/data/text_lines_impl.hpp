// SPDX-License-Identifier: Apache-2.0
/// \file
/// How lines are read.
#pragma once
#include <strop/core/config.hpp>
#include <strop/data/data_part.hpp>
#include <strop/data/text_lines.hpp>

#include <algorithm>
#include <string>
#include <string_view>

namespace strop::inline v0 {

STROP_IMPL TextLines::TextLines(const std::string& path, std::int64_t num_parts, std::int64_t part_index)
    : lines_(nullptr) {
  detail::check_part("TextLines", num_parts, part_index);
  lines_ = new detail::LineBlocks("TextLines", path, num_parts, part_index);
}

STROP_IMPL detail::LineBlocks& TextLines::lines() const {
  if (lines_ == nullptr) fail("TextLines: this reader was moved to another one");
  return *lines_;
}

STROP_IMPL bool TextLines::read(std::string& line) {
  if (left_.empty() && !lines().next(left_)) return false;
  const std::size_t end = std::min(left_.find('\n'), left_.size());
  line.assign(left_.substr(0, end));
  if (line.ends_with('\r')) line.pop_back();
  left_.remove_prefix(std::min(end + 1, left_.size()));
  return true;
}

STROP_IMPL void TextLines::rewind() {
  lines().rewind();
  left_ = {};
}

}  // namespace strop::inline v0
