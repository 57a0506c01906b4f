// SPDX-License-Identifier: Apache-2.0
/// \file
/// `strop trace summary`: where the time of a trace went.
#include "trace.hpp"
#include "command.hpp"

#include <strop/core/error.hpp>
#include <strop/core/printable.hpp>
#include <strop/core/shape.hpp>
#include <strop/tensor/format/file.hpp>

#include <fmt/format.h>
#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <unordered_map>

namespace strop::command {
namespace {

using nlohmann::json;

TracedOperation read_operation(const json& event) {
  const json& args = event.at("args");
  const json& own = args.at("strop");
  TracedOperation read;
  read.id = own.at("operation");
  read.thread = event.at("tid");
  read.name = detail::printable(event.at("name").get<std::string>(), 200);
  read.status = own.at("status");
  read.why = detail::printable(own.value("why", ""), 500);
  read.start = event.at("ts");
  read.length = event.at("dur");
  read.blocked = own.at("blocked us");
  read.queued = own.at("queued us");
  read.completed = std::max(read.start + read.length, own.value("completed us", 0.0));
  read.after = own.at("after").get<std::vector<std::int64_t>>();
  for (const auto& [key, value] : args.items())
    if (key != "strop")
      read.notes += detail::printable(
          fmt::format("{} {}  ", key, value.is_string() ? value.get<std::string>() : value.dump()), 500);
  return read;
}

/// One line of the table.
struct Line {
  std::string name;
  std::int64_t count = 0, failed = 0, skipped = 0;
  double total = 0, most = 0, blocked = 0, queued = 0;
};

std::vector<Line> lines_of(const TraceFileContents& trace) {
  std::map<std::string, Line> lines;
  for (const TracedOperation& operation : trace.operations) {
    Line& line = lines[operation.name];
    line.name = operation.name;
    ++line.count;
    line.failed += operation.status == "failed" ? 1 : 0;
    line.skipped += operation.status == "skipped" ? 1 : 0;
    line.total += operation.length;
    line.most = std::max(line.most, operation.length);
    line.blocked += operation.blocked;
    line.queued += operation.queued;
  }
  std::vector<Line> sorted;
  for (auto& [name, line] : lines) sorted.push_back(std::move(line));
  std::sort(sorted.begin(), sorted.end(),
            [](const Line& a, const Line& b) { return a.total != b.total ? a.total > b.total : a.name < b.name; });
  return sorted;
}

/// The longest way through operations that had to come one after the other, first to last.
std::vector<const TracedOperation*> critical_path(const TraceFileContents& trace, double& length) {
  struct Way {
    double length = 0;
    std::size_t before = 0;  // 1 + its place, 0: none
  };
  std::unordered_map<std::int64_t, std::size_t> place;
  std::vector<Way> ways(trace.operations.size());
  std::size_t last = 0;
  length = 0;
  for (std::size_t i = 0; i < ways.size(); ++i) {
    const TracedOperation& operation = trace.operations[i];
    place[operation.id] = i;
    for (std::int64_t id : operation.after)
      if (const auto at = place.find(id); at != place.end() && ways[at->second].length > ways[i].length)
        ways[i] = {ways[at->second].length, at->second + 1};
    ways[i].length += operation.completed - operation.start;
    if (ways[i].length > length) {
      length = ways[i].length;
      last = i + 1;
    }
  }
  std::vector<const TracedOperation*> path;
  for (; last > 0; last = ways[last - 1].before) path.push_back(&trace.operations[last - 1]);
  std::reverse(path.begin(), path.end());
  return path;
}

/// The names on the way, equal ones that follow each other once; the middle of a long way is left out.
std::string names_of(const std::vector<const TracedOperation*>& path) {
  std::vector<std::pair<std::string, int>> names;
  for (const TracedOperation* operation : path) {
    if (names.empty() || names.back().first != operation->name) names.emplace_back(operation->name, 0);
    ++names.back().second;
  }
  std::string out;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names.size() > 16 && i == 8) {
      out += fmt::format(" > … {} more", names.size() - 16);
      i = names.size() - 8;
    }
    out += fmt::format("{}{}{}", i == 0 ? "" : " > ", names[i].first,
                       names[i].second > 1 ? fmt::format(" x{}", names[i].second) : "");
  }
  return out;
}

}  // namespace

