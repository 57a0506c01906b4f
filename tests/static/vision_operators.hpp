// SPDX-License-Identifier: Apache-2.0
/// \file
/// The lines of tensor_operators.cpp that are of operators on images and boxes, of sums along an axis, of densities and
/// of the loss of sequences.
#pragma once

namespace {

constexpr strop::GridGenerator grid_of_matrices{.transform_type = strop::GridGenerator::affine,
                                                .target_shape = of(3, 4)};
STROP_TESTED(GridGenerator, shape(grid_of_matrices, of(5, 6)) == list(of(5, 2, 3, 4), of(3, 12)) &&
                                type(grid_of_matrices, f16) == list(f16, f16) &&
                                storage(grid_of_matrices, dense) == list(dense, dense) &&
                                keeps(grid_of_matrices) == Keeps::out);
STROP_TESTED(BilinearSampler, shape(strop::BilinearSampler{}, of(2, 3, 4, 5), of(2, 2, 6, 7)) == of(2, 3, 6, 7) &&
                                  type(strop::BilinearSampler{}, f32, f32) == f32 &&
                                  storage(strop::BilinearSampler{}, dense, dense) == dense &&
                                  keeps(strop::BilinearSampler{}) == Keeps::in);
constexpr strop::SpatialTransformer transformer{.target_shape = of(6, 7),
                                                .transform_type = strop::SpatialTransformer::affine,
                                                .sampler_type = strop::SpatialTransformer::bilinear};
STROP_TESTED(SpatialTransformer,
             shape(transformer, of(2, 3, 4, 5), of(2, 6)) == list(of(2, 3, 6, 7), of(3, 42), of(2, 2, 42)) &&
                 type(transformer, f64, f64) == list(f64, f64, f64) &&
                 storage(transformer, dense, dense) == list(dense, dense, dense) &&
                 keeps(transformer) == Keeps::in_out);
constexpr strop::ROIPooling maxima{.pooled_size = of(2, 2), .spatial_scale = 1.0f};
STROP_TESTED(ROIPooling, shape(maxima, of(2, 3, 4, 5), of(7, 5)) == of(7, 3, 2, 2) && type(maxima, f32, f32) == f32 &&
                             storage(maxima, dense, dense) == dense && keeps(maxima) == Keeps::in);
constexpr strop::ROIAlign means{.pooled_size = of(2, 2), .spatial_scale = 1.0f, .position_sensitive = true};
STROP_TESTED(ROIAlign, shape(means, of(2, 8, 4, 5), of(7, 4)) == of(7, 2, 2, 2) && type(means, f32, f32) == f32 &&
                           storage(means, dense, dense) == dense && keeps(means) == Keeps::in);
STROP_TESTED(AdaptiveAvgPooling2D,
             shape(strop::AdaptiveAvgPooling2D{.output_size = of(3)}, of(1, 2, 5, 7)) == of(1, 2, 3, 3) &&
                 type(strop::AdaptiveAvgPooling2D{}, f16) == f16 &&
                 storage(strop::AdaptiveAvgPooling2D{}, dense) == dense &&
                 keeps(strop::AdaptiveAvgPooling2D{}) == Keeps::none);
STROP_TESTED(BilinearResize2D,
             shape(strop::BilinearResize2D{.mode = strop::BilinearResize2D::to_odd_up}, of(1, 2, 4, 7)) ==
                     of(1, 2, 5, 7) &&
                 type(strop::BilinearResize2D{}, f32) == f32 && storage(strop::BilinearResize2D{}, dense) == dense &&
                 keeps(strop::BilinearResize2D{}) == Keeps::none);
STROP_TESTED(Correlation, shape(strop::Correlation{.pad_size = 1}, of(1, 2, 3, 4), of(1, 2, 3, 4)) == of(1, 9, 3, 4) &&
                              type(strop::Correlation{}, f32, f32) == f32 &&
                              storage(strop::Correlation{}, dense, dense) == dense &&
                              keeps(strop::Correlation{}) == Keeps::in);
STROP_TESTED(BoxIou, shape(strop::BoxIou{}, of(2, 3, 4), of(5, 4)) == of(2, 3, 5) &&
                         type(strop::BoxIou{}, f32, f32) == f32 && storage(strop::BoxIou{}, dense, dense) == dense &&
                         keeps(strop::BoxIou{}) == Keeps::none);
STROP_TESTED(BoxNms, shape(strop::BoxNms{}, of(2, 3, 6)) == of(2, 3, 6) && type(strop::BoxNms{}, f32) == f32 &&
                         storage(strop::BoxNms{}, dense) == dense && keeps(strop::BoxNms{}) == Keeps::in);
STROP_TESTED(Cumsum, shape(strop::Cumsum{}, of(2, 3)) == of(6) &&
                         shape(strop::Cumsum{.axis = 1}, of(2, 3)) == of(2, 3) && type(strop::Cumsum{}, i8) == i8 &&
                         type(strop::Cumsum{.dtype = f64}, i8) == f64 && storage(strop::Cumsum{}, dense) == dense &&
                         keeps(strop::Cumsum{}) == Keeps::none);
STROP_TESTED(CTCLoss, shape(strop::CTCLoss{}, of(5, 2, 4), of(2, 3)) == of(2) &&
                          type(strop::CTCLoss{}, f32, i32) == f32 && storage(strop::CTCLoss{}, dense, dense) == dense &&
                          keeps(strop::CTCLoss{}) == Keeps::in);
constexpr strop::SampleUniqueZipfian zipfian{.range_max = 9, .shape = of(2, 4)};
STROP_TESTED(SampleUniqueZipfian, shape(zipfian) == list(of(2, 4), of(2)) && type(zipfian) == list(i64, i64));
STROP_TESTED(RandomPdfUniform, shape(strop::RandomPdfUniform{}, of(2, 3), of(2), of(2)) == of(2, 3) &&
                                   type(strop::RandomPdfUniform{}, f32, f32, f32) == f32 &&
                                   storage(strop::RandomPdfUniform{}, dense, dense, dense) == dense &&
                                   keeps(strop::RandomPdfUniform{}) == Keeps::in_out);
STROP_TESTED(RandomPdfNormal, shape(strop::RandomPdfNormal{}, of(2, 3), of(2), of(2)) == of(2, 3) &&
                                  type(strop::RandomPdfNormal{}, f32, f32, f32) == f32 &&
                                  storage(strop::RandomPdfNormal{}, dense, dense, dense) == dense &&
                                  keeps(strop::RandomPdfNormal{}) == Keeps::in_out);
STROP_TESTED(RandomPdfGamma, shape(strop::RandomPdfGamma{}, of(2, 3), of(2), of(2)) == of(2, 3) &&
                                 type(strop::RandomPdfGamma{}, f32, f32, f32) == f32 &&
                                 storage(strop::RandomPdfGamma{}, dense, dense, dense) == dense &&
                                 keeps(strop::RandomPdfGamma{}) == Keeps::in_out);
STROP_TESTED(RandomPdfNegativeBinomial, shape(strop::RandomPdfNegativeBinomial{}, of(2, 3), of(2), of(2)) == of(2, 3) &&
                                            type(strop::RandomPdfNegativeBinomial{}, f32, f32, f32) == f32 &&
                                            storage(strop::RandomPdfNegativeBinomial{}, dense, dense, dense) == dense &&
                                            keeps(strop::RandomPdfNegativeBinomial{}) == Keeps::in_out);
STROP_TESTED(RandomPdfGeneralizedNegativeBinomial,
             shape(strop::RandomPdfGeneralizedNegativeBinomial{}, of(2, 3), of(2), of(2)) == of(2, 3) &&
                 type(strop::RandomPdfGeneralizedNegativeBinomial{}, f32, f32, f32) == f32 &&
                 storage(strop::RandomPdfGeneralizedNegativeBinomial{}, dense, dense, dense) == dense &&
                 keeps(strop::RandomPdfGeneralizedNegativeBinomial{}) == Keeps::in_out);
STROP_TESTED(RandomPdfExponential, shape(strop::RandomPdfExponential{}, of(2, 3), of(2)) == of(2, 3) &&
                                       type(strop::RandomPdfExponential{}, f32, f32) == f32 &&
                                       storage(strop::RandomPdfExponential{}, dense, dense) == dense &&
                                       keeps(strop::RandomPdfExponential{}) == Keeps::in_out);
STROP_TESTED(RandomPdfPoisson, shape(strop::RandomPdfPoisson{}, of(2, 3), of(2)) == of(2, 3) &&
                                   type(strop::RandomPdfPoisson{}, f32, f32) == f32 &&
                                   storage(strop::RandomPdfPoisson{}, dense, dense) == dense &&
                                   keeps(strop::RandomPdfPoisson{}) == Keeps::in_out);
STROP_TESTED(RandomPdfDirichlet, shape(strop::RandomPdfDirichlet{}, of(2, 3), of(3)) == of(2) &&
                                     type(strop::RandomPdfDirichlet{}, f32, f32) == f32 &&
                                     storage(strop::RandomPdfDirichlet{}, dense, dense) == dense &&
                                     keeps(strop::RandomPdfDirichlet{}) == Keeps::in_out);

}  // namespace
