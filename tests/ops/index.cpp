// SPDX-License-Identifier: Apache-2.0
#include "value_rows.hpp"

using namespace ops_test;
using strop::array;

TEST_CASE("take and pick as MXNet does them") {
  row("take", {}, {array({{1, 2}, {3, 4}, {5, 6}}), array({{0, 2}, {-1, 4}})}, {{{2, 2, 2}, {1, 2, 5, 6, 1, 2, 5, 6}}});
  row("take", {{"mode", "wrap"}}, {array({{1, 2}, {3, 4}, {5, 6}}), array({{0, 2}, {-1, 4}})},
      {{{2, 2, 2}, {1, 2, 5, 6, 5, 6, 3, 4}}});
  row("take", {{"axis", "1"}}, {array({{1, 2}, {3, 4}, {5, 6}}), array({1.7, 0.2, 1})},
      {{{3, 3}, {2, 1, 2, 4, 3, 4, 6, 5, 6}}});
  row("take", {{"axis", "-1"}, {"mode", "wrap"}}, {array({{1, 2}, {3, 4}, {5, 6}}), array({-3, 2})},
      {{{3, 2}, {2, 1, 4, 3, 6, 5}}});
  row("pick", {}, {array({{1, 2}, {3, 4}, {5, 6}}), array({0, 1, -1})}, {{{3}, {1, 4, 5}}});
  row("pick", {{"mode", "wrap"}}, {array({{1, 2}, {3, 4}, {5, 6}}), array({0, 1, -1})}, {{{3}, {1, 4, 6}}});
  row("pick", {{"axis", "0"}, {"keepdims", "True"}}, {array({{1, 2}, {3, 4}, {5, 6}}), array({{2, 1}})},
      {{{1, 2}, {5, 4}}});
  row("pick", {{"axis", "1"}}, {count({2, 3, 2}), array({{0, 1}, {2, 5}})}, {{{2, 2}, {0, 3, 10, 11}}});
}

TEST_CASE("one_hot and Embedding as MXNet does them") {
  row("one_hot", {{"depth", "3"}}, {array({1, 0, 2, 5, -1})},
      {{{5, 3}, {0, 1, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0}}});
  row("one_hot", {{"depth", "2"}, {"on_value", "5"}, {"off_value", "-1"}}, {array({{1, 0}})},
      {{{1, 2, 2}, {-1, 5, 5, -1}}});
  row("Embedding", {{"input_dim", "3"}, {"output_dim", "2"}},
      {array({{2, 0}, {7, -4}}), array({{1, 2}, {3, 4}, {5, 6}})}, {{{2, 2, 2}, {5, 6, 1, 2, 5, 6, 1, 2}}});
}

TEST_CASE("gather_nd, scatter_nd and ravelled positions as MXNet does them") {
  row("gather_nd", {}, {array({{1, 2}, {3, 4}}), array({{1, 0, 1}, {0, 1, 1}})}, {{{3}, {3, 2, 4}}});
  row("gather_nd", {}, {count({2, 2, 2}), array({{1, 0}})}, {{{2, 2, 2}, {4, 5, 6, 7, 0, 1, 2, 3}}});
  row("gather_nd", {}, {array({{1, 2}, {3, 4}, {5, 6}}), array({{-1}})}, {{{1, 2}, {5, 6}}});
  row("scatter_nd", {{"shape", "(2, 3)"}}, {array({7, 8}), array({{0, 1}, {2, 0}})}, {{{2, 3}, {0, 0, 7, 8, 0, 0}}});
  row("scatter_nd", {{"shape", "(3, 2)"}}, {count({2, 2}, 1), array({{2, 0}})}, {{{3, 2}, {3, 4, 0, 0, 1, 2}}});
}

