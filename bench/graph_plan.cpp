// SPDX-License-Identifier: Apache-2.0
/// \file
/// Plans of memory: the arena against what is alive at once (bound: 1.05 times for inference, 1.10 for training) and
/// against no sharing; the arena of training where values are computed again, against the plain one, and the operations
/// (bounds for ResNet-152: 0.35 and 1.35); how long planning and binding take, by node (bounds: 5 ms for 1,000 nodes;
/// as much for a node of 100,000 as for one of 1,000); replaying a bound graph of one-element maps, by node (bound:
/// 60 ns), node by node and as one operation of the engine; what a call of a traced function takes beyond its graph
/// (bound: 150 ns); a step of a function of maps with its gradient, traced and call by call. Beside each plan of
/// training the most that the same calls, made one by one and recorded, have alive at once. With --peers: bytes of
/// MXNet's plans of the same symbols, and the most that PyTorch has alive at once; parameters, their gradients and
/// inputs count nowhere.
#include "../examples/networks.hpp"
#include "graphs.hpp"
#include "measure.hpp"

#include <strop/graph/graph.hpp>
#include <strop/graph/placement.hpp>
#include <strop/strop.hpp>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

namespace {

using strop::detail::MemoryTask;

strop::Symbol mlp(int layers) {
  strop::Symbol x = strop::var("data");
  for (int i = 0; i < layers; ++i)
    x = strop::relu(strop::fully_connected(x, {.num_hidden = i % 2 == 0 ? 1024 : 512}, strop::cat("fc", i)));
  return strop::softmax_output(strop::fully_connected(x, {.num_hidden = 10}, "last"), {}, "softmax");
}

/// Every tenth layer adds what the tenth layer before has computed.
strop::Symbol residual(int layers) {
  const strop::Symbol scale = strop::var("scale", {.shape = {1}});
  strop::Symbol x = strop::var("data"), before = x;
  for (int i = 0; i < layers; ++i) {
    x = strop::tanh(strop::broadcast_mul(x, scale));
    if (i % 10 == 9) before = x = x + before;
  }
  return x;
}

/// Steps that read one or two of the last sixteen values and write one, of 64 bytes to 1 MiB.
MemoryTask synthetic(int steps) {
  std::uint64_t state = 1;
  const auto below = [&](int n) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    return static_cast<int>((state >> 33) % static_cast<std::uint64_t>(n));
  };
  MemoryTask task;
  for (int s = 0; s < steps; ++s) {
    MemoryTask::Step step;
    for (int i = 0; i < 2 && s > 0; ++i) step.reads.push_back(s - 1 - below(s < 16 ? s : 16));
    step.writes.push_back(s);
    if (s > 0 && below(2) == 0) step.shares.push_back({step.reads[0], s});
    task.bytes.push_back(std::int64_t{64} << below(15));
    task.steps.push_back(std::move(step));
  }
  return task;
}

