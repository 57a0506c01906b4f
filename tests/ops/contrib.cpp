// SPDX-License-Identifier: Apache-2.0
#include "value_rows.hpp"

using namespace ops_test;
using strop::array;

// The numbers are those of MXNet 1.9.1.

TEST_CASE("positions of elements as MXNet gives them") {
  const NDArray x = count({3, 2});
  row("_contrib_index_array", {}, {x}, {{{3, 2, 2}, {0, 0, 0, 1, 1, 0, 1, 1, 2, 0, 2, 1}}});
  row("_contrib_index_array", {{"axes", "(1, 0)"}}, {x}, {{{3, 2, 2}, {0, 0, 1, 0, 0, 1, 1, 1, 0, 2, 1, 2}}});
  row("_contrib_index_array", {{"axes", "(-1,)"}}, {x}, {{{3, 2, 1}, {0, 1, 0, 1, 0, 1}}});
  row("_contrib_index_array", {{"axes", "(0, 0)"}}, {x}, {{{3, 2, 2}, {0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2}}});
  row("_contrib_index_array", {{"axes", "()"}}, {x}, {{{3, 2, 0}, {}}});
  CHECK(strop::index_array(x).dtype() == strop::i64);
}

TEST_CASE("rows put at positions as MXNet does it") {
  const NDArray rows = count({3, 3}, 1);
  row("_contrib_index_copy", {}, {strop::zeros({5, 3}), array({0, 4, 2}), rows},
      {{{5, 3}, {1, 2, 3, 0, 0, 0, 7, 8, 9, 0, 0, 0, 4, 5, 6}}});
  row("_contrib_index_copy", {}, {strop::zeros({5, 3}), array({0, 0, 2}), rows},
      {{{5, 3}, {4, 5, 6, 0, 0, 0, 7, 8, 9, 0, 0, 0, 0, 0, 0}}});
  const NDArray old = strop::ones({5, 3}), fresh = rows.copy();
  old.attach_grad();
  fresh.attach_grad();
  {
    strop::record scope;
    strop::index_copy(old, array({0, 0, 2}), fresh).backward(count({5, 3}));
  }
  CHECK(values(old.grad()) == Numbers{0, 0, 0, 3, 4, 5, 0, 0, 0, 9, 10, 11, 12, 13, 14});
  CHECK(values(fresh.grad()) == Numbers{0, 1, 2, 0, 1, 2, 6, 7, 8});
}

TEST_CASE("closeness as MXNet has it") {
  const auto close = [](const NDArray& a, const NDArray& b, strop::Attributes params = {}) {
    const NDArray y = strop::invoke("_contrib_allclose", {a, b}, params);
    CHECK(y.shape() == Shape{});
    CHECK(y.dtype() == strop::u8);
    return values(y) == Numbers{1};
  };
  CHECK_FALSE(close(array({1e10, 1e-7}), array({1.00001e10, 1e-8})));
  CHECK(close(array({NaN, 1}), array({NaN, 1})));
  CHECK_FALSE(close(array({NaN, 1}), array({NaN, 1}), {{"equal_nan", "False"}}));
  CHECK(close(array({Inf, 1}), array({Inf, 1})));
  CHECK_FALSE(close(array({1, 1e10}), array({1, 1e11})));
  CHECK(close(array({1}), array({1.5}), {{"rtol", "0.5"}, {"atol", "0"}}));
  CHECK_FALSE(close(array({1.5}), array({1}), {{"rtol", "0.34"}, {"atol", "0"}}));
  CHECK_FALSE(close(array({Inf}), array({-Inf})));  // where MXNet finds that ∞ is at most ∞
}

TEST_CASE("products of rows as MXNet makes them") {
  const NDArray a = array({{1, -1}, {2, -3}}), b = array({{1, 4}, {2, 5}, {3, 6}});
  row("khatri_rao", {{"num_args", "2"}}, {a, b}, {{{6, 2}, {1, -4, 2, -5, 3, -6, 2, -12, 4, -15, 6, -18}}});
  row("khatri_rao", {}, {a}, {{{2, 2}, {1, -1, 2, -3}}});
}

TEST_CASE("windows as columns, and back, as MXNet has them") {
  const NDArray x = count({1, 2, 2, 4});
  const strop::Attributes windows{{"kernel", "(2, 2)"}, {"stride", "(1, 2)"}, {"pad", "(0, 1)"}};
  const Numbers columns{0, 1, 3, 0, 2, 0, 0, 5, 7, 4, 6, 0, 0, 9, 11, 8, 10, 0, 0, 13, 15, 12, 14, 0};
  row("im2col", windows, {x}, {{{1, 8, 3}, columns}});
  const NDArray y = strop::im2col(x, {.kernel = {2, 2}, .stride = {1, 2}, .pad = {0, 1}});
  row("col2im", {{"kernel", "(2, 2)"}, {"stride", "(1, 2)"}, {"pad", "(0, 1)"}, {"output_size", "(2, 5)"}}, {y},
      {{{1, 2, 2, 5}, {0, 1, 2, 3, 0, 4, 5, 6, 7, 0, 8, 9, 10, 11, 0, 12, 13, 14, 15, 0}}});
  x.attach_grad();
  {
    strop::record scope;
    strop::im2col(x, {.kernel = {2, 2}, .stride = {1, 2}, .pad = {0, 1}}).backward(count({1, 8, 3}));
  }
  CHECK(values(x.grad()) == Numbers{3, 1, 4, 2, 9, 7, 10, 8, 15, 13, 16, 14, 21, 19, 22, 20});
  // One spatial axis, which ends MXNet's call.
  row("im2col", {{"kernel", "(2,)"}}, {array({{{1, 2, 3}}})}, {{{1, 2, 2}, {1, 2, 2, 3}}});
}

