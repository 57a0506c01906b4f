// SPDX-License-Identifier: Apache-2.0
/// \file
/// How LibSVM text is read and written.
#pragma once
#include <strop/core/config.hpp>
#include <strop/core/output.hpp>
#include <strop/core/printable.hpp>
#include <strop/core/text.hpp>
#include <strop/data/libsvm.hpp>
#include <strop/engine/pool.hpp>
#include <strop/tensor/cast.hpp>
#include <strop/tensor/convert.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>

namespace strop::inline v0 {
namespace detail {

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
class LibSVMParser {
 public:
  LibSVMParser(std::string_view lines, const LibSVMFormat& format, LibSVMRows& to)
      : at_(lines.data()),
        end_(lines.data() + lines.size()),
        labels_(format.labels),
        features_(format.features),
        base_(format.one_based ? 1 : 0),
        narrow_(is_floating(format.dtype) && format.dtype != f64),
        to_(to) {}

  void run() {
    for (; at_ != end_; ++at_) {
      skip_blanks();
      if (!at_end_of_row()) row();
      if (at_ != end_ && *at_ == '#') {
        const void* const end = std::memchr(at_, '\n', static_cast<std::size_t>(end_ - at_));
        at_ = end == nullptr ? end_ : static_cast<const char*>(end);
      }
      if (at_ == end_) return;
    }
  }

 private:
  static constexpr std::uint64_t exact_mantissa = std::uint64_t{1} << 53;
  static constexpr double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                      1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

  [[noreturn, gnu::cold, gnu::noinline]] static void bad(const char* at, std::string why) {
    throw BadText{at, std::move(why)};
  }
  static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }
  static bool is_digit(char c) { return static_cast<unsigned char>(c - '0') < 10; }
  void skip_blanks() {
    while (at_ != end_ && is_blank(*at_)) ++at_;
  }
  bool at_end_of_row() const { return at_ == end_ || *at_ == '\n' || *at_ == '#'; }
  bool at_end_of_token(bool comma) const { return at_end_of_row() || is_blank(*at_) || (comma && *at_ == ','); }
  /// The text up to the next blank, as a sentence may show it.
  std::string token(const char* from) const {
    const char* to = from;
    while (to != end_ && !is_blank(*to) && *to != '\n' && *to != '#') ++to;
    return printable({from, static_cast<std::size_t>(to - from)}, 40);
  }

