// SPDX-License-Identifier: Apache-2.0
/// \file
/// The dense fallback of sparse arrays is never silent: counted, written once per operator, storages and parameters, or
/// refused.
#pragma once
#include <strop/op/mode.hpp>

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

/// Chooses what a dense fallback does: silent, warn (the default: one line per case in the log), error. Returns what it
/// did before.
Fallback set_fallback(Fallback mode);
/// All fallbacks so far, in the order of their first occurrence.
std::vector<FallbackRecord> fallbacks();
/// Forgets what fallbacks() lists, so that each is written again.
void clear_fallbacks();

namespace detail {
std::string params_text(const Entry& entry, const void* op);
/// Called before an operator works on dense copies of sparse arrays.
void note_fallback(const Entry& entry, const void* op, const std::string& storages, std::string_view why, Site site);
}  // namespace detail

}  // namespace strop::inline v0

#if !defined(STROP_COMPILED)
#include <strop/op/fallback_impl.hpp>
#endif