TEST_CASE("parts of images as MXNet cuts them") {
  const NDArray x = count({1, 2, 4, 5}), like = strop::zeros({2, 3, 3, 2});
  row("Crop", {{"h_w", "(2, 3)"}}, {x}, {{{1, 2, 2, 3}, {0, 1, 2, 5, 6, 7, 20, 21, 22, 25, 26, 27}}});
  row("Crop", {{"h_w", "(2, 3)"}, {"offset", "(1, 2)"}}, {x},
      {{{1, 2, 2, 3}, {7, 8, 9, 12, 13, 14, 27, 28, 29, 32, 33, 34}}});
  row("Crop", {{"h_w", "(2, 3)"}, {"center_crop", "True"}}, {x},
      {{{1, 2, 2, 3}, {6, 7, 8, 11, 12, 13, 26, 27, 28, 31, 32, 33}}});
  row("Crop", {{"num_args", "2"}, {"center_crop", "True"}}, {x, like},
      {{{1, 2, 3, 2}, {1, 2, 6, 7, 11, 12, 21, 22, 26, 27, 31, 32}}});
  row("crop", {{"begin", "(0, 1)"}, {"end", "(1, 2)"}}, {count({1, 2})}, {{{1, 1}, {1}}});  // another name of slice
}

TEST_CASE("the older name of batch normalisation as MXNet computes it") {
  row("BatchNorm_v1", {{"fix_gamma", "False"}, {"eps", "0.5"}},
      {count({1, 2, 1, 2}), array({2, 3}), array({1, 2}), array({0.5, 0.25}), array({1.75, 3.5})},
      {{{1, 2, 1, 2}, {0.3333333134651184, 1.6666667461395264, 4.625, 6.125}}});
}

TEST_CASE("these operators refuse in a sentence") {
  const NDArray m = count({2, 3}), image = count({1, 2, 4, 5});
  CHECK(refusal("_contrib_index_array", {{"axes", "(2,)"}}, {m}) ==
        "_contrib_index_array: axis 2 is outside an array of 2 dimensions");
  CHECK(refusal("_contrib_index_copy", {}, {m, array({2}), count({1, 3})}) ==
        "_contrib_index_copy: position 2 is outside an axis of extent 2");
  CHECK(refusal("_contrib_index_copy", {}, {m, array({1, 0, 1}), m}) ==
        "_contrib_index_copy: input 'new_tensor' has shape (2, 3), expected (3, 3)");
  CHECK(refusal("_contrib_allclose", {}, {m, count({3})}) ==
        "_contrib_allclose: input 'b' has shape (3,), expected (2, 3)");
  CHECK(refusal("khatri_rao", {}, {m, count({2, 2})}) == "khatri_rao: input 'arg1' has shape (2, 2), expected (?, 3)");
  CHECK(refusal("im2col", {{"kernel", "(3,)"}}, {count({1, 1, 2})}) ==
        "im2col: axis 2 of input 'data' has extent 2, with padding 2, and a window covers 3");
  CHECK(refusal("col2im", {{"kernel", "(3,)"}, {"output_size", "(2,)"}}, {count({1, 3, 1})}) ==
        "col2im: output_size = (2,), expected at least 3 on axis 0, which a window covers with its padding");
  CHECK(refusal("col2im", {{"kernel", "(2,)"}, {"output_size", "(2,)"}}, {count({1, 3, 1})}) ==
        "col2im: input 'data' has 3 rows, expected a multiple of 2, the places of the kernel");
  CHECK(refusal("col2im", {{"kernel", "(2,)"}, {"output_size", "(2,)"}}, {count({1, 2, 2})}) ==
        "col2im: input 'data' has shape (1, 2, 2), expected (?, ?, 1)");
  CHECK(refusal("Crop", {{"h_w", "(5, 3)"}}, {image}) ==
        "crop: the part has 5 rows, expected 1 to 4, those of input 'arg0'");
  CHECK(refusal("Crop", {{"h_w", "(2, 3)"}, {"offset", "(1, 3)"}}, {image}) ==
        "crop: offset = (1, 3), expected 0 to 2 for 3 of 5 columns");
  CHECK(refusal("Crop", {}, {image, image, image}) == "crop: takes 1 or 2 inputs, not 3");
}
