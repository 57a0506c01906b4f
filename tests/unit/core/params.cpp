// SPDX-License-Identifier: Apache-2.0
/// \file
/// Parameters of every type from text and back, and what is refused, with its sentence.
#include "../sentence.hpp"

#include <doctest/doctest.h>
#include <strop/core/params.hpp>

#include <cmath>
#include <limits>
#include <string>

using namespace strop;
using testing::sentence;

namespace {

enum class Mode { plain, leaky, default_ };

struct Everything {
  bool flag = true;
  int count = -3;
  std::uint8_t small = 7;
  std::int64_t wide = 0;
  std::uint64_t size = 0;
  char letter = 65;
  float rate = 0.1F;
  double exact = 0.1;
  std::string word = "two words";
  Mode mode = Mode::default_;
  Dtype dtype = f16;
  Shape shape = {2, 3};
  Axes axis = {};
  std::optional<int> maybe = {};
  std::optional<Shape> maybe_shape = {};
  std::optional<double> maybe_real = 0.5;
  Required<int> needed = {};
  static constexpr Range range[] = {{"count", -5, 5},      {"rate", 0, 1},  {"exact", 0},
                                    {"wide", -1e308, 100}, {"maybe", 0, 4}, {"needed", 1}};
};
constexpr const detail::ParamTable& table = detail::param_table<Everything>;

void set(Everything& e, std::string_view key, std::string_view text) {
  detail::set_param("every_thing", table, &e, key, text);
}
std::string print(Everything& e, std::string_view key) {
  for (std::size_t i = 0; i < table.fields.size(); ++i)
    if (table.fields[i].name == key) return table.print(&e, i);
  return "no such field";
}
/// What is printed after the text was parsed.
std::string normal(std::string_view key, std::string_view text) {
  Everything e;
  set(e, key, text);
  return print(e, key);
}
/// What a refused text is told, without what every such sentence begins with.
std::string refused(std::string_view key, std::string_view text) {
  Everything e;
  const std::string told = sentence([&] { set(e, key, text); });
  const std::string begin = cat("every_thing: parameter '", key, "' is ");
  return told.starts_with(begin) ? told.substr(begin.size()) : told;
}
/// A value, printed and parsed again, is the value.
template <class V>
bool survives(const V& value) {
  V back{};
  return detail::Text<V>::parse(back, detail::Text<V>::print(value)) && back == value;
}

}  // namespace

TEST_CASE("defaults are printed as text that parses to the same") {
  Everything e, other;
  e.needed = 4;
  const std::string expected[] = {"True",    "-3",      "7",      "0",    "0",    "65",   "0.1", "0.1", "two words",
                                  "default", "float16", "(2, 3)", "None", "None", "None", "0.5", "4"};
  for (std::size_t i = 0; i < table.fields.size(); ++i) {
    const detail::Field& field = table.fields[i];
    CAPTURE(field.name);
    const std::string text = table.print(&e, i);
    CHECK(text == expected[i]);
    CHECK(table.parse(&other, i, text));
    CHECK(table.print(&other, i) == text);
  }
}

TEST_CASE("every value of every type survives as text") {
  for (const bool b : {true, false}) CHECK(survives(b));
  for (int i = -128; i < 128; ++i) CHECK(survives(static_cast<std::int8_t>(i)));
  for (int i = 0; i < 256; ++i) CHECK(survives(static_cast<char>(i)));
  using Wide = std::numeric_limits<std::int64_t>;
  for (const std::int64_t i : {Wide::min(), Wide::min() + 1, std::int64_t{-1}, std::int64_t{0}, Wide::max()})
    CHECK(survives(i));
  for (const std::uint64_t i : {std::uint64_t{0}, std::uint64_t{1} << 63, ~std::uint64_t{0}}) CHECK(survives(i));
  for (const float x : {0.1F, 1e-45F, 3.4028235e38F, 1 / 3.0F, -2.5F, 1e10F, std::numeric_limits<float>::infinity()})
    CHECK(survives(x));
  for (const double x : {0.1, 5e-324, 1.7976931348623157e308, 1 / 3.0, -2.5, 1e22}) CHECK(survives(x));
  CHECK(std::signbit(std::stof(detail::Text<float>::print(-0.0F))));
  float nan = 0;
  CHECK(detail::Text<float>::parse(nan, detail::Text<float>::print(std::numeric_limits<float>::quiet_NaN())));
  CHECK(nan != nan);
  for (const Dtype type : all_dtypes) CHECK(survives(type));
  for (const Mode mode : {Mode::plain, Mode::leaky, Mode::default_}) CHECK(survives(mode));
  for (const Shape& shape : {Shape{}, Shape{0}, Shape{7}, Shape{1, 2, 3, 4, 5, 6, 7, 8}}) CHECK(survives(shape));
  // Codes of reshape and axes from the end are no unknown extents.
  CHECK(survives(Shape{-1, 0, -2, -3, -4}));
  CHECK(normal("axis", "-1") == "(-1,)");
  CHECK(normal("axis", "(0, -2)") == "(0, -2)");
  CHECK(survives(std::optional<Shape>(Shape{-1})));
  CHECK(survives(std::optional<int>()));
}

