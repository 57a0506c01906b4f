// SPDX-License-Identifier: Apache-2.0
/// \file
/// What a compiler says of a call with arguments that an operator does not take, among them parameters that it has not.
///
/// `{.b = 2}` has no type and fits nothing but an ellipsis. What is said names the parameters there are, so it is no
/// literal but an argument of a template, which compilers print with the error: g++ of a deleted function, and clang,
/// which cuts long ones, of a failed assertion.
#pragma once
#include <strop/core/reflect.hpp>
#include <strop/op/names.hpp>

#include <cstddef>
#include <string_view>
#include <utility>

namespace strop::inline v0::detail {

template <std::size_t N>
struct Sentence {
  char text[N]{};
};

#if defined(__clang__)
template <class T, std::size_t I>
constexpr auto parameter() {
  Sentence<field_name<T, I>.size() + 1> name;
  for (std::size_t i = 0; i < field_name<T, I>.size(); ++i) name.text[i] = field_name<T, I>[i];
  name.text[field_name<T, I>.size()] = '\0';  // stored like the others: clang prints numbers where an end is implied
  return name;
}
template <class T, Sentence... Parameters>
inline constexpr bool is_taken = false;
template <class T, Sentence... Parameters>
consteval void refuse() {
  static_assert(is_taken<T, Parameters...>,
                "strop: no call of the operator takes these arguments: inputs of one kind stand first (arrays, symbols "
                "or numbers), then its parameters, which stand in quotation marks in this line");
}
template <class T, std::size_t... I>
consteval void refuse_call(std::index_sequence<I...>) {
  refuse<T, parameter<T, I>()...>();
}
#else
template <class T, class Say>
constexpr void say_call(const Say& say) {
  say("strop: no call of ");
  say(lower_name<T>);
  say(" takes these arguments: inputs of one kind stand first (arrays, symbols or numbers), then its parameters, ");
  if constexpr (field_count<T> == 0)
    say("of which it has none");
  else
    [&]<std::size_t First, std::size_t... I>(std::index_sequence<First, I...>) {
      say("{.");
      say(field_name<T, First>);
      ((say(", ."), say(field_name<T, I>)), ...);
      say("}");
    }(std::make_index_sequence<field_count<T>>{});
}
template <class T>
constexpr auto call_sentence() {
  constexpr std::size_t size = [] {
    std::size_t n = 0;
    say_call<T>([&](std::string_view words) { n += words.size(); });
    return n;
  }();
  Sentence<size + 1> sentence;
  std::size_t n = 0;
  say_call<T>([&](std::string_view words) {
    for (char c : words) sentence.text[n++] = c;
  });
  return sentence;
}
#endif

}  // namespace strop::inline v0::detail
