// SPDX-License-Identifier: Apache-2.0
/// \file
/// The lines of tensor_operators.cpp that are of what detectors are made of: proposals, regions, numbers of 8 bits.
#pragma once

namespace {

STROP_TESTED(Quantize,
             shape(strop::Quantize{}, of(2, 3), of(1), of(1)) == list(of(2, 3), of(1), of(1)) &&
                 type(strop::Quantize{}, f32, f32, f32) == list(u8, f32, f32) &&
                 type(strop::Quantize{.out_type = strop::Quantize::int8}, f64, f32, f32) == list(i8, f32, f32) &&
                 storage(strop::Quantize{}, dense, dense, dense) == list(dense, dense, dense) &&
                 keeps(strop::Quantize{}) == Keeps::none);
constexpr strop::QuantizeV2 calibrated{
    .out_type = strop::QuantizedType::auto_, .min_calib_range = 0.0f, .max_calib_range = 2.0f};
STROP_TESTED(QuantizeV2, shape(strop::QuantizeV2{}, of(2, 3)) == list(of(2, 3), of(1), of(1)) &&
                             type(strop::QuantizeV2{}, f32) == list(i8, f32, f32) &&
                             type(calibrated, f16) == list(u8, f32, f32) &&
                             type(calibrated, i8) == list(i8, f32, f32) &&
                             storage(strop::QuantizeV2{}, dense) == list(dense, dense, dense) &&
                             keeps(strop::QuantizeV2{}) == Keeps::none);
STROP_TESTED(Dequantize, shape(strop::Dequantize{}, of(2, 3), of(1), of(1)) == of(2, 3) &&
                             type(strop::Dequantize{}, u8, f32, f32) == f32 &&
                             storage(strop::Dequantize{}, dense, dense, dense) == dense &&
                             keeps(strop::Dequantize{}) == Keeps::none);
STROP_TESTED(Requantize, shape(strop::Requantize{}, of(2, 3), of(1), of(1)) == list(of(2, 3), of(1), of(1)) &&
                             type(strop::Requantize{}, i32, f32, f32) == list(i8, f32, f32) &&
                             storage(strop::Requantize{}, dense, dense, dense) == list(dense, dense, dense) &&
                             keeps(strop::Requantize{}) == Keeps::none);
constexpr strop::PSROIPooling channels_of_parts{.spatial_scale = 1.0f, .output_dim = 2, .pooled_size = 3};
STROP_TESTED(PSROIPooling, shape(channels_of_parts, of(2, 18, 4, 5), of(7, 5)) == of(7, 2, 3, 3) &&
                               type(channels_of_parts, f32, f32) == f32 &&
                               storage(channels_of_parts, dense, dense) == dense &&
                               keeps(channels_of_parts) == Keeps::in);
constexpr strop::RROIAlign rotated{.pooled_size = of(2, 3), .spatial_scale = 1.0f};
STROP_TESTED(RROIAlign, shape(rotated, of(2, 8, 4, 5), of(7, 6)) == of(7, 8, 2, 3) && type(rotated, f32, f32) == f32 &&
                            storage(rotated, dense, dense) == dense && keeps(rotated) == Keeps::none);
STROP_TESTED(Proposal, shape(strop::Proposal{.rpn_post_nms_top_n = 9}, of(1, 24, 4, 5), of(1, 48, 4, 5), of(1, 3)) ==
                               list(of(9, 5), of(9, 1)) &&
                           type(strop::Proposal{}, f32, f32, f32) == list(f32, f32) &&
                           storage(strop::Proposal{}, dense, dense, dense) == list(dense, dense) &&
                           keeps(strop::Proposal{}) == Keeps::none);
STROP_TESTED(MultiProposal, shape(strop::MultiProposal{.rpn_post_nms_top_n = 9, .scales = 8}, of(2, 6, 4, 5),
                                  of(2, 12, 4, 5), of(2, 3)) == list(of(18, 5), of(18, 1)) &&
                                type(strop::MultiProposal{}, f32, f32, f32) == list(f32, f32) &&
                                storage(strop::MultiProposal{}, dense, dense, dense) == list(dense, dense) &&
                                keeps(strop::MultiProposal{}) == Keeps::none);

}  // namespace
