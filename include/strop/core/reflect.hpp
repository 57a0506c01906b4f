// SPDX-License-Identifier: Apache-2.0
/// \file
/// Compile-time reflection of aggregates and enumerations: how many fields, what they are called, where they are.
///
/// Works on g++, clang and nvcc alike. nvcc reads a file twice, with two front ends that print differently, so names
/// are taken from the end of __PRETTY_FUNCTION__ without any offset. A probe at the end of the file fails loudly on a
/// compiler that prints in another way. Limits: 32 fields, no base classes, no arrays, references or bit-fields.
#pragma once
#include <strop/core/config.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>
#include <utility>

namespace strop::inline v0::detail {

#if defined(__clang__)
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wundefined-var-template"
#pragma clang diagnostic ignored "-Wundefined-internal"
#endif

/// Converts to whatever a field wants, but not to T itself (which would count as a copy).
template <class T>
struct AnyBut {
  template <class U>
    requires(!std::same_as<std::remove_cv_t<U>, T>)
  operator U() const {  // never called; libc++ refers to it, and of a type without linkage nobody else could define it
    __builtin_unreachable();
  }
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

/// Converts to what T derives from, which a compiler counts as a field.
template <class T>
struct AnyBase {
  template <class U>
    requires(std::is_base_of_v<U, T> && !std::same_as<U, T>)
  operator U() const;
};
template <class T>
concept HasBase = requires { T{AnyBase<T>{}}; };

template <class T, std::size_t... Before, std::size_t... After>
constexpr bool begins_array(std::index_sequence<Before...>, std::index_sequence<After...>) {
  return !requires { T{(void(Before), AnyBut<T>{})..., {}, (void(After), AnyBut<T>{})...}; };
}
/// An array counts as its elements. It begins where braces take several of these, so that the others are too many.
template <class T>
inline constexpr bool has_array = []<std::size_t... I>(std::index_sequence<I...>) {
  return (begins_array<T>(std::make_index_sequence<I>{}, std::make_index_sequence<sizeof...(I) - I - 1>{}) || ...);
}(std::make_index_sequence<field_count<T>>{});

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

/// Never defined: only addresses of its parts are named, at compile time.
template <class T>
extern const Holder<T> fake;

template <class T>
constexpr T* address_of(T& t) {
  return &t;
}

// Each address is formed next to the binding and alone: nvcc's front end loses track of fields otherwise.
#define STROP_UNPACK(...) __VA_ARGS__
#define STROP_FIELD(i)                                                        \
  if constexpr (I == i) {                                                     \
    static_assert(requires { &f##i; }, "strop: a parameter is no bit-field"); \
    return address_of(f##i);                                                  \
  }
#define STROP_FIELDS(n, names, each_field) \
  if constexpr (count == n) {              \
    auto& [STROP_UNPACK names] = object;   \
    each_field                             \
  }

/// The address of field I of an object.
template <std::size_t I, class T>
constexpr auto field_address(T& object) {
  constexpr std::size_t count = field_count<std::remove_cv_t<T>>;
#include <strop/core/fields.def>
}

/// The address of field I of a constant T.
template <std::size_t I, class T>
constexpr auto fake_field() {
  constexpr std::size_t count = field_count<T>;
  auto& object = fake<T>.value;
#include <strop/core/fields.def>  // NOLINT(readability-duplicate-include): the list, once more
}

#undef STROP_FIELDS
#undef STROP_FIELD
#undef STROP_UNPACK

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

/// Whether a constant T has a field that can be written all the same.
template <class T>
inline constexpr bool has_mutable = []<std::size_t... I>(std::index_sequence<I...>) {
  return (!std::is_const_v<std::remove_pointer_t<decltype(fake_field<I, T>())>> || ...);
}(std::make_index_sequence<field_count<T>>{});

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

/// Whether only one file of the program can name T: it stands in an unnamed namespace or in a function.
template <class T>
inline constexpr bool in_one_file = qualified_name<T>.find("(anonymous namespace)") != std::string_view::npos ||
                                    qualified_name<T>.find("{anonymous}") != std::string_view::npos ||
                                    qualified_name<T>.find("<unnamed>") != std::string_view::npos ||
                                    qualified_name<T>.find(")::") != std::string_view::npos;

/// Where the template arguments of a type begin that is written so; its end where it has none.
constexpr std::size_t arguments_at(std::string_view type) {
  if (!type.ends_with('>') || type.ends_with("->")) return type.size();
  std::size_t open = 0;
  for (std::size_t i = type.size(); i-- > 0;) {
    if (type[i] == '>' && (i == 0 || type[i - 1] != '-')) ++open;
    if (type[i] == '<' && --open == 0) return i;
  }
  return type.size();
}

/// The unqualified name of T, without template arguments.
template <class T>
inline constexpr std::string_view type_name = last_word(qualified_name<T>.substr(0, arguments_at(qualified_name<T>)));
/// Whether T is of a template.
template <class T>
inline constexpr bool of_template = arguments_at(qualified_name<T>) != qualified_name<T>.size();

/// Characters known at compile time.
struct ShortName {
  char text[64]{};
  std::size_t size = 0;
  constexpr operator std::string_view() const { return {text, size}; }
  constexpr void add(char c) {
    if (size + 1 < sizeof text) text[size++] = c;
  }
};

/// The words of an integer type in an order of our own: compilers write "long unsigned int" or "unsigned long".
struct IntegerWords {
  int longs = 0;
  bool is_unsigned = false, is_short = false, is_char = false, any = false;

  constexpr bool take(std::string_view word) {
    if (word == "long")
      ++longs;
    else if (word == "unsigned")
      is_unsigned = true;
    else if (word == "short")
      is_short = true;
    else if (word != "int")
      return false;
    return any = true;
  }
  constexpr void print(ShortName& out) const {
    auto add = [&, apart = false](std::string_view word) mutable {
      if (apart) out.add('_');
      for (char c : word) out.add(c);
      apart = true;
    };
    if (is_unsigned) add("unsigned");
    if (is_short) add("short");
    for (int i = 0; i < longs; ++i) add("long");
    if (!is_short && longs == 0) add("int");
  }
};

/// Whether a template argument is a floating number, which compilers write in different ways: 1.5 or 1.5e+0.
constexpr bool has_real_argument(std::string_view type) {
  for (std::size_t i = arguments_at(type) + 1; i < type.size(); ++i)
    if (type[i - 1] >= '0' && type[i - 1] <= '9' &&
        (type[i] == '.' || type.substr(i).starts_with("e+") || type.substr(i).starts_with("e-")))
      return true;
  return false;
}

/// The name of a type of a template, with its arguments: ns::Window<4> → Window_4, Pair<float, ns::Kind::near> →
/// Pair_float_near, Shift<-1> → Shift_minus_1, Of<long int> → Of_long.
constexpr ShortName name_with_arguments(std::string_view type) {
  const std::size_t at = arguments_at(type);
  ShortName out;
  for (char c : last_word(type.substr(0, at))) out.add(c);
  std::size_t begun = out.size;  // where the argument's name begins: qualifications of it are dropped
  bool apart = true;
  for (std::size_t i = at; i < type.size(); ++i) {
    if (type.substr(i).starts_with("::")) {
      out.size = begun;
      apart = true;
      ++i;
    } else if (is_word(type[i])) {
      const std::size_t first = i;
      while (i + 1 < type.size() && is_word(type[i + 1])) ++i;
      std::string_view word = type.substr(first, i + 1 - first);
      if (IntegerWords integer; integer.take(word)) {
        for (std::size_t next = i + 1; next < type.size() && type[next] == ' '; next = i + 1) {
          std::size_t end = next + 1;
          while (end < type.size() && is_word(type[end])) ++end;
          const std::string_view following = type.substr(next + 1, end - next - 1);
          if (following == "char") {  // "unsigned char" is written so by all
            for (char c : std::string_view("_unsigned_char")) out.add(c);
            integer.any = false;
            i = end - 1;
            break;
          }
          if (!integer.take(following)) break;
          i = end - 1;
        }
        if (integer.any) {
          if (apart) out.add('_');
          integer.print(out);
        }
        apart = false;
        continue;
      }
      while (word.size() > 1 && word[0] >= '0' && word[0] <= '9' && (word.back() == 'U' || word.back() == 'L'))
        word.remove_suffix(1);  // compilers write 4 or 4UL
      if (apart) out.add('_');
      for (char c : word) out.add(c);
      apart = false;
    } else {
      if (type[i] == '<' || type[i] == ',') begun = out.size;
      if (type[i] == '-' && i + 1 < type.size() && is_word(type[i + 1]))
        for (char c : std::string_view("_minus")) out.add(c);
      apart = true;
    }
  }
  return out;
}

/// FullyConnected → fully_connected, SVMOutput → svm_output, LRN → lrn. ReLU is one word: LeakyReLU → leaky_relu. A
/// single capital after digits joins them: BilinearResize2D → bilinear_resize2d.
constexpr ShortName snake_case(std::string_view name) {
  ShortName out;
  const auto upper = [](char c) { return c >= 'A' && c <= 'Z'; };
  const auto lower = [](char c) { return c >= 'a' && c <= 'z'; };
  const auto inside_relu = [&](std::size_t i) {
    return (i >= 2 && name.substr(i - 2).starts_with("ReLU")) || (i >= 3 && name.substr(i - 3).starts_with("ReLU"));
  };
  for (std::size_t i = 0; i < name.size() && out.size + 2 < sizeof out.text; ++i) {
    const bool starts = upper(name[i]) && i != 0 && name[i - 1] != '_' &&
                        (lower(name[i - 1]) || (i + 1 < name.size() && !upper(name[i + 1]) && name[i + 1] != '_')) &&
                        !inside_relu(i);
    if (starts) out.text[out.size++] = '_';
    out.text[out.size++] = upper(name[i]) ? static_cast<char>(name[i] + ('a' - 'A')) : name[i];
  }
  return out;
}

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

template <class E, int N>
constexpr bool has_enumerator() {
  using U = std::underlying_type_t<E>;  // of characters and bool too, which std::in_range does not take
  if constexpr ((N < 0 && !std::is_signed_v<U>) || static_cast<long long>(static_cast<U>(N)) != N)
    return false;
  else
    return !enumerator_name<enum_value<E>(N)>.empty();
}
/// How many enumerators E has, counted from 0 without a gap.
template <class E, int N = 0>
constexpr int count_enumerators() {
  if constexpr (N == 64 || !has_enumerator<E, N>())
    return N;
  else
    return count_enumerators<E, N + 1>();
}
/// Whether E has an enumerator from N to Last − 1.
template <class E, int N, int Last>
constexpr bool enumerates() {
  if constexpr (N == Last)
    return false;
  else if constexpr (has_enumerator<E, N>())
    return true;
  else
    return enumerates<E, N + 1, Last>();
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
