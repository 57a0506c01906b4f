// SPDX-License-Identifier: Apache-2.0
#include <strop/ops/elementwise/compare.hpp>
#include "elementwise_rows.hpp"

using namespace ops_test;

TEST_CASE("comparisons and logic of shapes that broadcast") {
  row2(strop::broadcast_equal, {{-2.5, -1.25, 0.4, 1.5, 3, 2.25}, {1.5, -2, 1.75, 2.5, -1.25, 2}}, {0, 0, 0, 0, 0, 0},
       {{0, -1.25, 0, 1.5, 0, 2.5}, {1.5, 0, 0, 1.5, -1.25, 2.5}}, {0, 0, 1, 1, 0, 1});
  row_broadcast(strop::broadcast_equal, [](double a, double b) { return a == b ? 1.0 : 0.0; }, false);
  row2(strop::broadcast_not_equal, {{-2.5, -1.25, 0.4, 1.5, 3, 2.25}, {1.5, -2, 1.75, 2.5, -1.25, 2}},
       {1, 1, 1, 1, 1, 1}, {{0, -1.25, 0, 1.5, 0, 2.5}, {1.5, 0, 0, 1.5, -1.25, 2.5}}, {1, 1, 0, 0, 1, 0});
  row_broadcast(strop::broadcast_not_equal, [](double a, double b) { return a != b ? 1.0 : 0.0; }, false);
  row2(strop::broadcast_greater, {{-2.5, -1.25, 0.4, 1.5, 3, 2.25}, {1.5, -2, 1.75, 2.5, -1.25, 2}}, {0, 1, 0, 0, 1, 1},
       {{0, -1.25, 0, 1.5, 0, 2.5}, {1.5, 0, 0, 1.5, -1.25, 2.5}}, {0, 0, 0, 0, 1, 0});
  row_broadcast(strop::broadcast_greater, [](double a, double b) { return a > b ? 1.0 : 0.0; }, false);
  row2(strop::broadcast_greater_equal, {{-2.5, -1.25, 0.4, 1.5, 3, 2.25}, {1.5, -2, 1.75, 2.5, -1.25, 2}},
       {0, 1, 0, 0, 1, 1}, {{0, -1.25, 0, 1.5, 0, 2.5}, {1.5, 0, 0, 1.5, -1.25, 2.5}}, {0, 0, 1, 1, 1, 1});
  row_broadcast(strop::broadcast_greater_equal, [](double a, double b) { return a >= b ? 1.0 : 0.0; }, false);
  row2(strop::broadcast_lesser, {{-2.5, -1.25, 0.4, 1.5, 3, 2.25}, {1.5, -2, 1.75, 2.5, -1.25, 2}}, {1, 0, 1, 1, 0, 0},
       {{0, -1.25, 0, 1.5, 0, 2.5}, {1.5, 0, 0, 1.5, -1.25, 2.5}}, {1, 1, 0, 0, 0, 0});
  row_broadcast(strop::broadcast_lesser, [](double a, double b) { return a < b ? 1.0 : 0.0; }, false);
  row2(strop::broadcast_lesser_equal, {{-2.5, -1.25, 0.4, 1.5, 3, 2.25}, {1.5, -2, 1.75, 2.5, -1.25, 2}},
       {1, 0, 1, 1, 0, 0}, {{0, -1.25, 0, 1.5, 0, 2.5}, {1.5, 0, 0, 1.5, -1.25, 2.5}}, {1, 1, 1, 1, 0, 1});
  row_broadcast(strop::broadcast_lesser_equal, [](double a, double b) { return a <= b ? 1.0 : 0.0; }, false);
  row2(strop::broadcast_logical_and, {{-2.5, -1.25, 0.4, 1.5, 3, 2.25}, {1.5, -2, 1.75, 2.5, -1.25, 2}},
       {1, 1, 1, 1, 1, 1}, {{0, -1.25, 0, 1.5, 0, 2.5}, {1.5, 0, 0, 1.5, -1.25, 2.5}}, {0, 0, 0, 1, 0, 1});
  row_broadcast(strop::broadcast_logical_and, [](double a, double b) { return a != 0 && b != 0 ? 1.0 : 0.0; }, false);
  row2(strop::broadcast_logical_or, {{-2.5, -1.25, 0.4, 1.5, 3, 2.25}, {1.5, -2, 1.75, 2.5, -1.25, 2}},
       {1, 1, 1, 1, 1, 1}, {{0, -1.25, 0, 1.5, 0, 2.5}, {1.5, 0, 0, 1.5, -1.25, 2.5}}, {1, 1, 0, 1, 1, 1});
  row_broadcast(strop::broadcast_logical_or, [](double a, double b) { return a != 0 || b != 0 ? 1.0 : 0.0; }, false);
  row2(strop::broadcast_logical_xor, {{-2.5, -1.25, 0.4, 1.5, 3, 2.25}, {1.5, -2, 1.75, 2.5, -1.25, 2}},
       {0, 0, 0, 0, 0, 0}, {{0, -1.25, 0, 1.5, 0, 2.5}, {1.5, 0, 0, 1.5, -1.25, 2.5}}, {1, 1, 0, 0, 1, 0});
  row_broadcast(
      strop::broadcast_logical_xor, [](double a, double b) { return (a != 0) != (b != 0) ? 1.0 : 0.0; }, false);
  check_covered(strop::CompareOps{}, [](std::string_view name) { return name.starts_with("broadcast_"); });
}
