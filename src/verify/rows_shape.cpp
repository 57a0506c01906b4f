// SPDX-License-Identifier: Apache-2.0
/// \file
/// Rows of the operators that give elements another shape or another place.
#include "library.hpp"

namespace strop::inline v0::verify {

void add_shape_rows(std::vector<Row>& rows) {
  const auto add = [&](const std::string& op, const std::string& params, std::vector<Sample> in) {
    rows.push_back({op, params, std::move(in), {.same_shape = false}});
  };
  const Sample cube{{2, 3, 4}}, matrix{{4, 6}}, none{{2, 0, 4}}, line{{5}}, number{Shape{}};
  add("Reshape", "shape=(-1, 2)", {cube});
  add("Reshape", "shape=(0, -1); reverse=True", {cube});
  add("Reshape", "shape=(-3, 0)", {none});
  add("Flatten", "", {cube});
  add("Flatten", "", {none});
  add("expand_dims", "axis=1", {cube});
  add("expand_dims", "axis=-1", {none});
  add("expand_dims", "axis=0", {number});
  add("squeeze", "", {{{1, 3, 1}}});
  add("squeeze", "axis=(0, -1)", {{{1, 3, 1}}});
  add("reshape_like", "", {cube, {{4, 6}}});
  add("reshape_like", "lhs_begin=0; lhs_end=2; rhs_begin=0; rhs_end=1", {cube, {{6, 7}}});
  add("shape_array", "", {cube});
  add("shape_array", "", {number});
  add("size_array", "", {cube});
  add("size_array", "", {none});
  add("transpose", "", {cube});
  add("transpose", "axes=(1, 2, 0)", {cube});
  add("transpose", "", {matrix});
  add("transpose", "", {none});
  add("SwapAxis", "dim1=0; dim2=-1", {cube});
  add("SwapAxis", "dim1=1; dim2=0", {none});
  add("reverse", "axis=(0,)", {matrix});
  add("reverse", "axis=(1, -1)", {cube});
  add("reverse", "axis=1", {none});
  add("Concat", "dim=1", {{{2, 3}}, {{2, 0}}, {{2, 2}}});
  add("Concat", "dim=0; num_args=2", {{{2, 3}}, {{4, 3}}});
  add("Concat", "dim=-1; num_args=1", {cube});
  add("_backward_concat", "num_args=2; dim=1", {{{2, 5}}, {{2, 3}}, {{2, 2}}});
  add("stack", "axis=1", {cube, cube});
  add("stack", "axis=-1; num_args=3", {line, line, line});
  add("stack", "axis=0", {none, none});
  add("SliceChannel", "num_outputs=3", {cube});
  add("SliceChannel", "num_outputs=4; axis=-1; squeeze_axis=True", {cube});
  add("SliceChannel", "num_outputs=2; axis=0", {none});
  add("_split_v2", "indices=(0, 1, 3); axis=2", {cube});
  add("_split_v2", "sections=3; squeeze_axis=True", {cube});
  add("_backward_split_v2", "indices=(0, 2); axis=0", {{{5, 2}}, {{2, 2}}, {{3, 2}}});
  add("slice", "begin=(0, None, 3); end=(None, -1, None); step=(1, 1, -2)", {cube});
  add("slice", "begin=(1,); end=(3,)", {matrix});
  add("slice", "begin=(1, 2); end=(3, 5)", {matrix});
  add("slice", "begin=(5,); end=(7,)", {cube});
  add("slice_axis", "axis=-1; begin=1; end=-1", {cube});
  add("slice_axis", "axis=0; begin=2", {matrix});
  add("slice_like", "", {matrix, {{2, 5}}});
  add("slice_like", "axes=(0, -1)", {cube, {{1, 9, 2}}});
  add("_backward_slice_window", "begin=(1, 2)", {matrix, {{2, 3}}});
  add("_backward_slice", "begin=(1, 2)", {{{2, 3}}, matrix});
  add("_slice_assign", "begin=(1, 2); end=(3, 5)", {matrix, {{2, 3}}});
  add("_slice_assign", "begin=(3,); end=(None,); step=(-2,)", {matrix, {{2, 6}}});
  add("_slice_assign_scalar", "scalar=7; begin=(1, 2); end=(3, 5)", {matrix});
  add("broadcast_to", "shape=(2, 3, 4)", {{{2, 1, 4}}});
  add("broadcast_to", "shape=(0, 3)", {{{2, 1}}});
  add("broadcast_axis", "axis=(0, 2); size=(2, 3)", {{{1, 4, 1}}});
  add("broadcast_like", "", {{{2, 1}}, {{2, 3}}});
  add("broadcast_like", "lhs_axes=(0,); rhs_axes=(-1,)", {{{1, 3}}, {{5, 4}}});
  add("_backward_broadcast", "", {matrix, {{4, 1}}});
  add("tile", "reps=(2, 3)", {line});
  add("tile", "reps=(2,)", {cube});
  add("_backward_tile", "reps=(2, 3)", {{{2, 15}}, line});
  add("repeat", "repeats=2; axis=1", {cube});
  add("repeat", "repeats=3", {matrix});
  add("repeat", "repeats=0; axis=0", {matrix});
  add("_backward_repeat", "repeats=2; axis=-1", {{{4, 6}}, {{4, 3}}});
  add("diag", "k=1", {matrix});
  add("diag", "k=-1", {line});
  add("diag", "k=1; axis1=-1; axis2=0", {cube});
  add("_backward_diag", "k=1", {{{4}}, {{4, 6}}});
  add("depth_to_space", "block_size=2", {{{1, 8, 2, 3}}});
  add("space_to_depth", "block_size=2", {{{1, 2, 4, 6}}});
  for (const std::string params :
       {"mode=constant; constant_value=3; pad_width=(0, 0, 0, 0, 1, 2, 0, 1)",
        "mode=edge; pad_width=(0, 0, 0, 0, 1, 2, 0, 1)", "mode=reflect; pad_width=(0, 0, 0, 0, 1, 2, 0, 1)"})
    add("Pad", params, {{{1, 2, 3, 4}}});
  add("_backward_Pad", "mode=edge; pad_width=(0, 0, 0, 0, 1, 1, 0, 1)", {{{1, 2, 5, 5}}, {{1, 2, 3, 4}}});
}

}  // namespace strop::inline v0::verify
