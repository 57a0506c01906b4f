// SPDX-License-Identifier: Apache-2.0
/// \file
/// Parameters of an operator as text: each field's type, parsing, printing, range; the table that the registry carries.
#pragma once
#include <strop/core/dtype.hpp>
#include <strop/core/reflect.hpp>
#include <strop/core/scalar.hpp>
#include <strop/core/shape.hpp>
#include <strop/core/text.hpp>

#include <array>
#include <concepts>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace strop::inline v0 {

namespace detail {
/// Not constexpr: a constant expression that asks for a required parameter which nobody gave ends here.
inline void required_parameter_is_missing() {}

/// What may be missing, with the members of std::optional that are asked of it here. A compiler makes it of an
/// enumeration in a tenth of the time.
template <class T>
struct Maybe {
  constexpr Maybe() = default;
  constexpr Maybe(T v) : value_(std::move(v)), given_(true) {}
  constexpr explicit operator bool() const { return given_; }
  constexpr bool has_value() const { return given_; }
  constexpr const T& operator*() const {
    if (std::is_constant_evaluated() && !given_) required_parameter_is_missing();
    return value_;
  }
  constexpr T& operator*() { return const_cast<T&>(*std::as_const(*this)); }
  constexpr const T* operator->() const { return &**this; }
  constexpr T* operator->() { return &**this; }
  constexpr const T& value() const {
    if (!given_) throw std::bad_optional_access();
    return value_;
  }
  constexpr T value_or(T other) const { return given_ ? value_ : other; }
  constexpr T& emplace() {
    value_ = T{};
    given_ = true;
    return value_;
  }
  friend constexpr bool operator==(const Maybe&, const Maybe&) = default;

 private:
  T value_{};
  bool given_ = false;
};
}  // namespace detail

/// A parameter without a default: leaving it out of a call is an error that names it. It is written
/// `strop::Required<int> n = {};`, empty: compilers warn (-Wextra) of a call that names other fields alone where a
/// field has no initialiser.
template <class T>
struct Required {
  detail::Maybe<T> value;
  Required() = default;
  constexpr Required(T v) : value(std::move(v)) {}
  constexpr Required(std::initializer_list<std::int64_t> list)
    requires std::constructible_from<T, std::initializer_list<std::int64_t>>
      : value(T(list)) {}
  template <class N>
    requires(std::is_arithmetic_v<N> && std::same_as<T, Scalar>)
  constexpr Required(N number) : value(T(number)) {}
  constexpr operator const T&() const { return *value; }
  constexpr const T& operator*() const { return *value; }
  friend constexpr bool operator==(const Required&, const Required&) = default;
};

/// Axes that an operator works along: none given, one, or several; negative ones count from the end.
struct Axes {
  std::optional<Shape> list;
  Axes() = default;
  constexpr Axes(int axis) : list(Shape{axis}) {}
  constexpr Axes(std::initializer_list<std::int64_t> axes) : list(Shape(axes)) {}
  constexpr Axes(Shape axes) : list(std::move(axes)) {}
  friend constexpr bool operator==(const Axes&, const Axes&) = default;
};

/// Inclusive bounds of the parameter called `name`, a number, or an optional one that is given; a struct lists them as
/// `static constexpr strop::Range range[]`.
struct Range {
  std::string_view name;
  static constexpr double unbounded = 1e308;
  double low = -unbounded, high = unbounded;

  constexpr bool contains(double x) const {
    return (x >= low || (low <= -unbounded && x < 0)) && (x <= high || (high >= unbounded && x > 0));
  }
};

/// The documentation of the parameter or input called `name`; listed as `static constexpr strop::Note notes[]`.
struct Note {
  std::string_view name, text;
  constexpr Note() = default;
  /// Of literals: the compiler knows their lengths, where std::string_view would have it count.
  constexpr Note(const char* of, const char* says = "")
      : name(of, __builtin_strlen(of)), text(says, __builtin_strlen(says)) {}
  constexpr Note(std::string_view of, std::string_view says) : name(of), text(says) {}
};

/// What values a parameter has, for front ends that give them otherwise than as text.
enum class ParamKind : std::uint8_t {
  flag,         // True or False: a bool
  integer,      // a whole number, in the range of the field's type
  real,         // a number
  string,       // any text
  enumeration,  // one of the type's words
  shape,        // whole numbers, (2, 3)
  axes,         // none, a whole number or several, 1 or (0, 1)
  bounds,       // whole numbers each of which may be None, (0, None)
  dtype,        // an element type, float32
  numbers,      // a number or several, (0.1, 0.2)
};

