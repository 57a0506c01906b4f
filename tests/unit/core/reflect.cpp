// SPDX-License-Identifier: Apache-2.0
/// \file
/// What the compiler tells of structs and enumerations: fields, their names and places, names of types.
#include <doctest/doctest.h>
#include <strop/core/params.hpp>
#include <strop/core/reflect.hpp>

#include <optional>
#include <string>
#include <vector>

using namespace strop::detail;

namespace {

struct None {};
struct One {
  int only;
};
struct Mixed {
  float a = 1;
  bool b = false;
  std::optional<int> c;
  strop::Shape shape = {2};
  std::string text_of_many_words;
  std::vector<int> list;
  [[maybe_unused]] static constexpr int not_a_field = 3;
  int member_function() const { return 1; }
};
struct ThirtyTwo {
  int a0, a1, a2, a3, a4, a5, a6, a7, b0, b1, b2, b3, b4, b5, b6, b7;
  int c0, c1, c2, c3, c4, c5, c6, c7, d0, d1, d2, d3, d4, d5, d6, last;
};
template <class T, int N>
struct Templated {
  T first;
};
enum class Scoped : std::uint8_t { zero, one_word, default_ };
enum Unscoped { red, green, blue };
enum class Gap { a = 1, b = 2 };
enum class Single { only };

static_assert(field_count<None> == 0 && field_count<One> == 1 && field_count<Mixed> == 6);
static_assert(field_count<ThirtyTwo> == 32 && field_name<ThirtyTwo, 0> == "a0" && field_name<ThirtyTwo, 31> == "last");
static_assert(field_name<One, 0> == "only" && field_name<Mixed, 3> == "shape");
static_assert(field_name<Mixed, 4> == "text_of_many_words" && field_name<Mixed, 5> == "list");
static_assert(field_name<Templated<std::vector<int>, 3>, 0> == "first");

static_assert(type_name<Mixed> == "Mixed" && type_name<Templated<One, 2>> == "Templated");
static_assert(qualified_name<strop::Shape>.ends_with("Shape") && qualified_name<strop::Shape>.starts_with("strop::"));

static_assert(name_with_arguments("ns::Window<4>") == std::string_view("Window_4"));
static_assert(name_with_arguments("Window<4UL>") == std::string_view("Window_4"));
static_assert(name_with_arguments("a::Pair<float, b::Kind::near>") == std::string_view("Pair_float_near"));
static_assert(name_with_arguments("Shift<-1>") == std::string_view("Shift_minus_1"));
static_assert(name_with_arguments("Of<long int>") == std::string_view("Of_long"));
static_assert(name_with_arguments("Of<long>") == std::string_view("Of_long"));
static_assert(name_with_arguments("Of<long long unsigned int, 3>") == std::string_view("Of_unsigned_long_long_3"));
static_assert(name_with_arguments("Of<unsigned long long, 3>") == std::string_view("Of_unsigned_long_long_3"));
static_assert(name_with_arguments("Of<short unsigned int>") == std::string_view("Of_unsigned_short"));
static_assert(name_with_arguments("Of<unsigned int, unsigned char>") ==
              std::string_view("Of_unsigned_int_unsigned_char"));
static_assert(name_with_arguments("Of<a::B<long int>, int>") == std::string_view("Of_B_long_int"));
static_assert(has_real_argument("Of<1.5e+0>") && has_real_argument("Of<2.>") && has_real_argument("Of<2e+10>"));
static_assert(!has_real_argument("Of<ns::X2e, 4>") && !has_real_argument("Of<a2<-1>, -3>"));
static_assert(name_with_arguments("Deep<std::pair<a::X, b::Y<2> > >") == std::string_view("Deep_pair_X_Y_2"));
static_assert(name_with_arguments("{anonymous}::Of<{anonymous}::Side>") == std::string_view("Of_Side"));
static_assert(name_with_arguments("(anonymous namespace)::Of<(anonymous namespace)::Side>") ==
              std::string_view("Of_Side"));
static_assert(name_with_arguments("Outer<int>::Inner") == std::string_view("Inner"));
static_assert(snake_case("FullyConnected") == std::string_view("fully_connected"));
static_assert(snake_case("LeakyReLU") == std::string_view("leaky_relu"));
static_assert(snake_case("LRN") == std::string_view("lrn"));
static_assert(snake_case("SoftmaxOutput") == std::string_view("softmax_output"));
static_assert(snake_case("CTCLoss") == std::string_view("ctc_loss"));
static_assert(snake_case("already_snake") == std::string_view("already_snake"));
static_assert(snake_case("_Private") == std::string_view("_private"));
static_assert(snake_case("") == std::string_view(""));

static_assert(enumerator_name<Scoped::one_word> == "one_word" && enumerator_name<Scoped::default_> == "default");
static_assert(enumerator_name<blue> == "blue" && enumerator_name<enum_value<Scoped>(3)>.empty());
static_assert(count_enumerators<Scoped>() == 3 && count_enumerators<Unscoped>() == 3);
static_assert(count_enumerators<Single>() == 1);
static_assert(count_enumerators<Gap>() == 0);  // counted from 0 without a gap

}  // namespace

TEST_CASE("a field's address is where the compiler put it") {
  Mixed m;
  CHECK(field_address<0>(m) == &m.a);
  CHECK(field_address<2>(m) == &m.c);
  CHECK(field_address<5>(m) == &m.list);
  *field_address<4>(m) = "set";
  CHECK(m.text_of_many_words == "set");
  ThirtyTwo many{};
  CHECK(field_address<31>(many) == &many.last);
  const Mixed constant;
  CHECK(*field_address<0>(constant) == 1);
}

TEST_CASE("a name longer than its room is cut, not written beside it") {
  const std::string word(200, 'A');
  CHECK(std::string_view(snake_case(word)).size() < sizeof(ShortName::text));
}
