// SPDX-License-Identifier: Apache-2.0
/// \file
/// The command `strop`: everything it knows of operators it asks the registry.
#include "command.hpp"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>

int main(int argc, char** argv) {
  CLI::App app{"strop: operators are plain structs", "strop"};
  app.require_subcommand(1);
  app.set_version_flag("--version", strop::command::version());
  int status = 0;

  bool json = false;
  CLI::App* ops = app.add_subcommand("ops", "List the operators");
  ops->add_flag("--json", json, "As JSON");
  ops->callback([&] { status = strop::command::list_operators(json); });

  std::string name;
  CLI::App* describe =
      app.add_subcommand("describe", "Signature, parameters, gradient, storages and documentation of an operator");
  describe->add_option("operator", name, "Its name or an alias")->required();
  describe->callback([&] { status = strop::command::describe(name); });

  std::string run_name;
  CLI::App* run = app.add_subcommand("run", "Run an operator: strop run OP x.npy … --param value -o y.npy");
  run->add_option("operator", run_name, "Its name or an alias")->required();
  run->allow_extras();
  run->prefix_command();
  run->callback([&] { status = strop::command::run(run_name, run->remaining()); });

  std::string check_name;
  CLI::App* check = app.add_subcommand("check", "Check operators against what their entries claim");
  check->add_option("operator", check_name, "One operator; all of them without it");
  check->callback([&] { status = strop::command::check(check_name); });

  std::string bench_name;
  CLI::App* bench = app.add_subcommand("bench", "Bytes a second of operators, beside a copy of the same run");
  bench->add_option("operator", bench_name, "One operator; all maps without it");
  bench->callback([&] { status = strop::command::bench(bench_name); });

  strop::command::TrainOptions options;
  CLI::App* train = app.add_subcommand("train", "Train the MLP 784-256-10 on Fashion-MNIST");
  train->add_option("--activation", options.activation, "Any unary operator of the registry")->capture_default_str();
  train->add_option("--epochs", options.epochs)->capture_default_str()->check(CLI::Range(1, 1000));
  train->add_option("--batch", options.batch)->capture_default_str()->check(CLI::Range(1, 10000));
  train->add_option("--rate", options.rate, "Learning rate")->capture_default_str();
  train->add_option("--momentum", options.momentum)->capture_default_str();
  train->add_option("--seed", options.seed)->capture_default_str();
  train->add_option("--data", options.data, "Folder with the four idx files (gzip or plain)")->capture_default_str();
  train->add_option("--plot", options.plot, "Where the picture of loss and accuracy goes (SVG)");
  train->callback([&] { status = strop::command::train(options); });

  std::string trace_path, trace_out, trace_title;
  CLI::App* trace = app.add_subcommand("trace", "What a trace of the engine says (STROP_TRACE=file.json)");
  trace->require_subcommand(1);
  CLI::App* summary = trace->add_subcommand("summary", "Time by operation and thread, the critical path, failures");
  summary->add_option("file", trace_path)->required();
  summary->callback([&] { status = strop::command::trace_summary(trace_path); });
  CLI::App* picture = trace->add_subcommand("picture", "Threads over time, as an SVG file");
  picture->add_option("file", trace_path)->required();
  picture->add_option("-o,--output", trace_out, "Where the picture goes")->required();
  picture->add_option("--title", trace_title);
  picture->callback([&] { status = strop::command::trace_picture(trace_path, trace_out, trace_title); });

  CLI::App* info = app.add_subcommand("info", "Version, processor, instruction set, threads, devices");
  info->callback([&] { status = strop::command::info(); });

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "strop: %s\n", error.what());
    return 1;
  }
  return status;
}
