// SPDX-License-Identifier: Apache-2.0
/// \file
/// LibSVM text, `label index:value index:value …` a line, as a CSR matrix and its labels, and back.
#pragma once
#include <strop/core/push_macros.def>

#include <strop/core/list.hpp>
#include <strop/data/lines.hpp>
#include <strop/tensor/ndarray.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace strop::inline v0 {

/// How LibSVM text is read.
struct LibSVMFormat {
  std::int64_t features = 0;  ///< columns of the data; 0: as many as the largest index asks for
  std::int64_t labels = 1;    ///< labels of a line, separated by commas
  bool one_based = false;     ///< the first column's index is 1, not 0
  Dtype dtype = f32;          ///< of data and labels
};

/// Rows of LibSVM text.
struct LibSVMData {
  NDArray data;   ///< CSR, (rows, features), with int32 indices where these can number the features
  NDArray label;  ///< (rows,), or (rows, labels) where a line has several
  NDArray qid;    ///< int64, (rows,), -1 where a line has none; an empty handle where no line has one
};

/// Reads a LibSVM file, or all files of a folder in the order of their names: a line is `label[,label…] [qid:n]
/// [index[:value]…] [# comment]`, indices ascend within it, an index without a value has the value 1, but is
/// refused where the file ends behind it, without the end of the line, and so may be cut; empty lines and comments are
/// passed over. Numbers are read to the nearest float32 (float64, where `dtype` is that or an integer
/// type) and become another type from there as `to()` has it. Throws Error that names file, line and byte where the
/// text is not that, or an index is beyond `features`.
///
/// Example: of the file `1 0:0.5 2:1.5`, `load_libsvm("a.libsvm").data` has shape (1, 3).
LibSVMData load_libsvm(const std::string& path, const LibSVMFormat& format = {});

/// Writes LibSVM text: a line a row of the CSR matrix, what it stores in the order of the columns, numbers as short as
/// they read back to the same value. `labels` has shape (rows,) or (rows, labels). Of `format` only one_based counts.
/// The old file or the whole new one stands there afterwards. Throws Error where data is no CSR matrix in order, the
/// rows of the parts differ, or the file cannot be written.
void save_libsvm(const std::string& path, const LibSVMData& rows, const LibSVMFormat& format = {});

namespace detail {

/// Rows of LibSVM text as they are read. Row r has the entries from ends[r - 1] (0 of the first) to ends[r].
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

/// What is wrong with a text, and where.
struct BadText {
  const char* at;
  std::string why;
};

/// Reads whole lines. Throws BadText.
void parse_libsvm(std::string_view lines, const LibSVMFormat& format, LibSVMRows& to);

/// Rows one after the other from blocks of lines, which several threads parse.
class LibSVMReader {
 public:
  LibSVMReader(std::string_view function, const std::string& path, const LibSVMFormat& format, std::int64_t parts = 1,
               std::int64_t part = 0)
      : lines_(function, path, parts, part), format_(format) {}
  LibSVMReader(std::string_view function, std::string_view name, std::string_view text, const LibSVMFormat& format)
      : lines_(function, name, text), format_(format) {}

  /// Adds the next n rows, or what is left of them, and says how many.
  Index read(Index n, LibSVMRows& to);
  void rewind();
  LibSVMData read_all();
  /// The number of the part's first row in the whole, and the part that begins with a row (see LineBlocks).
  Index rows_before();
  void begin_at_row(Index n);

 private:
  bool parse_block();

  LineBlocks lines_;
  LibSVMFormat format_;
  List<LibSVMRows> pieces_;  // of the last block
  Index piece_ = 0, row_ = 0, used_ = 0;
};

}  // namespace detail
}  // namespace strop::inline v0

#if !defined(STROP_COMPILED)
#include <strop/data/libsvm_impl.hpp>
#endif

#include <strop/core/pop_macros.def>
