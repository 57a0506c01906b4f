// SPDX-License-Identifier: Apache-2.0
/// \file
/// The public operators of the library: name, inputs, parameters with their defaults, aliases. A line that differs from
/// the registry fails the suite; a new operator is a new line.
#pragma once
#include <string_view>

namespace ops_test {

inline constexpr std::string_view operators = R"(
Activation(data; act_type) _npx_activation
BatchNorm(data, gamma, beta, moving_mean, moving_var; eps=0.001, momentum=0.9, fix_gamma=True, use_global_stats=False, output_mean_var=False, axis=1, cudnn_off=False, min_calib_range=None, max_calib_range=None) _npx_batch_norm BatchNorm_v1
BilinearSampler(data, grid; cudnn_off=None)
BlockGrad(data) _sparse_stop_gradient stop_gradient
CTCLoss(data, label; use_data_lengths=False, use_label_lengths=False, blank_label=first) ctc_loss _contrib_CTCLoss _contrib_ctc_loss
Cast(data; dtype) _npi_cast _npx_cast
Concat(arg0, arg1, arg2; num_args=0, dim=1) _sparse_concat
Convolution(data, weight, bias; kernel, stride=(), dilate=(), pad=(), num_filter, num_group=1, workspace=1024, no_bias=False, cudnn_tune=None, cudnn_off=False, layout=None) _npx_convolution Convolution_v1
Correlation(data1, data2; kernel_size=1, max_displacement=1, stride1=1, stride2=1, pad_size=0, is_multiply=True)
Crop(arg0; num_args=0, offset=(0, 0), h_w=(0, 0), center_crop=False) crop_to
Deconvolution(data, weight; kernel, stride=(), dilate=(), pad=(), adj=(), target_shape=(), num_filter, num_group=1, workspace=512, no_bias=True, cudnn_tune=None, cudnn_off=False, layout=None) _npx_deconvolution
Dropout(data; p=0.5, mode=training, axes=(), cudnn_off=False) _npx_dropout
Embedding(data, weight; input_dim, output_dim, dtype=float32, sparse_grad=False) _sparse_Embedding _npx_embedding
Flatten(data) _npx_batch_flatten
FullyConnected(data, weight, bias; num_hidden, no_bias=False, flatten=True) _sparse_FullyConnected _npx_fully_connected
GridGenerator(data; transform_type, target_shape=(0, 0))
GroupNorm(data, gamma, beta; num_groups=1, eps=1e-05, output_mean_var=False)
InstanceNorm(data, gamma, beta; eps=0.001)
L2Normalization(data; eps=1e-10, mode=instance)
LRN(data; alpha=1e-04, beta=0.75, knorm=2, nsize)
LayerNorm(data, gamma, beta; axis=-1, eps=1e-05, output_mean_var=False) _npx_layer_norm
LeakyReLU(data; act_type=leaky, slope=0.25, lower_bound=0.125, upper_bound=0.334) _npx_leaky_relu
LinearRegressionOutput(data, label; grad_scale=1) _sparse_LinearRegressionOutput
LogisticRegressionOutput(data, label; grad_scale=1) _sparse_LogisticRegressionOutput
MAERegressionOutput(data, label; grad_scale=1) _sparse_MAERegressionOutput
MakeLoss(data; grad_scale=1, valid_thresh=0, normalization=null) make_loss_scaled
Pad(data; mode, pad_width, constant_value=0)
Pooling(data; kernel=(), pool_type=max, global_pool=False, cudnn_off=False, pooling_convention=valid, stride=(), pad=(), p_value=None, count_include_pad=None, layout=None) _npx_pooling
RNN(data, parameters, state; state_size, num_layers, bidirectional=False, mode, p=0, state_outputs=False, projection_size=None, lstm_state_clip_min=None, lstm_state_clip_max=None, lstm_state_clip_nan=False, use_sequence_length=False) _npx_rnn
ROIPooling(data, rois; pooled_size, spatial_scale) _npx_roi_pooling
Reshape(data; shape=(), reverse=False, target_shape=(), keep_highest=False)
SVMOutput(data, label; margin=1, regularization_coefficient=1, use_linear=False)
SequenceLast(data; use_sequence_length=False, axis=0)
SequenceMask(data; use_sequence_length=False, value=0, axis=0) _npx_sequence_mask
SequenceReverse(data; use_sequence_length=False, axis=0)
SliceChannel(data; num_outputs, axis=1, squeeze_axis=False) split
SoftmaxActivation(data; mode=instance)
SoftmaxOutput(data, label; grad_scale=1, ignore_label=-1, multi_output=False, use_ignore=False, preserve_shape=False, normalization=null, out_grad=False, smooth_alpha=0) Softmax
SpatialTransformer(data, loc; target_shape=(0, 0), transform_type, sampler_type, cudnn_off=None)
SwapAxis(data; dim1=0, dim2=0) swapaxes _npi_swapaxes
UpSampling(arg0; scale, num_filter=0, sample_type, multi_input_mode=concat, num_args=0, workspace=512)
_CrossDeviceCopy(data) _copyto cross_device_copy
_adamw_update(weight, grad, mean, var, rescale_grad; lr, beta1=0.9, beta2=0.999, epsilon=1e-08, wd=0, eta, clip_gradient=-1) _contrib_adamw_update adamw_update
_arange(; start, stop=None, step=1, repeat=1, infer_range=False, ctx=, dtype=float32) arange
_contrib_AdaptiveAvgPooling2D(data; output_size=()) AdaptiveAvgPooling2D adaptive_avg_pooling2d
_contrib_BilinearResize2D(data; height=1, width=1, scale_height=None, scale_width=None, mode=size, align_corners=True) BilinearResize2D bilinear_resize2d
_contrib_MultiBoxDetection(cls_prob, loc_pred, anchor; clip=True, threshold=0.01, background_id=0, nms_threshold=0.5, force_suppress=False, variances=(0.1, 0.1, 0.2, 0.2), nms_topk=-1) MultiBoxDetection multi_box_detection _npx_multibox_detection
_contrib_MultiBoxPrior(data; sizes=(1,), ratios=(1,), clip=False, steps=(-1, -1), offsets=(0.5, 0.5)) MultiBoxPrior multi_box_prior _npx_multibox_prior
_contrib_MultiBoxTarget(anchor, label, cls_pred; overlap_threshold=0.5, ignore_label=-1, negative_mining_ratio=-1, negative_mining_thresh=0.5, minimum_negative_samples=0, variances=(0.1, 0.1, 0.2, 0.2)) MultiBoxTarget multi_box_target _npx_multibox_target
_contrib_MultiProposal(cls_prob, bbox_pred, im_info; rpn_pre_nms_top_n=6000, rpn_post_nms_top_n=300, threshold=0.7, rpn_min_size=16, scales=(4, 8, 16, 32), ratios=(0.5, 1, 2), feature_stride=16, output_score=False, iou_loss=False) MultiProposal multi_proposal
_contrib_PSROIPooling(data, rois; spatial_scale, output_dim, pooled_size, group_size=0) PSROIPooling psroi_pooling
_contrib_Proposal(cls_prob, bbox_pred, im_info; rpn_pre_nms_top_n=6000, rpn_post_nms_top_n=300, threshold=0.7, rpn_min_size=16, scales=(4, 8, 16, 32), ratios=(0.5, 1, 2), feature_stride=16, output_score=False, iou_loss=False) Proposal proposal
_contrib_ROIAlign(data, rois; pooled_size, spatial_scale, sample_ratio=-1, position_sensitive=False, aligned=False) ROIAlign roi_align
_contrib_RROIAlign(data, rois; pooled_size, spatial_scale, sampling_ratio=-1) RROIAlign rroi_align
_contrib_SparseEmbedding(data, weight; input_dim, output_dim, dtype=float32, deterministic=False) SparseEmbedding sparse_embedding
_contrib_SyncBatchNorm(data, gamma, beta, moving_mean, moving_var; eps=0.001, momentum=0.9, fix_gamma=True, use_global_stats=False, output_mean_var=False, ndev=1, key=) sync_batch_norm
_contrib_allclose(a, b; rtol=1e-05, atol=1e-08, equal_nan=True) allclose
_contrib_arange_like(data; start=0, step=1, repeat=1, ctx=, axis=None) arange_like _npx_arange_like
_contrib_bipartite_matching(data; is_ascend=False, threshold, topk=-1) bipartite_matching
_contrib_boolean_mask(data, index; axis=0) boolean_mask
_contrib_box_decode(data, anchors; std0=1, std1=1, std2=1, std3=1, clip=-1, format=center) box_decode
_contrib_box_encode(samples, matches, anchors, refs, means, stds) box_encode
_contrib_box_iou(lhs, rhs; format=corner) box_iou
_contrib_box_nms(data; overlap_thresh=0.5, valid_thresh=0, topk=-1, coord_start=2, score_index=1, id_index=-1, background_id=-1, force_suppress=False, in_format=corner, out_format=corner) box_nms _contrib_box_non_maximum_suppression
_contrib_dequantize(data, min_range, max_range; out_type=float32) dequantize
_contrib_dgl_adjacency(data) dgl_adjacency
_contrib_dgl_csr_neighbor_non_uniform_sample(csr_matrix, probability, seed_arrays; num_args=3, num_hops=1, num_neighbor=2, max_num_vertices=100) dgl_csr_neighbor_non_uniform_sample
_contrib_dgl_csr_neighbor_uniform_sample(csr_matrix, seed_arrays; num_args=2, num_hops=1, num_neighbor=2, max_num_vertices=100) dgl_csr_neighbor_uniform_sample
_contrib_dgl_graph_compact(graph_data, graph_data; num_args=2, return_mapping, graph_sizes) dgl_graph_compact
_contrib_dgl_subgraph(graph, data; num_args=2, return_mapping) dgl_subgraph
_contrib_div_sqrt_dim(data) div_sqrt_dim
_contrib_edge_id(data, u, v) edge_id
_contrib_getnnz(data; axis=None) getnnz
_contrib_gradientmultiplier(data; scalar=1, is_int=True) gradientmultiplier
_contrib_group_adagrad_update(weight, grad, history; lr, rescale_grad=1, clip_gradient=-1, epsilon=1e-05) group_adagrad_update
_contrib_index_array(data; axes=None) index_array
_contrib_index_copy(old_tensor, index_vector, new_tensor) index_copy
_contrib_interleaved_matmul_encdec_qk(queries, keys_values; heads) interleaved_matmul_encdec_qk
_contrib_interleaved_matmul_encdec_valatt(keys_values, attention; heads) interleaved_matmul_encdec_valatt
_contrib_interleaved_matmul_selfatt_qk(queries_keys_values; heads) interleaved_matmul_selfatt_qk
_contrib_interleaved_matmul_selfatt_valatt(queries_keys_values, attention; heads) interleaved_matmul_selfatt_valatt
_contrib_quadratic(data; a=0, b=0, c=0) quadratic
_contrib_quantize(data, min_range, max_range; out_type=uint8) quantize
_contrib_quantize_v2(data; out_type=int8, min_calib_range=None, max_calib_range=None) quantize_v2
_contrib_requantize(data, min_range, max_range; out_type=int8, min_calib_range=None, max_calib_range=None) requantize
_contrib_round_ste(data) _sparse__contrib_round_ste round_ste
_contrib_sign_ste(data) _sparse__contrib_sign_ste sign_ste
_copy(data) identity
_div_scalar(data; scalar=1, is_int=True) _DivScalar div_scalar
_equal(lhs, rhs) _Equal elemwise_equal
_equal_scalar(data; scalar=1, is_int=True) _EqualScalar equal_scalar
_eye(; N, M=0, k=0, ctx=, dtype=float32) eye
_full(; shape=(), ctx=, dtype=float32, value) full _npi_full
_greater(lhs, rhs) _Greater elemwise_greater
_greater_equal(lhs, rhs) _Greater_Equal elemwise_greater_equal
_greater_equal_scalar(data; scalar=1, is_int=True) _GreaterEqualScalar greater_equal_scalar
_greater_scalar(data; scalar=1, is_int=True) _GreaterScalar greater_scalar
_histogram(data; bin_cnt=None, range=None) _npi_histogram histogram
_hypot(lhs, rhs) _Hypot elemwise_hypot
_hypot_scalar(data; scalar=1, is_int=True) _npi_hypot_scalar _HypotScalar hypot_scalar
_identity_with_attr_like_rhs(lhs, rhs) identity_like
_image_normalize(data; mean=(0, 0, 0, 0), std=(1, 1, 1, 1)) image_normalize _npx__image_normalize
_image_to_tensor(data) image_to_tensor _npx__image_to_tensor
_lesser(lhs, rhs) _Lesser elemwise_lesser
_lesser_equal(lhs, rhs) _Lesser_Equal elemwise_lesser_equal
_lesser_equal_scalar(data; scalar=1, is_int=True) _LesserEqualScalar lesser_equal_scalar
_lesser_scalar(data; scalar=1, is_int=True) _LesserScalar lesser_scalar
_linalg_det(A) linalg_det _npi_det
_linalg_extractdiag(A; offset=0) linalg_extractdiag
_linalg_extracttrian(A; offset=0, lower=True) linalg_extracttrian
_linalg_gelqf(A) linalg_gelqf
_linalg_gemm(A, B, C; transpose_a=False, transpose_b=False, alpha=1, beta=1, axis=-2) linalg_gemm
_linalg_gemm2(A, B; transpose_a=False, transpose_b=False, alpha=1, axis=-2) linalg_gemm2
_linalg_inverse(A) linalg_inverse _npi_inv
_linalg_makediag(A; offset=0) linalg_makediag
_linalg_maketrian(A; offset=0, lower=True) linalg_maketrian
_linalg_potrf(A; lower=True) linalg_potrf
_linalg_potri(A; lower=True) linalg_potri
_linalg_slogdet(A) linalg_slogdet _npi_slogdet
_linalg_sumlogdiag(A) linalg_sumlogdiag
_linalg_syevd(A) linalg_syevd
_linalg_syrk(A; transpose=False, alpha=1) linalg_syrk
_linalg_trmm(A, B; transpose=False, rightside=False, lower=True, alpha=1) linalg_trmm
_linalg_trsm(A, B; transpose=False, rightside=False, lower=True, alpha=1) linalg_trsm
_linspace(; start, stop, num, endpoint=True, ctx=, dtype=float32) linspace _npi_linspace
_logical_and(lhs, rhs) _Logical_And elemwise_logical_and
_logical_and_scalar(data; scalar=1, is_int=True) _LogicalAndScalar logical_and_scalar
_logical_or(lhs, rhs) _Logical_Or elemwise_logical_or
_logical_or_scalar(data; scalar=1, is_int=True) _LogicalOrScalar logical_or_scalar
_logical_xor(lhs, rhs) _Logical_Xor elemwise_logical_xor
_logical_xor_scalar(data; scalar=1, is_int=True) _LogicalXorScalar logical_xor_scalar
_maximum(lhs, rhs) _Maximum elemwise_maximum
_maximum_scalar(data; scalar=1, is_int=True) _MaximumScalar _npi_maximum_scalar maximum_scalar
_minimum(lhs, rhs) _Minimum elemwise_minimum
_minimum_scalar(data; scalar=1, is_int=True) _MinimumScalar _npi_minimum_scalar minimum_scalar
_minus_scalar(data; scalar=1, is_int=True) _MinusScalar minus_scalar
_mod(lhs, rhs) _Mod elemwise_mod
_mod_scalar(data; scalar=1, is_int=True) _ModScalar mod_scalar
_mp_adamw_update(weight, grad, mean, var, weight32, rescale_grad; lr, beta1=0.9, beta2=0.999, epsilon=1e-08, wd=0, eta, clip_gradient=-1) _contrib_mp_adamw_update mp_adamw_update
_mul_scalar(data; scalar=1, is_int=True) _MulScalar mul_scalar
_not_equal(lhs, rhs) _Not_Equal elemwise_not_equal
_not_equal_scalar(data; scalar=1, is_int=True) _NotEqualScalar not_equal_scalar
_np_cumsum(a; axis=None, dtype=None) cumsum
_ones(; shape=(), ctx=, dtype=float32) ones
_plus_scalar(data; scalar=1, is_int=True) _PlusScalar plus_scalar
_power(lhs, rhs) _Power elemwise_power
_power_scalar(data; scalar=1, is_int=True) _PowerScalar power_scalar
_random_exponential(; lam=1, shape=(), ctx=, dtype=None) exponential random_exponential
_random_exponential_like(data; lam=1) random_exponential_like
_random_gamma(; alpha=1, beta=1, shape=(), ctx=, dtype=None) random_gamma
_random_gamma_like(data; alpha=1, beta=1) random_gamma_like
_random_generalized_negative_binomial(; mu=1, alpha=1, shape=(), ctx=, dtype=None) random_generalized_negative_binomial
_random_generalized_negative_binomial_like(data; mu=1, alpha=1) random_generalized_negative_binomial_like
_random_negative_binomial(; k=1, p=1, shape=(), ctx=, dtype=None) random_negative_binomial
_random_negative_binomial_like(data; k=1, p=1) random_negative_binomial_like
_random_normal(; loc=0, scale=1, shape=(), ctx=, dtype=None) normal random_normal
_random_normal_like(data; loc=0, scale=1) random_normal_like
_random_pdf_dirichlet(sample, alpha; is_log=False) random_pdf_dirichlet
_random_pdf_exponential(sample, lam; is_log=False) random_pdf_exponential
_random_pdf_gamma(sample, alpha, beta; is_log=False) random_pdf_gamma
_random_pdf_generalized_negative_binomial(sample, mu, alpha; is_log=False) random_pdf_generalized_negative_binomial
_random_pdf_negative_binomial(sample, k, p; is_log=False) random_pdf_negative_binomial
_random_pdf_normal(sample, mu, sigma; is_log=False) random_pdf_normal
_random_pdf_poisson(sample, lam; is_log=False) random_pdf_poisson
_random_pdf_uniform(sample, low, high; is_log=False) random_pdf_uniform
_random_poisson(; lam=1, shape=(), ctx=, dtype=None) random_poisson
_random_poisson_like(data; lam=1) random_poisson_like
_random_randint(; low, high, shape=(), ctx=, dtype=None) random_randint _npi_random_randint
_random_uniform(; low=0, high=1, shape=(), ctx=, dtype=None) uniform random_uniform
_random_uniform_like(data; low=0, high=1) random_uniform_like
_ravel_multi_index(data; shape=()) ravel_multi_index
_rdiv_scalar(data; scalar=1, is_int=True) _RDivScalar rdiv_scalar
_rminus_scalar(data; scalar=1, is_int=True) _RMinusScalar rminus_scalar
_rmod_scalar(data; scalar=1, is_int=True) _RModScalar rmod_scalar
_rpower_scalar(data; scalar=1, is_int=True) _RPowerScalar rpower_scalar
_sample_exponential(lam; shape=(), dtype=None) sample_exponential
_sample_gamma(alpha, beta; shape=(), dtype=None) sample_gamma
_sample_generalized_negative_binomial(mu, alpha; shape=(), dtype=None) sample_generalized_negative_binomial
_sample_multinomial(data; shape=(), get_prob=False, dtype=int32) sample_multinomial
_sample_negative_binomial(k, p; shape=(), dtype=None) sample_negative_binomial
_sample_normal(mu, sigma; shape=(), dtype=None) sample_normal
_sample_poisson(lam; shape=(), dtype=None) sample_poisson
_sample_uniform(low, high; shape=(), dtype=None) sample_uniform
_sample_unique_zipfian(; range_max, shape=()) sample_unique_zipfian
_scatter_elemwise_div(lhs, rhs) scatter_elemwise_div
_scatter_minus_scalar(data; scalar=1, is_int=True) scatter_minus_scalar
_scatter_plus_scalar(data; scalar=1, is_int=True) scatter_plus_scalar
_scatter_set_nd(lhs, rhs, indices; shape) scatter_set_nd _npi_scatter_set_nd
_shuffle(data) shuffle _npi_shuffle
_slice_assign(lhs, rhs; begin, end, step=()) slice_assign _crop_assign _npi_slice_assign
_slice_assign_scalar(data; scalar=0, begin, end, step=()) slice_assign_scalar _crop_assign_scalar _npi_slice_assign_scalar
_sparse_adagrad_update(weight, grad, history; lr, epsilon=1e-07, wd=0, rescale_grad=1, clip_gradient=-1) sparse_adagrad_update
_sparse_retain(data, indices) sparse_retain
_split_v2(data; indices=(), axis=1, squeeze_axis=False, sections=0) _npi_split split_v2
_square_sum(data; axis=None, keepdims=False, exclude=False) square_sum
_unravel_index(data; shape=()) unravel_index
_zeros(; shape=(), ctx=, dtype=float32) zeros
_zeros_without_dtype(; shape=(), ctx=, dtype=-1) zeros_without_dtype
abs(data) _sparse_abs
adam_update(weight, grad, mean, var; lr, beta1=0.9, beta2=0.999, epsilon=1e-08, wd=0, rescale_grad=1, clip_gradient=-1, lazy_update=True) _sparse_adam_update
add_n(arg0, arg1, arg2; num_args=0) _sparse_add_n _sparse_ElementWiseSum ElementWiseSum
all_finite(data; init_output=True)
amp_cast(data; dtype)
amp_multicast(data, data; num_outputs, cast_narrow=False)
arccos(data) _sparse_arccos
arccosh(data) _sparse_arccosh
arcsin(data) _sparse_arcsin
arcsinh(data) _sparse_arcsinh
arctan(data) _sparse_arctan
arctanh(data) _sparse_arctanh
argmax(data; axis=None, keepdims=False)
argmax_channel(data)
argmin(data; axis=None, keepdims=False)
argsort(data; axis=-1, is_ascend=True, dtype=float32) _npi_argsort
batch_dot(lhs, rhs; transpose_a=False, transpose_b=False, forward_stype=None) _npx_batch_dot
batch_take(a, indices)
broadcast_add(lhs, rhs) _sparse_broadcast_add _sparse_broadcast_plus broadcast_plus
broadcast_axis(data; axis=(), size=()) broadcast_axes
broadcast_div(lhs, rhs) _sparse_broadcast_div
broadcast_equal(lhs, rhs)
broadcast_greater(lhs, rhs)
broadcast_greater_equal(lhs, rhs)
broadcast_hypot(lhs, rhs)
broadcast_lesser(lhs, rhs)
broadcast_lesser_equal(lhs, rhs)
broadcast_like(lhs, rhs; lhs_axes=None, rhs_axes=None)
broadcast_logical_and(lhs, rhs)
broadcast_logical_or(lhs, rhs)
broadcast_logical_xor(lhs, rhs)
broadcast_maximum(lhs, rhs) _npi_maximum
broadcast_minimum(lhs, rhs) _npi_minimum
broadcast_mod(lhs, rhs)
broadcast_mul(lhs, rhs) _sparse_broadcast_mul
broadcast_not_equal(lhs, rhs)
broadcast_power(lhs, rhs)
broadcast_sub(lhs, rhs) _sparse_broadcast_sub _sparse_broadcast_minus broadcast_minus
broadcast_to(data; shape=())
cast_storage(data; stype) _sparse_cast_storage
cbrt(data) _sparse_cbrt
ceil(data) _sparse_ceil
clip(data; a_min, a_max) _sparse_clip _npi_clip
col2im(data; output_size, kernel, stride=(), dilate=(), pad=())
cos(data) _sparse_cos
cosh(data) _sparse_cosh
degrees(data) _sparse_degrees
depth_to_space(data; block_size)
diag(data; k=0, axis1=0, axis2=1)
dot(lhs, rhs; transpose_a=False, transpose_b=False, forward_stype=None) _sparse_dot
elemwise_add(lhs, rhs) _sparse_elemwise_add _add _plus _Plus _grad_add
elemwise_div(lhs, rhs) _sparse_elemwise_div _div _Div
elemwise_mul(lhs, rhs) _sparse_elemwise_mul _mul _Mul
elemwise_sub(lhs, rhs) _sparse_elemwise_sub _sub _minus _Minus
erf(data) _npx_erf
erfinv(data) _npx_erfinv
exp(data) _sparse_exp
expand_dims(data; axis) _npi_expand_dims
expm1(data) _sparse_expm1
fix(data) _sparse_fix
floor(data) _sparse_floor
ftml_update(weight, grad, d, v, z; lr, beta1=0.6, beta2=0.999, epsilon=1e-08, t, wd=0, rescale_grad=1, clip_grad=-1)
ftrl_update(weight, grad, z, n; lr, lamda1=0.01, beta=1, wd=0, rescale_grad=1, clip_gradient=-1) _sparse_ftrl_update
gamma(data) _sparse_gamma _npx_gamma
gammaln(data) _npx_gammaln _sparse_gammaln
gather_nd(data, indices) _npi_gather_nd _npx_gather_nd
hard_sigmoid(data; alpha=0.2, beta=0.5)
im2col(data; kernel, stride=(), dilate=(), pad=())
khatri_rao(arg0, arg1; num_args=0)
lamb_update_phase1(weight, grad, mean, var; beta1=0.9, beta2=0.999, epsilon=1e-06, t, bias_correction=True, wd, rescale_grad=1, clip_gradient=-1)
lamb_update_phase2(weight, g, r1, r2; lr, lower_bound=-1, upper_bound=-1)
log(data) _sparse_log
log10(data) _sparse_log10
log1p(data) _sparse_log1p
log2(data) _sparse_log2
log_softmax(data; axis=-1, temperature=None, dtype=None, use_length=False) _npx_log_softmax
logical_not(data)
max(data; axis=None, keepdims=False, exclude=False) max_axis
mean(data; axis=None, keepdims=False, exclude=False) _sparse_mean
min(data; axis=None, keepdims=False, exclude=False) min_axis
moments(data; axes=None, keepdims=False)
mp_adam_update(weight, grad, mean, var, weight32; lr, beta1=0.9, beta2=0.999, epsilon=1e-08, wd=0, rescale_grad=1, clip_gradient=-1, lazy_update=True)
mp_lamb_update_phase1(weight, grad, mean, var, weight32; beta1=0.9, beta2=0.999, epsilon=1e-06, t, bias_correction=True, wd, rescale_grad=1, clip_gradient=-1)
mp_lamb_update_phase2(weight, g, r1, r2, weight32; lr, lower_bound=-1, upper_bound=-1)
mp_nag_mom_update(weight, grad, mom, weight32; lr, momentum=0, wd=0, rescale_grad=1, clip_gradient=-1)
mp_sgd_mom_update(weight, grad, mom, weight32; lr, momentum=0, wd=0, rescale_grad=1, clip_gradient=-1, lazy_update=True)
mp_sgd_update(weight, grad, weight32; lr, wd=0, rescale_grad=1, clip_gradient=-1, lazy_update=True)
multi_all_finite(array, array; num_arrays=1, init_output=True)
multi_lars(lrs, weights_sum_sq, grads_sum_sq, wds; eta, eps, rescale_grad=1)
multi_sum_sq(arg0, arg1; num_arrays)
nag_mom_update(weight, grad, mom; lr, momentum=0, wd=0, rescale_grad=1, clip_gradient=-1)
nanprod(data; axis=None, keepdims=False, exclude=False)
nansum(data; axis=None, keepdims=False, exclude=False)
negative(data) _sparse_negative
norm(data; ord=2, axis=None, out_dtype=None, keepdims=False) _sparse_norm
one_hot(indices; depth, on_value=1, off_value=0, dtype=float32) _npx_one_hot
ones_like(data)
pick(data, index; axis=-1, keepdims=False, mode=clip) choose_element_0index _npx_pick
prod(data; axis=None, keepdims=False, exclude=False)
radians(data) _sparse_radians
rcbrt(data)
reciprocal(data)
relu(data) _sparse_relu
repeat(data; repeats, axis=None) _np_repeat
reshape_like(lhs, rhs; lhs_begin=None, lhs_end=None, rhs_begin=None, rhs_end=None) _npx_reshape_like
reverse(data; axis) flip
rint(data) _sparse_rint
rmsprop_update(weight, grad, n; lr, gamma1=0.95, epsilon=1e-08, wd=0, rescale_grad=1, clip_gradient=-1, clip_weights=-1)
rmspropalex_update(weight, grad, n, g, delta; lr, gamma1=0.95, gamma2=0.9, epsilon=1e-08, wd=0, rescale_grad=1, clip_gradient=-1, clip_weights=-1)
round(data) _sparse_round
rsqrt(data) _sparse_rsqrt
scatter_nd(data, indices; shape)
sddmm(pattern, lhs, rhs)
sgd_mom_update(weight, grad, mom; lr, momentum=0, wd=0, rescale_grad=1, clip_gradient=-1, lazy_update=True) _sparse_sgd_mom_update
sgd_update(weight, grad; lr, wd=0, rescale_grad=1, clip_gradient=-1, lazy_update=True) _sparse_sgd_update
shape_array(data) _npx_shape_array
sigmoid(data) _sparse_sigmoid
sign(data) _sparse_sign
signsgd_update(weight, grad; lr, wd=0, rescale_grad=1, clip_gradient=-1)
signum_update(weight, grad, mom; lr, momentum=0, wd=0, rescale_grad=1, clip_gradient=-1, wd_lh=0)
sin(data) _sparse_sin
sinh(data) _sparse_sinh
size_array(data)
slice(data; begin, end, step=()) _sparse_slice crop _npx_slice _npi_slice
slice_axis(data; axis, begin, end=None)
slice_like(data, shape_like; axes=())
smooth_l1(data; scalar=1, is_int=True) _npx_smooth_l1
softmax(data; axis=-1, temperature=None, dtype=None, use_length=False) _npx_softmax
softmax_cross_entropy(data, label)
softmin(data; axis=-1, temperature=None, dtype=None, use_length=False)
softsign(data)
sort(data; axis=-1, is_ascend=True) _npi_sort
space_to_depth(data; block_size)
sqrt(data) _sparse_sqrt
square(data) _sparse_square
squeeze(data; axis=None)
stack(arg0, arg1; axis=0, num_args=0)
stored_log_softmax(data)
stored_softmax(data)
sum(data; axis=None, keepdims=False, exclude=False) _sparse_sum sum_axis
take(a, indices; axis=0, mode=clip) _npi_take
tan(data) _sparse_tan
tanh(data) _sparse_tanh
tile(data; reps) _npi_tile
topk(data; axis=-1, k=1, ret_typ=indices, is_ascend=False, dtype=float32) _npx_topk
transpose(data; axes=())
trunc(data) _sparse_trunc
where(condition, x, y) _sparse_where _npi_where
zeros_like(data) _sparse_zeros_like
)";

}  // namespace ops_test
