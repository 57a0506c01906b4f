// SPDX-License-Identifier: Apache-2.0
#include "value_rows.hpp"

#include <algorithm>

using namespace ops_test;

namespace {

NDArray listed(const Shape& shape, const Numbers& numbers) {
  NDArray x(shape, strop::f64);
  std::copy(numbers.begin(), numbers.end(), x.pointer<double>());
  return x;
}

/// Result and gradient, for head gradients 1, 2, 3 and so on: the numbers that MXNet 1.9.1 gives.
void check(const NDArray& x, std::vector<std::pair<std::string_view, std::string_view>> params, const Shape& shape,
           const Numbers& wanted, const Numbers& slopes) {
  std::string text;
  for (const auto& [key, value] : params) text += cat(' ', key, '=', value);
  CAPTURE(text);
  x.attach_grad();
  NDArray y;
  {
    strop::record scope;
    y = strop::invoke("Pooling", Arrays{x}, params);
  }
  const std::string wrong = difference(y, wanted, shape, {1e-12, 1e-12});
  CHECK_MESSAGE(wrong.empty(), wrong);
  y.backward(count(shape, 1).to(strop::f64));
  const std::string off = difference(x.grad(), slopes, x.shape(), {1e-12, 1e-12});
  CHECK_MESSAGE(off.empty(), "gradient: ", off);
}

}  // namespace

TEST_CASE("pooling of a line: types, conventions, padding") {
  const NDArray a = listed({1, 1, 5}, {1, 3, 3, -2, 5});
  check(a, {{"kernel", "(2,)"}}, {1, 1, 4}, {3, 3, 3, 5}, {0, 3, 3, 0, 4});  // of equal ones the first
  check(a, {{"kernel", "(2,)"}, {"stride", "(2,)"}}, {1, 1, 2}, {3, 3}, {0, 1, 2, 0, 0});
  check(a, {{"kernel", "(2,)"}, {"stride", "(2,)"}, {"pooling_convention", "full"}}, {1, 1, 3}, {3, 3, 5},
        {0, 1, 2, 0, 3});
  check(a, {{"kernel", "(2,)"}, {"stride", "(2,)"}, {"pooling_convention", "same"}, {"pad", "(0, 0, 0)"}}, {1, 1, 3},
        {3, 3, 5}, {0, 1, 2, 0, 3});
  check(a, {{"kernel", "(3,)"}, {"pool_type", "avg"}, {"pooling_convention", "same"}}, {1, 1, 5},
        {7.0 / 3, 4.0 / 3, 2, 1.5, 5}, {1.0 / 3, 1, 2, 11.0 / 3, 8});
  check(a, {{"kernel", "(3,)"}, {"stride", "(2,)"}, {"pad", "(1,)"}}, {1, 1, 3}, {3, 3, 5}, {0, 3, 0, 0, 3});
  check(a, {{"kernel", "(3,)"}, {"stride", "(2,)"}, {"pad", "(1,)"}, {"pool_type", "avg"}}, {1, 1, 3},
        {4.0 / 3, 4.0 / 3, 1}, {1.0 / 3, 1, 2.0 / 3, 5.0 / 3, 1});
  check(a,
        {{"kernel", "(3,)"}, {"stride", "(2,)"}, {"pad", "(1,)"}, {"pool_type", "avg"}, {"count_include_pad", "False"}},
        {1, 1, 3}, {2, 4.0 / 3, 1.5}, {0.5, 0.5 + 2.0 / 3, 2.0 / 3, 2.0 / 3 + 1.5, 1.5});
  check(a, {{"kernel", "(3,)"}, {"stride", "(2,)"}, {"pad", "(1,)"}, {"pool_type", "sum"}}, {1, 1, 3}, {4, 4, 3},
        {1, 3, 2, 5, 3});
  // windows of padding alone, and beyond it
  check(a,
        {{"kernel", "(2,)"}, {"stride", "(2,)"}, {"pad", "(1,)"}, {"pooling_convention", "full"}, {"pool_type", "avg"}},
        {1, 1, 4}, {0.5, 3, 1.5, 0}, {0.5, 1, 1, 1.5, 1.5});
  check(a, {{"kernel", "(1,)"}, {"stride", "(3,)"}, {"pooling_convention", "full"}, {"pool_type", "avg"}}, {1, 1, 3},
        {1, -2, 0}, {1, 0, 0, 2, 0});
  check(a, {{"global_pool", "True"}}, {1, 1, 1}, {5}, {0, 0, 0, 0, 1});
  check(a, {{"global_pool", "True"}, {"kernel", "(2,)"}, {"pad", "(7,)"}, {"pool_type", "avg"}}, {1, 1, 1}, {2},
        {0.2, 0.2, 0.2, 0.2, 0.2});
  check(a, {{"global_pool", "True"}, {"pool_type", "sum"}}, {1, 1, 1}, {10}, {1, 1, 1, 1, 1});
  check(a, {{"kernel", "(2,)"}, {"pool_type", "lp"}, {"p_value", "1"}}, {1, 1, 4}, {4, 6, 1, 3}, {1, 3, 5, 7, 4});
  check(a, {{"kernel", "(2,)"}, {"pool_type", "lp"}, {"p_value", "2"}}, {1, 1, 4},
        {3.1622776601683795, 4.242640687119285, 3.605551275463989, 5.385164807134504},
        {0.31622776601683794, 2.362896860423609, 3.9103644453866266, -3.149663294092102, 3.7139067635410377});
  check(a, {{"kernel", "(2,)"}, {"pool_type", "lp"}, {"p_value", "3"}}, {1, 1, 4},
        {3.036588971875663, 3.77976314968462, 2.6684016487219453, 4.890973246508748},
        {0.10844960613841648, 2.2359675051406214, 5.0518602349207935, 2.3541573467135715, 4.180319014110041});
  check(listed({1, 1, 3}, {0, 0, 0}), {{"kernel", "(2,)"}, {"pool_type", "lp"}, {"p_value", "2"}}, {1, 1, 2}, {0, 0},
        {0, 0, 0});
}

