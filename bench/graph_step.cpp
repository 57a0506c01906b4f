// SPDX-License-Identifier: Apache-2.0
/// \file
/// One step of training, forward and backward without the update, as a bound graph and as eager calls of the same
/// operators on the same numbers; what both take in memory besides arguments, gradients and outputs. Bounds: the graph
/// nowhere slower than eager, and 1.2 times as fast for nets of small arrays where their kernels leave as much to win,
/// which is said beside it; the MLP, the LSTM and the sparse net faster than PyTorch, compiled by itself or not, and
/// than MXNet's executor (with --peers, which read the same symbols).
#include "graphs.hpp"
#include "measure.hpp"

#include <strop/strop.hpp>

#include <cstdlib>
#include <filesystem>

namespace {

using strop::NDArray;
using strop::Symbol;

/// A variable of a net. Those called data or label are inputs; the others are parameters, which get gradients.
struct Variable {
  std::string name;
  strop::Shape shape;
  strop::Storage storage = strop::dense, gradient = strop::dense;
  bool parameter() const { return !name.starts_with("data") && !name.starts_with("label"); }
};
using Variables = std::vector<Variable>;

/// The variables of a net in their order, for a function that writes the net down: of symbols and of arrays alike.
template <class X>
class Taken {
 public:
  explicit Taken(const std::vector<X>& all) : all_(all) {}
  const X& operator()() { return all_[next_++]; }
  /// x · wᵀ + b
  X linear(const X& x, int width) {
    const X &w = (*this)(), &b = (*this)();
    return strop::fully_connected(x, w, b, {.num_hidden = width});
  }

