// SPDX-License-Identifier: Apache-2.0
#include "value_rows.hpp"

using namespace ops_test;
using strop::array;

TEST_CASE("reshape, flatten, expand_dims, squeeze as MXNet does them") {
  row("Reshape", {{"shape", "(-1, 3)"}}, {count({2, 3, 2})}, {{{4, 3}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}}});
  row("Reshape", {{"shape", "(0, -1)"}}, {count({2, 3, 2})}, {{{2, 6}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}}});
  row("Reshape", {{"shape", "(-3, 0)"}}, {count({2, 3, 2})}, {{{6, 2}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}}});
  row("Reshape", {{"shape", "(-4, 1, 2, -2)"}}, {count({2, 3, 2})},
      {{{1, 2, 3, 2}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}}});
  row("Reshape", {{"shape", "(2, -4, -1, 3, 0)"}}, {count({2, 3, 2})},
      {{{2, 1, 3, 2}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}}});
  const auto reversed = [](const Shape& shape, std::string_view codes) {
    return strop::invoke("Reshape", {count(shape)}, {{"shape", codes}, {"reverse", "True"}}).shape();
  };
  // What MXNet makes of a split: (left, right, -4).
  CHECK(reversed({2, 3, 4}, "(2, 1, -4, 0, 0)") == Shape{2, 1, 3, 4});
  CHECK(reversed({3, 8}, "(0, 2, 4, -4)") == Shape{3, 2, 4});
  CHECK(reversed({6, 7}, "(2, -1, -4, 0)") == Shape{2, 3, 7});
  CHECK(reversed({6, 7}, "(-1, 2, -4, 0)") == Shape{3, 2, 7});
  CHECK(!refusal("Reshape", {{"shape", "(-4, 2, 4, 0)"}, {"reverse", "True"}}, {count({8, 3})}).empty());
  row("Reshape", {{"shape", "(2L,-1L)"}}, {count({4})}, {{{2, 2}, {0, 1, 2, 3}}});  // as Python 2 writes numbers
  row("Reshape", {{"shape", "(0, -1)"}, {"reverse", "True"}}, {count({2, 3, 2})},
      {{{3, 4}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}}});
  row("Flatten", {}, {count({2, 3, 2})}, {{{2, 6}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}}});
  row("expand_dims", {{"axis", "-1"}}, {count({2, 3})}, {{{2, 3, 1}, {0, 1, 2, 3, 4, 5}}});
  row("expand_dims", {{"axis", "1"}}, {count({3})}, {{{3, 1}, {0, 1, 2}}});
  row("squeeze", {}, {count({1, 3, 1})}, {{{3}, {0, 1, 2}}});
  row("squeeze", {{"axis", "(0,)"}}, {count({1, 3, 1})}, {{{3, 1}, {0, 1, 2}}});
  row("reshape_like", {}, {count({2, 3}), count({3, 2})}, {{{3, 2}, {0, 1, 2, 3, 4, 5}}});
  row("shape_array", {}, {count({2, 3})}, {{{2}, {2, 3}}});
  row("size_array", {}, {count({2, 3})}, {{{1}, {6}}});
}

TEST_CASE("transpose, swapaxes, reverse as MXNet does them") {
  row("transpose", {}, {count({2, 3})}, {{{3, 2}, {0, 3, 1, 4, 2, 5}}});
  row("transpose", {{"axes", "(1, 2, 0)"}}, {count({2, 3, 2})}, {{{3, 2, 2}, {0, 6, 1, 7, 2, 8, 3, 9, 4, 10, 5, 11}}});
  row("SwapAxis", {{"dim1", "0"}, {"dim2", "2"}}, {count({2, 3, 2})},
      {{{2, 3, 2}, {0, 6, 2, 8, 4, 10, 1, 7, 3, 9, 5, 11}}});
  row("reverse", {{"axis", "1"}}, {count({2, 3})}, {{{2, 3}, {2, 1, 0, 5, 4, 3}}});
  row("reverse", {{"axis", "(0, 1)"}}, {count({2, 3})}, {{{2, 3}, {5, 4, 3, 2, 1, 0}}});
  row("reverse", {{"axis", "(0, 0)"}}, {count({2, 3})}, {{{2, 3}, {0, 1, 2, 3, 4, 5}}});
}

