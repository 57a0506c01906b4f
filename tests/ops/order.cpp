// SPDX-License-Identifier: Apache-2.0
#include "value_rows.hpp"

using namespace ops_test;
using strop::array;

TEST_CASE("sort as MXNet does it") {
  row("sort", {}, {array({{3, 1, 2}, {6, 9, 7}})}, {{{2, 3}, {1, 2, 3, 6, 7, 9}}});
  row("sort", {{"axis", "0"}}, {array({{3, 1, 2}, {6, 9, 7}})}, {{{2, 3}, {3, 1, 2, 6, 9, 7}}});
  row("sort", {{"is_ascend", "False"}}, {array({{3, 1, 2}, {6, 9, 7}})}, {{{2, 3}, {3, 2, 1, 9, 7, 6}}});
  row("sort", {{"axis", "None"}}, {array({{3, 1, 2}, {6, 9, 7}})}, {{{6}, {1, 2, 3, 6, 7, 9}}});
  row("argsort", {}, {array({{3, 1, 2}, {6, 9, 7}})}, {{{2, 3}, {1, 2, 0, 0, 2, 1}}});
  row("argsort", {{"axis", "0"}}, {array({{3, 1, 2}, {6, 9, 7}})}, {{{2, 3}, {0, 0, 0, 1, 1, 1}}});
  row("argsort", {{"is_ascend", "False"}}, {array({{3, 1, 2}, {6, 9, 7}})}, {{{2, 3}, {0, 2, 1, 1, 2, 0}}});
  row("argsort", {{"axis", "None"}}, {array({{3, 1, 2}, {6, 9, 7}})}, {{{6}, {1, 2, 0, 3, 5, 4}}});
  row("argsort", {{"dtype", "int32"}}, {array({{3, 1, 2}, {6, 9, 7}})}, {{{2, 3}, {1, 2, 0, 0, 2, 1}}});
  row("topk", {}, {array({{3, 1, 2}, {6, 9, 7}})}, {{{2, 1}, {0, 1}}});
  row("topk", {{"k", "2"}}, {array({{3, 1, 2}, {6, 9, 7}})}, {{{2, 2}, {0, 2, 1, 2}}});
  row("topk", {{"k", "2"}, {"ret_typ", "value"}}, {array({{3, 1, 2}, {6, 9, 7}})}, {{{2, 2}, {3, 2, 9, 7}}});
  row("topk", {{"k", "2"}, {"ret_typ", "mask"}}, {array({{3, 1, 2}, {6, 9, 7}})}, {{{2, 3}, {1, 0, 1, 0, 1, 1}}});
  row("topk", {{"k", "2"}, {"ret_typ", "both"}}, {array({{3, 1, 2}, {6, 9, 7}})},
      {{{2, 2}, {3, 2, 9, 7}}, {{2, 2}, {0, 2, 1, 2}}});
  row("topk", {{"axis", "0"}, {"k", "1"}, {"ret_typ", "value"}, {"is_ascend", "True"}}, {array({{3, 1, 2}, {6, 9, 7}})},
      {{{1, 3}, {3, 1, 2}}});
  row("topk", {{"axis", "None"}, {"k", "3"}}, {array({{3, 1, 2}, {6, 9, 7}})}, {{{3}, {4, 5, 3}}});
  row("topk", {{"axis", "None"}, {"k", "3"}, {"ret_typ", "value"}}, {array({{3, 1, 2}, {6, 9, 7}})},
      {{{3}, {9, 7, 6}}});
  row("topk", {{"axis", "None"}, {"k", "2"}, {"ret_typ", "mask"}}, {array({{3, 1, 2}, {6, 9, 7}})},
      {{{2, 3}, {0, 0, 0, 0, 1, 1}}});
  row("topk", {{"k", "0"}, {"ret_typ", "value"}}, {array({{3, 1, 2}, {6, 9, 7}})}, {{{2, 3}, {3, 2, 1, 9, 7, 6}}});
}

TEST_CASE("sequences as MXNet does them") {
  row("SequenceMask", {}, {count({3, 2, 2}, 1)}, {{{3, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}}});
  row("SequenceMask", {{"use_sequence_length", "True"}}, {count({3, 2, 2}, 1), array({1, 2})},
      {{{3, 2, 2}, {1, 2, 3, 4, 0, 0, 7, 8, 0, 0, 0, 0}}});
  row("SequenceMask", {{"use_sequence_length", "True"}, {"axis", "1"}}, {count({2, 3, 2}, 1), array({1, 2})},
      {{{2, 3, 2}, {1, 2, 0, 0, 0, 0, 7, 8, 9, 10, 0, 0}}});
  row("SequenceLast", {}, {count({3, 2, 2}, 1)}, {{{2, 2}, {9, 10, 11, 12}}});
  row("SequenceLast", {{"use_sequence_length", "True"}}, {count({3, 2, 2}, 1), array({1, 2})},
      {{{2, 2}, {1, 2, 7, 8}}});
  row("SequenceLast", {{"use_sequence_length", "True"}, {"axis", "1"}}, {count({2, 3, 2}, 1), array({1, 2})},
      {{{2, 2}, {1, 2, 9, 10}}});
  row("SequenceReverse", {}, {count({3, 2, 2}, 1)}, {{{3, 2, 2}, {9, 10, 11, 12, 5, 6, 7, 8, 1, 2, 3, 4}}});
  row("SequenceReverse", {{"use_sequence_length", "True"}}, {count({3, 2, 2}, 1), array({1, 2})},
      {{{3, 2, 2}, {1, 2, 7, 8, 5, 6, 3, 4, 9, 10, 11, 12}}});
  row("SequenceMask", {{"use_sequence_length", "True"}, {"value", "-1"}}, {count({3, 2, 2}, 1), array({1, 2})},
      {{{3, 2, 2}, {1, 2, 3, 4, -1, -1, 7, 8, -1, -1, -1, -1}}});
}

