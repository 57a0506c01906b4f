// SPDX-License-Identifier: Apache-2.0
/// \file
/// The command `strop`: what every command of operators has, and `train`.
#include "command.hpp"

#include <strop/core/printable.hpp>
#include <strop/core/text.hpp>

#include <CLI/CLI.hpp>
#include <string>

namespace {

void add_train(CLI::App& app, int& status) {
  static strop::command::TrainOptions options;
  static std::string seed = "1";
  CLI::App* train = app.add_subcommand("train", "Train an MLP (784-256-10) or LeNet on Fashion-MNIST");
  train->add_option("--net", options.net, "mlp or lenet")->capture_default_str();
  train
      ->add_option("--mode", options.mode,
                   "eager: call by call; graph: as one bound graph; both: the two, one after the other")
      ->capture_default_str();
  train->add_option("--activation", options.activation, "Any unary operator of the registry")->capture_default_str();
  train->add_option("--epochs", options.epochs)->capture_default_str()->check(CLI::Range(1, 1000));
  train->add_option("--batch", options.batch)->capture_default_str()->check(CLI::Range(1, 10000));
  train->add_option("--rate", options.rate, "Learning rate")->capture_default_str();
  train->add_option("--momentum", options.momentum)->capture_default_str();
  train->add_option("--seed", seed)->capture_default_str();
  train->add_option("--data", options.data, "Folder with the four idx files (gzip or plain)")->capture_default_str();
  train->add_option("--plot", options.plot, "Where the picture of loss and accuracy goes (SVG)");
  train->add_option("--kvstore", options.kvstore,
                    "Store that trains: local, device, dist_sync, dist_async; under mpirun dist_sync");
  train
      ->add_option(
          "--parts", options.parts,
          "Parts of each batch whose gradients are added up, as of so many workers: the same bits in one process")
      ->capture_default_str()
      ->check(CLI::Range(1, 10000));
  train->add_flag("--progress", options.progress, "A line every five seconds; it names a worker for whom others wait");
  train->add_option("--checkpoint", options.checkpoint, "Prefix of the files that --resume goes on from");
  train->add_option("--checkpoint-every", options.checkpoint_every, "Epochs between two of them")
      ->capture_default_str()
      ->check(CLI::Range(1, 1000));
  train->add_flag("--resume", options.resume, "Go on from the newest checkpoint, if there is one");
  train->callback([&status] {
    if (!strop::detail::parse_integer(seed, options.seed))
      throw strop::command::WrongCall(strop::cat("train: --seed is '", strop::detail::printable(seed, 100),
                                                 "', expected a whole number of 64 bits, 0 or more"));
    status = strop::command::train(options);
  });
}

}  // namespace

int main(int argc, char** argv) { return strop::command::run_line(argc, argv, "strop", &add_train); }
