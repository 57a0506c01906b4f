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
#include <strop/core/error.hpp>
#include <strop/engine/failure.hpp>
#include <strop/engine/operation.hpp>
#include <strop/engine/options.hpp>
#include <strop/engine/variable.hpp>
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
  static inline constinit thread_local const Running* current = nullptr;

  Running(const Core* core_, const Link* links_, std::size_t uses_, const char* name_, std::size_t name_size_)
      : core(core_), links(links_), uses(uses_), name(name_), name_size(name_size_), outer(current) {
    current = this;
  }
  ~Running() { current = outer; }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;
  std::string_view said_name() const {
    return name_size == std::string_view::npos ? std::string_view(name) : std::string_view(name, name_size);
  }
};

class Core {
 public:
  explicit Core(const EngineOptions& options);
  ~Core();
  Core(const Core&) = delete;
  Core& operator=(const Core&) = delete;

  EngineKind kind() const { return kind_.load(std::memory_order_relaxed); }
  int threads() const { return options_.threads; }

  // --- submitting
  /// Takes the block over; its uses are settled. Runs it here where the kind says so.
  void submit(Operation* operation);
  /// Claims all of these settled uses at once where nothing is pending on any of them.
  bool try_enter(Link* links, std::size_t uses);
  /// The counterpart of try_enter: completes the uses. The failure's ownership passes in.
  void leave(Link* links, std::size_t uses, FailureState* failure);

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

  // --- waiting
  /// Waits for the writes that have been pushed so far, and for the reads with `all`. Returns a share of var's failure.
  FailureState* wait(Var* var, bool all);
  void wait_all();
  /// No more threads: whatever is pushed afterwards runs at the call. For the end of the process. Never throws.
  void close() noexcept;

  static bool inside_operation_of(const Core* core) {
    for (const Running* at = Running::current; at != nullptr; at = at->outer)
      if (at->core == core) return true;
    return false;
  }

 private:
  struct alignas(64) Count {
    std::atomic<std::uint64_t> pushed{0}, completed{0};
  };
  static constexpr unsigned counts = 8;

  void count_pushed() { count_[thread_index() % counts].pushed.fetch_add(1, std::memory_order_seq_cst); }
  void count_completed() { count_[thread_index() % counts].completed.fetch_add(1, std::memory_order_seq_cst); }
  bool quiet() const;
  void quiesce();
  void tell_waiters();
  void check_waitable(const Var* var) const;
  Operation* claim(Var* var, int& looks);
  Operation* pick();

  static void execute_chain(Core& core, Operation* operation);
  void execute(Operation* operation, ReadyList& ready);
  void finish(Operation* operation, FailureState* failure, ReadyList& ready);
  void release(Link* links, std::size_t uses, FailureState* failure, ReadyList& ready);
  void make_ready(Operation* operation);
  void make_ready(ReadyList& ready);

  const EngineOptions options_;
  std::atomic<EngineKind> kind_;
  std::atomic<std::uint64_t> random_;  // simulated
  Count count_[counts];
  alignas(64) std::atomic<std::uint32_t> gate_{0};  // moves when somebody who sleeps in a wait has to look again
  std::atomic<int> waiting_for_all_{0};
  std::atomic<int> visitors_{0};  // foreign threads inside done()
  SpinLock failures_lock_;
  FailureState* first_unraised_ = nullptr;
  FailureState* last_unraised_ = nullptr;
  bool out_of_memory_ = false;  // a failure for which there was no memory has not been raised
  Workers workers_;

  friend struct AllCores;
  Core *older_ = nullptr, *newer_ = nullptr;  // in AllCores
};

// --- submitting -----------------------------------------------------------------------------------------------------

inline void Core::submit(Operation* operation) {
  count_pushed();
  Link* const links = operation->links();
  const std::size_t n = operation->uses;
  lock_uses(links, n);
  std::int32_t waits = 0;
  for (std::size_t i = 0; i < n; ++i) waits += links[i].var->append(&links[i]) ? 0 : 1;
  operation->waits.store(waits, std::memory_order_relaxed);
  for (std::size_t i = 0; i < n; ++i) links[i].var->lock.unlock();
  if (waits == 0) make_ready(operation);
}

