// SPDX-License-Identifier: Apache-2.0
/// \file
/// Networks for images as symbols: LeNet, AlexNet, VGG-16, ResNet-50 and ResNet-152. Each takes the batch `data`
/// (examples, channels, height, width) and ends in the loss head `softmax`, whose labels are `softmax_label`.
#pragma once
#include <strop/strop.hpp>

#include <string>

namespace networks {

using strop::Symbol;

/// The softmax of a linear layer with an output for each class.
inline Symbol classifier(const Symbol& features, int classes) {
  const Symbol scores = strop::fully_connected(features, {.num_hidden = classes}, "fc");
  return strop::softmax_output(scores, {}, "softmax");
}

/// A convolution with a square kernel.
inline Symbol convolve(const Symbol& x, const std::string& name, int filters, int kernel, int stride = 1, int pad = 0,
                       bool bias = true) {
  return strop::convolution(x,
                            {.kernel = {kernel, kernel},
                             .stride = {stride, stride},
                             .pad = {pad, pad},
                             .num_filter = filters,
                             .no_bias = !bias},
                            name);
}

/// The maxima of square windows.
inline Symbol pool(const Symbol& x, int kernel, int stride, int pad = 0) {
  return strop::pooling(x, {.kernel = {kernel, kernel}, .stride = {stride, stride}, .pad = {pad, pad}});
}

/// Two convolutions and two linear layers: LeCun et al., 1998, with maxima. 431,080 parameters for images of 28 × 28
/// and one channel.
inline Symbol lenet(int classes = 10) {
  Symbol x = strop::var("data");
  x = pool(strop::tanh(convolve(x, "conv1", 20, 5)), 2, 2);
  x = pool(strop::tanh(convolve(x, "conv2", 50, 5)), 2, 2);
  x = strop::tanh(strop::fully_connected(x, {.num_hidden = 500}, "fc1"));
  return classifier(x, classes);
}

/// Krizhevsky, 2014 (one tower, without normalisation of responses). 61,100,840 parameters for 3 × 224 × 224.
inline Symbol alexnet(int classes = 1000) {
  Symbol x = strop::var("data");
  x = pool(strop::relu(convolve(x, "conv1", 64, 11, 4, 2)), 3, 2);
  x = pool(strop::relu(convolve(x, "conv2", 192, 5, 1, 2)), 3, 2);
  x = strop::relu(convolve(x, "conv3", 384, 3, 1, 1));
  x = strop::relu(convolve(x, "conv4", 256, 3, 1, 1));
  x = pool(strop::relu(convolve(x, "conv5", 256, 3, 1, 1)), 3, 2);
  x = strop::relu(strop::fully_connected(strop::dropout(x), {.num_hidden = 4096}, "fc6"));
  x = strop::relu(strop::fully_connected(strop::dropout(x), {.num_hidden = 4096}, "fc7"));
  return classifier(x, classes);
}

/// Simonyan and Zisserman, 2014, configuration D. 138,357,544 parameters for 3 × 224 × 224.
inline Symbol vgg16(int classes = 1000) {
  Symbol x = strop::var("data");
  constexpr int layers[] = {2, 2, 3, 3, 3}, filters[] = {64, 128, 256, 512, 512};
  for (int block = 0; block < 5; ++block) {
    for (int i = 1; i <= layers[block]; ++i)
      x = strop::relu(
          convolve(x, "conv" + std::to_string(block + 1) + '_' + std::to_string(i), filters[block], 3, 1, 1));
    x = pool(x, 2, 2);
  }
  x = strop::dropout(strop::relu(strop::fully_connected(x, {.num_hidden = 4096}, "fc6")));
  x = strop::dropout(strop::relu(strop::fully_connected(x, {.num_hidden = 4096}, "fc7")));
  return classifier(x, classes);
}

/// A convolution without bias, and the normalisation of what it gives.
inline Symbol normalised(const Symbol& x, const std::string& name, int filters, int kernel, int stride = 1,
                         int pad = 0) {
  return strop::batch_norm(convolve(x, name + "_conv", filters, kernel, stride, pad, false),
                           {.eps = 1e-5, .fix_gamma = false}, name + "_bn");
}

/// He et al., 2015, with bottlenecks: four stages of so many units. The stride of a stage stands in its first 3 × 3
/// convolution.
inline Symbol resnet(int first, int second, int third, int fourth, int classes) {
  Symbol x = pool(strop::relu(normalised(strop::var("data"), "stem", 64, 7, 2, 3)), 3, 2, 1);
  int stage = 0;
  for (const int units : {first, second, third, fourth}) {
    const int width = 64 << stage++;
    for (int unit = 1; unit <= units; ++unit) {
      const std::string name = "stage" + std::to_string(stage) + "_unit" + std::to_string(unit);
      const int stride = unit == 1 && stage > 1 ? 2 : 1;
      Symbol y = strop::relu(normalised(x, name + "_a", width, 1));
      y = strop::relu(normalised(y, name + "_b", width, 3, stride, 1));
      y = normalised(y, name + "_c", 4 * width, 1);
      const Symbol past = unit == 1 ? normalised(x, name + "_past", 4 * width, 1, stride) : x;
      x = strop::relu(strop::elemwise_add(y, past), {}, name);
    }
  }
  x = strop::pooling(x, {.pool_type = strop::Pooling::avg, .global_pool = true}, "pool");
  return classifier(x, classes);
}

/// 25,557,032 parameters for 3 × 224 × 224.
inline Symbol resnet50(int classes = 1000) { return resnet(3, 4, 6, 3, classes); }
/// 60,192,808 parameters for 3 × 224 × 224.
inline Symbol resnet152(int classes = 1000) { return resnet(3, 8, 36, 3, classes); }

}  // namespace networks
