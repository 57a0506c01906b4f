// SPDX-License-Identifier: Apache-2.0
/// \file
/// How lines of LibSVM text become rows.
#pragma once
#include <strop/core/config.hpp>
#include <strop/data/libsvm_reader.hpp>
#include <strop/tensor/cast.hpp>
#include <strop/tensor/convert.hpp>

#include <algorithm>
#include <cstring>
#include <limits>
#include <string>
#include <string_view>
#include <utility>

namespace strop::inline v0::detail {

STROP_IMPL void LibSVMRows::clear() {
  labels.clear(), values.clear(), columns.clear(), ends.clear(), qids.clear();
  has_qid = false;
  most_column = -1;
}

STROP_IMPL void LibSVMRows::append(const LibSVMRows& from, Index first, Index count, std::int64_t labels_of_row) {
  if (count == 0) return;
  const Index begin = first == 0 ? 0 : from.ends[first - 1], end = from.ends[first + count - 1];
  const Index shift = values.size() - begin;
  labels.append(from.labels.span().subspan(first * labels_of_row, count * labels_of_row));
  values.append(from.values.span().subspan(begin, end - begin));
  columns.append(from.columns.span().subspan(begin, end - begin));
  qids.append(from.qids.span().subspan(first, count));
  for (Index r = first; r < first + count; ++r) ends.push_back(from.ends[r] + shift);
  has_qid = has_qid || from.has_qid;
  most_column = std::max(most_column, from.most_column);
}

STROP_IMPL void LibSVMRows::append_empty(std::int64_t labels_of_row) {
  for (std::int64_t k = 0; k < labels_of_row; ++k) labels.push_back(0);
  qids.push_back(-1);
  ends.push_back(values.size());
}

STROP_IMPL NDArray LibSVMRows::data(std::int64_t features, Dtype dtype) const {
  NDArray out = NDArray::shell({count(), features}, dtype, cpu(), csr);
  allocate_stored_as(out, values.size(), fits_narrow(features) ? i32 : i64);
  convert_elements(f64, values.data(), dtype, out.bytes(), values.size());
  write_indices(out.indices(), columns.data(), columns.size());
  const std::int64_t first = 0;
  write_indices(out.indptr(), &first, 1);
  write_indices(out.indptr(), ends.data(), ends.size(), 1);
  return out;
}

STROP_IMPL NDArray LibSVMRows::label(std::int64_t labels_of_row, Dtype dtype) const {
  const NDArray out(labels_of_row == 1 ? Shape{count()} : Shape{count(), labels_of_row}, dtype);
  convert_elements(f64, labels.data(), dtype, out.bytes(), labels.size());
  return out;
}

STROP_IMPL NDArray LibSVMRows::qid() const {
  if (!has_qid) return {};
  const NDArray out({count()}, i64);
  std::copy(qids.begin(), qids.end(), reinterpret_cast<std::int64_t*>(out.bytes()));
  return out;
}

/// Reads lines from left to right.
class LibSVMParser : TextCursor {
 public:
  LibSVMParser(std::string_view lines, const LibSVMFormat& format, LibSVMRows& to)
      : TextCursor(lines, is_floating(format.dtype) && format.dtype != f64),
        labels_(format.labels),
        features_(format.features),
        base_(format.one_based ? 1 : 0),
        to_(to) {}

  void run() {
    each_row([this] { row(); });
  }

 private:
  void row() {
    const char* const from = at_;
    std::int64_t given = 0;
    for (;; ++at_) {
      to_.labels.push_back(number("label", true));
      ++given;
      if (at_ == end_ || *at_ != ',') break;
    }
    if (given != labels_)
      bad(from, cat("the line has ", given, given == 1 ? " label" : " labels", ", expected ", labels_));
    to_.qids.push_back(-1);
    for (Index last = -1;;) {
      skip_blanks();
      if (at_end_of_row()) break;
      if (end_ - at_ > 4 && std::memcmp(at_, "qid:", 4) == 0) {
        if (to_.qids.back() >= 0) bad(at_, "the line has a second qid");
        at_ += 4;
        skip_blanks();
        to_.qids.back() = whole("qid");
        if (!at_end_of_token(false)) bad(at_, cat("the qid '", token(at_), "' goes on behind its number"));
        to_.has_qid = true;
        continue;
      }
      const char* const entry = at_;
      const Index column = whole("index") - base_;
      if (column < 0) bad(entry, "index 0, and one_based files begin at 1");
      if (features_ > 0 && column >= features_)
        bad(entry, cat("index ", column + base_, " is outside of ", features_, " features, which are numbered from ",
                       base_, " to ", features_ - 1 + base_));
      if (column <= last)
        bad(entry, cat("index ", column + base_, " comes after ", last + base_, ", expected ascending indices"));
      last = column;
      double value = 1;
      if (at_ != end_ && *at_ == ':') {
        ++at_;
        skip_blanks();  // as MXNet's readers
        value = number("value", false);
      } else if (at_ == end_) {
        bad(entry, cat("the text ends behind index ", column + base_,
                       ", which may be a part of what stood there; expected its value, or the end of the line"));
      } else if (!at_end_of_token(false)) {
        bad(entry, cat("'", token(entry), "' is not index:value"));
      }
      to_.columns.push_back(column);
      to_.values.push_back(value);
      to_.most_column = std::max(to_.most_column, column);
    }
    to_.ends.push_back(to_.values.size());
  }

  /// A whole number that is not negative.
  Index whole(std::string_view what) {
    const char* const from = at_;
    Index value = 0;
    for (; at_ != end_ && is_digit(*at_); ++at_) {
      if (at_ - from >= 18) bad(from, cat("the ", what, " '", token(from), "' has more than 18 digits"));
      value = value * 10 + (*at_ - '0');
    }
    if (at_ == from) bad(from, cat("the ", what, " '", token(from), "' is no whole number from 0 on"));
    return value;
  }

  std::int64_t labels_, features_, base_;
  LibSVMRows& to_;
};

STROP_IMPL void parse_libsvm(std::string_view lines, const LibSVMFormat& format, LibSVMRows& to) {
  LibSVMParser(lines, format, to).run();
}

STROP_IMPL LibSVMData LibSVMReader::read_all() {
  LibSVMRows rows;
  lines_.read(std::numeric_limits<Index>::max(), rows);
  return {rows.data(format_.features > 0 ? format_.features : rows.most_column + 1, format_.dtype),
          rows.label(format_.labels, format_.dtype), rows.qid()};
}

}  // namespace strop::inline v0::detail
