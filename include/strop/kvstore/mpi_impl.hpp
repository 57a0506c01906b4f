// SPDX-License-Identifier: Apache-2.0
/// \file
/// OpenMPI, opened at run time by the layout of its library: a program needs it only to make a distributed store.
#pragma once
#include <strop/core/config.hpp>
#include <strop/core/error.hpp>
#include <strop/core/list.hpp>
#include <strop/core/log.hpp>
#include <strop/engine/sync.hpp>
#include <strop/kvstore/transport.hpp>

#include <dlfcn.h>
#include <signal.h>
#include <unistd.h>
#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

namespace strop::inline v0 {

STROP_IMPL detail::Ref<Transport> Transport::apart() {
  fail("KVStore: this transport has no messages apart from those of all workers together, and dist_async needs them");
}
STROP_IMPL int Transport::receive_any(detail::List<std::byte>&, const std::atomic<bool>&) {
  fail("KVStore: this transport does not receive from any worker, and dist_async needs it");
}

STROP_IMPL void Transport::give_up(const std::string&) {}

namespace detail {

/// The functions of OpenMPI that are called here. Its handles are pointers, to objects that it exports by name.
struct Mpi {
  using Comm = struct ompi_communicator_t*;
  using Type = struct ompi_datatype_t*;
  using Request = struct ompi_request_t*;
  struct Status {  // MPI_Status of OpenMPI's layout
    int source, tag, error, cancelled;
    std::size_t count;
  };

  static constexpr int multiple = 3, any_source = -1;
  static constexpr int data_tag = 1, leave_tag = 2;

  int (*initialized)(int*);
  int (*finalized)(int*);
  int (*init_thread)(int*, char***, int, int*);
  int (*query_thread)(int*);
  int (*finalize)();
  int (*abort)(Comm, int);
  int (*comm_dup)(Comm, Comm*);
  int (*comm_rank)(Comm, int*);
  int (*comm_size)(Comm, int*);
  int (*comm_set_errhandler)(Comm, struct ompi_errhandler_t*);
  int (*isend)(const void*, int, Type, int, int, Comm, Request*);
  int (*irecv)(void*, int, Type, int, int, Comm, Request*);
  int (*test)(Request*, int*, Status*);
  int (*iprobe)(int, int, Comm, int*, Status*);
  int (*get_count)(const Status*, Type, int*);
  int (*cancel)(Request*);
  int (*error_string)(int, char*, int*);
  Comm world;
  Type byte;
  struct ompi_errhandler_t* errors_return;
  Comm leaving;  // for those who leave

  /// Opens and starts MPI once. Throws Error where that cannot be.
  static const Mpi& get();
  void check(int code, std::string_view what) const {
    if (code == 0) return;
    char text[512] = {};  // MPI_MAX_ERROR_STRING is 256
    int length = 0;
    error_string(code, text, &length);
    strop::fail("KVStore: ", what, ": MPI says ", std::string_view(text, unsigned_size(std::max(length, 0))));
  }

