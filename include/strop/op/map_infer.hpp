// SPDX-License-Identifier: Apache-2.0
/// \file
/// Inference for maps: shapes broadcast or agree, types agree, storages follow from where the body is zero.
#pragma once
#include <strop/op/broadcast.hpp>
#include <strop/op/entry.hpp>

namespace strop::inline v0::detail {

/// Shapes of a map, from whatever is known. Broadcasting flows from inputs to outputs; where all shapes must agree, or
/// there is one input, it flows back as well.
void infer_map_shape(const Entry& entry, Shapes& shapes);
/// Results of a map's gradient have the shapes of the inputs that they belong to: inputs `first` and on of the gradient
/// for the first `known` results. Where it reads no inputs, that of the head gradient.
void infer_gradient_shape(Shapes& shapes, int known, int first);
/// Types of a map: inputs and outputs have one type, which the operator lists.
void infer_map_type(const Entry& entry, Types& types);

/// Which positions of the result can be other than zero, from where inputs store something.
enum class Pattern : std::uint8_t { full, one_input, common, united };

struct MapStorage {
  Storage storage = dense;
  Pattern pattern = Pattern::full;
  std::uint64_t carriers = 0;  // the sparse inputs that the pattern is taken from
  std::string_view why;        // of a fallback
};

/// The storage of a map's results as it follows from the body.
MapStorage derive_map_storage(const Entry& entry, const void* op, Dtype computed, std::span<const Storage> in);
/// The same, with what the struct states: dense where it asks for that. Throws Error for a storage that does not
/// follow.
MapStorage infer_map_storage(const Entry& entry, const void* op, Dtype computed, std::span<const Storage> in);

}  // namespace strop::inline v0::detail

#if !defined(STROP_COMPILED)
#include <strop/op/map_infer_impl.hpp>
#endif
