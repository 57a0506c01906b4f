// SPDX-License-Identifier: Apache-2.0
/// \file
/// The processes of `strop train` that train one network, and what they share.
#pragma once
#include "command.hpp"
#include "train_network.hpp"

#include <strop/kvstore/kvstore.hpp>

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace strop::command {

/// Which worker this is, and sums over all of them. Each batch is cut into parts whose gradients are added up, in their
/// order: under mpirun one for each worker, in one process as many as --parts says. So both train alike, to the last
/// bit. Workers that do not wait for each other take whole batches in turn.
class Workers {
 public:
  /// Throws WrongCall where the batch has no such parts.
  explicit Workers(const TrainOptions& options);

  bool are_several() const { return count_ > 1; }
  bool is_first() const { return rank_ == 0; }
  bool wait_for_each_other() const { return !apart_; }
  int rank() const { return rank_; }
  int count() const { return count_; }
  int parts() const { return parts_; }
  /// Of a batch, those of this worker: from first_part() on.
  int own_parts() const { return are_several() ? 1 : parts_; }
  int first_part() const { return apart_ ? 0 : rank_ * own_parts(); }
  bool takes(std::int64_t batch) const { return !apart_ || batch % count_ == rank_; }
  /// The type of store that trains; empty where none does.
  const std::string& type() const { return type_; }

  /// The sum of all workers' arrays, in the order of the parts. All workers call it together.
  NDArray sum(const std::string& name, const std::vector<NDArray>& own);
  /// The array that worker 0 has, of one shape everywhere.
  NDArray of_first(const std::string& name, const NDArray& own);

 private:
  std::string type_;
  KVStore sums_;
  int rank_ = 0, count_ = 1, parts_ = 1;
  bool apart_ = false;
  std::set<std::string> known_;
};

/// A network's weights in a store, whose optimizer steps.
class SharedWeights {
 public:
  SharedWeights(const Workers& workers, const TrainOptions& options, Network& network, std::int64_t batches);
  /// Takes the gradients of one of this worker's parts.
  void add_part();
  /// Steps by the gradients of all parts, and brings the weights.
  void step();
  /// Brings the weights that all steps of all workers have made.
  void settle();
  void save_states(const std::string& path) { store_.save_states(path); }
  void load_states(const std::string& path) { store_.load_states(path); }

  /// "sent 3.1 MB, …" of the whole training, for whoever reads the end of it.
  std::string exchanged() const;
  /// How much of the time since the last call the others have waited for the slowest worker, and which that is; empty
  /// where nobody has to.
  std::string slowest();

 private:
  void pull();
  const Workers& workers_;
  Network& network_;
  KVStore store_;
  std::vector<std::vector<NDArray>> gradients_;  // of each parameter, of this worker's parts
  std::vector<double> waited_;
  std::int64_t asked_ = 0;  // when, in nanoseconds
};

/// What an interrupted training goes on from: PREFIX-0003.params has the weights and what the first three epochs have
/// come to, PREFIX-0003.states the optimizer's states.
class Checkpoints {
 public:
  Checkpoints(const TrainOptions& options, std::int64_t images);
  /// Whether there is one to write after so many epochs.
  bool are_due(int epochs) const;
  void save(int epochs, const Network& network, SharedWeights& shared, bool first, const std::vector<double>& losses,
            const std::vector<double>& accuracies) const;
  /// Fills in what the newest one has, and gives the number of its epochs; 0 where there is none. All workers call it.
  int load(Workers& workers, Network& network, std::vector<double>& losses, std::vector<double>& accuracies) const;
  std::string path(int epochs, const char* ending) const;

 private:
  const TrainOptions& options_;
  std::string run_;  // what has to be the same
};

}  // namespace strop::command
