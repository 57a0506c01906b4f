// SPDX-License-Identifier: Apache-2.0
#include <strop/ops/elementwise/scalar_compare.hpp>
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
  check_covered(strop::ScalarCompareOps{});
}
