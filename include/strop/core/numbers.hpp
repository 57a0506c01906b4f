// SPDX-License-Identifier: Apache-2.0
/// \file
/// Numbers: parameters that are lists of real numbers, such as the sizes of boxes or the means of channels.
#pragma once
#include <strop/core/params.hpp>
#include <strop/core/span.hpp>

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace strop::inline v0 {

namespace detail {
/// A template, so that it may be no constant where std::vector is none: before C++23 with -D_GLIBCXX_DEBUG.
template <class List>
struct NumbersIn {
  List list;

  NumbersIn() = default;
  constexpr NumbersIn(double one) : list{one} {}
  constexpr NumbersIn(std::initializer_list<double> numbers) : list(numbers) {}
  constexpr explicit NumbersIn(List numbers) : list(std::move(numbers)) {}

  friend bool operator==(const NumbersIn&, const NumbersIn&) = default;

  constexpr int count() const { return static_cast<int>(list.size()); }
  constexpr double operator[](int k) const { return list[unsigned_size(k)]; }
  constexpr auto begin() const { return list.begin(); }
  constexpr auto end() const { return list.end(); }
};
}  // namespace detail

/// Real numbers in their order: `{.sizes = {0.5, 0.25}}`; one alone is a list of one.
struct Numbers : detail::NumbersIn<std::vector<double>> {
  using NumbersIn::NumbersIn;
};

namespace detail {

/// "(0.1, 0.2)", "[0.1,0.2]", "()", "0.1", "(0.1,)".
inline bool parse_numbers(std::string_view text, std::vector<double>& list) {
  double number = 0;
  if (parse_real(trimmed(text), number)) return list.push_back(number), true;
  if (!unbracket(text)) return false;
  while (!text.empty()) {
    if (!parse_real(take_item(text), number)) return false;
    list.push_back(number);
  }
  return true;
}

inline std::string print_numbers(const std::vector<double>& list) {
  return print_list(list, [](double number) { return print_real(number); });
}

template <>
struct Text<Numbers> {
  static constexpr std::string_view name = "numbers";
  static constexpr ParamKind kind = ParamKind::numbers;
  static bool parse(Numbers& value, std::string_view text) {
    value.list.clear();
    return parse_numbers(text, value.list);
  }
  static std::string print(const Numbers& value) { return print_numbers(value.list); }
};

}  // namespace detail
}  // namespace strop::inline v0
