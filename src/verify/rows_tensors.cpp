// SPDX-License-Identifier: Apache-2.0
/// \file
/// Rows of the operators that index and reduce elements, and of products.
#include "library.hpp"

namespace strop::inline v0::verify {
namespace {

const Parts moves{.same_shape = false};

void add_index_rows(std::vector<Row>& rows) {
  const auto add = [&](const std::string& op, const std::string& params, std::vector<Sample> in) {
    rows.push_back({op, params, std::move(in), moves});
  };
  const Sample matrix{{4, 6}}, cube{{2, 3, 4}};
  const Sample lengths = listed({3}, {2.5, 0.5, 1.5}), some = listed({3}, {2.5, 1.5, 1.5});
  for (const std::string op : {"SequenceMask", "SequenceLast", "SequenceReverse"}) {
    add(op, "", {cube});
    add(op, "use_sequence_length=True", {{{2, 3, 4}}, op == "SequenceLast" ? some : lengths});
    add(op, "use_sequence_length=True", {{{4, 3}}, some});
    if (op != "SequenceReverse") add(op, "use_sequence_length=True; axis=1", {{{3, 4, 2}}, some});
  }
  rows.push_back({"take", "", {matrix, at({2, 2}, 4)}, {.sparse = false, .same_shape = false}});
  add("take", "", {matrix, at({3}, 4)});
  add("take", "axis=1; mode=wrap", {cube, at({5}, 9)});
  add("take", "axis=-1; mode=raise", {cube, at({2}, 4)});
  add("take", "", {matrix, at({0}, 4)});
  add("_backward_take", "", {{{3, 6}}, at({3}, 4), matrix});
  add("batch_take", "", {matrix, at({4}, 6)});
  add("pick", "", {matrix, at({4}, 6)});
  add("pick", "axis=0; keepdims=True", {matrix, at({1, 6}, 4)});
  add("pick", "axis=1; mode=wrap", {cube, at({2, 4}, 7)});
  add("_backward_pick", "axis=1", {{{4}}, at({4}, 6), matrix});
  add("one_hot", "depth=4", {at({3, 2}, 5)});
  add("one_hot", "depth=3; on_value=5; off_value=-1; dtype=int32", {at({4}, 3)});
  add("Embedding", "input_dim=4; output_dim=6", {at({2, 3}, 4), matrix});
  rows.push_back({"Embedding",
                  "input_dim=4; output_dim=6; sparse_grad=True",
                  {at({2, 3}, 4), matrix},
                  {.sparse = false, .same_shape = false}});
  add("_contrib_SparseEmbedding", "input_dim=4; output_dim=6", {at({2, 3}, 4), matrix});
  add("_backward_Embedding", "", {{{3, 6}}, at({3}, 4), matrix});
  // Coordinates along the first axes: they differ in their ranges, so they are said.
  const Sample places = listed({2, 3}, {0.5, 1.5, 1.5, 2.5, 0.5, 2.5});
  add("gather_nd", "", {cube, places});
  add("gather_nd", "", {matrix, places});
  add("_backward_gather_nd", "", {{{3, 4}}, places, cube});
  add("scatter_nd", "shape=(2, 3, 4)", {{{3, 4}}, listed({2, 3}, {0.5, 1.5, 1.5, 2.5, 0.5, 1.5})});
  const Parts steps{.gradient = false, .same_shape = false};  // without a gradient, or where differences see the steps
  rows.push_back({"_scatter_set_nd", "shape=(2, 3, 4)", {cube, {{3, 4}}, places}, steps});
  rows.push_back({"_ravel_multi_index", "shape=(4, 6)", {listed({2, 3}, {3, 0, 2, 5, 1, 4})}, steps});
  for (const std::string axes : {"", "axes=(1, 0)", "axes=(-1,)", "axes=()"}) add("_contrib_index_array", axes, {cube});
  add("_contrib_index_copy", "", {{{5, 3}}, listed({2}, {3.5, 0.5}), {{2, 3}}});
  add("_contrib_index_copy", "", {{{5}}, at({3}, 5), {{3}}});
  add("_contrib_boolean_mask", "", {{{4, 3}}, listed({4}, {1, 0, 2, 0})});
  add("_contrib_boolean_mask", "", {{{2, 3, 2}}, listed({2}, {0, 0})});
  for (const std::string rtol : {"", "rtol=5"}) rows.push_back({"_contrib_allclose", rtol, {cube, cube}, steps});
  rows.push_back({"_unravel_index", "shape=(4, 6)", {listed({5}, {23, 0, 7, 12, 5})}, steps});
}

void add_reduce_rows(std::vector<Row>& rows) {
  const Sample cube{{2, 3, 4}}, none{{2, 0, 4}}, number{Shape{}};
  for (const std::string op : {"sum", "mean", "prod", "nansum", "nanprod", "max", "min"}) {
    const Parts parts{.same_shape = false, .loose = 4};
    for (const std::string axes : {"", "axis=1", "axis=(0, -1); keepdims=True", "axis=1; exclude=True", "axis=()"})
      rows.push_back(
          {op, axes, {listed({2, 3, 4}, {})}, {.dtypes = !op.ends_with("prod"), .same_shape = false, .loose = 4}});
    rows.push_back({op, "", {{{5, 6}}}, {.dtypes = !op.ends_with("prod"), .same_shape = false, .loose = 4}});
    rows.push_back({op, "axis=0", {{{3, 5}}}, parts});
    if (op != "max" && op != "min") rows.push_back({op, "axis=1", {none}, parts});
    rows.push_back({op, "axis=(0, 2); keepdims=True", {none}, parts});
    rows.push_back({op, "", {number}, parts});
  }
  for (const std::string params :
       {"", "ord=1", "axis=1", "axis=(0, 2); keepdims=True", "ord=1; axis=-1", "axis=0; out_dtype=float64"})
    rows.push_back({"norm", params, {cube}, {.dtypes = !params.ends_with("float64"), .same_shape = false, .loose = 4}});
  for (const std::string params : {"", "axis=0", "axis=1", "axis=1; keepdims=True", "axis=0; keepdims=True",
                                   "axis=-1; keepdims=True", "axis=0; exclude=True"})
    rows.push_back({"_square_sum", params, {{{4, 6}}}, {.same_shape = false, .loose = 4}});
  rows.push_back({"_square_sum", "axis=1", {none}, {.same_shape = false, .loose = 4}});
  rows.push_back({"_square_sum", "axis=(0, 2)", {cube}, {.same_shape = false, .loose = 4}});
  for (const std::string params : {"", "ord=1; axis=0", "axis=-1"})
    rows.push_back({"norm", params, {{{4, 6}}}, {.same_shape = false, .loose = 4}});
  for (const std::string op : {"argmax", "argmin"})
    for (const std::string params : {"", "axis=1", "axis=-1; keepdims=True"})
      rows.push_back({op, params, {cube}, moves});
  rows.push_back({"argmax_channel", "", {cube}, moves});
  for (const std::string params : {"", "axes=(1,)", "axes=(0, -1); keepdims=True"})
    rows.push_back({"moments", params, {cube}, {.same_shape = false, .loose = 8}});
  for (const std::string params : {"", "axis=0; is_ascend=False", "axis=None"}) {
    rows.push_back({"sort", params, {cube}, moves});
    rows.push_back({"argsort", params, {cube}, moves});
  }
  rows.push_back({"sort", "", {none}, moves});
  for (const std::string params :
       {"", "k=2; ret_typ=value", "k=2; ret_typ=both; axis=1", "k=3; ret_typ=mask; axis=None",
        "k=3; axis=None; is_ascend=True; ret_typ=value", "dtype=int32"})
    rows.push_back({"topk", params, {cube}, moves});
  rows.push_back({"_backward_reduce", "axis=1; mean=True", {{{2, 4}}, cube}, moves});
}

}  // namespace

void add_tensor_rows(std::vector<Row>& rows) {
  add_index_rows(rows);
  add_reduce_rows(rows);
  const Parts products{.same_shape = false, .loose = 8};
  for (const std::string params : {"", "transpose_a=True; transpose_b=True"}) {
    rows.push_back({"dot", params, {{{4, 4}}, {{4, 4}}}, products});
    rows.push_back({"batch_dot", params, {{{2, 3, 3}}, {{2, 3, 3}}}, products});
    rows.push_back({"batch_dot", params, {{{2, 1, 2, 3, 3}}, {{2, 1, 2, 3, 3}}}, products});
  }
  rows.push_back({"dot", "", {{{3, 5}}, {{5, 2}}}, products});
  const Parts without_gradient{.gradient = false, .same_shape = false, .loose = 8};
  rows.push_back({"khatri_rao", "num_args=2", {{{2, 3}}, {{4, 3}}}, without_gradient});
  rows.push_back({"khatri_rao", "", {{{2, 3}}, {{2, 3}}, {{1, 3}}}, without_gradient});
  rows.push_back({"dot", "", {{{5}}, {{5}}}, products});
  rows.push_back({"dot", "", {{{0, 5}}, {{5, 2}}}, products});
  for (const std::string params : {"", "transpose_a=True", "transpose_b=True"}) {
    rows.push_back({"_backward_dot_again", params, {{{3, 3}}, {{3, 3}}, {{3, 3}}}, products});
    rows.push_back({"_backward_dot_sum", params, {{{3, 3}}, {{3, 3}}, {{3, 3}}, {{3, 3}}}, products});
  }
  const Parts of_places{.same_shape = false, .loose = 8, .places = true};
  rows.push_back({"sddmm", "", {{{4, 5}}, {{4, 3}}, {{5, 3}}}, of_places});
  rows.push_back({"sddmm", "", {{{0, 5}}, {{0, 3}}, {{5, 3}}}, of_places});
  for (const std::string op : {"stored_softmax", "stored_log_softmax"}) {
    rows.push_back({op, "", {{{4, 21}}}, of_places});
    rows.push_back({op, "", {{{0, 5}}}, {.same_shape = false}});
    rows.push_back({op,
                    "",
                    {listed({4, 5}, {0, 2, 0, 1, 0, 0, 0, 0, 0, 0, 3, 0, 0, 4, -1, 2, 1, 3, 5, 4})},
                    {.gradient = false, .same_shape = false, .loose = 8, .places = true}});
  }
  for (const std::string axis : {"", "axis=0", "axis=1"})
    rows.push_back({"_contrib_getnnz", axis, {{{4, 6}}}, {.same_shape = false, .places = true}});
  rows.push_back({"_contrib_edge_id",
                  "",
                  {{{4, 6}}, at({5}, 4), at({5}, 6)},
                  {.gradient = false, .same_shape = false, .places = true}});
  rows.push_back({"_contrib_dgl_adjacency",
                  "",
                  {stored({4, 6}, csr)},
                  {.gradient = false, .sparse = false, .same_shape = false},
                  false,
                  sparse_elsewhere});
  // Beside a graph of any type stand numbers that a boolean or an integer is not.
  const auto add_graph_row = [&](const std::string& op, const std::string& params, std::vector<Sample> in, bool random,
                                 bool any_type) {
    in.insert(in.begin(), stored({5, 5}, csr));
    rows.push_back({"_contrib_dgl_" + op,
                    params,
                    std::move(in),
                    {.gradient = false, .dtypes = any_type, .sparse = false, .same_shape = false},
                    random,
                    sparse_elsewhere});
  };
  add_graph_row("csr_neighbor_uniform_sample", "num_neighbor=1; max_num_vertices=6", {at({2}, 5)}, true, true);
  add_graph_row("csr_neighbor_non_uniform_sample", "num_neighbor=1; max_num_vertices=6",
                {listed({5}, {1, 2, 0, 0.5, 3}), at({2}, 5)}, true, false);
  add_graph_row("subgraph", "return_mapping=True", {listed({3}, {0, 1, 3})}, false, true);
  add_graph_row("graph_compact", "return_mapping=True; graph_sizes=(5,)", {listed({6}, {0, 1, 2, 3, 4, 5})}, false,
                false);
  rows.push_back({"_identity_with_attr_like_rhs", "", {{{4, 6}}, {{4, 6}}}, {.same_shape = false}});
  // Differences see a step where the pattern is zero.
  rows.push_back({"sddmm",
                  "",
                  {listed({3, 4}, {0, 2, 0, 1, 0, 0, 0, 0, 3, 0, 0, 4}), {{3, 40}}, {{4, 40}}},
                  {.gradient = false, .same_shape = false, .loose = 8, .places = true}});
  rows.push_back({"cast_storage", "stype=default", {{{4, 6}}}, moves});
  rows.push_back({"cast_storage", "stype=csr", {{{4, 6}}}, moves});
  rows.push_back({"cast_storage", "stype=row_sparse", {{{4, 6}}}, moves});
  rows.push_back({"cast_storage", "stype=default", {{{4, 2, 3}}}, moves});
  rows.push_back({"cast_storage", "stype=row_sparse", {{{4, 2, 3}}}, moves});
  rows.push_back({"_CrossDeviceCopy", "", {{{4, 6}}}, moves});
  rows.push_back({"Cast", "dtype=float32", {{{4, 6}}}, {.gradient = false, .same_shape = false}});
  rows.push_back({"Cast", "dtype=float64", {{{4, 6}}}, {.dtypes = false, .same_shape = false}});
  rows.push_back({"_sparse_retain",
                  "",
                  {stored({6, 3}, row_sparse), listed({3}, {4, 1, 2})},
                  {.gradient = false, .sparse = false, .same_shape = false},
                  false,
                  gradient_elsewhere | sparse_elsewhere});
}

}  // namespace strop::inline v0::verify
