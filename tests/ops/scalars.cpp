// SPDX-License-Identifier: Apache-2.0
// Numbers that a program writes beside arrays of integers: whole ones keep all their digits, what a type cannot hold is
// its nearest number.
#include <cstdint>
#include <limits>
#include "value_rows.hpp"

using namespace ops_test;

namespace {

constexpr std::int64_t big = (std::int64_t{1} << 53) + 1;  // which no double is
constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();

using Whole = std::vector<std::int64_t>;

NDArray whole(const Whole& values, Dtype type = strop::i64) { return strop::array(values).to(type); }
Whole of(const NDArray& a) { return a.to_vector<std::int64_t>(); }
/// An operator by name, its number as text.
Whole named(std::string_view op, const NDArray& x, std::string_view scalar) {
  return of(strop::invoke(op, {x}, {{"scalar", scalar}}));
}

}  // namespace

TEST_CASE("whole numbers beyond 2^53 keep their digits on int64 arrays") {
  const NDArray x = whole({big - 1, big, big + 1, -big});
  CHECK(of(x == big) == Whole{0, 1, 0, 0});
  CHECK(of(x != big) == Whole{1, 0, 1, 1});
  CHECK(of(x < big) == Whole{1, 0, 0, 1});
  CHECK(of(x <= big) == Whole{1, 1, 0, 1});
  CHECK(of(x > big) == Whole{0, 0, 1, 0});
  CHECK(of(big >= x) == Whole{1, 1, 0, 1});
  CHECK(of(x + big) == Whole{2 * big - 1, 2 * big, 2 * big + 1, 0});
  CHECK(of(x - big) == Whole{-1, 0, 1, -2 * big});
  CHECK(of(big - x) == Whole{1, 0, -1, 2 * big});
  CHECK(of(whole({1, -3}) * big) == Whole{big, -3 * big});
  CHECK(of(x / big) == Whole{0, 1, 1, -1});
  CHECK(of(big / x) == Whole{1, 1, 0, -1});
  CHECK(of(x % big) == Whole{big - 1, 0, 1, 0});
  CHECK(of(big % x) == Whole{1, 0, big, 0});
  CHECK(of(strop::maximum(x, big)) == Whole{big, big, big + 1, big});
  CHECK(of(strop::minimum(x, big)) == Whole{big - 1, big, big, -big});
  CHECK(of(strop::clip(x, {.a_min = -big + 1, .a_max = big})) == Whole{big - 1, big, big, -big + 1});
  CHECK(of(strop::full({2}, big, strop::i64)) == Whole{big, big});
  CHECK(of(strop::invoke("_full", {}, {{"shape", "2"}, {"dtype", "int64"}, {"value", "9007199254740993"}})) ==
        Whole{big, big});
  CHECK(of(strop::one_hot(strop::array({1}), {.depth = 2, .on_value = big, .off_value = -big, .dtype = strop::i64})) ==
        Whole{-big, big});
  CHECK(of(strop::pad(whole({1, 2}).reshape({1, 1, 1, 2}),
                      {.mode = strop::Pad::constant, .pad_width = {0, 0, 0, 0, 0, 0, 1, 0}, .constant_value = big})) ==
        Whole{big, 1, 2});
  CHECK(of(strop::slice_assign_scalar(whole({1, 2}), {.scalar = big, .begin = {1}, .end = {2}})) == Whole{1, big});
  CHECK(of(strop::sequence_mask(whole({1, 2}).reshape({2, 1}), strop::array({1}),
                                {.use_sequence_length = true, .value = big})) == Whole{1, big});
  const NDArray c = whole({0, 5}).reshape({1, 2}).to(strop::csr);
  CHECK(of(strop::scatter_plus_scalar(c, {.scalar = big})) == Whole{0, big + 5});
  NDArray y = whole({1});
  y += big;
  CHECK(of(y) == Whole{big + 1});
}

