// SPDX-License-Identifier: Apache-2.0
/// \file
/// A trace as text: the events of the Trace Event Format, which Perfetto and chrome://tracing read.
#pragma once
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <strop/core/config.hpp>
#include <strop/core/error.hpp>
#include <strop/core/json.hpp>
#include <strop/core/output.hpp>
#include <strop/engine/context.hpp>
#include <strop/engine/trace_record.hpp>
#include <utility>
#include <vector>

namespace strop::inline v0::detail {

/// What the file says of the session as a whole.
struct TraceSession {
  std::string path;
  std::size_t left_out = 0, pushed = 0;
};

/// Nanoseconds as microseconds.
STROP_IMPL std::string microseconds(std::int64_t ns) {
  const std::int64_t rest = ns % 1000;
  return cat(ns / 1000, rest < 10 ? ".00" : rest < 100 ? ".0" : ".", rest);
}

/// Collects events and writes them, as `save` writes arrays.
class TraceFile {
 public:
  explicit TraceFile(const TraceSession& session, std::size_t written) : out_(session.path, "Trace") {
    text_ = cat("{\"displayTimeUnit\": \"ns\", \"otherData\": {\"program\": \"strop\", \"operations\": ", written,
                ", \"left out\": ", session.left_out, ", \"unfinished\": ", session.pushed - written,
                "},\n\"traceEvents\": [");
  }

  /// An event on a thread; `rest` are its other members.
  void event(char phase, std::uint64_t thread, std::string_view rest) {
    text_ +=
        cat(first_ ? "\n" : ",\n", "{\"ph\": \"", phase, "\", \"pid\": ", pid_, ", \"tid\": ", thread, ", ", rest, "}");
    first_ = false;
    if (text_.size() > 1 << 20) flush();
  }
  void finish() {
    text_ += "\n]}\n";
    flush();
    out_.commit();
  }

 private:
  void flush() {
    out_.write(text_);
    text_.clear();
  }

  Output out_;
  std::string text_;
  const long pid_ = getpid();
  bool first_ = true;
};

/// The slice of an operation.
STROP_IMPL std::string trace_slice(const TraceRecord& record) {
  std::string out =
      cat("\"ts\": ", microseconds(record.started), ", \"dur\": ", microseconds(record.returned - record.started),
          ", \"cat\": \"operation\", \"name\": ");
  append_json(out, record.name.empty() ? std::string_view("operation") : std::string_view(record.name));
  out += cat(", \"args\": {", record.notes, record.notes.empty() ? "" : ", ", "\"strop\": {\"operation\": ", record.id,
             ", \"engine\": ", record.engine, ", \"device\": \"", to_text(device_of_lane(record.lane)),
             "\", \"pushed us\": ", microseconds(record.pushed),
             ", \"blocked us\": ", microseconds(record.ready - record.pushed),
             ", \"queued us\": ", microseconds(record.started - record.ready), ", \"pushed by\": ", record.pusher,
             ", \"at\": ");
  append_json(out, place_of(record.where));
  if (record.asynchronous) out += cat(", \"completed us\": ", microseconds(record.ended));
  constexpr const char* said[] = {"ran", "failed", "skipped"};
  out += cat(", \"status\": \"", said[static_cast<int>(record.status)], '"');
  if (!record.why.empty()) {
    out += ", \"why\": ";
    append_json(out, record.why);
  }
  out += ", \"after\": [";
  for (std::size_t i = 0; i < record.after.size(); ++i) out += cat(i == 0 ? "" : ", ", record.after[i].id);
  return out += "]}}";
}

/// Writes the file; sorts the records. Throws Error where the file cannot be written.
STROP_IMPL void write_trace(const TraceSession& session, std::vector<TraceRecord*>& records) {
  using Record = TraceRecord;
  std::sort(records.begin(), records.end(), [](const Record* a, const Record* b) { return a->id < b->id; });
  const auto find = [&](std::uint64_t id) -> const Record* {
    const auto at = std::lower_bound(records.begin(), records.end(), id,
                                     [](const Record* record, std::uint64_t wanted) { return record->id < wanted; });
    return at == records.end() || (*at)->id != id ? nullptr : *at;
  };
  TraceFile file(session, records.size());
  std::vector<const Record*> threads;
  for (Record* record : records) {
    const auto known = std::find_if(threads.begin(), threads.end(),
                                    [&](const Record* other) { return other->thread == record->thread; });
    if (known == threads.end())
      threads.push_back(record);
    else if (record->worker)
      *known = record;
    // a slice has a length, so that arrows find it; of two arrows from one operation the one with data stays
    record->returned = std::max(record->returned, record->started + 1);
    std::sort(record->after.begin(), record->after.end(), [](const Record::After& a, const Record::After& b) {
      return a.id != b.id ? a.id < b.id : a.data && !b.data;
    });
    record->after.erase(std::unique(record->after.begin(), record->after.end(),
                                    [](const Record::After& a, const Record::After& b) { return a.id == b.id; }),
                        record->after.end());
  }
  for (const Record* record : threads) {
    const std::string what = !record->worker     ? cat("thread ", record->thread)
                             : record->lane == 0 ? cat("worker ", record->thread, " of engine ", record->engine)
                                                 : cat("worker ", record->thread, " of engine ", record->engine,
                                                       " for ", to_text(device_of_lane(record->lane)));
    file.event('M', record->thread, cat("\"name\": \"thread_name\", \"args\": {\"name\": \"", what, "\"}"));
  }
  std::uint64_t arrows = 0;
  for (const Record* record : records) {
    file.event('X', record->thread, trace_slice(*record));
    if (record->asynchronous && record->ended > record->returned) {
      std::string name;
      append_json(name, record->name.empty() ? std::string_view("operation") : std::string_view(record->name));
      const std::string same = cat("\"cat\": \"in flight\", \"id\": ", record->id, ", \"name\": ", name, ", \"ts\": ");
      file.event('b', record->thread, cat(same, microseconds(record->returned)));
      file.event('e', record->finisher, cat(same, microseconds(record->ended)));
    }
    for (const Record::After& after : record->after) {
      const Record* const from = find(after.id);
      if (from == nullptr) continue;
      const std::string same = cat("\"cat\": \"", after.data ? "data" : "order", "\", \"name\": \"",
                                   after.data ? "data" : "order", "\", \"id\": ", ++arrows, ", \"ts\": ");
      file.event('s', from->thread, cat(same, microseconds(from->returned - 1)));
      file.event('f', record->thread, cat(same, microseconds(record->started), ", \"bp\": \"e\""));
    }
  }
  file.finish();
}

}  // namespace strop::inline v0::detail
