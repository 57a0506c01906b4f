// SPDX-License-Identifier: Apache-2.0
/// \file
/// The spellings of a call: where results go, lists of inputs that are made at run time, temporary space.
#include <strop/ops/linalg/diagonals.hpp>
#include <strop/ops/linalg/diagonals_body.hpp>
#include <strop/ops/reduce.hpp>
#include <strop/strop.hpp>
#include <unit/sentence.hpp>

#include <doctest/doctest.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

using strop::array, strop::into, strop::add_to, strop::NDArray, strop::Op, strop::zeros;
using testing::sentence;

namespace {

using Values = std::vector<float>;

struct Quadratic {
  static constexpr std::string_view name = "calls_quadratic";
  float a = 0, b = 0, c = 0;
  constexpr auto forward(auto x) const { return (a * x + b) * x + c; }
};
constexpr Op<Quadratic> quadratic;

struct Two {
  static constexpr std::string_view name = "calls_two";
  constexpr auto forward(auto x) const { return std::tuple(x * x, x * 3); }
};
constexpr Op<Two> two;

/// y = x + 3, by way of every kind of temporary space.
void add_three(strop::Cpu& ctx, strop::View<const float, 2> x, strop::View<float, 2> y) {
  const auto of_view = ctx.temp<float>(x.shape());
  const auto of_list = ctx.temp<float>({x.shape()[0], x.shape()[1]});
  const auto of_shape = ctx.temp<float>(strop::Shape{2, 3});
  const auto of_count = ctx.temp<float>(x.size());
  static_assert(of_view.rank == 2 && of_list.rank == 2 && of_shape.rank == strop::any_rank && of_count.rank == 1);
  for (float& z : of_shape) z = 0;
  for (std::int64_t i = 0; i < x.size(); ++i) of_view[i] = x[i];
  for (std::int64_t i = 0; i < x.size(); ++i) of_list[i] = of_view[i];
  for (std::int64_t i = 0; i < x.size(); ++i) of_count[i] = of_list[i];
  for (std::int64_t i = 0; i < x.size(); ++i)
    y[i] = of_count[i] + static_cast<float>(of_shape.shape()[1]) + of_shape[5] + (of_view[i] - of_list[i]);
}
struct Spaces {
  static constexpr std::string_view name = "calls_spaces";
  void forward(strop::Cpu& ctx, strop::View<const float, 2> x, strop::View<float, 2> y) const { add_three(ctx, x, y); }
};
constexpr Op<Spaces> spaces;
/// The same from space that was announced.
struct Reserved {
  static constexpr std::string_view name = "calls_reserved";
  static constexpr strop::Resources resources{.temp_bytes = 4096};
  void forward(strop::Cpu& ctx, strop::View<const float, 2> x, strop::View<float, 2> y) const { add_three(ctx, x, y); }
};
constexpr Op<Reserved> reserved;

}  // namespace

TEST_CASE("results go into a handle, a temporary one, one that is kept for later") {
  const NDArray x = array({1, 2, 3}), m = zeros({2, 3});
  quadratic(x, {.a = 1}, into(m[1]));
  CHECK(m[1].to_vector<float>() == Values{1, 4, 9});
  const auto later = add_to(m[1]);  // outlives the handle
  quadratic(x, {.a = 1}, later);
  CHECK(m[1].to_vector<float>() == Values{2, 8, 18});
  quadratic(x, later);
  CHECK(m[1].to_vector<float>() == Values{2, 8, 18});
}

TEST_CASE("results of several outputs, with and without parameters") {
  const NDArray x = array({1, 2, 3}), a = zeros({3}), b = zeros({3});
  two(x, into({a, b}));
  CHECK(a.to_vector<float>() == Values{1, 4, 9});
  two(x, {}, add_to({a, b}));
  CHECK(b.to_vector<float>() == Values{6, 12, 18});
  CHECK(sentence([&] { quadratic(x, into({a, b})); }) ==
        "calls_quadratic: expected at most 1 array for the results, got 2");
}