TEST_CASE("the same by name, and in a graph that is written and read") {
  const NDArray x = whole({big - 1, big, big + 1});
  CHECK(named("_equal_scalar", x, "9007199254740993") == Whole{0, 1, 0});
  CHECK(named("_minus_scalar", x, "9007199254740993") == Whole{-1, 0, 1});
  CHECK(named("_plus_scalar", x, "-9223372036854775808") == Whole{least + big - 1, least + big, least + big + 1});
  CHECK(named("_plus_scalar", whole({1}), "2.9") == Whole{3});
  const strop::Symbol net = strop::var("x") - big;
  CHECK(net.to_json().find("\"scalar\": \"9007199254740993\"") != std::string::npos);
  const strop::Symbol read = strop::Symbol::from_json(net.to_json());
  auto run = read.bind(strop::cpu(), {{"x", x}});
  CHECK(of(run.forward()[0]) == Whole{-1, 0, 1});
  // Constants that are folded are no doubles either.
  const strop::Symbol folded =
      strop::full_op(std::span<const strop::Symbol>(), {.shape = {3}, .dtype = strop::i64, .value = big}) -
      strop::var("x");
  auto constant = folded.bind(strop::cpu(), {{"x", x}});
  CHECK(of(constant.forward()[0]) == Whole{1, 0, -1});
}

TEST_CASE("whole zero as text is whole, so that a range of whole numbers keeps its digits") {
  const NDArray y = strop::invoke(
      "_arange", {}, {{"start", "0"}, {"stop", "27021597764222979"}, {"step", "9007199254740993"}, {"dtype", "int64"}});
  CHECK(of(y) == Whole{0, big, 2 * big});
}

TEST_CASE("powers of integers become the nearest integer, the square as any other") {
  const NDArray x = whole({4000000000, -4000000000, 3});
  CHECK(of(strop::power(x, 2)) == Whole{most, most, 9});
  CHECK(of(strop::power(x, 3)) == Whole{most, least, 27});
}

TEST_CASE("numbers outside a type: the nearest of the type where one is chosen") {
  const NDArray small = whole({1, 200}, strop::u8), i8s = whole({-100, 100}, strop::i8),
                ints = whole({-5, 5}, strop::i32);
  constexpr double infinity = std::numeric_limits<double>::infinity();
  CHECK(of(strop::maximum(small, 300)) == Whole{255, 255});
  CHECK(of(strop::minimum(small, -1)) == Whole{0, 0});
  CHECK(of(strop::minimum(small, 300)) == Whole{1, 200});
  CHECK(of(strop::maximum(ints, infinity)) == Whole{INT32_MAX, INT32_MAX});
  CHECK(of(strop::minimum(ints, -infinity)) == Whole{INT32_MIN, INT32_MIN});
  CHECK(of(strop::maximum(whole({1}), infinity)) == Whole{most});
  CHECK(of(strop::maximum(whole({1}), 1e19)) == Whole{most});
  CHECK(of(strop::minimum(whole({1}), -1e19)) == Whole{least});
  CHECK(of(strop::clip(ints, {.a_min = 2147483692, .a_max = 1e12})) == Whole{INT32_MAX, INT32_MAX});
  CHECK(of(strop::clip(i8s, {.a_min = -1000, .a_max = 50})) == Whole{-100, 50});
  CHECK(of(strop::invoke("_maximum_scalar", {i8s}, {{"scalar", "1000"}})) == Whole{127, 127});
  CHECK(of(i8s % 300) == Whole{127, 100});  // 200, 100
  CHECK(of(300 / small) == Whole{255, 1});
  // Sums, differences and products wrap, as those of arrays do.
  CHECK(of(small + 300) == Whole{45, 244});
  CHECK(of(small * -1) == Whole{255, 56});
  // Comparisons know what no element is.
  CHECK(of(small == 256 + 200) == Whole{0, 0});
  CHECK(of(small < 300) == Whole{1, 1});
  CHECK(of(small > -1) == Whole{1, 1});
  CHECK(of(whole({most}) == 1e19) == Whole{0});
  CHECK(of(whole({most}) < infinity) == Whole{1});
  CHECK(of(whole({least}) > -1e300) == Whole{1});
  const double nan = std::numeric_limits<double>::quiet_NaN();
  CHECK(of(ints == nan) == Whole{0, 0});
  CHECK(of(ints != nan) == Whole{1, 1});
  CHECK(of(whole({0}) >= nan) == Whole{0});
}