TEST_CASE("positions have any type") {
  const NDArray m = array({{1, 2}, {3, 4}, {5, 6}});
  for (const Dtype type : {strop::f32, strop::f64, strop::f16, strop::u8, strop::i8, strop::i32, strop::i64}) {
    const NDArray at = array({2, 0, 1}).to(type);
    CHECK(values(strop::invoke("take", {m, at})) == Numbers{5, 6, 1, 2, 3, 4});
    CHECK(values(strop::invoke("one_hot", {at}, {{"depth", "3"}})) == Numbers{0, 0, 1, 1, 0, 0, 0, 1, 0});
    // Of each row the element at its position, moved to the last one where it lies behind.
    CHECK(values(strop::invoke("batch_take", {m, at})) == Numbers{2, 3, 6});
    CHECK(values(strop::invoke("pick", {m, at})) == Numbers{2, 3, 6});
  }
  CHECK(strop::invoke("one_hot", {array({1})}, {{"depth", "2"}, {"dtype", "int32"}}).dtype() == strop::i32);
  CHECK(strop::invoke("one_hot", {array({1})}, {{"depth", "0"}}).shape() == Shape{1, 0});
}

TEST_CASE("taken elements give their gradient back, added up where one is taken twice") {
  const NDArray m = array({{1, 2}, {3, 4}, {5, 6}});
  CHECK(gradients("take", {}, {m, array({2, 0, 2})}, {count({3, 2}, 1)})[0] == Numbers{3, 4, 0, 0, 6, 8});
  CHECK(gradients("take", {{"axis", "1"}}, {m, array({1, 1})}, {count({3, 2}, 1)})[0] == Numbers{0, 3, 0, 7, 0, 11});
  CHECK(gradients("pick", {}, {m, array({1, 0, 7})}, {array({1, 2, 3})})[0] == Numbers{0, 1, 2, 0, 0, 3});
  CHECK(gradients("gather_nd", {}, {m, array({{2, 2}, {1, 1}})}, {array({1, 2})})[0] == Numbers{0, 0, 0, 0, 0, 3});
  CHECK(gradients("scatter_nd", {{"shape", "(4,)"}}, {array({1, 2}), array({{3, 1}})}, {array({5, 6, 7, 8})})[0] ==
        Numbers{8, 6});
  CHECK(gradients("Embedding", {{"input_dim", "3"}, {"output_dim", "2"}}, {array({1, 1, 0}), m},
                  {count({3, 2}, 1)})[1] == Numbers{5, 6, 4, 6, 0, 0});
}

TEST_CASE("SparseEmbedding is Embedding with a row-sparse gradient") {
  const NDArray at = array({1, 3, 1}), m = count({4, 3});
  for (const Storage storage : {strop::dense, strop::row_sparse}) {
    const NDArray weight = m.to(storage).copy();
    weight.attach_grad(strop::GradRequest::write, strop::row_sparse);
    strop::record scope;
    const NDArray y = strop::sparse_embedding(at, weight, {.input_dim = 4, .output_dim = 3});
    CHECK(values(y) == Numbers{3, 4, 5, 9, 10, 11, 3, 4, 5});
    y.backward();
    CHECK(weight.grad().storage() == strop::row_sparse);
    CHECK(values(weight.grad()) == Numbers{0, 0, 0, 2, 2, 2, 0, 0, 0, 1, 1, 1});
    CHECK(weight.grad().nnz() == 2);
  }
  // Rows are numbered in the width of the numbers that they are asked by.
  for (const Dtype type : {strop::i32, strop::i64, strop::f32}) {
    const NDArray weight = m.copy();
    weight.attach_grad(strop::GradRequest::write, strop::row_sparse);
    {
      strop::record scope;
      strop::sparse_embedding(at.to(type), weight, {.input_dim = 4, .output_dim = 3}).backward();
    }
    CHECK(weight.grad().indices().dtype() == (type == strop::i32 ? strop::i32 : strop::i64));
    CHECK(values(weight.grad().indices()) == Numbers{1, 3});
  }
}

