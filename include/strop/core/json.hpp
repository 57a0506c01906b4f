// SPDX-License-Identifier: Apache-2.0
/// \file
/// JSON as text: strings written, and a strict reader that makes no tree.
#pragma once
#include <strop/core/error.hpp>
#include <strop/core/span.hpp>

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

namespace strop::inline v0::detail {

/// The bytes of a well-formed UTF-8 character that begins here; 0 where none does.
inline std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  const std::size_t n = lead < 0x80                   ? 1
                        : lead >= 0xc2 && lead < 0xe0 ? 2
                        : lead >= 0xe0 && lead < 0xf0 ? 3
                        : lead >= 0xf0 && lead < 0xf5 ? 4
                                                      : 0;
  if (n == 0 || text.size() < n) return 0;
  for (std::size_t i = 1; i < n; ++i)
    if ((byte(i) & 0xc0) != 0x80) return 0;
  // overlong ones, surrogates, and what lies beyond the last character
  if ((lead == 0xe0 && byte(1) < 0xa0) || (lead == 0xed && byte(1) > 0x9f) || (lead == 0xf0 && byte(1) < 0x90) ||
      (lead == 0xf4 && byte(1) > 0x8f))
    return 0;
  return n;
}

/// Whether all of a text is UTF-8.
inline bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const std::size_t n = utf8_length(text);
    if (n == 0) return false;
    text.remove_prefix(n);
  }
  return true;
}

/// As a JSON string. Bytes that are not UTF-8 become question marks: readers refuse them.
inline void append_json(std::string& out, std::string_view text) {
  out += '"';
  while (!text.empty()) {
    const std::size_t n = utf8_length(text);
    const char c = text[0];
    if (n == 0) {
      out += '?';
    } else if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n' || c == '\r' || c == '\t') {  // the escapes that MXNet's reader knows
      out += '\\';
      out += c == '\n' ? 'n' : c == '\r' ? 'r' : 't';
    } else if (static_cast<unsigned char>(c) < 0x20) {
      constexpr const char* digits = "0123456789abcdef";
      out += "\\u00";
      out += digits[c >> 4];
      out += digits[c & 15];
    } else {
      out += text.substr(0, n);
    }
    text.remove_prefix(n == 0 ? 1 : n);
  }
  out += '"';
}

/// Reads a JSON text value by value, in the order of the text. Whatever RFC 8259 refuses is refused, with the line and
/// the column (of bytes) where it stands; so are texts that are nested more deeply than anything that is read here.
class JsonReader {
 public:
  /// The text outlives the reader; `what` begins the sentences.
  JsonReader(std::string_view text, std::string what) : text_(text), what_(std::move(what)) {}

  /// Throws Error with what is wrong at this place.
  [[noreturn]] void refuse(std::string_view why) const {
    std::size_t line = 1, start = 0;
    for (std::size_t i = 0; i < at_ && i < text_.size(); ++i)
      if (text_[i] == '\n') ++line, start = i + 1;
    fail(what_, ": line ", line, ", column ", at_ - start + 1, ": ", why);
  }
  const std::string& what() const { return what_; }

  /// Calls `member(key)`, which reads the value, for each member of an object.
  template <class Member>
  void object(Member member) {
    open('{', "an object");
    for (bool first = true; !close('}', first); first = false) {
      const std::string key = string();
      expect(':', "':' after the key");
      member(key);
    }
  }
  /// Calls `element()`, which reads the value, for each element of an array.
  template <class Element>
  void array(Element element) {
    open('[', "an array");
    for (bool first = true; !close(']', first); first = false) element();
  }

  std::string string() {
    expect('"', "a string");
    std::string out;
    for (;;) {
      if (at_ == text_.size()) refuse("the text ends within a string");
      const char c = text_[at_];
      if (c == '"') return ++at_, out;
      if (static_cast<unsigned char>(c) < 0x20) refuse("a control character within a string is written as an escape");
      if (c == '\\') {
        ++at_;
        escape(out);
        continue;
      }
      const std::size_t n = utf8_length(text_.substr(at_));
      if (n == 0) refuse("a byte within a string is not UTF-8");
      out += text_.substr(at_, n);
      at_ += n;
    }
  }

