// SPDX-License-Identifier: Apache-2.0
/// \file
/// Compile-time reflection of aggregates and enumerations: how many fields, what they are called, where they are.
///
/// Works on g++, clang and nvcc alike. nvcc reads a file twice, with two front ends that print differently, so names
/// are taken from the end of __PRETTY_FUNCTION__ without any offset, and addresses of fields are formed next to the
/// structured binding (its front end loses track of them otherwise). A probe at the end of the file fails loudly on a
/// compiler that prints in another way. Limits: 32 fields, no base classes, no reference or array members.
#pragma once
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>
#include <utility>

namespace strop::inline v0::detail {

/// Converts to whatever a field wants, but not to T itself (which would count as a copy).
template <class T>
struct AnyBut {
  template <class U>
    requires(!std::same_as<std::remove_cv_t<U>, T>)
  operator U() const;
};

template <class T, std::size_t... I>
constexpr bool takes_fields(std::index_sequence<I...>) {
  return requires { T{(void(I), AnyBut<T>{})...}; };
}

template <class T, std::size_t N = 0>
constexpr std::size_t count_fields() {
  if constexpr (!takes_fields<T>(std::make_index_sequence<N + 1>{}))
    return N;
  else
    return count_fields<T, N + 1>();
}

/// Fields of the aggregate T.
template <class T>
inline constexpr std::size_t field_count = count_fields<T>();

template <class T>
struct Holder {
  const T value;
};
template <class P>
struct Constant {
  P p;
};
template <class P>
Constant(P) -> Constant<P>;

#if defined(__clang__)
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wundefined-var-template"
#pragma clang diagnostic ignored "-Wundefined-internal"
#endif

/// Never defined: only addresses of its parts are named, at compile time.
template <class T>
extern const Holder<T> fake;

template <class T>
constexpr T* address_of(T& t) {
  return &t;
}

#define STROP_FIELD(i) \
  if constexpr (I == i) return address_of(f##i);
#define STROP_NAMES_1 f0
#define STROP_FIELDS_1 STROP_FIELD(0)
#define STROP_NAMES_2 STROP_NAMES_1, f1
#define STROP_FIELDS_2 STROP_FIELDS_1 STROP_FIELD(1)
#define STROP_NAMES_3 STROP_NAMES_2, f2
#define STROP_FIELDS_3 STROP_FIELDS_2 STROP_FIELD(2)
#define STROP_NAMES_4 STROP_NAMES_3, f3
#define STROP_FIELDS_4 STROP_FIELDS_3 STROP_FIELD(3)
#define STROP_NAMES_5 STROP_NAMES_4, f4
#define STROP_FIELDS_5 STROP_FIELDS_4 STROP_FIELD(4)
#define STROP_NAMES_6 STROP_NAMES_5, f5
#define STROP_FIELDS_6 STROP_FIELDS_5 STROP_FIELD(5)
#define STROP_NAMES_7 STROP_NAMES_6, f6
#define STROP_FIELDS_7 STROP_FIELDS_6 STROP_FIELD(6)
#define STROP_NAMES_8 STROP_NAMES_7, f7
#define STROP_FIELDS_8 STROP_FIELDS_7 STROP_FIELD(7)
#define STROP_NAMES_9 STROP_NAMES_8, f8
#define STROP_FIELDS_9 STROP_FIELDS_8 STROP_FIELD(8)
#define STROP_NAMES_10 STROP_NAMES_9, f9
#define STROP_FIELDS_10 STROP_FIELDS_9 STROP_FIELD(9)
#define STROP_NAMES_11 STROP_NAMES_10, f10
#define STROP_FIELDS_11 STROP_FIELDS_10 STROP_FIELD(10)
#define STROP_NAMES_12 STROP_NAMES_11, f11
#define STROP_FIELDS_12 STROP_FIELDS_11 STROP_FIELD(11)
#define STROP_NAMES_13 STROP_NAMES_12, f12
#define STROP_FIELDS_13 STROP_FIELDS_12 STROP_FIELD(12)
#define STROP_NAMES_14 STROP_NAMES_13, f13
#define STROP_FIELDS_14 STROP_FIELDS_13 STROP_FIELD(13)
#define STROP_NAMES_15 STROP_NAMES_14, f14
#define STROP_FIELDS_15 STROP_FIELDS_14 STROP_FIELD(14)
#define STROP_NAMES_16 STROP_NAMES_15, f15
#define STROP_FIELDS_16 STROP_FIELDS_15 STROP_FIELD(15)
#define STROP_NAMES_17 STROP_NAMES_16, f16
#define STROP_FIELDS_17 STROP_FIELDS_16 STROP_FIELD(16)
#define STROP_NAMES_18 STROP_NAMES_17, f17
#define STROP_FIELDS_18 STROP_FIELDS_17 STROP_FIELD(17)
#define STROP_NAMES_19 STROP_NAMES_18, f18
#define STROP_FIELDS_19 STROP_FIELDS_18 STROP_FIELD(18)
#define STROP_NAMES_20 STROP_NAMES_19, f19
#define STROP_FIELDS_20 STROP_FIELDS_19 STROP_FIELD(19)
#define STROP_NAMES_21 STROP_NAMES_20, f20
#define STROP_FIELDS_21 STROP_FIELDS_20 STROP_FIELD(20)
#define STROP_NAMES_22 STROP_NAMES_21, f21
#define STROP_FIELDS_22 STROP_FIELDS_21 STROP_FIELD(21)
#define STROP_NAMES_23 STROP_NAMES_22, f22
#define STROP_FIELDS_23 STROP_FIELDS_22 STROP_FIELD(22)
#define STROP_NAMES_24 STROP_NAMES_23, f23
#define STROP_FIELDS_24 STROP_FIELDS_23 STROP_FIELD(23)
#define STROP_NAMES_25 STROP_NAMES_24, f24
#define STROP_FIELDS_25 STROP_FIELDS_24 STROP_FIELD(24)
#define STROP_NAMES_26 STROP_NAMES_25, f25
#define STROP_FIELDS_26 STROP_FIELDS_25 STROP_FIELD(25)
#define STROP_NAMES_27 STROP_NAMES_26, f26
#define STROP_FIELDS_27 STROP_FIELDS_26 STROP_FIELD(26)
#define STROP_NAMES_28 STROP_NAMES_27, f27
#define STROP_FIELDS_28 STROP_FIELDS_27 STROP_FIELD(27)
#define STROP_NAMES_29 STROP_NAMES_28, f28
#define STROP_FIELDS_29 STROP_FIELDS_28 STROP_FIELD(28)
#define STROP_NAMES_30 STROP_NAMES_29, f29
#define STROP_FIELDS_30 STROP_FIELDS_29 STROP_FIELD(29)
#define STROP_NAMES_31 STROP_NAMES_30, f30
#define STROP_FIELDS_31 STROP_FIELDS_30 STROP_FIELD(30)
#define STROP_NAMES_32 STROP_NAMES_31, f31
#define STROP_FIELDS_32 STROP_FIELDS_31 STROP_FIELD(31)
#define STROP_CASE(n)                 \
  if constexpr (count == n) {         \
    auto& [STROP_NAMES_##n] = object; \
    STROP_FIELDS_##n                  \
  }

/// The address of field I of an object.
template <std::size_t I, class T>
constexpr auto field_address(T& object) {
  constexpr std::size_t count = field_count<std::remove_cv_t<T>>;
  static_assert(count <= 32, "strop: an operator has at most 32 parameters");
  STROP_CASE(1)
  STROP_CASE(2)
  STROP_CASE(3)
  STROP_CASE(4)
  STROP_CASE(5)
  STROP_CASE(6)
  STROP_CASE(7)
  STROP_CASE(8)
  STROP_CASE(9)
  STROP_CASE(10)
  STROP_CASE(11)
  STROP_CASE(12)
  STROP_CASE(13)
  STROP_CASE(14)
  STROP_CASE(15)
  STROP_CASE(16)
  STROP_CASE(17)
  STROP_CASE(18)
  STROP_CASE(19)
  STROP_CASE(20)
  STROP_CASE(21)
  STROP_CASE(22)
  STROP_CASE(23)
  STROP_CASE(24)
  STROP_CASE(25)
  STROP_CASE(26)
  STROP_CASE(27)
  STROP_CASE(28)
  STROP_CASE(29)
  STROP_CASE(30)
  STROP_CASE(31)
  STROP_CASE(32)
}

template <std::size_t I, class T>
constexpr auto fake_field() {
  constexpr std::size_t count = field_count<T>;
  auto& object = fake<T>.value;
  STROP_CASE(1)
  STROP_CASE(2)
  STROP_CASE(3)
  STROP_CASE(4)
  STROP_CASE(5)
  STROP_CASE(6)
  STROP_CASE(7)
  STROP_CASE(8)
  STROP_CASE(9)
  STROP_CASE(10)
  STROP_CASE(11)
  STROP_CASE(12)
  STROP_CASE(13)
  STROP_CASE(14)
  STROP_CASE(15)
  STROP_CASE(16)
  STROP_CASE(17)
  STROP_CASE(18)
  STROP_CASE(19)
  STROP_CASE(20)
  STROP_CASE(21)
  STROP_CASE(22)
  STROP_CASE(23)
  STROP_CASE(24)
  STROP_CASE(25)
  STROP_CASE(26)
  STROP_CASE(27)
  STROP_CASE(28)
  STROP_CASE(29)
  STROP_CASE(30)
  STROP_CASE(31)
  STROP_CASE(32)
}

#undef STROP_NAMES_1
#undef STROP_FIELDS_1
#undef STROP_NAMES_2
#undef STROP_FIELDS_2
#undef STROP_NAMES_3
#undef STROP_FIELDS_3
#undef STROP_NAMES_4
#undef STROP_FIELDS_4
#undef STROP_NAMES_5
#undef STROP_FIELDS_5
#undef STROP_NAMES_6
#undef STROP_FIELDS_6
#undef STROP_NAMES_7
#undef STROP_FIELDS_7
#undef STROP_NAMES_8
#undef STROP_FIELDS_8
#undef STROP_NAMES_9
#undef STROP_FIELDS_9
#undef STROP_NAMES_10
#undef STROP_FIELDS_10
#undef STROP_NAMES_11
#undef STROP_FIELDS_11
#undef STROP_NAMES_12
#undef STROP_FIELDS_12
#undef STROP_NAMES_13
#undef STROP_FIELDS_13
#undef STROP_NAMES_14
#undef STROP_FIELDS_14
#undef STROP_NAMES_15
#undef STROP_FIELDS_15
#undef STROP_NAMES_16
#undef STROP_FIELDS_16
#undef STROP_NAMES_17
#undef STROP_FIELDS_17
#undef STROP_NAMES_18
#undef STROP_FIELDS_18
#undef STROP_NAMES_19
#undef STROP_FIELDS_19
#undef STROP_NAMES_20
#undef STROP_FIELDS_20
#undef STROP_NAMES_21
#undef STROP_FIELDS_21
#undef STROP_NAMES_22
#undef STROP_FIELDS_22
#undef STROP_NAMES_23
#undef STROP_FIELDS_23
#undef STROP_NAMES_24
#undef STROP_FIELDS_24
#undef STROP_NAMES_25
#undef STROP_FIELDS_25
#undef STROP_NAMES_26
#undef STROP_FIELDS_26
#undef STROP_NAMES_27
#undef STROP_FIELDS_27
#undef STROP_NAMES_28
#undef STROP_FIELDS_28
#undef STROP_NAMES_29
#undef STROP_FIELDS_29
#undef STROP_NAMES_30
#undef STROP_FIELDS_30
#undef STROP_NAMES_31
#undef STROP_FIELDS_31
#undef STROP_NAMES_32
#undef STROP_FIELDS_32
#undef STROP_CASE
#undef STROP_FIELD

template <Constant P>
constexpr auto printed() {
  return __PRETTY_FUNCTION__;
}
template <class T>
constexpr auto printed_type() {
  return __PRETTY_FUNCTION__;
}
template <auto V>
constexpr auto printed_value() {
  return __PRETTY_FUNCTION__;
}

constexpr bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/// The last identifier of a text.
constexpr std::string_view last_word(std::string_view text) {
  while (!text.empty() && !is_word(text.back())) text.remove_suffix(1);
  std::size_t from = text.size();
  while (from > 0 && is_word(text[from - 1])) --from;
  return text.substr(from);
}

template <class T, std::size_t I>
inline constexpr std::string_view field_name = last_word(printed<Constant{fake_field<I, T>()}>());

#if defined(__clang__)
#pragma clang diagnostic pop
#endif

/// T as the compiler writes it, qualified: the identity of a type across translation units.
template <class T>
inline constexpr std::string_view qualified_name = [] {
  std::string_view text = printed_type<T>();
  text.remove_prefix(text.find("T = ") + 4);
  return text.substr(0, text.find_first_of(";]"));
}();

/// The unqualified name of T, without template arguments.
template <class T>
inline constexpr std::string_view type_name = [] {
  std::string_view text = qualified_name<T>;
  return last_word(text.substr(0, text.find('<')));
}();

/// Characters known at compile time.
struct ShortName {
  char text[64]{};
  std::size_t size = 0;
  constexpr operator std::string_view() const { return {text, size}; }
};

/// FullyConnected → fully_connected, LeakyReLU → leaky_relu, LRN → lrn.
constexpr ShortName snake_case(std::string_view name) {
  ShortName out;
  const auto upper = [](char c) { return c >= 'A' && c <= 'Z'; };
  for (std::size_t i = 0; i < name.size() && out.size + 2 < sizeof out.text; ++i) {
    const bool starts = upper(name[i]) && i != 0 && name[i - 1] != '_' &&
                        (!upper(name[i - 1]) || (i + 1 < name.size() && !upper(name[i + 1]) && name[i + 1] != '_'));
    if (starts) out.text[out.size++] = '_';
    out.text[out.size++] = upper(name[i]) ? static_cast<char>(name[i] + ('a' - 'A')) : name[i];
  }
  return out;
}
template <class T>
inline constexpr ShortName snake_name = snake_case(type_name<T>);

#if defined(__clang__)
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wenum-constexpr-conversion"  // asking for the name of what is no enumerator is meant
#endif
/// The name of enumerator V, empty when V is none. A trailing underscore is dropped: `default_` is "default".
template <auto V>
inline constexpr std::string_view enumerator_name = [] {
  const std::string_view text = printed_value<V>();
  const std::size_t end = text.find_last_of("];") == text.size() - 1 ? text.size() - 1 : text.size();
  std::string_view body = text.substr(0, end);
  if (const auto other = body.find("; "); other != std::string_view::npos) body = body.substr(0, other);
  std::string_view word = last_word(body);
  const std::size_t before = body.size() - word.size();
  const bool number = word.empty() || (word[0] >= '0' && word[0] <= '9');
  if (number || (before > 0 && (body[before - 1] == ')' || body[before - 1] == '-'))) return std::string_view{};
  if (word.size() > 1 && word.back() == '_') word.remove_suffix(1);
  return word;
}();

/// N as a value of E, also where E has no such value: of an enumeration without `: int` a cast would be an error then.
template <class E>
constexpr E enum_value(int n) {
  return __builtin_bit_cast(E, static_cast<std::underlying_type_t<E>>(n));
}

/// How many enumerators E has, counted from 0 without a gap.
template <class E, int N = 0>
constexpr int count_enumerators() {
  if constexpr (N == 64 || enumerator_name<enum_value<E>(N)>.empty())
    return N;
  else
    return count_enumerators<E, N + 1>();
}

#if defined(__clang__)
#pragma clang diagnostic pop
#endif

struct ReflectionProbe {
  int some_field;
  enum class Kind : std::uint8_t { first, second };
  enum Plain { off, on };
};
static_assert(field_name<ReflectionProbe, 0> == "some_field" && type_name<ReflectionProbe> == "ReflectionProbe" &&
                  enumerator_name<ReflectionProbe::Kind::second> == "second" &&
                  enumerator_name<enum_value<ReflectionProbe::Kind>(7)>.empty() &&
                  count_enumerators<ReflectionProbe::Plain>() == 2,
              "strop: this compiler writes names in a way that core/reflect.hpp does not know");

}  // namespace strop::inline v0::detail
