// SPDX-License-Identifier: Apache-2.0
/// \file
/// The lines of tensor_operators.cpp that are of operators which make or draw arrays.
#pragma once

namespace {

STROP_TESTED_WITH_TEXT(ZerosOp, shape(strop::ZerosOp{.shape = {2, 3}, .dtype = i32}) == of(2, 3) &&
                                    type(strop::ZerosOp{.shape = {2, 3}, .dtype = i32}) == i32 &&
                                    storage(strop::ZerosOp{.shape = {2, 3}, .dtype = i32}) == dense &&
                                    keeps(strop::ZerosOp{.shape = {2, 3}, .dtype = i32}) == Keeps::none);
STROP_TESTED_WITH_TEXT(ZerosWithoutDtypeOp, shape(strop::ZerosWithoutDtypeOp{.shape = {2, 3}}) == of(2, 3) &&
                                                type(strop::ZerosWithoutDtypeOp{.shape = {2, 3}}) == f32 &&
                                                storage(strop::ZerosWithoutDtypeOp{.shape = {2, 3}}) == dense &&
                                                keeps(strop::ZerosWithoutDtypeOp{.shape = {2, 3}}) == Keeps::none);
STROP_TESTED_WITH_TEXT(OnesOp, shape(strop::OnesOp{.shape = {2, 3}, .dtype = f16}) == of(2, 3) &&
                                   type(strop::OnesOp{.shape = {2, 3}, .dtype = f16}) == f16 &&
                                   storage(strop::OnesOp{.shape = {2, 3}, .dtype = f16}) == dense &&
                                   keeps(strop::OnesOp{.shape = {2, 3}, .dtype = f16}) == Keeps::none);
STROP_TESTED_WITH_TEXT(FullOp, shape(strop::FullOp{.shape = {4}, .dtype = boolean, .value = 1}) == of(4) &&
                                   type(strop::FullOp{.shape = {4}, .dtype = boolean, .value = 1}) == boolean &&
                                   storage(strop::FullOp{.shape = {4}, .dtype = boolean, .value = 1}) == dense &&
                                   keeps(strop::FullOp{.shape = {4}, .dtype = boolean, .value = 1}) == Keeps::none);
STROP_TESTED_WITH_TEXT(ArangeOp,
                       shape(strop::ArangeOp{.start = 1, .stop = 4, .step = 0.5, .repeat = 2}) == of(12) &&
                           type(strop::ArangeOp{.start = 1, .stop = 4, .step = 0.5, .repeat = 2}) == f32 &&
                           storage(strop::ArangeOp{.start = 1, .stop = 4, .step = 0.5, .repeat = 2}) == dense &&
                           keeps(strop::ArangeOp{.start = 1, .stop = 4, .step = 0.5, .repeat = 2}) == Keeps::none);
STROP_TESTED_WITH_TEXT(EyeOp, shape(strop::EyeOp{.N = 3, .M = 5}) == of(3, 5) &&
                                  type(strop::EyeOp{.N = 3, .M = 5}) == f32 &&
                                  storage(strop::EyeOp{.N = 3, .M = 5}) == dense &&
                                  keeps(strop::EyeOp{.N = 3, .M = 5}) == Keeps::none);
STROP_TESTED_WITH_TEXT(LinspaceOp,
                       shape(strop::LinspaceOp{.start = 0, .stop = 1, .num = 7, .dtype = f64}) == of(7) &&
                           type(strop::LinspaceOp{.start = 0, .stop = 1, .num = 7, .dtype = f64}) == f64 &&
                           storage(strop::LinspaceOp{.start = 0, .stop = 1, .num = 7, .dtype = f64}) == dense &&
                           keeps(strop::LinspaceOp{.start = 0, .stop = 1, .num = 7, .dtype = f64}) == Keeps::none);
STROP_TESTED(ZerosLike, shape(strop::ZerosLike{}, of(2, 3)) == of(2, 3) && type(strop::ZerosLike{}, i32) == i32 &&
                            storage(strop::ZerosLike{}, csr) == csr && keeps(strop::ZerosLike{}) == Keeps::none);
STROP_TESTED(OnesLike, shape(strop::OnesLike{}, of(2, 3)) == of(2, 3) && type(strop::OnesLike{}, i32) == i32 &&
                           storage(strop::OnesLike{}, csr) == dense && keeps(strop::OnesLike{}) == Keeps::none);
STROP_TESTED_WITH_TEXT(ArangeLike, shape(strop::ArangeLike{.axis = 1}, of(2, 3)) == of(3) &&
                                       type(strop::ArangeLike{.axis = 1}, f64) == f64 &&
                                       storage(strop::ArangeLike{.axis = 1}, dense) == dense &&
                                       keeps(strop::ArangeLike{.axis = 1}) == Keeps::none);
STROP_TESTED_WITH_TEXT(RandomUniform, shape(strop::RandomUniform{.shape = {2, 3}}) == of(2, 3) &&
                                          type(strop::RandomUniform{.shape = {2, 3}}) == f32 &&
                                          storage(strop::RandomUniform{.shape = {2, 3}}) == dense &&
                                          keeps(strop::RandomUniform{.shape = {2, 3}}) == Keeps::none);
STROP_TESTED_WITH_TEXT(RandomNormal, shape(strop::RandomNormal{.shape = {2, 3}, .dtype = f64}) == of(2, 3) &&
                                         type(strop::RandomNormal{.shape = {2, 3}, .dtype = f64}) == f64 &&
                                         storage(strop::RandomNormal{.shape = {2, 3}, .dtype = f64}) == dense &&
                                         keeps(strop::RandomNormal{.shape = {2, 3}, .dtype = f64}) == Keeps::none);
STROP_TESTED_WITH_TEXT(RandomExponential, shape(strop::RandomExponential{.shape = {4}}) == of(4) &&
                                              type(strop::RandomExponential{.shape = {4}}) == f32 &&
                                              storage(strop::RandomExponential{.shape = {4}}) == dense &&
                                              keeps(strop::RandomExponential{.shape = {4}}) == Keeps::none);
STROP_TESTED_WITH_TEXT(RandomRandint,
                       shape(strop::RandomRandint{.low = 0, .high = 9, .shape = {4}}) == of(4) &&
                           type(strop::RandomRandint{.low = 0, .high = 9, .shape = {4}}) == i32 &&
                           storage(strop::RandomRandint{.low = 0, .high = 9, .shape = {4}}) == dense &&
                           keeps(strop::RandomRandint{.low = 0, .high = 9, .shape = {4}}) == Keeps::none);
STROP_TESTED(RandomUniformLike, shape(strop::RandomUniformLike{}, of(2, 3)) == of(2, 3) &&
                                    type(strop::RandomUniformLike{}, f64) == f64 &&
                                    storage(strop::RandomUniformLike{}, dense) == dense &&
                                    keeps(strop::RandomUniformLike{}) == Keeps::none);
STROP_TESTED(RandomNormalLike,
             shape(strop::RandomNormalLike{}, of(2, 3)) == of(2, 3) && type(strop::RandomNormalLike{}, f16) == f16 &&
                 storage(strop::RandomNormalLike{}, dense) == dense && keeps(strop::RandomNormalLike{}) == Keeps::none);
STROP_TESTED(RandomExponentialLike, shape(strop::RandomExponentialLike{}, of(2, 3)) == of(2, 3) &&
                                        type(strop::RandomExponentialLike{}, f32) == f32 &&
                                        storage(strop::RandomExponentialLike{}, dense) == dense &&
                                        keeps(strop::RandomExponentialLike{}) == Keeps::none);
STROP_TESTED_WITH_TEXT(RandomGamma, shape(strop::RandomGamma{.shape = {2, 3}, .dtype = f64}) == of(2, 3) &&
                                        type(strop::RandomGamma{.shape = {2, 3}}) == f32 &&
                                        type(strop::RandomGamma{.dtype = f64}) == f64 &&
                                        storage(strop::RandomGamma{.shape = {2, 3}}) == dense &&
                                        keeps(strop::RandomGamma{.shape = {2, 3}}) == Keeps::none);
STROP_TESTED_WITH_TEXT(RandomPoisson, shape(strop::RandomPoisson{.shape = {2, 3}, .dtype = f64}) == of(2, 3) &&
                                          type(strop::RandomPoisson{.shape = {2, 3}}) == f32 &&
                                          type(strop::RandomPoisson{.dtype = f64}) == f64 &&
                                          storage(strop::RandomPoisson{.shape = {2, 3}}) == dense &&
                                          keeps(strop::RandomPoisson{.shape = {2, 3}}) == Keeps::none);
STROP_TESTED_WITH_TEXT(RandomNegativeBinomial,
                       shape(strop::RandomNegativeBinomial{.shape = {2, 3}, .dtype = f64}) == of(2, 3) &&
                           type(strop::RandomNegativeBinomial{.shape = {2, 3}}) == f32 &&
                           type(strop::RandomNegativeBinomial{.dtype = f64}) == f64 &&
                           storage(strop::RandomNegativeBinomial{.shape = {2, 3}}) == dense &&
                           keeps(strop::RandomNegativeBinomial{.shape = {2, 3}}) == Keeps::none);
STROP_TESTED_WITH_TEXT(RandomGeneralizedNegativeBinomial,
                       shape(strop::RandomGeneralizedNegativeBinomial{.shape = {2, 3}, .dtype = f64}) == of(2, 3) &&
                           type(strop::RandomGeneralizedNegativeBinomial{.shape = {2, 3}}) == f32 &&
                           type(strop::RandomGeneralizedNegativeBinomial{.dtype = f64}) == f64 &&
                           storage(strop::RandomGeneralizedNegativeBinomial{.shape = {2, 3}}) == dense &&
                           keeps(strop::RandomGeneralizedNegativeBinomial{.shape = {2, 3}}) == Keeps::none);
STROP_TESTED(SampleUniform, shape(strop::SampleUniform{.shape = {4}}, of(2, 3), of(2, 3)) == of(2, 3, 4) &&
                                type(strop::SampleUniform{}, i32, i32) == f32 &&
                                type(strop::SampleUniform{.dtype = f64}, i32, i32) == f64 &&
                                storage(strop::SampleUniform{}, dense, dense) == dense &&
                                keeps(strop::SampleUniform{}) == Keeps::none);
STROP_TESTED(SampleNormal, shape(strop::SampleNormal{.shape = {4}}, of(2, 3), of(2, 3)) == of(2, 3, 4) &&
                               type(strop::SampleNormal{}, i32, i32) == f32 &&
                               type(strop::SampleNormal{.dtype = f64}, i32, i32) == f64 &&
                               storage(strop::SampleNormal{}, dense, dense) == dense &&
                               keeps(strop::SampleNormal{}) == Keeps::none);
STROP_TESTED(SampleGamma, shape(strop::SampleGamma{.shape = {4}}, of(2, 3), of(2, 3)) == of(2, 3, 4) &&
                              type(strop::SampleGamma{}, i32, i32) == f32 &&
                              type(strop::SampleGamma{.dtype = f64}, i32, i32) == f64 &&
                              storage(strop::SampleGamma{}, dense, dense) == dense &&
                              keeps(strop::SampleGamma{}) == Keeps::none);
STROP_TESTED(SampleExponential, shape(strop::SampleExponential{.shape = {4}}, of(2, 3)) == of(2, 3, 4) &&
                                    type(strop::SampleExponential{}, i32) == f32 &&
                                    type(strop::SampleExponential{.dtype = f64}, i32) == f64 &&
                                    storage(strop::SampleExponential{}, dense) == dense &&
                                    keeps(strop::SampleExponential{}) == Keeps::none);
STROP_TESTED(SamplePoisson,
             shape(strop::SamplePoisson{.shape = {4}}, of(2, 3)) == of(2, 3, 4) &&
                 type(strop::SamplePoisson{}, i32) == f32 && type(strop::SamplePoisson{.dtype = f64}, i32) == f64 &&
                 storage(strop::SamplePoisson{}, dense) == dense && keeps(strop::SamplePoisson{}) == Keeps::none);
STROP_TESTED(SampleNegativeBinomial,
             shape(strop::SampleNegativeBinomial{.shape = {4}}, of(2, 3), of(2, 3)) == of(2, 3, 4) &&
                 type(strop::SampleNegativeBinomial{}, f16, f16) == f32 &&
                 type(strop::SampleNegativeBinomial{.dtype = f64}, f16, f16) == f64 &&
                 storage(strop::SampleNegativeBinomial{}, dense, dense) == dense &&
                 keeps(strop::SampleNegativeBinomial{}) == Keeps::none);
STROP_TESTED(SampleGeneralizedNegativeBinomial,
             shape(strop::SampleGeneralizedNegativeBinomial{.shape = {4}}, of(2, 3), of(2, 3)) == of(2, 3, 4) &&
                 type(strop::SampleGeneralizedNegativeBinomial{}, i32, i32) == f32 &&
                 type(strop::SampleGeneralizedNegativeBinomial{.dtype = f64}, i32, i32) == f64 &&
                 storage(strop::SampleGeneralizedNegativeBinomial{}, dense, dense) == dense &&
                 keeps(strop::SampleGeneralizedNegativeBinomial{}) == Keeps::none);
STROP_TESTED(SampleMultinomial,
             shape(strop::SampleMultinomial{.shape = {4}, .get_prob = true}, of(2, 3)) == list(of(2, 4), of(2, 4)) &&
                 shape(strop::SampleMultinomial{}, of(3)) == list(of(1), of(0)) &&
                 type(strop::SampleMultinomial{}, f64) == list(i32, f64) &&
                 storage(strop::SampleMultinomial{}, dense) == list(dense, dense) &&
                 keeps(strop::SampleMultinomial{}) == Keeps::in_out);
STROP_TESTED(RandomGammaLike,
             shape(strop::RandomGammaLike{}, of(2, 3)) == of(2, 3) && type(strop::RandomGammaLike{}, f16) == f16 &&
                 storage(strop::RandomGammaLike{}, dense) == dense && keeps(strop::RandomGammaLike{}) == Keeps::none);
STROP_TESTED(RandomPoissonLike, shape(strop::RandomPoissonLike{}, of(2, 3)) == of(2, 3) &&
                                    type(strop::RandomPoissonLike{}, f16) == f16 &&
                                    storage(strop::RandomPoissonLike{}, dense) == dense &&
                                    keeps(strop::RandomPoissonLike{}) == Keeps::none);
STROP_TESTED(RandomNegativeBinomialLike, shape(strop::RandomNegativeBinomialLike{}, of(2, 3)) == of(2, 3) &&
                                             type(strop::RandomNegativeBinomialLike{}, f16) == f16 &&
                                             storage(strop::RandomNegativeBinomialLike{}, dense) == dense &&
                                             keeps(strop::RandomNegativeBinomialLike{}) == Keeps::none);
STROP_TESTED(RandomGeneralizedNegativeBinomialLike,
             shape(strop::RandomGeneralizedNegativeBinomialLike{}, of(2, 3)) == of(2, 3) &&
                 type(strop::RandomGeneralizedNegativeBinomialLike{}, f16) == f16 &&
                 storage(strop::RandomGeneralizedNegativeBinomialLike{}, dense) == dense &&
                 keeps(strop::RandomGeneralizedNegativeBinomialLike{}) == Keeps::none);
STROP_TESTED(Shuffle, shape(strop::Shuffle{}, of(2, 3)) == of(2, 3) && type(strop::Shuffle{}, i32) == i32 &&
                          storage(strop::Shuffle{}, dense) == dense && keeps(strop::Shuffle{}) == Keeps::none);

}  // namespace
