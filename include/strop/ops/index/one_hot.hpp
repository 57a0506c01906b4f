// SPDX-License-Identifier: Apache-2.0
/// \file
/// one_hot: positions as rows that are on_value there and off_value elsewhere.
#pragma once
#include <strop/op/op.hpp>
#include <strop/ops/list.hpp>

#include <string_view>

namespace strop::inline v0 {

/// one_hot: y[…, indices[…]] = on_value, off_value elsewhere; a position outside [0, depth) gives a row of off_value.
/// Shape: that of `indices` with `depth` appended. The type is `dtype`, the gradient 0.
/// `one_hot(array({1, 0}), {.depth = 3})` is [[0, 1, 0], [1, 0, 0]].
struct OneHot {
  Required<std::int64_t> depth = {};
  Scalar on_value = 1, off_value = 0;
  Dtype dtype = f32;
  static constexpr std::string_view name = "one_hot", aliases[] = {"_npx_one_hot"}, inputs[] = {"indices"};
  static constexpr const char* doc =
      "Rows of length depth that are on_value at the position that indices says and off_value elsewhere; a position "
      "outside gives a row of off_value.";
  static constexpr Note notes[] = {{"depth", "length of each row"},
                                   {"on_value", "the element at the position"},
                                   {"off_value", "all other elements"},
                                   {"dtype", "the type of the result"}};
  static constexpr Range range[] = {{"depth", 0}};
  static constexpr bool zero_gradient = true;
  template <int = 0>
  constexpr void infer_shape(Shapes& s) const {
    if (s.in(0).has_rank()) {
      Shape out = s.in(0);
      out.push_back(*depth);
      s.set_out(0, out);
    } else if (s.out(0).has_rank() && s.out(0).ndim() > 0) {
      Shape in = s.out(0);
      in.erase(in.ndim() - 1);
      s.set_in(0, in);
    }
  }
  constexpr void infer_type(Types& t) const { t.set_out(0, dtype); }
  void forward(Cpu&, const NDArray& indices, NDArray& y) const;

 private:
  static void convert_positions(const NDArray& indices, detail::List<std::int64_t>& at);
};
inline constexpr Op<OneHot, OnUse> one_hot;

using OneHotOps = OpList<OneHot>;

}  // namespace strop::inline v0

#if !defined(STROP_OPERATORS_COMPILED) || defined(__CUDACC__)
#include <strop/ops/index/one_hot_body.hpp>
#endif
