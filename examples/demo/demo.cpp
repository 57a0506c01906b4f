// SPDX-License-Identifier: Apache-2.0
/// \file
/// The tour of `./run demo`: an operator that the library lacks is defined here, checked, looked at, used on arrays,
/// sparse arrays and in a graph, and trains a real network as its activation; then a larger one trains as a graph.
#include "../../src/command.hpp"

#include <strop/strop.hpp>

#include <cstdio>
#include <cstdlib>

/// swish(x) = x · sigmoid(beta · x)
struct Swish {
  float beta = 1;
  constexpr auto forward(auto x) const { return x * sigmoid(beta * x); }
};
inline constexpr strop::Op<Swish> swish;

static_assert(strop::UnaryOp<Swish>);
static_assert(strop::check::value(Swish{}, 0.0) == 0.0);
static_assert(strop::check::gradient(Swish{}, 0.0) == 0.5);               // derived from forward
static_assert(strop::check::storage(Swish{}, strop::csr) == strop::csr);  // swish(0) == 0
static_assert(strop::check::keeps(Swish{}) == strop::Keeps::in);

static void step(int number, const char* what) { std::printf("\n-- %d. %s\n", number, what); }

int main(int argc, char** argv) {
  step(1, "An operator that the library lacks, in six lines");
  std::puts(
      "struct Swish {\n"
      "  float beta = 1;\n"
      "  constexpr auto forward(auto x) const { return x * sigmoid(beta * x); }\n"
      "};\n"
      "inline constexpr strop::Op<Swish> swish;\n"
      "static_assert(strop::check::gradient(Swish{}, 0.0) == 0.5);   // the compiler has checked this");

  step(2, "What follows from it: strop describe swish");
  strop::command::describe("swish");

  step(3, "On arrays, its gradient, and the gradient against finite differences");
  auto x = strop::array({-2, -1, 0, 1, 2});
  fmt::print("swish({}) = {}\n", x, swish(x));
  x.attach_grad();
  {
    strop::record scope;
    strop::sum(swish(x)).backward();
  }
  fmt::print("gradient = {}\n{}\n", x.grad(), strop::check_gradient(swish, {x}, {.beta = 2}));

  step(4, "On a sparse matrix: swish(0) is 0, so CSR stays CSR");
  auto sparse = strop::csr_matrix({1, -3}, {2, 0}, {0, 1, 1, 2}, {3, 4});
  fmt::print("{} -> {}\n", sparse, swish(sparse));

  step(5, "The same name builds a graph");
  auto net = swish(strop::var("data"), {.beta = 2});
  auto run = net.bind(strop::cpu(), {{"data", x}});
  fmt::print("arguments {}, output {}\n", net.list_arguments()[0], run.forward()[0]);

  step(6, "As the activation of 784-256-10 on Fashion-MNIST");
  strop::command::TrainOptions options;
  options.activation = "swish";
  options.plot = argc > 1 ? argv[1] : "demo.svg";
  if (argc > 2) options.epochs = std::atoi(argv[2]);
  try {
    if (const int status = strop::command::train(options); status != 0) return status;

    step(7, "As the activation of LeNet, as a graph that is bound once");
    strop::command::TrainOptions lenet;
    lenet.net = "lenet";
    lenet.mode = "graph";
    lenet.activation = "swish";
    lenet.rate = 0.05;
    lenet.epochs = argc > 3 ? std::atoi(argv[3]) : 1;
    return strop::command::train(lenet);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
