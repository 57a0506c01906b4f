// SPDX-License-Identifier: Apache-2.0
/// \file
/// The lines of tensor_operators.cpp that are of linear algebra.
#pragma once

namespace {

STROP_TESTED(LinalgExtractdiag, shape(strop::LinalgExtractdiag{.offset = 1}, of(2, 3, 3)) == of(2, 2) &&
                                    type(strop::LinalgExtractdiag{.offset = 1}, f32) == f32 &&
                                    storage(strop::LinalgExtractdiag{.offset = 1}, dense) == dense &&
                                    keeps(strop::LinalgExtractdiag{.offset = 1}) == Keeps::none);
STROP_TESTED(LinalgMakediag, shape(strop::LinalgMakediag{.offset = -1}, of(2, 3)) == of(2, 4, 4) &&
                                 type(strop::LinalgMakediag{.offset = -1}, f32) == f32 &&
                                 storage(strop::LinalgMakediag{.offset = -1}, dense) == dense &&
                                 keeps(strop::LinalgMakediag{.offset = -1}) == Keeps::none);
STROP_TESTED(LinalgExtracttrian, shape(strop::LinalgExtracttrian{}, of(2, 3, 3)) == of(2, 6) &&
                                     type(strop::LinalgExtracttrian{}, f64) == f64 &&
                                     storage(strop::LinalgExtracttrian{}, dense) == dense &&
                                     keeps(strop::LinalgExtracttrian{}) == Keeps::none);
STROP_TESTED(LinalgMaketrian,
             shape(strop::LinalgMaketrian{}, of(2, 6)) == of(2, 3, 3) && type(strop::LinalgMaketrian{}, f32) == f32 &&
                 storage(strop::LinalgMaketrian{}, dense) == dense && keeps(strop::LinalgMaketrian{}) == Keeps::none);
STROP_TESTED(LinalgSumlogdiag,
             shape(strop::LinalgSumlogdiag{}, of(3, 3)) == of(1) && type(strop::LinalgSumlogdiag{}, f32) == f32 &&
                 storage(strop::LinalgSumlogdiag{}, dense) == dense && keeps(strop::LinalgSumlogdiag{}) == Keeps::in);
STROP_TESTED(LinalgGemm2,
             shape(strop::LinalgGemm2{.transpose_a = true, .axis = 0}, of(4, 2, 3), of(4, 2, 5)) == of(3, 2, 5) &&
                 type(strop::LinalgGemm2{.transpose_a = true, .axis = 0}, f32, f32) == f32 &&
                 storage(strop::LinalgGemm2{.transpose_a = true, .axis = 0}, dense, dense) == dense &&
                 keeps(strop::LinalgGemm2{.transpose_a = true, .axis = 0}) == Keeps::in);
STROP_TESTED(LinalgGemm, shape(strop::LinalgGemm{.transpose_b = true}, of(2, 3), of(4, 3), of(2, 4)) == of(2, 4) &&
                             type(strop::LinalgGemm{.transpose_b = true}, f64, f64, f64) == f64 &&
                             storage(strop::LinalgGemm{.transpose_b = true}, dense, dense, dense) == dense &&
                             keeps(strop::LinalgGemm{.transpose_b = true}) == Keeps::in);
STROP_TESTED(LinalgSyrk, shape(strop::LinalgSyrk{.transpose = true}, of(2, 3)) == of(3, 3) &&
                             type(strop::LinalgSyrk{.transpose = true}, f32) == f32 &&
                             storage(strop::LinalgSyrk{.transpose = true}, dense) == dense &&
                             keeps(strop::LinalgSyrk{.transpose = true}) == Keeps::in);
STROP_TESTED(LinalgTrmm,
             shape(strop::LinalgTrmm{}, of(3, 3), of(3, 2)) == of(3, 2) && type(strop::LinalgTrmm{}, f32, f32) == f32 &&
                 storage(strop::LinalgTrmm{}, dense, dense) == dense && keeps(strop::LinalgTrmm{}) == Keeps::in);
STROP_TESTED(LinalgTrsm, shape(strop::LinalgTrsm{.rightside = true}, of(3, 3), of(2, 3)) == of(2, 3) &&
                             type(strop::LinalgTrsm{.rightside = true}, f32, f32) == f32 &&
                             storage(strop::LinalgTrsm{.rightside = true}, dense, dense) == dense &&
                             keeps(strop::LinalgTrsm{.rightside = true}) == Keeps::in_out);
STROP_TESTED(LinalgPotrf, shape(strop::LinalgPotrf{}, of(2, 3, 3)) == of(2, 3, 3) &&
                              type(strop::LinalgPotrf{}, f32) == f32 && storage(strop::LinalgPotrf{}, dense) == dense &&
                              keeps(strop::LinalgPotrf{}) == Keeps::out);
STROP_TESTED(LinalgPotri, shape(strop::LinalgPotri{}, of(2, 3, 3)) == of(2, 3, 3) &&
                              type(strop::LinalgPotri{}, f64) == f64 && storage(strop::LinalgPotri{}, dense) == dense &&
                              keeps(strop::LinalgPotri{}) == Keeps::in_out);
STROP_TESTED(LinalgInverse,
             shape(strop::LinalgInverse{}, of(2, 3, 3)) == of(2, 3, 3) && type(strop::LinalgInverse{}, f32) == f32 &&
                 storage(strop::LinalgInverse{}, dense) == dense && keeps(strop::LinalgInverse{}) == Keeps::out);
STROP_TESTED(LinalgDet, shape(strop::LinalgDet{}, of(2, 3, 3)) == list(of(2), of(2, 3, 3), of(2, 3)) &&
                            type(strop::LinalgDet{}, f32) == list(f32, f32, i32) &&
                            storage(strop::LinalgDet{}, dense) == list(dense, dense, dense) &&
                            keeps(strop::LinalgDet{}) == Keeps::out);
STROP_TESTED(LinalgSlogdet, shape(strop::LinalgSlogdet{}, of(2, 3, 3)) == list(of(2), of(2), of(2, 3, 3), of(2, 3)) &&
                                type(strop::LinalgSlogdet{}, f64) == list(f64, f64, f64, i32) &&
                                storage(strop::LinalgSlogdet{}, dense) == list(dense, dense, dense, dense) &&
                                keeps(strop::LinalgSlogdet{}) == Keeps::out);
STROP_TESTED(LinalgGelqf, shape(strop::LinalgGelqf{}, of(2, 2, 3)) == list(of(2, 2, 3), of(2, 2, 2)) &&
                              type(strop::LinalgGelqf{}, f32) == list(f32, f32) &&
                              storage(strop::LinalgGelqf{}, dense) == list(dense, dense) &&
                              keeps(strop::LinalgGelqf{}) == Keeps::out);
STROP_TESTED(LinalgSyevd, shape(strop::LinalgSyevd{}, of(2, 3, 3)) == list(of(2, 3, 3), of(2, 3)) &&
                              type(strop::LinalgSyevd{}, f32) == list(f32, f32) &&
                              storage(strop::LinalgSyevd{}, dense) == list(dense, dense) &&
                              keeps(strop::LinalgSyevd{}) == Keeps::out);

}  // namespace
