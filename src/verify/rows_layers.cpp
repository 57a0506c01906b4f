// SPDX-License-Identifier: Apache-2.0
/// \file
/// Rows of layers, losses, optimizer updates, constants and random numbers.
#include "library.hpp"

namespace strop::inline v0::verify {
namespace {

void add_update_rows(std::vector<Row>& rows) {
  const Sample weight{{7, 9}}, state{{7, 9}, 1.1, 1.9};
  const auto add = [&](const std::string& op, const std::string& params, int states) {
    std::vector<Sample> in{weight, {{7, 9}, -0.9, 0.9}};
    for (int i = 0; i < states; ++i) in.push_back(state);
    rows.push_back({op, params, in, {.gradient = false, .sparse = false, .loose = 4, .updates = true}});
  };
  add("sgd_update", "lr=0.1", 0);
  add("ftrl_update", "lr=0.1; wd=0.01; clip_gradient=0.5", 2);
  add("nag_mom_update", "lr=0.1; momentum=0.9; wd=0.01; clip_gradient=0.5", 1);
  add("rmsprop_update", "lr=0.1; wd=0.01; clip_gradient=0.5; clip_weights=0.7", 1);
  for (const std::string lazy : {"", "; lazy_update=False"}) {
    add("sgd_update", "lr=0.1; wd=0.01; rescale_grad=2; clip_gradient=0.5" + lazy, 0);
    add("sgd_mom_update", "lr=0.1; momentum=0.9; wd=0.01; clip_gradient=0.5" + lazy, 1);
    add("adam_update", "lr=0.1; wd=0.01; clip_gradient=0.5" + lazy, 2);
    add("mp_sgd_update", "lr=0.1; wd=0.01; rescale_grad=2; clip_gradient=0.5" + lazy, 1);
    add("mp_sgd_mom_update", "lr=0.1; momentum=0.9; wd=0.01; clip_gradient=0.5" + lazy, 2);
    add("mp_adam_update", "lr=0.1; wd=0.01; clip_gradient=0.5" + lazy, 3);
  }
  add("mp_nag_mom_update", "lr=0.1; momentum=0.9; wd=0.01; clip_gradient=0.5", 2);
  // Rows of more than one dimension.
  const Sample rows_of_nine{{7, 3, 3}}, states_of_nine{{7, 3, 3}, 1.1, 1.9};
  const std::vector<Sample> of_rank_three{rows_of_nine, {{7, 3, 3}, -0.9, 0.9}, states_of_nine, states_of_nine};
  for (const std::size_t states : {0U, 1U, 2U})
    rows.push_back({states == 0   ? "sgd_update"
                    : states == 1 ? "sgd_mom_update"
                                  : "adam_update",
                    "lr=0.1; wd=0.01; clip_gradient=0.5",
                    {of_rank_three.begin(), of_rank_three.begin() + 2 + static_cast<std::ptrdiff_t>(states)},
                    {.gradient = false, .sparse = false, .loose = 4, .updates = true}});
  for (const std::string mixed : {"", "mp_"}) {
    const int more = mixed.empty() ? 0 : 1;
    for (const std::string correction : {"", "; bias_correction=False"})
      add(mixed + "lamb_update_phase1", "t=3; wd=0.01; clip_gradient=0.5" + correction, 2 + more);
    const Sample number{{1}}, grad{{7, 9}, -0.9, 0.9};
    std::vector<Sample> phase2{weight, grad, number, number}, adamw{weight, grad, state, state, number};
    if (more == 1) phase2.push_back(state), adamw.insert(adamw.end() - 1, state);
    // In mixed precision g is float32 beside a half weight, which the check of updates does not make.
    const Parts parts{.gradient = false, .sparse = false, .same_shape = false, .loose = 4, .updates = more == 0},
        updates{.gradient = false, .sparse = false, .same_shape = false, .loose = 4, .updates = true};
    rows.push_back({mixed + "lamb_update_phase2", "lr=0.1; upper_bound=0.5", phase2, parts});
    rows.push_back({'_' + mixed + "adamw_update", "lr=0.1; eta=0.5; wd=0.01; clip_gradient=0.5", adamw, updates});
  }
  rows.push_back({"multi_lars",
                  "eta=0.5; eps=0.001; rescale_grad=2",
                  {state, state, state, weight},
                  {.gradient = false, .sparse = false, .loose = 4}});
  const Parts of_all{.gradient = false, .sparse = false, .same_shape = false, .loose = 4};
  rows.push_back({"all_finite", "", {weight}, of_all});
  rows.push_back({"multi_all_finite", "num_arrays=2", {weight, {{3}}}, of_all});
  rows.push_back({"multi_sum_sq", "num_arrays=2", {weight, {{3}}}, of_all});
  // n − g² stays above 0.
  rows.push_back({"rmspropalex_update",
                  "lr=0.1; wd=0.01; clip_gradient=0.5",
                  {weight, {{7, 9}, -0.9, 0.9}, state, {{7, 9}}, state},
                  {.gradient = false, .sparse = false, .loose = 8}});
  add("ftml_update", "lr=0.1; t=3; wd=0.01; clip_grad=0.5", 3);
  add("signsgd_update", "lr=0.1; wd=0.01", 0);
  add("signum_update", "lr=0.1; momentum=0.9; wd=0.01; wd_lh=0.01", 1);
  rows.push_back({"_sparse_adagrad_update",
                  "lr=0.1; clip_gradient=0.5",
                  {weight, stored({7, 9}, row_sparse), state},
                  {.gradient = false, .sparse = false, .same_shape = false, .loose = 4, .updates = true}});
  rows.push_back({"_contrib_group_adagrad_update",
                  "lr=0.1; clip_gradient=0.5; rescale_grad=2",
                  {weight, stored({7, 9}, row_sparse), {{7, 1}, 1.1, 1.9}},
                  {.gradient = false, .sparse = false, .same_shape = false, .loose = 4, .updates = true}});
}

void add_constant_rows(std::vector<Row>& rows) {
  const auto add = [&](const std::string& op, const std::string& params, std::vector<Sample> in, bool random) {
    rows.push_back({op, params, std::move(in), {.dtypes = !random, .same_shape = false}, random});
  };
  for (const std::string op : {"_zeros", "_ones"}) {
    add(op, "shape=(3, 4)", {}, false);
    add(op, "shape=(0, 4); dtype=int64", {}, false);
  }
  add("_zeros_without_dtype", "shape=(3, 4)", {}, false);
  add("_full", "shape=(3, 4); value=2.5", {}, false);
  add("_full", "shape=(2,); value=7; dtype=uint8", {}, false);
  add("_arange", "start=2; stop=9; step=1.5; repeat=2", {}, false);
  add("_arange", "start=5; dtype=int32", {}, false);
  add("_eye", "N=3; M=5; k=1", {}, false);
  add("_eye", "N=4; k=-2; dtype=float64", {}, false);
  add("_linspace", "start=1; stop=2; num=5", {}, false);
  add("_linspace", "start=1; stop=2; num=5; endpoint=False", {}, false);
  add("zeros_like", "", {{{3, 4}}}, false);
  add("ones_like", "", {{{3, 4}}}, false);
  add("_contrib_arange_like", "start=3; step=2; repeat=2", {{{3, 4}}}, false);
  add("_contrib_arange_like", "axis=-1", {{{3, 4}}}, false);
  for (const std::string type : {"shape=(3, 4)", "shape=(3, 4); dtype=float64", "shape=(0,); dtype=float16"})
    for (const std::string op :
         {"_random_uniform", "_random_normal", "_random_exponential", "_random_gamma", "_random_poisson",
          "_random_negative_binomial", "_random_generalized_negative_binomial"})
      add(op, type, {}, true);
  add("_random_negative_binomial", "k=3; p=0.4; shape=(3, 4)", {}, true);
  add("_random_randint", "low=-3; high=9; shape=(3, 4)", {}, true);
  add("_random_randint", "low=0; high=5; shape=(3, 4); dtype=int64", {}, true);
  for (const std::string op :
       {"_random_uniform_like", "_random_normal_like", "_random_exponential_like", "_random_gamma_like",
        "_random_poisson_like", "_random_negative_binomial_like", "_random_generalized_negative_binomial_like"})
    rows.push_back(
        {op, "", {{{3, 4}}}, {.dtypes = false, .sparse = false, .same_shape = false}, true, sparse_elsewhere});
  // Numbers that suit parameters of whichever type; differences see how what is drawn moves with them.
  const Sample low = listed({2, 3}, {1, 2.5, 3, 1, 2, 3}), high = listed({2, 3}, {4, 5.5, 6, 4, 5, 6});
  const auto add_sampled = [&](const std::string& op, std::vector<Sample> in) {
    for (const std::string params : {"", "shape=(4,)", "shape=(2, 2); dtype=float64"})
      rows.push_back(
          {op, params, in, {.gradient = false, .dtypes = false, .sparse = false, .same_shape = false}, true});
  };
  for (const std::string op :
       {"_sample_uniform", "_sample_normal", "_sample_gamma", "_sample_generalized_negative_binomial"})
    add_sampled(op, {low, high});
  add_sampled("_sample_negative_binomial", {high, {{2, 3}}});
  for (const std::string op : {"_sample_exponential", "_sample_poisson"}) add_sampled(op, {low});
  for (const std::string params : {"shape=(3,)", "", "shape=(2,); get_prob=True; dtype=int64"})
    rows.push_back({"_sample_multinomial",
                    params,
                    {{{3, 4}}},
                    {.dtypes = false, .sparse = false, .same_shape = false},
                    true,
                    gradient_elsewhere});
  rows.push_back({"_shuffle", "", {{{5, 3}}}, {.gradient = false, .same_shape = false}, true});
}

void add_image_rows(std::vector<Row>& rows) {
  const Parts layer{.same_shape = false, .loose = 16};
  const Sample line{{2, 3, 9}, -2, 2.1}, image{{2, 4, 5, 6}, -2, 2.1}, body{{2, 2, 4, 3, 4}, -2, 2.1};
  rows.push_back({"Convolution", "kernel=(3,); num_filter=2", {line, {{2, 3, 3}}, {{2}}}, layer});
  rows.push_back({"Convolution",
                  "kernel=(3, 2); stride=(2, 1); dilate=(1, 2); pad=(1, 2); num_filter=6; num_group=2; no_bias=True",
                  {image, {{6, 2, 3, 2}}},
                  layer});
  rows.push_back({"Convolution", "kernel=(1, 1); num_filter=3", {image, {{3, 4, 1, 1}}, {{3}}}, layer});
  rows.push_back(
      {"Convolution", "kernel=(2, 3, 2); pad=(0, 1, 1); num_filter=2", {body, {{2, 2, 2, 3, 2}}, {{2}}}, layer});
  for (const std::string type : {"max", "avg", "sum"}) {
    const std::string pooled = "pool_type=" + type + "; kernel=(2, 3); stride=(2, 2); pad=(1, 0)";
    rows.push_back({"_backward_Pooling_tangent", pooled, {image, image}, layer});
    rows.push_back({"_backward_Pooling_again", pooled, {{{2, 4, 3, 2}}, image}, layer});
  }
  const std::string strided = "kernel=(2,); stride=(2,); pad=(1,); num_filter=4; num_group=2";
  const Sample lines{{2, 2, 5}}, filters{{4, 1, 2}};
  rows.push_back({"_backward_Convolution_again", strided, {{{2, 4, 3}}, lines, filters}, layer});
  rows.push_back({"_backward_Convolution_sum", strided, {lines, filters, lines, filters, {{4}}}, layer});
  rows.push_back({"_backward_Convolution_sum", strided + "; no_bias=True", {lines, filters, lines, filters}, layer});
  for (const std::string op : {"max", "avg", "sum", "lp; p_value=2", "lp; p_value=3"}) {
    const std::string type = "pool_type=" + op;
    // sums of cubes stay away from 0
    const Sample one = op.ends_with('3') ? Sample{{2, 3, 9}} : line,
                 two = op.ends_with('3') ? Sample{{2, 4, 5, 6}} : image;
    rows.push_back({"Pooling", type + "; kernel=(3,); stride=(2,); pad=(1,)", {one}, layer});
    rows.push_back({"Pooling", type + "; kernel=(2, 3); stride=(2, 2); pooling_convention=full", {two}, layer});
    rows.push_back({"Pooling", type + "; global_pool=True; layout=NHWC", {two}, layer});
  }
  rows.push_back({"Pooling", "kernel=(2, 2, 3); pad=(1, 0, 1)", {body}, layer});
  rows.push_back({"Deconvolution", "kernel=(3,); num_filter=2", {{{2, 3, 5}}, {{3, 2, 3}}}, layer});
  rows.push_back({"Deconvolution",
                  "kernel=(2, 3); stride=(2, 1); pad=(1, 0); adj=(1, 0); num_filter=4; num_group=2; no_bias=False",
                  {{{2, 2, 3, 2}}, {{2, 2, 2, 3}}, {{4}}},
                  layer});
  rows.push_back({"Deconvolution",
                  "kernel=(2, 2, 2); dilate=(1, 2, 1); target_shape=(2, 3, 3); num_filter=1",
                  {{{1, 2, 2, 3, 3}}, {{2, 1, 2, 2, 2}}},
                  layer});
  const std::string wide = "kernel=(2, 3); stride=(1, 2); dilate=(2, 1)", narrow = "kernel=(3,); stride=(2,); pad=(1,)";
  rows.push_back({"im2col", narrow, {{{2, 3, 5}}}, layer});
  rows.push_back({"im2col", wide, {{{2, 2, 4, 5}}}, layer});
  rows.push_back({"im2col", "kernel=(2, 2, 1)", {{{1, 2, 2, 3, 3}}}, layer});
  rows.push_back({"col2im", narrow + "; output_size=(5,)", {{{2, 6, 3}}}, layer});
  rows.push_back({"col2im", wide + "; output_size=(4, 5)", {{{2, 12, 4}}}, layer});
  const Sample small{{2, 3, 2, 3}};
  rows.push_back({"Crop", "h_w=(1, 2); offset=(1, 1)", {small}, layer});
  rows.push_back({"Crop", "num_args=2; center_crop=True", {{{2, 3, 4, 5}}, small}, layer});
  rows.push_back({"UpSampling", "scale=3; sample_type=nearest", {small}, layer});
  rows.push_back({"UpSampling", "scale=2; sample_type=nearest", {small, {{2, 1, 4, 1}}}, layer});
  rows.push_back({"UpSampling", "scale=2; sample_type=nearest; multi_input_mode=sum", {small, {{2, 3, 1, 6}}}, layer});
  rows.push_back({"UpSampling", "scale=2; num_filter=3; sample_type=bilinear", {small, {{3, 1, 4, 4}}}, layer});
  for (const std::string nsize : {"nsize=1", "nsize=3; alpha=0.5"}) rows.push_back({"LRN", nsize, {small}, layer});
  rows.push_back({"Pooling", "pool_type=avg; kernel=(2, 2); pad=(1, 1); count_include_pad=False", {image}, layer});
  rows.push_back({"Pooling", "kernel=(3, 3); stride=(2, 2); pooling_convention=same", {image}, layer});
}

}  // namespace

void add_layer_rows(std::vector<Row>& rows) {
  const Parts layer{.same_shape = false, .loose = 8}, loss{.gradient = false, .loose = 4};
  const Sample rowsum{{4, 6}, -2, 2.1}, image{{2, 3, 2, 2}, -2, 2.1};
  rows.push_back({"FullyConnected", "num_hidden=3", {{{4, 6}}, {{3, 6}}, {{3}}}, layer});
  rows.push_back({"FullyConnected", "num_hidden=3; no_bias=True; flatten=False", {{{2, 4, 6}}, {{3, 6}}}, layer});
  rows.push_back({"FullyConnected", "num_hidden=3", {{{2, 3, 2}}, {{3, 6}}, {{3}}}, layer});
  rows.push_back({"_backward_FullyConnected_again", "num_hidden=3", {{{4, 3}}, {{4, 2, 3}}, {{3, 6}}}, layer});
  const std::vector<Sample> layers{{{2, 4}}, {{3, 4}}, {{2, 4}}, {{3, 4}}, {{3}}};
  rows.push_back({"_backward_FullyConnected_sum", "num_hidden=3; flatten=False", layers, layer});
  rows.push_back(
      {"_backward_FullyConnected_sum", "num_hidden=3; no_bias=True", {layers.begin(), layers.begin() + 4}, layer});
  for (const std::string op : {"softmax", "log_softmax", "softmin"}) {
    rows.push_back({op, "", {rowsum}, layer});
    rows.push_back({op, "axis=0; temperature=2.5", {rowsum}, layer});
    rows.push_back({op, "axis=1", {image}, layer});
    rows.push_back({op, "use_length=True", {rowsum, listed({4}, {3.5, 1.5, 6.5, 0.5})}, layer});
    rows.push_back({op, "", {{{3, 0}}}, layer});
  }
  rows.push_back({"softmax", "dtype=float64", {rowsum}, {.dtypes = false, .same_shape = false, .loose = 8}});
  rows.push_back({"softmax_cross_entropy", "", {rowsum, listed({4}, {2.5, 0.5, 5.5, 3.5})}, layer});
  rows.push_back({"SoftmaxOutput",
                  "",
                  {rowsum, listed({4}, {2, 0, 5, 3})},
                  {.gradient = false, .same_shape = false, .loose = 4},
                  false,
                  gradient_elsewhere});
  for (const std::string op : {"LinearRegressionOutput", "MAERegressionOutput", "LogisticRegressionOutput"})
    rows.push_back({op, "", {rowsum, rowsum}, loss, false, gradient_elsewhere});
  rows.push_back({"MakeLoss", "", {rowsum}, loss, false, gradient_elsewhere});
  for (const std::string act : {"act_type=leaky; slope=0.1", "act_type=elu", "act_type=selu", "act_type=gelu"})
    rows.push_back({"LeakyReLU", act, {rowsum}, layer});
  rows.push_back({"LeakyReLU", "act_type=rrelu", {rowsum}, layer, true});
  rows.push_back({"LeakyReLU", "act_type=prelu", {image, {{3}}}, layer});
  rows.push_back({"LeakyReLU", "act_type=prelu", {rowsum, {{1}}}, layer});
  for (const Shape& slopes : {Shape{1, 3}, Shape{2, 1}, Shape{2, 3}})
    rows.push_back({"LeakyReLU", "act_type=prelu", {image, {slopes}}, layer});
  rows.push_back({"Dropout", "p=0.4", {rowsum}, layer, true});
  rows.push_back({"Dropout", "p=0.4; mode=always; axes=(1,)", {image}, layer, true});
  const Sample channels{{3}}, positive{{3}, 0.5, 1.4};
  const std::vector<Sample> batch{image, channels, channels, channels, positive};
  rows.push_back({"BatchNorm", "fix_gamma=False", batch, layer});
  rows.push_back({"BatchNorm", "", batch, layer});
  rows.push_back({"_contrib_SyncBatchNorm", "key=bn; fix_gamma=False", batch, layer});
  rows.push_back({"BatchNorm", "fix_gamma=False; use_global_stats=True; output_mean_var=True", batch, layer});
  rows.push_back({"BatchNorm",
                  "axis=-1; eps=0.01",
                  {{{4, 3}, -2, 2.1}, channels, channels, channels, positive},
                  {.sparse = false, .same_shape = false, .loose = 8}});
  rows.push_back({"LayerNorm", "", {rowsum, {{6}}, {{6}}}, layer});
  rows.push_back({"GroupNorm", "", {{{2, 3, 4}, -2, 2.1}, {{1}}, {{1}}}, layer});
  rows.push_back({"GroupNorm", "num_groups=2; eps=0.01", {{{2, 4, 3, 2}, -2, 2.1}, {{2}}, {{2}}}, layer});
  rows.push_back({"InstanceNorm", "", {image, channels, channels}, layer});
  for (const std::string mode : {"instance", "channel", "spatial"}) {
    rows.push_back({"L2Normalization", "mode=" + mode, {image}, layer});
    if (mode != "spatial") rows.push_back({"SoftmaxActivation", "mode=" + mode, {image}, layer});
  }
  rows.push_back({"SVMOutput",
                  "margin=0.5",
                  {rowsum, listed({4}, {2, 0, 5, 3})},
                  {.gradient = false, .same_shape = false, .loose = 4},
                  false,
                  gradient_elsewhere});
  rows.push_back({"LayerNorm", "axis=1; eps=0.01", {image, channels, channels}, layer});
  add_image_rows(rows);
  add_update_rows(rows);
  add_constant_rows(rows);
}

}  // namespace strop::inline v0::verify