  std::int64_t integer() {
    const std::size_t from = number("a whole number");
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text_.data() + from, text_.data() + at_, value);
    if (error == std::errc{} && end == text_.data() + at_) return value;
    at_ = from;
    refuse("expected a whole number");
  }

  /// Reads any value and forgets it.
  void skip() {
    switch (peek()) {
      case '{':
        return object([this](const std::string&) { skip(); });
      case '[':
        return array([this] { skip(); });
      case '"':
        string();
        return;
      case 't':
        return word("true");
      case 'f':
        return word("false");
      case 'n':
        return word("null");
      default:
        number("a value");
    }
  }

  /// Nothing but white space is left.
  void finish() {
    if (peek() != '\0' || at_ != text_.size()) refuse("expected the end of the text");
  }

  /// The next character that is no white space; a zero byte at the end of the text.
  char peek() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t' || text_[at_] == '\r'))
      ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }

 private:
  void expect(char c, std::string_view named) {
    if (peek() != c || at_ == text_.size()) refuse(cat("expected ", named));
    ++at_;
  }
  void open(char c, std::string_view named) {
    expect(c, named);
    if (++depth_ > most_depth) refuse(cat("the text is nested more than ", most_depth, " deep"));
  }
  /// Whether the object or array ends here; else the next value begins.
  bool close(char c, bool first) {
    if (peek() == c) {
      ++at_;
      --depth_;
      return true;
    }
    if (!first) expect(',', c == '}' ? "',' or '}'" : "',' or ']'");
    return false;
  }
  void word(std::string_view expected) {
    if (!text_.substr(at_).starts_with(expected)) refuse("expected a value");
    at_ += expected.size();
  }
  bool digit() const { return at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9'; }
  bool take(char c) {
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  void digits() {
    if (!digit()) refuse("expected a digit");
    while (digit()) ++at_;
  }
  /// Passes a number; where it begins.
  std::size_t number(std::string_view named) {
    const char c = peek();
    const std::size_t from = at_;
    if (c != '-' && !digit()) refuse(cat("expected ", named));
    take('-');
    if (!take('0')) digits();
    if (take('.')) digits();
    if (at_ < text_.size() && (text_[at_] == 'e' || text_[at_] == 'E')) {
      ++at_;
      if (!take('+')) take('-');
      digits();
    }
    return from;
  }
  unsigned four_digits() {
    unsigned value = 0;
    for (int i = 0; i < 4; ++i, ++at_) {
      const char c = at_ < text_.size() ? text_[at_] : '\0';
      const int d = c >= '0' && c <= '9'   ? c - '0'
                    : c >= 'a' && c <= 'f' ? c - 'a' + 10
                    : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                           : -1;
      if (d < 0) refuse("expected four hexadecimal digits after \\u");
      value = value * 16 + static_cast<unsigned>(d);
    }
    return value;
  }
  void escape(std::string& out) {
    const char c = at_ < text_.size() ? text_[at_] : '\0';
    constexpr std::string_view names = "\"\\/bfnrt", values = "\"\\/\b\f\n\r\t";
    if (const std::size_t i = names.find(c); c != '\0' && i != std::string_view::npos) {
      out += values[i];
      ++at_;
      return;
    }
    if (c != 'u') refuse("expected one of \" \\ / b f n r t u after a backslash");
    ++at_;
    unsigned code = four_digits();
    if (code >= 0xd800 && code < 0xdc00) {
      if (!take('\\') || !take('u')) refuse("the first half of a surrogate pair stands alone");
      const unsigned low = four_digits();
      if (low < 0xdc00 || low > 0xdfff) refuse("the first half of a surrogate pair stands alone");
      code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
    } else if (code >= 0xdc00 && code < 0xe000) {
      refuse("the second half of a surrogate pair stands alone");
    }
    const auto put = [&out](unsigned byte) { out += static_cast<char>(static_cast<unsigned char>(byte)); };
    if (code < 0x80) {
      put(code);
    } else if (code < 0x800) {
      put(0xc0 | code >> 6);
      put(0x80 | (code & 63));
    } else if (code < 0x10000) {
      put(0xe0 | code >> 12);
      put(0x80 | (code >> 6 & 63));
      put(0x80 | (code & 63));
    } else {
      put(0xf0 | code >> 18);
      put(0x80 | (code >> 12 & 63));
      put(0x80 | (code >> 6 & 63));
      put(0x80 | (code & 63));
    }
  }

  std::string_view text_;
  std::string what_;
  std::size_t at_ = 0;
  static constexpr int most_depth = 256;
  int depth_ = 0;
};

}  // namespace strop::inline v0::detail