TEST_CASE("slices as MXNet does them") {
  row("slice", {{"begin", "(0, None, 3)"}, {"end", "(None, -1, None)"}, {"step", "(1, 1, -2)"}}, {count({2, 3, 4})},
      {{{2, 2, 2}, {3, 1, 7, 5, 15, 13, 19, 17}}});
  row("slice", {{"begin", "(1,)"}, {"end", "(2,)"}}, {count({3, 2})}, {{{1, 2}, {2, 3}}});
  row("slice", {{"begin", "(-2, 1)"}, {"end", "(3, None)"}}, {count({3, 3})}, {{{2, 2}, {4, 5, 7, 8}}});
  row("slice", {{"begin", "(None,)"}, {"end", "(None,)"}, {"step", "(-1,)"}}, {count({3, 2})},
      {{{3, 2}, {4, 5, 2, 3, 0, 1}}});
  row("slice_axis", {{"axis", "1"}, {"begin", "-2"}, {"end", "None"}}, {count({2, 3})}, {{{2, 2}, {1, 2, 4, 5}}});
  row("slice_axis", {{"axis", "0"}, {"begin", "1"}, {"end", "2"}}, {count({2, 3})}, {{{1, 3}, {3, 4, 5}}});
  row("slice_like", {}, {count({3, 4}), count({2, 2})}, {{{2, 2}, {0, 1, 4, 5}}});
  row("slice_like", {{"axes", "(-1,)"}}, {count({3, 4}), count({2, 2})}, {{{3, 2}, {0, 1, 4, 5, 8, 9}}});
  row("_slice_assign", {{"begin", "(0, 1)"}, {"end", "(2, 3)"}}, {count({3, 3}), count({2, 2}, 50)},
      {{{3, 3}, {0, 50, 51, 3, 52, 53, 6, 7, 8}}});
  row("_slice_assign_scalar", {{"scalar", "9"}, {"begin", "(0, 0)"}, {"end", "(3, 3)"}, {"step", "(2, 2)"}},
      {count({3, 3})}, {{{3, 3}, {9, 1, 9, 3, 4, 5, 9, 7, 9}}});
}

TEST_CASE("concat, stack, split as MXNet does them") {
  row("Concat", {{"dim", "0"}}, {count({1, 2}), count({2, 2}, 10)}, {{{3, 2}, {0, 1, 10, 11, 12, 13}}});
  row("Concat", {{"dim", "1"}}, {count({2, 2}), count({2, 1}, 10)}, {{{2, 3}, {0, 1, 10, 2, 3, 11}}});
  row("Concat", {{"dim", "-1"}}, {count({2, 1}), count({2, 2}, 10)}, {{{2, 3}, {0, 10, 11, 1, 12, 13}}});
  row("stack", {{"axis", "0"}}, {count({3}), count({3}, 10)}, {{{2, 3}, {0, 1, 2, 10, 11, 12}}});
  row("stack", {{"axis", "-1"}}, {count({3}), count({3}, 10)}, {{{3, 2}, {0, 10, 1, 11, 2, 12}}});
  row("SliceChannel", {{"num_outputs", "2"}, {"axis", "1"}}, {count({2, 4})},
      {{{2, 2}, {0, 1, 4, 5}}, {{2, 2}, {2, 3, 6, 7}}});
  row("SliceChannel", {{"num_outputs", "2"}, {"axis", "0"}, {"squeeze_axis", "True"}}, {count({2, 3})},
      {{{3}, {0, 1, 2}}, {{3}, {3, 4, 5}}});
  row("_split_v2", {{"indices", "(0, 2)"}, {"axis", "0"}}, {count({3, 2})}, {{{2, 2}, {0, 1, 2, 3}}, {{1, 2}, {4, 5}}});
  row("_split_v2", {{"indices", "()"}, {"axis", "1"}, {"sections", "3"}}, {count({2, 3})},
      {{{2, 1}, {0, 3}}, {{2, 1}, {1, 4}}, {{2, 1}, {2, 5}}});
}

