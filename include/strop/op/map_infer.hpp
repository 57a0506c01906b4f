// SPDX-License-Identifier: Apache-2.0
/// \file
/// Inference for maps: shapes broadcast or agree, types agree, storages follow from where the body is zero.
#pragma once
#include <strop/core/span.hpp>
#include <strop/op/broadcast.hpp>
#include <strop/op/entry.hpp>
#include <strop/op/map_storage.hpp>

namespace strop::inline v0::detail {

/// Shapes of a map, from whatever is known. Broadcasting flows from inputs to outputs; where all shapes must agree, or
/// there is one input, it flows back as well.
void infer_map_shape(const Entry& entry, Shapes& shapes);
/// Results of a map's gradient have the shapes of the inputs that they belong to: the `known` inputs from `first` on of
/// the gradient, but for those of whole numbers, a bit each. Where it reads no inputs, that of the head gradient.
void infer_gradient_shape(Shapes& shapes, int known, int first, std::uint64_t whole);
/// Types of a map: inputs and outputs have one type, which the operator lists, but for inputs of whole numbers; where
/// it takes integers as double, its outputs are float64.
void infer_map_type(const Entry& entry, const void* op, Types& types);

/// Whether the operator takes elements of this type as double, with these parameters.
inline bool takes_as_double(const Entry& entry, const void* op, Dtype stored) {
  return entry.facts.as_double != nullptr && !is_floating(stored) && entry.facts.as_double(op);
}
/// The type that a map computes elements of `stored` in.
inline Dtype compute_type(const Entry& entry, const void* op, Dtype stored) {
  if (!is_floating(stored)) return takes_as_double(entry, op, stored) ? f64 : i64;
  return stored == f64 || entry.loops.f32 == nullptr ? f64 : f32;
}
/// The type of the elements that a map's computing follows from, `type(i)` being that of input i, of which there is one
/// at least: that of the inputs which have one type. Whole numbers of more than a byte beside floats want double.
template <class TypeOf>
Dtype stored_type(const Entry& entry, Index inputs, TypeOf type) {
  if (entry.whole == 0) [[likely]]
    return type(0);
  const auto whole = [&](Index i) { return (entry.whole >> i & 1U) != 0; };
  Index first = 0;
  while (first + 1 < inputs && whole(first)) ++first;
  const Dtype stored = type(first);
  for (Index i = 0; i < inputs && is_floating(stored); ++i)
    if (whole(i) && size_of(type(i)) > 1) return f64;
  return stored;
}

/// The storage of a map's results: what follows from the body, and what the struct states: dense where it says so, or
/// asks for dense copies. Throws Error for a storage that does not follow.
MapStorage infer_map_storage(const Entry& entry, const void* op, Dtype computed, Span<const Storage> in);

}  // namespace strop::inline v0::detail

#if !defined(STROP_COMPILED)
#include <strop/op/map_infer_impl.hpp>
#endif
