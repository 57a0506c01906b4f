// SPDX-License-Identifier: Apache-2.0
/// \file
/// How traces are taken.
#pragma once
#include <atomic>
#include <cstdlib>
#include <exception>
#include <new>
#include <strop/core/config.hpp>
#include <strop/core/environment.hpp>
#include <strop/core/error.hpp>
#include <strop/core/fork.hpp>
#include <strop/core/log.hpp>
#include <strop/engine/failure.hpp>
#include <strop/engine/sync.hpp>
#include <strop/engine/trace.hpp>
#include <strop/engine/trace_json.hpp>
#include <strop/engine/variable.hpp>
#include <strop/engine/workers.hpp>
#include <utility>

namespace strop::inline v0 {

struct TraceNotesAccess {
  static std::string text(const EngineNotes& notes) {
    TraceNotes to;
    if (notes.call_ != nullptr) notes.call_(notes.notes_, to);
    return std::move(to.json_);
  }
};

STROP_IMPL void TraceNotes::operator()(std::string_view key, std::string_view value) {
  std::string json;
  detail::append_json(json, value);
  add(key, json);
}
STROP_IMPL void TraceNotes::add(std::string_view key, std::string_view json) {
  if (!json_.empty()) json_ += ", ";
  detail::append_json(json_, key);
  json_ += ": ";
  json_ += json;
}

namespace detail {

/// The trace of the process. Never destroyed.
struct Tracer {
  /// What has been pushed last on a variable.
  struct Place {
    const Var* var;
    std::uint64_t writer = 0;
    std::vector<std::uint64_t> readers;  // since that writer
    Place* next;
  };
  static constexpr std::size_t buckets = 4096;
  static constexpr std::size_t most_readers = 64;  // a constant that everybody reads: the latest stand for all

  static ForkPart forks;

  SpinLock lock;
  std::atomic<std::uint64_t> session{0};  // 0: none
  std::uint64_t sessions = 0;
  std::atomic<std::int64_t> began{0};
  std::string path;
  std::size_t most = 0, made = 0, discarded = 0, left_out = 0;
  std::atomic<TraceRecord*> kept{nullptr};
  Place** places = nullptr;

  static Tracer& get() {
    static Tracer* const tracer = new Tracer;
    return *tracer;
  }
  std::int64_t now() const { return nanoseconds() - began.load(std::memory_order_relaxed); }

  static std::size_t bucket(const Var* var) { return reinterpret_cast<std::uintptr_t>(var) / 64 % buckets; }
  /// Under the lock.
  Place& place(const Var* var) {
    Place*& head = places[bucket(var)];
    for (Place* at = head; at != nullptr; at = at->next)
      if (at->var == var) return *at;
    return *(head = new Place{var, 0, {}, head});
  }
  void forget(const Var* var) {
    for (Place** at = &places[bucket(var)]; *at != nullptr; at = &(*at)->next)
      if ((*at)->var == var) {
        Place* const gone = *at;
        *at = gone->next;
        delete gone;
        return;
      }
  }

  std::uint64_t begin(std::string to, std::size_t limit) {
    join_forks(forks);
    Hold hold(lock);
    if (session.load(std::memory_order_relaxed) != 0)
      fail("Trace: '", path, "' is being recorded; one trace at a time is taken");
    if (places == nullptr) places = new Place* [buckets] {};
    path = std::move(to);
    most = limit;
    made = discarded = left_out = 0;
    began.store(nanoseconds(), std::memory_order_relaxed);
    session.store(++sessions, std::memory_order_relaxed);
    tracing.store(1, std::memory_order_seq_cst);
    return sessions;
  }

  /// Ends the session if it still runs; returns its records, oldest last, and what the file must say.
  TraceRecord* end(std::uint64_t which, TraceSession& said) {
    Hold hold(lock);
    if (session.load(std::memory_order_relaxed) != which) return nullptr;
    tracing.store(0, std::memory_order_seq_cst);
    session.store(0, std::memory_order_relaxed);
    for (std::size_t i = 0; i < buckets; ++i)
      while (Place* const gone = places[i]) {
        places[i] = gone->next;
        delete gone;
      }
    said = {path, left_out, made - discarded};
    return kept.exchange(nullptr, std::memory_order_acquire);
  }