inline bool Core::try_enter(Link* links, std::size_t uses) {
  lock_uses(links, uses);
  bool free = true;
  for (std::size_t i = 0; i < uses; ++i) free = free && links[i].var->free_for(links[i].mode);
  if (free) {
    count_pushed();
    for (std::size_t i = 0; i < uses; ++i) links[i].var->append(&links[i]);
  }
  for (std::size_t i = 0; i < uses; ++i) links[i].var->lock.unlock();
  return free;
}

inline void Core::leave(Link* links, std::size_t uses, FailureState* failure) {
  ReadyList ready;
  release(links, uses, failure, ready);
  if (failure != nullptr) failure->drop();
  count_completed();
  if (ready.first != nullptr) make_ready(ready);
  tell_waiters();
}

inline void Core::make_ready(Operation* operation) {
  switch (kind()) {
    case EngineKind::naive:
      execute_chain(*this, operation);
      break;
    case EngineKind::simulated:
      workers_.queue().push(operation);
      gate_.fetch_add(1, std::memory_order_seq_cst);
      gate_.notify_all();
      break;
    default:
      workers_.push(operation);
      // the end of the process has closed this engine in between: nobody else is going to look
      if (kind() == EngineKind::naive)
        while (Operation* left = workers_.queue().pop()) execute_chain(*this, left);
  }
}

inline void Core::make_ready(ReadyList& ready) {
  while (Operation* operation = ready.take()) make_ready(operation);
}

// --- executing ------------------------------------------------------------------------------------------------------

/// Runs the operation, then on this thread one that it made ready, and so on; the others go to the queue.
inline void Core::execute_chain(Core& core, Operation* operation) {
  ReadyList ready;
  for (int length = 1;; ++length) {
    core.execute(operation, ready);
    const EngineKind kind = core.kind();
    operation = kind == EngineKind::simulated ? nullptr : ready.take();
    if (kind != EngineKind::naive) {
      core.make_ready(ready);
      if (operation != nullptr && length % 64 == 0) {  // let others have a turn
        core.make_ready(operation);
        operation = nullptr;
      }
    }
    if (operation == nullptr) break;
  }
  core.tell_waiters();
}

inline void Core::execute(Operation* operation, ReadyList& ready) {
  FailureState* failure = inherited(operation->links(), operation->uses);
  const bool asynchronous = operation->table->asynchronous;
  if (failure == nullptr) {
    std::exception_ptr error;
    {
      const Running here(this, operation->links(), operation->uses, operation->name, std::string_view::npos);
      try {
        operation->table->run(*operation);
      } catch (...) {
        error = std::current_exception();
      }
    }
    if (asynchronous) {
      const auto before = operation->state.fetch_or(async_returned, std::memory_order_acq_rel);
      if (error) {
        if ((before & async_done) != 0)
          failed(error, operation->name, operation->where)->drop();  // too late for its variables, but not lost
        else
          done(operation, std::move(error));
      }
      if ((before & async_done) != 0) operation->destroy_function();
      drop(operation);
      return;
    }
    if (error) failure = failed(std::move(error), operation->name, operation->where);
  }
  operation->destroy_function();
  finish(operation, failure, ready);
  operation->free();
  count_completed();
}

/// Ends every use. Takes over the caller's share of the failure.
inline void Core::finish(Operation* operation, FailureState* failure, ReadyList& ready) {
  release(operation->links(), operation->uses, failure, ready);
  if (failure != nullptr) failure->drop();
}

