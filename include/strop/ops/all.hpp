// SPDX-License-Identifier: Apache-2.0
/// \file
/// Registers every operator of the library, used or not: `invoke` then finds all of them by name. A
/// program that includes this builds every kernel (minutes); the compiled library with the option `operators` has them
/// all.
#pragma once
#include <strop/core/push_macros.def>

#include <strop/strop.hpp>

namespace strop::inline v0::detail {

inline const void* const all_operators_enrolled[] = {
    ActivationOps::enrol(),
    AmpOps::enrol(),
    BroadcastCompareOps::enrol(),
    BroadcastOps::enrol(),
    CastOps::enrol(),
    CompareOps::enrol(),
    ContribMapOps::enrol(),
    DiagOps::enrol(),
    DotOps::enrol(),
    DropoutOps::enrol(),
    ElemwiseOps::enrol(),
    EmbeddingOps::enrol(),
    ExponentialOps::enrol(),
    FullyConnectedOps::enrol(),
    GatherOps::enrol(),
    HyperbolicOps::enrol(),
    IdentityOps::enrol(),
    InitOps::enrol(),
    JoinOps::enrol(),
    LeakyReluOps::enrol(),
    MomentsOps::enrol(),
    NormOps::enrol(),
    OneHotOps::enrol(),
    OptimizerOps::enrol(),
    OrderOps::enrol(),
    PadOps::enrol(),
    PowerOps::enrol(),
    RandomOps::enrol(),
    ReduceOps::enrol(),
    RegressionOutputOps::enrol(),
    RepetitionOps::enrol(),
    ReshapeOps::enrol(),
    RoundingOps::enrol(),
    ScalarCompareOps::enrol(),
    ScalarOps::enrol(),
    ScatterOps::enrol(),
    SelectOps::enrol(),
    SequenceOps::enrol(),
    SliceOps::enrol(),
    SoftmaxOps::enrol(),
    SoftmaxOutputOps::enrol(),
    SparseOptimizerOps::enrol(),
    SparseRetainOps::enrol(),
    SpecialOps::enrol(),
    SumOps::enrol(),
    TakeOps::enrol(),
    TransposeOps::enrol(),
    TrigonometricOps::enrol(),
};

}  // namespace strop::inline v0::detail

#include <strop/core/pop_macros.def>
