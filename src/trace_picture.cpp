// SPDX-License-Identifier: Apache-2.0
/// \file
/// `strop trace picture`: a trace as an SVG file, threads over time.
#include "command.hpp"
#include "svg.hpp"
#include "trace.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <cstddef>

namespace strop::command {
namespace {

constexpr double left = 150, width = 1000, top = 64, row = 44, box = 26;
constexpr std::size_t most_arrows = 400;
constexpr const char* colours[] = {"#8ecae6", "#ffd166", "#b5e48c", "#cdb4db", "#ffb4a2",
                                   "#a8dadc", "#e9c46a", "#d8e2dc", "#bde0fe", "#f4acb7"};

/// 1, 2 or 5 times a power of ten, about a tenth of the whole.
double tick_of(double whole) {
  const double power = std::pow(10, std::floor(std::log10(whole / 10)));
  for (double step : {1.0, 2.0, 5.0})
    if (whole / (step * power) <= 10) return step * power;
  return 10 * power;
}

class Picture {
 public:
  explicit Picture(const TraceFileContents& trace) : trace_(trace), whole_(std::max(trace.end - trace.begin, 1e-3)) {
    // those who push stand above those who work
    for (const bool workers : {false, true})
      for (const TracedOperation& operation : trace.operations)
        if (is_worker(operation.thread) == workers && rows_.count(operation.thread) == 0)
          rows_.emplace(operation.thread, rows_.size());
    for (const TracedOperation& operation : trace.operations)
      if (kinds_.count(operation.name) == 0) kinds_.emplace(operation.name, kinds_.size());
  }

  std::string draw(const std::string& title) {
    const double bottom = top + row * static_cast<double>(rows_.size());
    const double height = bottom + 60 + 20 * std::ceil(static_cast<double>(kinds_.size()) / 6);
    std::string out = fmt::format(
        "<svg xmlns='http://www.w3.org/2000/svg' width='{0:.0f}' height='{1:.0f}' viewBox='0 0 {0:.0f} {1:.0f}' "
        "font-family='sans-serif'>\n<rect width='100%' height='100%' fill='white'/>\n<text x='20' y='26' "
        "font-size='15'>{2}</text>\n<text x='20' y='44' font-size='11' fill='#555'>{3} operations in {4:.2f} ms; "
        "arrows "
        "lead from what was written to what reads it; red: failed, dashed: not run because of that</text>\n",
        left + width + 20, height, escaped(title), trace_.operations.size(), whole_ / 1000);
    out += axis(bottom);
    for (const auto& [thread, place] : rows_) {
      const auto named = trace_.threads.find(thread);
      out += fmt::format("<text x='{}' y='{:.1f}' font-size='11' text-anchor='end'>{}</text>\n", left - 8,
                         top + row * static_cast<double>(place) + box / 2 + 4,
                         named == trace_.threads.end() ? fmt::format("thread {}", thread) : escaped(named->second));
    }
    for (const TracedOperation& operation : trace_.operations) out += slice(operation);
    out += arrows();
    for (const auto& [name, kind] : kinds_)
      out += fmt::format(
          "<rect x='{0:.0f}' y='{1:.0f}' width='12' height='12' fill='{2}' stroke='#555' stroke-width='0.5'/><text "
          "x='{3:.0f}' y='{4:.0f}' font-size='11'>{5}</text>\n",
          20 + 190 * static_cast<double>(kind % 6), bottom + 34 + 20 * static_cast<double>(kind / 6),
          colours[kind % std::size(colours)], 38 + 190 * static_cast<double>(kind % 6),
          bottom + 44 + 20 * static_cast<double>(kind / 6), escaped(name.substr(0, 26)));
    return out + "</svg>\n";
  }

 private:
  bool is_worker(std::int64_t thread) const {
    const auto named = trace_.threads.find(thread);
    return named != trace_.threads.end() && named->second.rfind("worker", 0) == 0;
  }
  double x(double time) const { return left + width * (time - trace_.begin) / whole_; }
  double y(std::int64_t thread) const { return top + row * static_cast<double>(rows_.at(thread)); }

