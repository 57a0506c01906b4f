// SPDX-License-Identifier: Apache-2.0
/// \file
/// A progress bar on a terminal; elsewhere one line per piece of work.
#pragma once
#include <unistd.h>
#include <cstdint>
#include <cstdio>
#include <string>

namespace strop::command {

class Progress {
 public:
  Progress(std::string title, std::int64_t total)
      : title_(std::move(title)), total_(total), terminal_(::isatty(STDERR_FILENO) != 0) {}

  void step() {
    const std::int64_t before = shown_ * total_;
    if (!terminal_ || ++done_ * 100 < before + total_) return;
    shown_ = done_ * 100 / (total_ > 0 ? total_ : 1);
    std::string bar(static_cast<std::size_t>(shown_ * 30 / 100), '#');
    bar.resize(30, '.');
    std::fprintf(stderr, "\r%s [%s] %3d%%", title_.c_str(), bar.c_str(), static_cast<int>(shown_));
    std::fflush(stderr);
  }

  /// The bar gives way to what came of the work.
  void finish(const std::string& result) {
    if (terminal_) std::fprintf(stderr, "\r%60s\r", "");
    std::printf("%s  %s\n", title_.c_str(), result.c_str());
    std::fflush(stdout);
  }

 private:
  std::string title_;
  std::int64_t total_, done_ = 0, shown_ = 0;
  bool terminal_;
};

}  // namespace strop::command
