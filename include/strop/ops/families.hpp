// SPDX-License-Identifier: Apache-2.0
/// \file
/// The families of the library's operators as one list of types: ops/all.hpp registers what it names, and tests walk
/// it.
#pragma once
#include <strop/ops/library.hpp>

namespace strop::inline v0::detail {

/// Several families, each an OpList.
template <class... Family>
struct OpLists {
  static const void* enrol() {
    (Family::enrol(), ...);
    return nullptr;
  }
  /// Calls f.template operator()<T>() for every operator T.
  template <class F>
  static constexpr void each(F f) {
    (Family::each(f), ...);
  }
};

// clang-format off
using Families = OpLists<
    ActivationOps,
    AllcloseOps,
    AmpOps,
    BoxOps,
    BoxTargetOps,
    BroadcastOps,
    CastOps,
    CompareOps,
    ContribMapOps,
    ConvolutionOps,
    CorrelationOps,
    CropOps,
    CtcLossOps,
    CumsumOps,
    DeconvolutionOps,
    DiagOps,
    DotOps,
    DropoutOps,
    ElemwiseOps,
    EmbeddingOps,
    ExponentialOps,
    FiniteOps,
    FullyConnectedOps,
    GatherOps,
    GraphOps,
    GroupNormOps,
    HistogramOps,
    HyperbolicOps,
    IdentityOps,
    Im2colOps,
    ImageOps,
    IndexCopyOps,
    InitOps,
    InterleavedMatmulOps,
    JoinOps,
    KhatriRaoOps,
    LargeBatchOps,
    LeakyReluOps,
    LinalgDiagonalOps,
    LinalgFactorOps,
    LinalgOrthogonalOps,
    LinalgProductOps,
    LrnOps,
    MixedOptimizerOps,
    MomentsOps,
    MultiBoxOps,
    MultiBoxTargetOps,
    NormOps,
    OneHotOps,
    OptimizerOps,
    OrderOps,
    PadOps,
    PoolingOps,
    PositionSensitiveOps,
    PowerOps,
    ProposalOps,
    QuantizationOps,
    RandomOps,
    RandomPdfOps,
    RandomSampleOps,
    RandomZipfianOps,
    ReduceOps,
    RegionOps,
    RegressionOutputOps,
    RepetitionOps,
    ReshapeOps,
    ResizeOps,
    RnnOps,
    RotatedRegionOps,
    RoundingOps,
    SamplingOps,
    ScalarOps,
    ScatterOps,
    SddmmOps,
    SelectOps,
    SequenceOps,
    SliceOps,
    SoftmaxOps,
    SoftmaxOutputOps,
    SparseOptimizerOps,
    SparseRetainOps,
    SpecialOps,
    SquareSumOps,
    StoredOps,
    StoredSoftmaxOps,
    SumOps,
    SvmOutputOps,
    TakeOps,
    TransposeOps,
    TrigonometricOps,
    UpSamplingOps>;
// clang-format on

}  // namespace strop::inline v0::detail
