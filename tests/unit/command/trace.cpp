// SPDX-License-Identifier: Apache-2.0
/// \file
/// `strop trace`: what it reads from a file that the engine wrote, the table, the picture, what it refuses.
#include <doctest/doctest.h>
#include <unistd.h>

#include <cstddef>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <strop/engine/engine.hpp>

#include "command.hpp"
#include "trace.hpp"

using strop::Engine;

namespace {

struct File {
  std::string path;
  explicit File(const char* ending) : path("/tmp/strop-command-" + std::to_string(getpid()) + ending) {}
  ~File() { std::remove(path.c_str()); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  std::string text() const {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  void write(const std::string& what) const { std::ofstream(path) << what; }
};

std::size_t count(const std::string& text, const std::string& what) {
  std::size_t n = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++n;
  return n;
}

/// A small program: load, two readers, one that fails, one that does not run for it.
void trace_program(const std::string& path) {
  Engine engine{{.kind = Engine::Kind::naive}};
  const strop::Trace trace(path);
  const auto a = engine.variable(), b = engine.variable();
  engine.push([] {}, {.writes = {a}, .name = "load", .notes = [](strop::TraceNotes& note) { note("file", "a<b"); }});
  engine.push([] {}, {.reads = {a}, .name = "use"});
  engine.push([] {}, {.reads = {a}, .name = "use"});
  engine.push([] { throw std::runtime_error("no room"); }, {.reads = {a}, .writes = {b}, .name = "store <&>"});
  engine.push([] {}, {.reads = {b}, .name = "check"});
  CHECK_THROWS_AS(engine.wait_all(), std::runtime_error);
}

/// What a call prints on standard output.
template <class F>
std::string printed(F&& call) {
  const File file(".out");
  std::fflush(stdout);
  const int before = dup(STDOUT_FILENO);
  REQUIRE(std::freopen(file.path.c_str(), "w", stdout) != nullptr);
  const int status = call();
  std::fflush(stdout);
  dup2(before, STDOUT_FILENO);
  close(before);
  CHECK(status == 0);
  return file.text();
}

}  // namespace

TEST_CASE("a trace is read as it was written") {
  const File file(".json");
  trace_program(file.path);
  const auto trace = strop::command::read_trace(file.path);
  REQUIRE(trace.operations.size() == 5);
  CHECK(trace.operations[0].name == "load");
  CHECK(trace.operations[0].notes == "file a<b  ");
  CHECK(trace.operations[2].after == std::vector{trace.operations[0].id});
  CHECK(trace.operations[3].status == "failed");
  CHECK(trace.operations[3].why == "no room");
  CHECK(trace.operations[4].status == "skipped");
  CHECK(trace.operations[4].after == std::vector{trace.operations[3].id});
  CHECK(trace.left_out == 0);
  CHECK(trace.threads.size() == 1);
  CHECK(trace.end >= trace.begin);
}

TEST_CASE("the summary counts by name and shows the critical path and the failures") {
  const File file(".json");
  trace_program(file.path);
  const std::string text = printed([&] { return strop::command::trace_summary(file.path); });
  CHECK(text.find("5 operations in ") != std::string::npos);
  CHECK(text.find("use ") != std::string::npos);
  CHECK(text.find("critical path: ") != std::string::npos);
  CHECK(text.find("load > ") != std::string::npos);
  CHECK(text.find("failed: store <&>: no room") != std::string::npos);
  // name, count, … failed, skipped
  const std::size_t at = text.find("\ncheck");
  REQUIRE(at != std::string::npos);
  const std::string line = text.substr(at + 1, text.find('\n', at + 1) - at - 1);
  CHECK(line.substr(line.size() - 9) == "        1");
}

TEST_CASE("the picture has every operation and an arrow for everything that one came after") {
  const File file(".json"), picture(".svg");
  trace_program(file.path);
  CHECK(strop::command::trace_picture(file.path, picture.path, "a & b") == 0);
  const std::string text = picture.text();
  CHECK(count(text, "<title>") == 5);
  CHECK(count(text, "<path ") == 4);
  CHECK(count(text, "stroke-dasharray") == 1);
  CHECK(text.find("store &lt;&amp;&gt;") != std::string::npos);
  CHECK(text.find("a &amp; b") != std::string::npos);
  CHECK(text.find("<&>") == std::string::npos);
}

TEST_CASE("an empty trace is fine, another file is refused") {
  const File file(".json"), picture(".svg");
  {
    const strop::Trace trace(file.path);
  }
  CHECK(printed([&] { return strop::command::trace_summary(file.path); }).find("0 operations") != std::string::npos);
  CHECK(strop::command::trace_picture(file.path, picture.path, "") == 0);
  for (const char* wrong : {"", "[]", "{\"traceEvents\": []}", "not a trace"}) {
    file.write(wrong);
    CHECK_THROWS_AS(strop::command::trace_summary(file.path), strop::Error);
  }
  CHECK_THROWS_AS(strop::command::trace_summary("/nowhere/trace.json"), strop::Error);
  trace_program(file.path);
  CHECK_THROWS_AS(strop::command::trace_picture(file.path, "/nowhere/trace.svg", ""), strop::Error);
}
