// SPDX-License-Identifier: Apache-2.0
/// \file
/// The command line of `strop`, and of commands that programs make of their own operators: everything it knows of
/// operators it asks the registry.
#include "command.hpp"

#include <fcntl.h>
#include <unistd.h>
#include <strop/core/environment.hpp>
#include <strop/core/output.hpp>
#include <strop/core/printable.hpp>
#include <strop/core/text.hpp>
#include <strop/library/load.hpp>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <new>
#include <string>
#include <string_view>
#include <vector>

namespace {

/// A standard stream that is closed would give its number, and what is printed, to the next file that is opened. Output
/// to what takes its place here fails, as it would have.
void open_standard_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (::fcntl(stream, F_GETFD) == -1 && errno == EBADF) ::open("/dev/null", O_RDONLY);
}

/// Ctrl-C and its like leave no unfinished file beside the one that was asked for, and end the process as they would
/// have. What started it may have had them ignored.
extern "C" void stopped(int number) {
  strop::detail::remove_temporaries();
  std::signal(number, SIG_DFL);
  std::raise(number);
}
void clear_away_when_stopped() {
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGXFSZ})
    if (std::signal(number, stopped) == SIG_IGN) std::signal(number, SIG_IGN);
}

/// The exit code, once all that was printed has arrived.
int printed(int status) {
  errno = 0;
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return status;
  std::fprintf(stderr, "%s: cannot write to standard output%s%s\n", strop::command::program().c_str(),
               errno != 0 ? ": " : "", errno != 0 ? std::strerror(errno) : "");
  return status != 0 ? status : 1;
}

int failed(std::string_view why, int status) {
  if (why.starts_with("strop: ")) why.remove_prefix(7);
  std::fprintf(stderr, "%s: %s\n", strop::command::program().c_str(), strop::detail::printable(why, 2000).c_str());
  return printed(status);
}

/// What is wrong with the words, and which subcommand's they are.
std::string sentence_of(const CLI::ParseError& error, const CLI::App& app) {
  const CLI::App* at = &app;
  std::string path = app.get_name(), where;
  while (!at->get_subcommands().empty()) {
    at = at->get_subcommands().front();
    path += ' ' + at->get_name();
    where += at->get_name() + ": ";
  }
  std::string what = error.what();
  if (!what.empty() && what[0] >= 'A' && what[0] <= 'Z') what[0] = static_cast<char>(what[0] - 'A' + 'a');
  return where + what + "; see " + path + " --help";
}

/// Where the word after `--load FILE` and its like stands.
int after_libraries(int argc, char** argv) {
  int at = 1;
  while (at < argc && std::string_view(argv[at]).starts_with("--load"))
    at += std::string_view(argv[at]) == "--load" ? 2 : 1;
  return std::min(at, argc);
}

/// Refuses the word where a subcommand of `app` is expected and there is none of that name.
void check_subcommand(const CLI::App& app, int count, char** words) {
  if (count == 0 || words[0][0] == '-') return;
  std::vector<std::string> names;
  for (const CLI::App* known : app.get_subcommands([](const CLI::App*) { return true; }))
    names.push_back(known->get_name());
  if (std::find(names.begin(), names.end(), words[0]) != names.end()) return;
  const std::vector<std::string_view> views(names.begin(), names.end());
  throw strop::command::WrongCall(strop::cat("no subcommand '", strop::detail::printable(words[0], 100),
                                             app.get_parent() == nullptr ? "'" : "' of ",
                                             app.get_parent() == nullptr ? "" : app.get_name(),
                                             "; nearest: ", strop::detail::list_nearest(words[0], views, 3)));
}

}  // namespace

