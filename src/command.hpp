// SPDX-License-Identifier: Apache-2.0
/// \file
/// What the subcommands do. Each returns the exit code, 0 or 1 for a failure that was said, or throws: WrongCall for a
/// call that cannot be meant (exit code 2), anything else for a failure (exit code 1).
#pragma once
#include <strop/core/error.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace strop::command {

/// The whole command line, said to be `name`'s; `more` adds subcommands, which set the exit code. Gives that.
int run_line(int argc, char** argv, const std::string& name, void (*more)(CLI::App& app, int& status));

/// What this command is called, for sentences that name it.
inline std::string program_name = "strop";
inline const std::string& program() { return program_name; }

class WrongCall : public Error {
 public:
  using Error::Error;
};

struct TrainOptions {
  std::string net = "mlp", mode = "eager", activation = "relu", data = "/usr/share/datasets/fashion-mnist", plot;
  std::string kvstore, checkpoint;  // the type of store that trains; what the names of checkpoints begin with
  bool progress = false, resume = false;
  int epochs = 10, batch = 128, parts = 1, checkpoint_every = 1;
  double rate = 0.1, momentum = 0.9;
  std::uint64_t seed = 1;
};

std::string version();
int list_operators(bool json);
int describe(const std::string& name);
/// `words`: files, `--parameter value` pairs and `-o file`, as they stand on the command line. The results are the
/// visible outputs, then the inputs that the operator wrote.
int run(const std::string& name, const std::vector<std::string>& words);
int check(const std::string& name);
/// `words`: `--parameter value` pairs, in place of those of the operator's row.
int bench(const std::string& name, const std::vector<std::string>& words);
int train(const TrainOptions& options);
/// What `strop info` tells of.
enum class Question { program, products, convolutions, kernels };
int info(Question what);
struct GraphOptions {
  std::string file, svg, plan;
  bool predict = false;             // the plan is that of prediction alone
  std::vector<std::string> shapes;  // "data=1,3,224,224"
};
/// What a symbol file says, as a table; where `svg` is given as a picture, where `plan` is given with the plan of its
/// memory as one.
int graph(const GraphOptions& options);
struct ConvertOptions {
  std::string from, to, dtype = "float32";
  std::int64_t features = 0, labels = 1;
  bool one_based = false;
};
/// LibSVM text as a file of arrays (data, label, qid), and back, by the names' endings.
int convert(const ConvertOptions& options);
/// Adds `data`: the iterators of the registry, which it lists, describes, shows the first batches of and times.
void add_data(CLI::App& app, int& status);
/// Adds `pack`: a folder or a list of pictures as a file of records.
void add_pack(CLI::App& app, int& status);
/// What a file that STROP_TRACE or strop::Trace wrote says, as a table and as a picture.
int trace_summary(const std::string& path);
int trace_picture(const std::string& path, const std::string& out, const std::string& title);

}  // namespace strop::command