  /// Writes the file. Throws Error where it cannot.
  void finish(std::uint64_t which) {
    TraceSession said;
    std::vector<TraceRecord*> records;
    const auto remove = [&] {
      for (TraceRecord* record : records) delete record;
    };
    TraceRecord* at = end(which, said);
    if (said.path.empty()) return;
    while (at != nullptr) {
      TraceRecord* const record = std::exchange(at, at->next);
      if (record->session == which)
        records.push_back(record);
      else
        delete record;
    }
    try {
      write_trace(said, records);
    } catch (...) {
      remove();
      throw;
    }
    remove();
  }
  void finish_quietly(std::uint64_t which) noexcept {
    try {
      finish(which);
    } catch (const std::exception& e) {
      log(e.what());
    }
  }
};

STROP_IMPL std::string trace_notes(const EngineNotes& notes) {
  try {
    return TraceNotesAccess::text(notes);
  } catch (...) {
    return {};
  }
}

STROP_IMPL TraceRecord* trace_push(unsigned engine, std::string_view name, std::string notes,
                                   std::source_location where, std::uint8_t lane, bool asynchronous) noexcept {
  Tracer& tracer = Tracer::get();
  TraceRecord* record = nullptr;
  try {
    record = new TraceRecord;
    record->name = name;
    record->notes = std::move(notes);
    record->after.reserve(4);
  } catch (...) {
    delete record;
    record = nullptr;
  }
  Hold hold(tracer.lock);
  const std::uint64_t session = tracer.session.load(std::memory_order_relaxed);
  if (record == nullptr || session == 0 || tracer.made >= tracer.most) {
    ++tracer.left_out;
    delete record;
    return nullptr;
  }
  record->session = session;
  record->id = ++tracer.made;
  record->where = where;
  record->engine = engine;
  record->pusher = thread_index();
  record->lane = lane;
  record->asynchronous = asynchronous;
  record->pushed = tracer.now();
  return record;
}

STROP_IMPL void trace_discard(TraceRecord* record) noexcept {
  Tracer& tracer = Tracer::get();
  {
    Hold hold(tracer.lock);
    if (tracer.session.load(std::memory_order_relaxed) == record->session) ++tracer.discarded;
  }
  delete record;
}

STROP_IMPL void trace_order(TraceRecord* record, const Link* links, std::size_t uses) noexcept {
  Tracer& tracer = Tracer::get();
  Hold hold(tracer.lock);
  if (tracer.session.load(std::memory_order_relaxed) != record->session) return;
  try {
    for (std::size_t i = 0; i < uses; ++i) {
      Tracer::Place& place = tracer.place(links[i].var);
      const Mode mode = links[i].mode;
      if (place.writer != 0 && (mode != Mode::write || place.readers.empty()))
        record->after.push_back({place.writer, mode != Mode::write});
      if (mode == Mode::read) {
        if (place.readers.size() >= Tracer::most_readers) place.readers.erase(place.readers.begin());
        place.readers.push_back(record->id);
        continue;
      }
      for (std::uint64_t reader : place.readers) record->after.push_back({reader, false});
      place.readers.clear();
      place.writer = record->id;
    }
  } catch (...) {
    // no memory: an arrow is missing
  }
}

STROP_IMPL void trace_ready(TraceRecord* record) noexcept { record->ready = Tracer::get().now(); }

STROP_IMPL void trace_start(TraceRecord* record) noexcept {
  record->started = Tracer::get().now();
  if (record->ready == 0 || record->ready > record->started) record->ready = record->started;
  record->thread = thread_index();
  record->worker = Workers::of_this_thread() != nullptr;
}

STROP_IMPL void trace_return(TraceRecord* record) noexcept { record->returned = Tracer::get().now(); }

STROP_IMPL void trace_end(TraceRecord* record, const FailureState* failure, bool started) noexcept {
  if (!started) {
    trace_start(record);
    record->returned = record->started;
  }
  record->ended = Tracer::get().now();
  record->finisher = thread_index();
  if (failure == nullptr) return;
  record->status = started ? TraceRecord::Status::failed : TraceRecord::Status::skipped;
  try {
    if (!started) {
      record->why = failure->operation.empty() ? "what it depends on failed" : cat("'", failure->operation, "' failed");
    } else {
      std::rethrow_exception(failure->error);
    }
  } catch (const std::exception& e) {
    try {
      record->why = e.what();
    } catch (...) {  // no memory: without the reason
    }
  } catch (...) {
    record->why = "?";
  }
}

STROP_IMPL void trace_keep(TraceRecord* record) noexcept {
  Tracer& tracer = Tracer::get();
  record->next = tracer.kept.load(std::memory_order_relaxed);
  while (
      !tracer.kept.compare_exchange_weak(record->next, record, std::memory_order_release, std::memory_order_relaxed)) {
  }
}

STROP_IMPL void trace_forget(const Var* var) noexcept {
  Tracer& tracer = Tracer::get();
  Hold hold(tracer.lock);
  if (tracer.session.load(std::memory_order_relaxed) != 0) tracer.forget(var);
}

/// Begins a trace where STROP_TRACE names a file; the first call counts.
STROP_IMPL void trace_from_environment() {
  static const bool once = [] {
    const Setting path = environment({"STROP_TRACE"});
    if (!path) return false;
    static std::uint64_t session = 0;
    session = Tracer::get().begin(path.value, 1'000'000);
    std::atexit([] { Tracer::get().finish_quietly(session); });
    return true;
  }();
  static_cast<void>(once);
  signed char unasked = -1;
  tracing.compare_exchange_strong(unasked, 0, std::memory_order_relaxed);
}
STROP_IMPL bool ask_tracing() noexcept {
  try {
    trace_from_environment();
  } catch (...) {  // no memory for a trace
    tracing.store(0, std::memory_order_relaxed);
  }
  return tracing.load(std::memory_order_relaxed) > 0;
}

inline constinit ForkPart Tracer::forks{ForkPlace::trace, []() noexcept { get().lock.lock(); },
                                        [](bool child) noexcept {
                                          if (child) {  // the file is the parent's
                                            tracing.store(0, std::memory_order_relaxed);
                                            get().session.store(0, std::memory_order_relaxed);
                                          }
                                          get().lock.unlock();
                                        }};

}  // namespace detail

STROP_IMPL Trace::Trace(std::string path, std::size_t most)
    : session_((detail::trace_from_environment(), detail::Tracer::get().begin(std::move(path), most))) {}
STROP_IMPL Trace::~Trace() { detail::Tracer::get().finish_quietly(session_); }
STROP_IMPL void Trace::finish() { detail::Tracer::get().finish(session_); }

}  // namespace strop::inline v0
