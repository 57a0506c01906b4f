// SPDX-License-Identifier: Apache-2.0
/// \file
/// One step of training the demo's network, 784-256-10 with swish and cross entropy: forward, backward, SGD with
/// momentum, on examples that stay in memory. Its floor is the matrix products alone. Bounds: 1.5 times as fast as
/// PyTorch at batch 128, 2.5 times at batch 1 (with --peers).
#include "measure.hpp"

#include <strop/strop.hpp>

#include <cmath>

namespace {

using strop::NDArray;

struct Swish {
  float beta = 1;
  constexpr auto forward(auto x) const { return x * sigmoid(beta * x); }
};
constexpr strop::Op<Swish> swish;

struct Layer {
  NDArray weight, bias, weight_momentum, bias_momentum;
  Layer(std::int64_t out, std::int64_t in)
      : weight(strop::random::normal({out, in}, 0, std::sqrt(2.0 / static_cast<double>(in)))),
        bias(strop::zeros({out})),
        weight_momentum(strop::zeros({out, in})),
        bias_momentum(strop::zeros({out})) {
    weight.attach_grad();
    bias.attach_grad();
  }
  NDArray operator()(const NDArray& x) const {
    return strop::fully_connected(x, weight, bias, {.num_hidden = static_cast<int>(weight.shape()[0])});
  }
  void update(float rescale) const {
    const strop::SgdMomUpdate how{.lr = 0.05f, .momentum = 0.9f, .rescale_grad = rescale};
    strop::sgd_mom_update(weight, weight.grad(), weight_momentum, how, strop::into(weight));
    strop::sgd_mom_update(bias, bias.grad(), bias_momentum, how, strop::into(bias));
  }
};

void row(std::int64_t batch) {
  const Layer hidden(256, 784), output(10, 256);
  const NDArray x = strop::random::uniform({batch, 784}, 0, 1), labels = strop::zeros({batch});
  for (std::int64_t i = 0; i < batch; ++i) labels.pointer<float>()[i] = static_cast<float>(i % 10);
  const NDArray h = strop::zeros({batch, 256}), w = strop::zeros({256, 784}), y = strop::zeros({batch, 10}),
                v = strop::zeros({10, 256});
  bench::Contest contest;
  const auto step = [&] {
    NDArray probabilities;
    {
      strop::record scope;
      probabilities = strop::softmax_output(output(swish(hidden(x))), labels);
    }
    probabilities.backward();
    hidden.update(1.0f / static_cast<float>(batch));
    output.update(1.0f / static_cast<float>(batch));
    strop::Engine::global().wait_all();
  };
  const auto products = [&] {
    strop::dot(x, hidden.weight, {.transpose_b = true}, strop::into(h));
    strop::dot(h, output.weight, {.transpose_b = true}, strop::into(y));
    strop::dot(y, h, {.transpose_a = true}, strop::into(v));
    strop::dot(y, output.weight, strop::Dot{}, strop::into(h));
    strop::dot(h, x, {.transpose_a = true}, strop::into(w)).wait();
  };
  const std::string what = "batch " + std::to_string(batch);
  if (bench::lines) {  // as many threads as the environment says
    contest.add(step);
    contest.run(3e8, 2e5);
    return bench::line(what, contest.best(0));
  }
  for (const int threads : {1, 2}) {
    contest.add([&, threads] {
      strop::set_num_threads(threads);
      step();
    });
    contest.add([&, threads] {
      strop::set_num_threads(threads);
      products();
    });
  }
  const int handed = contest.add([&] {
    strop::set_num_threads(2);
    strop::set_asynchronous(true, 0);
    step();
    strop::set_asynchronous(true);
  });
  contest.run(3e8, 2e5);
  for (const int threads : {1, 2}) {
    const int k = 2 * (threads - 1);
    std::printf("%-10s %d thread%s %9.1f us (median %.1f), its products alone %9.1f us, the step over them %.2f\n",
                what.c_str(), threads, threads == 1 ? ": " : "s:", contest.best(k) / 1e3, contest.median(k) / 1e3,
                contest.best(k + 1) / 1e3, contest.best(k) / contest.best(k + 1));
  }
  std::printf("%-10s 2 threads, all calls enqueued: %9.1f us (median %.1f), over the step %.2f\n", what.c_str(),
              contest.best(handed) / 1e3, contest.median(handed) / 1e3, contest.best(handed) / contest.best(2));
}

}  // namespace

int main(int argc, char** argv) {
  bench::start(argc, argv);
  if (!bench::lines) std::puts("784-256-10, swish, SGD with momentum; best of many short rounds taken in turn");
  row(128);
  row(1);
}
