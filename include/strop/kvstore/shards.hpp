// SPDX-License-Identifier: Apache-2.0
/// \file
/// The arrays of a dist_async store: each is owned by one worker, which answers the others.
#pragma once
#include <strop/core/fork.hpp>
#include <strop/core/list.hpp>
#include <strop/engine/sync.hpp>
#include <strop/kvstore/exchange.hpp>
#include <strop/kvstore/stored.hpp>
#include <strop/kvstore/transport.hpp>
#include <strop/kvstore/updater.hpp>

#include <atomic>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace strop::inline v0::detail {

/// The keys that this worker owns, and its way to those of the others.
///
/// A key belongs to one worker, by a hash of its text. A thread of that worker takes what the others push, applies it
/// at once, one push after the other, and answers what they pull. The requests of one worker are answered in their
/// order, which is the one of the exchanges of its store.
class Shards {
 public:
  explicit Shards(Exchange& order);
  Shards(const Shards&) = delete;
  Shards& operator=(const Shards&) = delete;
  /// Answers until all workers are here. One that is left by an exception, or after a failure, waits for nobody; a
  /// failure that no call has thrown is logged.
  ~Shards();

  int owner_of(std::string_view key) const;
  bool owns(std::string_view key) const { return owner_of(key) == order_.rank(); }
  /// Stores an array of this worker's.
  void put(const std::string& key, const NDArray& value);
  /// How pushes change what this worker owns.
  void set_updater(Ref<StoreUpdater> updater);

  /// Has the owner apply a gradient, dense or row-sparse; of float32 in two bits an element where a threshold is above
  /// 0, `like` is its shape then.
  void push(const std::string& key, const NDArray& gradient, const NDArray& like, float threshold, int priority);
  /// What the owner has now, in an array of `like`'s shape, type and storage.
  NDArray pull(const std::string& key, const NDArray& like, int priority);
  /// Rows of it, at the call: `ids` ascending and each once.
  NDArray pull_rows(const std::string& key, const NDArray& like, Span<const std::int64_t> ids);

  /// The outcomes (outcome_of) of states() of the updaters of all workers, on worker 0; at the call.
  List<std::string> states();
  void set_states(std::string_view states);

 private:
  enum Kind : std::int32_t { push_array = 1, push_packed, pull_array, pull_listed };
  /// What a worker asks; the key's text follows, and the array where both are few bytes.
  struct Request {
    std::uint32_t magic = 0x4b565331;  // of this layout
    std::int32_t kind = 0;
    std::int64_t key = 0, count = 0;  // letters of the key; stored rows or listed ids of the array that goes along
    std::uint64_t shape = 0;
    std::int32_t dtype = 0;
    float threshold = 0;
  };
  /// How it is answered; the array, or why it was refused, follows.
  struct Reply {
    std::uint32_t magic = 0x4b565331;
    std::int32_t refused = 0;
    std::int64_t count = 0;  // stored rows of the array; letters of the refusal
  };
  struct Answer {
    Reply reply;
    std::string refusal;
    NDArray array;
  };
  static constexpr Index most_together = 4096;  // bytes of an array that go in one message with what it is for

  /// An array for `count` stored rows, or a dense one, that a request of this kind brings.
  static NDArray brought(Kind kind, const NDArray& like, Index count);
  /// What goes over the wire of an array: the numbers of its rows, where it is row-sparse, and its elements.
  static List<Span<std::byte>, 2> parts_of(const NDArray& array);
  /// The one message where the parts fit into it, and the messages of the others.
  static void send(Transport& to, int worker, Span<const std::byte> head, const NDArray& array, std::string_view what);
  static void receive(Transport& from, int worker, Span<const std::byte> behind_head, const NDArray& array,
                      std::string_view what);

  /// Asks the owner, or this worker itself; the array of the answer.
  NDArray ask(Kind kind, const std::string& key, const NDArray& array, const NDArray& like, Index count,
              float threshold, std::string_view what);
  Answer answer(const Request& request, const std::string& key, const NDArray& array);
  NDArray answered(const Request& request, const std::string& key, const NDArray& array);
  void serve();
  /// Tells this worker, and those that wait for it, why.
  void answer_no_more(const std::string& why);
  void serve_one(int worker, Span<const std::byte> message);

  Exchange& order_;
  const Ref<Transport> requests_, replies_;
  ForkMutex owning_;  // of what follows: one push at a time
  std::map<std::string, StoredArray, std::less<>> owned_;
  Ref<StoreUpdater> updater_;
  std::atomic<bool> stop_{false};
  Thread thread_;
  unsigned char process_ = 0;  // the fork mark of the process that has the thread
};

}  // namespace strop::inline v0::detail

#if !defined(STROP_COMPILED)
#include <strop/kvstore/shards_impl.hpp>
#endif
