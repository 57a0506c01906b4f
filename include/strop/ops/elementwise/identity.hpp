// SPDX-License-Identifier: Apache-2.0
/// \file
/// Maps that return their input and differ in their gradient.
#pragma once
#include <strop/op/op.hpp>
#include <strop/ops/list.hpp>

#include <string_view>

namespace strop::inline v0 {

struct Copy {
  static constexpr std::string_view name = "_copy";
  static constexpr std::string_view aliases[] = {"identity"};
  static constexpr const char* doc =
      "x itself, in a new array. Every type, bool included. A sparse input gives a result of its storage. Example: "
      "identity(array({1, 2})) is [1, 2].";
  static constexpr DtypeSet dtypes = any_dtype;
  constexpr auto forward(auto x) const { return x; }
  constexpr auto grad_use_none(auto dy) const { return dy; }
};

struct BlockGrad {
  static constexpr std::string_view name = "BlockGrad";
  static constexpr std::string_view aliases[] = {"_sparse_stop_gradient", "stop_gradient"};
  static constexpr const char* doc =
      "x itself; no gradient passes. Every type, bool included. A sparse input gives a result of its storage. The "
      "gradient is 0. Example: stop_gradient(array({1, 2})) is [1, 2].";
  static constexpr DtypeSet dtypes = any_dtype;
  static constexpr bool zero_gradient = true;
  constexpr auto forward(auto x) const { return x; }
};

inline constexpr Op<Copy, OnUse> identity;
inline constexpr Op<BlockGrad, OnUse> block_grad;
inline constexpr const Op<BlockGrad, OnUse>& stop_gradient = block_grad;

using IdentityOps = OpList<Copy, BlockGrad>;

}  // namespace strop::inline v0
