// SPDX-License-Identifier: Apache-2.0
/// \file
/// libtorch's C++ in the cases of bench/dispatch.cpp, each as it is fastest: in inference mode where nothing is
/// recorded.
#include "../measure.hpp"

#include <torch/torch.h>

int main(int argc, char** argv) {
  bench::start(argc, argv);
  const auto x = torch::full({1}, 1.0f), y = torch::full({1}, 2.0f);
  auto out = torch::zeros({1});
  const auto v = torch::full({1}, 1.0f, torch::requires_grad()), w = torch::full({1}, 2.0f, torch::requires_grad());
  bench::Contest contest;
  {
    const c10::InferenceMode fast;
    contest.add([&] { torch::add(x, 2.0f); });
    contest.add([&] { torch::mul(x, y); });
    contest.add([&] { torch::mul_out(out, x, y); });
    contest.run(6e7);
  }
  bench::Contest taped;
  taped.add([&] { torch::mul(v, w); });
  taped.add([&] { torch::mul(v, w).sum().backward(); });
  taped.run(6e7);
  bench::line("one input", contest.best(0));
  bench::line("two inputs", contest.best(1));
  bench::line("into an array", contest.best(2));
  bench::line("recorded", taped.best(0));
  bench::line("multiply + sum + backward", taped.best(1));
}