TEST_CASE("repetition as MXNet does it") {
  row("broadcast_to", {{"shape", "(2, 3)"}}, {count({2, 1})}, {{{2, 3}, {0, 0, 0, 1, 1, 1}}});
  row("broadcast_to", {{"shape", "(0, 2)"}}, {count({2, 1})}, {{{2, 2}, {0, 0, 1, 1}}});
  row("broadcast_axis", {{"axis", "(0, 2)"}, {"size", "(2, 2)"}}, {count({1, 2, 1})},
      {{{2, 2, 2}, {0, 0, 1, 1, 0, 0, 1, 1}}});
  row("broadcast_like", {}, {count({1, 2}), count({3, 2})}, {{{3, 2}, {0, 1, 0, 1, 0, 1}}});
  row("broadcast_like", {{"lhs_axes", "(0,)"}, {"rhs_axes", "(-1,)"}}, {count({1, 2}), count({2, 3})},
      {{{3, 2}, {0, 1, 0, 1, 0, 1}}});
  row("tile", {{"reps", "(2,)"}}, {count({2, 2})}, {{{2, 4}, {0, 1, 0, 1, 2, 3, 2, 3}}});
  row("tile", {{"reps", "(2, 1, 2)"}}, {count({2})}, {{{2, 1, 4}, {0, 1, 0, 1, 0, 1, 0, 1}}});
  row("tile", {{"reps", "(2, 0)"}}, {count({2})}, {{{2, 0}, {}}});
  row("tile", {{"reps", "0"}}, {count({3, 2})}, {{{3, 0}, {}}});
  const NDArray x = count({2, 3});
  x.attach_grad();
  {
    const strop::record scope;
    strop::sum(strop::tile(x, {.reps = Shape{0, 2}})).backward();
  }
  CHECK(x.grad().to_vector<float>() == std::vector<float>(6));
  row("repeat", {{"repeats", "2"}}, {count({2, 2})}, {{{8}, {0, 0, 1, 1, 2, 2, 3, 3}}});
  row("repeat", {{"repeats", "2"}, {"axis", "0"}}, {count({2, 2})}, {{{4, 2}, {0, 1, 0, 1, 2, 3, 2, 3}}});
  row("repeat", {{"repeats", "2"}, {"axis", "-1"}}, {count({2, 2})}, {{{2, 4}, {0, 0, 1, 1, 2, 2, 3, 3}}});
}

TEST_CASE("pad, diag, depth and space as MXNet does them") {
  row("Pad", {{"mode", "constant"}, {"constant_value", "9"}, {"pad_width", "(0, 0, 0, 0, 1, 0, 0, 2)"}},
      {count({1, 1, 2, 2})}, {{{1, 1, 3, 4}, {9, 9, 9, 9, 0, 1, 9, 9, 2, 3, 9, 9}}});
  row("Pad", {{"mode", "edge"}, {"pad_width", "(0, 0, 0, 0, 1, 1, 1, 1)"}}, {count({1, 1, 2, 2})},
      {{{1, 1, 4, 4}, {0, 0, 1, 1, 0, 0, 1, 1, 2, 2, 3, 3, 2, 2, 3, 3}}});
  row("Pad", {{"mode", "reflect"}, {"pad_width", "(0, 0, 0, 0, 1, 1, 0, 2)"}}, {count({1, 1, 3, 3})},
      {{{1, 1, 5, 5}, {3, 4, 5, 4, 3, 0, 1, 2, 1, 0, 3, 4, 5, 4, 3, 6, 7, 8, 7, 6, 3, 4, 5, 4, 3}}});
  row("diag", {}, {count({3})}, {{{3, 3}, {0, 0, 0, 0, 1, 0, 0, 0, 2}}});
  row("diag", {{"k", "-1"}}, {count({2})}, {{{3, 3}, {0, 0, 0, 0, 0, 0, 0, 1, 0}}});
  row("diag", {{"k", "1"}}, {count({3, 4})}, {{{3}, {1, 6, 11}}});
  row("diag", {{"k", "-1"}}, {count({3, 2})}, {{{2}, {2, 5}}});
  row("diag", {{"k", "1"}, {"axis1", "-1"}, {"axis2", "0"}}, {count({2, 3, 4})}, {{{3, 1}, {12, 16, 20}}});
  row("depth_to_space", {{"block_size", "2"}}, {count({1, 4, 1, 2})}, {{{1, 1, 2, 4}, {0, 2, 1, 3, 4, 6, 5, 7}}});
  row("space_to_depth", {{"block_size", "2"}}, {count({1, 1, 2, 4})}, {{{1, 4, 1, 2}, {0, 2, 1, 3, 4, 6, 5, 7}}});
}

