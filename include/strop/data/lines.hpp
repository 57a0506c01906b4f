// SPDX-License-Identifier: Apache-2.0
/// \file
/// Text files a block of whole lines at a time: all of them, or one of several nearly equal parts.
#pragma once
#include <strop/core/error.hpp>
#include <strop/core/list.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace strop::inline v0::detail {

/// The lines of the files that a path names (see input_files), in blocks. Of `parts` parts, ranges of
/// nearly as many bytes, one is read: a line belongs to the part that its first byte lies in.
class LineBlocks {
 public:
  /// `function` begins the sentences of errors.
  LineBlocks(std::string_view function, const std::string& path, std::int64_t parts = 1, std::int64_t part = 0);
  /// A copy of a text in memory; `name` stands for it in sentences.
  LineBlocks(std::string_view function, std::string_view name, std::string_view text);
  LineBlocks(const LineBlocks&) = delete;
  LineBlocks& operator=(const LineBlocks&) = delete;
  ~LineBlocks() { close(); }

  /// The next lines, whole ones, valid until the next call; false at the end.
  bool next(std::string_view& lines);
  void rewind();
  /// How many rows stand before the part, in its files and those before them. A row is a line of text that is neither
  /// blank nor a comment, which begins with '#'. Begins anew.
  std::int64_t rows_before();
  /// Makes this the part from row n, counted over all files, to the end of the last file; an empty one where there are
  /// no more rows. Begins anew.
  void begin_at_row(std::int64_t n);
  /// Throws Error that names the file, the line and the byte of that line which `at`, in the last block, points to.
  [[noreturn]] void refuse(const char* at, std::string_view why) const;
  /// As soon as a block has no end of a line, blocks of twice the size are read.
  std::int64_t block_bytes = std::int64_t{1} << 20;

 private:
  struct Range {
    std::string path;
    std::int64_t begin, end;  // bytes; lines that begin there are read
    bool in_memory = false;   // the text is this one
    std::string text = {};
  };
  [[noreturn]] void refuse_file(std::string_view why) const;
  void take_part(std::int64_t parts, std::int64_t part);
  void open();
  void close();
  struct Passed {
    std::int64_t rows;
    Index range;  // where the next row is; as many as there are ranges, where there is none
    std::int64_t byte;
  };
  /// Passes over up to `most` rows; says how many, and where the next one is.
  Passed pass_rows(std::int64_t most);
  void read(char* to, std::int64_t bytes, std::int64_t from) const;
  /// The first byte of the first line that begins at `byte` or behind it.
  std::int64_t line_begin(std::int64_t byte) const;
  const std::string& path() const { return ranges_[at_].path; }

  std::string function_;
  List<Range> ranges_;
  Index at_ = 0;           // the range that is read
  std::string_view text_;  // of the open file, where it is in memory
  int file_ = -1;
  bool opened_ = false;
  std::int64_t size_ = 0, from_ = 0, to_ = 0;  // of the open file: its bytes, what is left to read of them
  std::int64_t text_at_ = 0;                   // where its text begins: behind a byte order mark
  std::int64_t block_at_ = 0;                  // where in the file the last block begins
  std::string block_;
};

}  // namespace strop::inline v0::detail

#if !defined(STROP_COMPILED)
#include <strop/data/lines_impl.hpp>
#endif