inline void Core::release(Link* links, std::size_t uses, FailureState* failure, ReadyList& ready) {
  bool wake = false;
  const auto grant = [&ready](Operation* operation) {
    if (operation->waits.fetch_sub(1, std::memory_order_acq_rel) == 1) ready.add(operation);
  };
  for (std::size_t i = 0; i < uses; ++i) {
    Var* const var = links[i].var;
    FailureState* healed = nullptr;
    Link* granted = nullptr;
    bool wakes = false;
    var->lock.lock();
    if (links[i].mode == Mode::read) {
      granted = var->end_read();
      wakes = var->watched && var->readers == 0;
    } else {
      healed = var->failure.load(std::memory_order_relaxed);
      // an update keeps the failure that it inherits from its own variable
      if (healed == failure || (links[i].mode == Mode::update && healed != nullptr)) {
        healed = nullptr;
      } else {
        if (failure != nullptr) failure->retain();
        var->failure.store(failure, std::memory_order_release);
      }
      var->version.store(var->version.load(std::memory_order_relaxed) + 1, std::memory_order_release);
      granted = var->end_write();
      wakes = var->watched;
    }
    if (wakes) {
      var->watched = false;
      wake = true;
    }
    const bool unused = var->orphan && var->uses.load(std::memory_order_relaxed) == 0;
    var->lock.unlock();
    if (healed != nullptr) healed->drop();
    if (granted != nullptr && granted->mode != Mode::read) {
      grant(granted->operation);
    } else {
      while (granted != nullptr) {
        Link* const next = granted->next;  // the granted operation may end, and its block with it
        grant(granted->operation);
        granted = next;
      }
    }
    if (unused) var->free();
  }
  if (wake) {
    gate_.fetch_add(1, std::memory_order_seq_cst);
    gate_.notify_all();
  }
}

// --- failures -------------------------------------------------------------------------------------------------------

inline FailureState* Core::failed(std::exception_ptr error, std::string_view name, std::source_location where) {
  FailureState* const made = FailureState::make(std::move(error), name, where);
  Hold hold(failures_lock_);
  if (made->immortal) {
    out_of_memory_ = true;
    return made;
  }
  made->retain();
  (first_unraised_ == nullptr ? first_unraised_ : last_unraised_->next_unraised) = made;
  last_unraised_ = made;
  return made;
}

inline FailureState* Core::inherited(const Link* links, std::size_t uses) {
  for (std::size_t i = 0; i < uses; ++i) {
    if (links[i].mode == Mode::write) continue;
    // no writer is at work on a variable that is granted to this operation: the failure stays
    if (FailureState* const failure = links[i].var->failure.load(std::memory_order_acquire)) {
      failure->retain();
      return failure;
    }
  }
  return nullptr;
}

inline FailureState* Core::failure_of(Var* var) {
  if (var->failure.load(std::memory_order_acquire) == nullptr) return nullptr;
  Hold hold(var->lock);
  FailureState* const failure = var->failure.load(std::memory_order_relaxed);
  if (failure != nullptr) failure->retain();
  return failure;
}

// --- asynchronous completion ----------------------------------------------------------------------------------------

inline void Core::done(Operation* operation, std::exception_ptr error) noexcept {
  const auto before = operation->state.fetch_or(async_done, std::memory_order_acq_rel);
  if ((before & async_done) != 0) return;
  Core& core = *operation->core;
  core.visitors_.fetch_add(1, std::memory_order_seq_cst);
  FailureState* const failure = error ? core.failed(std::move(error), operation->name, operation->where) : nullptr;
  if ((before & async_returned) != 0) operation->destroy_function();  // the name may go with it
  ReadyList ready;
  core.finish(operation, failure, ready);
  core.count_completed();
  core.make_ready(ready);
  core.tell_waiters();
  core.visitors_.fetch_sub(1, std::memory_order_seq_cst);  // the engine may be gone from here on
}

