// SPDX-License-Identifier: Apache-2.0
/// \file
/// The lines of tensor_operators.cpp that are of optimizer updates.
#pragma once

namespace {

STROP_TESTED(SgdUpdate, shape(strop::SgdUpdate{.lr = 1}, of(5, 2), of(5, 2)) == of(5, 2) &&
                            type(strop::SgdUpdate{.lr = 1}, f32, f32) == f32 &&
                            storage(strop::SgdUpdate{.lr = 1}, row_sparse, row_sparse) == row_sparse &&
                            keeps(strop::SgdUpdate{.lr = 1}) == Keeps::none);
STROP_TESTED(SgdMomUpdate, shape(strop::SgdMomUpdate{.lr = 1}, of(5, 2), of(5, 2), of(5, 2)) == of(5, 2) &&
                               type(strop::SgdMomUpdate{.lr = 1}, f32, f32, f32) == f32 &&
                               storage(strop::SgdMomUpdate{.lr = 1}, dense, row_sparse, dense) == dense &&
                               keeps(strop::SgdMomUpdate{.lr = 1}) == Keeps::none);
STROP_TESTED(AdamUpdate, shape(strop::AdamUpdate{.lr = 1}, of(5, 2), of(5, 2), of(5, 2), of(5, 2)) == of(5, 2) &&
                             type(strop::AdamUpdate{.lr = 1}, f64, f64, f64, f64) == f64 &&
                             storage(strop::AdamUpdate{.lr = 1}, dense, row_sparse, dense, dense) == dense &&
                             keeps(strop::AdamUpdate{.lr = 1}) == Keeps::none);
STROP_TESTED(FtrlUpdate,
             shape(strop::FtrlUpdate{.lr = 1}, of(5, 2), of(5, 2), of(5, 2), of(5, 2)) == of(5, 2) &&
                 type(strop::FtrlUpdate{.lr = 1}, f32, f32, f32, f32) == f32 &&
                 storage(strop::FtrlUpdate{.lr = 1}, row_sparse, row_sparse, row_sparse, row_sparse) == row_sparse &&
                 keeps(strop::FtrlUpdate{.lr = 1}) == Keeps::none);
STROP_TESTED(SparseAdagradUpdate,
             shape(strop::SparseAdagradUpdate{.lr = 1}, of(5, 2), of(5, 2), of(5, 2)) == of(5, 2) &&
                 type(strop::SparseAdagradUpdate{.lr = 1}, f32, f32, f32) == f32 &&
                 storage(strop::SparseAdagradUpdate{.lr = 1}, dense, row_sparse, dense) == dense &&
                 keeps(strop::SparseAdagradUpdate{.lr = 1}) == Keeps::none);
STROP_TESTED(GroupAdagradUpdate, shape(strop::GroupAdagradUpdate{.lr = 1}, of(5, 2), of(5, 2), of(5, 1)) == of(5, 2) &&
                                     type(strop::GroupAdagradUpdate{.lr = 1}, f32, f32, f32) == f32 &&
                                     storage(strop::GroupAdagradUpdate{.lr = 1}, dense, row_sparse, dense) == dense &&
                                     keeps(strop::GroupAdagradUpdate{.lr = 1}) == Keeps::none);
STROP_TESTED(MpSgdUpdate, shape(strop::MpSgdUpdate{.lr = 1}, of(5, 2), of(5, 2), of(5, 2)) == of(5, 2) &&
                              type(strop::MpSgdUpdate{.lr = 1}, f16, f16, f32) == f16 &&
                              storage(strop::MpSgdUpdate{.lr = 1}, dense, row_sparse, dense) == dense &&
                              keeps(strop::MpSgdUpdate{.lr = 1}) == Keeps::none);
STROP_TESTED(MpSgdMomUpdate,
             shape(strop::MpSgdMomUpdate{.lr = 1}, of(5, 2), of(5, 2), of(5, 2), of(5, 2)) == of(5, 2) &&
                 type(strop::MpSgdMomUpdate{.lr = 1}, f16, f16, f32, f32) == f16 &&
                 storage(strop::MpSgdMomUpdate{.lr = 1}, row_sparse, row_sparse, row_sparse, row_sparse) ==
                     row_sparse &&
                 keeps(strop::MpSgdMomUpdate{.lr = 1}) == Keeps::none);
STROP_TESTED(MpNagMomUpdate,
             shape(strop::MpNagMomUpdate{.lr = 1}, of(5, 2), of(5, 2), of(5, 2), of(5, 2)) == of(5, 2) &&
                 type(strop::MpNagMomUpdate{.lr = 1}, f16, f16, f32, f32) == f16 &&
                 storage(strop::MpNagMomUpdate{.lr = 1}, dense, row_sparse, dense, dense) == dense &&
                 keeps(strop::MpNagMomUpdate{.lr = 1}) == Keeps::none);
STROP_TESTED(MpAdamUpdate,
             shape(strop::MpAdamUpdate{.lr = 1}, of(5, 2), of(5, 2), of(5, 2), of(5, 2), of(5, 2)) == of(5, 2) &&
                 type(strop::MpAdamUpdate{.lr = 1}, f16, f16, f32, f32, f32) == f16 &&
                 storage(strop::MpAdamUpdate{.lr = 1}, dense, row_sparse, dense, dense, dense) == dense &&
                 keeps(strop::MpAdamUpdate{.lr = 1}) == Keeps::none);
STROP_TESTED(LambUpdatePhase2, shape(strop::LambUpdatePhase2{.lr = 1}, of(5, 2), of(5, 2), of(1), of(1)) == of(5, 2) &&
                                   type(strop::LambUpdatePhase2{.lr = 1}, f64, f64, f64, f64) == f64 &&
                                   storage(strop::LambUpdatePhase2{.lr = 1}, dense, dense, dense, dense) == dense &&
                                   keeps(strop::LambUpdatePhase2{.lr = 1}) == Keeps::none);
STROP_TESTED(MpLambUpdatePhase1,
             shape(strop::MpLambUpdatePhase1{.t = 1, .wd = 0}, of(5, 2), of(5, 2), of(5, 2), of(5, 2), of(5, 2)) ==
                     of(5, 2) &&
                 type(strop::MpLambUpdatePhase1{.t = 1, .wd = 0}, f16, f16, f32, f32, f32) == f32 &&
                 storage(strop::MpLambUpdatePhase1{.t = 1, .wd = 0}, dense, dense, dense, dense, dense) == dense &&
                 keeps(strop::MpLambUpdatePhase1{.t = 1, .wd = 0}) == Keeps::none);
STROP_TESTED(MpLambUpdatePhase2,
             shape(strop::MpLambUpdatePhase2{.lr = 1}, of(5, 2), of(5, 2), of(1), of(1), of(5, 2)) == of(5, 2) &&
                 type(strop::MpLambUpdatePhase2{.lr = 1}, f16, f32, f32, f32, f32) == f16 &&
                 storage(strop::MpLambUpdatePhase2{.lr = 1}, dense, dense, dense, dense, dense) == dense &&
                 keeps(strop::MpLambUpdatePhase2{.lr = 1}) == Keeps::none);
STROP_TESTED(AdamwUpdate,
             shape(strop::AdamwUpdate{.lr = 1, .eta = 1}, of(5, 2), of(5, 2), of(5, 2), of(5, 2), of(1)) == of(5, 2) &&
                 type(strop::AdamwUpdate{.lr = 1, .eta = 1}, f32, f32, f32, f32, f32) == f32 &&
                 storage(strop::AdamwUpdate{.lr = 1, .eta = 1}, dense, dense, dense, dense, dense) == dense &&
                 keeps(strop::AdamwUpdate{.lr = 1, .eta = 1}) == Keeps::none);
STROP_TESTED(MpAdamwUpdate,
             shape(strop::MpAdamwUpdate{.lr = 1, .eta = 1}, of(5, 2), of(5, 2), of(5, 2), of(5, 2), of(5, 2), of(1)) ==
                     of(5, 2) &&
                 type(strop::MpAdamwUpdate{.lr = 1, .eta = 1}, f16, f16, f32, f32, f32, f32) == f16 &&
                 storage(strop::MpAdamwUpdate{.lr = 1, .eta = 1}, dense, dense, dense, dense, dense, dense) == dense &&
                 keeps(strop::MpAdamwUpdate{.lr = 1, .eta = 1}) == Keeps::none);
STROP_TESTED(AllFinite, shape(strop::AllFinite{}, of(2, 3)) == of(1) && type(strop::AllFinite{}, f16) == f32 &&
                            storage(strop::AllFinite{}, dense) == dense && keeps(strop::AllFinite{}) == Keeps::none);
STROP_TESTED(MultiAllFinite, shape(strop::MultiAllFinite{.num_arrays = 2}, of(2, 3), of(4)) == of(1) &&
                                 type(strop::MultiAllFinite{.num_arrays = 2}, f16, f64) == f32 &&
                                 storage(strop::MultiAllFinite{.num_arrays = 2}, dense, dense) == dense &&
                                 keeps(strop::MultiAllFinite{.num_arrays = 2}) == Keeps::none);
STROP_TESTED(MultiSumSq, shape(strop::MultiSumSq{.num_arrays = 2}, of(2, 3), of(4)) == of(2) &&
                             type(strop::MultiSumSq{.num_arrays = 2}, f16, f64) == f32 &&
                             storage(strop::MultiSumSq{.num_arrays = 2}, dense, dense) == dense &&
                             keeps(strop::MultiSumSq{.num_arrays = 2}) == Keeps::none);

}  // namespace