TEST_CASE("sparse arrays are indexed by their stored values") {
  const strop::verify::QuietFallbacks quiet;
  strop::clear_fallbacks();
  const NDArray c = array({{0, 1}, {2, 0}, {0, 3}}).to(strop::csr), y = strop::invoke("take", {c, array({2, 0, 2})});
  CHECK(y.storage() == strop::csr);
  y.check_format();
  CHECK(values(y) == Numbers{0, 3, 0, 1, 0, 3});
  CHECK(refusal("take", {}, {c, array({{2, 0}})}) ==
        "take: output 'output' would be csr with shape (1, 2, 2), expected 2 dimensions");
  const NDArray rows = strop::row_sparse_array({{5, 6}}, {1}, {3, 2});
  CHECK(values(strop::invoke("Embedding", {array({1, 0}), rows}, {{"input_dim", "3"}, {"output_dim", "2"}})) ==
        Numbers{5, 6, 0, 0});
  CHECK(refusal("Embedding", {{"input_dim", "3"}, {"output_dim", "2"}}, {array({3}), rows}) ==
        "embedding: position 3 is outside an axis of extent 3");
  CHECK(strop::fallbacks().empty());
  const NDArray weight = array({{1, 2}, {3, 4}, {5, 6}});
  weight.attach_grad(strop::GradRequest::write, strop::row_sparse);
  {
    strop::record scope;
    strop::invoke("Embedding", {array({2, 0, 2}), weight},
                  {{"input_dim", "3"}, {"output_dim", "2"}, {"sparse_grad", "True"}})
        .backward(count({3, 2}, 1));
  }
  CHECK(weight.grad().storage() == strop::row_sparse);
  CHECK(weight.grad().nnz() == 2);
  CHECK(values(weight.grad()) == Numbers{3, 4, 0, 0, 6, 8});
  const auto outside = [&] {
    strop::record scope;
    strop::invoke("Embedding", {array({0, 7}), weight},
                  {{"input_dim", "3"}, {"output_dim", "2"}, {"sparse_grad", "True"}})
        .backward(count({2, 2}, 1));
  };
  CHECK_THROWS_WITH_AS(outside(), "embedding: position 7 is outside an axis of extent 3", strop::Error);
}

TEST_CASE("what a matrix stores, counted and looked up") {
  // getnnz, edge_id and dgl_adjacency as MXNet has them, and counts by column.
  const NDArray a = strop::csr_matrix({5, 7, 9, 0}, {0, 1, 1, 0}, {0, 1, 2, 4}, {3, 3});
  const auto counts = [&](strop::Attributes params) { return values(strop::invoke("_contrib_getnnz", {a}, params)); };
  CHECK(counts({}) == Numbers{4});  // a stored zero as well
  CHECK(counts({{"axis", "1"}}) == Numbers{1, 1, 2});
  CHECK(counts({{"axis", "0"}}) == Numbers{2, 2, 0});
  CHECK(strop::invoke("_contrib_getnnz", {a}).dtype() == strop::i64);
  CHECK(values(strop::invoke("_contrib_getnnz", {a.to(strop::dense)})) == Numbers{3});
  row("_contrib_edge_id", {}, {a, array({0, 0, 2, 2}), array({0, 1, 1, 0})}, {{{4}, {5, -1, 9, 0}}});
  const NDArray ones = strop::invoke("_contrib_dgl_adjacency", {a.to(strop::i64)});
  CHECK(ones.storage() == strop::csr);
  CHECK(ones.dtype() == strop::f32);
  CHECK(values(ones) == Numbers{1, 0, 0, 0, 1, 0, 1, 1, 0});
  CHECK(refusal("_contrib_edge_id", {}, {a, array({3}), array({0})}) ==
        "_contrib_edge_id: position 3 is outside an axis of extent 3");
  CHECK(refusal("_contrib_getnnz", {{"axis", "2"}}, {a}) ==
        "_contrib_getnnz: parameter 'axis' is 2, expected 0, 1 or None");
  CHECK(refusal("_contrib_dgl_adjacency", {}, {array({{1}})}) == "_contrib_dgl_adjacency: data is dense, expected csr");
}