inline void Core::drop(Operation* operation) noexcept {
  if (operation->holders.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  if ((operation->state.load(std::memory_order_acquire) & async_done) == 0) {
    std::exception_ptr error;
    try {
      fail("an asynchronous operation let go of its Done without calling it");
    } catch (...) {
      error = std::current_exception();
    }
    done(operation, std::move(error));
  }
  operation->free();
}

// --- waiting --------------------------------------------------------------------------------------------------------

/// Whether everything that has been pushed is complete. Completions are counted first: a sum of pushes that is taken
/// later and equals theirs proves a moment between the two at which nothing was pending.
inline bool Core::quiet() const {
  std::uint64_t completed = 0, pushed = 0;
  for (const Count& count : count_) completed += count.completed.load(std::memory_order_seq_cst);
  for (const Count& count : count_) pushed += count.pushed.load(std::memory_order_seq_cst);
  return completed == pushed;
}

/// After every completion: wakes those who wait for all, where that was the last one.
inline void Core::tell_waiters() {
  if (waiting_for_all_.load(std::memory_order_seq_cst) == 0 || !quiet()) return;
  gate_.fetch_add(1, std::memory_order_seq_cst);
  gate_.notify_all();
}

inline void Core::check_waitable(const Var* var) const {
  for (const Running* at = Running::current; at != nullptr; at = at->outer)
    for (std::size_t i = 0; i < at->uses; ++i)
      if (at->links[i].var == var)
        fail("wait: operation '", at->said_name(), "' waits for a variable that it uses itself");
}

/// An operation that must run before var's first writer is complete, that is ready and that nobody runs yet: the writer
/// itself, or one that it waits for in turn, as far as `looks` go. Under var's lock.
inline Operation* Core::claim(Var* var, int& looks) {
  if (kind() != EngineKind::threaded || !var->writing || var->first->operation == nullptr) return nullptr;
  Operation* const writer = var->first->operation;  // it cannot end without var's lock
  if (workers_.queue().claim(writer)) return writer;
  // One more wait keeps it from running, and so its variables from going away, while this thread looks at them.
  std::int32_t waits = writer->waits.load(std::memory_order_relaxed);
  do {
    if (waits <= 0) return nullptr;
  } while (!writer->waits.compare_exchange_weak(waits, waits + 1, std::memory_order_acquire));
  Operation* found = nullptr;
  for (std::size_t i = 0; i < writer->uses && found == nullptr && looks > 0; ++i) {
    Var* const other = writer->links()[i].var;
    // locks are held against their order here: never wait for one
    if (other == var || --looks < 0 || !other->lock.try_lock()) continue;
    if (other->writing && other->first->operation != writer) found = claim(other, looks);
    other->lock.unlock();
  }
  if (writer->waits.fetch_sub(1, std::memory_order_acq_rel) != 1) return found;
  // everything else was granted meanwhile, so it is for this thread to see that it runs
  if (found == nullptr) return writer;
  workers_.queue().push(writer);  // the caller calls the workers, without these locks
  return found;
}

/// Simulated: the next operation, or null.
inline Operation* Core::pick() {
  return workers_.queue().pick([this](std::size_t ready) -> std::size_t {
    if (options_.choose != nullptr) return options_.choose(options_.choose_context, ready);
    std::uint64_t x = random_.fetch_add(0x9e3779b97f4a7c15u, std::memory_order_relaxed);  // splitmix64
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return static_cast<std::size_t>((x ^ (x >> 31)) >> 16);
  });
}

inline FailureState* Core::wait(Var* var, bool all) {
  if (var->uses.load(std::memory_order_acquire) == 0) return failure_of(var);
  var->lock.lock();
  const std::uint64_t writes = var->writes_pushed;
  bool checked = false;
  for (int round = 0;; ++round) {
    if (var->reached(writes, all)) {
      FailureState* const failure = var->failure.load(std::memory_order_relaxed);
      if (failure != nullptr) failure->retain();
      var->lock.unlock();
      return failure;
    }
    int looks = 32;
    Operation* const own = checked ? claim(var, looks) : nullptr;
    if (own == nullptr && round >= 2) var->watched = true;
    const auto seen = gate_.load(std::memory_order_seq_cst);
    const std::uint64_t version = var->version.load(std::memory_order_relaxed);
    var->lock.unlock();
    if (!checked) {
      check_waitable(var);
      checked = true;
    } else if (own != nullptr) {
      // what the caller waits for it may as well do; nothing else, because it may hold locks that others need
      ReadyList ready;
      workers_.call();
      execute(own, ready);
      make_ready(ready);
      tell_waiters();
      round = 0;
    } else if (Operation* const next = kind() == EngineKind::simulated ? pick() : nullptr) {
      execute_chain(*this, next);
    } else if (round < 2) {
      for (int spin = 0; spin < 300 && var->version.load(std::memory_order_acquire) == version &&
                         var->uses.load(std::memory_order_acquire) > 0;
           ++spin)
        pause();
    } else {
      const bool worker = workers_.is_own_thread();
      if (worker) workers_.lend_place();
      gate_.wait(seen, std::memory_order_seq_cst);
      if (worker) workers_.reclaim_place();
    }
    var->lock.lock();
  }
}

/// Waits until nothing is pending, and helps. Never throws.
inline void Core::quiesce() {
  if (quiet()) return;
  waiting_for_all_.fetch_add(1, std::memory_order_seq_cst);
  for (;;) {
    const auto seen = gate_.load(std::memory_order_seq_cst);
    if (kind() == EngineKind::simulated) {
      while (Operation* const next = pick()) execute_chain(*this, next);
    } else {
      for (int spin = 0; spin < 300 && !quiet(); ++spin) {
        while (Operation* const next = workers_.queue().pop()) {
          execute_chain(*this, next);
          spin = 0;
        }
        pause();
      }
    }
    if (quiet()) break;
    gate_.wait(seen, std::memory_order_seq_cst);
  }
  waiting_for_all_.fetch_sub(1, std::memory_order_seq_cst);
}

inline void Core::wait_all() {
  if (inside_operation_of(this)) fail("wait_all: called inside an operation, which would wait for itself");
  quiesce();
  FailureState* first = nullptr;
  {
    Hold hold(failures_lock_);
    first = first_unraised_;
    if (first != nullptr) {
      first_unraised_ = first->next_unraised;
    } else if (out_of_memory_) {
      out_of_memory_ = false;
      first = FailureState::out_of_memory();
    }
  }
  FailureState::raise_share(first);
}

// --- the life of an engine ------------------------------------------------------------------------------------------

/// Every engine, for forks.
struct AllCores {
  SpinLock lock;
  Core* newest = nullptr;
  bool hooked = false;

  void add(Core* core);
  void remove(Core* core);
  void before_fork();
  void after_fork(bool child);
};
inline constinit AllCores all_cores;

inline void AllCores::add(Core* core) {
  Hold hold(lock);
  core->older_ = newest;
  if (newest != nullptr) newest->newer_ = core;
  newest = core;
  if (std::exchange(hooked, true)) return;
  pthread_atfork([] { all_cores.before_fork(); }, [] { all_cores.after_fork(false); },
                 [] { all_cores.after_fork(true); });
}

/// Pending operations run in the parent alone: the fork waits for them. Nobody else may push meanwhile.
inline void AllCores::before_fork() {
  for (;;) {
    lock.lock();
    Core* busy = newest;
    while (busy != nullptr && (busy->quiet() || Core::inside_operation_of(busy))) busy = busy->older_;
    if (busy == nullptr) break;
    busy->visitors_.fetch_add(1, std::memory_order_seq_cst);
    lock.unlock();
    busy->quiesce();
    busy->visitors_.fetch_sub(1, std::memory_order_seq_cst);
  }
  for (Core* at = newest; at != nullptr; at = at->older_) at->workers_.before_fork();
  Blocks<64>::lock_all();
  Operation::Block::lock_all();
}

inline void AllCores::after_fork(bool child) {
  if (child) busy_threads.store(counted_busy ? 1 : 0, std::memory_order_relaxed);
  Operation::Block::unlock_all();
  Blocks<64>::unlock_all();
  for (Core* at = newest; at != nullptr; at = at->older_) at->workers_.after_fork(child);
  lock.unlock();
}

inline void AllCores::remove(Core* core) {
  Hold hold(lock);
  (core->newer_ == nullptr ? newest : core->newer_->older_) = core->older_;
  if (core->older_ != nullptr) core->older_->newer_ = core->newer_;
}

inline Core::Core(const EngineOptions& options)
    : options_(settled(options)),
      kind_(options_.kind),
      random_(options_.seed * 0xd1342543de82ef95u + 1),
      workers_(*this, options_.threads, &Core::execute_chain, [](Core& core) {
        core.tell_waiters();
      }) {
  all_cores.add(this);
}

inline void Core::close() noexcept {
  if (inside_operation_of(this)) return;
  quiesce();
  kind_.store(EngineKind::naive, std::memory_order_seq_cst);
  quiesce();
  workers_.stop();
}

inline Core::~Core() {
  all_cores.remove(this);
  for (Backoff wait; visitors_.load(std::memory_order_seq_cst) > 0;) wait();
  while (FailureState* const failure = first_unraised_) {
    first_unraised_ = failure->next_unraised;
    failure->drop();
  }
}

}  // namespace strop::inline v0::detail
