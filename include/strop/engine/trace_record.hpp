// SPDX-License-Identifier: Apache-2.0
/// \file
/// What the engine notes of an operation while a trace is taken, and where it notes it.
#pragma once
#include <atomic>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <source_location>
#include <string>
#include <string_view>
#include <strop/core/device.hpp>
#include <strop/core/error.hpp>
#include <strop/core/installed.hpp>
#include <utility>
#include <vector>

namespace strop::inline v0 {

/// Takes what a pusher has to say of an operation: `note("shape", "2x3"); note("bytes", 24);`
class TraceNotes {
 public:
  void operator()(std::string_view key, std::string_view value);
  void operator()(std::string_view key, std::integral auto value) {
    if constexpr (std::same_as<decltype(value), char>)
      (*this)(key, std::string_view(&value, 1));
    else
      add(key, cat(value));
  }

 private:
  friend struct TraceNotesAccess;
  void add(std::string_view key, std::string_view json);
  std::string json_;
};

/// A function of a TraceNotes&, by reference: it is called in the push, and only while a trace is taken.
class EngineNotes {
 public:
  EngineNotes() = default;
  template <class F>
    requires std::invocable<const F&, TraceNotes&>
  EngineNotes(const F& notes)
      : notes_(&notes), call_([](const void* f, TraceNotes& to) { (*static_cast<const F*>(f))(to); }) {}

 private:
  friend struct TraceNotesAccess;
  const void* notes_ = nullptr;
  void (*call_)(const void* notes, TraceNotes& to) = nullptr;
};

namespace detail {

struct FailureState;
struct Link;
struct Var;

/// Something is traced. The one load that an operation costs while nothing is.
/// Negative: the environment has not been asked yet.
inline constinit std::atomic<signed char> tracing{-1};
bool ask_tracing() noexcept;
/// Asks the environment. Installed by the first engine, and by what may have calls go to one: without either, nothing
/// happens that a trace could show.
inline constinit Installed<bool() noexcept> trace_asked{&ask_tracing};
inline bool is_tracing() {
  const signed char state = tracing.load(std::memory_order_relaxed);
  return state != 0 && (state > 0 || (trace_asked && trace_asked.get("a trace")()));
}

struct TraceRecord {
  /// An operation that this one had to come after: for what it wrote, or for the order alone.
  struct After {
    std::uint64_t id;
    bool data;
  };
  enum class Status : std::uint8_t { ran, failed, skipped };

  TraceRecord* next = nullptr;
  std::uint64_t session = 0, id = 0;  // the first of a session is 1
  std::string name, notes, why;
  std::source_location where;
  std::vector<After> after;
  // nanoseconds since the session began; `ready`: every use is granted, `returned`: the function has
  std::int64_t pushed = 0, ready = 0, started = 0, returned = 0, ended = 0;
  unsigned engine = 0, pusher = 0, thread = 0, finisher = 0;
  std::uint8_t lane = 0;
  bool asynchronous = false, worker = false;
  Status status = Status::ran;
};

/// The text of the notes; a function that throws has said what it had said by then.
std::string trace_notes(const EngineNotes& notes);
/// A record of an operation that is about to be pushed; null where the trace is full or memory short.
TraceRecord* trace_push(unsigned engine, std::string_view name, std::string notes, std::source_location where,
                        std::uint8_t lane, bool asynchronous) noexcept;
/// The operation was not pushed.
void trace_discard(TraceRecord* record) noexcept;
/// The operation has its place behind others: called in the order of pushes on every variable.
void trace_order(TraceRecord* record, const Link* links, std::size_t uses) noexcept;
void trace_ready(TraceRecord* record) noexcept;
void trace_start(TraceRecord* record) noexcept;
void trace_return(TraceRecord* record) noexcept;
/// `started`: the function was called.
void trace_end(TraceRecord* record, const FailureState* failure, bool started) noexcept;
/// Nobody looks at the record any more: to the trace with it.
void trace_keep(TraceRecord* record) noexcept;
/// The variable goes away; another one may get its address.
void trace_forget(const Var* var) noexcept;

}  // namespace detail
}  // namespace strop::inline v0
