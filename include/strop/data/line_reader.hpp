// SPDX-License-Identifier: Apache-2.0
/// \file
/// Rows of text files, parsed by all threads; and those of two files side by side, data and labels.
#pragma once
#include <strop/core/list.hpp>
#include <strop/data/data_part.hpp>
#include <strop/data/lines.hpp>
#include <strop/data/text_cursor.hpp>
#include <strop/engine/pool.hpp>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace strop::inline v0::detail {

/// A kind of text: what its rows become, and how.
template <class T>
concept TextFormat = requires(const T& format, std::string_view lines, typename T::Rows& rows, Index n) {
  rows.clear();
  { rows.count() } -> std::same_as<Index>;
  format.parse(lines, rows);        // adds the rows of whole lines; throws BadText
  format.append(rows, rows, n, n);  // adds to the first rows n of the second, from the n-th on
};

/// Rows one after the other from blocks of lines, which several threads parse.
template <TextFormat Format>
class LineReader {
 public:
  using Rows = typename Format::Rows;
  /// `where`: what LineBlocks is made of.
  template <class... Where>
  explicit LineReader(const Format& format, Where&&... where)
      : lines_(std::forward<Where>(where)...), format_(format) {}

  /// Adds the next n rows, or what is left of them, and says how many.
  Index read(Index n, Rows& to) {
    Index got = 0;
    while (got < n) {
      if (piece_ == used_) {
        if (!parse_block()) break;
        continue;
      }
      const Rows& piece = pieces_[piece_];
      const Index count = std::min(n - got, piece.count() - row_);
      if (count > 0) format_.append(to, piece, row_, count);
      got += count, row_ += count;
      if (row_ == piece.count()) ++piece_, row_ = 0;
    }
    return got;
  }
  void rewind() {
    lines_.rewind();
    piece_ = row_ = used_ = 0;
  }
  /// The number of the part's first row in the whole, and the part that begins with a row (see LineBlocks).
  Index rows_before() {
    piece_ = row_ = used_ = 0;
    return lines_.rows_before();
  }
  void begin_at_row(Index n) {
    piece_ = row_ = used_ = 0;
    lines_.begin_at_row(n);
  }

 private:
  bool parse_block() {
    constexpr std::int64_t piece_bytes = std::int64_t{1} << 17;
    std::string_view lines;
    if (!lines_.next(lines)) return false;
    List<std::string_view> texts;
    while (!lines.empty()) {
      const std::size_t end = lines.size() <= unsigned_size(piece_bytes) ? std::string_view::npos
                                                                         : lines.find('\n', unsigned_size(piece_bytes));
      texts.push_back(lines.substr(0, end == std::string_view::npos ? lines.size() : end + 1));
      lines.remove_prefix(texts.back().size());
    }
    const Index count = texts.size();
    if (pieces_.size() < count) pieces_.resize(count);
    piece_ = row_ = used_ = 0;  // where a line is wrong, nothing of the block is given
    List<std::optional<BadText>> bad(count);
    parallel_for(count, 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t k = begin; k < end; ++k) {
        pieces_[k].clear();
        try {
          format_.parse(texts[k], pieces_[k]);
        } catch (const BadText& what) {
          bad[k] = what;
        }
      }
    });
    for (const std::optional<BadText>& what : bad)
      if (what) lines_.refuse(what->at, what->why);
    used_ = count;
    return true;
  }

  LineBlocks lines_;
  Format format_;
  List<Rows> pieces_;  // of the last block
  Index piece_ = 0, row_ = 0, used_ = 0;
};

/// Rows of data and, where a file of their own has them, of labels: as many of one as of the other.
template <TextFormat Format>
class LabelledReader {
 public:
  using Rows = typename Format::Rows;
  /// `labels`: how the label file is read; none: there is no such file.
  LabelledReader(std::string_view function, const std::string& path, const Format& format, DataPart part,
                 const std::string& label_path, const std::optional<Format>& labels)
      : function_(function),
        label_path_(label_path),
        last_part_(part.part == part.parts - 1),
        data_(format, function, path, part.parts, part.part) {
    if (!labels) return;
    labels_.emplace(*labels, function, label_path);
    // The lines of two files are not cut at the same places: labels are those of the part's rows, by their numbers.
    if (part.part > 0) labels_->begin_at_row(data_.rows_before());
  }

  bool has_labels() const { return labels_.has_value(); }
  /// Adds the next n rows of either file, or what is left of them, and says how many.
  Index read(Index n, Rows& to, Rows& to_labels) {
    const Index got = data_.read(n, to);
    if (!labels_) return got;
    // One more at the end of the last part: whether the label file ends there as well.
    const Index labelled = labels_->read(got < n && last_part_ ? got + 1 : got, to_labels);
    if (labelled != got)
      fail(function_, ": \"", label_path_, "\" has ", labelled < got ? "fewer" : "more", " rows than the data");
    return got;
  }
  void rewind() {
    data_.rewind();
    if (labels_) labels_->rewind();
  }

 private:
  std::string function_, label_path_;
  bool last_part_;
  LineReader<Format> data_;
  std::optional<LineReader<Format>> labels_;
};

/// Whether a file of labels is named: MXNet writes "NULL" for none.
inline bool names_label_file(const std::string& path) { return !path.empty() && path != "NULL"; }

}  // namespace strop::inline v0::detail