TraceFileContents read_trace(const std::string& path) {
  std::error_code unknown;  // said when it is opened
  if (std::filesystem::is_directory(path, unknown)) fail("trace: ", path, " is a directory, expected a file");
  std::ifstream file(path, std::ios::binary);
  if (!file) fail("trace: cannot read ", path, ": ", std::strerror(errno));
  TraceFileContents trace;
  try {
    const json read = json::parse(file);
    const json& said = read.at("otherData");
    trace.left_out = said.at("left out");
    trace.unfinished = said.at("unfinished");
    for (const json& event : read.at("traceEvents")) {
      if (event.at("ph") == "M")
        trace.threads[event.at("tid")] = detail::printable(event.at("args").at("name").get<std::string>(), 100);
      if (event.at("ph") == "X" && event.value("cat", "") == "operation")
        trace.operations.push_back(read_operation(event));
    }
  } catch (const json::exception& e) {
    fail("trace: ", path, " is not a trace that strop wrote: ", e.what());
  }
  std::sort(trace.operations.begin(), trace.operations.end(), [](const TracedOperation& a, const TracedOperation& b) {
    return a.start != b.start ? a.start < b.start : a.id < b.id;
  });
  for (const TracedOperation& operation : trace.operations) {
    if (&operation == trace.operations.data()) trace.begin = operation.start;
    trace.end = std::max(trace.end, operation.completed);
  }
  return trace;
}

void write_whole(const std::string& path, const std::string& text) {
  detail::Output out(path);
  out.write(text);
  out.commit();
}

int trace_summary(const std::string& path) {
  const TraceFileContents trace = read_trace(path);
  const double whole = trace.end - trace.begin;
  std::size_t width = 9;
  const auto lines = lines_of(trace);
  for (const Line& line : lines) width = std::max(width, std::min<std::size_t>(line.name.size(), 40));
  fmt::print("{:{}} {:>8} {:>11} {:>7} {:>10} {:>10} {:>11} {:>10} {:>7} {:>8}\n", "operation", width, "count",
             "total ms", "share", "mean us", "most us", "blocked us", "queued us", "failed", "skipped");
  double busy = 0;
  for (const Line& line : lines) busy += line.total;
  for (const Line& line : lines) {
    const auto n = static_cast<double>(line.count);
    fmt::print("{:{}} {:>8} {:>11.3f} {:>6.1f}% {:>10.2f} {:>10.2f} {:>11.2f} {:>10.2f} {:>7} {:>8}\n",
               line.name.substr(0, 40), width, line.count, line.total / 1000, busy > 0 ? 100 * line.total / busy : 0.0,
               line.total / n, line.most, line.blocked / n, line.queued / n, line.failed, line.skipped);
  }
  fmt::print("\n{} operations in {:.3f} ms", trace.operations.size(), whole / 1000);
  if (trace.left_out > 0) fmt::print("; {} left out of the trace", trace.left_out);
  if (trace.unfinished > 0) fmt::print("; {} not finished when it ended", trace.unfinished);
  fmt::print("\n");
  std::map<std::int64_t, double> threads;
  for (const TracedOperation& operation : trace.operations) threads[operation.thread] += operation.length;
  for (const auto& [thread, time] : threads) {
    const auto named = trace.threads.find(thread);
    fmt::print("{}: {:.3f} ms in operations, {:.1f}%\n",
               named == trace.threads.end() ? fmt::format("thread {}", thread) : named->second, time / 1000,
               whole > 0 ? 100 * time / whole : 0.0);
  }
  double length = 0;
  const auto way = critical_path(trace, length);
  if (!way.empty())
    fmt::print("critical path: {:.3f} ms, {} operations: {}\n", length / 1000, way.size(), names_of(way));
  for (const TracedOperation& operation : trace.operations)
    if (operation.status == "failed") fmt::print("failed: {}: {}\n", operation.name, operation.why);
  return 0;
}

}  // namespace strop::command
