// SPDX-License-Identifier: Apache-2.0
/// \file
/// How parameter values are read, and which names are like another.
#pragma once
#include <strop/core/config.hpp>
#include <strop/core/text.hpp>

#include <charconv>
#include <concepts>
#include <string>
#include <string_view>
#include <utility>
#include <vector>
#if !defined(__cpp_lib_to_chars)
#include <clocale>
#include <cstdlib>
#if defined(__APPLE__)
#include <xlocale.h>
#endif
#endif

namespace strop::inline v0::detail {

constexpr std::size_t least(std::size_t a, std::size_t b) { return a < b ? a : b; }

STROP_IMPL std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

constexpr char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c; }

STROP_IMPL bool same_ignoring_case(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i)
    if (lower(a[i]) != lower(b[i])) return false;
  return true;
}

/// true, false, 1, 0 in any case.
STROP_IMPL bool parse_bool(std::string_view text, bool& value) {
  text = trimmed(text);
  if (text == "1" || same_ignoring_case(text, "true")) return value = true, true;
  if (text == "0" || same_ignoring_case(text, "false")) return value = false, true;
  return false;
}

/// What from_chars reads of a number's text: it takes no plus. "+-3" keeps its own, and so is none.
STROP_IMPL std::string_view number_text(std::string_view text) {
  text = trimmed(text);
  if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
  return text;
}

/// The whole text as a number; rejects what the type cannot hold.
template <class V>
bool parse_number(std::string_view text, V& value) {
  text = number_text(text);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size();
}

#if defined(__cpp_lib_to_chars)
template <std::floating_point V>
bool parse_floating(std::string_view text, V& value) {
  return parse_number(text, value);
}
#else
/// libc++ before 20 has no std::from_chars for these: the C library's functions in the C locale, held to its grammar.
template <std::floating_point V>
bool parse_floating(std::string_view text, V& value) {
  static const locale_t plain = newlocale(LC_ALL_MASK, "C", nullptr);
  const std::string whole(number_text(text));
  const std::size_t sign = whole.starts_with('-') ? 1 : 0;
  const char first = whole.size() > sign ? lower(whole[sign]) : ' ';
  const bool hexadecimal = whole.size() > sign + 1 && lower(whole[sign + 1]) == 'x';
  const bool digits = first == '.' || (first >= '0' && first <= '9');
  if (hexadecimal || !(digits || first == 'i' || first == 'n')) return false;
  char* end = nullptr;
  if constexpr (sizeof(V) == sizeof(float))
    value = strtof_l(whole.c_str(), &end, plain);
  else
    value = strtod_l(whole.c_str(), &end, plain);
  if (end != whole.c_str() + whole.size()) return false;
  if (!digits) return true;
  // beyond the largest number it gave infinity; zero is right where no digit before the exponent counts
  const bool zero = whole.find_first_of("123456789") >= whole.find_first_of("eE");
  return value - value == 0 && (value != 0 || zero);
}
#endif

/// Files that Python 2 wrote print its long integers as 3L.
STROP_IMPL std::string_view without_long_suffix(std::string_view text) {
  text = trimmed(text);
  if (text.size() > 1 && text.back() == 'L' && text[text.size() - 2] >= '0' && text[text.size() - 2] <= '9')
    text.remove_suffix(1);
  return text;
}
STROP_IMPL bool parse_integer(std::string_view text, std::int64_t& value) {
  return parse_number(without_long_suffix(text), value);
}
STROP_IMPL bool parse_integer(std::string_view text, std::uint64_t& value) {
  return parse_number(without_long_suffix(text), value);
}
STROP_IMPL bool parse_real(std::string_view text, float& value) { return parse_floating(text, value); }
STROP_IMPL bool parse_real(std::string_view text, double& value) { return parse_floating(text, value); }

template <std::floating_point V>
std::string print_number(V value) {
  char buffer[32];
  return {buffer, std::to_chars(buffer, buffer + sizeof buffer, value).ptr};
}
STROP_IMPL std::string print_real(float value) { return print_number(value); }
STROP_IMPL std::string print_real(double value) { return print_number(value); }

/// float32, int64, … and the enumerator's short name (f32, i64).
STROP_IMPL bool parse_dtype(std::string_view text, Dtype& value) {
  text = trimmed(text);
  constexpr std::string_view shorter[] = {"f16", "bf16", "f32", "f64", "u8", "i8", "i32", "i64", "boolean"};
  for (std::size_t i = 0; i < std::size(shorter); ++i)
    if (text == shorter[i] || text == name_of(all_dtypes[i])) return value = all_dtypes[i], true;
  return false;
}

/// "float32", or "one of float32, float64".
STROP_IMPL std::string one_of(DtypeSet types) {
  std::string list;
  for (Dtype type : all_dtypes)
    if (types.contains(type)) list += cat(list.empty() ? "" : ", ", name_of(type));
  return list.find(',') == std::string::npos ? list : cat("one of ", list);
}

STROP_IMPL bool unbracket(std::string_view& text) {
  text = trimmed(text);
  if (text.size() < 2 || !((text.front() == '(' && text.back() == ')') || (text.front() == '[' && text.back() == ']')))
    return false;
  text = trimmed(text.substr(1, text.size() - 2));
  return true;
}
STROP_IMPL std::string_view take_item(std::string_view& list) {
  const std::size_t comma = least(list.find(','), list.size());
  const std::string_view item = list.substr(0, comma);
  list = trimmed(list.substr(least(comma + 1, list.size())));
  return item;
}

/// "(1, 2)", "[1,2]", "()", "3", "(3,)", "(1L, 2L)".
STROP_IMPL bool parse_shape(std::string_view text, Shape& value) {
  value = Shape{};
  std::int64_t extent = 0;
  if (parse_integer(trimmed(text), extent)) return value.push_back(extent), true;
  if (!unbracket(text)) return false;
  while (!text.empty()) {
    if (!parse_integer(take_item(text), extent)) return false;
    value.push_back(extent);
  }
  return true;
}

STROP_IMPL std::string print_shape(const Shape& value) {
  return print_list(value, [](std::int64_t extent) { return extent; });
}

/// Edits that turn one word into the other, in any case.
STROP_IMPL std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t change = diagonal + (lower(a[i - 1]) == lower(b[j - 1]) ? 0 : 1);
      diagonal = row[j];
      row[j] = least(least(row[j], row[j - 1]) + 1, change);
    }
  }
  return row[b.size()];
}

/// The names, those most like `wanted` first, at most `most` of them.
STROP_IMPL std::string list_nearest(std::string_view wanted, std::vector<std::string_view> names, std::size_t most) {
  std::vector<std::size_t> distance;
  for (std::size_t i = 0; i < names.size(); ++i)  // each once
    for (std::size_t j = names.size() - 1; j > i; --j)
      if (names[j] == names[i]) names.erase(names.begin() + static_cast<std::ptrdiff_t>(j));
  for (std::string_view name : names) distance.push_back(edit_distance(wanted, name));
  for (std::size_t i = 1; i < names.size(); ++i)
    for (std::size_t j = i; j > 0 && distance[j] < distance[j - 1]; --j) {
      std::swap(distance[j], distance[j - 1]);
      std::swap(names[j], names[j - 1]);
    }
  std::string out;
  for (std::size_t i = 0; i < names.size() && i < most; ++i) {
    if (i != 0) out += ", ";
    out += names[i];
  }
  if (names.size() > most) out += cat(" and ", names.size() - most, " more");
  return out;
}

}  // namespace strop::inline v0::detail
