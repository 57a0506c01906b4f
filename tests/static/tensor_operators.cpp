// SPDX-License-Identifier: Apache-2.0
/// \file
/// What a call of each of the library's tensor operators infers, asked of the compiler: shape, type, storage and what
/// backward keeps. Compiling is passing; an operator that has no line here does not compile (see the end).
#include <strop/op/check_call.hpp>
#include <strop/ops/families.hpp>

#include <cstdint>
#include <vector>

namespace {

using strop::boolean, strop::csr, strop::dense, strop::f16, strop::f32, strop::f64, strop::i32, strop::i64, strop::i8,
    strop::Keeps, strop::row_sparse, strop::u8;
using strop::check::keeps, strop::check::shape, strop::check::storage, strop::check::type;

/// A shape, and a list, with parentheses, which keep their commas from the macro.
template <class... Extent>
constexpr strop::Shape of(Extent... extents) {
  return strop::Shape{std::int64_t{extents}...};
}
template <class First, class... More>
constexpr std::vector<First> list(First first, More... more) {
  return {first, more...};
}

template <class T>
constexpr bool is_tested = false;
#define STROP_TESTED(T, ...)                  \
  static_assert((__VA_ARGS__), "strop::" #T); \
  template <>                                 \
  constexpr bool is_tested<strop::T> = true
// The exceptions: operators with a text among their parameters, which clang cannot make a constant with the std::string
// of libstdc++ before 13. g++ and libc++ can.
#if defined(__clang__) && defined(_GLIBCXX_RELEASE) && _GLIBCXX_RELEASE < 13
#define STROP_TESTED_WITH_TEXT(T, ...) STROP_TESTED(T, true)
#else
#define STROP_TESTED_WITH_TEXT(T, ...) STROP_TESTED(T, __VA_ARGS__)
#endif

// --- elementwise -----------------------------------------------------------------------------------------------------

STROP_TESTED(AmpCast, shape(strop::AmpCast{.dtype = f16}, of(2, 3)) == of(2, 3) &&
                          type(strop::AmpCast{.dtype = f16}, f32) == f16 &&
                          storage(strop::AmpCast{.dtype = f16}, csr) == csr &&
                          keeps(strop::AmpCast{.dtype = f16}) == Keeps::none);
STROP_TESTED(AmpMulticast, shape(strop::AmpMulticast{.num_outputs = 2}, of(2, 3), of(3)) == list(of(2, 3), of(3)) &&
                               type(strop::AmpMulticast{.num_outputs = 2}, f16, f32) == list(f32, f32) &&
                               storage(strop::AmpMulticast{.num_outputs = 2}, dense, dense) == list(dense, dense) &&
                               keeps(strop::AmpMulticast{.num_outputs = 2}) == Keeps::none);
STROP_TESTED(AmpMulticastGradient, shape(strop::AmpMulticastGradient{}, of(2, 3), of(2, 3)) == of(2, 3) &&
                                       type(strop::AmpMulticastGradient{}, f32, f16) == f16 &&
                                       storage(strop::AmpMulticastGradient{}, dense, dense) == dense &&
                                       keeps(strop::AmpMulticastGradient{}) == Keeps::none);
STROP_TESTED(DivSqrtDim, shape(strop::DivSqrtDim{}, of(2, 3)) == of(2, 3) && type(strop::DivSqrtDim{}, f32) == f32 &&
                             storage(strop::DivSqrtDim{}, dense) == dense && keeps(strop::DivSqrtDim{}) == Keeps::none);
STROP_TESTED(ScatterPlusScalar,
             shape(strop::ScatterPlusScalar{}, of(2, 3)) == of(2, 3) && type(strop::ScatterPlusScalar{}, i32) == i32 &&
                 storage(strop::ScatterPlusScalar{}, csr) == csr && keeps(strop::ScatterPlusScalar{}) == Keeps::none);
STROP_TESTED(ScatterMinusScalar, shape(strop::ScatterMinusScalar{.is_int = false}, of(2, 3)) == of(2, 3) &&
                                     type(strop::ScatterMinusScalar{.is_int = false}, i32) == f64 &&
                                     storage(strop::ScatterMinusScalar{.is_int = false}, row_sparse) == row_sparse &&
                                     keeps(strop::ScatterMinusScalar{.is_int = false}) == Keeps::none);
STROP_TESTED(ScatterElemwiseDiv, shape(strop::ScatterElemwiseDiv{}, of(2, 3), of(2, 3)) == of(2, 3) &&
                                     type(strop::ScatterElemwiseDiv{}, f64, f64) == f64 &&
                                     storage(strop::ScatterElemwiseDiv{}, row_sparse, dense) == row_sparse &&
                                     keeps(strop::ScatterElemwiseDiv{}) == Keeps::in);
STROP_TESTED(AddN, shape(strop::AddN{}, of(2, 3), of(2, 3), of(2, 3)) == of(2, 3) &&
                       type(strop::AddN{}, f32, f32, f32) == f32 &&
                       storage(strop::AddN{}, row_sparse, row_sparse, row_sparse) == row_sparse &&
                       keeps(strop::AddN{}) == Keeps::none);
STROP_TESTED(Where, shape(strop::Where{}, of(2), of(2, 3), of(2, 3)) == of(2, 3) &&
                        type(strop::Where{}, i32, f64, f64) == f64 &&
                        storage(strop::Where{}, csr, dense, dense) == dense &&
                        storage(strop::Where{}, csr, csr, csr) == csr && keeps(strop::Where{}) == Keeps::in);
STROP_TESTED(Cast, shape(strop::Cast{.dtype = i32}, of(2, 3)) == of(2, 3) &&
                       type(strop::Cast{.dtype = i32}, f32) == i32 &&
                       storage(strop::Cast{.dtype = i32}, row_sparse) == row_sparse &&
                       keeps(strop::Cast{.dtype = i32}) == Keeps::none);
STROP_TESTED(CastStorage, shape(strop::CastStorage{.stype = csr}, of(2, 3)) == of(2, 3) &&
                              type(strop::CastStorage{.stype = csr}, f64) == f64 &&
                              storage(strop::CastStorage{.stype = csr}, dense) == csr &&
                              keeps(strop::CastStorage{.stype = csr}) == Keeps::none);
STROP_TESTED(CrossDeviceCopy, shape(strop::CrossDeviceCopy{}, of(2, 3)) == of(2, 3) &&
                                  type(strop::CrossDeviceCopy{}, u8) == u8 &&
                                  storage(strop::CrossDeviceCopy{}, row_sparse) == row_sparse &&
                                  keeps(strop::CrossDeviceCopy{}) == Keeps::none);

// --- products --------------------------------------------------------------------------------------------------------

STROP_TESTED(Dot, shape(strop::Dot{.transpose_a = true}, of(3, 2), of(3, 4)) == of(2, 4) &&
                      type(strop::Dot{.transpose_a = true}, f32, f32) == f32 &&
                      storage(strop::Dot{.transpose_a = true}, csr, dense) == row_sparse &&
                      storage(strop::Dot{}, csr, csr) == csr && keeps(strop::Dot{.transpose_a = true}) == Keeps::in);
STROP_TESTED(Sddmm, shape(strop::Sddmm{}, of(3, 5), of(3, 4), of(5, 4)) == of(3, 5) &&
                        type(strop::Sddmm{}, f64, f64, f64) == f64 &&
                        storage(strop::Sddmm{}, csr, dense, dense) == csr &&
                        storage(strop::Sddmm{}, dense, dense, dense) == dense && keeps(strop::Sddmm{}) == Keeps::in);
STROP_TESTED(DotGradient, shape(strop::DotGradient{}, of(2, 4), of(2, 3), of(3, 4)) == list(of(2, 3), of(3, 4)) &&
                              type(strop::DotGradient{}, f32, f32, f32) == list(f32, f32) &&
                              storage(strop::DotGradient{}, dense, dense, dense) == list(dense, dense) &&
                              keeps(strop::DotGradient{}) == Keeps::in);
STROP_TESTED(DotSum, shape(strop::DotSum{}, of(2, 3), of(3, 4), of(2, 3), of(3, 4)) == of(2, 4) &&
                         type(strop::DotSum{}, f32, f32, f32, f32) == f32 &&
                         storage(strop::DotSum{}, dense, dense, dense, dense) == dense &&
                         keeps(strop::DotSum{}) == Keeps::in);
STROP_TESTED(BatchDot, shape(strop::BatchDot{.transpose_b = true}, of(5, 2, 3), of(5, 4, 3)) == of(5, 2, 4) &&
                           type(strop::BatchDot{.transpose_b = true}, f64, f64) == f64 &&
                           storage(strop::BatchDot{.transpose_b = true}, dense, dense) == dense &&
                           keeps(strop::BatchDot{.transpose_b = true}) == Keeps::in);
STROP_TESTED(FullyConnected, shape(strop::FullyConnected{.num_hidden = 4}, of(2, 3, 5), of(4, 15), of(4)) == of(2, 4) &&
                                 type(strop::FullyConnected{.num_hidden = 4}, f32, f32, f32) == f32 &&
                                 storage(strop::FullyConnected{.num_hidden = 4}, csr, row_sparse, dense) == dense &&
                                 keeps(strop::FullyConnected{.num_hidden = 4}) == Keeps::in);
STROP_TESTED(FullyConnectedGradient,
             shape(strop::FullyConnectedGradient{.num_hidden = 4}, of(2, 4), of(2, 3), of(4, 3)) ==
                     list(of(2, 3), of(4, 3), of(4)) &&
                 type(strop::FullyConnectedGradient{.num_hidden = 4}, f32, f32, f32) == list(f32, f32, f32) &&
                 storage(strop::FullyConnectedGradient{.num_hidden = 4}, dense, dense, dense) ==
                     list(dense, dense, dense) &&
                 keeps(strop::FullyConnectedGradient{.num_hidden = 4}) == Keeps::in);
STROP_TESTED(FullyConnectedSum,
             shape(strop::FullyConnectedSum{.num_hidden = 4, .no_bias = true}, of(2, 3), of(4, 3), of(2, 3),
                   of(4, 3)) == of(2, 4) &&
                 type(strop::FullyConnectedSum{.num_hidden = 4, .no_bias = true}, f32, f32, f32, f32) == f32 &&
                 storage(strop::FullyConnectedSum{.num_hidden = 4, .no_bias = true}, dense, dense, dense, dense) ==
                     dense &&
                 keeps(strop::FullyConnectedSum{.num_hidden = 4, .no_bias = true}) == Keeps::in);

constexpr strop::Convolution images{.kernel = {3, 2}, .pad = {1, 0}, .num_filter = 6, .num_group = 2};
constexpr strop::Pooling windows{.kernel = {2, 2}, .stride = {2, 2}};
STROP_TESTED(Convolution, shape(images, of(5, 4, 7, 8), of(6, 2, 3, 2), of(6)) == of(5, 6, 7, 7) &&
                              type(images, f32, f32, f32) == f32 && storage(images, dense, dense, dense) == dense &&
                              keeps(images) == Keeps::in);
constexpr strop::ConvolutionGradient images_again{.kernel = {3, 2}, .pad = {1, 0}, .num_filter = 6, .num_group = 2};
STROP_TESTED(ConvolutionGradient, shape(images_again, of(5, 6, 7, 7), of(5, 4, 7, 8), of(6, 2, 3, 2)) ==
                                          list(of(5, 4, 7, 8), of(6, 2, 3, 2), of(6)) &&
                                      type(images_again, f32, f32, f32) == list(f32, f32, f32) &&
                                      storage(images_again, dense, dense, dense) == list(dense, dense, dense) &&
                                      keeps(images_again) == Keeps::in);
constexpr strop::ConvolutionSum two_images{.kernel = {3, 2}, .num_filter = 6, .no_bias = true};
STROP_TESTED(ConvolutionSum,
             shape(two_images, of(5, 4, 7, 8), of(6, 4, 3, 2), of(5, 4, 7, 8), of(6, 4, 3, 2)) == of(5, 6, 5, 7) &&
                 type(two_images, f32, f32, f32, f32) == f32 &&
                 storage(two_images, dense, dense, dense, dense) == dense && keeps(two_images) == Keeps::in);
STROP_TESTED(Pooling, shape(windows, of(5, 4, 7, 8)) == of(5, 4, 3, 4) && type(windows, f16) == f16 &&
                          storage(windows, dense) == dense && keeps(windows) == Keeps::in);
constexpr strop::PoolingTangent changes{.kernel = {2, 2}, .stride = {2, 2}};
STROP_TESTED(PoolingTangent, shape(changes, of(5, 4, 7, 8), of(5, 4, 7, 8)) == of(5, 4, 3, 4) &&
                                 type(changes, f32, f32) == f32 && storage(changes, dense, dense) == dense &&
                                 keeps(changes) == Keeps::in);
constexpr strop::PoolingGradient windows_again{.kernel = {2, 2}, .stride = {2, 2}};
STROP_TESTED(PoolingGradient, shape(windows_again, of(5, 4, 3, 4), of(5, 4, 7, 8)) == of(5, 4, 7, 8) &&
                                  type(windows_again, f32, f32) == f32 &&
                                  storage(windows_again, dense, dense) == dense && keeps(windows_again) == Keeps::in);

// --- reductions, moments and norms -----------------------------------------------------------------------------------

STROP_TESTED(Sum, shape(strop::Sum{.axis = 1}, of(2, 3, 4)) == of(2, 4) && type(strop::Sum{.axis = 1}, i32) == i32 &&
                      storage(strop::Sum{.axis = 1}, csr) == dense && keeps(strop::Sum{.axis = 1}) == Keeps::none);
STROP_TESTED(SquareSum, shape(strop::SquareSum{.axis = 1}, of(2, 3)) == of(2) &&
                            type(strop::SquareSum{.axis = 1}, f64) == f64 &&
                            storage(strop::SquareSum{.axis = 1, .keepdims = true}, row_sparse) == row_sparse &&
                            storage(strop::SquareSum{.axis = 0}, row_sparse) == dense &&
                            keeps(strop::SquareSum{.axis = 1}) == Keeps::in);
STROP_TESTED(Mean, shape(strop::Mean{.axis = {0, -1}, .keepdims = true}, of(2, 3, 4)) == of(1, 3, 1) &&
                       type(strop::Mean{.axis = {0, -1}, .keepdims = true}, f16) == f16 &&
                       storage(strop::Mean{.axis = {0, -1}, .keepdims = true}, csr) == dense &&
                       keeps(strop::Mean{.axis = {0, -1}, .keepdims = true}) == Keeps::none);
STROP_TESTED(Prod, shape(strop::Prod{}, of(2, 3)) == of(1) && type(strop::Prod{}, i64) == i64 &&
                       storage(strop::Prod{}, row_sparse) == dense && keeps(strop::Prod{}) == Keeps::in_out);
STROP_TESTED(Nansum, shape(strop::Nansum{.axis = 0, .exclude = true}, of(2, 3, 4)) == of(2) &&
                         type(strop::Nansum{.axis = 0, .exclude = true}, f32) == f32 &&
                         storage(strop::Nansum{.axis = 0, .exclude = true}, dense) == dense &&
                         keeps(strop::Nansum{.axis = 0, .exclude = true}) == Keeps::in);
STROP_TESTED(Nanprod, shape(strop::Nanprod{.axis = -2}, of(2, 3, 4)) == of(2, 4) &&
                          type(strop::Nanprod{.axis = -2}, f32) == f32 &&
                          storage(strop::Nanprod{.axis = -2}, dense) == dense &&
                          keeps(strop::Nanprod{.axis = -2}) == Keeps::in_out);
STROP_TESTED(Max, shape(strop::Max{.axis = 1, .keepdims = true}, of(2, 3)) == of(2, 1) &&
                      type(strop::Max{.axis = 1, .keepdims = true}, i8) == i8 &&
                      storage(strop::Max{.axis = 1, .keepdims = true}, row_sparse) == dense &&
                      keeps(strop::Max{.axis = 1, .keepdims = true}) == Keeps::in_out);
STROP_TESTED(Min, shape(strop::Min{.axis = 0}, of(2, 3)) == of(3) && type(strop::Min{.axis = 0}, u8) == u8 &&
                      storage(strop::Min{.axis = 0}, csr) == dense && keeps(strop::Min{.axis = 0}) == Keeps::in_out);
STROP_TESTED(ReduceGradient, shape(strop::ReduceGradient{.axis = 1}, of(2, 4), of(2, 3, 4)) == of(2, 3, 4) &&
                                 type(strop::ReduceGradient{.axis = 1}, f32, f32) == f32 &&
                                 storage(strop::ReduceGradient{.axis = 1}, dense, dense) == dense &&
                                 keeps(strop::ReduceGradient{.axis = 1}) == Keeps::none);
STROP_TESTED(Norm, shape(strop::Norm{.ord = 1, .axis = 1, .out_dtype = f64}, of(2, 3)) == of(2) &&
                       type(strop::Norm{.ord = 1, .axis = 1, .out_dtype = f64}, f32) == f64 &&
                       storage(strop::Norm{.ord = 1, .axis = 1, .out_dtype = f64}, csr) == dense &&
                       keeps(strop::Norm{.ord = 1, .axis = 1, .out_dtype = f64}) == Keeps::in_out);
STROP_TESTED(Argmax, shape(strop::Argmax{.axis = 1}, of(2, 3)) == of(2) && type(strop::Argmax{.axis = 1}, i32) == i32 &&
                         storage(strop::Argmax{.axis = 1}, dense) == dense &&
                         keeps(strop::Argmax{.axis = 1}) == Keeps::none);
STROP_TESTED(Argmin, shape(strop::Argmin{.axis = 1, .keepdims = true}, of(2, 3)) == of(2, 1) &&
                         type(strop::Argmin{.axis = 1, .keepdims = true}, f64) == f64 &&
                         storage(strop::Argmin{.axis = 1, .keepdims = true}, dense) == dense &&
                         keeps(strop::Argmin{.axis = 1, .keepdims = true}) == Keeps::none);
STROP_TESTED(ArgmaxChannel,
             shape(strop::ArgmaxChannel{}, of(2, 3)) == of(2) && type(strop::ArgmaxChannel{}, f32) == f32 &&
                 storage(strop::ArgmaxChannel{}, dense) == dense && keeps(strop::ArgmaxChannel{}) == Keeps::none);
STROP_TESTED(Moments, shape(strop::Moments{.axes = 1}, of(2, 3)) == list(of(2), of(2)) &&
                          type(strop::Moments{.axes = 1}, f16) == list(f16, f16) &&
                          storage(strop::Moments{.axes = 1}, dense) == list(dense, dense) &&
                          keeps(strop::Moments{.axes = 1}) == Keeps::in_out);
STROP_TESTED(BatchNorm,
             shape(strop::BatchNorm{.output_mean_var = true}, of(2, 3, 4), of(3), of(3), of(3), of(3)) ==
                     list(of(2, 3, 4), of(3), of(3)) &&
                 type(strop::BatchNorm{.output_mean_var = true}, f32, f32, f32, f32, f32) == list(f32, f32, f32) &&
                 storage(strop::BatchNorm{.output_mean_var = true}, dense, dense, dense, dense, dense) ==
                     list(dense, dense, dense) &&
                 keeps(strop::BatchNorm{.output_mean_var = true}) == Keeps::in_out);
STROP_TESTED(LayerNorm, shape(strop::LayerNorm{}, of(2, 3), of(3), of(3)) == list(of(2, 3), of(2, 1), of(2, 1)) &&
                            type(strop::LayerNorm{}, f32, f32, f32) == list(f32, f32, f32) &&
                            storage(strop::LayerNorm{}, dense, dense, dense) == list(dense, dense, dense) &&
                            keeps(strop::LayerNorm{}) == Keeps::in_out);

// --- softmax and losses ----------------------------------------------------------------------------------------------

STROP_TESTED(Softmax, shape(strop::Softmax{.dtype = f64}, of(2, 3)) == of(2, 3) &&
                          type(strop::Softmax{.dtype = f64}, f32) == f64 &&
                          storage(strop::Softmax{.dtype = f64}, dense) == dense &&
                          keeps(strop::Softmax{.dtype = f64}) == Keeps::in_out);
STROP_TESTED(Getnnz, shape(strop::Getnnz{.axis = 1}, of(2, 3)) == of(2) && type(strop::Getnnz{}, f32) == i64 &&
                         storage(strop::Getnnz{}, csr) == dense && keeps(strop::Getnnz{}) == Keeps::none);
STROP_TESTED(EdgeId, shape(strop::EdgeId{}, of(2, 3), of(4), of(4)) == of(4) &&
                         type(strop::EdgeId{}, f32, i64, i64) == f32 &&
                         storage(strop::EdgeId{}, csr, dense, dense) == dense && keeps(strop::EdgeId{}) == Keeps::none);
STROP_TESTED(DglAdjacency, shape(strop::DglAdjacency{}, of(2, 3)) == of(2, 3) &&
                               type(strop::DglAdjacency{}, i64) == f32 && storage(strop::DglAdjacency{}, csr) == csr &&
                               keeps(strop::DglAdjacency{}) == Keeps::none);
STROP_TESTED(DglUniformSample,
             shape(strop::DglUniformSample{.max_num_vertices = 4}, of(6, 6), of(2)) == list(of(5), of(4, 6), of(4)) &&
                 type(strop::DglUniformSample{}, f32, i64) == list(i64, f32, i64) &&
                 storage(strop::DglUniformSample{}, csr, dense) == list(dense, csr, dense) &&
                 keeps(strop::DglUniformSample{}) == Keeps::none);
STROP_TESTED(DglNonUniformSample,
             shape(strop::DglNonUniformSample{.max_num_vertices = 4}, of(6, 6), of(6), of(2)) ==
                     list(of(5), of(4, 6), of(4), of(4)) &&
                 type(strop::DglNonUniformSample{}, i32, f64, i64) == list(i64, i32, f64, i64) &&
                 storage(strop::DglNonUniformSample{}, csr, dense, dense) == list(dense, csr, dense, dense) &&
                 keeps(strop::DglNonUniformSample{}) == Keeps::none);
STROP_TESTED(DglSubgraph,
             shape(strop::DglSubgraph{.return_mapping = true}, of(6, 6), of(2)) == list(of(2, 2), of(2, 2)) &&
                 type(strop::DglSubgraph{.return_mapping = false}, f32, i64) == list(f32) &&
                 storage(strop::DglSubgraph{.return_mapping = false}, csr, dense) == list(csr) &&
                 keeps(strop::DglSubgraph{}) == Keeps::none);
STROP_TESTED(DglGraphCompact, shape(strop::DglGraphCompact{.return_mapping = false, .graph_sizes = of(2)}, of(6, 6),
                                    of(7)) == list(of(2, 2)) &&
                                  type(strop::DglGraphCompact{.return_mapping = true}, f32, i64) == list(f32, f32) &&
                                  storage(strop::DglGraphCompact{.return_mapping = false}, csr, dense) == list(csr) &&
                                  keeps(strop::DglGraphCompact{}) == Keeps::none);
STROP_TESTED(IdentityLike, shape(strop::IdentityLike{}, of(2, 3), of(2, 3)) == of(2, 3) &&
                               type(strop::IdentityLike{}, i32, i32) == i32 &&
                               storage(strop::IdentityLike{}, dense, csr) == csr &&
                               keeps(strop::IdentityLike{}) == Keeps::none);
STROP_TESTED(StoredSoftmax,
             shape(strop::StoredSoftmax{}, of(2, 3)) == of(2, 3) && type(strop::StoredSoftmax{}, f64) == f64 &&
                 storage(strop::StoredSoftmax{}, csr) == csr && keeps(strop::StoredSoftmax{}) == Keeps::in_out);
STROP_TESTED(StoredLogSoftmax, shape(strop::StoredLogSoftmax{}, of(2, 3)) == of(2, 3) &&
                                   type(strop::StoredLogSoftmax{}, f64) == f64 &&
                                   storage(strop::StoredLogSoftmax{}, dense) == dense &&
                                   keeps(strop::StoredLogSoftmax{}) == Keeps::in_out);
STROP_TESTED(LogSoftmax, shape(strop::LogSoftmax{.axis = 0}, of(2, 3)) == of(2, 3) &&
                             type(strop::LogSoftmax{.axis = 0}, f16) == f16 &&
                             storage(strop::LogSoftmax{.axis = 0}, dense) == dense &&
                             keeps(strop::LogSoftmax{.axis = 0}) == Keeps::in_out);
STROP_TESTED(Softmin, shape(strop::Softmin{.use_length = true}, of(2, 3), of(2)) == of(2, 3) &&
                          type(strop::Softmin{.use_length = true}, f32, i32) == f32 &&
                          storage(strop::Softmin{.use_length = true}, dense, dense) == dense &&
                          keeps(strop::Softmin{.use_length = true}) == Keeps::in_out);
STROP_TESTED(SoftmaxCrossEntropy, shape(strop::SoftmaxCrossEntropy{}, of(2, 3), of(2)) == of(1) &&
                                      type(strop::SoftmaxCrossEntropy{}, f32, f32) == f32 &&
                                      storage(strop::SoftmaxCrossEntropy{}, dense, dense) == dense &&
                                      keeps(strop::SoftmaxCrossEntropy{}) == Keeps::in);
STROP_TESTED(SoftmaxOutput, shape(strop::SoftmaxOutput{}, of(2, 3), of(2)) == of(2, 3) &&
                                type(strop::SoftmaxOutput{}, f32, f32) == f32 &&
                                storage(strop::SoftmaxOutput{}, dense, dense) == dense &&
                                keeps(strop::SoftmaxOutput{}) == Keeps::in_out);
STROP_TESTED(LinearRegressionOutput, shape(strop::LinearRegressionOutput{}, of(2, 3), of(2, 3)) == of(2, 3) &&
                                         type(strop::LinearRegressionOutput{}, f32, f32) == f32 &&
                                         storage(strop::LinearRegressionOutput{}, dense, csr) == dense &&
                                         keeps(strop::LinearRegressionOutput{}) == Keeps::in_out);
STROP_TESTED(MAERegressionOutput, shape(strop::MAERegressionOutput{}, of(2, 1), of(2)) == of(2, 1) &&
                                      type(strop::MAERegressionOutput{}, f32, f32) == f32 &&
                                      storage(strop::MAERegressionOutput{}, dense, csr) == dense &&
                                      keeps(strop::MAERegressionOutput{}) == Keeps::in_out);
STROP_TESTED(LogisticRegressionOutput, shape(strop::LogisticRegressionOutput{}, of(2, 3), of(2, 3)) == of(2, 3) &&
                                           type(strop::LogisticRegressionOutput{}, f32, f32) == f32 &&
                                           storage(strop::LogisticRegressionOutput{}, dense, row_sparse) == dense &&
                                           keeps(strop::LogisticRegressionOutput{}) == Keeps::in_out);
STROP_TESTED(MakeLoss, shape(strop::MakeLoss{}, of(2, 3)) == of(2, 3) && type(strop::MakeLoss{}, f32) == f32 &&
                           storage(strop::MakeLoss{}, row_sparse) == row_sparse &&
                           keeps(strop::MakeLoss{}) == Keeps::in);

// --- layers and sequences --------------------------------------------------------------------------------------------

STROP_TESTED(Dropout, shape(strop::Dropout{.axes = {0}}, of(2, 3)) == list(of(2, 3), of(1, 3)) &&
                          type(strop::Dropout{.axes = {0}}, f32) == list(f32, f32) &&
                          storage(strop::Dropout{.axes = {0}}, dense) == list(dense, dense) &&
                          keeps(strop::Dropout{.axes = {0}}) == Keeps::out);
STROP_TESTED(LeakyReLU,
             shape(strop::LeakyReLU{.act_type = strop::LeakyReLU::prelu}, of(2, 3), of(3)) == list(of(2, 3), of(0)) &&
                 type(strop::LeakyReLU{.act_type = strop::LeakyReLU::prelu}, f32, f32) == list(f32, f32) &&
                 storage(strop::LeakyReLU{.act_type = strop::LeakyReLU::prelu}, dense, dense) == list(dense, dense) &&
                 keeps(strop::LeakyReLU{.act_type = strop::LeakyReLU::prelu}) == Keeps::in_out);
STROP_TESTED(SequenceMask, shape(strop::SequenceMask{.use_sequence_length = true}, of(4, 2, 3), of(2)) == of(4, 2, 3) &&
                               type(strop::SequenceMask{.use_sequence_length = true}, f32, i32) == f32 &&
                               storage(strop::SequenceMask{.use_sequence_length = true}, dense, dense) == dense &&
                               keeps(strop::SequenceMask{.use_sequence_length = true}) == Keeps::in);
STROP_TESTED(SequenceLast,
             shape(strop::SequenceLast{}, of(4, 2, 3)) == of(2, 3) && type(strop::SequenceLast{}, f32) == f32 &&
                 storage(strop::SequenceLast{}, dense) == dense && keeps(strop::SequenceLast{}) == Keeps::in);
STROP_TESTED(SequenceReverse, shape(strop::SequenceReverse{}, of(4, 2, 3)) == of(4, 2, 3) &&
                                  type(strop::SequenceReverse{}, i64) == i64 &&
                                  storage(strop::SequenceReverse{}, dense) == dense &&
                                  keeps(strop::SequenceReverse{}) == Keeps::in);

// --- indexing --------------------------------------------------------------------------------------------------------

STROP_TESTED(Take, shape(strop::Take{.axis = 1}, of(2, 5), of(3, 4)) == of(2, 3, 4) &&
                       type(strop::Take{.axis = 1}, f32, i64) == f32 &&
                       storage(strop::Take{.axis = 1}, dense, dense) == dense &&
                       keeps(strop::Take{.axis = 1}) == Keeps::in);
STROP_TESTED(TakeGradient, shape(strop::TakeGradient{}, of(3, 5), of(3), of(4, 5)) == of(4, 5) &&
                               type(strop::TakeGradient{}, f32, i64, f32) == f32 &&
                               storage(strop::TakeGradient{}, dense, dense, dense) == dense &&
                               storage(strop::TakeGradient{}, csr, dense, dense) == csr &&
                               keeps(strop::TakeGradient{}) == Keeps::in);
STROP_TESTED(BatchTake,
             shape(strop::BatchTake{}, of(4, 6), of(4)) == of(4) && type(strop::BatchTake{}, f32, i32) == f32 &&
                 storage(strop::BatchTake{}, dense, dense) == dense && keeps(strop::BatchTake{}) == Keeps::in);
STROP_TESTED(Pick, shape(strop::Pick{.keepdims = true}, of(4, 6), of(4)) == of(4, 1) &&
                       type(strop::Pick{.keepdims = true}, f64, f32) == f64 &&
                       storage(strop::Pick{.keepdims = true}, dense, dense) == dense &&
                       keeps(strop::Pick{.keepdims = true}) == Keeps::in);
STROP_TESTED(PickGradient, shape(strop::PickGradient{.axis = 1}, of(4), of(4), of(4, 6)) == of(4, 6) &&
                               type(strop::PickGradient{.axis = 1}, f32, i32, f32) == f32 &&
                               storage(strop::PickGradient{.axis = 1}, dense, dense, dense) == dense &&
                               keeps(strop::PickGradient{.axis = 1}) == Keeps::in);
STROP_TESTED(OneHot, shape(strop::OneHot{.depth = 5, .dtype = i32}, of(2, 3)) == of(2, 3, 5) &&
                         type(strop::OneHot{.depth = 5, .dtype = i32}, f32) == i32 &&
                         storage(strop::OneHot{.depth = 5, .dtype = i32}, dense) == dense &&
                         keeps(strop::OneHot{.depth = 5, .dtype = i32}) == Keeps::none);
STROP_TESTED(Embedding, shape(strop::Embedding{.input_dim = 10, .output_dim = 4}, of(2, 3), of(10, 4)) == of(2, 3, 4) &&
                            type(strop::Embedding{.input_dim = 10, .output_dim = 4}, i32, f32) == f32 &&
                            storage(strop::Embedding{.input_dim = 10, .output_dim = 4}, dense, row_sparse) == dense &&
                            keeps(strop::Embedding{.input_dim = 10, .output_dim = 4}) == Keeps::in);
STROP_TESTED(SparseEmbedding,
             shape(strop::SparseEmbedding{.input_dim = 10, .output_dim = 4}, of(2, 3), of(10, 4)) == of(2, 3, 4) &&
                 type(strop::SparseEmbedding{.input_dim = 10, .output_dim = 4}, i32, f32) == f32 &&
                 storage(strop::SparseEmbedding{.input_dim = 10, .output_dim = 4}, dense, row_sparse) == dense &&
                 keeps(strop::SparseEmbedding{.input_dim = 10, .output_dim = 4}) == Keeps::in);
STROP_TESTED(EmbeddingGradient,
             shape(strop::EmbeddingGradient{.sparse_grad = true}, of(3, 6), of(3), of(4, 6)) == of(4, 6) &&
                 type(strop::EmbeddingGradient{.sparse_grad = true}, f32, i32, f32) == f32 &&
                 storage(strop::EmbeddingGradient{.sparse_grad = true}, dense, dense, dense) == row_sparse &&
                 keeps(strop::EmbeddingGradient{.sparse_grad = true}) == Keeps::in);
STROP_TESTED(GatherNd, shape(strop::GatherNd{}, of(2, 3, 4), of(2, 5)) == of(5, 4) &&
                           type(strop::GatherNd{}, u8, i64) == u8 &&
                           storage(strop::GatherNd{}, dense, dense) == dense && keeps(strop::GatherNd{}) == Keeps::in);
STROP_TESTED(GatherNdGradient, shape(strop::GatherNdGradient{}, of(5, 4), of(2, 5), of(2, 3, 4)) == of(2, 3, 4) &&
                                   type(strop::GatherNdGradient{}, f32, i64, f32) == f32 &&
                                   storage(strop::GatherNdGradient{}, dense, dense, dense) == dense &&
                                   keeps(strop::GatherNdGradient{}) == Keeps::in);
STROP_TESTED(ScatterNd, shape(strop::ScatterNd{.shape = {2, 3, 4}}, of(5, 4), of(2, 5)) == of(2, 3, 4) &&
                            type(strop::ScatterNd{.shape = {2, 3, 4}}, f32, i64) == f32 &&
                            storage(strop::ScatterNd{.shape = {2, 3, 4}}, dense, dense) == dense &&
                            keeps(strop::ScatterNd{.shape = {2, 3, 4}}) == Keeps::in);
STROP_TESTED(ScatterSetNd, shape(strop::ScatterSetNd{.shape = {2, 3}}, of(2, 3), of(5), of(2, 5)) == of(2, 3) &&
                               type(strop::ScatterSetNd{.shape = {2, 3}}, f32, f32, i64) == f32 &&
                               storage(strop::ScatterSetNd{.shape = {2, 3}}, dense, dense, dense) == dense &&
                               keeps(strop::ScatterSetNd{.shape = {2, 3}}) == Keeps::none);
STROP_TESTED(RavelMultiIndex, shape(strop::RavelMultiIndex{.shape = {4, 5}}, of(2, 3)) == of(3) &&
                                  type(strop::RavelMultiIndex{.shape = {4, 5}}, i64) == i64 &&
                                  storage(strop::RavelMultiIndex{.shape = {4, 5}}, dense) == dense &&
                                  keeps(strop::RavelMultiIndex{.shape = {4, 5}}) == Keeps::none);
STROP_TESTED(UnravelIndex, shape(strop::UnravelIndex{.shape = {4, 5}}, of(3)) == of(2, 3) &&
                               type(strop::UnravelIndex{.shape = {4, 5}}, i64) == i64 &&
                               storage(strop::UnravelIndex{.shape = {4, 5}}, dense) == dense &&
                               keeps(strop::UnravelIndex{.shape = {4, 5}}) == Keeps::none);
STROP_TESTED(SparseRetain, shape(strop::SparseRetain{}, of(5, 2), of(3)) == of(5, 2) &&
                               type(strop::SparseRetain{}, f32, i64) == f32 &&
                               storage(strop::SparseRetain{}, row_sparse, dense) == row_sparse &&
                               keeps(strop::SparseRetain{}) == Keeps::in);

// --- order -----------------------------------------------------------------------------------------------------------

STROP_TESTED(Sort, shape(strop::Sort{.axis = 0}, of(2, 3)) == of(2, 3) && type(strop::Sort{.axis = 0}, i32) == i32 &&
                       storage(strop::Sort{.axis = 0}, dense) == dense && keeps(strop::Sort{.axis = 0}) == Keeps::in);
STROP_TESTED(Argsort, shape(strop::Argsort{.dtype = i64}, of(2, 3)) == of(2, 3) &&
                          type(strop::Argsort{.dtype = i64}, f64) == i64 &&
                          storage(strop::Argsort{.dtype = i64}, dense) == dense &&
                          keeps(strop::Argsort{.dtype = i64}) == Keeps::none);
STROP_TESTED(Topk, shape(strop::Topk{.k = 2, .ret_typ = strop::Topk::both, .dtype = i32}, of(2, 3)) ==
                           list(of(2, 2), of(2, 2)) &&
                       type(strop::Topk{.k = 2, .ret_typ = strop::Topk::both, .dtype = i32}, f64) == list(f64, i32) &&
                       storage(strop::Topk{.k = 2, .ret_typ = strop::Topk::both, .dtype = i32}, dense) ==
                           list(dense, dense) &&
                       keeps(strop::Topk{.k = 2, .ret_typ = strop::Topk::both, .dtype = i32}) == Keeps::out);

// --- shapes ----------------------------------------------------------------------------------------------------------

STROP_TESTED(Reshape, shape(strop::Reshape{.shape = {-3, 0, -4, 2, -1}}, of(2, 3, 4, 6)) == of(6, 4, 2, 3) &&
                          type(strop::Reshape{.shape = {-3, 0, -4, 2, -1}}, u8) == u8 &&
                          storage(strop::Reshape{.shape = {-3, 0, -4, 2, -1}}, dense) == dense &&
                          keeps(strop::Reshape{.shape = {-3, 0, -4, 2, -1}}) == Keeps::none);
STROP_TESTED(Flatten, shape(strop::Flatten{}, of(2, 3, 4)) == of(2, 12) && type(strop::Flatten{}, f32) == f32 &&
                          storage(strop::Flatten{}, dense) == dense && keeps(strop::Flatten{}) == Keeps::none);
STROP_TESTED(ExpandDims, shape(strop::ExpandDims{.axis = 1}, of(2, 3)) == of(2, 1, 3) &&
                             type(strop::ExpandDims{.axis = 1}, i64) == i64 &&
                             storage(strop::ExpandDims{.axis = 1}, dense) == dense &&
                             keeps(strop::ExpandDims{.axis = 1}) == Keeps::none);
STROP_TESTED(Squeeze, shape(strop::Squeeze{.axis = 1}, of(2, 1, 3, 1)) == of(2, 3, 1) &&
                          type(strop::Squeeze{.axis = 1}, f32) == f32 &&
                          storage(strop::Squeeze{.axis = 1}, dense) == dense &&
                          keeps(strop::Squeeze{.axis = 1}) == Keeps::none);
STROP_TESTED(ReshapeLike,
             shape(strop::ReshapeLike{}, of(6), of(2, 3)) == of(2, 3) && type(strop::ReshapeLike{}, f32, i32) == f32 &&
                 storage(strop::ReshapeLike{}, dense, dense) == dense && keeps(strop::ReshapeLike{}) == Keeps::none);
STROP_TESTED(ShapeArray, shape(strop::ShapeArray{}, of(2, 3)) == of(2) && type(strop::ShapeArray{}, f32) == i64 &&
                             storage(strop::ShapeArray{}, dense) == dense && keeps(strop::ShapeArray{}) == Keeps::none);
STROP_TESTED(SizeArray, shape(strop::SizeArray{}, of(2, 3)) == of(1) && type(strop::SizeArray{}, f32) == i64 &&
                            storage(strop::SizeArray{}, dense) == dense && keeps(strop::SizeArray{}) == Keeps::none);
STROP_TESTED(Transpose, shape(strop::Transpose{.axes = {2, 0, 1}}, of(2, 3, 4)) == of(4, 2, 3) &&
                            type(strop::Transpose{.axes = {2, 0, 1}}, boolean) == boolean &&
                            storage(strop::Transpose{.axes = {2, 0, 1}}, dense) == dense &&
                            keeps(strop::Transpose{.axes = {2, 0, 1}}) == Keeps::none);
STROP_TESTED(SwapAxis, shape(strop::SwapAxis{.dim1 = 0, .dim2 = 2}, of(2, 3, 4)) == of(4, 3, 2) &&
                           type(strop::SwapAxis{.dim1 = 0, .dim2 = 2}, f32) == f32 &&
                           storage(strop::SwapAxis{.dim1 = 0, .dim2 = 2}, dense) == dense &&
                           keeps(strop::SwapAxis{.dim1 = 0, .dim2 = 2}) == Keeps::none);
STROP_TESTED(Reverse, shape(strop::Reverse{.axis = {1}}, of(2, 3)) == of(2, 3) &&
                          type(strop::Reverse{.axis = {1}}, f32) == f32 &&
                          storage(strop::Reverse{.axis = {1}}, dense) == dense &&
                          keeps(strop::Reverse{.axis = {1}}) == Keeps::none);
STROP_TESTED(BroadcastTo, shape(strop::BroadcastTo{.shape = {2, 3}}, of(2, 1)) == of(2, 3) &&
                              type(strop::BroadcastTo{.shape = {2, 3}}, f32) == f32 &&
                              storage(strop::BroadcastTo{.shape = {2, 3}}, dense) == dense &&
                              keeps(strop::BroadcastTo{.shape = {2, 3}}) == Keeps::none);
STROP_TESTED(BroadcastAxis, shape(strop::BroadcastAxis{.axis = {1}, .size = {3}}, of(2, 1)) == of(2, 3) &&
                                type(strop::BroadcastAxis{.axis = {1}, .size = {3}}, f32) == f32 &&
                                storage(strop::BroadcastAxis{.axis = {1}, .size = {3}}, dense) == dense &&
                                keeps(strop::BroadcastAxis{.axis = {1}, .size = {3}}) == Keeps::none);
STROP_TESTED(BroadcastLike, shape(strop::BroadcastLike{}, of(2, 1), of(2, 3)) == of(2, 3) &&
                                type(strop::BroadcastLike{}, f32, i32) == f32 &&
                                storage(strop::BroadcastLike{}, dense, dense) == dense &&
                                keeps(strop::BroadcastLike{}) == Keeps::none);
STROP_TESTED(BroadcastGradient, shape(strop::BroadcastGradient{}, of(4, 6), of(4, 1)) == of(4, 1) &&
                                    type(strop::BroadcastGradient{}, f32, f32) == f32 &&
                                    storage(strop::BroadcastGradient{}, dense, dense) == dense &&
                                    keeps(strop::BroadcastGradient{}) == Keeps::none);
STROP_TESTED(Tile, shape(strop::Tile{.reps = {2, 2}}, of(3)) == of(2, 6) &&
                       type(strop::Tile{.reps = {2, 2}}, i32) == i32 &&
                       storage(strop::Tile{.reps = {2, 2}}, dense) == dense &&
                       keeps(strop::Tile{.reps = {2, 2}}) == Keeps::none);
STROP_TESTED(TileGradient, shape(strop::TileGradient{.reps = {2, 3}}, of(2, 15), of(5)) == of(5) &&
                               type(strop::TileGradient{.reps = {2, 3}}, f32, f32) == f32 &&
                               storage(strop::TileGradient{.reps = {2, 3}}, dense, dense) == dense &&
                               keeps(strop::TileGradient{.reps = {2, 3}}) == Keeps::none);
STROP_TESTED(Repeat, shape(strop::Repeat{.repeats = 2, .axis = 1}, of(2, 3)) == of(2, 6) &&
                         type(strop::Repeat{.repeats = 2, .axis = 1}, f32) == f32 &&
                         storage(strop::Repeat{.repeats = 2, .axis = 1}, dense) == dense &&
                         keeps(strop::Repeat{.repeats = 2, .axis = 1}) == Keeps::none);
STROP_TESTED(RepeatGradient, shape(strop::RepeatGradient{.repeats = 2, .axis = 1}, of(4, 6), of(4, 3)) == of(4, 3) &&
                                 type(strop::RepeatGradient{.repeats = 2, .axis = 1}, f32, f32) == f32 &&
                                 storage(strop::RepeatGradient{.repeats = 2, .axis = 1}, dense, dense) == dense &&
                                 keeps(strop::RepeatGradient{.repeats = 2, .axis = 1}) == Keeps::none);
STROP_TESTED(Pad,
             shape(strop::Pad{.mode = strop::Pad::edge, .pad_width = {0, 0, 0, 0, 1, 1, 0, 1}}, of(1, 2, 3, 4)) ==
                     of(1, 2, 5, 5) &&
                 type(strop::Pad{.mode = strop::Pad::edge, .pad_width = {0, 0, 0, 0, 1, 1, 0, 1}}, f32) == f32 &&
                 storage(strop::Pad{.mode = strop::Pad::edge, .pad_width = {0, 0, 0, 0, 1, 1, 0, 1}}, dense) == dense &&
                 keeps(strop::Pad{.mode = strop::Pad::edge, .pad_width = {0, 0, 0, 0, 1, 1, 0, 1}}) == Keeps::none);
STROP_TESTED(PadGradient,
             shape(strop::PadGradient{.mode = strop::Pad::edge, .pad_width = {0, 0, 0, 0, 1, 1, 0, 1}}, of(1, 2, 5, 5),
                   of(1, 2, 3, 4)) == of(1, 2, 3, 4) &&
                 type(strop::PadGradient{.mode = strop::Pad::edge, .pad_width = {0, 0, 0, 0, 1, 1, 0, 1}}, f32, f32) ==
                     f32 &&
                 storage(strop::PadGradient{.mode = strop::Pad::edge, .pad_width = {0, 0, 0, 0, 1, 1, 0, 1}}, dense,
                         dense) == dense &&
                 keeps(strop::PadGradient{.mode = strop::Pad::edge, .pad_width = {0, 0, 0, 0, 1, 1, 0, 1}}) ==
                     Keeps::none);
STROP_TESTED(Diag, shape(strop::Diag{.k = 1}, of(4, 6)) == of(4) && type(strop::Diag{.k = 1}, f32) == f32 &&
                       storage(strop::Diag{.k = 1}, dense) == dense && keeps(strop::Diag{.k = 1}) == Keeps::none);
STROP_TESTED(DiagGradient, shape(strop::DiagGradient{.k = 1}, of(4), of(4, 6)) == of(4, 6) &&
                               type(strop::DiagGradient{.k = 1}, f32, f32) == f32 &&
                               storage(strop::DiagGradient{.k = 1}, dense, dense) == dense &&
                               keeps(strop::DiagGradient{.k = 1}) == Keeps::none);
STROP_TESTED(DepthToSpace, shape(strop::DepthToSpace{.block_size = 2}, of(1, 8, 2, 3)) == of(1, 2, 4, 6) &&
                               type(strop::DepthToSpace{.block_size = 2}, f32) == f32 &&
                               storage(strop::DepthToSpace{.block_size = 2}, dense) == dense &&
                               keeps(strop::DepthToSpace{.block_size = 2}) == Keeps::none);
STROP_TESTED(SpaceToDepth, shape(strop::SpaceToDepth{.block_size = 2}, of(1, 2, 4, 6)) == of(1, 8, 2, 3) &&
                               type(strop::SpaceToDepth{.block_size = 2}, f32) == f32 &&
                               storage(strop::SpaceToDepth{.block_size = 2}, dense) == dense &&
                               keeps(strop::SpaceToDepth{.block_size = 2}) == Keeps::none);

// --- joins and slices ------------------------------------------------------------------------------------------------

STROP_TESTED(Concat, shape(strop::Concat{.dim = 0}, of(2, 3), of(4, 3)) == of(6, 3) &&
                         type(strop::Concat{.dim = 0}, i32, i32) == i32 &&
                         storage(strop::Concat{.dim = 0}, csr, csr) == csr &&
                         keeps(strop::Concat{.dim = 0}) == Keeps::none);
STROP_TESTED(ConcatGradient,
             shape(strop::ConcatGradient{.num_args = 2}, of(2, 5), of(2, 3), of(2, 2)) == list(of(2, 3), of(2, 2)) &&
                 type(strop::ConcatGradient{.num_args = 2}, f32, f32, f32) == list(f32, f32) &&
                 storage(strop::ConcatGradient{.num_args = 2}, dense, dense, dense) == list(dense, dense) &&
                 storage(strop::ConcatGradient{.num_args = 2, .dim = 0}, csr, dense, dense) == list(csr, csr) &&
                 keeps(strop::ConcatGradient{.num_args = 2}) == Keeps::none);
STROP_TESTED(Stack, shape(strop::Stack{.axis = 1}, of(2, 3), of(2, 3)) == of(2, 2, 3) &&
                        type(strop::Stack{.axis = 1}, f32, f32) == f32 &&
                        storage(strop::Stack{.axis = 1}, dense, dense) == dense &&
                        keeps(strop::Stack{.axis = 1}) == Keeps::none);
STROP_TESTED(SliceChannel,
             shape(strop::SliceChannel{.num_outputs = 3, .squeeze_axis = true}, of(2, 3)) ==
                     list(of(2), of(2), of(2)) &&
                 type(strop::SliceChannel{.num_outputs = 3, .squeeze_axis = true}, i32) == list(i32, i32, i32) &&
                 storage(strop::SliceChannel{.num_outputs = 3, .squeeze_axis = true}, dense) ==
                     list(dense, dense, dense) &&
                 keeps(strop::SliceChannel{.num_outputs = 3, .squeeze_axis = true}) == Keeps::none);
STROP_TESTED(SplitV2, shape(strop::SplitV2{.indices = {0, 2}, .axis = 0}, of(5, 2)) == list(of(2, 2), of(3, 2)) &&
                          type(strop::SplitV2{.indices = {0, 2}, .axis = 0}, f32) == list(f32, f32) &&
                          storage(strop::SplitV2{.indices = {0, 2}, .axis = 0}, dense) == list(dense, dense) &&
                          keeps(strop::SplitV2{.indices = {0, 2}, .axis = 0}) == Keeps::none);
STROP_TESTED(SplitV2Gradient,
             shape(strop::SplitV2Gradient{.indices = {0, 2}, .axis = 0}, of(5, 2), of(2, 2), of(3, 2)) == of(5, 2) &&
                 type(strop::SplitV2Gradient{.indices = {0, 2}, .axis = 0}, f32, f32, f32) == f32 &&
                 storage(strop::SplitV2Gradient{.indices = {0, 2}, .axis = 0}, dense, dense, dense) == dense &&
                 keeps(strop::SplitV2Gradient{.indices = {0, 2}, .axis = 0}) == Keeps::none);
STROP_TESTED(Slice, shape(strop::Slice{.begin = {1}, .end = {3}}, of(4, 6)) == of(2, 6) &&
                        type(strop::Slice{.begin = {1}, .end = {3}}, f64) == f64 &&
                        storage(strop::Slice{.begin = {1}, .end = {3}}, csr) == csr &&
                        keeps(strop::Slice{.begin = {1}, .end = {3}}) == Keeps::none);
STROP_TESTED(SliceAxis, shape(strop::SliceAxis{.axis = 1, .begin = -2}, of(4, 6)) == of(4, 2) &&
                            type(strop::SliceAxis{.axis = 1, .begin = -2}, f32) == f32 &&
                            storage(strop::SliceAxis{.axis = 1, .begin = -2}, dense) == dense &&
                            keeps(strop::SliceAxis{.axis = 1, .begin = -2}) == Keeps::none);
STROP_TESTED(SliceLike, shape(strop::SliceLike{.axes = {0}}, of(4, 6), of(2, 3)) == of(2, 6) &&
                            type(strop::SliceLike{.axes = {0}}, f32, i32) == f32 &&
                            storage(strop::SliceLike{.axes = {0}}, dense, dense) == dense &&
                            keeps(strop::SliceLike{.axes = {0}}) == Keeps::none);
STROP_TESTED(SliceWindow, shape(strop::SliceWindow{.begin = {1, 2}}, of(4, 6), of(2, 3)) == of(2, 3) &&
                              type(strop::SliceWindow{.begin = {1, 2}}, f32, f32) == f32 &&
                              storage(strop::SliceWindow{.begin = {1, 2}}, dense, dense) == dense &&
                              keeps(strop::SliceWindow{.begin = {1, 2}}) == Keeps::none);
STROP_TESTED(SliceGradient, shape(strop::SliceGradient{.begin = {1, 2}}, of(2, 3), of(4, 6)) == of(4, 6) &&
                                type(strop::SliceGradient{.begin = {1, 2}}, f32, f32) == f32 &&
                                storage(strop::SliceGradient{.begin = {1, 2}}, dense, dense) == dense &&
                                storage(strop::SliceGradient{.begin = {1, 2}}, csr, dense) == csr &&
                                keeps(strop::SliceGradient{.begin = {1, 2}}) == Keeps::none);
STROP_TESTED(SliceAssign, shape(strop::SliceAssign{.begin = {1, 2}, .end = {3, 5}}, of(4, 6), of(2, 3)) == of(4, 6) &&
                              type(strop::SliceAssign{.begin = {1, 2}, .end = {3, 5}}, f32, f32) == f32 &&
                              storage(strop::SliceAssign{.begin = {1, 2}, .end = {3, 5}}, dense, dense) == dense &&
                              keeps(strop::SliceAssign{.begin = {1, 2}, .end = {3, 5}}) == Keeps::none);
STROP_TESTED(SliceAssignScalar, shape(strop::SliceAssignScalar{.begin = {1}, .end = {3}}, of(4, 6)) == of(4, 6) &&
                                    type(strop::SliceAssignScalar{.begin = {1}, .end = {3}}, i32) == i32 &&
                                    storage(strop::SliceAssignScalar{.begin = {1}, .end = {3}}, dense) == dense &&
                                    keeps(strop::SliceAssignScalar{.begin = {1}, .end = {3}}) == Keeps::none);

}  // namespace

#include "attention_operators.hpp"
#include "box_operators.hpp"
#include "contrib_operators.hpp"
#include "detection_operators.hpp"
#include "linalg_operators.hpp"
#include "made_operators.hpp"
#include "older_layers.hpp"
#include "update_operators.hpp"
#include "vision_operators.hpp"

#undef STROP_TESTED
#undef STROP_TESTED_WITH_TEXT

namespace {

/// Names the operator that has no line, by its type.
template <class T>
constexpr bool is_complete() {
  if constexpr (strop::detail::AnyTensorOp<T>)
    static_assert(is_tested<T>, "strop: the tensor operator has no line in tests/static/tensor_operators.cpp");
  return true;
}
constexpr bool all_are_tested() {
  strop::detail::Families::each([]<class T>() { static_cast<void>(is_complete<T>()); });
  return true;
}
static_assert(all_are_tested());

}  // namespace
