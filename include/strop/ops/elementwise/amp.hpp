// SPDX-License-Identifier: Apache-2.0
/// \file
/// amp_cast and amp_multicast: the casts of mixed precision, of float16, bfloat16 and float32 arrays only.
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

namespace detail {
/// The types that mixed precision casts: who computes in float64 means it.
inline constexpr DtypeSet amp_types = DtypeSet(f16) | bf16 | f32;
}  // namespace detail

/// Error: no dtype.
struct AmpCast {
  Required<Dtype> dtype{};

  static constexpr std::string_view name = "amp_cast";
  static constexpr Note notes[] = {{"dtype", "the type of the result where the input is float16, bfloat16 or float32"}};
  static constexpr const char* doc =
      "A float16, bfloat16 or float32 array in another type; integers and float64 as they are. Shape and storage stay. "
      "The gradient is the head gradient in the input's type. Example: amp_cast(array({1, 2}), {.dtype = f16}) is [1, "
      "2] in float16.";

  constexpr void infer_type(Types& types) const {
    if (types.in(0)) types.set_out(0, detail::amp_types.contains(*types.in(0)) ? *dtype : *types.in(0));
  }
  constexpr bool infer_storage(Storages& storages) const { return storages.set_out(0, storages.in(0)); }
  constexpr bool infer_gradient_storage(Storages& storages) const { return storages.set_out(0, storages.in(0)); }
  void forward(Cpu&, const NDArray& x, NDArray& y) const;
  void grad_use_none(Cpu&, const NDArray& dy, NDArray& dx) const;
};

template <>
inline constexpr bool detail::reads_any_index<AmpCast> = true;
inline constexpr Op<AmpCast, OnUse> amp_cast;

/// `data` in the type of `like`: the gradient of amp_multicast. Internal.
struct AmpMulticastGradient {
  static constexpr std::string_view name = "_backward_amp_multicast", inputs[] = {"data", "like"};
  static constexpr const char* doc = "data in the type of like.";
  static constexpr Keeps gradient_keeps = Keeps::none;
  constexpr void infer_type(Types& types) const { types.set_out(0, types.in(1)); }
  void forward(Cpu&, const NDArray& x, const NDArray&, NDArray& y) const;
  auto gradient(const auto& dy, const auto& x, const auto& like) const;
};
inline constexpr Op<AmpMulticastGradient, OnUse> amp_multicast_gradient;

auto AmpMulticastGradient::gradient(const auto& dy, const auto& x, const auto&) const {
  return std::vector<std::remove_cvref_t<decltype(dy)>>{amp_multicast_gradient(dy, x)};
}

/// amp_multicast: `num_outputs` arrays, those of float16, bfloat16 and float32 in one type: the widest of theirs, or
/// the narrowest with `cast_narrow` (float16 and bfloat16 are equally wide: the first of them counts). Shapes stay. The
/// gradient is the head gradient in the input's type. Error: another number of inputs.
struct AmpMulticast {
  Required<int> num_outputs{};
  bool cast_narrow = false;

  static constexpr std::string_view name = "amp_multicast", inputs[] = {"data"};
  static constexpr Note notes[] = {{"num_outputs", "how many arrays there are"},
                                   {"cast_narrow", "the narrowest type instead of the widest"}};
  static constexpr const char* doc =
      "Float16, bfloat16 and float32 arrays in one type: the widest of theirs, or the narrowest with cast_narrow; "
      "integers and float64 as they are.";
  static constexpr Range range[] = {{"num_outputs", 1}};
  static constexpr Keeps gradient_keeps = Keeps::none;

  constexpr int output_count() const {
    return detail::checked_outputs(num_outputs.value.value_or(1), name, "num_outputs");
  }
  template <int = 0>
  constexpr void infer_shape(Shapes& s) const {
    detail::check_count_of(s, "num_outputs", *num_outputs);
    for (int k = 0; k < s.outputs(); ++k) {
      s.set_out(k, s.in(k));
      s.set_in(k, s.out(k));
    }
  }
  template <int = 0>
  constexpr void infer_type(Types& t) const {
    std::optional<Dtype> common;
    for (int k = 0; k < t.inputs(); ++k) {
      if (!t.in(k)) return;
      if (!detail::amp_types.contains(*t.in(k))) continue;
      const bool better =
          !common || (cast_narrow ? size_of(*t.in(k)) < size_of(*common) : size_of(*t.in(k)) > size_of(*common));
      if (better) common = t.in(k);
    }
    for (int k = 0; k < t.outputs(); ++k) t.set_out(k, detail::amp_types.contains(*t.in(k)) ? common : t.in(k));
  }
  void forward(Cpu&, std::span<const NDArray> x, std::span<NDArray> y) const;
  template <class Node>
  auto gradient(std::span<const Node> dy, std::span<const Node> x) const {
    std::vector<Node> out;
    for (std::size_t k = 0; k < dy.size(); ++k) out.push_back(amp_multicast_gradient(dy[k], x[k]));
    return out;
  }
};
inline constexpr Op<AmpMulticast, OnUse> amp_multicast;

using AmpOps = OpList<AmpCast, AmpMulticastGradient, AmpMulticast>;

}  // namespace strop::inline v0

#if !defined(STROP_OPERATORS_COMPILED) || defined(__CUDACC__)
#include <strop/ops/elementwise/amp_body.hpp>
#endif
