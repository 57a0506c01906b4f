// SPDX-License-Identifier: Apache-2.0
/// \file
/// What the signature of a member says of types and storages: loops over constants, which the compiler can run as well.
#pragma once
#include <strop/op/place.hpp>

#include <optional>

namespace strop::inline v0::detail {

/// f(parameter, whether its tensor is an output, the tensor's position) for every tensor of a call.
template <class Known, class F>
constexpr void each_tensor(const ForwardInfo& member, const Known& call, F f) {
  ArgumentSlots inputs(0, call.inputs(), member.inputs), outputs(0, call.outputs(), member.outputs);
  int writes = 0;
  for (const ArgInfo& info : member.args) {
    const bool output = info.writes && writes++ >= member.mutated;
    const auto [first, many] = (output ? outputs : inputs).take(info);
    for (int i = first; i < first + many; ++i) f(info, output, i);
  }
}

/// Shapes where the operator states no rule: all tensors have one, whichever of them it is known of, but for the
/// outputs that are found while it runs, a bit for each.
constexpr void shapes_without_rule(Shapes& shapes, std::uint64_t found = 0) {
  if (shapes.inputs() == 0) return;
  for (int i = 1; i < shapes.inputs(); ++i) {
    if (shapes.in(i) == shapes.in(0)) continue;
    Shape common = shapes.in(0);
    if (!unify(common, shapes.in(i)))
      shapes.fail(shapes.name_in(i), " has shape ", shapes.in(i), ", expected ", shapes.in(0), " like ",
                  shapes.name_in(0), ", as the inputs of an operator without infer_shape have one shape");
    shapes.set_in(0, common);
  }
  for (int k = 0; k < shapes.outputs(); ++k) {
    if ((found >> k & 1U) != 0) continue;
    shapes.set_out(k, shapes.in(0));
    if (k == 0) shapes.set_in(0, shapes.out(0));
  }
  for (int i = 1; i < shapes.inputs(); ++i) shapes.set_in(i, shapes.in(0));
}

/// Types from the signature: every parameter that follows E has one type, the others have their own.
constexpr void types_of_member(const ForwardInfo& member, Types& types) {
  std::optional<Dtype> element;
  each_tensor(member, types, [&](const ArgInfo& info, bool output, int i) {
    if (info.follows && !element) element = output ? types.out(i) : types.in(i);
  });
  each_tensor(member, types, [&](const ArgInfo& info, bool output, int i) {
    const std::optional<Dtype> given = output ? std::nullopt : types.in(i);
    if (!info.follows && given && is_half(*given) && is_floating(info.dtype)) return;  // it comes converted
    const std::optional<Dtype> type = info.follows ? element : info.dtype;
    output ? types.set_out(i, type) : types.set_in(i, type);
  });
}

/// Storages from the signature: true where the inputs are what its views are of and the outputs can be.
constexpr bool storages_of_member(const ForwardInfo& member, Storages& storages) {
  bool all = true;
  each_tensor(member, storages, [&](const ArgInfo& info, bool output, int i) {
    if (info.whole) return;  // of any storage
    all = (output ? storages.set_out(i, info.storage) : storages.in(i) == info.storage) && all;
  });
  return all;
}

/// Throws Error where the element type of a call is known and the member does not serve it.
constexpr void check_served(const ForwardInfo& member, const Types& types) {
  if (!member.generic) return;
  struct First {
    int at = -1;
    bool output = false;
  } view, whole;
  each_tensor(member, types, [&](const ArgInfo& info, bool output, int i) {
    First& first = info.whole ? whole : view;
    if (info.follows && first.at < 0) first = {i, output};
  });
  const First& first = view.at >= 0 ? view : whole;
  if (first.at < 0) return;
  const DtypeSet served = with_halves(member.served);
  first.output ? types.expect_out(first.at, served) : types.expect_in(first.at, served);
}

}  // namespace strop::inline v0::detail
