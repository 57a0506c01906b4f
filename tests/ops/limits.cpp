// SPDX-License-Identifier: Apache-2.0
/// \file
/// Parameters and extents at the end of their range: a sentence, and neither a wrong shape nor a write outside.
#include <strop/ops/init.hpp>
#include <strop/ops/softmax_output.hpp>
#include <strop/strop.hpp>
#include <unit/sentence.hpp>

#include <doctest/doctest.h>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

using namespace strop;
using testing::sentence;

namespace {

constexpr std::string_view two_to_62 = "4611686018427387904", largest = "9223372036854775807",
                           smallest = "-9223372036854775808";

std::string said(std::string_view op, std::initializer_list<NDArray> in, Attributes params) {
  return sentence([&] { invoke(op, in, params).wait(); });
}

}  // namespace

TEST_CASE("products and sums of extents that 64 bits do not hold are refused") {
  const NDArray four = array({1, 2, 3, 4}), none = zeros({0, 1, 1, 1});
  CHECK(said("tile", {four}, {{"reps", cat('(', two_to_62, ",)")}}) ==
        "tile: 4 times 4611686018427387904 is more than 64 bits can count");
  CHECK(said("tile", {four}, {{"reps", cat("(4, ", std::int64_t{1} << 60, ")")}}).find("64 bits") != std::string::npos);
  CHECK(said("Pad", {none},
             {{"mode", "constant"}, {"pad_width", cat("(0, 0, 0, 0, 0, 0, ", largest, ", ", largest, ")")}})
            .find("plus") != std::string::npos);
  CHECK(said("Pad", {zeros({1})}, {{"mode", "edge"}, {"pad_width", cat('(', largest, ", 0)")}}) ==
        "pad: 1 plus 9223372036854775807 is more than 64 bits can count");
  CHECK(said("_arange", {}, {{"start", "4e15"}, {"repeat", "2147483647"}}) ==
        "_arange: 4000000000000000 times 2147483647 is more than 64 bits can count");
  CHECK(said("repeat", {zeros({0, 1}).reshape({0, 1})}, {{"repeats", "2147483647"}}) == "");
  const NDArray wide = zeros({0, std::int64_t{1} << 40});
  CHECK(said("repeat", {wide}, {{"repeats", "2147483647"}, {"axis", "1"}}) ==
        "repeat: 1099511627776 times 2147483647 is more than 64 bits can count");
  CHECK(said("Concat", {zeros({0, std::int64_t{1} << 59}), zeros({0, std::int64_t{1} << 59})}, {{"dim", "1"}}) == "");
  const NDArray half = zeros({0, std::int64_t{1} << 62}, u8);
  CHECK(said("Concat", {half, half}, {{"dim", "1"}}) ==
        "concat: 4611686018427387904 plus 4611686018427387904 is more than 64 bits can count");
  CHECK(said("space_to_depth", {zeros({1, 1 << 10, 0, 0})}, {{"block_size", "2147483647"}})
            .find("more than 64 bits can count") != std::string::npos);
  CHECK(said("depth_to_space", {zeros({1, 0, std::int64_t{1} << 40, 1})}, {{"block_size", "2147483647"}})
            .find("more than 64 bits can count") != std::string::npos);
}

