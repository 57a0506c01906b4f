// SPDX-License-Identifier: Apache-2.0
/// \file
/// What the workers of a distributed store do together: sums, the first worker's array, barriers.
#pragma once
#include <strop/core/error.hpp>
#include <strop/core/list.hpp>
#include <strop/engine/engine.hpp>
#include <strop/engine/sync.hpp>
#include <strop/kvstore/transport.hpp>
#include <strop/tensor/ndarray.hpp>

#include <atomic>
#include <cstdint>
#include <exception>
#include <string>
#include <string_view>
#include <utility>

namespace strop::inline v0::detail {

/// A thread that exchanges wait on, so that those of the engine compute meanwhile. It starts at the first piece of
/// work.
class WaitingThread {
 public:
  /// A piece of work, which deletes itself.
  struct Work {
    virtual ~Work() = default;
    virtual void run() noexcept = 0;
  };
  WaitingThread() = default;
  WaitingThread(const WaitingThread&) = delete;
  WaitingThread& operator=(const WaitingThread&) = delete;
  /// All work is done by then.
  ~WaitingThread();
  /// Has the work run; the piece before it is done.
  void hand(Work* work);

 private:
  void loop();
  Thread thread_;
  Semaphore ready_;
  Work* work_ = nullptr;  // null tells the thread to end
  bool started_ = false;
  unsigned char process_ = 0;  // the fork mark of the process that has the thread
};

/// What f() gives, or the sentence of what it throws, as a text for another worker, whose result_in() gives or throws
/// the same.
template <class F>
std::string outcome_of(F&& f) {
  try {
    return "+" + f();
  } catch (const std::exception& e) {
    return cat("-", e.what());
  }
}
inline std::string result_in(std::string_view outcome) {
  const std::string_view said = outcome.substr(outcome.empty() ? 0 : 1);
  if (!outcome.starts_with('+')) fail(said);
  return std::string(said);
}

/// What went over the wire, of a transport and those apart from it.
struct Traffic : Counted {
  std::atomic<std::int64_t> sent{0}, received{0};
};

/// Another transport whose bytes are counted.
class MeteredTransport final : public Transport {
 public:
  MeteredTransport(Ref<Transport> inner, Ref<Traffic> traffic)
      : inner_(std::move(inner)), traffic_(std::move(traffic)) {}
  int rank() const override { return inner_->rank(); }
  int size() const override { return inner_->size(); }
  STROP_IMPL void exchange(Span<const Message> sends, Span<const Message> receives, std::string_view what) override;
  STROP_IMPL Ref<Transport> apart() override;
  STROP_IMPL int receive_any(List<std::byte>& message, const std::atomic<bool>& stop) override;
  STROP_IMPL void give_up(const std::string& why) override;

 private:
  const Ref<Transport> inner_;
  const Ref<Traffic> traffic_;
};

/// How long a store has exchanged, in nanoseconds, and what it has sent and received.
struct ExchangeTimes {
  std::int64_t sent = 0, received = 0, exchanging = 0;
  List<std::int64_t> waiting;  // of each worker, for those that came later
};

/// The messages of one store, in the order of its calls, which is the same on all workers. One engine variable stands
/// for all of them: no two are under way at once, and none overtakes another.
///
/// Each element is summed by one worker, in the order of the workers. So all have the same bits, and these are those of
/// one process that adds the workers' arrays up.
class Exchange {
 public:
  explicit Exchange(Ref<Transport> transport);
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;
  ~Exchange();

  int rank() const { return transport_->rank(); }
  int size() const { return transport_->size(); }

  /// The sum of the workers' dense arrays on the CPU. It returns at once where the array is large or on its way.
  NDArray sum(const NDArray& own, const std::string& key, int priority);
  /// The same of arrays of `like`'s shape in two bits an element.
  NDArray sum_packed(const NDArray& packed, const NDArray& like, float threshold, const std::string& key, int priority);
  /// The sum of the workers' row-sparse arrays, at the call: each sends the rows that it stores.
  NDArray sum_stored_rows(const NDArray& own, const std::string& key);
  /// What worker 0 has, at the call; own elements in any case.
  NDArray of_first(const NDArray& own, const std::string& key);
  std::string of_first(const std::string& own, const std::string& what);
  /// The texts of all workers, at the call, for worker 0; for the others none.
  List<std::string> to_first(const std::string& own, const std::string& what);
  void barrier();

  /// Runs f(), which reads and overwrites these arrays by address(), in the order of the exchanges.
  template <class F>
  void in_turn(Span<const NDArray> reads, Span<const NDArray> writes, int priority, F f);
  /// Runs f() when all earlier exchanges are done, and returns then.
  template <class F>
  void now(F&& f);
  Ref<Transport> transport_apart() { return transport_->apart(); }
  /// Has every later exchange fail with this sentence.
  void end(const std::string& why);
  bool has_failed();
  /// What is known of the exchanges that are done.
  ExchangeTimes times();
  /// Whether a call of this store has thrown such a failure.
  bool has_told() const { return told_; }

 private:
  /// What a worker says before each exchange, so that those who are at another one are told of it.
  struct Header {
    std::uint32_t magic = 0x4b565332;  // of this layout: workers of another version are refused
    std::int32_t kind = 0;
    std::uint64_t number = 0, key = 0, shape = 0;
    std::int32_t dtype = 0, reserved = 0;
    std::int64_t count = 0;
    std::int64_t waited = 0;  // nanoseconds for others, in all exchanges before
  };
  enum Kind : std::int32_t { add = 1, add_packed, add_rows, first, first_text, meet, all_texts };
  static constexpr Index most_together = 4096;  // bytes that go with the header

  Header header(Kind kind, const std::string& key, const NDArray* like, Index count) const;
  /// Tells the others, and refuses what does not go together. `payload` bytes, few, go with it; those of worker k then
  /// lie in others + k · room, room = payload.
  void greet(Header own, const std::string& what, Span<const std::byte> payload, std::byte* others, List<Header>& all);
  void add_all(Header own, const std::string& what, const NDArray& from, const NDArray& total);
  void add_all_packed(Header own, const std::string& what, const NDArray& packed, float threshold,
                      const NDArray& total);
  void from_first(std::byte* data, Index bytes, const std::string& what);
  /// All others' arrays of bytes, one behind the other; sizes of all are known.
  void gather(Span<const std::byte> own, Span<const Index> sizes, Span<std::byte* const> to, const std::string& what);

  template <class F>
  void guarded(F&& f);

  const Ref<Traffic> traffic_;
  const Ref<Transport> transport_;
  Engine::Variable wire_;
  std::uint64_t number_ = 0;  // of exchanges that were asked for
  SpinLock failure_lock_;
  SpinLock times_lock_;
  std::int64_t exchanging_ = 0;
  List<std::int64_t> waiting_;
  std::string failure_;  // after one nothing is exchanged any more
  bool told_ = false;    // of the thread that uses the store
  WaitingThread thread_;
};

}  // namespace strop::inline v0::detail

#if !defined(STROP_COMPILED)
#include <strop/kvstore/exchange_impl.hpp>
#endif