/// The kind's name, for JSON: "boolean", "integer", …
constexpr std::string_view name_of(ParamKind kind) {
  constexpr std::string_view names[] = {"boolean", "integer", "real",   "string", "enumeration",
                                        "shape",   "axes",    "bounds", "dtype",  "numbers"};
  return names[static_cast<std::size_t>(kind)];
}

/// Another name of the parameter `name`, by which text may set it: an older one, or another library's. Listed as
/// `static constexpr strop::ParamAlias param_aliases[]`.
struct ParamAlias {
  std::string_view alias, name;
};

/// In files of versions before `until` (10000 · major + 100 · minor + patch) the value `from` of the parameter `name`
/// meant what `to` means now. Listed as `static constexpr strop::ParamUpgrade upgrades[]`.
struct ParamUpgrade {
  std::string_view name, from, to;
  int until;
};

namespace detail {

/// What the registry knows of a parameter's type. Its functions are given the type itself: one that is made at run time
/// holds more than these fields.
struct ValueType {
  std::string_view name;  // "float", "int", "shape", {'leaky', 'elu'}, …
  ParamKind kind;
  bool optional;                            // takes None for no value
  bool required;                            // has no default
  std::span<const std::string_view> words;  // of an enumeration, in the order of its enumerators
  bool has_order;                           // a number, or an optional one: it may have a range
  /// False: the text is malformed or out of the type's range.
  bool (*parse)(const ValueType& self, void* value, std::string_view text);
  std::string (*print)(const ValueType& self, const void* value);  // exactly what parse accepts
  /// For bounds: empty without a value; null without an order.
  std::optional<double> (*number)(const ValueType& self, const void* value);
  bool (*missing)(const ValueType& self, const void* value);  // a required one without a value; null elsewhere
  bool (*equal)(const void* a, const void* b) = nullptr;      // null: nobody can tell
  std::size_t size = 0;                                       // of a value in bytes; 0: not of a type that is known
};

template <class V>
struct Text {
  static_assert(
      !sizeof(V),
      "strop: a parameter is a bool, a number, a string, an enumeration, a Scalar, a Shape, Axes, Numbers, a Dtype, or "
      "std::optional or strop::Required of one of them");
};

template <class V>
inline constexpr bool is_required = requires { typename Text<V>::Wrapped; };
template <class V>
constexpr std::span<const std::string_view> words_of() {
  if constexpr (requires { Text<V>::words; })
    return Text<V>::words;
  else
    return {};
}

/// Whether a parameter may have a range.
template <class V>
inline constexpr bool has_order = std::is_arithmetic_v<V> || std::is_same_v<V, Scalar>;
template <class V>
inline constexpr bool has_order<std::optional<V>> = has_order<V>;
template <class V>
inline constexpr bool has_order<Required<V>> = has_order<V>;

template <class V>
std::optional<double> number_in(const V& value) {
  if constexpr (std::is_arithmetic_v<V> || std::is_same_v<V, Scalar>)
    return static_cast<double>(value);
  else if constexpr (is_required<V>)
    return value.value ? number_in(*value.value) : std::nullopt;
  else
    return value ? number_in(*value) : std::nullopt;
}

template <class V>
inline constexpr bool is_optional = requires { requires Text<V>::optional; };

template <class V>
inline constexpr ValueType value_type{
    .name = Text<V>::name,
    .kind = Text<V>::kind,
    .optional = is_optional<V>,
    .required = is_required<V>,
    .words = words_of<V>(),
    .has_order = has_order<V>,
    .parse = [](const ValueType&, void* value,
                std::string_view text) { return Text<V>::parse(*static_cast<V*>(value), text); },
    .print = [](const ValueType&, const void* value) { return Text<V>::print(*static_cast<const V*>(value)); },
    .number =
        [] {
          std::optional<double> (*number)(const ValueType&, const void*) = nullptr;
          if constexpr (has_order<V>)
            number = [](const ValueType&, const void* value) { return number_in(*static_cast<const V*>(value)); };
          return number;
        }(),
    .missing =
        [] {
          bool (*missing)(const ValueType&, const void*) = nullptr;
          if constexpr (is_required<V>)
            missing = [](const ValueType&, const void* value) {
              return !static_cast<const V*>(value)->value.has_value();
            };
          return missing;
        }(),
    .equal =
        [] {
          bool (*equal)(const void*, const void*) = nullptr;
          if constexpr (std::equality_comparable<V>)
            equal = [](const void* a, const void* b) { return *static_cast<const V*>(a) == *static_cast<const V*>(b); };
          return equal;
        }(),
    .size = sizeof(V)};

template <>
struct Text<bool> {
  static constexpr std::string_view name = "bool";
  static constexpr ParamKind kind = ParamKind::flag;
  static bool parse(bool& value, std::string_view text) { return parse_bool(text, value); }
  static std::string print(bool value) { return value ? "True" : "False"; }
};
template <std::integral V>
struct Text<V> {
  static constexpr std::string_view name = sizeof(V) == 8 ? "long" : "int";
  static constexpr ParamKind kind = ParamKind::integer;
  static bool parse(V& value, std::string_view text) {
    std::conditional_t<std::is_signed_v<V>, std::int64_t, std::uint64_t> wide = 0;
    if (!parse_integer(text, wide)) return false;
    value = static_cast<V>(wide);
    return value == wide;
  }
  static std::string print(V value) {
    if constexpr (std::same_as<V, std::uint64_t> || std::same_as<V, unsigned long long>) {
      if (value >> 63 != 0) return cat(value / 10, value % 10);  // cat() knows signed numbers
    }
    return cat(static_cast<std::int64_t>(value));
  }
};
template <>
struct Text<float> {
  static constexpr std::string_view name = "float";
  static constexpr ParamKind kind = ParamKind::real;
  static bool parse(float& value, std::string_view text) { return parse_real(text, value); }
  static std::string print(float value) { return print_real(value); }
};
template <>
struct Text<double> {
  static constexpr std::string_view name = "double";
  static constexpr ParamKind kind = ParamKind::real;
  static bool parse(double& value, std::string_view text) { return parse_real(text, value); }
  static std::string print(double value) { return print_real(value); }
};
template <>
struct Text<Scalar> {
  static constexpr std::string_view name = "double";
  static constexpr ParamKind kind = ParamKind::real;
  static bool parse(Scalar& value, std::string_view text) {
    std::int64_t whole = 0;
    if (parse_integer(text, whole) && (whole != 0 || text[0] != '-')) return value = whole, true;  // "-0" is real
    double real = 0;
    if (!parse_real(text, real)) return false;
    value = real;
    return true;
  }
  static std::string print(const Scalar& value) { return value.is_whole ? cat(value.whole) : print_real(value.real); }
};
template <>
struct Text<std::string> {
  static constexpr std::string_view name = "string";
  static constexpr ParamKind kind = ParamKind::string;
  static bool parse(std::string& value, std::string_view text) {
    value = text;
    return true;
  }
  static std::string print(const std::string& value) { return value; }
};
template <>
struct Text<Dtype> {
  static constexpr std::string_view name = "dtype";
  static constexpr ParamKind kind = ParamKind::dtype;
  static bool parse(Dtype& value, std::string_view text) { return parse_dtype(text, value); }
  static std::string print(Dtype value) { return std::string(name_of(value)); }
};
template <>
struct Text<Shape> {
  static constexpr std::string_view name = "shape";
  static constexpr ParamKind kind = ParamKind::shape;
  static bool parse(Shape& value, std::string_view text) { return parse_shape(text, value); }
  static std::string print(const Shape& value) { return print_shape(value); }
};
template <>
struct Text<Axes> {
  static constexpr std::string_view name = "axes";
  static constexpr ParamKind kind = ParamKind::axes;
  static constexpr bool optional = true;
  static bool parse(Axes& value, std::string_view text) {
    if (text == "None") {
      value.list.reset();
      return true;
    }
    return parse_shape(text, value.list.emplace());
  }
  static std::string print(const Axes& value) { return value.list ? print_shape(*value.list) : "None"; }
};
template <class E>
  requires std::is_enum_v<E>
struct Text<E> {
  static constexpr std::size_t count = static_cast<std::size_t>(count_enumerators<E>());
#if !defined(__CUDACC__)  // nvcc's front end takes what is no enumerator for one here
  // One before 0 and eight after the last are asked for.
  static_assert(count > 0 && !enumerates<E, -1, 0>() && !enumerates<E, int{count}, int{count} + 8>(),
                "strop: the enumerators of a parameter are 0, 1, 2 and so on without a gap, 64 at most");
#endif
  static constexpr ParamKind kind = ParamKind::enumeration;
  static constexpr auto words = []<std::size_t... I>(std::index_sequence<I...>) {
    return std::array<std::string_view, sizeof...(I)>{enumerator_name<static_cast<E>(I)>...};
  }(std::make_index_sequence<count>{});
  static constexpr auto store = [] {  // {'first', 'second'}
    constexpr std::size_t size = [] {
      std::size_t all = 3;
      for (std::string_view word : words) all += word.size() + 4;
      return all;
    }();
    std::array<char, size> out{};
    std::size_t n = 0;
    out[n++] = '{';
    for (std::string_view word : words) {
      if (n > 1) out[n++] = ',', out[n++] = ' ';
      out[n++] = '\'';
      for (char c : word) out[n++] = c;
      out[n++] = '\'';
    }
    out[n] = '}';
    return out;
  }();
  static constexpr std::string_view name{store.data()};
  static bool parse(E& value, std::string_view text) {
    for (std::size_t i = 0; i < count; ++i)
      if (words[i] == text) return value = static_cast<E>(i), true;
    return false;
  }
  static std::string print(E value) { return std::string(words[static_cast<std::size_t>(value)]); }
};
/// The word of an enumerator, for a sentence: what it takes is built where the sentence may be written.
template <class E>
std::string word_of(E value) {
  return Text<E>::print(value);
}
template <class V>
struct Text<std::optional<V>> {
  static constexpr std::string_view name = Text<V>::name;
  static constexpr ParamKind kind = Text<V>::kind;
  static constexpr std::span<const std::string_view> words = words_of<V>();
  static constexpr bool optional = true;
  static bool parse(std::optional<V>& value, std::string_view text) {
    if (text == "None") return value.reset(), true;
    return Text<V>::parse(value.emplace(), text);
  }
  static std::string print(const std::optional<V>& value) { return value ? Text<V>::print(*value) : "None"; }
};
template <class V>
struct Text<Required<V>> {
  using Wrapped = V;
  static constexpr std::string_view name = Text<V>::name;
  static constexpr ParamKind kind = Text<V>::kind;
  static constexpr std::span<const std::string_view> words = words_of<V>();
  static constexpr bool optional = is_optional<V>;
  static bool parse(Required<V>& value, std::string_view text) { return Text<V>::parse(value.value.emplace(), text); }
  static std::string print(const Required<V>& value) { return value.value ? Text<V>::print(*value.value) : ""; }
};

struct Field {
  std::string_view name;
  const ValueType* type;
};

/// The parameters of an operator: fields, and how an object that holds them is made, copied and taken down. These
/// functions are given the table itself, as those of ValueType are.
struct ParamTable {
  std::span<const Field> fields;
  std::span<const Range> ranges;
  std::size_t size, align;
  void (*construct)(const ParamTable& self, void* object);
  void (*copy)(const ParamTable& self, void* to, const void* from);
  void (*destroy)(const ParamTable& self, void* object);
  void* (*at)(const ParamTable& self, void* object, std::size_t field);
  bool checked;  // has ranges or required parameters
  std::span<const ParamAlias> aliases = {};
  std::span<const ParamUpgrade> upgrades = {};
  std::size_t before = 0;  // bytes in front of an object that are the table's own, a multiple of `align` or 0

