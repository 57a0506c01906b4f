// SPDX-License-Identifier: Apache-2.0
/// \file
/// KVStore: arrays under keys that devices, processes and machines share, each of which pushes gradients and pulls
/// weights.
#pragma once
#include <strop/core/push_macros.def>

#include <strop/core/ref.hpp>
#include <strop/kvstore/compression.hpp>
#include <strop/kvstore/keys.hpp>
#include <strop/kvstore/transport.hpp>
#include <strop/kvstore/updater.hpp>

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace strop::inline v0 {
namespace optim {
class Optimizer;
}
namespace detail {

class StoreState;

}  // namespace detail

/// Arrays under keys. Copies of a handle are the same store; one thread at a time uses it.
///
/// What is pushed under a key is added up, over the arrays of a push and, in a distributed store, over the workers, in
/// a fixed order. The updater, or the optimizer, then changes the stored array by the sum; without one the sum takes
/// its place. Pulling copies the stored array. Keys are texts or whole numbers, not both; `init` comes first, and once.
/// Calls on large dense arrays return at once, as those of operators do: whoever looks at a result waits. Those on
/// sparse arrays are done at the call. Halves are added in float32. Nothing is recorded for a gradient.
///
/// Errors: a key that is unknown or initialised twice; numbers and texts as keys of one store; handles without an
/// array; shapes or types that are not the stored ones; CSR arrays, or dense and row-sparse ones in one push. A call
/// that is refused has changed nothing. The exception of an updater goes on to the caller: its key keeps the array that
/// it had, and the keys before it in the same call are updated. What it wrote into a row_sparse array in place stays.
///
/// In a distributed store every worker makes the same calls in the same order, with the same keys, shapes and types. In
/// dist_async that holds for all calls but pushes and pulls, and for the end of the store, which waits for all workers.
///
/// Example: `auto kv = KVStore::create("local"); kv.init("w", w); kv.push("w", {g0, g1}); kv.pull("w", w);`
class KVStore {
 public:
  /// A store of a type, by MXNet's rules, in any case:
  ///   dist_sync, dist_device_sync ("dist" alone as well): worker processes under mpirun; a push is the sum of all
  ///   workers, which each of them applies to an array of its own;
  ///   dist_async: the same, but each key is owned by one worker, which applies every push at once, without waiting for
  ///   other workers; a pull is what the owner has then. It needs an updater, which is called on the owner, on a thread
  ///   of the store, and whose exception ends the exchanges of the worker that pushed;
  ///   device: in this process, and pushes may be compressed;
  ///   local, and any other name: in this process.
  /// Error: nccl, which this version does not have; no OpenMPI.
  static KVStore create(std::string_view type = "local");
  /// A distributed store over a transport of the program's own.
  static KVStore create(std::string_view type, detail::Ref<Transport> transport);

  /// The name that it was made by, in lower case.
  const std::string& type() const;
  /// This worker, from 0 on, and how many there are: 0 and 1 in one process.
  int rank() const;
  int num_workers() const;
  /// Waits until all workers are here, and have done what they pushed before.
  void barrier();

  /// What this worker has exchanged so far; all zero in one process.
  struct Statistics {
    std::int64_t sent = 0, received = 0;  ///< bytes
    double exchanging = 0;                ///< seconds in exchanges
    /// Seconds of each worker, by rank, in which it waited for others to begin the same exchange. The slowest is the
    /// one that has waited least. Of others as they said at the last exchange; in dist_async only that of calls of all
    /// workers together.
    std::vector<double> waiting;
  };
  Statistics statistics() const;

  /// Puts a copy of one array under each key; of a distributed store that of worker 0.
  void init(const Keys& keys, const KeyedArrays& values);
  /// Adds up the arrays of each key and has the updater change what is stored. A key that stands several times in the
  /// list has all of its arrays. Without an updater the sum is stored in the other's place; in one process, of a single
  /// dense array, that array itself, as MXNet does: who writes it later writes the store. `priority`: higher
  /// ones tend to be added up first.
  void push(const Keys& keys, const KeyedArrays& values, int priority = 0);
  /// Copies what is stored into each array of its key. Sparse arrays are left out, with a message, unless
  /// `ignore_sparse` is false; then they are converted.
  void pull(const Keys& keys, const KeyedArrays& outs, int priority = 0, bool ignore_sparse = true);
  /// push and then pull, into the arrays that were pushed where no others are given.
  void pushpull(const Keys& keys, const KeyedArrays& values, const KeyedArrays& outs, int priority = 0);
  void pushpull(const Keys& keys, const KeyedArrays& values, int priority = 0);
  /// init and then pull.
  void broadcast(const Keys& keys, const KeyedArrays& values, const KeyedArrays& outs, int priority = 0);
  /// Copies rows of what is stored, row-sparse, into row-sparse arrays. `row_ids`: for each array, or one for all of
  /// them, a dense array of whole numbers in any shape and order, repeated or not. The result stores exactly these
  /// rows, ascending; one that is not stored is zero. Where nothing is stored, so does the result. Error: other
  /// storages, ids that are not whole or are out of range.
  void row_sparse_pull(const Keys& keys, const KeyedArrays& outs, const KeyedArrays& row_ids, int priority = 0);

  /// `updater(key, gradient, weight)` is called for each key of a push, on the caller's thread; a number as key comes
  /// in decimal. It changes the weight in place, or assigns another array of the same shape and type. A dense weight is
  /// a copy, which is stored when the function has returned.
  template <class F>
    requires std::invocable<F&, const std::string&, const NDArray&, NDArray&>
  void set_updater(F updater) {
    set_updater(detail::Ref<detail::StoreUpdater>(new detail::FunctionUpdater<F>(std::move(updater))));
  }
  /// An optimizer as the updater, with states of its own: `kv.set_optimizer(optim::Sgd{.learning_rate = 0.1})`.
  void set_optimizer(const optim::Optimizer& optimizer);
  void set_updater(detail::Ref<detail::StoreUpdater> updater);

  /// Pushes of float32 go as two bits an element from now on, and what these leave out is added to the next push of the
  /// same key and device: for `device` and distributed stores. Error: another store or type, a threshold that is not
  /// above 0.
  void set_gradient_compression(const GradientCompression& compression);

  /// Writes what the optimizer remembers into a file, which is complete or as it was before; in a distributed store
  /// worker 0 does, and reads it for all. Error: no optimizer.
  void save_states(const std::string& path);
  void load_states(const std::string& path);

 private:
  explicit KVStore(detail::Ref<detail::StoreBody> body) : body_(std::move(body)) {}
  detail::StoreState& state() const;
  detail::Ref<detail::StoreBody> body_;
};

}  // namespace strop::inline v0

#if !defined(STROP_COMPILED)
#include <strop/kvstore/kvstore_impl.hpp>
#endif

#include <strop/core/pop_macros.def>