TEST_CASE("equal elements keep their order, NaN is the greatest number") {
  row("argsort", {}, {array({2, 1, 2, 1})}, {{{4}, {1, 3, 0, 2}}});
  row("argsort", {{"is_ascend", "False"}}, {array({2, 1, 2, 1})}, {{{4}, {0, 2, 1, 3}}});
  row("sort", {}, {array({NaN, 1, -Inf, Inf})}, {{{4}, {-Inf, 1, Inf, NaN}}});
  row("topk", {{"k", "2"}, {"ret_typ", "value"}}, {array({1, NaN, 3})}, {{{2}, {NaN, 3}}});
  row("topk", {{"k", "2"}}, {array({3, 3, 3})}, {{{2}, {0, 1}}});
}

TEST_CASE("order of other types, of nothing and of one number") {
  CHECK(strop::invoke("sort", {array({3, 1}).to(strop::u8)}).dtype() == strop::u8);
  CHECK(values(strop::invoke("sort", {array({3, 1, 2}).to(strop::f16)})) == Numbers{1, 2, 3});
  CHECK(strop::invoke("argsort", {array({3, 1})}, {{"dtype", "int32"}}).dtype() == strop::i32);
  const Arrays both = strop::invoke_all("topk", {array({3, 1, 2}).to(strop::i32)},
                                        {{"ret_typ", "both"}, {"k", "2"}, {"dtype", "int64"}});
  CHECK(both[0].dtype() == strop::i32);
  CHECK(both[1].dtype() == strop::i64);
  CHECK(values(both[1]) == Numbers{0, 2});
  row("sort", {}, {strop::zeros({2, 0})}, {{{2, 0}, {}}});
  row("argsort", {{"axis", "0"}}, {strop::zeros({0, 3})}, {{{0, 3}, {}}});
  row("sort", {{"axis", "None"}}, {strop::scalar(5)}, {{{1}, {5}}});
}

TEST_CASE("gradients go to the places that the elements had") {
  const NDArray x = array({{3, 1, 2}, {6, 9, 7}});
  CHECK(gradients("sort", {}, {x}, {array({{1, 2, 3}, {4, 5, 6}})})[0] == Numbers{3, 1, 2, 4, 6, 5});
  CHECK(gradients("topk", {{"k", "2"}, {"ret_typ", "value"}}, {x}, {array({{1, 2}, {3, 4}})})[0] ==
        Numbers{1, 0, 2, 0, 3, 4});
  CHECK(gradients("topk", {{"k", "1"}, {"axis", "None"}, {"ret_typ", "both"}}, {x}, {array({8}), array({1})})[0] ==
        Numbers{0, 0, 0, 0, 8, 0});
  CHECK(gradients("topk", {{"ret_typ", "mask"}}, {x}, {count({2, 3})})[0] == Numbers(6, 0.0));
}

TEST_CASE("sequences of every length") {
  const NDArray x = count({2, 3});
  row("SequenceMask", {{"use_sequence_length", "True"}, {"value", "9"}}, {x, array({0, 1, 5})},
      {{{2, 3}, {9, 1, 2, 9, 9, 5}}});
  row("SequenceReverse", {{"use_sequence_length", "True"}}, {x, array({0, 1, 2})}, {{{2, 3}, {0, 1, 5, 3, 4, 2}}});
  CHECK(gradients("SequenceMask", {{"use_sequence_length", "True"}}, {x, array({0, 1, 2})}, {count({2, 3}, 1)})[0] ==
        Numbers{0, 2, 3, 0, 0, 6});
  CHECK(gradients("SequenceLast", {{"use_sequence_length", "True"}}, {x, array({1, 2, 1})}, {array({7, 8, 9})})[0] ==
        Numbers{7, 0, 9, 0, 8, 0});
  CHECK(values(strop::invoke("SequenceLast", {x.to(strop::i32)})) == Numbers{3, 4, 5});
}

TEST_CASE("amp_multicast brings floating arrays to one type") {
  const NDArray a = array({1, 2}).to(strop::f16), b = array<double>({3}), c = array({4}).to(strop::i32);
  const Arrays wide = strop::invoke_all("amp_multicast", {a, b, c}, {{"num_outputs", "3"}}),
               narrow = strop::invoke_all("amp_multicast", {a, b, c}, {{"num_outputs", "3"}, {"cast_narrow", "True"}});
  for (const Arrays& all : {wide, narrow}) {  // float64 and integers stay what they are
    CHECK(all[0].dtype() == strop::f16);
    CHECK(all[1].dtype() == strop::f64);
    CHECK(all[2].dtype() == strop::i32);
  }
  CHECK(values(wide[0]) == Numbers{1, 2});
  a.attach_grad();
  Arrays y;
  {
    strop::record scope;
    y = strop::invoke_all("amp_multicast", {a, b}, {{"num_outputs", "2"}});
  }
  y[0].backward(array<double>({5, 6}));
  CHECK(a.grad().dtype() == strop::f16);
  CHECK(values(a.grad()) == Numbers{5, 6});
}