TEST_CASE("steps, diagonals and positions far outside do no arithmetic that overflows") {
  const NDArray m = array({{1, 2, 3}, {4, 5, 6}});
  CHECK(invoke("slice", {m}, {{"begin", "(0, 0)"}, {"end", "(2, 3)"}, {"step", cat('(', largest, ", 1)")}})
            .to_vector<int>() == std::vector<int>{1, 2, 3});
  CHECK(invoke("slice", {m}, {{"begin", "(1, 2)"}, {"end", "(None, None)"}, {"step", cat("(1, ", smallest, ")")}})
            .to_vector<int>() == std::vector<int>{6});
  for (const std::string_view k : {largest, smallest, std::string_view("3"), std::string_view("-2")})
    CHECK(sum(invoke("_eye", {}, {{"N", "2"}, {"M", "3"}, {"k", k}})).item<int>() == 0);
  CHECK(invoke("_eye", {}, {{"N", "2"}, {"M", "3"}, {"k", "2"}}).to_vector<int>() ==
        std::vector<int>{0, 0, 1, 0, 0, 0});
  CHECK(invoke("_eye", {}, {{"N", "2"}, {"M", "3"}, {"k", "-1"}}).to_vector<int>() ==
        std::vector<int>{0, 0, 0, 1, 0, 0});
  CHECK(said("diag", {m}, {{"k", "2147483647"}}).find("has no diagonal 2147483647") != std::string::npos);
  CHECK(said("diag", {m}, {{"k", "-2147483648"}}).find("has no diagonal -2147483648") != std::string::npos);
  const NDArray far =
      invoke("take", {array({7, 8, 9}), array<std::int64_t>({INT64_MIN, INT64_MAX})}, {{"mode", "wrap"}});
  CHECK(far.to_vector<int>() == std::vector<int>{8, 8});  // -2^63 is 1 modulo 3, 2^63 - 1 is 1 as well
}

TEST_CASE("positions of arrays whose shapes are none") {
  const NDArray at = array<std::int64_t>({5, 7});
  for (const char* const shape : {"(2, -1)", "(2, 0, 3)", "(1, -9223372036854775808)"})
    CHECK(said("_unravel_index", {at}, {{"shape", shape}}) ==
          cat("_unravel_index: shape = ", shape, " has no positions"));
  CHECK(invoke("_unravel_index", {at}, {{"shape", "(-1, 3)"}}).to_vector<int>() == std::vector<int>{1, 2, 2, 1});
  const NDArray corner = array<std::int64_t>({{INT64_MAX}, {1}});
  CHECK(said("_ravel_multi_index", {corner}, {{"shape", "(1, 4)"}}) ==
        "_ravel_multi_index: 9223372036854775807 times 4 is more than 64 bits can count");
}

TEST_CASE("sums and products of integers wrap") {
  const NDArray x = array<std::int64_t>({{INT64_MAX, 1}, {INT64_MAX, 2}});
  CHECK(invoke("sum", {x}, {{"axis", "1"}}).to_vector<std::int64_t>() ==
        std::vector<std::int64_t>{INT64_MIN, INT64_MIN + 1});
  CHECK(invoke("prod", {x}, {{"axis", "1"}}).to_vector<std::int64_t>() == std::vector<std::int64_t>{INT64_MAX, -2});
  const NDArray narrow = array<std::int32_t>({INT32_MAX, 1});
  CHECK(invoke("sum", {narrow}, {}).to_vector<std::int32_t>() == std::vector<std::int32_t>{INT32_MIN});
}

TEST_CASE("labels that are no class, however large, change no gradient but their own") {
  for (const double label : {1e300, -1e300, std::numeric_limits<double>::quiet_NaN(), 1e19}) {
    NDArray x = array({{0, 0}, {0, 0}}).to(f64);
    x.attach_grad();
    {
      record scope;
      softmax_output(x, array<double>({label, 1}), {.ignore_label = 1e30F, .use_ignore = true}).backward();
    }
    CHECK(x.grad().to_vector<double>()[2] == 0.5);
    CHECK(x.grad().to_vector<double>()[3] == -0.5);
  }
}

TEST_CASE("arrays without elements have no memory to read or write, which a sanitizer sees") {
  const NDArray rows = zeros({2, 0}), first = array({0});
  CHECK(invoke("_sparse_retain", {rows.to(row_sparse), first}).nnz() == 1);
  CHECK(said("softmax_cross_entropy", {rows, array({0, 0})}, {}) ==
        "softmax_cross_entropy: label 0 of row 0 is no class from 0 to -1");
  CHECK(rows.to(row_sparse).copy().to(dense).shape() == Shape{2, 0});
}
