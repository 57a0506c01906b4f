// SPDX-License-Identifier: Apache-2.0
/// \file
/// The lines of tensor_operators.cpp that are of what detectors learn and of the boxes that they find.
#pragma once

namespace {

STROP_TESTED(BipartiteMatching,
             shape(strop::BipartiteMatching{.threshold = 0.5f}, of(2, 3, 4)) == list(of(2, 3), of(2, 4)) &&
                 type(strop::BipartiteMatching{.threshold = 0.5f}, f16) == list(f16, f16) &&
                 storage(strop::BipartiteMatching{.threshold = 0.5f}, dense) == list(dense, dense) &&
                 keeps(strop::BipartiteMatching{.threshold = 0.5f}) == Keeps::none);
STROP_TESTED(BoxEncode,
             shape(strop::BoxEncode{}, of(2, 3), of(2, 3), of(2, 3, 4), of(2, 5, 4), of(4), of(4)) ==
                     list(of(2, 3, 4), of(2, 3, 4)) &&
                 type(strop::BoxEncode{}, f32, f32, f32, f32, f32, f32) == list(f32, f32) &&
                 storage(strop::BoxEncode{}, dense, dense, dense, dense, dense, dense) == list(dense, dense) &&
                 keeps(strop::BoxEncode{}) == Keeps::none);
STROP_TESTED(BoxDecode, shape(strop::BoxDecode{}, of(2, 3, 4), of(1, 3, 4)) == of(2, 3, 4) &&
                            type(strop::BoxDecode{}, f64, f64) == f64 &&
                            storage(strop::BoxDecode{}, dense, dense) == dense &&
                            keeps(strop::BoxDecode{}) == Keeps::none);
STROP_TESTED(MultiBoxPrior,
             shape(strop::MultiBoxPrior{.sizes = {0.5, 0.25}, .ratios = {1, 2, 0.5}}, of(2, 3, 4, 5)) == of(1, 80, 4) &&
                 type(strop::MultiBoxPrior{}, f32) == f32 && storage(strop::MultiBoxPrior{}, dense) == dense &&
                 keeps(strop::MultiBoxPrior{}) == Keeps::none);
STROP_TESTED(MultiBoxTarget, shape(strop::MultiBoxTarget{}, of(1, 6, 4), of(2, 3, 5), of(2, 7, 6)) ==
                                     list(of(2, 24), of(2, 24), of(2, 6)) &&
                                 type(strop::MultiBoxTarget{}, f32, f32, f32) == list(f32, f32, f32) &&
                                 storage(strop::MultiBoxTarget{}, dense, dense, dense) == list(dense, dense, dense) &&
                                 keeps(strop::MultiBoxTarget{}) == Keeps::none);
STROP_TESTED(MultiBoxDetection, shape(strop::MultiBoxDetection{}, of(2, 7, 6), of(2, 24), of(1, 6, 4)) == of(2, 6, 6) &&
                                    type(strop::MultiBoxDetection{}, f32, f32, f32) == f32 &&
                                    storage(strop::MultiBoxDetection{}, dense, dense, dense) == dense &&
                                    keeps(strop::MultiBoxDetection{}) == Keeps::none);

}  // namespace
