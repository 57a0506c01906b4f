// SPDX-License-Identifier: Apache-2.0
// Networks as symbols: how many parameters they have, and what their layers give for one image.
#include "networks.hpp"

/// How many elements the arguments have that are learned: all but the data and the labels.
static std::int64_t parameters(const strop::Symbol& net, const strop::Shape& image) {
  const auto shapes = net.infer_shape({{"data", image}});
  std::int64_t count = 0;
  for (const std::string& name : net.list_arguments())
    if (name != "data" && name != "softmax_label") count += shapes[name].size();
  return count;
}

int main() {
  const strop::Shape image{1, 3, 224, 224};
  fmt::print("{}\n", parameters(networks::lenet(), {1, 1, 28, 28}));
  // expect: 431080
  fmt::print("{}\n", parameters(networks::alexnet(), image));
  // expect: 61100840
  fmt::print("{}\n", parameters(networks::vgg16(), image));
  // expect: 138357544
  fmt::print("{}\n", parameters(networks::resnet50(), image));
  // expect: 25557032
  const auto deep = networks::resnet152();
  fmt::print("{}\n", parameters(deep, image));
  // expect: 60192808

  const auto layers = deep.get_internals();
  const auto shapes = layers.infer_shape({{"data", image}});
  for (const char* layer : {"stem_bn_output", "stage1_unit3_output", "stage4_unit3_output", "pool_output"})
    fmt::print("{} ", shapes[layer]);
  fmt::print("{}\n", deep.infer_shape({{"data", image}}).outputs[0]);
  // expect: (1, 64, 112, 112) (1, 256, 56, 56) (1, 2048, 7, 7) (1, 2048, 1, 1) (1, 1000)
  fmt::print("{} {}\n", deep.list_arguments().size(), deep.list_auxiliary_states().size());
  // expect: 469 310

  // Scores of an image of noise: a graph of its own, bound to new arrays.
  auto run = networks::lenet().simple_bind(strop::cpu(), {{"data", {1, 1, 28, 28}}}, strop::GradRequest::null);
  strop::random::seed(1);
  fmt::print("{:.1f}\n",
             strop::sum(run.forward(false, {{"data", strop::random::uniform({1, 1, 28, 28})}})[0]).item<float>());
  // expect: 1.0
}