  /// The parameter of that name or alias; none where there is none.
  std::optional<std::size_t> find(std::string_view key) const {
    for (const ParamAlias& other : aliases)
      if (other.alias == key) key = other.name;
    for (std::size_t i = 0; i < fields.size(); ++i)
      if (fields[i].name == key) return i;
    return std::nullopt;
  }
  const void* value(const void* object, std::size_t i) const { return at(*this, const_cast<void*>(object), i); }
  /// Parameter i of an object as text.
  std::string print(const void* object, std::size_t i) const {
    return fields[i].type->print(*fields[i].type, value(object, i));
  }
  /// Sets parameter i from text; false where the text is refused.
  bool parse(void* object, std::size_t i, std::string_view text) const {
    return fields[i].type->parse(*fields[i].type, at(*this, object, i), text);
  }
  /// Parameter i as a number, where it is one and has a value.
  std::optional<double> number(const void* object, std::size_t i) const {
    const ValueType& type = *fields[i].type;
    return type.number != nullptr ? type.number(type, value(object, i)) : std::nullopt;
  }
  /// Whether parameter i is required and has no value.
  bool missing(const void* object, std::size_t i) const {
    const ValueType& type = *fields[i].type;
    return type.missing != nullptr && type.missing(type, value(object, i));
  }
  /// Whether two objects are known to have equal parameters: false as well where nobody can tell, and of NaN.
  bool equal(const void* a, const void* b) const {
    if (fields.empty() && size > 1) return false;
    for (std::size_t i = 0; i < fields.size(); ++i)
      if (const auto same = fields[i].type->equal; same == nullptr || !same(value(a, i), value(b, i))) return false;
    return true;
  }
  /// The bounds of parameter i; null where it has none.
  const Range* range(std::size_t i) const {
    for (const Range& range : ranges)
      if (range.name == fields[i].name) return &range;
    return nullptr;
  }
};

template <class T>
struct ParamsOf {
  static constexpr auto fields = []<std::size_t... I>(std::index_sequence<I...>) {
    return std::array<Field, sizeof...(I)>{
        Field{field_name<T, I>, &value_type<std::remove_cvref_t<decltype(*field_address<I>(std::declval<T&>()))>>}...};
  }(std::make_index_sequence<field_count<T>>{});
  static constexpr std::span<const Range> ranges = [] {
    if constexpr (requires { std::span<const Range>(T::range); })
      return std::span<const Range>(T::range);
    else
      return std::span<const Range>();
  }();
  static constexpr std::span<const ParamAlias> aliases = [] {
    if constexpr (requires { std::span<const ParamAlias>(T::param_aliases); })
      return std::span<const ParamAlias>(T::param_aliases);
    else
      return std::span<const ParamAlias>();
  }();
  static constexpr std::span<const ParamUpgrade> upgrades = [] {
    if constexpr (requires { std::span<const ParamUpgrade>(T::upgrades); })
      return std::span<const ParamUpgrade>(T::upgrades);
    else
      return std::span<const ParamUpgrade>();
  }();
  static constexpr bool has_required = []<std::size_t... I>(std::index_sequence<I...>) {
    return (is_required<std::remove_cvref_t<decltype(*field_address<I>(std::declval<T&>()))>> || ...);
  }(std::make_index_sequence<field_count<T>>{});
  static void* at(const ParamTable&, void* object, [[maybe_unused]] std::size_t field) {
    void* found = object;
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      ((field == I ? void(found = field_address<I>(*static_cast<T*>(object))) : void()), ...);
    }(std::make_index_sequence<field_count<T>>{});
    return found;
  }
};

