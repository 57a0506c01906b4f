// SPDX-License-Identifier: Apache-2.0
/// \file
/// The contract: what a struct has to be to be an operator, and what it may state. Each file has the clauses of its
/// concepts, and op/diagnose.hpp a sentence for each.
#pragma once
#include <strop/core/push_macros.def>

#include <strop/op/concepts/arguments.hpp>          // NamesArguments, MutatesInputs
#include <strop/op/concepts/composed_gradient.hpp>  // GradComposes
#include <strop/op/concepts/documents.hpp>          // Documents, ServesTypes
#include <strop/op/concepts/inference.hpp>          // InfersShape, InfersType
#include <strop/op/concepts/map.hpp>                // UnaryOp, BinaryOp, MapOp
#include <strop/op/concepts/memory.hpp>             // InplaceOption, GradientInplaceOption, RequestsResource
#include <strop/op/concepts/misnamed.hpp>           // NoneMisnamed
#include <strop/op/concepts/sparse.hpp>             // SparseOp, InfersStorage
#include <strop/op/concepts/state.hpp>              // HasState
#include <strop/op/concepts/stated_gradient.hpp>    // HasGradUseIn, HasGradUseOut, HasGradUseNone, HasGradUseInOut
#include <strop/op/concepts/tagged_gradient.hpp>    // HasGrad
#include <strop/op/concepts/tensor.hpp>             // TensorOp

namespace strop::inline v0 {

/// A plain struct that is one of these.
template <class T>
concept Operator = AnyMap<T> || TensorOp<T> || SparseOp<T>;

}  // namespace strop::inline v0

#include <strop/core/pop_macros.def>
