// SPDX-License-Identifier: Apache-2.0
/// \file
/// The lines of tensor_operators.cpp that are of positions, of windows as columns and of what MXNet contributed.
#pragma once

namespace {

STROP_TESTED(IndexArray, shape(strop::IndexArray{}, of(2, 3)) == of(2, 3, 2) && type(strop::IndexArray{}, f32) == i64 &&
                             storage(strop::IndexArray{}, dense) == dense && keeps(strop::IndexArray{}) == Keeps::none);
STROP_TESTED(IndexCopy, shape(strop::IndexCopy{}, of(4, 3), of(2), of(2, 3)) == of(4, 3) &&
                            type(strop::IndexCopy{}, f16, i32, f16) == f16 &&
                            storage(strop::IndexCopy{}, dense, dense, dense) == dense &&
                            keeps(strop::IndexCopy{}) == Keeps::in);
STROP_TESTED(BooleanMask,
             shape(strop::BooleanMask{}, of(4, 3), of(4)) == of(-1, 3) && type(strop::BooleanMask{}, u8, f32) == u8 &&
                 storage(strop::BooleanMask{}, dense, dense) == dense && keeps(strop::BooleanMask{}) == Keeps::in);
STROP_TESTED(Allclose,
             shape(strop::Allclose{}, of(2, 3), of(2, 3)) == of() && type(strop::Allclose{}, f32, f32) == u8 &&
                 storage(strop::Allclose{}, dense, dense) == dense && keeps(strop::Allclose{}) == Keeps::none);
STROP_TESTED(KhatriRao,
             shape(strop::KhatriRao{}, of(2, 3), of(4, 3)) == of(8, 3) && type(strop::KhatriRao{}, i32, i32) == i32 &&
                 storage(strop::KhatriRao{}, dense, dense) == dense && keeps(strop::KhatriRao{}) == Keeps::none);
constexpr strop::Im2col to_columns{.kernel = of(2, 3), .stride = of(1, 2), .dilate = of(2, 1), .pad = of(0, 1)};
STROP_TESTED(Im2col, shape(to_columns, of(2, 3, 4, 5)) == of(2, 18, 6) && type(to_columns, f64) == f64 &&
                         storage(to_columns, dense) == dense && keeps(to_columns) == Keeps::none);
constexpr strop::Col2im from_columns{.output_size = of(4), .kernel = of(2)};
STROP_TESTED(Col2im, shape(from_columns, of(2, 6, 3)) == of(2, 3, 4) && type(from_columns, f32) == f32 &&
                         storage(from_columns, dense) == dense && keeps(from_columns) == Keeps::none);
STROP_TESTED(Crop, shape(strop::Crop{}, of(2, 3, 4, 5), of(1, 1, 2, 3)) == of(2, 3, 2, 3) &&
                       type(strop::Crop{}, f32, f32) == f32 && storage(strop::Crop{}, dense, dense) == dense &&
                       keeps(strop::Crop{}) == Keeps::none);

}  // namespace
