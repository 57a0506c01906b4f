// SPDX-License-Identifier: Apache-2.0
/// \file
/// A progress bar on a terminal; elsewhere one line per piece of work.
#pragma once
#include <sys/ioctl.h>
#include <unistd.h>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>

namespace strop::command {

/// The line of a progress bar, shorter than a terminal's `columns`, so that it is never wrapped: what does not fit is
/// left out, first of the bar, then of the title.
inline std::string progress_line(const std::string& title, std::int64_t percent, int columns) {
  const int room = std::max(columns - 1, 0), bar = std::min(room - static_cast<int>(title.size()) - 8, 30);
  const std::string number = std::to_string(percent) + '%',
                    right = std::string(5 - std::min<std::size_t>(number.size(), 5), ' ') + number;
  std::string line = title;
  if (bar >= 4) {
    std::string done(static_cast<std::size_t>(percent * bar / 100), '#');
    done.resize(static_cast<std::size_t>(bar), '.');
    line += " [" + done + ']';
  }
  const auto most = static_cast<std::size_t>(std::max(room - static_cast<int>(right.size()), 0));
  if (line.size() > most) line.resize(most);
  return (line + right).substr(0, static_cast<std::size_t>(room));
}

class Progress {
 public:
  Progress(std::string title, std::int64_t total)
      : title_(std::move(title)), total_(total), terminal_(::isatty(STDERR_FILENO) != 0) {}
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress() { clear(); }

  void step() {
    const std::int64_t before = shown_ * total_;
    if (!terminal_ || ++done_ * 100 < before + total_) return;
    shown_ = done_ * 100 / (total_ > 0 ? total_ : 1);
    winsize window{};
    const bool known = ::ioctl(STDERR_FILENO, TIOCGWINSZ, &window) == 0 && window.ws_col != 0;
    const std::string line = progress_line(title_, shown_, known ? window.ws_col : 80);
    std::fprintf(stderr, "\r%s", line.c_str());
    width_ = static_cast<int>(line.size());
    std::fflush(stderr);
  }

  /// The bar gives way to what came of the work.
  void finish(const std::string& result) {
    clear();
    std::printf("%s  %s\n", title_.c_str(), result.c_str());
    std::fflush(stdout);
  }

  /// A line of its own, above the bar.
  void say(const std::string& line) {
    clear();
    std::printf("%s\n", line.c_str());
    std::fflush(stdout);
  }

 private:
  void clear() {
    if (width_ != 0) std::fprintf(stderr, "\r%*s\r", width_, "");
    width_ = 0;
  }

  std::string title_;
  std::int64_t total_, done_ = 0, shown_ = 0;
  int width_ = 0;  // of the line that stands there
  bool terminal_;
};

}  // namespace strop::command
