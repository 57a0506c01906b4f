// SPDX-License-Identifier: Apache-2.0
/// \file
/// Operators found by name: the program's own before the library's, `strop.` for the library's, and two that share a
/// name.
#include <strop/ops/elementwise/hyperbolic.hpp>
#include <strop/strop.hpp>
#include <unit/sentence.hpp>

#include <doctest/doctest.h>

using strop::array, strop::invoke, strop::Op;
using testing::sentence;

/// Another struct of this name stands in registry_other.cpp, and no linker knows.
namespace registry_test {
struct Faced {
  static constexpr std::string_view aliases[] = {"faced_here"};
  float a = 1;
  constexpr auto forward(auto x) const { return a * x; }
};
inline constexpr Op<Faced> faced;
}  // namespace registry_test

namespace {

enum class Side { near, far };
/// Operators of templates.
template <int N>
struct RegistryTimes {
  constexpr auto forward(auto x) const { return N * x; }
};
constexpr Op<RegistryTimes<4>> times4;
constexpr Op<RegistryTimes<-5>> times5;
template <class, Side>
struct RegistryLone {
  constexpr auto forward(auto x) const { return x + 7; }
};
constexpr Op<RegistryLone<float, Side::far>> lone;
template <class T>
struct Around {
  struct RegistryWithin {
    constexpr auto forward(auto x) const { return x + 8; }
  };
};
constexpr Op<Around<int>::RegistryWithin> within;

/// Not what the library calls tanh.
struct OwnTanh {
  static constexpr std::string_view name = "tanh";
  constexpr auto forward(auto x) const { return x + 100; }
};
constexpr Op<OwnTanh> own_tanh;

namespace first {
struct Shared {
  static constexpr std::string_view name = "registry_shared";
  constexpr auto forward(auto x) const { return x + 1; }
};
[[maybe_unused]] constexpr Op<Shared> shared;
}  // namespace first
namespace second {
struct Shared {
  static constexpr std::string_view name = "registry_shared";
  static constexpr std::string_view aliases[] = {"registry_second"};
  constexpr auto forward(auto x) const { return x + 2; }
};
[[maybe_unused]] constexpr Op<Shared> shared;
}  // namespace second

struct RegistryPlain {
  constexpr auto forward(auto x) const { return x + 3; }
};
[[maybe_unused]] constexpr Op<RegistryPlain> plain;

/// Its alias is what follows from the name of another.
struct Other {
  static constexpr std::string_view name = "registry_plain";
  constexpr auto forward(auto x) const { return x + 4; }
};
[[maybe_unused]] constexpr Op<Other> other;

struct RegistryScaled {
  float by = 1;
  static constexpr strop::ParamAlias param_aliases[] = {{"factor", "by"}};
  constexpr auto forward(auto x) const { return x * by; }
};
[[maybe_unused]] constexpr Op<RegistryScaled> scaled;

/// Another struct of this name stands in registry_other.cpp.
struct RegistryTwice {
  static constexpr std::string_view aliases[] = {"registry_twice_here"};
  constexpr auto forward(auto x) const { return x + 10; }
};
constexpr Op<RegistryTwice> twice;

/// Taken out of look-up by a test.
struct RegistryWithdrawn {
  constexpr auto forward(auto x) const { return x + 5; }
};
constexpr Op<RegistryWithdrawn> withdrawn;

float run(std::string_view name) { return invoke(name, {array({0})}).item<float>(); }

}  // namespace

TEST_CASE("the program's own operator is found first, the library's stays reachable as strop.<name>") {
  CHECK(strop::tanh(array({0})).item<float>() == 0);  // which names it, and so registers it
  CHECK(run("tanh") == 100);
  CHECK(run("strop.tanh") == 0);
  CHECK(own_tanh(array({0})).item<float>() == 100);
  CHECK(run("strop._sparse_tanh") == 0);
}

TEST_CASE("`strop.` finds nothing of the program") {
  CHECK(sentence([] {
          run("strop.registry_second");
        }).starts_with("strop: no operator 'strop.registry_second' in this program; nearest: "));
}

TEST_CASE("two operators of the program under one name are reported when that name is looked up") {
  const std::string told = sentence([] { run("registry_shared"); });
  CHECK(told.starts_with("strop: two operators are called 'registry_shared': "));
  CHECK(told.find("first::Shared") != std::string::npos);
  CHECK(told.find("second::Shared") != std::string::npos);
  CHECK(run("registry_second") == 2);  // by another name one of them is found
  CHECK(first::shared(array({0})).item<float>() == 1);
}

