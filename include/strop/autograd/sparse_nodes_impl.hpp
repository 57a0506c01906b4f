// SPDX-License-Identifier: Apache-2.0
/// \file
/// What the walk over the tape knows of calls with sparse arrays: where their results, derivatives and gradients are
/// zero.
#pragma once
#include <strop/autograd/tape.hpp>
#include <strop/core/config.hpp>
#include <strop/core/list.hpp>
#include <strop/op/gradient_roles.hpp>
#include <strop/op/infer_call.hpp>
#include <strop/op/stored_pattern.hpp>
#include <strop/tensor/merged.hpp>

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

/// An array of the rows outside of which the gradients of a map are zero, whatever the head gradients are: those that
/// the row-sparse arrays which it reads store. No array where it reads a dense one, or is not zero beside them.
/// Gradients are linear in their heads, each of which is asked alone.
STROP_IMPL NDArray rows_of_gradients(const TapeNode& node) {
  const GradientRule& rule = node.entry->gradient;
  const NDArray& first = node.outputs[0].array;
  if (rule.entry->loops.f64 == nullptr || rule.entry->whole != 0 || first.device() != cpu()) return {};
  const GradientRoles roles = gradient_roles(rule, node.inputs.size(), node.outputs.size());
  const double one = 1, zero = 0;
  List<const void*, 8> in;
  List<const NDArray*, 8> read;
  for (const auto& [role, at] : roles.takes) {
    in.push_back(&zero);
    if (role == Role::head) continue;
    const NDArray& a = role == Role::in ? node.inputs[at].array : node.outputs[at].array;
    if (!(role == Role::in ? node.inputs[at].kept : node.outputs[at].kept)) continue;
    if (a.storage() != row_sparse || a.shape() != first.shape()) return {};
    read.push_back(&a);
  }
  List<double, 4> derivatives(roles.gives.size());
  List<void*, 4> out;
  for (double& derivative : derivatives) out.push_back(&derivative);
  for (Index head = 0; head < roles.takes.size(); ++head) {
    if (roles.takes[head].role != Role::head) continue;
    in[head] = &one;
    rule.entry->loops.f64(node.op(), in.data(), out.data(), 1);
    in[head] = &zero;
    for (const double derivative : derivatives)
      if (derivative != 0) return {};
  }
  NDArray rows(first.shape(), first.dtype(), first.device(), row_sparse);
  for (const NDArray* a : read) {
    const NDArray places = merged(*a);
    if (a == read[0] || pattern_of(places) == pattern_of(rows)) {
      rows = places;
      continue;
    }
    StoredPattern both = merge_patterns(pattern_of(rows), pattern_of(places), false);
    rows = NDArray(first.shape(), first.dtype(), first.device(), row_sparse);
    store_pattern(rows, both);
  }
  return rows;
}

}  // namespace strop::inline v0::detail