TEST_CASE("a result is not lost in a handle without an array") {
  const NDArray x = array({1, 2, 3}), a = zeros({3});
  const NDArray none{}, y{};
  const auto wanted = [](std::string_view op, std::string_view output) {
    return strop::cat(op, ": output '", output,
                      "' is to go into a handle without an array; give it one, such as strop::zeros(shape), or take "
                      "what the call returns");
  };
  CHECK(sentence([&] { quadratic(x, {.a = 1}, into(y)); }) == wanted("calls_quadratic", "output"));
  CHECK(sentence([&] { quadratic(x, into(y)); }) == wanted("calls_quadratic", "output"));
  CHECK(sentence([&] { quadratic(x, add_to(y)); }) == wanted("calls_quadratic", "output"));
  CHECK(sentence([&] { quadratic(x, into(NDArray())); }) == wanted("calls_quadratic", "output"));
  CHECK(sentence([&] { two(x, into({a, none})); }) == wanted("calls_two", "output1"));
  CHECK(sentence([&] { two(x, into({none, a})); }) == wanted("calls_two", "output0"));
  CHECK(sentence([&] { spaces(zeros({2, 3}), into(none)); }) == wanted("calls_spaces", "output"));
  CHECK(sentence([&] { strop::sum(x, into(none)); }) == wanted("sum", "output"));
  {
    const strop::record scope;
    CHECK(sentence([&] { quadratic(x, {.a = 1}, into(y)); }) == wanted("calls_quadratic", "output"));
  }
  quadratic(x, {.a = 1}, into(a));
  CHECK(a.to_vector<float>() == Values{1, 4, 9});
}

TEST_CASE("inputs and parameters that are put together at run time") {
  NDArray x = array({1, 2, 3});
  const std::vector<NDArray> in{x};
  const std::vector<std::pair<std::string_view, std::string_view>> parameters{{"a", "1"}};
  CHECK(strop::invoke("calls_quadratic", in)[2].item<float>() == 0);
  CHECK(strop::invoke("calls_quadratic", in, {{"a", "1"}})[2].item<float>() == 9);
  CHECK(strop::invoke("calls_quadratic", in, parameters)[2].item<float>() == 9);
  CHECK(strop::invoke_all("calls_two", in).size() == 2);
  CHECK(strop::check_gradient(quadratic, in, {.a = 1}));
  x.attach_grad();
  strop::record scope;
  CHECK(strop::grad(quadratic(x, {.a = 1}), in)[0].to_vector<float>() == Values{2, 4, 6});
}

TEST_CASE("temporary space has the rank of what it is asked for") {
  const NDArray x = array({{1, 2, 3}, {4, 5, 6}});
  CHECK(spaces(x).to_vector<float>() == Values{4, 5, 6, 7, 8, 9});
  CHECK(reserved(x).to_vector<float>() == Values{4, 5, 6, 7, 8, 9});
  CHECK(spaces(zeros({0, 3})).shape() == strop::Shape{0, 3});
}

TEST_CASE("STROP_TRACE traces a program whose calls are all small") {
  const std::string file = (std::filesystem::temp_directory_path() / ("calls_" + std::to_string(getpid()))).string();
  const std::string again = "STROP_TRACE=" + file + " /proc/" + std::to_string(getpid()) +
                            "/exe --test-case='results of several outputs*' > /dev/null";
  REQUIRE(std::system(again.c_str()) == 0);
  std::ifstream in(file);
  const std::string text((std::istreambuf_iterator<char>(in)), {});
  std::filesystem::remove(file);
  CHECK(text.find("calls_two") != std::string::npos);
}

// The library's operators are compiled elsewhere, and so are their bodies: a file that calls one itself includes it.
struct SumOfLogs {
  static constexpr std::string_view name = "calls_sum_of_logs";
  static constexpr strop::LinalgSumlogdiag of() { return {}; }
  constexpr void infer_shape(strop::Shapes& s) const { of().infer_shape(s); }
  template <strop::Real E>
  void forward(strop::Cpu& ctx, strop::View<const E> a, strop::View<E> y) const {
    of().forward(ctx, a, y);
  }
};
TEST_CASE("an operator calls the body of one of the library's") {
  constexpr Op<SumOfLogs> logs;
  CHECK(logs(array({{1, 2}, {3, 1}})).item<float>() == 0);
}
