// SPDX-License-Identifier: Apache-2.0
/// \file
/// `strop check` and `strop bench`: operators against what their entries claim, and against the copy bandwidth.
#include "command.hpp"
#include "operator.hpp"
#include "progress.hpp"
#include "verify/rows.hpp"

#include <strop/strop.hpp>

#include <chrono>
#include <cstdio>
#include <cstring>

namespace strop::command {
namespace {

double seconds_of(const auto& work) {
  double best = 1e9;
  for (int round = 0; round < 7; ++round) {
    const auto begin = std::chrono::steady_clock::now();
    work();
    best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  }
  return best;
}

/// The operator of that name, or all that `serves` accepts.
template <class F>
std::vector<const Entry*> chosen(const std::string& name, F serves) {
  if (!name.empty()) return {&operator_called(name)};
  std::vector<const Entry*> out;
  for (const Entry* e : detail::all_operators())
    if (serves(*e)) out.push_back(e);
  return out;
}

}  // namespace

int check(const std::string& name) {
  const std::vector<const Entry*> entries = chosen(name, [](const Entry& e) { return !verify::rows_of(e).empty(); });
  if (!name.empty() && verify::rows_of(*entries[0]).empty())
    fail("check: ", entries[0]->snake, " has no row that says on what to run it, and is no map, which needs none");
  Progress progress("check", std::ssize(entries));
  int checks = 0;
  std::vector<std::string> failures;
  for (const Entry* e : entries) {
    for (const verify::Row& row : verify::rows_of(*e)) {
      try {
        verify::Findings found = verify::check_row(row);
        checks += found.checks;
        for (std::string& failure : found.failures) failures.push_back(cat(failure, " {", row.params, '}'));
      } catch (const std::exception& error) {
        failures.push_back(cat(e->snake, " {", row.params, "}: ", error.what()));
      }
    }
    progress.step();
  }
  progress.finish(cat(entries.size(), " operators, ", checks, " checks, ", failures.size(), " failed"));
  for (const std::string& failure : failures) std::printf("  %s\n", failure.c_str());
  return failures.empty() ? 0 : 1;
}

int bench(const std::string& name) {
  const std::int64_t n = 1 << 20;
  const std::vector<const Entry*> entries = chosen(name, [](const Entry& e) {
    return !e.is_gradient() && e.is_map() && (e.params == nullptr || !e.params->checked);
  });
  if (!name.empty() && !entries[0]->is_map()) fail("bench: ", entries[0]->snake, " is no map");
  for (const Entry* e : entries) params_of(*e);  // a required parameter is said before anything is printed
  const verify::Sample sample{{n}};
  NDArray from = sample.make(f32, 0), to(Shape{n}, f32);
  const double copy = 8.0 * static_cast<double>(n) /
                      seconds_of([&] { std::memcpy(to.bytes(), from.bytes(), static_cast<std::size_t>(n) * 4); });
  std::printf("%-28s %10s %8s   (%lld float32, copy %.1f GB/s)\n", "operator", "GB/s", "of copy",
              static_cast<long long>(n), copy * 1e-9);
  for (const Entry* e : entries) {
    if (!e->dtypes.contains(f32) || e->mutates || e->outputs != 1) continue;
    verify::Arrays in;
    for (int i = 0; i < e->inputs; ++i) in.push_back(sample.make(f32, i));
    const verify::Subject subject = verify::subject(e->name, in);
    const verify::Arrays out{NDArray(Shape{n}, f32)};
    const double bytes = 4.0 * static_cast<double>(n) * (e->inputs + 1);
    const double rate = bytes / seconds_of([&] { verify::call(subject, in, out), out[0].wait(); });
    std::printf("%-28s %10.1f %7.0f%%\n", std::string(e->snake).c_str(), rate * 1e-9, 100 * rate / copy);
    std::fflush(stdout);
  }
  return 0;
}

}  // namespace strop::command
