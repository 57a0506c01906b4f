// SPDX-License-Identifier: Apache-2.0
/// \file
/// Shapes and types that an operator infers. Both take what is known of inputs and outputs, in part, and add to it;
/// what contradicts is refused with a sentence that names the argument and both values.
///
///  1. `void infer_shape(strop::Shapes& shapes) const`; all tensors of a tensor operator without it have one shape.
///  2. `void infer_type(strop::Types& types) const`
#pragma once
#include <strop/op/infer.hpp>

#include <concepts>

namespace strop::inline v0 {

/// Clause 1.
template <class T>
concept InfersShape = requires(const T& op, Shapes& shapes) {
  { op.infer_shape(shapes) } -> std::same_as<void>;
};
/// Clause 2.
template <class T>
concept InfersType = requires(const T& op, Types& types) {
  { op.infer_type(types) } -> std::same_as<void>;
};

}  // namespace strop::inline v0
