// SPDX-License-Identifier: Apache-2.0
/// \file
/// What the walk over the tape knows of calls with sparse arrays: where their results and derivatives are zero.
#pragma once
#include <strop/autograd/tape.hpp>
#include <strop/core/config.hpp>
#include <strop/core/list.hpp>
#include <strop/op/gradient_roles.hpp>
#include <strop/op/infer_call.hpp>

#include <optional>

namespace strop::inline v0::detail {

/// Whether the results are sparse because they are zero where nothing is stored, and not by being told to be.
STROP_IMPL bool is_zero_elsewhere(const TapeNode& node) {
  const Entry& entry = *node.entry;
  if (node.inputs.empty() || (!entry.is_map() && !entry.structural)) return false;
  for (const TapeOutput& y : node.outputs)
    if (y.array.storage() == dense) return false;
  List<Storage, 8> in;
  List<Shape, 4> shapes, results;
  for (const TapeInput& x : node.inputs) {
    in.push_back(x.array.storage());
    shapes.push_back(x.array.shape());
  }
  for (const TapeOutput& y : node.outputs) results.push_back(y.array.shape());
  List<std::optional<Storage>, 4> out(node.outputs.size());
  const NDArray& first = node.inputs[0].array;
  const StorageChoice choice = infer_storages(
      entry, node.op(), {in.span(), shapes.span(), results.span(), {}, first.dtype(), first.device()}, out.span());
  for (Index k = 0; k < out.size(); ++k)
    if (*out[k] != node.outputs[k].array.storage()) return false;
  return choice.why.empty();
}
/// Whether the derivatives of a map in its dense inputs are zero where nothing is stored, as its result is there
/// whatever they are. A gradient that the operator states may say otherwise, and is asked at one place.
STROP_IMPL bool is_flat_elsewhere(const TapeNode& node) {
  const GradientRule& rule = node.entry->gradient;
  if (rule.entry == nullptr || rule.entry->loops.f64 == nullptr) return true;
  const double one = 1, some = 0.375, none = 0;
  const GradientRoles roles = gradient_roles(rule, node.inputs.size(), node.outputs.size());
  List<const void*, 8> in;
  for (const auto& [role, at] : roles.takes) {
    const bool any = role == Role::in && node.inputs[at].array.storage() == dense;
    in.push_back(role == Role::head ? &one : any ? &some : &none);
  }
  List<double, 4> derivatives(roles.gives.size());
  List<void*, 4> out;
  for (double& derivative : derivatives) out.push_back(&derivative);
  rule.entry->loops.f64(node.op(), in.data(), out.data(), 1);
  for (Index k = 0; k < roles.gives.size(); ++k)
    if (const TapeInput& x = node.inputs[roles.gives[k]]; x.source && x.array.storage() == dense && derivatives[k] != 0)
      return false;
  return true;
}

}  // namespace strop::inline v0::detail
