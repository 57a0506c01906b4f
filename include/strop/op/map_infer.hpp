// SPDX-License-Identifier: Apache-2.0
/// \file
/// Inference for maps: shapes broadcast or agree, types agree, storages follow from where the body is zero.
#pragma once
#include <strop/op/broadcast.hpp>
#include <strop/op/entry.hpp>
#include <strop/op/map_storage.hpp>

namespace strop::inline v0::detail {

/// Shapes of a map, from whatever is known. Broadcasting flows from inputs to outputs; where all shapes must agree, or
/// there is one input, it flows back as well.
void infer_map_shape(const Entry& entry, Shapes& shapes);
/// Results of a map's gradient have the shapes of the inputs that they belong to: inputs `first` and on of the gradient
/// for the first `known` results. Where it reads no inputs, that of the head gradient.
void infer_gradient_shape(Shapes& shapes, int known, int first);
/// Types of a map: inputs and outputs have one type, which the operator lists.
void infer_map_type(const Entry& entry, Types& types);

/// The storage of a map's results: what follows from the body, and what the struct states: dense where it asks for
/// that. Throws Error for a storage that does not follow.
MapStorage infer_map_storage(const Entry& entry, const void* op, Dtype computed, Span<const Storage> in);

}  // namespace strop::inline v0::detail

#if !defined(STROP_COMPILED)
#include <strop/op/map_infer_impl.hpp>
#endif