TEST_CASE("what may be written in several ways") {
  CHECK(normal("flag", "TRUE") == "True");
  CHECK(normal("flag", " false ") == "False");
  CHECK(normal("flag", "0") == "False");
  CHECK(normal("count", "+3") == "3");
  CHECK(normal("count", "-3L") == "-3");  // as Python 2 writes it
  CHECK(normal("size", "18446744073709551615L") == "18446744073709551615");
  CHECK(normal("maybe", "4L") == "4");
  CHECK(normal("shape", "(2L,3L)") == "(2, 3)");
  CHECK(normal("shape", "7L") == "(7,)");
  CHECK(normal("axis", "(0L, -1L)") == "(0, -1)");
  CHECK(normal("count", " 3\t") == "3");
  CHECK(normal("rate", "1e-3") == "0.001");
  CHECK(normal("rate", ".5") == "0.5");
  CHECK(normal("exact", "inf") == "inf");
  CHECK(normal("dtype", "f32") == "float32");
  CHECK(normal("dtype", "bool") == "bool");
  CHECK(normal("dtype", "boolean") == "bool");
  CHECK(normal("shape", "[ 2,3 ]") == "(2, 3)");
  CHECK(normal("shape", "5") == "(5,)");
  CHECK(normal("shape", "(5,)") == "(5,)");
  CHECK(normal("shape", "()") == "()");
  CHECK(normal("axis", "None") == "None");
  CHECK(normal("maybe", "4") == "4");
  CHECK(normal("maybe", "None") == "None");
  CHECK(normal("maybe_real", "None") == "None");
  CHECK(normal("word", "") == "");
}

TEST_CASE("malformed text is refused with what was expected") {
  CHECK(refused("flag", "yes") == "'yes', expected a bool");
  CHECK(refused("flag", "") == "'', expected a bool");
  for (const std::string_view text : {"", "L", "3LL", "3 L", "-L", "1e3", "3.0", "0x3", "- 3", "--3", "three", "3 4"})
    CHECK(refused("count", text) == cat("'", text, "', expected an int"));
  for (const std::string_view text : {"", "1,5", "0.5f", "half", "0x1p-1", "."})
    CHECK(refused("rate", text) == cat("'", text, "', expected a float"));
  CHECK(refused("mode", "leakyy") == "'leakyy', expected one of {'plain', 'leaky', 'default'}");
  CHECK(refused("mode", "1") == "'1', expected one of {'plain', 'leaky', 'default'}");
  CHECK(refused("dtype", "float") ==
        "'float', expected one of float16, bfloat16, float32, float64, uint8, int8, int32, int64, bool");
  for (const std::string_view text : {"", "(", "(2", "2)", "(2, 3]", "(,)", "(1,,2)", "(a)", "1 2", "(1.5,)"})
    CHECK(refused("shape", text) == cat("'", text, "', expected whole numbers as (2, 3)"));
  CHECK(refused("axis", "none") == "'none', expected an axis or axes as (0, 1)");
  CHECK(refused("maybe", "Nope") == "'Nope', expected an int");
  CHECK(refused("maybe_shape", "x") == "'x', expected whole numbers as (2, 3)");
  CHECK(refused("needed", "x") == "'x', expected an int");
}

TEST_CASE("what a type cannot hold is refused") {
  CHECK(refused("small", "256") == "'256', expected an int");
  CHECK(refused("small", "-1") == "'-1', expected an int");
  CHECK(refused("count", "2147483648") == "'2147483648', expected an int");
  CHECK(refused("wide", "9223372036854775808") == "'9223372036854775808', expected a long");
  CHECK(refused("size", "18446744073709551616") == "'18446744073709551616', expected a long");
  CHECK(refused("size", "-1") == "'-1', expected a long");
  CHECK(refused("rate", "1e39") == "'1e39', expected a float");
  CHECK(refused("exact", "1e309") == "'1e309', expected a double");
  CHECK(refused("shape", "(9223372036854775808,)") == "'(9223372036854775808,)', expected whole numbers as (2, 3)");
}

TEST_CASE("ranges are inclusive, and NaN lies in none") {
  CHECK(normal("count", "5") == "5");
  CHECK(normal("count", "-5") == "-5");
  CHECK(refused("count", "6") == "6, expected a value from -5 to 5");
  CHECK(refused("rate", "1.5") == "1.5, expected a value from 0 to 1");
  CHECK(refused("rate", "nan") == "nan, expected a value from 0 to 1");
  CHECK(refused("exact", "-1") == "-1, expected at least 0");
  CHECK(refused("maybe", "5") == "5, expected a value from 0 to 4");
  CHECK(normal("maybe", "None") == "None");
  CHECK(refused("needed", "0") == "0, expected at least 1");
  CHECK(refused("wide", "101") == "101, expected at most 100");
}

