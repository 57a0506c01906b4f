// SPDX-License-Identifier: Apache-2.0
/// \file
/// What follows of the shapes of the public tensor operators, of the first row of each: from the first input alone,
/// from the outputs alone, and where the first extent of the first input is not known. "?" follows what is known in
/// part. A line that differs from the registry fails the suite; a new operator is a new line. Of maps all is known from
/// any one tensor, and where they broadcast from all inputs.
#pragma once
#include <string_view>

namespace ops_test {

inline constexpr std::string_view inference = R"(
BatchNorm: data -> gamma, beta, moving_mean, moving_var, output, mean, var; output, mean, var -> data, gamma, beta, moving_mean, moving_var; data? -> output?, mean, var
BilinearSampler: data -> grid?, output?; output -> data?, grid?; data? -> data, output
CTCLoss: data -> label?, output; output -> data?, label?; data? -> output
Cast: data -> output; output -> data; data? -> output?
Concat: arg0 -> arg1?, arg2?, output?; output -> arg0?, arg1?, arg2?; arg0? -> arg0, output
Convolution: data -> weight, bias, output; output -> data?, weight?, bias; data? -> output?
Correlation: data1 -> data2, output; output -> data1?, data2?; data1? -> data1, output
Crop: arg0 -> output; arg0? -> output?
Deconvolution: data -> weight, output; output -> data?, weight?; data? -> output?
Dropout: data -> output, mask; output, mask -> data; data? -> output?, mask?
Embedding: data -> weight, output; output -> data, weight; data? -> output?
Flatten: data -> output; data? -> output?
FullyConnected: data -> weight, bias, output; data? -> output?
GridGenerator: data -> output, grid_dst; output, grid_dst -> data; data? -> output?, grid_dst
GroupNorm: data -> gamma, beta, output, mean, std; output, mean, std -> data, gamma, beta; data? -> output?, mean?, std?
InstanceNorm: data -> gamma, beta, output, mean, var; output, mean, var -> data, gamma, beta; data? -> output?, mean?, var?
L2Normalization: data -> output, norm; output, norm -> data; data? -> output?, norm?
LRN: data -> output, tmp_norm; output, tmp_norm -> data; data? -> output?, tmp_norm?
LayerNorm: data -> gamma, beta, output, mean, std; output, mean, std -> data, gamma, beta; data? -> output?, mean?, std?
LeakyReLU: data -> output, mask; output, mask -> data; data? -> output?, mask
LinearRegressionOutput: data -> label, output; output -> data, label; data? -> output?
LogisticRegressionOutput: data -> label, output; output -> data, label; data? -> output?
MAERegressionOutput: data -> label, output; output -> data, label; data? -> output?
MakeLoss: data -> output; output -> data; data? -> output?
Pad: data -> output; data? -> output?
Pooling: data -> output; data? -> output?
RNN: data -> parameters, state, output, state_output, statecell_output, reserve; output, state_output, statecell_output, reserve -> data?, state; data? -> output?, state_output, statecell_output
ROIPooling: data -> rois?, output?; output -> data?, rois?; data? -> output
Reshape: data -> output; data? -> output?
SVMOutput: data -> label, output; output -> data, label; data? -> output?
SequenceLast: data -> output; data? -> output
SequenceMask: data -> output; output -> data; data? -> output?
SequenceReverse: data -> output; output -> data; data? -> output?
SliceChannel: data -> output0, output1, output2; output0, output1, output2 -> data; data? -> output0?, output1?, output2?
SoftmaxActivation: data -> output; output -> data; data? -> output?
SoftmaxOutput: data -> label, output; output -> data, label; data? -> output?
SpatialTransformer: data -> loc, output, grid_dst, grid_src; output, grid_dst, grid_src -> data?, loc?; data? -> data, output, grid_dst, grid_src
SwapAxis: data -> output; output -> data; data? -> output?
UpSampling: arg0 -> output; arg0? -> output?
_CrossDeviceCopy: data -> output; output -> data; data? -> output?
_adamw_update: weight -> grad, mean, var, rescale_grad, output; output -> weight, grad, mean, var, rescale_grad; weight? -> weight, output
_arange: -> output
_contrib_AdaptiveAvgPooling2D: data -> output; output -> data?; data? -> output?
_contrib_BilinearResize2D: data -> output; output -> data?; data? -> output?
_contrib_MultiBoxDetection: cls_prob -> loc_pred, anchor, output; output -> cls_prob?, loc_pred?, anchor?; cls_prob? -> cls_prob, output
_contrib_MultiBoxPrior: data -> output; data? -> output
_contrib_MultiBoxTarget: anchor -> label?, cls_pred?, loc_target?, loc_mask?, cls_target?; loc_target, loc_mask, cls_target -> anchor?, label?, cls_pred?; anchor? -> anchor, loc_target, loc_mask, cls_target
_contrib_MultiProposal: cls_prob -> bbox_pred, im_info, output, score; output, score -> cls_prob?, bbox_pred?, im_info?; cls_prob? -> cls_prob, output, score
_contrib_PSROIPooling: data -> rois?, output?; output -> data?, rois?; data? -> output
_contrib_Proposal: cls_prob -> bbox_pred, im_info, output, score; output, score -> cls_prob?, bbox_pred?, im_info; cls_prob? -> cls_prob, output, score
_contrib_ROIAlign: data -> rois?, output?; output -> data?, rois?; data? -> output
_contrib_RROIAlign: data -> rois?, output?; output -> data?, rois?; data? -> output
_contrib_SparseEmbedding: data -> weight, output; output -> data, weight; data? -> output?
_contrib_SyncBatchNorm: data -> gamma, beta, moving_mean, moving_var, output, mean, var; output, mean, var -> data, gamma, beta, moving_mean, moving_var; data? -> output?, mean, var
_contrib_allclose: a -> b, output; a? -> a, output
_contrib_arange_like: data -> output; data? -> output?
_contrib_bipartite_matching: data -> output0, output1; data? -> output0?, output1?
_contrib_boolean_mask: data -> index, output?; data? -> data, output?
_contrib_box_decode: data -> anchors, output; output -> data, anchors; data? -> output?
_contrib_box_encode: samples -> matches, anchors, refs?, means, stds, output0, output1; output0, output1 -> samples, matches, anchors, refs?, means, stds; samples? -> samples, output0, output1
_contrib_box_iou: lhs? -> output?
_contrib_box_nms: data -> output; output -> data; data? -> output?
_contrib_dequantize: data -> min_range, max_range, output; output -> data, min_range, max_range; data? -> output?
_contrib_dgl_adjacency: data -> output; output -> data; data? -> output?
_contrib_dgl_csr_neighbor_non_uniform_sample: csr_matrix -> probability, output0, output1, output2, output3; csr_matrix? -> output0, output1, output2, output3
_contrib_dgl_csr_neighbor_uniform_sample: csr_matrix -> output0, output1, output2; csr_matrix? -> output0, output1, output2
_contrib_dgl_graph_compact: graph_data -> output0, output1; graph_data? -> output0, output1
_contrib_dgl_subgraph: graph? -> output0, output1
_contrib_div_sqrt_dim: data -> output; output -> data; data? -> output?
_contrib_edge_id: data? -> output
_contrib_getnnz: data -> output; data? -> output
_contrib_group_adagrad_update: weight -> grad, history, output; output -> weight, grad, history; weight? -> weight, output
_contrib_index_array: data -> output; data? -> output?
_contrib_index_copy: old_tensor -> index_vector?, new_tensor?, output; output -> old_tensor, index_vector?, new_tensor?; old_tensor? -> output?
_contrib_interleaved_matmul_encdec_qk: queries -> keys_values?, output?; output -> queries?, keys_values?; queries? -> output?
_contrib_interleaved_matmul_encdec_valatt: keys_values -> attention?, output?; output -> keys_values?, attention?; keys_values? -> output
_contrib_interleaved_matmul_selfatt_qk: queries_keys_values -> output; output -> queries_keys_values?; queries_keys_values? -> output?
_contrib_interleaved_matmul_selfatt_valatt: queries_keys_values -> attention, output; output -> queries_keys_values?, attention?; queries_keys_values? -> output?
_contrib_quantize: data -> min_range, max_range, output0, output1, output2; output0, output1, output2 -> data, min_range, max_range; data? -> output0?, output1, output2
_contrib_quantize_v2: data -> output0, output1, output2; output0, output1, output2 -> data; data? -> output0?, output1, output2
_contrib_requantize: data -> min_range, max_range, output0, output1, output2; output0, output1, output2 -> data, min_range, max_range; data? -> output0?, output1, output2
_eye: -> output
_full: -> output
_histogram: data -> output0, output1; data? -> output0, output1
_identity_with_attr_like_rhs: lhs -> rhs, output; output -> lhs, rhs; lhs? -> lhs, output
_image_normalize: data -> output; output -> data; data? -> output?
_image_to_tensor: data -> output; data? -> output?
_linalg_det: A -> output0, output1, output2; A? -> output0?, output1?, output2?
_linalg_extractdiag: A -> output; A? -> output?
_linalg_extracttrian: A -> output; A? -> output?
_linalg_gelqf: A -> output0, output1; output0, output1 -> A; A? -> output0?, output1?
_linalg_gemm2: A -> B?, output?; A? -> output?
_linalg_gemm: A -> B?, C?, output?; output -> C; A? -> output
_linalg_inverse: A -> output; output -> A; A? -> output?
_linalg_makediag: A -> output; A? -> output?
_linalg_maketrian: A -> output; A? -> output?
_linalg_potrf: A -> output; output -> A; A? -> output?
_linalg_potri: A -> output; output -> A; A? -> output?
_linalg_slogdet: A -> output0, output1, output2, output3; A? -> output0?, output1?, output2?, output3?
_linalg_sumlogdiag: A -> output; A? -> output
_linalg_syevd: A -> output0, output1; output0, output1 -> A; A? -> output0?, output1?
_linalg_syrk: A -> output; A? -> output?
_linalg_trmm: output -> B; A? -> output
_linalg_trsm: output -> B; A? -> output
_linspace: -> output
_mp_adamw_update: weight -> grad, mean, var, weight32, rescale_grad, output; output -> weight, grad, mean, var, weight32, rescale_grad; weight? -> weight, output
_np_cumsum: a -> output; a? -> output?
_ones: -> output
_random_exponential: -> output
_random_exponential_like: data -> output; output -> data; data? -> output?
_random_gamma: -> output
_random_gamma_like: data -> output; output -> data; data? -> output?
_random_generalized_negative_binomial: -> output
_random_generalized_negative_binomial_like: data -> output; output -> data; data? -> output?
_random_negative_binomial: -> output
_random_negative_binomial_like: data -> output; output -> data; data? -> output?
_random_normal: -> output
_random_normal_like: data -> output; output -> data; data? -> output?
_random_pdf_dirichlet: sample -> output; sample? -> output?
_random_pdf_exponential: sample -> output; sample? -> output?
_random_pdf_gamma: sample -> output; sample? -> output?
_random_pdf_generalized_negative_binomial: sample -> output; sample? -> output?
_random_pdf_negative_binomial: sample -> output; sample? -> output?
_random_pdf_normal: sample -> output; sample? -> output?
_random_pdf_poisson: sample -> output; sample? -> output?
_random_pdf_uniform: sample -> output; sample? -> output?
_random_poisson: -> output
_random_poisson_like: data -> output; output -> data; data? -> output?
_random_randint: -> output
_random_uniform: -> output
_random_uniform_like: data -> output; output -> data; data? -> output?
_ravel_multi_index: data -> output; data? -> output
_sample_exponential: lam -> output; output -> lam; lam? -> output?
_sample_gamma: alpha -> beta, output; output -> alpha, beta; alpha? -> alpha, output
_sample_generalized_negative_binomial: mu -> alpha, output; output -> mu, alpha; mu? -> mu, output
_sample_multinomial: data -> output, log_prob; data? -> output?, log_prob
_sample_negative_binomial: k -> p, output; output -> k, p; k? -> k, output
_sample_normal: mu -> sigma, output; output -> mu, sigma; mu? -> mu, output
_sample_poisson: lam -> output; output -> lam; lam? -> output?
_sample_uniform: low -> high, output; output -> low, high; low? -> low, output
_sample_unique_zipfian: -> output0, output1
_scatter_elemwise_div: lhs -> rhs, output; output -> lhs, rhs; lhs? -> lhs, output
_scatter_minus_scalar: data -> output; output -> data; data? -> output?
_scatter_plus_scalar: data -> output; output -> data; data? -> output?
_scatter_set_nd: lhs -> output; output -> lhs; lhs? -> lhs, output
_shuffle: data -> output; output -> data; data? -> output?
_slice_assign: lhs -> rhs, output; output -> lhs, rhs; lhs? -> output?
_slice_assign_scalar: data -> output; output -> data; data? -> output?
_sparse_adagrad_update: weight -> grad, history, output; output -> weight, grad, history; weight? -> weight, output
_sparse_retain: data -> output; output -> data; data? -> output?
_split_v2: data -> output0, output1, output2; data? -> output0?, output1?, output2?
_square_sum: data -> output; data? -> output
_unravel_index: data -> output; data? -> output?
_zeros: -> output
_zeros_without_dtype: -> output
adam_update: weight -> grad, mean, var, output; output -> weight, grad, mean, var; weight? -> weight, output
add_n: arg0 -> arg1, arg2, output; output -> arg0, arg1, arg2; arg0? -> arg0, output
all_finite: data -> output; data? -> output
amp_cast: data -> output; output -> data; data? -> output?
amp_multicast: data -> output0; output0, output1 -> data, data; data? -> output0?, output1
argmax: data -> output; data? -> output
argmax_channel: data -> output; data? -> output?
argmin: data -> output; data? -> output
argsort: data -> output; data? -> output?
batch_dot: lhs -> rhs?, output?; output -> lhs?, rhs?; lhs? -> lhs, output
batch_take: output -> indices; a? -> output
broadcast_axis: data -> output; data? -> output
broadcast_like: lhs? -> output
broadcast_to: data -> output; data? -> output
cast_storage: data -> output; output -> data; data? -> output?
col2im: data -> output; data? -> output?
depth_to_space: data -> output; data? -> output?
diag: data -> output; data? -> output?
dot: lhs? -> output?
expand_dims: data -> output; output -> data; data? -> output?
ftrl_update: weight -> grad, z, n, output; output -> weight, grad, z, n; weight? -> weight, output
gather_nd: data? -> output
im2col: data -> output; data? -> output?
khatri_rao: arg0 -> arg1?, output?; output -> arg0?, arg1?; arg0? -> output?
lamb_update_phase2: weight -> g, r1, r2, output; output -> weight, g, r1, r2; weight? -> weight, output
log_softmax: data -> output; output -> data; data? -> output?
max: data -> output; data? -> output
mean: data -> output; data? -> output
min: data -> output; data? -> output
moments: data -> mean, var; data? -> mean, var
mp_adam_update: weight -> grad, mean, var, weight32, output; output -> weight, grad, mean, var, weight32; weight? -> weight, output
mp_lamb_update_phase1: weight -> grad, mean, var, weight32, output; output -> weight, grad, mean, var, weight32; weight? -> weight, output
mp_lamb_update_phase2: weight -> g, r1, r2, weight32, output; output -> weight, g, r1, r2, weight32; weight? -> weight, output
mp_nag_mom_update: weight -> grad, mom, weight32, output; output -> weight, grad, mom, weight32; weight? -> weight, output
mp_sgd_mom_update: weight -> grad, mom, weight32, output; output -> weight, grad, mom, weight32; weight? -> weight, output
mp_sgd_update: weight -> grad, weight32, output; output -> weight, grad, weight32; weight? -> weight, output
multi_all_finite: array -> output; array? -> output
multi_sum_sq: arg0 -> output; arg0? -> output
nanprod: data -> output; data? -> output
nansum: data -> output; data? -> output
norm: data -> output; data? -> output
one_hot: indices -> output; output -> indices; indices? -> output?
ones_like: data -> output; output -> data; data? -> output?
pick: data -> index, output; data? -> output?
prod: data -> output; data? -> output
repeat: data -> output; data? -> output?
reshape_like: lhs? -> output
reverse: data -> output; output -> data; data? -> output?
scatter_nd: data -> output; data? -> data, output
sddmm: pattern -> output; output -> pattern; pattern? -> pattern, output
sgd_mom_update: weight -> grad, mom, output; output -> weight, grad, mom; weight? -> weight, output
sgd_update: weight -> grad, output; output -> weight, grad; weight? -> weight, output
shape_array: data -> output; data? -> output
size_array: data -> output; data? -> output
slice: data -> output; data? -> output?
slice_axis: data -> output; data? -> output?
slice_like: data? -> output
softmax: data -> output; output -> data; data? -> output?
softmax_cross_entropy: data -> label, output; output -> data?, label?; data? -> data, output
softmin: data -> output; output -> data; data? -> output?
sort: data -> output; data? -> output?
space_to_depth: data -> output; data? -> output?
squeeze: data -> output
stack: arg0 -> arg1, output; output -> arg0, arg1; arg0? -> arg0, output
stored_log_softmax: data -> output; output -> data; data? -> output?
stored_softmax: data -> output; output -> data; data? -> output?
sum: data -> output; data? -> output
take: a? -> output
tile: data -> output; data? -> output?
topk: data -> output, indices; data? -> output?, indices
transpose: data -> output; output -> data; data? -> output?
where: output -> x, y; condition? -> output
zeros_like: data -> output; output -> data; data? -> output?
)";

}  // namespace ops_test
