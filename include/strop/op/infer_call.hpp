// SPDX-License-Identifier: Apache-2.0
/// \file
/// Inference of a call, once: shapes, types and storages by the entry's own rules, or by what follows for a map. Eager
/// calls, graphs, descriptions and tests all ask here.
#pragma once
#include <strop/core/span.hpp>
#include <strop/op/entry.hpp>
#include <strop/op/map_infer.hpp>

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace strop::inline v0::detail {

/// Shapes, and types, from whatever is known of them; throws Error where that contradicts itself or the operator.
void infer_shapes(const Entry& entry, const void* op, Shapes& shapes);
void infer_types(const Entry& entry, const void* op, Types& types);
/// The types that the operator's kernels take.
void infer_kernel_types(const Entry& entry, const void* op, Types& types);
/// Whether it is a gradient of order 1: one that an operator states, derives, or has as an operator of its own.
inline bool is_step_of_gradient(const Entry& entry) {
  return entry.order != 0 || (entry.is_gradient() && !entry.name.ends_with("_again"));
}
/// Whether a gradient of floating types alone meets integers: of this type is its first argument. Where all arguments
/// are dense it then computes in double, and its results are truncated.
inline bool computes_in_double(const Entry& entry, Dtype first) {
  if (is_floating(first) || !is_step_of_gradient(entry)) return false;
  return entry.is_map() ? !entry.dtypes.contains(first) : entry.takes != nullptr && !entry.takes(first);
}

/// What the storages of a call follow from. Shapes may be unknown in part, or left out.
struct StorageQuery {
  Span<const Storage> in;
  Span<const Shape> in_shapes = {}, out_shapes = {};
  Span<const int> mutated = {};  // inputs that are written
  Dtype stored = f32;            // the type of the first input, or of the result where there is none
  Device device = cpu();
};

/// How a call serves its storages.
struct StorageChoice {
  MapStorage map;             // of a map: the storage it runs in, and what the pattern is taken from
  bool into_dense = false;    // of a map: sparse arrays are read as they are, results are dense
  bool dense_copies = false;  // sparse arrays go to the operator, and come from it, as dense copies
  std::string_view why;       // of dense copies: the reason
};

/// Storages of the outputs: one that is there already keeps its own, the others are set to what the call makes. Throws
/// Error where the operator has no form for the storages at all.
StorageChoice infer_storages(const Entry& entry, const void* op, const StorageQuery& known,
                             Span<std::optional<Storage>> out);

/// "(csr, dense) -> (dense)".
std::string storages_text(Span<const Storage> in, Span<const std::optional<Storage>> out);

}  // namespace strop::inline v0::detail

#if !defined(STROP_COMPILED)
#include <strop/op/infer_call_impl.hpp>
#endif