TEST_CASE("types of one printed name in two files are two operators, named with their files") {
  CHECK(run("registry_twice_here") == 10);
  CHECK(run("registry_twice_of_another_file") == 20);
  CHECK(twice(array({0})).item<float>() == 10);
  const std::string told = sentence([] { run("registry_twice"); });
  CAPTURE(told);
  CHECK(told.starts_with("strop: two operators are called 'registry_twice': "));
  CHECK(told.find("RegistryTwice in registry.cpp") != std::string::npos);
  CHECK(told.find("RegistryTwice in registry_other.cpp") != std::string::npos);
  CHECK(first::shared.entry().file == "registry.cpp");
}

TEST_CASE("two structs of one name in two files, with other parameters, are refused") {
  for (const std::string& told :
       {sentence([] { run("faced"); }), sentence([] { run("Faced"); }), sentence([] { run("faced_here"); }),
        sentence([] { run("faced_there"); }), sentence([] { (void)registry_test::faced(array({1})); })}) {
    CAPTURE(told);
    CHECK(told.starts_with("strop: two structs are called Faced, and the linker takes them for one: {"));
    CHECK(told.find("{float a} of 4 bytes in registry.cpp") != std::string::npos);
    CHECK(told.find("{int a, int b} of 8 bytes in registry_other.cpp") != std::string::npos);
    CHECK(told.ends_with("; give one another name, or a namespace of its own"));
  }
  for (const strop::Entry* e : strop::detail::all_operators()) CHECK(e->name != "Faced");
}

TEST_CASE("operators of a template have names that tell them apart") {
  CHECK(run("registry_times_4") == 0);
  CHECK(invoke("RegistryTimes_4", {array({1})}).item<float>() == 4);
  CHECK(invoke("registry_times_minus_5", {array({1})}).item<float>() == -5);
  CHECK(times4(array({1})).item<float>() == 4);
  CHECK(times5(array({1})).item<float>() == -5);
  CHECK(run("registry_lone_float_far") == 7);
  CHECK(run("registry_lone") == 7);  // no other is of that template
  CHECK(lone(array({0})).item<float>() == 7);
  CHECK(run("registry_within") == 8);
  CHECK(within(array({0})).item<float>() == 8);
  const std::string told = sentence([] { run("registry_times"); });
  CAPTURE(told);
  CHECK(told.starts_with("strop: two operators are called 'registry_times': "));
  CHECK(told.find("RegistryTimes<4>") != std::string::npos);
  CHECK(told.find("RegistryTimes<-5>") != std::string::npos);
  const strop::Symbol net = times5(times4(strop::var("x")));
  const std::string text = net.to_json();
  CHECK(text.find("\"op\": \"RegistryTimes_4\"") != std::string::npos);
  CHECK(text.find("\"op\": \"RegistryTimes_minus_5\"") != std::string::npos);
  auto bound = strop::Symbol::from_json(text).bind(strop::cpu(), {{"x", array({2})}});
  CHECK(bound.forward()[0].item<float>() == -40);
}

TEST_CASE("an operator that is taken back is found no more, and calls that hold it go on") {
  const strop::Entry& entry = withdrawn.entry();
  auto& slot = strop::detail::slot<RegistryWithdrawn>;
  CHECK(run("registry_withdrawn") == 5);
  strop::detail::withdraw(slot);
  CHECK(sentence([] { run("registry_withdrawn"); }).starts_with("strop: no operator 'registry_withdrawn'"));
  for (const strop::Entry* e : strop::detail::all_operators()) CHECK(e != &entry);
  CHECK(withdrawn(array({0})).item<float>() == 5);
  strop::detail::restore(slot, entry);
  CHECK(run("registry_withdrawn") == 5);
}

TEST_CASE("a name that is stated goes before one that follows from the struct's") {
  CHECK(run("RegistryPlain") == 3);
  CHECK(run("registry_plain") == 4);
}

TEST_CASE("a name that nobody has lists the nearest") {
  const std::string told = sentence([] { run("registry_secund"); });
  CHECK(told.starts_with("strop: no operator 'registry_secund' in this program; nearest: "));
  CHECK(
      told.ends_with("Operators of the library join when they are called, or all together with #include "
                     "<strop/ops/all.hpp>"));
}

TEST_CASE("a parameter that is given twice is refused") {
  CHECK(sentence([] { (void)invoke("registry_scaled", {array({0})}, {{"by", "1"}, {"by", "2"}}); }) ==
        "registry_scaled: parameter 'by' is given twice, as '1' and as '2'");
  CHECK(sentence([] { (void)invoke("registry_scaled", {array({0})}, {{"factor", "1"}, {"by", "2"}}); }) ==
        "registry_scaled: parameter 'by' is given twice, as '1' and as '2'");
  CHECK(invoke("registry_scaled", {array({2})}, {{"factor", "3"}}).item<float>() == 6);
}
