// SPDX-License-Identifier: Apache-2.0
/// \file
/// The lines of tensor_operators.cpp that are of layers of older networks.
#pragma once

namespace {

STROP_TESTED(GroupNorm, shape(strop::GroupNorm{.num_groups = 2}, of(2, 4, 3), of(2), of(2)) ==
                                list(of(2, 4, 3), of(2, 2), of(2, 2)) &&
                            type(strop::GroupNorm{}, f16, f32, f32) == list(f16, f32, f32) &&
                            storage(strop::GroupNorm{}, dense, dense, dense) == list(dense, dense, dense) &&
                            keeps(strop::GroupNorm{}) == Keeps::in_out);
STROP_TESTED(InstanceNorm,
             shape(strop::InstanceNorm{}, of(2, 4, 3), of(4), of(4)) == list(of(2, 4, 3), of(2, 4), of(2, 4)) &&
                 type(strop::InstanceNorm{}, f64, f64, f64) == list(f64, f64, f64) &&
                 storage(strop::InstanceNorm{}, dense, dense, dense) == list(dense, dense, dense) &&
                 keeps(strop::InstanceNorm{}) == Keeps::in_out);
STROP_TESTED(L2Normalization, shape(strop::L2Normalization{.mode = strop::L2Normalization::channel}, of(2, 4, 3)) ==
                                      list(of(2, 4, 3), of(2, 1, 3)) &&
                                  type(strop::L2Normalization{}, f32) == list(f32, f32) &&
                                  storage(strop::L2Normalization{}, dense) == list(dense, dense) &&
                                  keeps(strop::L2Normalization{}) == Keeps::out);
STROP_TESTED(LRN, shape(strop::LRN{.nsize = 3}, of(2, 4)) == list(of(2, 4), of(2, 4)) &&
                      type(strop::LRN{.nsize = 3}, f32) == list(f32, f32) &&
                      storage(strop::LRN{.nsize = 3}, dense) == list(dense, dense) &&
                      keeps(strop::LRN{.nsize = 3}) == Keeps::in_out);
STROP_TESTED(SVMOutput,
             shape(strop::SVMOutput{}, of(2, 3), of(2)) == of(2, 3) && type(strop::SVMOutput{}, f32, i32) == f32 &&
                 storage(strop::SVMOutput{}, dense, dense) == dense && keeps(strop::SVMOutput{}) == Keeps::in_out);
STROP_TESTED(SoftmaxActivation, shape(strop::SoftmaxActivation{}, of(2, 3)) == of(2, 3) &&
                                    type(strop::SoftmaxActivation{}, f32) == f32 &&
                                    storage(strop::SoftmaxActivation{}, dense) == dense &&
                                    keeps(strop::SoftmaxActivation{}) == Keeps::out);
constexpr strop::Deconvolution twice{.kernel = of(2), .stride = of(2), .num_filter = 3};
STROP_TESTED(Deconvolution, shape(twice, of(2, 4, 5), of(4, 3, 2)) == of(2, 3, 10) && type(twice, f32, f32) == f32 &&
                                storage(twice, dense, dense) == dense && keeps(twice) == Keeps::in);
constexpr strop::UpSampling larger{.scale = 2, .sample_type = strop::UpSampling::nearest};
STROP_TESTED(UpSampling, shape(larger, of(2, 4, 5, 1), of(2, 1, 10, 2)) == of(2, 5, 10, 2) &&
                             type(larger, f32, f32) == f32 && storage(larger, dense, dense) == dense &&
                             keeps(larger) == Keeps::in);

STROP_TESTED_WITH_TEXT(SyncBatchNorm,
                       shape(strop::SyncBatchNorm{.key = "bn"}, of(2, 3, 4), of(3), of(3), of(3), of(3)) ==
                               list(of(2, 3, 4), of(3), of(3)) &&
                           type(strop::SyncBatchNorm{.key = "bn"}, f32, f32, f32, f32, f32) == list(f32, f32, f32) &&
                           storage(strop::SyncBatchNorm{.key = "bn"}, dense, dense, dense, dense, dense) ==
                               list(dense, dense, dense) &&
                           keeps(strop::SyncBatchNorm{.key = "bn"}) == Keeps::in_out);

constexpr strop::RNN steps{.state_size = 4, .num_layers = 2, .bidirectional = true, .mode = strop::RNN::lstm};
constexpr strop::RNN step{.state_size = 4, .num_layers = 1, .mode = strop::RNN::gru, .state_outputs = true};
STROP_TESTED(RNN, shape(steps, of(5, 2, 3), of(736), of(4, 2, 4), of(4, 2, 4)) ==
                          list(of(5, 2, 8), of(4, 2, 4), of(4, 2, 4), of(880)) &&
                      shape(step, of(5, 2, 3), of(108), of(1, 2, 4)) == list(of(5, 2, 4), of(1, 2, 4), of(0), of(0)) &&
                      type(steps, f16, f16, f16, f16) == list(f16, f16, f16, f32) &&
                      storage(steps, dense, dense, dense, dense) == list(dense, dense, dense, dense) &&
                      keeps(steps) == Keeps::in_out);

}  // namespace
