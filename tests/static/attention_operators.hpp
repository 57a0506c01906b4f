// SPDX-License-Identifier: Apache-2.0
/// \file
/// The lines of tensor_operators.cpp that are of products of attention heads, of images on their way into a network and
/// of histograms.
#pragma once

namespace {

constexpr strop::InterleavedMatmulSelfattQk own_scores{.heads = 2};
STROP_TESTED(InterleavedMatmulSelfattQk, shape(own_scores, of(5, 3, 24)) == of(6, 5, 5) &&
                                             type(own_scores, f16) == f16 && storage(own_scores, dense) == dense &&
                                             keeps(own_scores) == Keeps::in);
constexpr strop::InterleavedMatmulSelfattValatt own_values{.heads = 2};
STROP_TESTED(InterleavedMatmulSelfattValatt,
             shape(own_values, of(5, 3, 24), of(6, 5, 5)) == of(5, 3, 8) && type(own_values, f32, f32) == f32 &&
                 storage(own_values, dense, dense) == dense && keeps(own_values) == Keeps::in);
constexpr strop::InterleavedMatmulEncdecQk other_scores{.heads = 2};
STROP_TESTED(InterleavedMatmulEncdecQk,
             shape(other_scores, of(5, 3, 8), of(7, 3, 16)) == of(6, 5, 7) && type(other_scores, f64, f64) == f64 &&
                 storage(other_scores, dense, dense) == dense && keeps(other_scores) == Keeps::in);
constexpr strop::InterleavedMatmulEncdecValatt other_values{.heads = 2};
STROP_TESTED(InterleavedMatmulEncdecValatt,
             shape(other_values, of(7, 3, 16), of(6, 5, 7)) == of(5, 3, 8) && type(other_values, f32, f32) == f32 &&
                 storage(other_values, dense, dense) == dense && keeps(other_values) == Keeps::in);
STROP_TESTED(ImageToTensor, shape(strop::ImageToTensor{}, of(4, 5, 3)) == of(3, 4, 5) &&
                                shape(strop::ImageToTensor{}, of(2, 4, 5, 3)) == of(2, 3, 4, 5) &&
                                type(strop::ImageToTensor{}, u8) == f32 &&
                                storage(strop::ImageToTensor{}, dense) == dense &&
                                keeps(strop::ImageToTensor{}) == Keeps::none);
STROP_TESTED(ImageNormalize, shape(strop::ImageNormalize{.mean = {1, 2, 3}}, of(3, 4, 5)) == of(3, 4, 5) &&
                                 type(strop::ImageNormalize{}, i32) == i32 &&
                                 storage(strop::ImageNormalize{}, dense) == dense &&
                                 keeps(strop::ImageNormalize{}) == Keeps::none);
STROP_TESTED(Histogram,
             shape(strop::Histogram{.bin_cnt = 4, .range = strop::Numbers{0, 1}}, of(2, 3)) == list(of(4), of(5)) &&
                 shape(strop::Histogram{}, of(2, 3), of(5)) == list(of(4), of(5)) &&
                 type(strop::Histogram{}, f16, f16) == list(i64, f16) &&
                 storage(strop::Histogram{}, dense, dense) == list(dense, dense));

}  // namespace
