// SPDX-License-Identifier: Apache-2.0
/// \file
/// The log of dense fallbacks.
#pragma once
#include <strop/core/config.hpp>
#include <strop/core/environment.hpp>
#include <strop/core/fork.hpp>
#include <strop/core/log.hpp>
#include <strop/core/printable.hpp>
#include <strop/op/fallback.hpp>

#include <mutex>
#include <utility>

namespace strop::inline v0 {
namespace detail {
inline constexpr const char* fallback_variable = "STROP_STORAGE_FALLBACK_LOG_VERBOSE";
struct FallbackLog {
  ForkMutex mutex;
  Fallback mode;
  std::vector<FallbackRecord> records;
  FallbackLog() {
    const bool said = environment_flag({fallback_variable, "MXNET_STORAGE_FALLBACK_LOG_VERBOSE"}, true);
    mode = said ? Fallback::warn : Fallback::silent;
  }
  static FallbackLog& get() {
    static FallbackLog log;
    return log;
  }
};

STROP_IMPL std::string params_text(const Entry& entry, const void* op) {
  std::string out;
  if (entry.params == nullptr) return out;
  for (std::size_t i = 0; i < entry.params->fields.size(); ++i)
    out += cat(i == 0 ? "" : ", ", entry.params->fields[i].name, '=', entry.params->print(op, i));
  return out;
}

STROP_IMPL void note_fallback(const Entry& entry, const void* op, const std::string& storages, std::string_view why,
                              Site site) {
  FallbackLog& past = FallbackLog::get();
  const std::string params = params_text(entry, op);
  const std::string where = place_of(site);
  {
    std::lock_guard lock(past.mutex);
    if (past.mode == Fallback::error)
      fail(entry.snake, ": no way for ", storages, " with parameters (", params, "): ", why,
           "; fallbacks are errors here (strop::set_fallback)");
    for (FallbackRecord& record : past.records)
      if (record.op == entry.snake && record.storages == storages && record.params == params) {
        ++record.count;
        return;
      }
    past.records.push_back({std::string(entry.snake), storages, params, 1, where});
    if (past.mode != Fallback::warn) return;
  }
  log(cat(entry.snake, '(', printable(params, 500), "): dense fallback for ", storages, ": ", why,
          where.empty() ? "" : ", at ", where, " (", fallback_variable, "=0 silences this)"));
}
}  // namespace detail

STROP_IMPL Fallback set_fallback(Fallback mode) {
  detail::FallbackLog& all = detail::FallbackLog::get();
  std::lock_guard lock(all.mutex);
  return std::exchange(all.mode, mode);
}

STROP_IMPL std::vector<FallbackRecord> fallbacks() {
  detail::FallbackLog& all = detail::FallbackLog::get();
  std::lock_guard lock(all.mutex);
  return all.records;
}

STROP_IMPL void clear_fallbacks() {
  detail::FallbackLog& all = detail::FallbackLog::get();
  std::lock_guard lock(all.mutex);
  all.records.clear();
}

}  // namespace strop::inline v0