TEST_CASE("_identity_with_attr_like_rhs stores one array as another") {
  const NDArray x = array({{0, 1}, {2, 0}, {0, 0}});
  for (const Storage from : {strop::dense, strop::csr, strop::row_sparse})
    for (const Storage like : {strop::dense, strop::csr, strop::row_sparse}) {
      const NDArray y = strop::invoke("_identity_with_attr_like_rhs", {x.to(from), strop::zeros({3, 2}).to(like)});
      CHECK(y.storage() == like);
      CHECK(values(y) == values(x));
    }
}

TEST_CASE("operators on positions refuse in a sentence") {
  const NDArray m = count({2, 3});
  CHECK(refusal("take", {{"axis", "2"}}, {m, array({0})}) == "take: axis 2 is outside an array of 2 dimensions");
  CHECK(refusal("take", {{"mode", "raise"}}, {m, array({5})}) == "take: position 5 is outside an axis of extent 2");
  CHECK(refusal("take", {{"mode", "raise"}}, {m, array({-1})}) == "take: position -1 is outside an axis of extent 2");
  CHECK(refusal("take", {{"mode", "between"}}, {m, array({5})}) ==
        "take: parameter 'mode' is 'between', expected one of {'raise', 'wrap', 'clip'}");
  CHECK(refusal("take", {}, {strop::zeros({0, 2}), array({0})}) == "take: positions in an axis without elements");
  CHECK(refusal("pick", {{"axis", "None"}}, {m, array({0, 0})}) == "pick: parameter 'axis' is None, expected an axis");
  CHECK(refusal("pick", {}, {m, array({0, 0, 0})}) == "pick: input 'index' has shape (3,), expected (2,)");
  CHECK(refusal("batch_take", {}, {m, array({0})}) ==
        "batch_take: input 'indices' has shape (1,), expected 2 elements, one per row of input 'a'");
  CHECK(refusal("one_hot", {}, {array({0})}) == "one_hot: parameter 'depth' (long) is required");
  CHECK(refusal("one_hot", {{"depth", "-1"}}, {array({0})}) == "one_hot: parameter 'depth' is -1, expected at least 0");
  CHECK(refusal("Embedding", {{"input_dim", "3"}, {"output_dim", "3"}}, {array({0}), m}) ==
        "embedding: input 'weight' has shape (2, 3), expected (3, 3)");
  CHECK(refusal("gather_nd", {}, {m, array({{1}, {0}, {0}})}) ==
        "gather_nd: input 'indices' has shape (3, 1), expected a first extent from 1 to 2, the coordinates of an array "
        "of shape (2, 3)");
  CHECK(refusal("gather_nd", {}, {m, array({{2}, {0}})}) == "gather_nd: position 2 is outside an axis of extent 2");
  CHECK(refusal("scatter_nd", {{"shape", "(2, 2)"}}, {array({1}), array({{1}, {2}})}) ==
        "scatter_nd: position 2 is outside an axis of extent 2");
  CHECK(refusal("_ravel_multi_index", {{"shape", "(2, 3, 4)"}}, {m}) ==
        "_ravel_multi_index: input 'data' has shape (2, 3), expected a first extent of 3, one per axis of shape = (2, "
        "3, 4)");
  CHECK(refusal("_unravel_index", {{"shape", "(2, 0)"}}, {array({1})}) ==
        "_unravel_index: shape = (2, 0) has no positions");
}

TEST_CASE("an Embedding finds the rows of a weight that stores them in another order") {
  const NDArray weight = strop::row_sparse_array({{1}, {2}, {3}}, {2, 1, 0}, {3, 1});
  CHECK(values(strop::embedding(array({2, 0, 1}), weight, {.input_dim = 3, .output_dim = 1})) == Numbers{1, 3, 2});
}
