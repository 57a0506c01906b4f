// SPDX-License-Identifier: Apache-2.0
/// \file
/// Reading and writing of parameter values as text, and suggestions for a name that does not exist.
#pragma once
#include <strop/core/dtype.hpp>
#include <strop/core/shape.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace strop::inline v0::detail {

/// Without blanks at both ends.
std::string_view trimmed(std::string_view text);
/// true, false, 1, 0 in any case.
bool parse_bool(std::string_view text, bool& value);
/// A whole number, also as Python 2 prints a long one, "3L"; "1e3" is none.
bool parse_integer(std::string_view text, std::int64_t& value);
bool parse_integer(std::string_view text, std::uint64_t& value);
/// A number in decimal, inf or nan; what the type cannot hold is refused.
bool parse_real(std::string_view text, float& value);
bool parse_real(std::string_view text, double& value);
/// The shortest text that reads back as the same number.
std::string print_real(float value);
std::string print_real(double value);
/// float32, int64, … and the enumerator's short name (f32, i64).
bool parse_dtype(std::string_view text, Dtype& value);
/// "float32", or "one of float32, float64".
std::string one_of(DtypeSet types);
/// Leaves of "(1, 2)" or "[1,2]" what stands between the brackets; false of other text.
bool unbracket(std::string_view& text);
/// Takes the first item off "1, 2" or "1,": the text before the comma.
std::string_view take_item(std::string_view& list);
/// "(1, 2)", "(1,)", "()": what `print` makes of each item.
template <class List, class Print>
std::string print_list(const List& list, Print print) {
  std::string text;
  for (const auto& one : list) text += cat(text.empty() ? "(" : ", ", print(one));
  return text.empty() ? "()" : text + (list.end() - list.begin() == 1 ? ",)" : ")");
}
/// "(1, 2)", "[1,2]", "()", "3", "(3,)".
bool parse_shape(std::string_view text, Shape& value);
/// "(2, -1)", "(3,)": unlike to_text() with negative numbers as they are, which a parameter may well have.
std::string print_shape(const Shape& value);
/// The names, those most like `wanted` first, at most `most` of them.
std::string list_nearest(std::string_view wanted, std::vector<std::string_view> names, std::size_t most = 12);

}  // namespace strop::inline v0::detail

#if !defined(STROP_COMPILED)
#include <strop/core/text_impl.hpp>
#endif
