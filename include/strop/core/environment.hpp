// SPDX-License-Identifier: Apache-2.0
/// \file
/// What the environment says. Every variable of ours is read here, so that a wrong value of any is the same sentence.
#pragma once
#include <strop/core/config.hpp>
#include <strop/core/error.hpp>
#include <strop/core/text.hpp>

#include <cstdint>
#include <cstdlib>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

namespace strop::inline v0::detail {

/// A variable and its value; empty where it is not set.
struct Setting {
  std::string name, value;
  explicit operator bool() const { return !value.empty(); }
  [[noreturn]] void refuse(std::string_view expected) const {
    fail(name, ": expected ", expected, ", got '", value, "'");
  }
};

/// The first of the variables that is set; one that is empty counts as not set.
inline Setting environment(std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names) {
    if (name.empty()) continue;
    Setting setting{std::string(name), {}};
    if (const char* const value = std::getenv(setting.name.c_str()); value != nullptr) setting.value = value;
    if (setting) return setting;
  }
  return {};
}

/// Variables of ours and what they may say; the second name is MXNet's, where it has one.
struct Known {
  enum Kind : std::uint8_t { count, flag, word };
  std::string_view name, old_name;
  Kind kind;
  std::string_view expected;                     // as the sentence says it
  std::span<const std::string_view> words = {};  // of a word
};

inline constexpr std::string_view whole_number = "a whole number of 1 or more";
inline constexpr std::string_view pool_types[] = {"Naive", "Round", "Unpooled"};
inline constexpr std::string_view pool_expected = "Naive, Round (blocks are kept, alike) or Unpooled";
inline constexpr std::string_view isa_levels[] = {"scalar", "x86-64", "x86-64-v2", "x86-64-v3", "x86-64-v4"};
inline constexpr std::string_view engine_types[] = {
    "threaded", "ThreadedEngine", "ThreadedEnginePooled", "ThreadedEnginePerDevice", "naive", "NaiveEngine"};

inline constexpr std::string_view pass_words[] = {"print", "check", "print,check"};

/// All but STROP_TRACE, which names a file.
inline constexpr Known known_variables[] = {
    {"STROP_ISA", "", Known::word, "scalar, x86-64, x86-64-v2, x86-64-v3 or x86-64-v4", isa_levels},
    {"STROP_NUM_THREADS", "", Known::count, whole_number},
    {"STROP_ENGINE_TYPE", "MXNET_ENGINE_TYPE", Known::word, "threaded or naive", engine_types},
    {"STROP_CPU_WORKER_NTHREADS", "MXNET_CPU_WORKER_NTHREADS", Known::count, whole_number},
    {"STROP_GPU_WORKER_NTHREADS", "MXNET_GPU_WORKER_NTHREADS", Known::count, whole_number},
    {"STROP_GPU_COPY_NTHREADS", "MXNET_GPU_COPY_NTHREADS", Known::count, whole_number},
    {"STROP_CPU_MEM_POOL_TYPE", "MXNET_CPU_MEM_POOL_TYPE", Known::word, pool_expected, pool_types},
    {"STROP_GPU_MEM_POOL_TYPE", "MXNET_GPU_MEM_POOL_TYPE", Known::word, pool_expected, pool_types},
    {"STROP_CPU_PINNED_MEM_POOL_TYPE", "MXNET_CPU_PINNED_MEM_POOL_TYPE", Known::word, pool_expected, pool_types},
    {"STROP_STORAGE_FALLBACK_LOG_VERBOSE", "MXNET_STORAGE_FALLBACK_LOG_VERBOSE", Known::flag, "0 or 1"},
    {"STROP_FUSE", "", Known::flag, "0 or 1"},
    {"STROP_TRACE_LOG", "", Known::flag, "0 or 1"},
    {"STROP_PASSES", "", Known::word, "print, check or print,check", pass_words},
};

/// Throws Error, with one sentence, where any variable has a wrong value. Whatever reads one asks this first, so that a
/// wrong value is found by the first call that needs any of them, whichever it is; nothing is read, and so nothing
/// thrown, before main.
void check_environment();

/// A whole number of 1 or more, cut at `most`; 0 where it is not set.
inline int environment_count(std::initializer_list<std::string_view> names, int most) {
  check_environment();
  const Setting setting = environment(names);
  if (!setting) return 0;
  std::int64_t count = 0;
  if (!parse_integer(setting.value, count) || count < 1) setting.refuse(whole_number);
  return count < most ? static_cast<int>(count) : most;
}

/// True or false; `standard` where it is not set.
inline bool environment_flag(std::initializer_list<std::string_view> names, bool standard) {
  check_environment();
  const Setting setting = environment(names);
  bool flag = standard;
  if (setting && !parse_bool(setting.value, flag)) setting.refuse("0 or 1");
  return flag;
}

/// One of a variable's words; empty where it is not set.
inline std::string environment_word(std::initializer_list<std::string_view> names) {
  check_environment();
  return environment(names).value;
}

}  // namespace strop::inline v0::detail

#if !defined(STROP_COMPILED)
#include <strop/core/environment_impl.hpp>
#endif
