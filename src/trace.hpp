// SPDX-License-Identifier: Apache-2.0
/// \file
/// A trace as `strop trace` reads it.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace strop::command {

struct TracedOperation {
  std::int64_t id = 0, thread = 0;
  std::string name, status, why, notes;
  double start = 0, length = 0, blocked = 0, queued = 0;  // microseconds
  double completed = 0;                                   // later than start + length where it is asynchronous
  std::vector<std::int64_t> after;
};

struct TraceFileContents {
  std::vector<TracedOperation> operations;  // by start
  std::map<std::int64_t, std::string> threads;
  std::int64_t left_out = 0, unfinished = 0;
  double begin = 0, end = 0;
};

/// Throws Error where the file is not a trace of this library.
TraceFileContents read_trace(const std::string& path);
/// Leaves the old file or the whole new one. Throws Error.
void write_whole(const std::string& path, const std::string& text);

}  // namespace strop::command
