// SPDX-License-Identifier: Apache-2.0
/// \file
/// Rows of numbers between commas as they are read.
#pragma once
#include <strop/data/line_reader.hpp>
#include <strop/tensor/convert.hpp>
#include <strop/tensor/ndarray.hpp>

#include <cstdint>
#include <string_view>

namespace strop::inline v0::detail {

/// Numbers of rows as they are read: of a floating type reals, of another one whole numbers.
struct CSVRows {
  List<double> reals;
  List<std::int64_t> wholes;
  Index rows = 0;

  Index count() const { return rows; }
  void clear() { reals.clear(), wholes.clear(), rows = 0; }
};

/// Lines of so many numbers.
struct CSVText {
  using Rows = CSVRows;
  std::int64_t width;
  Dtype dtype;

  void parse(std::string_view lines, Rows& to) const;
  void append(Rows& to, const Rows& from, Index first, Index count) const {
    if (is_floating(dtype))
      to.reals.append(from.reals.span().subspan(first * width, count * width));
    else
      to.wholes.append(from.wholes.span().subspan(first * width, count * width));
    to.rows += count;
  }
  /// Adds rows of zeros.
  void append_empty(Rows& to, Index count) const {
    if (is_floating(dtype))
      to.reals.resize(to.reals.size() + count * width);
    else
      to.wholes.resize(to.wholes.size() + count * width);
    to.rows += count;
  }
  NDArray array(const Rows& rows, const Shape& shape) const {
    const NDArray out(shape, dtype);
    if (is_floating(dtype))
      convert_elements(f64, rows.reals.data(), dtype, out.bytes(), out.size());
    else
      convert_elements(i64, rows.wholes.data(), dtype, out.bytes(), out.size());
    return out;
  }
};

/// Reads lines from left to right.
class CSVParser : TextCursor {
 public:
  CSVParser(std::string_view lines, const CSVText& text, CSVRows& to)
      : TextCursor(lines, is_floating(text.dtype) && text.dtype != f64), text_(text), to_(to) {}
  void run() {
    each_row([this] { is_floating(text_.dtype) ? row(to_.reals) : row(to_.wholes); });
  }

 private:
  void next(double& to) { to = number("number", true); }
  void next(std::int64_t& to) {
    const char* const from = at_;
    to = integer("number", true);
    if (nearest_integer(text_.dtype, to) != to)
      bad(from, cat("the number '", token(from, true), "' is more than ", name_of(text_.dtype), " can hold"));
  }
  template <class N>
  void row(List<N>& to) {
    const char* const from = at_;
    std::int64_t given = 0;
    for (;; ++at_) {
      skip_blanks();
      N value = 0;
      next(value);
      if (given < text_.width) to.push_back(value);
      ++given;
      skip_blanks();
      if (at_ == end_ || *at_ != ',') break;
    }
    if (!at_end_of_row())
      bad(at_, cat("'", token(at_, true), "' stands behind a number, expected a comma or the end of the line"));
    if (given != text_.width)
      bad(from, cat("the line has ", given, given == 1 ? " number" : " numbers", ", expected ", text_.width));
    ++to_.rows;
  }

  const CSVText& text_;
  CSVRows& to_;
};

inline void CSVText::parse(std::string_view lines, Rows& to) const { CSVParser(lines, *this, to).run(); }

}  // namespace strop::inline v0::detail
