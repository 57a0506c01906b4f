// SPDX-License-Identifier: Apache-2.0
/// \file
/// amp_cast: the cast of mixed precision, of floating arrays only.
#pragma once
#include <strop/core/params.hpp>
#include <strop/op/op.hpp>
#include <strop/ops/cast.hpp>
#include <strop/ops/list.hpp>

#include <string_view>

namespace strop::inline v0 {

/// amp_cast: a floating array in another type, an integer array as it is. Shape and storage stay. The gradient is the
/// head gradient in the input's type. Error: no dtype. Example: `amp_cast(array({1, 2}), {.dtype = f16})` is [1, 2] in
/// float16.
struct AmpCast {
  Required<Dtype> dtype{};

  static constexpr std::string_view name = "amp_cast";
  static constexpr Note notes[] = {{"dtype", "the type of the result where the input is floating"}};
  static constexpr std::string_view doc =
      "A floating array in another type, an integer array as it is. Shape and storage stay. The gradient is the head "
      "gradient in the input's type. Example: amp_cast(array({1, 2}), {.dtype = f16}) is [1, 2] in float16.";

  void infer_type(Types& types) const {
    if (types.in(0)) types.set_out(0, is_floating(*types.in(0)) ? *dtype : *types.in(0));
  }
  bool infer_storage(Storages& storages) const { return storages.set_out(0, storages.in(0)); }
  bool infer_gradient_storage(Storages& storages) const { return storages.set_out(0, storages.in(0)); }
  void forward(Cpu&, const NDArray& x, NDArray& y) const { detail::assign(x, y); }
  void grad_use_none(Cpu&, const NDArray& dy, NDArray& dx) const { detail::assign(dy, dx); }
};

inline constexpr Op<AmpCast, OnUse> amp_cast;

using AmpOps = OpList<AmpCast>;

}  // namespace strop::inline v0
