// SPDX-License-Identifier: Apache-2.0
/// \file
/// Lines of text from left to right: blanks, comments, and numbers as fast as the digits allow.
#pragma once
#include <strop/core/error.hpp>
#include <strop/core/printable.hpp>
#include <strop/core/text.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <string_view>
#include <utility>

namespace strop::inline v0::detail {

/// What is wrong with a text, and where.
struct BadText {
  const char* at;
  std::string why;
};

/// A place in whole lines of text. A row ends with its line, or where '#' begins a comment.
class TextCursor {
 public:
  /// `narrow`: numbers are read to the nearest float, else to the nearest double.
  TextCursor(std::string_view lines, bool narrow)
      : at_(lines.data()), end_(lines.data() + lines.size()), narrow_(narrow) {}

 protected:
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
  std::string token(const char* from, bool comma = false) const {
    const char* to = from;
    while (to != end_ && !is_blank(*to) && *to != '\n' && *to != '#' && !(comma && *to == ',')) ++to;
    return printable({from, static_cast<std::size_t>(to - from)}, 40);
  }
  /// row() for each line that has more than blanks and a comment.
  template <class F>
  void each_row(F row) {
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

  /// A number, to the nearest double, or to the nearest float where values are no wider. What has up to 19 digits and a
  /// small exponent is one exact product or quotient (W. D. Clinger, How to read floating point numbers accurately,
  /// 1990); the rest goes to the library. `what` it is stands in sentences; a comma may end it.
  double number(const char* what, bool comma) {
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
    if (plain && mantissa <= exact_mantissa && exponent >= -22 && exponent <= 22 && at_end_of_token(comma)) {
      double value = static_cast<double>(mantissa);
      value = exponent < 0 ? value / powers[-exponent] : value * powers[exponent];
      if (!narrow_ || value == 0 || is_one_float(value)) return negative ? -value : value;
    }
    return slow_number(from, what, comma);
  }

  /// A whole number of 64 bits.
  std::int64_t integer(const char* what, bool comma) {
    const char* const from = at_;
    const char* p = at_;
    const bool negative = p != end_ && *p == '-';
    if (p != end_ && (*p == '-' || *p == '+')) ++p;
    const char* const digits = p;
    std::int64_t value = 0;
    bool fits = true;
    for (; p != end_ && is_digit(*p); ++p) {
      const int digit = *p - '0';
      fits = fits && !__builtin_mul_overflow(value, 10, &value) &&
             !__builtin_add_overflow(value, negative ? -digit : digit, &value);
    }
    at_ = p;
    if (p == digits || !at_end_of_token(comma))
      bad(from, cat("the ", what, " '", token(from, comma), "' is no whole number"));
    if (!fits) bad(from, cat("the ", what, " '", token(from, comma), "' is more than 64 bits can hold"));
    return value;
  }

  const char *at_, *end_;

 private:
  static constexpr std::uint64_t exact_mantissa = std::uint64_t{1} << 53;
  static constexpr double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                      1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

  /// Whether rounding to float gives the float next to the decimal number, too: not halfway between two of them, where
  /// the double may have been rounded, and in the range of normal numbers.
  static bool is_one_float(double value) {
    const auto bits = std::bit_cast<std::uint64_t>(value);
    return (bits & 0x1fffffff) != 0x10000000 && value >= std::numeric_limits<float>::min() &&
           value <= std::numeric_limits<float>::max();
  }
  [[gnu::noinline]] double slow_number(const char* from, const char* what, bool comma) {
    const char* to = from;
    while (to != end_ && !is_blank(*to) && *to != '\n' && *to != '#' && !(comma && *to == ',')) ++to;
    const std::string_view text(from, static_cast<std::size_t>(to - from));
    at_ = to;
    double value = 0;
    float narrow = 0;
    if (!parse_real(text, value)) {
      if (!is_tiny(text))
        bad(from, cat("the ", what, " '", printable(text, 40), "' is no number that float64 can hold"));
      return 0;
    }
    if (!narrow_ || !std::isfinite(value) || value == 0) return value;
    if (parse_real(text, narrow)) return static_cast<double>(narrow);
    if (std::abs(value) > 1) bad(from, cat("the ", what, " '", printable(text, 40), "' is more than float32 can hold"));
    return static_cast<double>(static_cast<float>(value));
  }
  /// A decimal number too small for a double, which reads as zero, as everywhere else.
  static bool is_tiny(std::string_view text) {
    if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
    if (text.find_first_of("0123456789") == std::string_view::npos) return false;
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

  bool narrow_;
};

}  // namespace strop::inline v0::detail
