// SPDX-License-Identifier: Apache-2.0
#include <strop/ops/elementwise/compare.hpp>
#include "elementwise_rows.hpp"

using namespace ops_test;

TEST_CASE("comparisons and logic with a number") {
  row_scalar(strop::equal_scalar, 2, {-2.5, -1.25, 0.45, 1.6, 3.25, 2.25}, {0, 0, 0, 0, 0, 0},
             {0, -1.25, 0, 1.5, 2, NaN}, {0, 0, 0, 0, 1, 0});
  row_scalar(strop::equal_scalar, 0, {-2.5, -1.25, 0.45, 1.6, 3.25, 2.25}, {0, 0, 0, 0, 0, 0},
             {0, -1.25, 0, 1.5, 2, NaN}, {1, 0, 1, 0, 0, 0});
  row_scalar(strop::not_equal_scalar, 2, {-2.5, -1.25, 0.45, 1.6, 3.25, 2.25}, {1, 1, 1, 1, 1, 1},
             {0, -1.25, 0, 1.5, 2, NaN}, {1, 1, 1, 1, 0, 1});
  row_scalar(strop::not_equal_scalar, 0, {-2.5, -1.25, 0.45, 1.6, 3.25, 2.25}, {1, 1, 1, 1, 1, 1},
             {0, -1.25, 0, 1.5, 2, NaN}, {0, 1, 0, 1, 1, 1});
  row_scalar(strop::greater_scalar, 2, {-2.5, -1.25, 0.45, 1.6, 3.25, 2.25}, {0, 0, 0, 0, 1, 1},
             {0, -1.25, 0, 1.5, 2, NaN}, {0, 0, 0, 0, 0, 0});
  row_scalar(strop::greater_scalar, 0, {-2.5, -1.25, 0.45, 1.6, 3.25, 2.25}, {0, 0, 1, 1, 1, 1},
             {0, -1.25, 0, 1.5, 2, NaN}, {0, 0, 0, 1, 1, 0});
  row_scalar(strop::greater_equal_scalar, 2, {-2.5, -1.25, 0.45, 1.6, 3.25, 2.25}, {0, 0, 0, 0, 1, 1},
             {0, -1.25, 0, 1.5, 2, NaN}, {0, 0, 0, 0, 1, 0});
  row_scalar(strop::greater_equal_scalar, 0, {-2.5, -1.25, 0.45, 1.6, 3.25, 2.25}, {0, 0, 1, 1, 1, 1},
             {0, -1.25, 0, 1.5, 2, NaN}, {1, 0, 1, 1, 1, 0});
  row_scalar(strop::lesser_scalar, 2, {-2.5, -1.25, 0.45, 1.6, 3.25, 2.25}, {1, 1, 1, 1, 0, 0},
             {0, -1.25, 0, 1.5, 2, NaN}, {1, 1, 1, 1, 0, 0});
  row_scalar(strop::lesser_scalar, 0, {-2.5, -1.25, 0.45, 1.6, 3.25, 2.25}, {1, 1, 0, 0, 0, 0},
             {0, -1.25, 0, 1.5, 2, NaN}, {0, 1, 0, 0, 0, 0});
  row_scalar(strop::lesser_equal_scalar, 2, {-2.5, -1.25, 0.45, 1.6, 3.25, 2.25}, {1, 1, 1, 1, 0, 0},
             {0, -1.25, 0, 1.5, 2, NaN}, {1, 1, 1, 1, 1, 0});
  row_scalar(strop::lesser_equal_scalar, 0, {-2.5, -1.25, 0.45, 1.6, 3.25, 2.25}, {1, 1, 0, 0, 0, 0},
             {0, -1.25, 0, 1.5, 2, NaN}, {1, 1, 1, 0, 0, 0});
  row_scalar(strop::logical_and_scalar, 2, {-2.5, -1.25, 0.45, 1.6, 3.25, 2.25}, {1, 1, 1, 1, 1, 1},
             {0, -1.25, 0, 1.5, 2, NaN}, {0, 1, 0, 1, 1, 1});
  row_scalar(strop::logical_and_scalar, 0, {-2.5, -1.25, 0.45, 1.6, 3.25, 2.25}, {0, 0, 0, 0, 0, 0},
             {0, -1.25, 0, 1.5, 2, NaN}, {0, 0, 0, 0, 0, 0});
  row_scalar(strop::logical_or_scalar, 2, {-2.5, -1.25, 0.45, 1.6, 3.25, 2.25}, {1, 1, 1, 1, 1, 1},
             {0, -1.25, 0, 1.5, 2, NaN}, {1, 1, 1, 1, 1, 1});
  row_scalar(strop::logical_or_scalar, 0, {-2.5, -1.25, 0.45, 1.6, 3.25, 2.25}, {1, 1, 1, 1, 1, 1},
             {0, -1.25, 0, 1.5, 2, NaN}, {0, 1, 0, 1, 1, 1});
  row_scalar(strop::logical_xor_scalar, 2, {-2.5, -1.25, 0.45, 1.6, 3.25, 2.25}, {0, 0, 0, 0, 0, 0},
             {0, -1.25, 0, 1.5, 2, NaN}, {1, 0, 1, 0, 0, 0});
  row_scalar(strop::logical_xor_scalar, 0, {-2.5, -1.25, 0.45, 1.6, 3.25, 2.25}, {1, 1, 1, 1, 1, 1},
             {0, -1.25, 0, 1.5, 2, NaN}, {0, 1, 0, 1, 1, 1});
  check_covered(strop::CompareOps{}, [](std::string_view name) { return name.ends_with("_scalar"); });
}

TEST_CASE("integers compared with a number that is none") {  // what MXNet 1.9.1 gives for is_int = False
  const auto gives = [](std::string_view op, const std::vector<double>& wanted, const std::vector<double>& truncated) {
    const NDArray x = strop::array({1, 4, -3}).to(strop::i32);
    const NDArray y = strop::invoke(op, {x}, {{"scalar", "1.5"}, {"is_int", "False"}});
    CHECK(y.dtype() == strop::f64);
    CHECK_MESSAGE(values(y) == wanted, op);
    const NDArray z = strop::invoke(op, {x}, {{"scalar", "1.5"}});
    CHECK(z.dtype() == strop::i32);
    CHECK_MESSAGE(values(z) == truncated, op);
  };
  gives("_equal_scalar", {0, 0, 0}, {1, 0, 0});
  gives("_not_equal_scalar", {1, 1, 1}, {0, 1, 1});
  gives("_greater_scalar", {0, 1, 0}, {0, 1, 0});
  gives("_lesser_scalar", {1, 0, 1}, {0, 0, 1});
  gives("_greater_equal_scalar", {0, 1, 0}, {1, 1, 0});
  gives("_lesser_equal_scalar", {1, 0, 1}, {1, 0, 1});
  gives("_logical_and_scalar", {1, 1, 1}, {1, 1, 1});
  gives("_logical_or_scalar", {1, 1, 1}, {1, 1, 1});
  gives("_logical_xor_scalar", {0, 0, 0}, {0, 0, 0});
}
