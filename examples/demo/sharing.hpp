// SPDX-License-Identifier: Apache-2.0
/// \file
/// How the sparse demo adds gradients up: of the workers under mpirun, or of the parts of a batch in one process, which
/// gives the same bits.
#pragma once
#include <strop/strop.hpp>

#include <cstdint>
#include <cstdlib>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace sparse_models {

/// Sums over the parts of a batch, in their order. A worker has one part; one process has all of them.
class Sharing {
 public:
  explicit Sharing(int parts)
      : store_(strop::KVStore::create(is_under_mpirun() ? "dist_sync" : "local")),
        parts_(store_.num_workers() > 1 ? store_.num_workers() : parts) {}
  static bool is_under_mpirun() { return std::getenv("OMPI_COMM_WORLD_SIZE") != nullptr; }
  int parts() const { return parts_; }
  std::size_t own_parts() const { return store_.num_workers() > 1 ? 1 : static_cast<std::size_t>(parts_); }
  int first_part() const { return store_.rank(); }
  strop::KVStore& store() { return store_; }

  /// The array of one part of this worker's.
  void add(const std::string& key, const strop::NDArray& a) { own_[key].push_back(own_parts() == 1 ? a : a.copy()); }
  /// The sum of what was added since the last one. It has the rows that any part stores.
  strop::NDArray sum(const std::string& key) {
    const std::vector<strop::NDArray> all = std::exchange(own_[key], {});
    if (parts_ == 1) return all[0];
    const strop::NDArray made = strop::zeros(all[0].shape(), all[0].storage(), all[0].dtype());
    if (known_[key]++ == 0) store_.init(key, made);
    store_.push(key, {all});
    store_.pull(key, made, 0, false);
    return made;
  }

 private:
  strop::KVStore store_;
  int parts_;
  std::map<std::string, std::vector<strop::NDArray>> own_;
  std::map<std::string, int> known_;
};

}  // namespace sparse_models
