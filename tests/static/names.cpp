// SPDX-License-Identifier: Apache-2.0
/// \file
/// Names that follow from the names of types. Compiling is passing.
#include <strop/core/reflect.hpp>

namespace {

struct Pair {
  std::string_view type, name;
};
constexpr Pair pairs[] = {
    {"LeakyReLU", "leaky_relu"},
    {"ReLU", "relu"},
    {"ReLU6", "relu6"},
    {"MyReLULayer", "my_relu_layer"},
    {"FullyConnected", "fully_connected"},
    {"RNN", "rnn"},
    {"LRN", "lrn"},
    {"SVMOutput", "svm_output"},
    {"ROIPooling", "roi_pooling"},
    {"CTCLoss", "ctc_loss"},
    {"MAERegressionOutput", "mae_regression_output"},
    {"IdentityAttachKLSparseReg", "identity_attach_kl_sparse_reg"},
    {"L2Normalization", "l2_normalization"},
    {"UpSampling", "up_sampling"},
    {"SwapAxis", "swap_axis"},
    {"BatchNorm_v1", "batch_norm_v1"},
    {"_contrib_BilinearResize2D", "_contrib_bilinear_resize2d"},
    {"Conv2DTranspose", "conv2d_transpose"},
    {"_contrib_MultiBoxPrior", "_contrib_multi_box_prior"},
    {"elemwise_add", "elemwise_add"},
    {"_Equal", "_equal"},
    {"Quadratic", "quadratic"},
    {"MyOP", "my_op"},
    {"ReLoad", "re_load"},
};
static_assert([] {
  for (const Pair& pair : pairs)
    if (std::string_view(strop::detail::snake_case(pair.type)) != pair.name) return false;
  return true;
}());

}  // namespace
