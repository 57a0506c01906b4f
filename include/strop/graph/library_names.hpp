// SPDX-License-Identifier: Apache-2.0
/// \file
/// The names of the library's operators, for sentences about those that a program lacks. tests/ops/registry.cpp holds
/// the list to the registry of a program that has them all.
#pragma once
#include <strop/core/config.hpp>

#include <string>
#include <string_view>

namespace strop::inline v0::detail {

/// Every name and alias, sorted, each between blanks.
inline constexpr std::string_view library_names =
    " "
    "Activation AdaptiveAvgPooling2D BatchNorm BatchNorm_v1 BilinearResize2D BilinearSampler BlockGrad CTCLoss Cast "
    "Concat Convolution Convolution_v1 Correlation Crop Deconvolution Dropout ElementWiseSum Embedding Flatten "
    "FullyConnected GridGenerator GroupNorm InstanceNorm L2Normalization LRN LayerNorm LeakyReLU "
    "LinearRegressionOutput LogisticRegressionOutput MAERegressionOutput MakeLoss MultiBoxDetection MultiBoxPrior "
    "MultiBoxTarget Pad Pooling ROIAlign ROIPooling Reshape SVMOutput SequenceLast SequenceMask SequenceReverse "
    "SliceChannel Softmax SoftmaxActivation SoftmaxOutput SparseEmbedding SpatialTransformer SwapAxis UpSampling "
    "_CrossDeviceCopy _Div _DivScalar _Equal _EqualScalar _Greater _GreaterEqualScalar _GreaterScalar _Greater_Equal "
    "_Hypot _HypotScalar _Lesser _LesserEqualScalar _LesserScalar _Lesser_Equal _LogicalAndScalar _LogicalOrScalar "
    "_LogicalXorScalar _Logical_And _Logical_Or _Logical_Xor _Maximum _MaximumScalar _Minimum _MinimumScalar _Minus "
    "_MinusScalar _Mod _ModScalar _Mul _MulScalar _NotEqualScalar _Not_Equal _Plus _PlusScalar _Power _PowerScalar "
    "_RDivScalar _RMinusScalar _RModScalar _RPowerScalar _adamw_update _add _arange _contrib_AdaptiveAvgPooling2D "
    "_contrib_BilinearResize2D _contrib_CTCLoss _contrib_MultiBoxDetection _contrib_MultiBoxPrior "
    "_contrib_MultiBoxTarget _contrib_ROIAlign _contrib_SparseEmbedding _contrib_SyncBatchNorm _contrib_adamw_update "
    "_contrib_adaptive_avg_pooling2d _contrib_allclose _contrib_arange_like _contrib_bilinear_resize2d "
    "_contrib_bipartite_matching _contrib_box_decode _contrib_box_encode _contrib_box_iou _contrib_box_nms "
    "_contrib_box_non_maximum_suppression _contrib_ctc_loss _contrib_dgl_adjacency "
    "_contrib_dgl_csr_neighbor_non_uniform_sample _contrib_dgl_csr_neighbor_uniform_sample _contrib_dgl_graph_compact "
    "_contrib_dgl_subgraph _contrib_div_sqrt_dim _contrib_edge_id _contrib_getnnz _contrib_gradientmultiplier "
    "_contrib_group_adagrad_update _contrib_index_array _contrib_index_copy _contrib_interleaved_matmul_encdec_qk "
    "_contrib_interleaved_matmul_encdec_valatt _contrib_interleaved_matmul_selfatt_qk "
    "_contrib_interleaved_matmul_selfatt_valatt _contrib_mp_adamw_update _contrib_multi_box_detection "
    "_contrib_multi_box_prior _contrib_multi_box_target _contrib_quadratic _contrib_roi_align _contrib_round_ste "
    "_contrib_sign_ste _contrib_sparse_embedding _contrib_sync_batch_norm _copy _copyto _crop_assign "
    "_crop_assign_scalar _cross_device_copy _div _div_scalar _equal _equal_scalar _eye _full _greater _greater_equal "
    "_greater_equal_scalar _greater_scalar _histogram _hypot _hypot_scalar _identity_with_attr_like_rhs "
    "_image_normalize _image_to_tensor _lesser _lesser_equal _lesser_equal_scalar _lesser_scalar _linalg_det "
    "_linalg_extractdiag _linalg_extracttrian _linalg_gelqf _linalg_gemm _linalg_gemm2 _linalg_inverse "
    "_linalg_makediag _linalg_maketrian _linalg_potrf _linalg_potri _linalg_slogdet _linalg_sumlogdiag _linalg_syevd "
    "_linalg_syrk _linalg_trmm _linalg_trsm _linspace _logical_and _logical_and_scalar _logical_or _logical_or_scalar "
    "_logical_xor _logical_xor_scalar _maximum _maximum_scalar _minimum _minimum_scalar _minus _minus_scalar _mod "
    "_mod_scalar _mp_adamw_update _mul _mul_scalar _not_equal _not_equal_scalar _np_cumsum _np_repeat _npi_argsort "
    "_npi_cast _npi_clip _npi_det _npi_expand_dims _npi_full _npi_gather_nd _npi_histogram _npi_hypot_scalar _npi_inv "
    "_npi_linspace _npi_maximum _npi_maximum_scalar _npi_minimum _npi_minimum_scalar _npi_random_randint "
    "_npi_scatter_set_nd _npi_shuffle _npi_slice _npi_slice_assign _npi_slice_assign_scalar _npi_slogdet _npi_sort "
    "_npi_split _npi_swapaxes _npi_take _npi_tile _npi_where _npx__image_normalize _npx__image_to_tensor "
    "_npx_activation _npx_arange_like _npx_batch_dot _npx_batch_flatten _npx_batch_norm _npx_cast _npx_convolution "
    "_npx_deconvolution _npx_dropout _npx_embedding _npx_erf _npx_erfinv _npx_fully_connected _npx_gamma _npx_gammaln "
    "_npx_gather_nd _npx_layer_norm _npx_leaky_relu _npx_log_softmax _npx_multibox_detection _npx_multibox_prior "
    "_npx_multibox_target _npx_one_hot _npx_pick _npx_pooling _npx_reshape_like _npx_roi_pooling _npx_sequence_mask "
    "_npx_shape_array _npx_slice _npx_smooth_l1 _npx_softmax _npx_topk _ones _plus _plus_scalar _power _power_scalar "
    "_random_exponential _random_exponential_like _random_gamma _random_gamma_like "
    "_random_generalized_negative_binomial _random_generalized_negative_binomial_like _random_negative_binomial "
    "_random_negative_binomial_like _random_normal _random_normal_like _random_pdf_dirichlet _random_pdf_exponential "
    "_random_pdf_gamma _random_pdf_generalized_negative_binomial _random_pdf_negative_binomial _random_pdf_normal "
    "_random_pdf_poisson _random_pdf_uniform _random_poisson _random_poisson_like _random_randint _random_uniform "
    "_random_uniform_like _ravel_multi_index _rdiv_scalar _rminus_scalar _rmod_scalar _rpower_scalar "
    "_sample_exponential _sample_gamma _sample_generalized_negative_binomial _sample_multinomial "
    "_sample_negative_binomial _sample_normal _sample_poisson _sample_uniform _sample_unique_zipfian "
    "_scatter_elemwise_div _scatter_minus_scalar _scatter_plus_scalar _scatter_set_nd _shuffle _slice_assign "
    "_slice_assign_scalar _sparse_ElementWiseSum _sparse_Embedding _sparse_FullyConnected "
    "_sparse_LinearRegressionOutput _sparse_LogisticRegressionOutput _sparse_MAERegressionOutput "
    "_sparse__contrib_round_ste _sparse__contrib_sign_ste _sparse_abs _sparse_adagrad_update _sparse_adam_update "
    "_sparse_add_n _sparse_arccos _sparse_arccosh _sparse_arcsin _sparse_arcsinh _sparse_arctan _sparse_arctanh "
    "_sparse_broadcast_add _sparse_broadcast_div _sparse_broadcast_minus _sparse_broadcast_mul _sparse_broadcast_plus "
    "_sparse_broadcast_sub _sparse_cast_storage _sparse_cbrt _sparse_ceil _sparse_clip _sparse_concat _sparse_cos "
    "_sparse_cosh _sparse_degrees _sparse_dot _sparse_elemwise_add _sparse_elemwise_div _sparse_elemwise_mul "
    "_sparse_elemwise_sub _sparse_exp _sparse_expm1 _sparse_fix _sparse_floor _sparse_ftrl_update _sparse_gamma "
    "_sparse_gammaln _sparse_log _sparse_log10 _sparse_log1p _sparse_log2 _sparse_mean _sparse_negative _sparse_norm "
    "_sparse_radians _sparse_relu _sparse_retain _sparse_rint _sparse_round _sparse_rsqrt _sparse_sgd_mom_update "
    "_sparse_sgd_update _sparse_sigmoid _sparse_sign _sparse_sin _sparse_sinh _sparse_slice _sparse_sqrt "
    "_sparse_square _sparse_stop_gradient _sparse_sum _sparse_tan _sparse_tanh _sparse_trunc _sparse_where "
    "_sparse_zeros_like _split_v2 _square_sum _sub _unravel_index _zeros _zeros_without_dtype abs activation "
    "adam_update adamw_update adaptive_avg_pooling2d add_n all_finite allclose amp_cast amp_multicast arange "
    "arange_like arccos arccosh arcsin arcsinh arctan arctanh argmax argmax_channel argmin argsort batch_dot "
    "batch_norm batch_take bilinear_resize2d bilinear_sampler bipartite_matching block_grad box_decode box_encode "
    "box_iou box_nms broadcast_add broadcast_axes broadcast_axis broadcast_div broadcast_equal broadcast_greater "
    "broadcast_greater_equal broadcast_hypot broadcast_lesser broadcast_lesser_equal broadcast_like "
    "broadcast_logical_and broadcast_logical_or broadcast_logical_xor broadcast_maximum broadcast_minimum "
    "broadcast_minus broadcast_mod broadcast_mul broadcast_not_equal broadcast_plus broadcast_power broadcast_sub "
    "broadcast_to cast cast_storage cbrt ceil choose_element_0index clip col2im concat convolution correlation cos "
    "cosh crop crop_to cross_device_copy ctc_loss cumsum deconvolution degrees depth_to_space dgl_adjacency "
    "dgl_csr_neighbor_non_uniform_sample dgl_csr_neighbor_uniform_sample dgl_graph_compact dgl_subgraph diag "
    "div_scalar div_sqrt_dim dot dropout edge_id elemwise_add elemwise_div elemwise_equal elemwise_greater "
    "elemwise_greater_equal elemwise_hypot elemwise_lesser elemwise_lesser_equal elemwise_logical_and "
    "elemwise_logical_or elemwise_logical_xor elemwise_maximum elemwise_minimum elemwise_mod elemwise_mul "
    "elemwise_not_equal elemwise_power elemwise_sub embedding equal_scalar erf erfinv exp expand_dims expm1 "
    "exponential eye fix flatten flip floor ftml_update ftrl_update full fully_connected gamma gammaln gather_nd "
    "getnnz gradientmultiplier greater_equal_scalar greater_scalar grid_generator group_adagrad_update group_norm "
    "hard_sigmoid hypot_scalar identity identity_like im2col image_normalize image_to_tensor index_array index_copy "
    "instance_norm interleaved_matmul_encdec_qk interleaved_matmul_encdec_valatt interleaved_matmul_selfatt_qk "
    "interleaved_matmul_selfatt_valatt khatri_rao l2_normalization lamb_update_phase1 lamb_update_phase2 layer_norm "
    "leaky_relu lesser_equal_scalar lesser_scalar linalg_det linalg_extractdiag linalg_extracttrian linalg_gelqf "
    "linalg_gemm linalg_gemm2 linalg_inverse linalg_makediag linalg_maketrian linalg_potrf linalg_potri linalg_slogdet "
    "linalg_sumlogdiag linalg_syevd linalg_syrk linalg_trmm linalg_trsm linear_regression_output linspace log log10 "
    "log1p log2 log_softmax logical_and_scalar logical_not logical_or_scalar logical_xor_scalar "
    "logistic_regression_output lrn mae_regression_output make_loss make_loss_scaled max max_axis maximum_scalar mean "
    "min min_axis minimum_scalar minus_scalar mod_scalar moments mp_adam_update mp_adamw_update mp_lamb_update_phase1 "
    "mp_lamb_update_phase2 mp_nag_mom_update mp_sgd_mom_update mp_sgd_update mul_scalar multi_all_finite "
    "multi_box_detection multi_box_prior multi_box_target multi_lars multi_sum_sq nag_mom_update nanprod nansum "
    "negative norm normal not_equal_scalar one_hot ones ones_like pad pick plus_scalar pooling power_scalar prod "
    "quadratic radians random_exponential random_exponential_like random_gamma random_gamma_like "
    "random_generalized_negative_binomial random_generalized_negative_binomial_like random_negative_binomial "
    "random_negative_binomial_like random_normal random_normal_like random_pdf_dirichlet random_pdf_exponential "
    "random_pdf_gamma random_pdf_generalized_negative_binomial random_pdf_negative_binomial random_pdf_normal "
    "random_pdf_poisson random_pdf_uniform random_poisson random_poisson_like random_randint random_uniform "
    "random_uniform_like ravel_multi_index rcbrt rdiv_scalar reciprocal relu repeat reshape reshape_like reverse rint "
    "rminus_scalar rmod_scalar rmsprop_update rmspropalex_update roi_align roi_pooling round round_ste rpower_scalar "
    "rsqrt sample_exponential sample_gamma sample_generalized_negative_binomial sample_multinomial "
    "sample_negative_binomial sample_normal sample_poisson sample_uniform sample_unique_zipfian scatter_elemwise_div "
    "scatter_minus_scalar scatter_nd scatter_plus_scalar scatter_set_nd sddmm sequence_last sequence_mask "
    "sequence_reverse sgd_mom_update sgd_update shape_array shuffle sigmoid sign sign_ste signsgd_update signum_update "
    "sin sinh size_array slice slice_assign slice_assign_scalar slice_axis slice_channel slice_like smooth_l1 softmax "
    "softmax_activation softmax_cross_entropy softmax_output softmin softsign sort space_to_depth "
    "sparse_adagrad_update sparse_embedding sparse_retain spatial_transformer split split_v2 sqrt square square_sum "
    "squeeze stack stop_gradient stored_log_softmax stored_softmax sum sum_axis svm_output swap_axis swapaxes take tan "
    "tanh tile topk transpose trunc uniform unravel_index up_sampling where zeros zeros_like zeros_without_dtype ";

/// Whether the library has an operator of that name, in this program or not.
inline bool in_library(std::string_view name) {
  std::string between(1, ' ');
  between += name;
  between += ' ';
  return !name.empty() && name.find(' ') == std::string_view::npos &&
         library_names.find(between) != std::string_view::npos;
}

}  // namespace strop::inline v0::detail
