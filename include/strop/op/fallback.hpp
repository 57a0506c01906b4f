// SPDX-License-Identifier: Apache-2.0
/// \file
/// The dense fallback of sparse arrays is never silent: counted, written once per operator, storages and parameters, or
/// refused.
#pragma once
#include <strop/core/text.hpp>
#include <strop/op/mode.hpp>

#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string>
#include <vector>

namespace strop::inline v0 {

/// What happens when an operator has no way for the storages that it was given and works on dense copies.
enum class Fallback : std::uint8_t { silent, warn, error };

/// One operator, storages and parameters that fell back, and how often.
struct FallbackRecord {
  std::string op, storages, params;
  std::int64_t count = 0;
  std::string where;  // file:line of the first, where known
};

namespace detail {
struct FallbackLog {
  std::mutex mutex;
  Fallback mode;
  std::vector<FallbackRecord> records;
  FallbackLog() {
    const char* verbose = std::getenv("STROP_STORAGE_FALLBACK_LOG_VERBOSE");
    if (verbose == nullptr) verbose = std::getenv("MXNET_STORAGE_FALLBACK_LOG_VERBOSE");
    mode = verbose != nullptr && verbose[0] == '0' ? Fallback::silent : Fallback::warn;
  }
  static FallbackLog& get() {
    static FallbackLog log;
    return log;
  }
};

inline std::string params_text(const Entry& entry, const void* op) {
  std::string out;
  if (entry.params == nullptr) return out;
  for (std::size_t i = 0; i < entry.params->fields.size(); ++i) {
    const Field& field = entry.params->fields[i];
    out += cat(i == 0 ? "" : ", ", field.name, '=', field.type->print(entry.params->at(const_cast<void*>(op), i)));
  }
  return out;
}

/// Called before an operator works on dense copies of sparse arrays.
inline void note_fallback(const Entry& entry, const void* op, const std::string& storages, std::string_view why, Site site) {
  FallbackLog& log = FallbackLog::get();
  const std::string params = params_text(entry, op);
  std::lock_guard lock(log.mutex);
  if (log.mode == Fallback::error)
    fail(entry.snake, ": no way for ", storages, " with parameters (", params, "): ", why, "; fallbacks are errors here (strop::set_fallback)");
  for (FallbackRecord& record : log.records)
    if (record.op == entry.snake && record.storages == storages && record.params == params) {
      ++record.count;
      return;
    }
  const std::string where = site.file != nullptr ? cat(site.file, ':', site.line) : std::string();
  log.records.push_back({std::string(entry.snake), storages, params, 1, where});
  if (log.mode == Fallback::warn) {
    const std::string line = cat("strop: ", entry.snake, '(', params, "): dense fallback for ", storages, ": ", why,
                                 where.empty() ? "" : " at ", where, '\n');
    std::fputs(line.c_str(), stderr);
  }
}
}  // namespace detail

/// Chooses what a dense fallback does: silent, warn (the default: one line per case on stderr), error.
inline void set_fallback(Fallback mode) {
  detail::FallbackLog& log = detail::FallbackLog::get();
  std::lock_guard lock(log.mutex);
  log.mode = mode;
}

/// All fallbacks so far, in the order of their first occurrence.
inline std::vector<FallbackRecord> fallbacks() {
  detail::FallbackLog& log = detail::FallbackLog::get();
  std::lock_guard lock(log.mutex);
  return log.records;
}

/// Forgets what fallbacks() lists, so that each is written again.
inline void clear_fallbacks() {
  detail::FallbackLog& log = detail::FallbackLog::get();
  std::lock_guard lock(log.mutex);
  log.records.clear();
}

}  // namespace strop::inline v0
