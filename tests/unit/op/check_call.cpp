// SPDX-License-Identifier: Apache-2.0
/// \file
/// check::shape, type and storage at run time say what a call would; the compiler's part is
/// tests/static/check_calls.cpp.
#include <strop/strop.hpp>
#include <unit/sentence.hpp>

#include <doctest/doctest.h>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

using strop::csr, strop::dense, strop::f16, strop::f32, strop::f64, strop::i32, strop::Shape;
using testing::sentence;
namespace check = strop::check;

namespace {

struct Add {
  static constexpr std::string_view name = "check_call_add";
  constexpr auto forward(auto x, auto y) const { return x + y; }
};
constexpr strop::Op<Add> add;
struct AddSame {
  static constexpr std::string_view name = "check_call_same";
  static constexpr bool same_shape = true;
  constexpr auto forward(auto x, auto y) const { return x + y; }
};
constexpr strop::Op<AddSame> add_same;
struct Heads {  // inference that is not constexpr, outputs that follow from a parameter
  static constexpr std::string_view name = "check_call_heads";
  std::int64_t parts = 2;
  int output_count() const { return static_cast<int>(parts); }
  void infer_shape(strop::Shapes& s) const {
    s.expect_rank(0, 1);
    for (int k = 0; k < s.outputs(); ++k) s.set_out(k, Shape{s.in(0)[0] / parts});
  }
  template <strop::Real E>
  void forward(strop::Cpu&, strop::View<const E> x, std::span<const strop::View<E>> out) const {
    for (const strop::View<E>& y : out)
      for (std::int64_t i = 0; i < y.size(); ++i) y[i] = x[0];
  }
};
constexpr strop::Op<Heads> heads;

}  // namespace

TEST_CASE("check::shape and type refuse what a call refuses, with its sentence") {
  const auto x = strop::zeros({2, 3}), y = strop::zeros({2});
  CHECK(sentence([&] { (void)add(x, y); }) == sentence([] { check::shape(Add{}, Shape{2, 3}, Shape{2}); }));
  CHECK(sentence([] { check::shape(Add{}, Shape{2, 3}, Shape{2}); }) ==
        "check_call_add: input 'rhs' has shape (2,), which does not broadcast with (2, 3)");
  CHECK_FALSE(sentence([] { check::shape(AddSame{}, Shape{2, 3}, Shape{3}); }).empty());
  CHECK_FALSE(sentence([&] { (void)add_same(x, strop::zeros({3})); }).empty());
  const auto whole = strop::zeros({2}, i32);
  CHECK(sentence([&] { (void)add(whole, whole); }) == sentence([] { check::type(Add{}, i32, i32); }));
  CHECK(sentence([] { check::type(Add{}, f32, f64); }) ==
        "check_call_add: input 'rhs' is float64, expected float32 like input 'lhs'; convert one of them with cast");
  CHECK(sentence([&] { (void)add(x, strop::zeros({2, 3}, f64)); }) == sentence([] { check::type(Add{}, f32, f64); }));
}

TEST_CASE("check::shape, type and storage of a call whose inference is no constant are its results") {
  const Heads three{3};
  const auto shapes = check::shape(three, Shape{12});
  const auto types = check::type(three, f16);
  const auto storages = check::storage(three, csr);
  REQUIRE(shapes.size() == 3);
  const auto y = strop::invoke_all("check_call_heads", {strop::zeros({12}, f16)}, {{"parts", "3"}});
  for (std::size_t k = 0; k < 3; ++k) {
    CHECK(shapes[k] == y[k].shape());
    CHECK(types[k] == y[k].dtype());
    CHECK(storages[k] == dense);
  }
  CHECK_FALSE(sentence([&] { check::shape(three, Shape{12, 2}); }).empty());
  static_cast<void>(heads);
}

TEST_CASE("check::shape takes the library's operators") {
  CHECK(check::shape(strop::FullyConnected{.num_hidden = 5}, Shape{2, 3}, Shape{5, 3}, Shape{5}) == Shape{2, 5});
  CHECK(check::type(strop::FullyConnected{.num_hidden = 5}, f64, f64, f64) == f64);
  CHECK(check::keeps(strop::FullyConnected{.num_hidden = 5}) == strop::Keeps::in);
}