  void row() {
    const char* const from = at_;
    std::int64_t given = 0;
    for (;; ++at_) {
      to_.labels.push_back(number(true));
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
        skip_blanks();  // as the original's readers
        value = number(false);
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

  /// A number, to the nearest double, or to the nearest float where values are no wider. What has up to 19 digits and a
  /// small exponent is one exact product or quotient (W. D. Clinger, How to read floating point numbers accurately,
  /// 1990); the rest goes to the library.
  double number(bool label) {
    const char* const from = at_;
    const char* p = at_;
    const bool negative = p != end_ && *p == '-';
    if (p != end_ && (*p == '-' || *p == '+')) ++p;
    std::uint64_t mantissa = 0;
    const char* const digits = p;
    for (; p != end_ && is_digit(*p); ++p) mantissa = mantissa * 10 + static_cast<std::uint64_t>(*p - '0');
    std::ptrdiff_t count = p - digits;
    std::int64_t exponent = 0;
    if (p != end_ && *p == '.') {
      const char* const decimals = ++p;
      for (; p != end_ && is_digit(*p); ++p) mantissa = mantissa * 10 + static_cast<std::uint64_t>(*p - '0');
      exponent = decimals - p;
      count += p - decimals;
    }
    bool plain = count > 0 && count <= 19;
    if (plain && p != end_ && (*p == 'e' || *p == 'E')) {
      ++p;
      const bool down = p != end_ && *p == '-';
      if (p != end_ && (*p == '-' || *p == '+')) ++p;
      const char* const power = p;
      std::int64_t by = 0;
      for (; p != end_ && is_digit(*p) && p - power < 4; ++p) by = by * 10 + (*p - '0');
      plain = p != power;
      exponent += down ? -by : by;
    }
    at_ = p;
    if (plain && mantissa <= exact_mantissa && exponent >= -22 && exponent <= 22 && at_end_of_token(label)) {
      double value = static_cast<double>(mantissa);
      value = exponent < 0 ? value / powers[-exponent] : value * powers[exponent];
      if (!narrow_ || value == 0 || is_one_float(value)) return negative ? -value : value;
    }
    return slow_number(from, label);
  }
  /// Whether rounding to float gives the float next to the decimal number, too: not halfway between two of them, where
  /// the double may have been rounded, and in the range of normal numbers.
  static bool is_one_float(double value) {
    const auto bits = std::bit_cast<std::uint64_t>(value);
    return (bits & 0x1fffffff) != 0x10000000 && value >= std::numeric_limits<float>::min() &&
           value <= std::numeric_limits<float>::max();
  }
  [[gnu::noinline]] double slow_number(const char* from, bool label) {
    const char* to = from;
    while (to != end_ && !is_blank(*to) && *to != '\n' && *to != '#' && !(label && *to == ',')) ++to;
    const std::string_view text(from, static_cast<std::size_t>(to - from));
    at_ = to;
    const std::string_view what = label ? "label" : "value";
    double value = 0;
    float narrow = 0;
    if (!parse_real(text, value)) {
      if (!is_tiny(text)) bad(from, cat("the ", what, " '", token(from), "' is no number that float64 can hold"));
      return 0;
    }
    if (!narrow_ || !std::isfinite(value) || value == 0) return value;
    if (parse_real(text, narrow)) return static_cast<double>(narrow);
    if (std::abs(value) > 1) bad(from, cat("the ", what, " '", token(from), "' is more than float32 can hold"));
    return static_cast<double>(static_cast<float>(value));
  }
  /// A decimal number too small for a double, which reads as zero, as everywhere else.
  static bool is_tiny(std::string_view text) {
    if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
    if (text.find_first_not_of("0123456789.") == std::string_view::npos) {  // many zeros behind the point
      text.remove_prefix(std::min(text.find_first_not_of('0'), text.size()));
      return text.starts_with('.') && text.find('.') == text.rfind('.');
    }
    const std::size_t e = text.find_first_of("eE");
    std::int64_t power = 0;
    double mantissa = 0;
    return e != std::string_view::npos && parse_real(text.substr(0, e), mantissa) && std::isfinite(mantissa) &&
           parse_integer(text.substr(e + 1), power) && power < 0;
  }

  const char *at_, *end_;
  std::int64_t labels_, features_, base_;
  bool narrow_;
  LibSVMRows& to_;
};

STROP_IMPL void parse_libsvm(std::string_view lines, const LibSVMFormat& format, LibSVMRows& to) {
  LibSVMParser(lines, format, to).run();
}

STROP_IMPL bool LibSVMReader::parse_block() {
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
        parse_libsvm(texts[k], format_, pieces_[k]);
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

STROP_IMPL Index LibSVMReader::read(Index n, LibSVMRows& to) {
  Index got = 0;
  while (got < n) {
    if (piece_ == used_) {
      if (!parse_block()) break;
      continue;
    }
    const LibSVMRows& piece = pieces_[piece_];
    const Index count = std::min(n - got, piece.count() - row_);
    to.append(piece, row_, count, format_.labels);
    got += count, row_ += count;
    if (row_ == piece.count()) ++piece_, row_ = 0;
  }
  return got;
}

STROP_IMPL void LibSVMReader::rewind() {
  lines_.rewind();
  piece_ = row_ = used_ = 0;
}

STROP_IMPL Index LibSVMReader::rows_before() {
  piece_ = row_ = used_ = 0;
  return lines_.rows_before();
}

STROP_IMPL void LibSVMReader::begin_at_row(Index n) {
  piece_ = row_ = used_ = 0;
  lines_.begin_at_row(n);
}

STROP_IMPL LibSVMData LibSVMReader::read_all() {
  LibSVMRows rows;
  read(std::numeric_limits<Index>::max(), rows);
  return {rows.data(format_.features > 0 ? format_.features : rows.most_column + 1, format_.dtype),
          rows.label(format_.labels, format_.dtype), rows.qid()};
}

STROP_IMPL void check_format_of(std::string_view function, const LibSVMFormat& format) {
  if (format.features < 0) fail(function, ": features is ", format.features, ", expected 0 or more");
  if (format.labels < 1) fail(function, ": labels is ", format.labels, ", expected 1 or more");
}

}  // namespace detail

STROP_IMPL LibSVMData load_libsvm(const std::string& path, const LibSVMFormat& format) {
  detail::check_format_of("load_libsvm", format);
  return detail::LibSVMReader("load_libsvm", path, format).read_all();
}

STROP_IMPL void save_libsvm(const std::string& path, const LibSVMData& rows, const LibSVMFormat& format) {
  const auto& [data, label, qid] = rows;
  if (!data.defined() || data.storage() != csr)
    fail("save_libsvm: data is ", data.defined() ? name_of(data.storage()) : "an empty handle", ", expected csr");
  data.check_format();
  const std::int64_t count = data.shape()[0];
  if (!label.defined() || label.storage() != dense || label.ndim() < 1 || label.ndim() > 2 || label.shape()[0] != count)
    fail("save_libsvm: label has shape ", label.defined() ? label.shape() : Shape{}, ", expected (", count, ",) or (",
         count, ", labels), dense");
  if (label.size() == 0 && count > 0) fail("save_libsvm: label has shape ", label.shape(), ", which has no labels");
  if (qid.defined() && (qid.shape() != Shape{count} || qid.dtype() != i64))
    fail("save_libsvm: qid is ", name_of(qid.dtype()), " of shape ", qid.shape(), ", expected int64 of shape (", count,
         ",)");
  const NDArray stored = data.data();
  const auto values = stored.to_vector<double>(), labels = label.to_vector<double>();
  // Integers are printed from integers: doubles end at 2^53.
  const auto whole = [](const NDArray& a) {
    return is_floating(a.dtype()) ? std::vector<std::int64_t>() : a.to_vector<std::int64_t>();
  };
  const std::vector<std::int64_t> whole_values = whole(stored), whole_labels = whole(label);
  const auto columns = data.indices().to_vector<std::int64_t>(), ends = data.indptr().to_vector<std::int64_t>();
  const std::vector<std::int64_t> groups = qid.defined() ? qid.to_vector<std::int64_t>() : std::vector<std::int64_t>();
  const auto print = [](Dtype type, const std::vector<double>& reals, const std::vector<std::int64_t>& integers,
                        std::size_t k) {
    return type == f64         ? detail::print_real(reals[k])
           : is_floating(type) ? detail::print_real(static_cast<float>(reals[k]))
                               : cat(integers[k]);
  };
  detail::Output out(path, "save_libsvm");
  const std::size_t width = count == 0 ? 1 : labels.size() / static_cast<std::size_t>(count);
  std::string line;
  for (std::size_t r = 0; r < static_cast<std::size_t>(count); ++r) {
    line.clear();
    for (std::size_t k = 0; k < width; ++k)
      line += cat(k == 0 ? "" : ",", print(label.dtype(), labels, whole_labels, r * width + k));
    if (qid.defined() && groups[r] >= 0) line += cat(" qid:", groups[r]);
    for (auto k = static_cast<std::size_t>(ends[r]); k < static_cast<std::size_t>(ends[r + 1]); ++k)
      line += cat(' ', columns[k] + (format.one_based ? 1 : 0), ':', print(data.dtype(), values, whole_values, k));
    line += '\n';
    out.write(line);
  }
  out.commit();
}

}  // namespace strop::inline v0
