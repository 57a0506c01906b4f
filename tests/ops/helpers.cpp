// SPDX-License-Identifier: Apache-2.0
/// \file
/// What gradients are composed of can be called by name: shapes that no gradient has are refused.
#include "value_rows.hpp"

using namespace ops_test;
using strop::array;

TEST_CASE("parts of gradients check the shapes that they are given") {
  const NDArray v2 = count({2}), v3 = count({3}), m = count({2, 3}), none = strop::scalar(1);
  CHECK(refusal("_backward_slice_window", {{"begin", "(1,)"}}, {v3, none}) ==
        "_backward_slice_window: input 'like' of shape () is no window of input 'data', which has shape (3,)");
  CHECK(refusal("_backward_slice_window", {{"begin", "(1,)"}}, {v3, v3}) ==
        "_backward_slice_window: input 'like' of shape (3,) is no window of input 'data', which has shape (3,)");
  row("_backward_slice_window", {{"begin", "(1,)"}}, {v3, v2}, {{{2}, {1, 2}}});
  CHECK(refusal("_backward_slice", {{"begin", "(1,)"}}, {v3, v3}) ==
        "_backward_slice: input 'data' of shape (3,) is no window of input 'like', which has shape (3,)");
  CHECK(refusal("_backward_reduce", {}, {count({4, 0}), count({4, 2})}) ==
        "_backward_reduce: input 'data' has shape (4, 0), expected (1,)");
  CHECK(refusal("_backward_reduce", {{"axis", "1"}}, {v3, m}) ==
        "_backward_reduce: input 'data' has shape (3,), expected (2,)");
  CHECK(refusal("_backward_broadcast", {}, {count({4, 3}), count({2, 0, 5, 1})}) ==
        "_backward_broadcast: input 'like' has shape (2, 0, 5, 1), which does not broadcast to (4, 3), the shape of "
        "input 'data'");
  CHECK(refusal("_backward_broadcast", {}, {m, count({5, 1})}) ==
        "_backward_broadcast: input 'like' has shape (5, 1), which does not broadcast to (2, 3), the shape of input "
        "'data'");
  row("_backward_broadcast", {}, {m, count({2, 1})}, {{{2, 1}, {3, 12}}});
  CHECK(refusal("_backward_split_v2", {{"sections", "2"}}, {m, m}) ==
        "_backward_split_v2: 1 parts were given, expected 2");
  CHECK(refusal("_backward_split_v2", {{"sections", "2"}}, {count({2, 4}), count({2, 2}), m}) ==
        "_backward_split_v2: input 'parts' has shape (2, 3), expected (2, 2)");
  CHECK(refusal("_backward_concat", {{"num_args", "2"}}, {m, count({2, 2}), count({2, 2})}) ==
        "_backward_concat: input 'data' has shape (2, 3), expected (2, 4)");
  CHECK(refusal("_backward_concat", {{"num_args", "3"}}, {m, m}) ==
        "_backward_concat: takes num_args = 3 arrays after data, not 1");
  CHECK(refusal("_backward_diag", {}, {v3, count({2, 2})}) ==
        "_backward_diag: input 'data' has shape (3,), expected (2,)");
  CHECK(refusal("_backward_tile", {{"reps", "(2,)"}}, {v3, v2}) ==
        "_backward_tile: input 'data' has shape (3,), expected (4,)");
  CHECK(refusal("_backward_repeat", {{"repeats", "2"}}, {v3, v2}) ==
        "_backward_repeat: input 'data' has shape (3,), expected (4,)");
  CHECK(refusal("_backward_repeat", {{"repeats", "-1"}}, {v3, v3}) ==
        "_backward_repeat: repeats is -1, expected 0 or more");
  CHECK(refusal("_backward_Pad", {{"pad_width", "(1, 1)"}}, {v3, v2}) ==
        "_backward_pad: input 'data' has shape (3,), expected (4,)");
  CHECK(refusal("_backward_take", {}, {v3, v2, count({5})}) ==
        "_backward_take: input 'data' has shape (3,), expected (2,)");
  CHECK(refusal("_backward_pick", {}, {v3, v2, m}) ==
        "_backward_pick: input 'data' and input 'index' have shapes (3,) and (2,), expected 2 elements each, one per "
        "run of axis -1 of input 'like', which has shape (2, 3)");
  CHECK(refusal("_backward_gather_nd", {}, {v3, count({1, 2}), v2}) ==
        "_backward_gather_nd: input 'data' has shape (3,), expected (2,)");
  CHECK(refusal("_backward_Embedding", {}, {v3, v2, count({2, 2})}) ==
        "_backward_embedding: input 'data' has shape (3,), expected (2, 2)");
  CHECK(refusal("_backward_dot_again", {}, {m, m, count({3, 2})}) ==
        "_backward_dot_again: input 'head' has shape (2, 3), expected (2, 2)");
  CHECK(refusal("_backward_FullyConnected_again", {{"num_hidden", "2"}}, {m, m, m}) ==
        "_backward_fully_connected_again: input 'head' has shape (2, 3), expected (2, 2)");
  CHECK(refusal("_backward_Convolution_again", {{"kernel", "(2,)"}, {"num_filter", "2"}},
                {count({1, 2, 3}), count({1, 1, 3}), count({2, 1, 2})}) ==
        "_backward_convolution_again: input 'head' has shape (1, 2, 3), expected (1, 2, 2)");
}

TEST_CASE("SoftmaxOutput needs an axis of classes, also where the label is probabilities") {
  const NDArray none = strop::scalar(1), v = count({3});
  CHECK(refusal("SoftmaxOutput", {}, {none, none}) ==
        "softmax_output: input 'data' has shape (), expected 1 dimension or more");
  CHECK(refusal("SoftmaxOutput", {{"multi_output", "True"}}, {v, v}) ==
        "softmax_output: input 'data' has shape (3,), expected 2 dimensions or more");
}

TEST_CASE("a number of outputs that no axis has is refused before they are made") {
  const NDArray m = count({2, 2});
  for (const char* op : {"SliceChannel", "amp_multicast", "_split_v2"}) {
    const bool sections = op[0] == '_';
    const std::string text = refusal(op, {{sections ? "sections" : "num_outputs", "2147483647"}}, {m});
    CHECK_MESSAGE(text.find(" is 2147483647, and a call has at most 1048576 outputs") != std::string::npos, text);
  }
}

TEST_CASE("a new axis is named in the result") {
  const NDArray m = count({2, 3});
  CHECK(refusal("expand_dims", {{"axis", "4"}}, {m}) ==
        "expand_dims: axis 4 is outside the result, which has 3 dimensions");
  CHECK(refusal("stack", {{"axis", "-4"}}, {m, m}) == "stack: axis -4 is outside the result, which has 3 dimensions");
}