 private:
  const std::vector<X>& all_;
  std::size_t next_ = 0;
};

void add_linear(Variables& v, const std::string& name, std::int64_t in, std::int64_t out) {
  v.push_back({name + "_weight", {out, in}});
  v.push_back({name + "_bias", {out}});
}

struct Mlp {
  int batch, layers = 12;
  static int width(int layer) { return layer % 2 == 0 ? 1024 : 512; }
  Variables variables() const {
    Variables v{{"data", {batch, 784}}, {"label", {batch}}};
    for (int i = 0; i < layers; ++i) add_linear(v, strop::cat("fc", i), i == 0 ? 784 : width(i - 1), width(i));
    add_linear(v, "last", width(layers - 1), 10);
    return v;
  }
  template <class X>
  X operator()(Taken<X> next) const {
    X x = next();
    const X& label = next();
    for (int i = 0; i < layers; ++i) x = strop::relu(next.linear(x, width(i)));
    return strop::softmax_output(next.linear(x, 10), label);
  }
};

struct Lenet {
  int batch;
  Variables variables() const {
    Variables v{{"data", {batch, 1, 28, 28}},     {"label", {batch}},
                {"conv1_weight", {20, 1, 5, 5}},  {"conv1_bias", {20}},
                {"conv2_weight", {50, 20, 5, 5}}, {"conv2_bias", {50}}};
    add_linear(v, "fc1", 800, 500);
    add_linear(v, "fc2", 500, 10);
    return v;
  }
  template <class X>
  X operator()(Taken<X> next) const {
    const X &data = next(), &label = next();
    const auto stage = [&](const X& x, int filters) -> X {
      const X &weight = next(), &bias = next();
      return strop::pooling(strop::tanh(strop::convolution(x, weight, bias, {.kernel = {5, 5}, .num_filter = filters})),
                            {.kernel = {2, 2}, .stride = {2, 2}});
    };
    const X features = strop::flatten(stage(stage(data, 20), 50));
    return strop::softmax_output(next.linear(strop::tanh(next.linear(features, 500)), 10), label);
  }
};

/// A linear model of sparse features beside a perceptron of embedded categories.
struct WideAndDeep {
  static constexpr std::int64_t batch = 256, features = 100'000, stored = 30, fields = 8, width = 16;
  Variables variables() const {
    Variables v{{"data_wide", {batch, features}, strop::csr},
                {"data_fields", {batch, fields}},
                {"label", {batch, 1}},
                {"wide", {features, 1}, strop::dense, strop::row_sparse},
                {"embedding", {features, width}, strop::dense, strop::row_sparse}};
    add_linear(v, "fc1", fields * width, 64);
    add_linear(v, "fc2", 64, 32);
    add_linear(v, "fc3", 32, 1);
    return v;
  }
  template <class X>
  X operator()(Taken<X> next) const {
    const X &wide = next(), &ids = next(), &label = next(), &weight = next(), &table = next();
    const X found = strop::embedding(ids, table, {.input_dim = features, .output_dim = width, .sparse_grad = true});
    X deep = strop::reshape(found, {.shape = {batch, fields * width}});
    deep = strop::relu(next.linear(deep, 64));
    deep = strop::relu(next.linear(deep, 32));
    return strop::logistic_regression_output(strop::elemwise_add(next.linear(deep, 1), strop::dot(wide, weight)),
                                             label);
  }
};

/// An LSTM whose steps are all written down.
struct Lstm {
  int steps = 64, batch = 16, inputs = 32, hidden = 64;
  Variables variables() const {
    Variables v{
        {"data", {steps, batch, inputs}}, {"data_h", {batch, hidden}}, {"data_c", {batch, hidden}}, {"label", {batch}}};
    add_linear(v, "i2h", inputs, 4 * hidden);
    add_linear(v, "h2h", hidden, 4 * hidden);
    add_linear(v, "last", hidden, 10);
    return v;
  }
  template <class X>
  X operator()(Taken<X> next) const {
    const auto x = strop::split(next(), {.num_outputs = steps, .axis = 0, .squeeze_axis = true});
    X h = next(), c = next();
    const X &label = next(), &wx = next(), &bx = next(), &wh = next(), &bh = next();
    for (int t = 0; t < steps; ++t) {
      const X sums = strop::elemwise_add(strop::fully_connected(x[t], wx, bx, {.num_hidden = 4 * hidden}),
                                         strop::fully_connected(h, wh, bh, {.num_hidden = 4 * hidden}));
      const auto gates = strop::split(sums, {.num_outputs = 4, .axis = 1});
      c = strop::elemwise_add(strop::elemwise_mul(strop::sigmoid(gates[1]), c),
                              strop::elemwise_mul(strop::sigmoid(gates[0]), strop::tanh(gates[2])));
      h = strop::elemwise_mul(strop::sigmoid(gates[3]), strop::tanh(c));
    }
    return strop::softmax_output(next.linear(h, 10), label);
  }
};

/// Eight maps in a row.
struct Chain {
  std::int64_t size;
  Variables variables() const { return {{"x", {size}}}; }
  template <class X>
  X operator()(Taken<X> next) const {
    X x = next();
    for (int i = 0; i < 2; ++i) x = strop::relu(strop::negative(strop::square(strop::abs(x))));
    return x;
  }
};

/// Numbers between −0.05 and 0.05; labels and categories as far as the variable's net lets them go.
NDArray numbers(const Variable& v) {
  if (v.storage == strop::csr) {
    const std::int64_t rows = v.shape[0], stored = WideAndDeep::stored;
    const NDArray values = strop::ones({rows * stored}), columns({rows * stored}, strop::i32),
                  starts({rows + 1}, strop::i32);
    const std::int64_t apart = v.shape[1] / stored;
    for (std::int64_t k = 0; k < rows * stored; ++k)
      columns.pointer<std::int32_t>()[k] = static_cast<std::int32_t>(k % stored * apart + k * 7919 % apart);
    for (std::int64_t i = 0; i <= rows; ++i) starts.pointer<std::int32_t>()[i] = static_cast<std::int32_t>(i * stored);
    return strop::csr_matrix(values, columns, starts, v.shape);
  }
  if (v.name == "data_fields" || v.name.starts_with("label")) {
    const NDArray a(v.shape);
    const std::int64_t below = v.name == "data_fields" ? WideAndDeep::features : v.shape.ndim() == 2 ? 2 : 10;
    for (std::int64_t i = 0; i < a.size(); ++i) a.pointer<float>()[i] = static_cast<float>(i * 7919 % below);
    return a;
  }
  return strop::random::uniform(v.shape, -0.05, 0.05);
}

/// Nanoseconds of a node when a graph is replayed, apart from what it computes: of a map of one element.
double replay_of_a_node() {
  constexpr int nodes = 200;
  bench::Contest contest;
  contest.add([run = bench::chain_of_elements(nodes)]() mutable { run.forward(); });
  contest.run();
  return contest.best(0) / nodes;
}
/// It is the same of every network.
double replay() {
  static const double measured = replay_of_a_node();
  return measured;
}

template <class Net>
void row(const char* what, const Net& net) {
  if (!bench::wanted(what)) return;
  const Variables variables = net.variables();
  std::vector<Symbol> symbols;
  std::vector<NDArray> arrays;
  strop::NamedArrays args, grads;
  for (const Variable& v : variables) {
    symbols.push_back(strop::var(v.name, {.shape = v.shape, .storage = v.storage}));
    arrays.push_back(numbers(v));
    args.emplace_back(v.name, arrays.back());
    if (!v.parameter()) continue;
    arrays.back().attach_grad(strop::GradRequest::write, v.gradient);
    grads.emplace_back(v.name, strop::zeros(v.shape, v.gradient));
  }
  const Symbol symbol = net(Taken<Symbol>(symbols));
  auto run = symbol.bind(strop::cpu(), args, grads);
  NDArray head = strop::ones(symbol.infer_shape({}).outputs[0]);
  const auto graph = [&, run]() mutable {
    run.forward(true);
    run.backward(head);
    for (const auto& grad : run.grads()) grad.second.wait();
  };
  const auto eager = [&] {
    strop::record scope;
    net(Taken<NDArray>(arrays)).backward(head);
    for (const NDArray& a : arrays)
      if (a.grad().defined()) a.grad().wait();
  };
  if (bench::lines) {                                          // as many threads as the environment says
    if (const char* folder = std::getenv("STROP_BENCH_DATA"))  // for MXNet
      symbol.save((std::filesystem::path(folder) / strop::cat("graph_step ", what, ".json")).string());
    bench::Contest contest;
    contest.add(graph), contest.add(eager);
    contest.run(5e8, 2e5);
    bench::line(what, contest.best(0));
    return bench::line(strop::cat(what, ", eager"), contest.best(1));
  }
  eager();
  strop::memory::reset_peak(strop::cpu());
  const std::int64_t before = strop::memory::statistics(strop::cpu()).live_bytes;
  eager();
  const auto peak = static_cast<double>(strop::memory::statistics(strop::cpu()).peak_bytes - before);
  const strop::MemoryPlan plan = run.plan();
  const auto kib = [](auto bytes) { return static_cast<double>(bytes) / 1024; };
  std::printf("%-28s planned %10.1f KiB, bound %10.1f, unshared %10.1f, eager peak %10.1f\n", what, kib(plan.bytes()),
              kib(plan.bound()), kib(plan.unshared()), kib(peak));
  for (const int threads : {1, 2}) {
    strop::set_num_threads(threads);
    bench::Contest contest;
    contest.add(graph), contest.add(eager);
    contest.run(3e8, 2e5);
    std::printf("%-28s %d thread%s graph %9.1f us (median %.1f), eager %9.1f us (median %.1f): %.2fx\n", what, threads,
                threads == 1 ? ": " : "s:", contest.best(0) / 1e3, contest.median(0) / 1e3, contest.best(1) / 1e3,
                contest.median(1) / 1e3, contest.best(1) / contest.best(0));
    if (threads > 1) continue;
    const double kernels = contest.best(0) - plan.steps() * replay();
    if (kernels <= contest.best(0) / 4) continue;  // what is left is within what such a sum is off
    std::printf(
        "%-28s %d nodes at %.0f ns: a graph that cost nothing but its kernels would be %.2fx as fast as eager\n", "",
        plan.steps(), replay(), contest.best(1) / kernels);
  }
}

}  // namespace

int main(int argc, char** argv) {
  bench::start(argc, argv);
  row("MLP of 12 layers, batch 64", Mlp{64});
  row("MLP of 12 layers, batch 1", Mlp{1});
  row("LeNet, batch 32", Lenet{32});
  row("LeNet, batch 1", Lenet{1});
  row("wide and deep, batch 256", WideAndDeep{});
  row("LSTM of 64 steps, batch 16", Lstm{});
  row("8 maps of 2^12", Chain{1 << 12});
  row("8 maps of 2^22", Chain{1 << 22});
}
