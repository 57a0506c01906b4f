// SPDX-License-Identifier: Apache-2.0
/// \file
/// Text of arrays, shapes, dtypes, storages and devices for fmt.
#pragma once
#include <fmt/core.h>
#include <strop/tensor/ndarray.hpp>

#include <string>
#include <string_view>

namespace strop::inline v0::detail {

/// What `fmt::print("{}", a)` prints.
///
/// Dense arrays are nested lists, on one line where they are short, with three entries at each end of every axis where
/// they have more than 1,000 elements; sparse arrays say what they store. Numbers have the fewest digits that read back
/// as the same number of the dtype.
std::string to_text(const NDArray& a);

inline std::string text_of(const NDArray& a) { return to_text(a); }
inline std::string text_of(const Shape& shape) { return strop::to_text(shape); }
inline std::string text_of(Device device) { return strop::to_text(device); }
inline std::string text_of(Dtype dtype) { return std::string(name_of(dtype)); }
inline std::string text_of(Storage storage) { return std::string(name_of(storage)); }

/// A formatter without options, for what text_of() knows.
template <class T>
struct TextFormatter {
  constexpr auto parse(fmt::format_parse_context& context) {
    if (context.begin() != context.end() && *context.begin() != '}')
      throw Error("strop: there are no format options for this type: write {}");
    return context.begin();
  }
  template <class Context>
  auto format(const T& value, Context& context) const {
    auto out = context.out();
    for (const char c : text_of(value)) *out++ = c;
    return out;
  }
};

}  // namespace strop::inline v0::detail

template <>
struct fmt::formatter<strop::NDArray> : strop::detail::TextFormatter<strop::NDArray> {};
template <>
struct fmt::formatter<strop::Shape> : strop::detail::TextFormatter<strop::Shape> {};
template <>
struct fmt::formatter<strop::Device> : strop::detail::TextFormatter<strop::Device> {};
template <>
struct fmt::formatter<strop::Dtype> : strop::detail::TextFormatter<strop::Dtype> {};
template <>
struct fmt::formatter<strop::Storage> : strop::detail::TextFormatter<strop::Storage> {};

#if !defined(STROP_COMPILED)
#include <strop/tensor/print_impl.hpp>
#endif
