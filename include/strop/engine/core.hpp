// SPDX-License-Identifier: Apache-2.0
/// \file
/// The engine behind its front: how operations are submitted, executed and completed.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <source_location>
#include <string_view>
#include <strop/core/call_mode.hpp>
#include <strop/core/error.hpp>
#include <strop/engine/context.hpp>
#include <strop/engine/failure.hpp>
#include <strop/engine/operation.hpp>
#include <strop/engine/options.hpp>
#include <strop/engine/trace_record.hpp>
#include <strop/engine/variable.hpp>
#include <strop/engine/waiter.hpp>
#include <strop/engine/workers.hpp>
#include <utility>

namespace strop::inline v0::detail {

/// What this thread is in the middle of, innermost first.
struct Running {
  const Core* core;
  const Link* links;
  std::size_t uses;
  const char* name;
  std::size_t name_size;  // npos: the name ends with a 0
  const Running* outer;
  // An operation begins in the same mode on whichever thread, also on one that waits inside somebody's scope.
  const CallMode mode = std::exchange(call_mode, {.operation = this});
  static const Running* current() { return call_mode.operation; }

  Running(const Core* core_, const Link* links_, std::size_t uses_, const char* name_, std::size_t name_size_)
      : core(core_), links(links_), uses(uses_), name(name_), name_size(name_size_), outer(current()) {}
  ~Running() { call_mode = mode; }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;
  std::string_view said_name() const {
    return name_size == std::string_view::npos ? std::string_view(name) : std::string_view(name, name_size);
  }
};

/// The queue of a device other than the processor, its threads, and who waits for its stream.
struct Lane {
  Workers workers;
  StreamWaiter waiter;
};

class Core {
 public:
  explicit Core(const EngineOptions& options);
  ~Core();
  Core(const Core&) = delete;
  Core& operator=(const Core&) = delete;

  EngineKind kind() const { return kind_.load(std::memory_order_relaxed); }
  int threads() const { return options_.threads; }
  unsigned number() const { return number_; }
  /// Makes the queue of a lane where there is none yet. Throws std::bad_alloc.
  void open_lane(unsigned lane);

  // --- submitting
  /// Takes the block over; its uses are merged. Runs it here where the kind says so.
  void submit(Operation* operation);
  /// Claims all of these merged uses at once where nothing is pending on any of them.
  bool try_enter(Link* links, std::size_t uses);
  /// The counterpart of try_enter: completes the uses. The failure's ownership passes in.
  void leave(Link* links, std::size_t uses, FailureState* failure);
  /// Runs operations of a bulk one after the other, on the uses of all of them, and completes those.
  void execute_bulk(Operation* whole, Operation* first, FailureState** now, ReadyList& ready);

  // --- failures
  /// A new failure that wait_all is going to raise once; the caller owns a share.
  FailureState* failed(std::exception_ptr error, std::string_view name, std::source_location where);
  /// The failure that these uses inherit, owned by the caller, or null.
  static FailureState* inherited(const Link* links, std::size_t uses);
  static FailureState* failure_of(Var* var);

  // --- asynchronous completion
  static void retain(Operation* operation) { operation->holders.fetch_add(1, std::memory_order_relaxed); }
  static void done(Operation* operation, std::exception_ptr error) noexcept;
  static void drop(Operation* operation) noexcept;
  /// Has the asynchronous operation, whose function has returned or is about to, completed when the mark has passed.
  void complete_after(Operation* operation, memory::detail::GpuStream& stream, std::uint64_t mark);

  // --- waiting
  /// Waits for the writes that have been pushed so far, and for the reads with `all`. Returns a share of var's failure.
  FailureState* wait(Var* var, bool all);
  void wait_all();
  /// No more threads: whatever is pushed afterwards runs at the call. For the end of the process. Never throws.
  void close() noexcept;
  /// Logs what nobody was told, before it is forgotten.
  void tell_unseen() noexcept;

  static bool inside_operation_of(const Core* core) {
    for (const Running* at = Running::current(); at != nullptr; at = at->outer)
      if (at->core == core) return true;
    return false;
  }

 private:
  struct alignas(64) Count {
    std::atomic<std::uint64_t> pushed{0}, completed{0};
  };
  static constexpr unsigned counts = 8;

  void count_pushed() { count_[thread_index() % counts].pushed.fetch_add(1, std::memory_order_seq_cst); }
  /// Counts a push; false, and nothing is counted, where a fork holds it back: then wait_for_fork() comes first. Either
  /// the fork sees the push, or the push sees the fork.
  bool may_push() {
    count_pushed();
    if (forking.load(std::memory_order_seq_cst) == 0 || passes_forks() || own_sections > 0) [[likely]]
      return true;
    count_completed();
    tell_waiters();
    return false;
  }
  void count_completed() { count_[thread_index() % counts].completed.fetch_add(1, std::memory_order_seq_cst); }
  bool quiet() const;
  void quiesce();
  /// Runs something of what is ready, where nobody else would.
  void help();
  /// In the child of a fork, where nobody else waits.
  void forget_threads() noexcept;
  void sleep_at_gate(std::uint32_t seen);
  void tell_waiters();
  void check_waitable(const Var* var) const;
  Operation* claim(Var* var, int& looks, ReadyList& ready);
  Operation* pick();

  static void execute_chain(Core& core, Operation* operation);
  void execute(Operation* operation, ReadyList& ready);
  FailureState* destroy_function(Operation* operation, FailureState* failure);
  void finish(Operation* operation, FailureState* failure, ReadyList& ready);
  void complete(Operation* operation, FailureState* failure) noexcept;
  template <bool Bulk>
  void release(Link* links, std::size_t uses, FailureState* const* failures, ReadyList& ready);
  void make_ready(Operation* operation);
  void make_ready(ReadyList& ready);

  Lane* lane_at(unsigned lane) const { return lanes_[lane - 1].load(std::memory_order_acquire); }
  Workers& workers_of(unsigned lane) { return lane == 0 ? workers_ : lane_at(lane)->workers; }
  template <class F>
  void each_lane(F f) const {
    for (const auto& lane : lanes_)
      if (Lane* const at = lane.load(std::memory_order_acquire)) f(*at);
  }

  const EngineOptions options_;
  const unsigned number_;  // 1 is the first of the process
  std::atomic<EngineKind> kind_;
  std::atomic<std::uint64_t> random_;  // simulated
  Count count_[counts];
  alignas(64) std::atomic<std::uint32_t> gate_{0};  // moves when somebody who sleeps in a wait has to look again
  std::atomic<int> waiting_for_all_{0};
  std::atomic<int> visitors_{0};  // foreign threads inside done()
  SpinLock failures_lock_;
  FailureState* first_unraised_ = nullptr;
  FailureState* last_unraised_ = nullptr;
  std::size_t unraised_ = 0;
  static constexpr std::size_t most_unraised = 4096;  // older ones are forgotten here, not by what they reached
  bool out_of_memory_ = false;                        // a failure for which there was no memory has not been raised
  Workers workers_;
  SpinLock lanes_lock_;
  std::atomic<Lane*> lanes_[max_lanes]{};

  friend struct AllCores;
  Core *older_ = nullptr, *newer_ = nullptr;  // in AllCores
};

}  // namespace strop::inline v0::detail