 private:
  static Mpi open();
  static void leave() noexcept;
  static inline const Mpi* started = nullptr;
  static inline pid_t process = 0;  // a child of a fork has no MPI to leave
};

/// Threads that wait for whatever message comes. MPI ends when none does.
struct MpiReceivers {
  std::atomic<int> count{0};
  std::atomic<bool> ending{false};
};
inline constinit MpiReceivers mpi_receivers;

/// Why nothing is exchanged in this process any more; what was posted then is never waited for again.
struct MpiFailure {
  SpinLock lock;
  std::string sentence;
  void set(const std::string& why) {
    const Hold hold(lock);
    if (sentence.empty()) sentence = why;
  }
  std::string get() {
    const Hold hold(lock);
    return sentence;
  }
};
inline MpiFailure& mpi_failure() {
  static MpiFailure& failure = *new MpiFailure;
  return failure;
}

STROP_IMPL Mpi Mpi::open() {
  void* library = nullptr;
  for (const char* name : {"libmpi.so.40", "libmpi.so.80", "libmpi.so"}) {
    library = ::dlopen(name, RTLD_NOW | RTLD_GLOBAL);  // its plugins look for its symbols
    if (library != nullptr) break;
  }
  if (library == nullptr) {
    const char* const why = ::dlerror();
    strop::fail(
        "KVStore: a distributed store needs OpenMPI (Debian's openmpi-bin) and mpirun, and its library cannot be "
        "opened: ",
        why != nullptr ? why : "the system does not say why");
  }
  const auto symbol = [&](const char* name) {
    void* const found = ::dlsym(library, name);
    if (found == nullptr)
      strop::fail("KVStore: the MPI library that is found here is not OpenMPI: it has no ", name,
                  "; a distributed store of this version needs OpenMPI");
    return found;
  };
  Mpi mpi{};
  mpi.world = static_cast<Comm>(symbol("ompi_mpi_comm_world"));
  mpi.byte = static_cast<Type>(symbol("ompi_mpi_byte"));
  mpi.errors_return = static_cast<struct ompi_errhandler_t*>(symbol("ompi_mpi_errors_return"));
  const auto bind = [&]<class F>(F*& f, const char* name) { f = reinterpret_cast<F*>(symbol(name)); };
  bind(mpi.initialized, "MPI_Initialized");
  bind(mpi.finalized, "MPI_Finalized");
  bind(mpi.init_thread, "MPI_Init_thread");
  bind(mpi.query_thread, "MPI_Query_thread");
  bind(mpi.finalize, "MPI_Finalize");
  bind(mpi.abort, "MPI_Abort");
  bind(mpi.comm_dup, "MPI_Comm_dup");
  bind(mpi.comm_rank, "MPI_Comm_rank");
  bind(mpi.comm_size, "MPI_Comm_size");
  bind(mpi.comm_set_errhandler, "MPI_Comm_set_errhandler");
  bind(mpi.isend, "MPI_Isend");
  bind(mpi.irecv, "MPI_Irecv");
  bind(mpi.test, "MPI_Test");
  bind(mpi.iprobe, "MPI_Iprobe");
  bind(mpi.get_count, "MPI_Get_count");
  bind(mpi.cancel, "MPI_Cancel");
  bind(mpi.error_string, "MPI_Error_string");
  return mpi;
}

STROP_IMPL const Mpi& Mpi::get() {
  static const Mpi mpi = [] {
    Mpi made = open();
    int running = 0, given = 0;
    made.check(made.initialized(&running), "MPI_Initialized");
    if (running == 0) {
      made.check(made.init_thread(nullptr, nullptr, multiple, &given), "MPI_Init_thread");
    } else {
      made.check(made.query_thread(&given), "MPI_Query_thread");
    }
    if (given < multiple)
      strop::fail("KVStore: MPI was started for threads of level ", given, ", and a distributed store needs ", multiple,
                  " (MPI_THREAD_MULTIPLE)");
    made.check(made.comm_set_errhandler(made.world, made.errors_return), "MPI_Comm_set_errhandler");
    made.check(made.comm_dup(made.world, &made.leaving), "MPI_Comm_dup");
    made.check(made.comm_set_errhandler(made.leaving, made.errors_return), "MPI_Comm_set_errhandler");
    return made;
  }();
  static const bool at_exit = [] {
    started = &mpi;
    process = ::getpid();
    return std::atexit([] { leave(); }) == 0;
  }();
  static_cast<void>(at_exit);
  return mpi;
}

/// Tells those who may wait for this worker that it leaves, and waits until all do: mpirun of OpenMPI 4.1 crashes or
/// hangs where one worker is in MPI_Finalize and another ends the run. Once an exchange has failed MPI cannot end as it
/// should, and the first worker that ends then ends all of them.
STROP_IMPL void Mpi::leave() noexcept {
  if (::getpid() != process) return;
  const Mpi& mpi = *started;
  int over = 0, rank = 0, size = 0;
  if (mpi.finalized(&over) != 0 || over != 0) return;
  if (mpi.comm_rank(mpi.leaving, &rank) != 0 || mpi.comm_size(mpi.leaving, &size) != 0) return;
  if (!mpi_failure().get().empty()) {
    ::usleep(static_cast<useconds_t>(std::min(rank, 5)) * 500'000);  // one is enough
    mpi.abort(mpi.world, 1);
    return;
  }
  static char nothing = 0;
  for (int k = 0; k < size; ++k) {
    Request sent = nullptr;
    if (k != rank) mpi.isend(&nothing, 0, mpi.byte, k, leave_tag, mpi.leaving, &sent);
  }
  for (int k = 0; k < size; ++k) {
    int left = k == rank ? 1 : 0;
    Status status{};
    while (left == 0 && mpi.iprobe(k, leave_tag, mpi.leaving, &left, &status) == 0)
      if (left == 0) ::usleep(500);
  }
  mpi_receivers.ending = true;
  while (mpi_receivers.count != 0) ::usleep(100);
  mpi.finalize();
}

class MpiTransport final : public Transport {
 public:
  MpiTransport() : mpi_(Mpi::get()) {
    mpi_.check(mpi_.comm_dup(mpi_.world, &comm_), "MPI_Comm_dup");
    mpi_.check(mpi_.comm_set_errhandler(comm_, mpi_.errors_return), "MPI_Comm_set_errhandler");
    mpi_.check(mpi_.comm_rank(comm_, &rank_), "MPI_Comm_rank");
    mpi_.check(mpi_.comm_size(comm_, &size_), "MPI_Comm_size");
    meet();
  }
  int rank() const override { return rank_; }
  int size() const override { return size_; }

  void exchange(Span<const Message> sends, Span<const Message> receives, std::string_view what) override {
    const std::string before = mpi_failure().get();
    if (!before.empty()) strop::fail(before);
    int over = 0;
    if (mpi_.finalized(&over) != 0 || over != 0) strop::fail("KVStore: ", what, ": MPI has ended");
    List<Pending, 16> pending;
    try {
      for (const Message& m : receives) post(m, false, pending);
      for (const Message& m : sends) post(m, true, pending);
      wait(pending, what);
    } catch (const std::exception& e) {
      // Nobody waits for them any more; what has not begun to arrive never will.
      for (Pending& p : pending)
        if (!p.sends && p.request != nullptr && !p.done) mpi_.cancel(&p.request);
      mpi_failure().set(e.what());
      throw;
    }
  }

  Ref<Transport> apart() override { return Ref<Transport>(new MpiTransport); }
  void give_up(const std::string& why) override { mpi_failure().set(why); }
  int receive_any(List<std::byte>& message, const std::atomic<bool>& stop) override {
    struct Counts {
      Counts() { ++mpi_receivers.count; }
      ~Counts() { --mpi_receivers.count; }
    } counts;
    try {
      Backoff backoff;
      const std::int64_t began = nanoseconds();
      while (!stop && !mpi_receivers.ending) {
        const std::string before = mpi_failure().get();
        if (!before.empty()) strop::fail(before);
        const std::int64_t now = nanoseconds();
        if (now - looked_ > 200'000'000) {
          looked_ = now;
          look_after_all();
        }
        int there = 0, count = 0;
        Mpi::Status status{};
        mpi_.check(mpi_.iprobe(Mpi::any_source, Mpi::data_tag, comm_, &there, &status), "MPI_Iprobe");
        if (there == 0) {
          nap(backoff, now - began);
          continue;
        }
        mpi_.check(mpi_.get_count(&status, mpi_.byte, &count), "MPI_Get_count");
        message.resize(count);
        const Message one{status.source, message.data(), count, nullptr};
        exchange({}, {&one, 1}, "a request");
        return status.source;
      }
    } catch (const std::exception& e) {
      mpi_failure().set(e.what());
      throw;
    }
    return -1;
  }

 private:
  struct Pending {
    Mpi::Request request = nullptr;
    int worker = 0;
    bool sends = false, done = false;
    Index* received = nullptr;
    bool left = false;  // the worker was seen to leave; what it sent before may still be on its way
  };
  /// Who a worker is on its machine, so that the others there see whether it lives.
  struct Peer {
    char host[256] = {};
    std::int64_t process = 0;
  };
  static constexpr Index most_bytes = Index{1} << 30;  // of one message: MPI counts in int

  void post(const Message& m, bool sends, List<Pending, 16>& pending) {
    for (Index at = 0; at == 0 || at < m.size; at += most_bytes) {
      const int count = static_cast<int>(std::min(most_bytes, m.size - at));
      Mpi::Request request = nullptr;
      if (sends)
        mpi_.check(mpi_.isend(m.data + at, count, mpi_.byte, m.worker, Mpi::data_tag, comm_, &request), "MPI_Isend");
      else
        mpi_.check(mpi_.irecv(m.data + at, count, mpi_.byte, m.worker, Mpi::data_tag, comm_, &request), "MPI_Irecv");
      pending.push_back({request, m.worker, sends, false, m.received, false});
    }
  }

  void wait(List<Pending, 16>& pending, std::string_view what) {
    Backoff backoff;
    std::int64_t looked = nanoseconds(), told = looked;
    const std::int64_t began = looked;
    for (Index left = pending.size(); left > 0;) {
      for (Pending& p : pending) {
        if (p.done) continue;
        int done = 0;
        Mpi::Status status{};
        mpi_.check(mpi_.test(&p.request, &done, &status), what);
        if (done == 0) continue;
        p.done = true;
        --left;
        int count = 0;
        if (p.received != nullptr && mpi_.get_count(&status, mpi_.byte, &count) == 0) *p.received = count;
      }
      if (left == 0) return;
      const std::int64_t now = nanoseconds();
      nap(backoff, now - began);
      if (now - looked < 200'000'000) continue;
      looked = now;
      const std::string failure = mpi_failure().get();
      if (!failure.empty()) strop::fail(failure);
      for (Pending& p : pending)
        if (!p.done) look_after(p, what);
      if (now - told > 10'000'000'000) {
        told = now;
        for (const Pending& p : pending)
          if (!p.done && !p.sends) {
            log(cat("KVStore: worker ", rank_, " has waited ", (now - began) / 1'000'000'000, " s for worker ",
                    p.worker, " at ", what));
            break;
          }
      }
    }
  }

  static void nap(Backoff& backoff, std::int64_t waited) {
    if (waited > 2'000'000)
      ::usleep(50);  // somebody computes, perhaps on this core
    else
      backoff();
  }

  /// Refuses to wait for a worker that is dead or leaves.
  void look_after(Pending& pending, std::string_view what) {
    const int worker = pending.worker;
    if (has_died(worker)) end_at(worker, "died", what);
    if (has_left(worker, what) && std::exchange(pending.left, true)) end_at(worker, "ended", what);
  }
  /// The same of all workers, by the thread that waits for whatever message comes. A store ends together with those of
  /// the others, and this thread with it, well before the tenth look.
  void look_after_all() {
    constexpr std::string_view what = "whatever it asks";
    int left = -1;
    for (int k = 0; k < size_; ++k) {
      if (k == rank_) continue;
      if (has_died(k)) end_at(k, "died", what);
      if (has_left(k, what)) left = k;
    }
    if (left >= 0 && ++left_looks_ > 9) end_at(left, "ended", what);
  }
  bool has_died(int worker) const {
    const Peer& peer = element(peers_, worker);
    return std::strncmp(peer.host, element(peers_, rank_).host, sizeof peer.host) == 0 &&
           ::kill(static_cast<pid_t>(peer.process), 0) != 0 && errno == ESRCH;
  }
  bool has_left(int worker, std::string_view what) const {
    int left = 0;
    Mpi::Status status{};
    mpi_.check(mpi_.iprobe(worker, Mpi::leave_tag, mpi_.leaving, &left, &status), what);
    return left != 0;
  }
  [[noreturn]] void end_at(int worker, std::string_view how, std::string_view what) const {
    const Peer& peer = element(peers_, worker);
    strop::fail("KVStore: worker ", worker, " (process ", peer.process, " on ", static_cast<const char*>(peer.host),
                ") has ", how, ", and worker ", rank_, " waits for it at ", what);
  }

  void meet() {
    peers_ = std::vector<Peer>(unsigned_size(size_));
    Peer& own = element(peers_, rank_);
    ::gethostname(own.host, sizeof own.host - 1);
    own.process = ::getpid();
    List<Message> sends, receives;
    for (int k = 0; k < size_; ++k) {
      if (k == rank_) continue;
      sends.push_back({k, reinterpret_cast<std::byte*>(&own), Index{sizeof(Peer)}, nullptr});
      receives.push_back({k, reinterpret_cast<std::byte*>(&element(peers_, k)), Index{sizeof(Peer)}, nullptr});
    }
    exchange(sends, receives, "create");
  }

  const Mpi& mpi_;
  Mpi::Comm comm_ = nullptr;
  int rank_ = 0, size_ = 1;
  std::vector<Peer> peers_;
  std::int64_t looked_ = 0;  // when, after all workers
  int left_looks_ = 0;       // that found one who leaves
};

STROP_IMPL Ref<Transport> mpi_transport() { return Ref<Transport>(new MpiTransport); }

}  // namespace detail
}  // namespace strop::inline v0
