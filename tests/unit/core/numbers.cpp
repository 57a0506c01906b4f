// SPDX-License-Identifier: Apache-2.0
/// \file
/// Lists of real numbers as parameters, from text and back, and what is refused.
#include "../sentence.hpp"

#include <doctest/doctest.h>
#include <strop/core/numbers.hpp>

#include <limits>
#include <optional>
#include <string>
#include <vector>

using testing::sentence;

namespace {

struct Sizes {
  strop::Numbers sizes = {0.1, 0.25};
  std::optional<strop::Numbers> more = {};
  strop::Required<strop::Numbers> needed = {};
};
constexpr const strop::detail::ParamTable& table = strop::detail::param_table<Sizes>;

/// What is printed after the text was parsed.
std::string normal(std::string_view text) {
  Sizes s;
  strop::detail::set_param("boxes", table, &s, "sizes", text);
  return table.print(&s, 0);
}

}  // namespace

TEST_CASE("numbers from text and back") {
  const Sizes s;
  CHECK(table.print(&s, 0) == "(0.1, 0.25)");
  CHECK(table.print(&s, 1) == "None");
  CHECK(table.missing(&s, 2));
  CHECK(normal("0.5") == "(0.5,)");
  CHECK(normal(" 2 ") == "(2,)");
  CHECK(normal("(0.1,)") == "(0.1,)");
  CHECK(normal("[0.1,1e-3 , -2]") == "(0.1, 0.001, -2)");
  CHECK(normal("(inf, -inf)") == "(inf, -inf)");
  CHECK(normal("()") == "()");
  CHECK(normal("[ ]") == "()");
  const double third = 1.0 / 3;
  Sizes other;
  strop::detail::set_param("boxes", table, &other, "more", strop::detail::print_numbers({third}));
  CHECK((*other.more)[0] == third);
}

TEST_CASE("what is no list of numbers is refused") {
  for (const char* const text :
       {"", "a", "(1, None)", "(1, 2", "[1, 2)", "(1,, 2)", "1, 2", "(1 2)", "((1, 2))", "None", "(1e999,)"})
    CHECK_MESSAGE(sentence([&] { normal(text); }) ==
                      std::string("boxes: parameter 'sizes' is '") + text + "', expected numbers as (0.1, 0.2)",
                  text);
}

TEST_CASE("numbers in a program") {
  using strop::Numbers;
  CHECK(Numbers().count() == 0);
  CHECK(Numbers(0.5) == Numbers{0.5});
  CHECK(Numbers{1, 2} == Numbers(std::vector<double>{1, 2}));
  CHECK(Numbers{1, 2} != Numbers{2, 1});
  double total = 0;
  for (const double number : Numbers{1, 2, 4}) total += number;
  CHECK(total == 7);
  CHECK(Sizes{.sizes = 0.5}.sizes.count() == 1);
  CHECK(strop::name_of(strop::ParamKind::numbers) == "numbers");
  CHECK(table.fields[0].type->kind == strop::ParamKind::numbers);
  CHECK(table.fields[1].type->optional);
  CHECK(table.fields[2].type->required);
}