TEST_CASE("every number that a program writes becomes an element in one way") {
  for (const Dtype type : {strop::u8, strop::i8, strop::i32, strop::i64, strop::boolean}) {
    for (const double number : {300.0, -300.0, 1e12, -1e12, 0.0, 1.0}) {
      const auto same = static_cast<std::int64_t>(number);
      const Whole wanted = of(strop::full({1}, number, type));
      CHECK_MESSAGE(of(strop::full({1}, same, type)) == wanted, name_of(type), " of ", number);
      CHECK(of(strop::scalar(same, type)) == wanted);
      CHECK(of(strop::arange(same, same + 1, 1, type)) == wanted);
      CHECK(of(strop::arange(number, number + 1, 1, type)) == wanted);
      const std::string text = cat(same);
      CHECK(of(strop::invoke("_full", {}, {{"shape", "1"}, {"dtype", name_of(type)}, {"value", text}})) == wanted);
      if (type != strop::boolean) {
        const NDArray zero = strop::zeros({1}, type);
        const NDArray chosen = number > 0 ? strop::maximum(zero, same) : strop::minimum(zero, same);
        CHECK_MESSAGE(of(chosen) == wanted, name_of(type), " of ", number);
      }
    }
  }
  CHECK(of(strop::full({1}, 300, strop::i8)) == Whole{127});
  CHECK(of(strop::full({1}, 300.0, strop::i8)) == Whole{127});
  CHECK(of(strop::array<std::int8_t>({300, -300})) == Whole{127, -128});
  CHECK(of(strop::full({1}, std::uint64_t{1} << 63, strop::i64)) == Whole{most});
  CHECK(of(strop::full({1}, 2, strop::boolean)) == Whole{1});
  CHECK(of(strop::full({1}, 0.5, strop::boolean)) == Whole{1});
  // A cast between integers keeps the low bits, one from floating types gives the nearest number.
  CHECK(of(whole({300, -1}, strop::i32).to(strop::u8)) == Whole{44, 255});
  CHECK(of(strop::array({300, -1}).to(strop::u8)) == Whole{255, 0});
}

TEST_CASE("ranges of whole numbers") {
  CHECK(of(strop::arange(big, big + 3, 1, strop::i64)) == Whole{big, big + 1, big + 2});
  CHECK(of(strop::arange(big, big - 4, -2, strop::i64)) == Whole{big, big - 2});
  CHECK(of(strop::arange(most - 1, most, 1, strop::i64)) == Whole{most - 1});
  CHECK(of(strop::arange(least, most, most, strop::i64)) == Whole{least, -1, most - 1});
  CHECK(strop::arange(5, 0).size() == 0);
  CHECK(of(strop::arange_op({.start = big, .stop = big + 2, .repeat = 2, .dtype = strop::i64})) ==
        Whole{big, big, big + 1, big + 1});
  CHECK(of(strop::arange_like(whole({0, 0}), {.start = big, .step = 2})) == Whole{big, big + 2});
  CHECK(of(strop::linspace_op({.start = big, .stop = big + 2, .num = 2, .dtype = strop::i64})) == Whole{big, big + 2});
  CHECK(error_of([] { strop::arange(0, 1, 0); }) == "strop: arange(0, 1, 0) has no end");
  CHECK(error_of([] { strop::arange(least, most, 1, strop::i64); }).ends_with(" has no end"));
}

TEST_CASE("clip in float64 takes its bounds in float64") {
  CHECK(strop::clip(strop::array<double>({0.2}), {.a_min = 0, .a_max = 0.1}).item<double>() == 0.1);
}