TEST_CASE("views, numbers and arrays without elements keep their elements through shapes") {
  const NDArray x = count({2, 3, 4}), part = x[1];
  row("transpose", {}, {part}, {{{4, 3}, {12, 16, 20, 13, 17, 21, 14, 18, 22, 15, 19, 23}}});
  row("reverse", {{"axis", "(0, 1)"}}, {part.slice(1, 3)}, {{{2, 4}, {23, 22, 21, 20, 19, 18, 17, 16}}});
  row("slice", {{"begin", "(None, 1)"}, {"end", "(None, 3)"}}, {part}, {{{3, 2}, {13, 14, 17, 18, 21, 22}}});
  row("expand_dims", {{"axis", "0"}}, {strop::scalar(7)}, {{{1}, {7}}});
  row("Reshape", {{"shape", "(1, 1)"}}, {strop::scalar(7)}, {{{1, 1}, {7}}});
  row("transpose", {}, {strop::scalar(7)}, {{{}, {7}}});
  row("size_array", {}, {strop::zeros({0, 3})}, {{{1}, {0}}});
  row("Concat", {{"dim", "0"}}, {strop::zeros({0, 2}), count({1, 2}, 5)}, {{{1, 2}, {5, 6}}});
  row("slice", {{"begin", "(5,)"}, {"end", "(7,)"}}, {x}, {{{0, 3, 4}, {}}});
  row("broadcast_to", {{"shape", "(0, 3)"}}, {strop::zeros({0, 1})}, {{{0, 3}, {}}});
}

TEST_CASE("elements of every type are moved as they are") {
  for (const Dtype type : strop::all_dtypes) {
    const NDArray x = strop::array({1, 0, 1, 1, 0, 0}).to(type).reshape({2, 3});
    for (const NDArray& y : {strop::invoke("transpose", {x}), strop::invoke("reverse", {x}, {{"axis", "0"}}),
                             strop::invoke("repeat", {x}, {{"repeats", "2"}}), strop::invoke("stack", {x, x})})
      CHECK_MESSAGE(y.dtype() == type, strop::name_of(type));
    CHECK(values(strop::invoke("transpose", {x})) == Numbers{1, 1, 0, 0, 1, 0});
    CHECK(values(strop::invoke("SliceChannel", {x}, {{"num_outputs", "3"}, {"squeeze_axis", "True"}})) ==
          Numbers{1, 1});
  }
}

TEST_CASE("what is joined gives each input its part of the gradient, also of one input twice") {
  const NDArray a = count({2, 1}), b = count({2, 2});
  const auto g = gradients("Concat", {{"dim", "1"}}, {a, b}, {count({2, 3}, 1)});
  CHECK(g == std::vector<Numbers>{{1, 4}, {2, 3, 5, 6}});
  a.attach_grad();
  NDArray y;
  {
    strop::record scope;
    y = strop::invoke("stack", {a, a});
  }
  y.backward(count({2, 2, 1}, 1));
  CHECK(values(a.grad()) == Numbers{4, 6});
  const auto split = [](const NDArray& x) {
    strop::record scope;
    return strop::invoke_all("SliceChannel", {x}, {{"num_outputs", "3"}});
  };
  b.attach_grad();
  const NDArray whole = count({1, 3});
  whole.attach_grad();
  split(whole)[1].backward(array({{5}}));  // the parts that nobody asks for give zero
  CHECK(values(whole.grad()) == Numbers{0, 5, 0});
}

TEST_CASE("CSR matrices are cut and joined by rows without becoming dense") {
  const strop::verify::QuietFallbacks quiet;
  strop::clear_fallbacks();
  const NDArray c = array({{0, 1, 0}, {2, 0, 3}, {0, 0, 4}}).to(strop::csr);
  const NDArray rows = strop::invoke("slice", {c}, {{"begin", "(1,)"}, {"end", "(3,)"}});
  CHECK(rows.storage() == strop::csr);
  rows.check_format();
  CHECK(values(rows) == Numbers{2, 0, 3, 0, 0, 4});
  const NDArray both = strop::invoke("Concat", {c, rows}, {{"dim", "0"}});
  CHECK(both.storage() == strop::csr);
  both.check_format();
  CHECK(values(both) == Numbers{0, 1, 0, 2, 0, 3, 0, 0, 4, 2, 0, 3, 0, 0, 4});
  CHECK(strop::fallbacks().empty());
}