template <class T>
inline constexpr ParamTable param_table{
    ParamsOf<T>::fields,
    ParamsOf<T>::ranges,
    sizeof(T),
    alignof(T),
    [](const ParamTable&, void* p) { ::new (p) T{}; },
    [](const ParamTable&, void* to, const void* from) { ::new (to) T(*static_cast<const T*>(from)); },
    [](const ParamTable&, void* p) { static_cast<T*>(p)->~T(); },
    &ParamsOf<T>::at,
    !ParamsOf<T>::ranges.empty() || ParamsOf<T>::has_required,
    ParamsOf<T>::aliases,
    ParamsOf<T>::upgrades};

/// "at most 3", "at least 0", "from 0 to 1" with `subject` before it.
std::string bounds_of(const Range& range, std::string_view subject);

/// Throws Error when a required parameter is missing or one is out of its range.
void check_params(std::string_view op, const ParamTable& table, const void* object);

/// Sets one parameter from text, by its name or an alias. Keys written `__key__` are attributes of other tools and are
/// passed over.
void set_param(std::string_view op, const ParamTable& table, void* object, std::string_view key, std::string_view text);

/// What `text`, which a file of that version says of parameter `key`, means now.
std::string_view upgraded(const ParamTable& table, std::string_view key, std::string_view text, int version);

}  // namespace detail
}  // namespace strop::inline v0

#if !defined(STROP_COMPILED)
#include <strop/core/params_impl.hpp>
#endif