double seconds(auto work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

void print(const char* what, const strop::MemoryPlan& plan) {
  if (!bench::wanted(what)) return;
  const auto mib = [](std::int64_t bytes) { return static_cast<double>(bytes) / (1 << 20); };
  const double arena = mib(plan.bytes()), bound = mib(plan.bound());
  if (bench::lines)
    bench::line(what, static_cast<double>(plan.bytes()));
  else
    std::printf("%-34s %8.2f MiB: %.3fx of what is alive at once (%.2f), unshared %8.2f, %d steps, %s\n", what, arena,
                arena / bound, bound, mib(plan.unshared()), plan.steps(), plan.strategy().c_str());
}

/// The most bytes alive at once where the nodes of a network are called one by one, recorded, and then backward: arrays
/// are dropped behind their last use, and the tape keeps what gradients need.
std::int64_t eager_peak(const strop::Symbol& net, const strop::NamedShapes& shapes) {
  const strop::detail::Graph graph(net.outputs());
  const auto found = net.infer_shape(shapes);
  const strop::detail::List<bool> states = graph.auxiliary();
  std::vector<strop::NDArray> values(static_cast<std::size_t>(graph.values()));
  std::vector<int> readers(values.size());
  const auto at = [&](const strop::detail::NodeOutput& from) { return static_cast<std::size_t>(graph.value(from)); };
  for (int n = 0; n < graph.size(); ++n) {
    const strop::detail::Node& node = graph.node(n);
    for (const strop::detail::NodeOutput& in : node.inputs)
      if (in.node) ++readers[at(in)];
    if (!node.is_variable()) continue;
    strop::NDArray& array = values[static_cast<std::size_t>(graph.value(n, 0))];
    array = strop::full(found[node.name], 0.01);
    if (!states[n] && shapes[0].first != node.name) array.attach_grad();
  }
  strop::NDArray out;
  strop::memory::reset_peak(strop::cpu());
  const std::int64_t before = strop::memory::statistics(strop::cpu()).live_bytes;
  {
    const strop::record scope;
    const strop::NDArray absent;
    for (int n = 0; n < graph.size(); ++n) {
      const strop::detail::Node& node = graph.node(n);
      if (node.is_variable()) continue;
      std::vector<const strop::NDArray*> inputs;
      for (const strop::detail::NodeOutput& in : node.inputs) inputs.push_back(in.node ? &values[at(in)] : &absent);
      strop::detail::dispatch(*node.entry, node.op(), inputs,
                              {&values[static_cast<std::size_t>(graph.value(n, 0))], node.outputs()});
      for (const strop::detail::NodeOutput& in : node.inputs)
        if (in.node && --readers[at(in)] == 0 && !in.node->is_variable()) values[at(in)] = {};
      for (int k = 0; k < node.outputs(); ++k)
        if (const auto v = static_cast<std::size_t>(graph.value(n, k)); readers[v] == 0 && n + 1 < graph.size())
          values[v] = {};
    }
    out = values[at(net.outputs()[0])];
    values[at(net.outputs()[0])] = {};
  }
  out.backward();
  strop::Engine::global().wait_all();
  return strop::memory::statistics(strop::cpu()).peak_bytes - before;
}

void row(const char* what, const strop::Symbol& net, const strop::Shape& data) {
  if (!bench::wanted(what)) return;
  if (const char* folder = std::getenv("STROP_BENCH_DATA"); bench::lines && folder != nullptr) {  // for MXNet
    const strop::Symbol shaped = net({{"data", strop::var("data", {.shape = data})}});
    shaped.save((std::filesystem::path(folder) / strop::cat("graph_plan ", what, ".json")).string());
  }
  for (const auto& [how, request] :
       {std::pair{"inference", strop::GradRequest::null}, {"training", strop::GradRequest::write}})
    print(strop::cat(what, ", ", how).c_str(), net.simple_bind(strop::cpu(), {{"data", data}}, request).plan());
  if (bench::lines) return;
  std::printf("%-34s %8.2f MiB alive at once\n", strop::cat(what, ", eager").c_str(),
              static_cast<double>(eager_peak(net, {{"data", data}})) / (1 << 20));
}

void mirror_row(const char* what, const strop::Symbol& net, const strop::Shape& data) {
  if (!bench::wanted(what)) return;
  const strop::NamedShapes shapes = {{"data", data}};
  const auto plain = static_cast<double>(strop::mirror_within(net, shapes, INT64_MAX));
  const double forward = bench::operations(net, shapes);
  for (const double share : {0.35, 0.0}) {
    const auto planned =
        static_cast<double>(strop::mirror_within(net, shapes, static_cast<std::int64_t>(share * plain)));
    const strop::MemoryPlan plan = net.simple_bind(strop::cpu(), shapes).plan();
    const double more = 1 + bench::operations(net, shapes, &plan) / (3 * forward);
    std::printf("%-34s %8.2f MiB: %.3fx of the plain arena, %.3fx the operations\n", what, planned / (1 << 20),
                planned / plain, more);
  }
}

}  // namespace

