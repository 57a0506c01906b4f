// SPDX-License-Identifier: Apache-2.0
/// \file
/// How processes share the training of one network, and how it goes on after an interruption.
#include "train_workers.hpp"

#include <strop/strop.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <utility>

namespace strop::command {
namespace {

/// What mpirun, or srun with PMIx, tells the processes that it starts.
bool is_started_by_mpi() {
  return std::getenv("OMPI_COMM_WORLD_SIZE") != nullptr || std::getenv("PMIX_RANK") != nullptr;
}

std::string type_of(const TrainOptions& options) {
  if (!options.kvstore.empty()) return options.kvstore;
  if (is_started_by_mpi()) return "dist_sync";
  return options.parts > 1 || !options.checkpoint.empty() ? "local" : "";
}

std::int64_t now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

NDArray array_of(const std::vector<double>& values, std::int64_t count) {
  NDArray made = zeros({count}, f64);
  std::copy(values.begin(), values.end(), made.pointer<double>());
  return made;
}

}  // namespace

Workers::Workers(const TrainOptions& options)
    : type_(type_of(options)),
      sums_(KVStore::create(type_.find("dist") != std::string::npos ? "dist_sync" : "local")),
      rank_(sums_.rank()),
      count_(sums_.num_workers()),
      parts_(options.parts),
      apart_(type_.find("async") != std::string::npos) {
  if (!are_several()) return;
  if (apart_ && parts_ > 1)
    throw WrongCall(cat("train: --parts is ", parts_, ", and workers of ", type_, " take whole batches"));
  if (!apart_ && parts_ > 1 && parts_ != count_)
    throw WrongCall(cat("train: --parts is ", parts_, ", expected one for each of the ", count_, " workers"));
  if (!apart_) parts_ = count_;
  if (options.batch % parts_ != 0)
    throw WrongCall(cat("train: --batch is ", options.batch, ", expected a multiple of the ", parts_, " workers"));
}

NDArray Workers::sum(const std::string& name, const std::vector<NDArray>& own) {
  if (known_.insert(name).second) sums_.init(name, zeros(own[0].shape(), own[0].dtype()));
  sums_.push(name, {own});
  NDArray made = zeros(own[0].shape(), own[0].dtype());
  sums_.pull(name, made);
  return made;
}

NDArray Workers::of_first(const std::string& name, const NDArray& own) {
  NDArray made = zeros(own.shape(), own.dtype());
  sums_.broadcast(name, own, made);
  return made;
}

SharedWeights::SharedWeights(const Workers& workers, const TrainOptions& options, Network& network,
                             std::int64_t batches)
    : workers_(workers),
      network_(network),
      store_(KVStore::create(workers.type())),
      gradients_(network.parameters().size()),
      asked_(now()) {
  for (std::size_t k = 0; k < gradients_.size(); ++k) store_.init(k, network.parameters()[k]);
  const auto rate = [options, batches](std::int64_t update) {
    return rate_of(options, static_cast<int>(std::min<std::int64_t>((update - 1) / batches, options.epochs - 1)));
  };
  pull();  // what worker 0 has
  store_.set_optimizer(optim::Sgd{.learning_rate = options.rate,
                                  .momentum = options.momentum,
                                  .rescale_grad = 1.0 / options.batch,
                                  .lr_scheduler = rate});
}

void SharedWeights::add_part() {
  for (std::size_t k = 0; k < gradients_.size(); ++k) {
    const NDArray gradient = network_.parameters()[k].grad();
    gradients_[k].push_back(workers_.own_parts() == 1 ? gradient : gradient.copy());
  }
}

void SharedWeights::step() {
  for (std::size_t k = gradients_.size(); k-- > 0;) {  // those of the last layer are there first
    store_.push(k, {gradients_[k]}, static_cast<int>(k));
    gradients_[k].clear();
  }
  pull();
}

void SharedWeights::settle() {
  if (!workers_.are_several()) return;
  store_.barrier();
  pull();
  for (const NDArray& value : network_.parameters()) value.wait();
}

void SharedWeights::pull() {
  for (std::size_t k = 0; k < gradients_.size(); ++k) store_.pull(k, network_.parameters()[k]);
}

std::string SharedWeights::exchanged() const {
  const KVStore::Statistics all = store_.statistics();
  char text[160];
  std::snprintf(text, sizeof text, "worker %d sent %.1f MB and received %.1f MB in %.1f s, of which it waited %.1f s",
                workers_.rank(), static_cast<double>(all.sent) / 1e6, static_cast<double>(all.received) / 1e6,
                all.exchanging, all.waiting[static_cast<std::size_t>(workers_.rank())]);
  return text;
}

std::string SharedWeights::slowest() {
  const std::int64_t before = std::exchange(asked_, now());
  const double seconds = static_cast<double>(asked_ - before) * 1e-9;
  const std::vector<double> all = store_.statistics().waiting;
  waited_.resize(all.size());
  std::vector<double> since(all.size());
  for (std::size_t k = 0; k < all.size(); ++k) since[k] = all[k] - std::exchange(waited_[k], all[k]);
  const auto least = std::min_element(since.begin(), since.end());
  const double most = *std::max_element(since.begin(), since.end()) - *least;
  if (!(most > 0.2 * seconds)) return {};
  return cat("worker ", least - since.begin(), " is slow: others wait for it ",
             std::min(100.0, std::round(100 * most / seconds)), " % of the time");
}

Checkpoints::Checkpoints(const TrainOptions& options, std::int64_t images)
    : options_(options),
      run_(cat("net ", options.net, ", activation ", options.activation, ", batch ", options.batch, ", epochs ",
               options.epochs, ", rate ", options.rate, ", momentum ", options.momentum, ", seed ", options.seed,
               ", images ", images)) {}

bool Checkpoints::are_due(int epochs) const {
  return !options_.checkpoint.empty() && (epochs % options_.checkpoint_every == 0 || epochs == options_.epochs);
}

std::string Checkpoints::path(int epochs, const char* ending) const {
  char number[16];
  std::snprintf(number, sizeof number, "-%04d.", epochs);
  return cat(options_.checkpoint, number, ending);
}

/// The weights come last: where they are there, all is.
void Checkpoints::save(int epochs, const Network& network, SharedWeights& shared, bool first,
                       const std::vector<double>& losses, const std::vector<double>& accuracies) const {
  shared.save_states(path(epochs, "states"));
  if (!first) return;
  NDArray run({static_cast<std::int64_t>(run_.size())}, u8);
  std::copy(run_.begin(), run_.end(), run.pointer<std::uint8_t>());
  NamedArrays arrays{{"run", run}, {"losses", array_of(losses, epochs)}, {"accuracies", array_of(accuracies, epochs)}};
  for (const NDArray& value : network.parameters()) arrays.emplace_back(cat("parameter", arrays.size() - 3), value);
  strop::save(path(epochs, "params"), arrays);
}

int Checkpoints::load(Workers& workers, Network& network, std::vector<double>& losses,
                      std::vector<double>& accuracies) const {
  int found = 0;
  std::vector<double> history;
  if (workers.is_first()) {
    for (int epochs = options_.epochs; epochs > 0 && found == 0; --epochs)
      if (std::FILE* const file = std::fopen(path(epochs, "params").c_str(), "rb"); file != nullptr) {
        std::fclose(file);
        found = epochs;
      }
  }
  if (found != 0) {
    const std::string name = path(found, "params");
    const NamedArrays arrays = strop::load(name);
    const std::vector<NDArray> values = network.parameters();
    const auto refuse = [&](const auto&... why) { fail("train: ", name, why...); };
    if (arrays.size() != values.size() + 3 || arrays[0].first != "run")
      refuse(" has ", arrays.size(), " arrays, expected the ", values.size() + 3, " of a checkpoint of this network");
    const std::vector<std::uint8_t> run = arrays[0].second.to_vector<std::uint8_t>();
    if (const std::string said(run.begin(), run.end()); said != run_)
      refuse(" is of another training (", detail::printable(said, 300), "), expected ", run_);
    for (const std::size_t k : {std::size_t{1}, std::size_t{2}}) {
      if (arrays[k].second.shape() != Shape{found})
        refuse(": '", arrays[k].first, "' has shape ", arrays[k].second.shape(), ", expected ", Shape{found});
      const std::vector<double> part = arrays[k].second.to_vector<double>();
      history.insert(history.end(), part.begin(), part.end());
    }
    for (std::size_t k = 0; k < values.size(); ++k) {
      const NDArray& value = arrays[k + 3].second;
      if (value.shape() != values[k].shape() || value.dtype() != values[k].dtype())
        refuse(": '", arrays[k + 3].first, "' has shape ", value.shape(), ", expected ", values[k].shape());
      strop::detail::copy_bytes(values[k].pointer<float>(), value.pointer<float>(),
                                value.size() * std::int64_t{sizeof(float)});
    }
  }
  found = workers.of_first("checkpoint", full({1}, found)).item<int>();
  if (found == 0) return 0;
  const std::vector<double> all = workers.of_first("history", array_of(history, 2 * found)).to_vector<double>();
  losses.assign(all.begin(), all.begin() + found);
  accuracies.assign(all.begin() + found, all.end());
  return found;
}

}  // namespace strop::command