int strop::command::run_line(int argc, char** argv, const std::string& name_of_all,
                             void (*more)(CLI::App& app, int& status)) {
  open_standard_streams();
  clear_away_when_stopped();
  program_name = name_of_all;
  CLI::App app{name_of_all + ": operators are plain structs", name_of_all};
  app.require_subcommand(1);
  app.set_version_flag("--version", strop::command::version());
  std::vector<std::string> libraries;
  app.add_option("--load", libraries, "A shared library whose operators join those that are here; may be repeated")
      ->type_name("FILE")
      ->allow_extra_args(false);
  app.parse_complete_callback([&] {
    for (const std::string& path : libraries) load_library(path);
  });
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
  CLI::App* run =
      app.add_subcommand("run", cat("Run an operator: ", program(), " run OP x.npy … --param value -o y.npy"));
  run->footer(cat(
      "After the operator: files of one array each, --PARAMETER VALUE or --PARAMETER=VALUE, -o FILE or --output=FILE.\n"
      "The results are the visible outputs, then the inputs that the operator writes, such as the momentum of\n"
      "sgd_mom_update. Without -o they are printed. y.npz and y.params hold all of them by name, sparse ones as they\n"
      "are. y.npy holds the first, in its dense form, y.1.npy the second, and so on; a dense form and a written input\n"
      "are said on standard error. ",
      program(), " describe OP has the parameters."));
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
  bench->footer(
      cat("After the operator: --PARAMETER VALUE or --PARAMETER=VALUE. Inputs and other parameters are those that\n"
          "`",
          program(),
          " check` uses first, scaled to a million elements where the operator takes them; the bytes are those of\n"
          "inputs and outputs."));
  bench->add_option("operator", bench_name, "One operator; all of them without it");
  bench->allow_extras();
  bench->prefix_command();
  bench->callback([&] { status = strop::command::bench(bench_name, bench->remaining()); });

  if (more != nullptr) more(app, status);

  GraphOptions net;
  CLI::App* graph = app.add_subcommand("graph", "What a symbol file says: nodes, shapes, parameters, bytes");
  graph->footer(
      "A parameter is an argument that no operator takes as data or label and that --shape does not name; it is "
      "counted\n"
      "where it is read first. Bytes are those of results.");
  graph->add_option("file", net.file, "A symbol as JSON")->required();
  graph->add_option("--shape", net.shapes, "Of an argument: data=1,3,224,224; may be repeated")
      ->allow_extra_args(false);
  graph->add_option("--svg", net.svg, "Where the picture goes");
  graph->add_option("--plan", net.plan, "Where a picture of its memory goes, time across and bytes up");
  graph->add_flag("--predict", net.predict, "The memory of prediction, without gradients");
  graph->callback([&] { status = strop::command::graph(net); });

  ConvertOptions conversion;
  CLI::App* convert =
      app.add_subcommand("convert", cat("LibSVM text as arrays, and back: ", program(), " convert a.libsvm b.npz"));
  convert->footer(
      "a.npz and a.params hold the arrays data (csr), label and, where lines have one, qid; a file of another ending "
      "is\n"
      "LibSVM text, and a folder all that it holds. Options are of the text that is read or written.");
  convert->add_option("from", conversion.from, "What is read")->required();
  convert->add_option("to", conversion.to, "What is written")->required();
  convert->add_option("--features", conversion.features, "Columns; as many as the largest index asks for without it");
  convert->add_option("--labels", conversion.labels, "Labels of a line, separated by commas")->capture_default_str();
  convert->add_option("--dtype", conversion.dtype, "Of the arrays")->capture_default_str();
  convert->add_flag("--one-based", conversion.one_based, "The first column's index in the text is 1, not 0");
  convert->callback([&] { status = strop::command::convert(conversion); });

  add_data(app, status);
  add_pack(app, status);

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
  bool products = false, convolutions = false, kernels = false;
  info->add_flag("--products", products, "How matrix products are computed, by shape, instead");
  info->add_flag("--convolutions", convolutions,
                 "How convolutions and their gradients are computed, by shape, instead");
  info->add_flag("--kernels", kernels, "By what the kernels of sparse work are chosen, instead");
  info->callback([&] {
    using strop::command::Question;
    status = strop::command::info(products       ? Question::products
                                  : convolutions ? Question::convolutions
                                  : kernels      ? Question::kernels
                                                 : Question::program);
  });

  try {
    strop::detail::check_environment();
  } catch (const strop::Error& error) {
    return failed(error.what(), 2);
  }
  try {
    const int first = after_libraries(argc, argv);
    check_subcommand(app, argc - first, argv + first);
    for (const CLI::App* parent : {trace, app.get_subcommand("data")})
      if (argc > first && argv[first] == parent->get_name())
        check_subcommand(*parent, argc - first - 1, argv + first + 1);
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return printed(app.exit(error));  // --help, --version
    return failed(sentence_of(error, app), 2);
  } catch (const strop::command::WrongCall& error) {
    return failed(error.what(), 2);
  } catch (const std::bad_alloc&) {
    return failed("memory ran out", 1);
  } catch (const std::exception& error) {
    return failed(error.what(), 1);
  }
  return printed(status);
}

namespace line = strop::command;

// Declared by strop/command.hpp, for programs that know nothing of the namespace of that name.
namespace strop::inline v0 {

int command(int argc, char** argv) {
  const std::string_view path = argc > 0 ? argv[0] : "";
  return line::run_line(argc, argv, std::string(path.substr(path.rfind('/') + 1)), nullptr);
}

}  // namespace strop::inline v0