TEST_CASE("pooling of images and of bodies") {
  const NDArray b = listed({1, 1, 5, 5}, values(count({25})));
  check(b, {{"kernel", "(2, 2)"}, {"stride", "(2, 2)"}, {"pooling_convention", "full"}}, {1, 1, 3, 3},
        {6, 8, 9, 16, 18, 19, 21, 23, 24}, {0, 0, 0, 0, 0, 0, 1, 0, 2, 3, 0, 0, 0, 0, 0, 0, 4, 0, 5, 6, 0, 7, 0, 8, 9});
  check(b, {{"kernel", "(6, 2)"}, {"pad", "(1, 0)"}}, {1, 1, 2, 4}, {21, 22, 23, 24, 21, 22, 23, 24},
        {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 6, 8, 10, 12});
  const NDArray c = listed({1, 2, 3, 2}, values(count({12})));  // with the channels last
  check(c, {{"kernel", "(2, 2)"}, {"layout", "NHWC"}, {"pool_type", "avg"}}, {1, 1, 2, 2}, {4, 5, 6, 7},
        {0.25, 0.5, 1, 1.5, 0.75, 1, 0.25, 0.5, 1, 1.5, 0.75, 1});
  check(listed({1, 6, 2}, values(count({12}))), {{"kernel", "(2,)"}, {"layout", "NWC"}}, {1, 5, 2},
        {2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, {0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10});
  check(listed({1, 1, 2, 2, 3}, values(count({12}))), {{"kernel", "(2, 1, 2)"}, {"pool_type", "sum"}}, {1, 1, 1, 2, 2},
        {14, 18, 26, 30}, {1, 3, 2, 3, 7, 4, 1, 3, 2, 3, 7, 4});
}

TEST_CASE("where a window has no element, the maximum is that of none; NaN is no maximum") {
  const auto most = [](const Numbers& numbers, std::string_view pad) {
    return values(strop::invoke("Pooling", {listed({1, 1, static_cast<std::int64_t>(numbers.size())}, numbers)},
                                {{"kernel", "(2,)"}, {"stride", "(2,)"}, {"pad", pad}}));
  };
  CHECK(most({1, 2}, "(2,)") == Numbers{-Inf, 2, -Inf});
  CHECK(most({NaN, 1, -Inf, -Inf}, "(0,)") == Numbers{1, -Inf});
}

TEST_CASE("pooling infers, also of no examples") {
  const auto net = strop::compose("Pooling", {strop::var("data")}, {{"kernel", "(2, 2)"}, {"pool_type", "avg"}}, "p");
  CHECK(net.infer_shape({{"data", {5, 4, 7, 9}}}).outputs == std::vector<Shape>{{5, 4, 6, 8}});
  CHECK(strop::invoke("Pooling", {strop::zeros({0, 3, 4})}, {{"kernel", "(2,)"}}).shape() == Shape{0, 3, 3});
}

TEST_CASE("pooling refuses in a sentence") {
  const NDArray x = count({2, 4, 5, 5});
  CHECK(refusal("Pooling", {}, {x}) == "pooling: kernel = () lists 0 numbers, expected 1 to 3, one per spatial axis");
  CHECK(refusal("Pooling", {{"kernel", "(2,)"}}, {x}) ==
        "pooling: input 'data' has shape (2, 4, 5, 5), expected 3 dimensions");
  CHECK(refusal("Pooling", {{"kernel", "(6, 2)"}}, {x}) ==
        "pooling: axis 2 of input 'data' has extent 5, with padding 5, and a window covers 6");
  CHECK(refusal("Pooling", {{"kernel", "(2, 2)"}, {"pool_type", "lp"}}, {x}) ==
        "pooling: pool_type lp needs parameter 'p_value', 1 to 3");
  CHECK(refusal("Pooling", {{"kernel", "(2, 2)"}, {"pool_type", "lp"}, {"p_value", "4"}}, {x}) ==
        "pooling: parameter 'p_value' is 4, expected a value from 1 to 3");
  CHECK(refusal("Pooling", {{"kernel", "(2, 2)"}, {"pooling_convention", "same"}, {"pad", "(1, 1)"}}, {x}) ==
        "pooling: pad = (1, 1), and pooling_convention same takes none");
  CHECK(refusal("Pooling", {{"kernel", "(2, 2)"}, {"layout", "NCW"}}, {x}) ==
        "pooling: layout is NCW, and input 'data' has shape (2, 4, 5, 5)");
  CHECK(refusal("Pooling", {{"global_pool", "True"}}, {count({2, 3})}) ==
        "pooling: input 'data' has shape (2, 3), expected 3 to 5 dimensions");
}