TEST_CASE("operators on shapes refuse in a sentence") {
  const NDArray m = count({2, 3}), c = count({2, 3, 4});
  CHECK(refusal("Reshape", {{"shape", "(4, 2)"}}, {m}) ==
        "reshape: shape (2, 3) by codes (4, 2): the result (4, 2) would have 8 elements, not 6");
  CHECK(refusal("Reshape", {{"shape", "(-1, -1)"}}, {m}) ==
        "reshape: shape (2, 3) by codes (-1, -1): only one extent can be inferred (-1)");
  CHECK(refusal("Reshape", {{"shape", "(0, 0, 0)"}}, {m}) ==
        "reshape: shape (2, 3) by codes (0, 0, 0): code 0 finds no extent left in the input");
  CHECK(refusal("Flatten", {}, {strop::scalar(1)}) == "flatten: input 'data' has no dimension, expected 1 or more");
  CHECK(refusal("expand_dims", {{"axis", "3"}}, {m}) ==
        "expand_dims: axis 3 is outside the result, which has 3 dimensions");
  CHECK(refusal("expand_dims", {}, {m}) == "expand_dims: parameter 'axis' (int) is required");
  CHECK(refusal("squeeze", {{"axis", "1"}}, {m}) == "squeeze: axis 1 of input 'data' has extent 3, expected 1");
  CHECK(refusal("squeeze", {{"axis", "(0, -2)"}}, {count({1, 3})}) == "squeeze: axis -2 is given twice");
  CHECK(refusal("reshape_like", {}, {m, count({4})}) ==
        "reshape_like: input 'lhs' of shape (2, 3) has 6 elements, shape (4,) has 4");
  CHECK(refusal("transpose", {{"axes", "(0, 0)"}}, {m}) == "transpose: axes (0, 0) name axis 0 twice");
  CHECK(refusal("transpose", {{"axes", "(0, 1, 2)"}}, {m}) == "transpose: axes (0, 1, 2) for an array of 2 dimensions");
  CHECK(refusal("SwapAxis", {{"dim1", "2"}}, {m}) == "swap_axis: axis 2 is outside an array of 2 dimensions");
  CHECK(refusal("reverse", {{"axis", "2"}}, {m}) == "reverse: axis 2 is outside an array of 2 dimensions");
  CHECK(refusal("reverse", {}, {m}) == "reverse: parameter 'axis' (shape) is required");
  CHECK(refusal("slice", {{"begin", "(0, 0, 0)"}, {"end", "(1, 1, 1)"}}, {m}) ==
        "slice: 3 bounds for an array of 2 dimensions");
  CHECK(refusal("slice", {{"begin", "(0,)"}, {"end", "(1,)"}, {"step", "(0,)"}}, {m}) ==
        "slice: the step of axis 0 is 0");
  CHECK(refusal("slice_axis", {{"axis", "1"}, {"begin", "2"}, {"end", "9"}}, {m}) ==
        "slice_axis: [2, 9) is outside axis 1 of input 'data', which has extent 3");
  CHECK(refusal("slice_axis", {{"axis", "2"}, {"begin", "0"}}, {m}) ==
        "slice_axis: axis 2 is outside an array of 2 dimensions");
  CHECK(refusal("slice_like", {}, {m, count({3, 3})}) ==
        "slice_like: axis 0 of input 'data' has extent 2, input 'shape_like' asks for 3");
  CHECK(refusal("slice_like", {}, {m, count({6})}) ==
        "slice_like: input 'data' has shape (2, 3), input 'shape_like' has shape (6,); without axes their ranks are "
        "equal");
  CHECK(refusal("_slice_assign", {{"begin", "(0, 0)"}, {"end", "(1, 2)"}}, {m, count({2, 2})}) ==
        "_slice_assign: input 'rhs' has shape (2, 2), expected (1, 2)");
  CHECK(refusal("Concat", {{"dim", "0"}}, {m, count({2, 2})}) ==
        "concat: input 'arg1' (number 1) has shape (2, 2), expected (?, 3) with any extent along axis 0");
  CHECK(refusal("Concat", {{"num_args", "3"}}, {m, m}) == "concat: num_args is 3, 2 inputs were given");
  CHECK(refusal("Concat", {{"dim", "2"}}, {m, m}) == "concat: axis 2 is outside an array of 2 dimensions");
  CHECK(refusal("stack", {}, {m, count({3, 2})}) == "stack: input 'arg1' (number 1) has shape (3, 2), expected (2, 3)");
  CHECK(refusal("SliceChannel", {{"num_outputs", "2"}}, {m}) ==
        "slice_channel: axis 1 of input 'data' has extent 3, which is no multiple of num_outputs = 2");
  CHECK(refusal("SliceChannel", {{"num_outputs", "1"}, {"squeeze_axis", "True"}}, {m}) ==
        "slice_channel: squeeze_axis takes parts of extent 1, those along axis 1 have extent 3");
  CHECK(refusal("SliceChannel", {{"num_outputs", "0"}}, {m}) ==
        "slice_channel: parameter 'num_outputs' is 0, expected at least 1");
  CHECK(refusal("broadcast_to", {{"shape", "(2, 4)"}}, {m}) ==
        "broadcast_to: input 'data' of shape (2, 3) does not broadcast to (2, 4): axis 1 has neither extent 1 nor 4");
  CHECK(refusal("broadcast_to", {{"shape", "(1, 2, 3)"}}, {m}) ==
        "broadcast_to: input 'data' has shape (2, 3), which has another rank than shape = (1, 2, 3)");
  CHECK(refusal("broadcast_axis", {{"axis", "0"}, {"size", "3"}}, {m}) ==
        "broadcast_axis: axis 0 of input 'data' has extent 2, expected 1");
  CHECK(refusal("broadcast_axis", {{"axis", "(0, -2)"}, {"size", "(3, 2)"}}, {count({1, 3})}) ==
        "broadcast_axis: axis -2 is given twice");
  CHECK(refusal("broadcast_like", {}, {m, count({4, 3})}) ==
        "broadcast_like: input 'lhs' of shape (2, 3) does not broadcast to input 'rhs' of shape (4, 3)");
  CHECK(refusal("broadcast_like", {{"lhs_axes", "()"}, {"rhs_axes", "()"}}, {m, m}) ==
        "broadcast_like: lhs_axes and rhs_axes list one axis or more");
  CHECK(refusal("tile", {{"reps", "(-1,)"}}, {m}) ==
        "tile: parameter 'reps' has a repetition of -1, expected 0 or more");
  CHECK(refusal("repeat", {{"repeats", "-1"}}, {m}) == "repeat: parameter 'repeats' is -1, expected at least 0");
  CHECK(refusal("repeat", {{"repeats", "2"}, {"axis", "2"}}, {m}) ==
        "repeat: axis 2 is outside an array of 2 dimensions");
  CHECK(refusal("Pad", {{"mode", "edge"}, {"pad_width", "(0, 1)"}}, {m}) ==
        "pad: pad_width = (0, 1) lists 2 numbers, expected 4, two per axis of input 'data'");
  CHECK(refusal("Pad", {{"mode", "reflect"}, {"pad_width", "(0, 0, 0, 3)"}}, {m}) ==
        "pad: axis 1 of input 'data' has extent 3, which reflects at most 2 elements");
  CHECK(refusal("Pad", {{"mode", "mirror"}, {"pad_width", "(0, 0, 0, 3)"}}, {m}) ==
        "pad: parameter 'mode' is 'mirror', expected one of {'constant', 'edge', 'reflect'}");
  CHECK(refusal("diag", {{"k", "5"}}, {m}) == "diag: input 'data' of shape (2, 3) has no diagonal 5");
  CHECK(refusal("diag", {{"axis1", "1"}, {"axis2", "-2"}}, {c}) == "diag: axis1 and axis2 are both axis 1");
  CHECK(refusal("diag", {{"axis1", "1"}, {"axis2", "1"}}, {c}) == "diag: axis1 and axis2 are both axis 1");
  CHECK(refusal("depth_to_space", {{"block_size", "2"}}, {count({1, 3, 2, 2})}) ==
        "depth_to_space: input 'data' of shape (1, 3, 2, 2) has 3 channels, expected a multiple of 4");
  CHECK(refusal("depth_to_space", {{"block_size", "2"}}, {m}) ==
        "depth_to_space: input 'data' has shape (2, 3), expected 4 dimensions");
  CHECK(
      refusal("space_to_depth", {{"block_size", "2"}}, {count({1, 1, 3, 2})}) ==
      "space_to_depth: input 'data' of shape (1, 1, 3, 2) has rows or columns that are no multiple of block_size = 2");
}
