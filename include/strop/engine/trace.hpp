// SPDX-License-Identifier: Apache-2.0
/// \file
/// Traces: what every engine of the process did, as a file that Perfetto and chrome://tracing open.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <strop/engine/trace_record.hpp>
#include <utility>

namespace strop::inline v0 {

/// Records every operation from its making to its end, and writes the file then.
///
/// Each operation that was pushed and completed meanwhile is a slice on the thread that ran it, with its name, how long
/// it was blocked by others and queued for a thread, where it was pushed, its notes and its failure; arrows lead to it
/// from the operations that it had to come after. There is one trace at a time. `STROP_TRACE=file.json` in the
/// environment is the same from the first engine to the end of the process. `strop trace summary FILE` prints a table.
class Trace {
 public:
  /// Keeps `most` operations; how many were left out is in the file. Throws Error where a trace is taken already.
  explicit Trace(std::string path, std::size_t most = 1'000'000);
  /// As finish, but a file that cannot be written is one line on standard error.
  ~Trace();
  Trace(const Trace&) = delete;
  Trace& operator=(const Trace&) = delete;

  /// Ends the trace and writes the file, beside its place first. What is pending then is not in it: wait before. Throws
  /// Error where the file cannot be written; a second call does nothing.
  void finish();

 private:
  std::uint64_t session_;
};

}  // namespace strop::inline v0

#if !defined(STROP_COMPILED)
#include <strop/engine/trace_impl.hpp>
#endif
