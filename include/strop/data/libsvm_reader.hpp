// SPDX-License-Identifier: Apache-2.0
/// \file
/// Rows of LibSVM text as they are read.
#pragma once
#include <strop/data/libsvm_format.hpp>
#include <strop/data/line_reader.hpp>

#include <string>
#include <string_view>

namespace strop::inline v0::detail {

/// Rows of LibSVM text. Row r has the entries from ends[r - 1] (0 of the first) to ends[r].
struct LibSVMRows {
  List<double> labels, values;
  List<Index> columns, ends, qids;
  bool has_qid = false;
  Index most_column = -1;

  Index count() const { return ends.size(); }
  void clear();
  /// Adds `count` rows of another list.
  void append(const LibSVMRows& from, Index first, Index count, std::int64_t labels_of_row);
  /// Adds a row of nothing.
  void append_empty(std::int64_t labels_of_row);
  NDArray data(std::int64_t features, Dtype dtype) const;
  NDArray label(std::int64_t labels_of_row, Dtype dtype) const;
  NDArray qid() const;
};

/// Reads whole lines. Throws BadText.
void parse_libsvm(std::string_view lines, const LibSVMFormat& format, LibSVMRows& to);

struct LibSVMText {
  using Rows = LibSVMRows;
  LibSVMFormat format;
  void parse(std::string_view lines, Rows& to) const { parse_libsvm(lines, format, to); }
  void append(Rows& to, const Rows& from, Index first, Index count) const {
    to.append(from, first, count, format.labels);
  }
};

/// All rows of a file, of a part of it, or of text in memory.
class LibSVMReader {
 public:
  LibSVMReader(std::string_view function, const std::string& path, const LibSVMFormat& format, std::int64_t parts = 1,
               std::int64_t part = 0)
      : lines_(LibSVMText{format}, function, path, parts, part), format_(format) {}
  LibSVMReader(std::string_view function, std::string_view name, std::string_view text, const LibSVMFormat& format)
      : lines_(LibSVMText{format}, function, name, text), format_(format) {}
  LibSVMData read_all();

 private:
  LineReader<LibSVMText> lines_;
  LibSVMFormat format_;
};

}  // namespace strop::inline v0::detail

#if !defined(STROP_COMPILED)
#include <strop/data/libsvm_reader_impl.hpp>
#endif
