// SPDX-License-Identifier: Apache-2.0
/// \file
/// The one exception type of the library and the builder of its sentences.
#pragma once
#include <charconv>
#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <stdexcept>
#include <string>
#include <string_view>

namespace strop::inline v0 {

/// Everything the library throws: one sentence that names the operator, the argument, what was expected and what came.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

namespace detail {

/// One piece of a sentence; numbers are written in their shortest exact form.
class Part {
 public:
  Part(std::string_view text) : text_(text) {}
  Part(const std::string& text) : text_(text) {}
  Part(const char* text) : text_(text) {}
  Part(char c) : buffer_{c}, text_(buffer_, 1) {}
  Part(std::signed_integral auto value) : Part(finished(), static_cast<std::int64_t>(value)) {}
  Part(std::unsigned_integral auto value) : Part(finished(), static_cast<std::uint64_t>(value)) {}
  Part(double value) : Part(finished(), value) {}
  Part(const Part&) = delete;
  std::string_view text() const { return text_; }

 private:
  struct finished {};
  template <class N>
  Part(finished, N value) : text_(buffer_, 0) {
    text_ = {buffer_, static_cast<std::size_t>(std::to_chars(buffer_, buffer_ + sizeof buffer_, value).ptr - buffer_)};
  }
  char buffer_[32];
  std::string_view text_;
};

inline std::string join(std::initializer_list<Part> parts) {
  std::string out;
  for (const Part& part : parts) out += part.text();
  return out;
}

[[noreturn]] inline void raise(std::initializer_list<Part> parts) { throw Error(join(parts)); }

}  // namespace detail

/// The pieces written one after the other: text, characters and numbers.
template <class... Parts>
std::string cat(const Parts&... parts) {
  return detail::join({detail::Part(parts)...});
}

/// Throws Error with the pieces as its sentence.
template <class... Parts>
[[noreturn]] void fail(const Parts&... parts) {
  detail::raise({detail::Part(parts)...});
}

}  // namespace strop::inline v0
