// SPDX-License-Identifier: Apache-2.0
/// \file
/// Timing for the benchmarks: contestants take turns in many short rounds, so that whatever else the machine does meets
/// all of them alike. The best round is what a machine with nothing else to do would show.
#pragma once
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bench {

/// With --lines a program prints only what peers are compared in: `case<TAB>nanoseconds`. run.py reads that.
inline bool lines = false;
/// Any other argument: only the rows whose names have it.
inline std::string_view only;

inline void start(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--lines") == 0)
      lines = true;
    else
      only = argv[i];
  }
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
}
inline bool wanted(std::string_view row) { return row.find(only) != std::string_view::npos; }
inline void line(std::string_view what, double nanoseconds) {
  std::printf("%.*s\t%.2f\n", static_cast<int>(what.size()), what.data(), nanoseconds);
}
inline void line(std::string_view what, double nanoseconds, double median) {
  std::printf("%.*s\t%.2f\t%.2f\n", static_cast<int>(what.size()), what.data(), nanoseconds, median);
}
/// With --lines, beside a case: what it takes at least to move its bytes, each once, and as often as they are read.
inline void bounds(std::string_view what, double compulsory, double gather) {
  std::printf("=\t%.*s\t%.2f\t%.2f\n", static_cast<int>(what.size()), what.data(), compulsory, gather);
}

/// The compiler must believe that somebody reads what p points to.
inline void touch(const void* p) { asm volatile("" ::"r"(p) : "memory"); }

class Contest {
 public:
  /// Adds a contestant; gives its number.
  template <class F>
  int add(F work) {
    entries_.push_back({[work = std::move(work)](int calls) mutable {
                          for (int i = 0; i < calls; ++i) work();
                        },
                        1,
                        {}});
    return static_cast<int>(entries_.size()) - 1;
  }

  /// Rounds of some `round_ns` each, in turn, until each contestant has had `budget_ns` or 200 rounds; at least 5, of
  /// what takes 50 ms at least 2. To be had again for more of them.
  void run(double budget_ns = 4e7, double round_ns = 1e5) {
    for (Entry& e : entries_) {
      e.calls = 1;
      time(e);  // the first calls make threads and memory
      const double once = std::min(time(e), time(e));
      e.calls = std::max(1, static_cast<int>(round_ns / std::max(1.0, once)));
    }
    double slowest = 0;
    for (const Entry& e : entries_) slowest = std::max(slowest, time(e) * e.calls);
    const int rounds = std::clamp(static_cast<int>(budget_ns / slowest), slowest < 5e7 ? 5 : 2, 200);
    for (int r = 0; r < rounds; ++r)
      for (Entry& e : entries_) e.rounds.push_back(time(e));
    for (Entry& e : entries_) std::sort(e.rounds.begin(), e.rounds.end());
  }

  /// Nanoseconds of a call.
  double best(int contestant) const { return at(contestant).rounds.front(); }
  double median(int contestant) const { return at(contestant).rounds[at(contestant).rounds.size() / 2]; }

 private:
  struct Entry {
    std::function<void(int)> work;
    int calls;
    std::vector<double> rounds;
  };
  const Entry& at(int k) const { return entries_[static_cast<std::size_t>(k)]; }
  static double time(const Entry& e) {
    e.work(1);  // the caches are this contestant's own
    const auto begin = std::chrono::steady_clock::now();
    e.work(e.calls);
    return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - begin).count() / e.calls;
  }
  std::vector<Entry> entries_;
};

/// With --lines: the row as a line, of as many threads as the environment says. Whether it was.
template <class F>
bool gave_line(std::string_view what, F work) {
  if (!lines) return false;
  Contest contest;
  contest.add(std::move(work));
  contest.run();
  line(what, contest.best(0));
  return true;
}

}  // namespace bench
