// SPDX-License-Identifier: Apache-2.0
/// \file
/// What a compiler says of a call with arguments that an operator does not take, among them parameters that it has not.
///
/// `{.b = 2}` has no type and fits nothing but an ellipsis. The sentence names the parameters there are, so it is no
/// literal but a template's argument, which compilers print with the error: clang of a failed assertion, g++ of a
/// deleted function.
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
template <Sentence S>
inline constexpr bool is_taken = false;

}  // namespace strop::inline v0::detail
