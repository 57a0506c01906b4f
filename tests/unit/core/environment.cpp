// SPDX-License-Identifier: Apache-2.0
/// \file
/// Variables of the environment, and text from outside as sentences show it.
#include <doctest/doctest.h>
#include <strop/core/environment.hpp>
#include <strop/core/printable.hpp>
#include <unit/sentence.hpp>

#include <cstdlib>
#include <string>

using namespace strop;
using testing::sentence;

namespace {

/// A variable that is set while the object lives.
struct Set {
  std::string name;
  Set(const char* variable, const char* value) : name(variable) { ::setenv(variable, value, 1); }
  Set(const Set&) = delete;
  Set& operator=(const Set&) = delete;
  ~Set() { ::unsetenv(name.c_str()); }
};

}  // namespace

TEST_CASE("a variable of ours goes before MXNet's, one that is empty is not set, a wrong value is an error") {
  const auto count = [] { return detail::environment_count({"STROP_TEST_COUNT", "MXNET_TEST_COUNT"}, 100); };
  CHECK(count() == 0);
  const Set old_name("MXNET_TEST_COUNT", "7");
  CHECK(count() == 7);
  {
    const Set new_name("STROP_TEST_COUNT", "");
    CHECK(count() == 7);
  }
  {
    const Set new_name("STROP_TEST_COUNT", "101");
    CHECK(count() == 100);
  }
  for (const char* const wrong : {"0", "-1", "none", "1.5", "3,2", "0x10"}) {
    const Set new_name("STROP_TEST_COUNT", wrong);
    CHECK(sentence(count) == cat("STROP_TEST_COUNT: expected a whole number of 1 or more, got '", wrong, "'"));
  }
  const auto flag = [](bool standard) { return detail::environment_flag({"STROP_TEST_FLAG"}, standard); };
  CHECK(flag(true));
  CHECK_FALSE(flag(false));
  {
    const Set off("STROP_TEST_FLAG", "0");
    CHECK_FALSE(flag(true));
  }
  const Set maybe("STROP_TEST_FLAG", "maybe");
  CHECK(sentence([&] { flag(true); }) == "STROP_TEST_FLAG: expected 0 or 1, got 'maybe'");
}

TEST_CASE("STROP_ISA names a level") {
  const char* const before = std::getenv("STROP_ISA");
  const std::string kept = before != nullptr ? before : "";
  ::setenv("STROP_ISA", "x86-64-v9", 1);
  CHECK(sentence([] { detail::check_environment(); }) ==
        "STROP_ISA: expected scalar, x86-64, x86-64-v2, x86-64-v3 or x86-64-v4, got 'x86-64-v9'");
  ::setenv("STROP_ISA", "x86-64-v3", 1);
  CHECK_NOTHROW(detail::check_environment());
  before != nullptr ? ::setenv("STROP_ISA", kept.c_str(), 1) : ::unsetenv("STROP_ISA");
  CHECK_NOTHROW(detail::check_environment());
}

TEST_CASE("a wrong value of any variable is the same sentence, whatever is asked first") {
  const auto any = [] { detail::environment_count({"STROP_TEST_COUNT"}, 100); };
  const auto says = [&](const char* variable, const char* value, std::string_view expected) {
    const Set wrong(variable, value);
    CHECK(sentence(any) == cat(variable, ": expected ", expected, ", got '", value, "'"));
    CHECK(sentence([] { detail::environment_flag({"STROP_TEST_FLAG"}, true); }) == sentence(any));
    CHECK(sentence([] { detail::environment_word({"STROP_ENGINE_TYPE"}); }) == sentence(any));
    CHECK(sentence([] { detail::check_environment(); }) == sentence(any));
  };
  for (const detail::Known& variable : detail::known_variables) {
    if (variable.name == "STROP_ISA") continue;  // which the tests may be run with
    says(std::string(variable.name).c_str(), "purple", variable.expected);
    if (!variable.old_name.empty()) says(std::string(variable.old_name).c_str(), "purple", variable.expected);
    if (variable.kind == detail::Known::count)
      says(std::string(variable.name).c_str(), "0", "a whole number of 1 or more");
    for (const std::string_view word : variable.words) {
      const Set right(std::string(variable.name).c_str(), std::string(word).c_str());
      CHECK_NOTHROW(any());
    }
  }
  CHECK_NOTHROW(any());
}

TEST_CASE("texts of a sentence are cut, and their control characters are written out") {
  CHECK(sentence([] { fail("op: no parameter '", "a\x1b[2Jb\n", "'"); }) == "op: no parameter 'a\\x1b[2Jb\\x0a'");
  CHECK(sentence([] {
          fail("of '",
               "\xc2\x9b"
               "1m",
               "' and 'ä€'");
        }) == "of '\\xc2\\x9b1m' and 'ä€'");
  const std::string longer = sentence([] { fail("no '", std::string(100'000, 'x'), "'; nearest: exp"); });
  CHECK(longer.size() < 1000);
  CHECK(longer.ends_with("xxx...'; nearest: exp"));
  CHECK(detail::printable("aäää", 4) == "aä...");  // characters stay whole
  CHECK(detail::printable("abcd", 4) == "abcd");
}
