// SPDX-License-Identifier: Apache-2.0
#include <strop/ops/elementwise/broadcast.hpp>
#include "elementwise_rows.hpp"

#include <algorithm>

using namespace ops_test;

TEST_CASE("arithmetic of shapes that broadcast") {
  row2(strop::broadcast_add, {{-2.5, -1.25, 0.4, 1.5, 3, 2.25}, {1.5, -2, 1.75, 2.5, -1.25, 2}},
       {-1, -3.25, 2.15, 4, 1.75, 4.25}, {{0, -1.25, 0, 1.5, 0, 2.5}, {1.5, 0, 0, 1.5, -1.25, 2.5}},
       {1.5, -1.25, 0, 3, -1.25, 5});
  row_broadcast(strop::broadcast_add, [](double a, double b) { return a + b; });
  row2(strop::broadcast_sub, {{-2.5, -1.25, 0.4, 1.5, 3, 2.25}, {1.5, -2, 1.75, 2.5, -1.25, 2}},
       {-4, 0.75, -1.35, -1, 4.25, 0.25}, {{0, -1.25, 0, 1.5, 0, 2.5}, {1.5, 0, 0, 1.5, -1.25, 2.5}},
       {-1.5, -1.25, 0, 0, 1.25, 0});
  row_broadcast(strop::broadcast_sub, [](double a, double b) { return a - b; });
  row2(strop::broadcast_mul, {{-2.5, -1.25, 0.4, 1.5, 3, 2.25}, {1.5, -2, 1.75, 2.5, -1.25, 2}},
       {-3.75, 2.5, 0.7, 3.75, -3.75, 4.5}, {{0, -1.25, 0, 1.5, 0, 2.5}, {1.5, 0, 0, 1.5, -1.25, 2.5}},
       {0, -0, 0, 2.25, -0, 6.25});
  row_broadcast(strop::broadcast_mul, [](double a, double b) { return a * b; });
  row2(strop::broadcast_div, {{-2.5, -1.25, 0.4, 1.5, 3, 2.25}, {1.5, -2, 1.75, 2.5, -1.25, 2}},
       {-1.6666666, 0.625, 0.22857143, 0.6, -2.4, 1.125}, {{0, -1.25, 0, 1.5, 0, 2.5}, {1.5, -2, 1, 1.5, -1.25, 0.5}},
       {0, 0.625, 0, 1, -0, 5});
  row_broadcast(strop::broadcast_div, [](double a, double b) { return a / b; });
  row2(strop::broadcast_mod, {{-2.5, -1.25, 0.4, 1.5, 3, 2.25}, {1.5, -2, 1.75, 2.5, -1.25, 2}},
       {0.5, -1.25, 0.4, 1.5, -0.75, 0.25}, {{0, -1.25, 0, 1.5, 0, 2.5}, {1.5, 0, 0, 1.5, -1.25, 2.5}},
       {0, 0, 0, 0, 0, 0});
  row_broadcast(strop::broadcast_mod, [](double a, double b) { return std::fmod(a, b); });
  row2(strop::broadcast_power, {{0.5, 1.25, 0.4, 1.5, 3, 2.25}, {1.5, -2, 1.75, 2.5, -1.25, 2}},
       {0.35355338, 0.64, 0.20118935, 2.755676, 0.25327855, 5.0625},
       {{0, -1.25, 0, 1.5, 0, 2.5}, {1.5, -2, 0, 1.5, 1.25, 0}}, {0, 0.64, 1, 1.8371173, 0, 1});
  row_broadcast(strop::broadcast_power, [](double a, double b) { return std::pow(a, b); });
  row2(strop::broadcast_maximum, {{-2.5, -1.25, 0.4, 1.5, 3, 2.25}, {1.5, -2, 1.75, 2.5, -1.25, 2}},
       {1.5, -1.25, 1.75, 2.5, 3, 2.25}, {{0, -1.25, 0, 1.5, 0, 2.5}, {1.5, 0, 0, 1.5, -1.25, 2.5}},
       {1.5, 0, 0, 1.5, 0, 2.5});
  row_broadcast(strop::broadcast_maximum, [](double a, double b) { return std::max(a, b); });
  row2(strop::broadcast_minimum, {{-2.5, -1.25, 0.4, 1.5, 3, 2.25}, {1.5, -2, 1.75, 2.5, -1.25, 2}},
       {-2.5, -2, 0.4, 1.5, -1.25, 2}, {{0, -1.25, 0, 1.5, 0, 2.5}, {1.5, 0, 0, 1.5, -1.25, 2.5}},
       {0, -1.25, 0, 1.5, -1.25, 2.5});
  row_broadcast(strop::broadcast_minimum, [](double a, double b) { return std::min(a, b); });
  row2(strop::broadcast_hypot, {{-2.5, -1.25, 0.4, 1.5, 3, 2.25}, {1.5, -2, 1.75, 2.5, -1.25, 2}},
       {2.9154758, 2.3584952, 1.7951323, 2.9154758, 3.25, 3.0103986},
       {{0, -1.25, 0, 1.5, 0, 2.5}, {1.5, 0, 0, 1.5, -1.25, 2.5}}, {1.5, 1.25, 0, 2.1213202, 1.25, 3.535534});
  row_broadcast(strop::broadcast_hypot, [](double a, double b) { return std::hypot(a, b); });
  check_covered(strop::BroadcastOps{});
}
