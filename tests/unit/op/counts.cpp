// SPDX-License-Identifier: Apache-2.0
/// \file
/// What an operator's own members ask for beyond what a call has: refused by a sentence that names the operator.
#include <strop/strop.hpp>
#include <unit/sentence.hpp>

#include <doctest/doctest.h>
#include <string>
#include <string_view>

using namespace strop;
using testing::sentence;

namespace {

/// As many inputs, outputs and visible outputs as it is told.
struct Told {
  int in = 1, out = 1, seen = 1;
  static constexpr std::string_view name = "counts_told", inputs[] = {"data"};
  int input_count() const { return in; }
  int output_count() const { return out; }
  int visible_count() const { return seen; }
  void infer_shape(Shapes& s) const {
    for (int k = 0; k < s.outputs(); ++k) s.set_out(k, s.in(0));
  }
  void infer_type(Types& t) const {
    for (int k = 0; k < t.outputs(); ++k) t.set_out(k, t.in(0));
  }
  void forward(Cpu&, const NDArray& x, std::span<NDArray> y) const {
    for (const NDArray& one : y) detail::convert_elements(x.dtype(), x.bytes(), one.dtype(), one.bytes(), x.size());
  }
};
constexpr Op<Told> told;

/// Its inference asks for what the call does not have.
struct Beyond {
  int place = 0;
  static constexpr std::string_view name = "counts_beyond";
  void infer_shape(Shapes& s) const {
    if (place == 1) static_cast<void>(s.in(7));
    if (place == 2) static_cast<void>(s.out(-1));
    if (place == 3) s.set_in(2, s.in(0));
    if (place == 4) s.set_out(3, s.in(0));
    s.set_out(0, s.in(0));
  }
  void infer_type(Types& t) const {
    if (place == 5) static_cast<void>(t.in(1));
    if (place == 6) static_cast<void>(t.out(1));
    if (place == 7) t.set_in(-2, f32);
    if (place == 8) t.set_out(3, f32);
    if (place == 9) t.expect_in(1, floating);
    t.set_out(0, t.in(0));
  }
  bool infer_storage(Storages& s) const {
    if (place == 10) static_cast<void>(s.in(1));
    if (place == 11) static_cast<void>(s.out(2));
    if (place == 12) static_cast<void>(s.set_out(3, csr));
    return s.set_out(0, dense) && s.in(0) == dense;
  }
  void forward(Cpu&, const NDArray& x, NDArray& y) const {
    detail::convert_elements(x.dtype(), x.bytes(), y.dtype(), y.bytes(), x.size());
  }
};
constexpr Op<Beyond> beyond;

std::string told_by_name(std::string_view key, std::string_view value) {
  return sentence([&] { (void)invoke("counts_told", {array({1})}, {{key, value}}); });
}

}  // namespace

TEST_CASE("numbers of tensors that no call has are refused, not made") {
  CHECK(told({array({3})}, {.out = 2, .seen = 2}).size() == 2);
  for (const char* const key : {"in", "out"}) {
    const std::string member = key == std::string_view("in") ? "input_count()" : "output_count()";
    CHECK(told_by_name(key, "-1") == cat("counts_told: ", member, " is -1, expected a number from 0 to 1048576"));
    CHECK(told_by_name(key, "2147483647").starts_with(cat("counts_told: ", member, " is 2147483647, expected")));
  }
  CHECK(told_by_name("seen", "-1") == "counts_told: visible_count() is -1, expected a number from 0 to 1");
  CHECK(told_by_name("seen", "2") == "counts_told: visible_count() is 2, expected a number from 0 to 1");
  CHECK(sentence([] { (void)told({array({1})}, {.out = -1}); }).starts_with("counts_told: output_count() is -1"));
  CHECK(sentence([] {
          (void)told({array({1})}, {.out = 1, .seen = -3});
        }).starts_with("counts_told: visible_count() is -3"));
}

TEST_CASE("inference that asks for another input or output is refused") {
  const auto says = [](int place) { return sentence([&] { (void)beyond(array({1}), {.place = place}); }); };
  CHECK(says(0) == "");
  const char* const asked[] = {"input 7",  "output -1", "input 2", "output 3", "input 1",  "output 1",
                               "input -2", "output 3",  "input 1", "input 1",  "output 2", "output 3"};
  for (int place = 1; place <= 12; ++place)
    CHECK(says(place) == cat("counts_beyond: inference asks for ", asked[place - 1], " of 1"));
}
