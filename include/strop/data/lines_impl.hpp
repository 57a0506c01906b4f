// SPDX-License-Identifier: Apache-2.0
/// \file
/// How blocks of lines are read.
#pragma once
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <strop/core/config.hpp>
#include <strop/data/data_part.hpp>
#include <strop/data/input_files.hpp>
#include <strop/data/lines.hpp>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <utility>
#include <vector>

namespace strop::inline v0::detail {

STROP_IMPL void LineBlocks::refuse_file(std::string_view why) const {
  fail(function_, ": \"", at_ < ranges_.size() ? path() : std::string(), "\": ", why);
}

STROP_IMPL LineBlocks::LineBlocks(std::string_view function, const std::string& path, std::int64_t parts,
                                  std::int64_t part)
    : function_(function) {
  for (InputFile& file : input_files(function, path))
    ranges_.push_back({std::move(file.path), 0, file.size, file.in_memory, std::move(file.text)});
  take_part(parts, part);
}

STROP_IMPL LineBlocks::LineBlocks(std::string_view function, std::string_view name, std::string_view text)
    : function_(function) {
  ranges_.push_back({std::string(name), 0, static_cast<std::int64_t>(text.size()), true, std::string(text)});
}

STROP_IMPL void LineBlocks::take_part(std::int64_t parts, std::int64_t part) {
  std::int64_t total = 0;
  for (const Range& range : ranges_) total += range.end;
  const std::int64_t begin = part_begin(total, parts, part), end = part_begin(total, parts, part + 1);
  std::int64_t before = 0;
  for (Range& range : ranges_) {
    const std::int64_t size = range.end;
    range.begin = std::clamp(begin - before, std::int64_t{0}, size);
    range.end = std::clamp(end - before, std::int64_t{0}, size);
    before += size;
  }
}

STROP_IMPL void LineBlocks::open() {
  const Range& range = ranges_[at_];
  text_ = range.text;
  if (range.in_memory) {
    size_ = std::ssize(text_);
  } else {
    file_ = ::open(path().c_str(), O_RDONLY | O_CLOEXEC);
    struct stat info{};
    if (file_ < 0 || ::fstat(file_, &info) != 0) refuse_file(std::strerror(errno));
    size_ = info.st_size;
  }
  opened_ = true;
  constexpr std::string_view mark = "\xEF\xBB\xBF";  // of UTF-8, as some editors and tables write it
  char begin[mark.size()] = {};
  if (size_ >= std::ssize(mark)) read(begin, std::ssize(mark), 0);
  text_at_ = std::string_view(begin, mark.size()) == mark ? std::ssize(mark) : 0;
  from_ = line_begin(range.begin);
  to_ = line_begin(range.end);
}

STROP_IMPL void LineBlocks::close() {
  if (file_ >= 0) ::close(file_);
  file_ = -1;
  opened_ = false;
}

STROP_IMPL void LineBlocks::read(char* to, std::int64_t bytes, std::int64_t from) const {
  if (ranges_[at_].in_memory) {
    std::memcpy(to, text_.data() + from, unsigned_size(bytes));
    return;
  }
  while (bytes > 0) {
    const ssize_t got = ::pread(file_, to, unsigned_size(bytes), static_cast<off_t>(from));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) refuse_file(std::strerror(errno));
    if (got == 0) refuse_file("the file has become shorter while it was read");
    to += got, from += got, bytes -= got;
  }
}

STROP_IMPL std::int64_t LineBlocks::line_begin(std::int64_t byte) const {
  if (byte <= text_at_) return text_at_;
  char piece[4096];
  for (std::int64_t at = byte - 1; at < size_;) {
    const std::int64_t count = std::min<std::int64_t>(sizeof piece, size_ - at);
    read(piece, count, at);
    if (const void* end = std::memchr(piece, '\n', unsigned_size(count)))
      return at + (static_cast<const char*>(end) - piece) + 1;
    at += count;
  }
  return size_;
}

STROP_IMPL bool LineBlocks::next(std::string_view& lines) {
  for (; at_ < ranges_.size(); close(), ++at_) {
    if (!opened_) open();
    while (from_ < to_) {
      std::int64_t count = std::min(block_bytes, to_ - from_);
      block_.resize(unsigned_size(count));
      read(block_.data(), count, from_);
      if (from_ + count < to_) {
        const std::size_t end = block_.rfind('\n');
        if (end == std::string::npos) {
          block_bytes *= 2;
          continue;
        }
        count = static_cast<std::int64_t>(end) + 1;
      }
      block_at_ = from_;
      from_ += count;
      lines = std::string_view(block_).substr(0, unsigned_size(count));
      return true;
    }
  }
  return false;
}

STROP_IMPL void LineBlocks::rewind() {
  close();
  at_ = 0;
}

STROP_IMPL LineBlocks::Passed LineBlocks::pass_rows(std::int64_t most) {
  std::int64_t rows = 0;
  for (std::string_view lines; next(lines);)
    for (std::size_t at = 0; at < lines.size();) {
      const std::size_t text = lines.find_first_not_of(" \t\r", at);
      if (text != std::string_view::npos && lines[text] != '\n' && lines[text] != '#') {
        if (rows == most) return {rows, at_, block_at_ + static_cast<std::int64_t>(at)};
        ++rows;
      }
      const std::size_t end = lines.find('\n', at);
      at = end == std::string_view::npos ? lines.size() : end + 1;
    }
  return {rows, ranges_.size(), 0};
}

STROP_IMPL std::int64_t LineBlocks::rows_before() {
  List<std::int64_t> ends;
  for (Range& range : ranges_) {
    ends.push_back(range.end);
    range.end = std::exchange(range.begin, 0);
  }
  rewind();
  const std::int64_t rows = pass_rows(std::numeric_limits<std::int64_t>::max()).rows;
  for (Index k = 0; k < ranges_.size(); ++k) {
    ranges_[k].begin = ranges_[k].end;
    ranges_[k].end = ends[k];
  }
  rewind();
  return rows;
}

STROP_IMPL void LineBlocks::begin_at_row(std::int64_t n) {
  rewind();
  const Passed passed = pass_rows(n);
  for (Index k = 0; k < ranges_.size(); ++k)
    ranges_[k].begin = k < passed.range ? ranges_[k].end : k == passed.range ? passed.byte : ranges_[k].begin;
  rewind();
}

STROP_IMPL void LineBlocks::refuse(const char* at, std::string_view why) const {
  const std::int64_t place = block_at_ + (at - block_.data());
  std::int64_t line = 1, begin = 0;
  char piece[4096];
  for (std::int64_t from = 0; from < place;) {
    const std::int64_t count = std::min<std::int64_t>(sizeof piece, place - from);
    read(piece, count, from);
    for (std::int64_t i = 0; i < count; ++i)
      if (piece[i] == '\n') ++line, begin = from + i + 1;
    from += count;
  }
  fail(function_, ": \"", path(), "\", line ", line, ", byte ", place - begin + 1, ": ", why);
}

}  // namespace strop::inline v0::detail
