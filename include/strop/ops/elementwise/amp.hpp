// SPDX-License-Identifier: Apache-2.0
/// \file
/// Casts for mixed precision: of floating arrays only, and of several arrays to one common type; and division by √d.
#pragma once
#include <strop/core/params.hpp>
#include <strop/op/op.hpp>
#include <strop/ops/cast.hpp>
#include <strop/ops/list.hpp>

#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace strop::inline v0 {

/// amp_cast: a floating array in another type, an integer array as it is. Shape and storage stay. The gradient is the head
/// gradient in the input's type. Error: no dtype. Example: `amp_cast(array({1, 2}), {.dtype = f16})` is [1, 2] in float16.
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

/// amp_multicast: several arrays, the floating ones all in the widest of their types, or with cast_narrow in the narrowest;
/// integer arrays stay. The gradients are the head gradients in the inputs' types. Errors: num_outputs is not the number of
/// inputs. Example: of a float16 and a float32 array it is two float32 arrays.
struct AmpMulticast {
  Required<int> num_outputs{};
  bool cast_narrow = false;

  static constexpr std::string_view name = "amp_multicast";
  static constexpr std::string_view inputs[] = {"data"};
  static constexpr Note notes[] = {{"num_outputs", "the number of arrays"}, {"cast_narrow", "the narrowest type instead of the widest"}};
  static constexpr std::string_view doc =
      "Several arrays, the floating ones all in the widest of their types, or with cast_narrow in the narrowest; integer "
      "arrays stay. Dense. The gradients are the head gradients in the inputs' types.";

  int output_count() const { return *num_outputs; }

  void infer_shape(Shapes& shapes) const {
    if (shapes.inputs() != *num_outputs) shapes.fail("num_outputs is ", *num_outputs, ", ", shapes.inputs(), " inputs were given");
    for (int i = 0; i < shapes.inputs(); ++i) {
      shapes.set_out(i, shapes.in(i));
      shapes.set_in(i, shapes.out(i));
    }
  }
  void infer_type(Types& types) const {
    std::optional<Dtype> common;
    for (int i = 0; i < types.inputs(); ++i) {
      if (!types.in(i)) return;
      const Dtype type = *types.in(i);
      if (!is_floating(type)) continue;
      if (!common || (cast_narrow ? size_of(type) < size_of(*common) : size_of(type) > size_of(*common))) common = type;
    }
    for (int i = 0; i < types.inputs(); ++i) types.set_out(i, is_floating(*types.in(i)) ? common : types.in(i));
  }
  void forward(Cpu&, std::span<const NDArray> in, std::span<NDArray> out) const {
    for (std::size_t i = 0; i < in.size(); ++i) detail::assign(in[i], out[i]);
  }
  void grad_use_none(Cpu&, std::span<const NDArray> dy, std::span<NDArray> dx) const {
    for (std::size_t i = 0; i < dy.size(); ++i)
      if (dx[i] && dx[i].allocated()) detail::assign(dy[i], dx[i]);
  }
};

inline constexpr Op<AmpCast, OnUse> amp_cast;
inline constexpr Op<AmpMulticast, OnUse> amp_multicast;

using AmpOps = OpList<AmpCast, AmpMulticast>;

}  // namespace strop::inline v0
