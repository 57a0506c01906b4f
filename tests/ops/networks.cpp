// SPDX-License-Identifier: Apache-2.0
/// \file
/// Memory plans of the networks of examples/networks.hpp: sizes, which are the same on every machine.
#include "../../examples/networks.hpp"
#include "../../bench/graphs.hpp"

#include <strop/graph/mirror.hpp>

#include <doctest/doctest.h>

#include <cstdint>

using strop::MemoryPlan;

namespace {

/// What MXNet 1.9.1 plans for the same symbols is said in whole MiB, rounded down: bench/peers/mxnet_graph_plan.py.
struct Planned {
  const char* name;
  strop::Symbol net;
  std::int64_t batch, mxnet_predicts, mxnet_trains;
};

strop::NamedShapes images(std::int64_t batch) { return {{"data", {batch, 3, 224, 224}}}; }

}  // namespace

TEST_CASE("arenas of the networks are hardly larger than what is alive at once, and no larger than MXNet's") {
  const Planned all[] = {{"AlexNet", networks::alexnet(), 32, 36, 108},
                         {"VGG-16", networks::vgg16(), 8, 227, 606},
                         {"ResNet-50", networks::resnet50(), 8, 55, 725},
                         {"ResNet-152", networks::resnet152(), 8, 55, 1424}};
  for (const Planned& one : all)
    for (const bool training : {false, true}) {
      CAPTURE(one.name);
      CAPTURE(training);
      const MemoryPlan plan = strop::detail::dry_plan(one.net, images(one.batch), training);
      CHECK(plan.bound() > 0);
      CHECK(static_cast<double>(plan.bytes()) <= static_cast<double>(plan.bound()) * (training ? 1.10 : 1.05));
      CHECK(plan.bytes() < ((training ? one.mxnet_trains : one.mxnet_predicts) + 1) << 20);
    }
}

TEST_CASE("ResNet-152 trains in 0.35 of its arena where values are computed again, by 1.35 times the operations") {
  const strop::Symbol net = networks::resnet152();
  const strop::NamedShapes shapes = images(8);
  const std::int64_t plain = strop::mirror_within(net, shapes, INT64_MAX), aim = plain * 35 / 100;
  CHECK(strop::mirror_within(net, shapes, aim) <= aim);
  const MemoryPlan plan = strop::detail::dry_plan(net, shapes, true);
  CHECK(plan.bytes() <= aim);
  const double again = bench::operations(net, shapes, &plan), forward = bench::operations(net, shapes);
  CHECK(again > 0);
  CHECK(1 + again / (3 * forward) <= 1.35);  // backward takes twice forward's
}