TEST_CASE("unknown parameters list the nearest, attributes of other tools are passed over") {
  Everything e;
  const std::string told = sentence([&] { set(e, "modes", "1"); });
  CHECK(told.starts_with("every_thing: no parameter 'modes'; it has mode, "));
  CHECK(told.ends_with(" and 5 more"));
  CHECK(sentence([&] { set(e, "__init__", "x"); }) == "");
  CHECK(sentence([&] { set(e, "____", "x"); }) != "");
  struct None {};
  None none;
  CHECK(sentence([&] { detail::set_param("none", detail::param_table<None>, &none, "a", "1"); }) ==
        "none: no parameter 'a'; it takes none");
}

TEST_CASE("a required parameter that is missing is named") {
  Everything e;
  CHECK(sentence([&] { detail::check_params("every_thing", table, &e); }) ==
        "every_thing: parameter 'needed' (int) is required");
  e.needed = 1;
  CHECK(sentence([&] { detail::check_params("every_thing", table, &e); }) == "");
  e.count = 9;  // set by C++, not by text
  CHECK(sentence([&] { detail::check_params("every_thing", table, &e); }) ==
        "every_thing: parameter 'count' is 9, expected a value from -5 to 5");
}

TEST_CASE("names are listed by their likeness, in any case, each once") {
  CHECK(detail::list_nearest("Relu", {"tanh", "relu", "prelu", "relu"}) == "relu, prelu, tanh");
  CHECK(detail::list_nearest("x", {"a", "b", "c"}, 2) == "a, b and 1 more");
  CHECK(detail::list_nearest("x", {}) == "");
}

TEST_CASE("kinds of parameters are values") {
  struct Known {
    std::string_view name;
    ParamKind kind;
    bool optional = false, required = false;
  };
  const Known known[] = {{"flag", ParamKind::flag},
                         {"count", ParamKind::integer},
                         {"letter", ParamKind::integer},
                         {"rate", ParamKind::real},
                         {"exact", ParamKind::real},
                         {"word", ParamKind::string},
                         {"mode", ParamKind::enumeration},
                         {"dtype", ParamKind::dtype},
                         {"shape", ParamKind::shape},
                         {"axis", ParamKind::axes, true},
                         {"maybe", ParamKind::integer, true},
                         {"maybe_shape", ParamKind::shape, true},
                         {"needed", ParamKind::integer, false, true}};
  for (const Known& k : known) {
    CAPTURE(k.name);
    const detail::ValueType& type = *table.fields[table.find(k.name).value()].type;
    CHECK(type.kind == k.kind);
    CHECK(type.optional == k.optional);
    CHECK(type.required == k.required);
    CHECK(type.words.size() == (k.kind == ParamKind::enumeration ? 3 : 0));
  }
  CHECK(table.fields[table.find("mode").value()].type->words[2] == "default");
  CHECK(name_of(ParamKind::enumeration) == "enumeration");
  CHECK(name_of(ParamKind::dtype) == "dtype");
  struct Choice {
    std::optional<Mode> mode = {};
    Required<std::optional<Mode>> other = {};
  };
  for (const detail::Field& field : detail::param_table<Choice>.fields) {
    CHECK(field.type->kind == ParamKind::enumeration);
    CHECK(field.type->optional);
    CHECK(field.type->words.size() == 3);
  }
  CHECK(table.range(table.find("rate").value())->high == 1);
  CHECK(table.range(table.find("flag").value()) == nullptr);
}

namespace {
struct Renamed {
  float scalar = 1;
  std::optional<int> axis = {};
  static constexpr strop::ParamAlias param_aliases[] = {{"sigma", "scalar"}};
  static constexpr strop::ParamUpgrade upgrades[] = {{"axis", "-1", "None", 905}, {"scalar", "0", "1", 1100}};
};
}  // namespace

TEST_CASE("a parameter is set by its aliases, and what older files say of it is brought up to date") {
  const detail::ParamTable& renamed = detail::param_table<Renamed>;
  Renamed r;
  detail::set_param("renamed", renamed, &r, "sigma", "3");
  CHECK(r.scalar == 3);
  CHECK(sentence([&] { detail::set_param("renamed", renamed, &r, "sigma", "x"); }) ==
        "renamed: parameter 'sigma' is 'x', expected a float");
  CHECK(detail::upgraded(renamed, "axis", "-1", 904) == "None");
  CHECK(detail::upgraded(renamed, "axis", "-1", 905) == "-1");
  CHECK(detail::upgraded(renamed, "axis", "0", 800) == "0");
  CHECK(detail::upgraded(renamed, "sigma", "0", 10900) == "0");
  CHECK(detail::upgraded(renamed, "sigma", "0", 1000) == "1");
  CHECK(detail::upgraded(renamed, "other", "-1", 800) == "-1");
}
