// SPDX-License-Identifier: Apache-2.0
/// \file
/// The one exception type of the library and the builder of its sentences.
#pragma once
#include <strop/core/config.hpp>

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <source_location>
#include <stdexcept>
#include <string>
#include <string_view>

namespace strop::inline v0 {

/// Everything the library throws: one sentence that names the operator, the argument, what was expected and what came.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class Shape;

namespace detail {

/// An error where it is not known of which call: said of "strop", in whose place the call that meets it puts its
/// operator.
class CallError : public Error {
 public:
  static constexpr std::string_view speaker = "strop: ";
  using Error::Error;
  std::string_view said() const { return std::string_view(what()).substr(speaker.size()); }
};

void append_text(std::string& out, const Shape& shape);  // core/shape.hpp

/// One piece of a sentence. It only refers to its value: the text is made where the sentence is.
class Part {
 public:
  constexpr Part(std::string_view text) : kind_(Kind::text), size_(text.size()), text_(text.data()) {}
  Part(const std::string& text) : kind_(Kind::text), size_(text.size()), text_(text.data()) {}
  constexpr Part(const char* text) : Part(std::string_view(text)) {}
  constexpr Part(char c) : kind_(Kind::character), integer_(c) {}
  constexpr Part(std::integral auto value) : kind_(Kind::integer), integer_(static_cast<std::int64_t>(value)) {}
  constexpr Part(double value) : kind_(Kind::real), real_(value) {}
  Part(const Shape& shape) : kind_(Kind::shape), shape_(&shape) {}
  void append_to(std::string& out) const;

 private:
  enum class Kind : std::uint8_t { text, character, integer, real, shape };
  Kind kind_;
  std::size_t size_ = 0;
  union {
    const char* text_;
    std::int64_t integer_;
    double real_;
    const Shape* shape_;
  };
};

[[gnu::cold]] std::string join(std::initializer_list<Part> parts);
[[noreturn, gnu::cold]] void raise(std::initializer_list<Part> parts);

}  // namespace detail

/// The pieces written one after the other: text, characters and numbers.
template <class... Parts>
std::string cat(const Parts&... parts) {
  return detail::join({detail::Part(parts)...});
}

namespace detail {
/// "file:line", or an empty string where no place is known.
std::string place_of(std::source_location where);
}  // namespace detail

/// Throws Error with the pieces as its sentence.
template <class... Parts>
[[noreturn]] void fail(const Parts&... parts) {
  detail::raise({detail::Part(parts)...});
}

}  // namespace strop::inline v0

#if !defined(STROP_COMPILED)
#include <strop/core/error_impl.hpp>
#endif