int main(int argc, char** argv) {
  bench::start(argc, argv);
  row("MLP of 12 layers, batch 128", mlp(12), {128, 784});
  row("AlexNet, batch 32", networks::alexnet(), {32, 3, 224, 224});
  row("VGG-16, batch 8", networks::vgg16(), {8, 3, 224, 224});
  row("ResNet-50, batch 8", networks::resnet50(), {8, 3, 224, 224});
  row("ResNet-152, batch 8", networks::resnet152(), {8, 3, 224, 224});
  if (bench::lines) return 0;  // peers are compared in bytes alone
  mirror_row("ResNet-50 computed again", networks::resnet50(), {8, 3, 224, 224});
  mirror_row("ResNet-152 computed again", networks::resnet152(), {8, 3, 224, 224});
  row("100 residual maps of 2^16", residual(100), {1 << 16});
  for (const int steps : {1'000, 10'000, 100'000}) {
    const std::string what = strop::cat("planning ", steps, " steps");
    if (!bench::wanted(what)) continue;
    const MemoryTask task = synthetic(steps);
    strop::detail::Placement placed;
    double best = 1e9;
    for (int i = 0; i < 5; ++i) best = std::min(best, seconds([&] { placed = place_values(task); }));
    std::printf("%-34s %8.2f ms  (%.3fx of what is alive at once)\n", what.c_str(), best * 1e3,
                static_cast<double>(placed.bytes) / static_cast<double>(placed.bound));
  }
  for (const int nodes : {1'000, 10'000, 100'000}) {
    const std::string what = strop::cat("binding ", nodes, " maps, with gradients");
    if (!bench::wanted(what)) continue;
    strop::Symbol chain = strop::var("data");
    for (int i = 0; i < nodes; ++i) chain = strop::tanh(chain);
    const auto x = strop::zeros({4}), dx = strop::zeros({4});
    const double time = seconds([&] { chain.bind(strop::cpu(), {{"data", x}}, {{"data", dx}}); });
    std::printf("%-34s %8.2f ms, %.0f ns a node\n", what.c_str(), time * 1e3, time * 1e9 / nodes);
  }
  for (const bool pushed : {false, true}) {
    const std::string what = pushed ? "replaying 200 maps by the engine" : "replaying 200 maps";
    if (!bench::wanted(what)) continue;
    constexpr int nodes = 200, times = 200;
    strop::Executor run = bench::chain_of_elements(nodes);
    strop::set_asynchronous(true, pushed ? 0 : strop::detail::large_call);
    double best = 1e9;
    for (int i = 0; i < 20; ++i)
      best = std::min(best, seconds([&] {
                        for (int k = 0; k < times; ++k) run.forward();
                        run.outputs()[0].wait();
                      }));
    strop::set_asynchronous(true);
    std::printf("%-34s %8.1f ns a node\n", what.c_str(), best * 1e9 / nodes / times);
  }
  if (const char* what = "a traced call beyond its graph"; bench::wanted(what)) {
    const strop::NDArray x = strop::ones({1});
    const auto traced = strop::trace_function([](const strop::NDArray& v) { return strop::sum(strop::square(v)); });
    const strop::Symbol v = strop::var("v");
    strop::Executor run = strop::sum(strop::square(v)).bind(strop::cpu(), {{"v", x}});
    traced(x);
    bench::Contest contest;
    contest.add([&] { traced(x); });
    contest.add([&] { run.forward(); });
    contest.run(1e8, 1e4);
    std::printf("%-34s %8.1f ns (%.1f and %.1f)\n", what, contest.best(0) - contest.best(1), contest.best(0),
                contest.best(1));
  }
  for (const std::int64_t n : {1, 4096, 1 << 20}) {
    const std::string what = strop::cat("12 maps of ", n, ", recorded and back");
    if (!bench::wanted(what)) continue;
    const strop::NDArray x = strop::random::uniform({n}, -1, 1), w = strop::random::uniform({n}, -1, 1);
    w.attach_grad();
    const auto function = [&](const strop::NDArray& v) {
      strop::NDArray y = v;
      for (int i = 0; i < 4; ++i) y = strop::tanh(y * w) + v;
      return strop::sum(y);
    };
    const auto traced = strop::trace_function(function);
    const auto step = [&](const auto& f) {
      {
        const strop::record scope;
        f(x).backward();
      }
      w.grad().wait();
    };
    step(traced);
    bench::Contest contest;
    contest.add([&] { step(function); });
    contest.add([&] { step(traced); });
    contest.run(1e8, 1e4);
    std::printf("%-34s %8.2f us traced, %.2f call by call: %.2fx\n", what.c_str(), contest.best(1) / 1e3,
                contest.best(0) / 1e3, contest.best(0) / contest.best(1));
  }
}