  std::string axis(double bottom) const {
    std::string out;
    const double step = tick_of(whole_);
    for (double at = 0; at <= whole_; at += step)
      out += fmt::format(
          "<line x1='{0:.1f}' y1='{1}' x2='{0:.1f}' y2='{2}' stroke='#e5e5e5'/><text x='{0:.1f}' y='{3}' "
          "font-size='10' "
          "text-anchor='middle' fill='#555'>{4:g} {5}</text>\n",
          x(trace_.begin + at), top - 6, bottom, bottom + 12, step >= 100 ? at / 1000 : at, step >= 100 ? "ms" : "us");
    return out;
  }

  std::string slice(const TracedOperation& operation) const {
    const bool failed = operation.status == "failed", skipped = operation.status == "skipped";
    const double wide = std::max(width * operation.length / whole_, failed || skipped ? 3.0 : 0.6);
    std::string out = fmt::format(
        "<rect x='{:.2f}' y='{:.1f}' width='{:.2f}' height='{}' rx='2' fill='{}' stroke='{}' stroke-width='{}'{}>"
        "<title>{}: {:.1f} us, blocked {:.1f} us, queued {:.1f} us  {}{}</title></rect>\n",
        x(operation.start), y(operation.thread), wide, box,
        failed    ? "#d62828"
        : skipped ? "white"
                  : colours[kinds_.at(operation.name) % std::size(colours)],
        failed || skipped ? "#d62828" : "#555", failed || skipped ? 1.5 : 0.5, skipped ? " stroke-dasharray='3 2'" : "",
        escaped(operation.name), operation.length, operation.blocked, operation.queued, escaped(operation.notes),
        escaped(operation.why));
    if (wide > 6.2 * static_cast<double>(operation.name.size()) + 6)
      out += fmt::format("<text x='{:.1f}' y='{:.1f}' font-size='11' text-anchor='middle'>{}</text>\n",
                         x(operation.start) + wide / 2, y(operation.thread) + box / 2 + 4, escaped(operation.name));
    return out;
  }

  std::string arrows() const {
    std::map<std::int64_t, const TracedOperation*> known;
    std::size_t count = 0;
    for (const TracedOperation& operation : trace_.operations) {
      known[operation.id] = &operation;
      count += operation.after.size();
    }
    if (count > most_arrows) return {};  // nobody could follow them
    std::string out;
    for (const TracedOperation& operation : trace_.operations)
      for (std::int64_t id : operation.after) {
        const auto at = known.find(id);
        if (at == known.end()) continue;
        const TracedOperation& from = *at->second;
        const double x1 = x(from.start + from.length), x2 = x(operation.start);
        // leaves downwards, or above where the way leads up or along
        const bool down = y(operation.thread) > y(from.thread);
        const double y1 = y(from.thread) + (down ? box : 0),
                     y2 = y(operation.thread) + (down                                   ? 0
                                                 : y(operation.thread) < y(from.thread) ? box
                                                                                        : 0);
        const double bend = y1 == y2 ? -14 : 0;
        out += fmt::format(
            "<path d='M{0:.1f} {1:.1f} C{2:.1f} {3:.1f} {4:.1f} {5:.1f} {6:.1f} {7:.1f}' fill='none' stroke='{8}' "
            "stroke-opacity='0.55' stroke-width='0.9'/><circle cx='{6:.1f}' cy='{7:.1f}' r='1.6' fill='{8}'/>\n",
            x1, y1, x1 + 6,
            y1 + (down        ? 10
                  : bend == 0 ? -10
                              : bend),
            x2 - 6,
            y2 + (down        ? -10
                  : bend == 0 ? 10
                              : bend),
            x2, y2, operation.status == "skipped" ? "#d62828" : "#333");
      }
    return out;
  }

  const TraceFileContents& trace_;
  const double whole_;
  std::map<std::int64_t, std::size_t> rows_;
  std::map<std::string, std::size_t> kinds_;
};

}  // namespace

int trace_picture(const std::string& path, const std::string& out, const std::string& title) {
  const TraceFileContents trace = read_trace(path);
  write_whole(out, Picture(trace).draw(title.empty() ? path : title));
  return 0;
}

}  // namespace strop::command
