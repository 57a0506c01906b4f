// SPDX-License-Identifier: Apache-2.0
/// \file
/// Traces: what is in the file, what stays out, and what is said when it cannot be written.
#if __has_include(<nlohmann/json.hpp>)
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "common.hpp"

using namespace engine_test;
using nlohmann::json;

namespace {

/// A file that goes away with the test.
struct File {
  std::string path = "/tmp/strop-trace-" + std::to_string(getpid()) + ".json";
  File() = default;
  ~File() { std::remove(path.c_str()); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  bool exists() const { return std::ifstream(path).good(); }
  json read() const { return json::parse(std::ifstream(path)); }
};

/// The slices by the name of the operation.
std::multimap<std::string, json> slices(const json& trace) {
  std::multimap<std::string, json> found;
  for (const json& event : trace["traceEvents"])
    if (event["ph"] == "X") found.emplace(event["name"], event);
  return found;
}

const json& slice(const std::multimap<std::string, json>& all, const std::string& name) {
  REQUIRE(all.count(name) == 1);
  return all.find(name)->second;
}

std::set<int> after(const json& event) { return event["args"]["strop"]["after"].get<std::set<int>>(); }
int operation(const json& event) { return event["args"]["strop"]["operation"].get<int>(); }

}  // namespace

TEST_CASE("a trace has every operation, where it ran, what it came after and what was said of it") {
  for (Kind kind : kinds) {
    const File file;
    Engine engine{{.threads = 2, .kind = kind}};
    const auto a = engine.variable(), b = engine.variable(), c = engine.variable();
    engine.push([] {}, {.writes = {a}, .name = "before"});
    engine.wait_all();
    strop::Trace trace(file.path);
    const int rows = 2;
    engine.push([] {}, {.writes = {a}, .name = "load", .notes = [&](strop::TraceNotes& note) {
                          note("shape", "2x\"3\"");
                          note("rows", rows);
                        }});
    engine.push([] {}, {.reads = {a}, .writes = {b}, .name = "left"});
    engine.push([] {}, {.reads = {a}, .writes = {c}, .name = "right", .device = strop::gpu(1)});
    engine.push([] {}, {.reads = {b, c}, .writes = {b}, .name = "join"});
    engine.push([] {}, {.writes = {a}, .name = "overwrite"});
    engine.push([] { throw std::runtime_error("broken"); }, {.writes = {c}, .name = "bad"});
    engine.push([] {}, {.reads = {c}, .name = "skipped"});
    engine.prepare([] {}, {.reads = {b}, .name = "step", .notes = [](strop::TraceNotes& note) { note("of", "step"); }})
        .push();
    engine.run([] {}, {.reads = {b}});
    CHECK_THROWS_AS(engine.wait_all(), std::runtime_error);
    trace.finish();
    engine.push([] {}, {.writes = {a}, .name = "later"});
    engine.wait_all();

    const json read = file.read();
    CHECK(read["otherData"]["operations"] == 9);
    CHECK(read["otherData"]["left out"] == 0);
    CHECK(read["otherData"]["unfinished"] == 0);
    const auto all = slices(read);
    CHECK(all.size() == 9);
    const json &load = slice(all, "load"), &left = slice(all, "left"), &right = slice(all, "right");
    const json &join = slice(all, "join"), &overwrite = slice(all, "overwrite");
    CHECK(after(load).empty());
    CHECK(after(left) == std::set{operation(load)});
    CHECK(after(right) == std::set{operation(load)});
    CHECK(after(join) == std::set{operation(left), operation(right)});
    CHECK(after(overwrite) == std::set{operation(left), operation(right)});
    CHECK(after(slice(all, "operation")) == std::set{operation(join)});
    CHECK(load["args"]["shape"] == "2x\"3\"");
    CHECK(load["args"]["rows"] == 2);
    CHECK(slice(all, "step")["args"]["of"] == "step");
    CHECK(right["args"]["strop"]["device"] == "gpu(1)");
    CHECK(load["args"]["strop"]["status"] == "ran");
    CHECK(slice(all, "bad")["args"]["strop"]["status"] == "failed");
    CHECK(slice(all, "bad")["args"]["strop"]["why"] == "broken");
    CHECK(slice(all, "skipped")["args"]["strop"]["status"] == "skipped");
    CHECK(slice(all, "skipped")["args"]["strop"]["why"] == "'bad' failed");
    const std::string at = load["args"]["strop"]["at"];
    CHECK(at.find("trace.cpp:") != std::string::npos);
    // what comes after another one begins when that has ended; the times add up
    const auto start = [](const json& event) { return event["ts"].get<double>(); };
    const auto end = [&](const json& event) { return start(event) + event["dur"].get<double>(); };
    CHECK(start(left) >= end(load) - 0.002);
    CHECK(start(join) >= end(left) - 0.002);
    CHECK(start(join) >= end(right) - 0.002);
    for (const auto& [name, event] : all) {
      const json& own = event["args"]["strop"];
      const double sum =
          own["pushed us"].get<double>() + own["blocked us"].get<double>() + own["queued us"].get<double>();
      CHECK(std::abs(sum - start(event)) < 0.01);
    }
    // arrows come in pairs, from a slice to a slice
    std::map<int, std::pair<const json*, const json*>> arrows;
    for (const json& event : read["traceEvents"]) {
      if (event["ph"] == "s") arrows[event["id"]].first = &event;
      if (event["ph"] == "f") arrows[event["id"]].second = &event;
    }
    std::size_t wanted = 0;
    for (const auto& one : all) wanted += after(one.second).size();
    CHECK(arrows.size() == wanted);
    const auto on_a_slice = [&](const json& event) {
      for (const auto& one : all)
        if (one.second["tid"] == event["tid"] && start(one.second) <= start(event) && start(event) <= end(one.second))
          return true;
      return false;
    };
    for (const auto& [id, arrow] : arrows) {
      REQUIRE((arrow.first != nullptr && arrow.second != nullptr));
      CHECK((*arrow.first)["ts"].get<double>() <= (*arrow.second)["ts"].get<double>());
      CHECK(on_a_slice(*arrow.first));
      CHECK(on_a_slice(*arrow.second));
    }
  }
}

TEST_CASE("nothing is asked for notes while nothing is traced") {
  Engine engine;
  int asked = 0;
  const auto notes = [&](strop::TraceNotes& note) { note("times", ++asked); };
  engine.push([] {}, {.notes = notes});
  engine.run([] {}, {.notes = notes});
  engine.wait_all();
  CHECK(asked == 0);
  const File file;
  {
    const strop::Trace trace(file.path);
    engine.push([] {}, {.name = "one", .notes = notes});
    engine.push([] {}, {.name = "two", .notes = [](strop::TraceNotes&) { throw 1; }});
    engine.wait_all();
  }
  CHECK(asked == 1);
  const auto all = slices(file.read());
  CHECK(slice(all, "one")["args"]["times"] == 1);
  CHECK(all.count("two") == 1);
}

TEST_CASE("an asynchronous operation is in flight until its Done") {
  const File file;
  Engine engine{{.threads = 1, .kind = Kind::threaded}};
  const auto v = engine.variable();
  {
    const strop::Trace trace(file.path);
    Engine::Done kept;
    std::atomic<bool> called = false;
    engine.push_async([&](Engine::Done done) { kept = std::move(done), called = true; },
                      {.writes = {v}, .name = "disk"});
    engine.push_async([](const Engine::Done& done) { done(); }, {.name = "at once"});
    while (!called) std::this_thread::yield();
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    kept(std::make_exception_ptr(std::runtime_error("late")));
    kept = {};
    engine.push([] {}, {.reads = {v}, .name = "reader"});
    CHECK_THROWS(engine.wait_all());
  }
  const json read = file.read();
  int begins = 0, ends = 0;
  for (const json& event : read["traceEvents"]) {
    begins += event["ph"] == "b" && event["name"] == "disk" ? 1 : 0;
    ends += event["ph"] == "e" && event["name"] == "disk" ? 1 : 0;
  }
  CHECK(begins == 1);
  CHECK(ends == 1);
  const auto all = slices(read);
  const json& disk = slice(all, "disk");
  CHECK(disk["args"]["strop"]["why"] == "late");
  CHECK(disk["args"]["strop"]["completed us"].get<double>() >
        disk["ts"].get<double>() + disk["dur"].get<double>() + 1000);
  CHECK(slice(all, "reader")["args"]["strop"]["status"] == "skipped");
}

TEST_CASE("operations of a bulk are slices of their own") {
  const File file;
  Engine engine{{.threads = 1, .kind = Kind::threaded}};
  const auto v = engine.variable();
  {
    const strop::Trace trace(file.path);
    {
      const Engine::Bulk bulk(engine);
      engine.push([] {}, {.writes = {v}, .name = "one"});
      engine.push([] {}, {.reads = {v}, .writes = {v}, .name = "two"});
    }
    engine.wait_all();
  }
  const auto all = slices(file.read());
  CHECK(all.size() == 2);
  CHECK(after(slice(all, "two")) == std::set{operation(slice(all, "one"))});
}

TEST_CASE("any name makes a file that can be read") {
  const File file;
  Engine engine{{.kind = Kind::naive}};
  const std::string names[] = {"plain", "\"quoted\"\\", "line\nfeed\t\x01",
                               "z\xc3\xbcrich \xe2\x82\xac \xf0\x9f\x98\x80"};
  const std::string broken[] = {"\xff", "\xc3", "\xe2\x82", "\xed\xa0\x80", "\xc0\x80", "\xf4\x90\x80\x80", "a\xf5z"};
  {
    const strop::Trace trace(file.path);
    for (const auto& name : names) engine.push([] {}, {.name = name});
    for (const auto& name : broken) engine.push([] {}, {.name = name});
  }
  const auto all = slices(file.read());
  for (const auto& name : names) CHECK(all.count(name) == 1);
  CHECK(all.size() == 11);
  CHECK(all.count("a?z") == 1);
  CHECK(all.count("???") == 1);
}

TEST_CASE("a variable that gets the place of another one comes after nothing") {
  const File file;
  Engine engine{{.kind = Kind::naive}};
  {
    const strop::Trace trace(file.path);
    for (int i = 0; i < 20; ++i) {
      const auto v = engine.variable();
      engine.push([] {}, {.writes = {v}, .name = "first"});
      engine.push([] {}, {.reads = {v}, .name = "second"});
    }
  }
  for (const auto& [name, event] : slices(file.read())) CHECK(after(event).size() == (name == "first" ? 0 : 1));
}

TEST_CASE("one trace at a time; what is too much is counted; what is not finished is said") {
  const File file;
  Engine engine{{.kind = Kind::simulated}};
  {
    strop::Trace trace(file.path, 3);
    CHECK(sentence([&] { strop::Trace("other.json"); }) ==
          "Trace: '" + file.path + "' is being recorded; one trace at a time is taken");
    for (int i = 0; i < 5; ++i) engine.push([] {});
    engine.wait_all();
    trace.finish();
    trace.finish();
    CHECK(file.read()["otherData"]["left out"] == 2);
    CHECK(file.read()["otherData"]["operations"] == 3);
    CHECK(!std::ifstream(file.path + ".part").good());
  }
  {
    strop::Trace trace(file.path);
    engine.push([] {}, {.name = "pending"});
    trace.finish();
    engine.wait_all();
    CHECK(file.read()["otherData"]["unfinished"] == 1);
  }
  const strop::Trace trace(file.path);  // what the last one left over does not come into this one
  engine.push([] {}, {.name = "mine"});
  engine.wait_all();
}

TEST_CASE("what is no regular file is written as it is, and a link stays one") {
  const File file;
  std::filesystem::remove(file.path);
  const std::string target = file.path + ".target";
  std::filesystem::create_symlink(target, file.path);
  Engine engine{{.kind = Kind::simulated}};
  {
    const strop::Trace trace(file.path);
    engine.push([] {}, {.name = "mine"});
    engine.wait_all();
  }
  CHECK(std::filesystem::is_symlink(file.path));
  CHECK(std::filesystem::is_regular_file(target));
  CHECK(slices(file.read()).size() == 1);
  std::filesystem::remove(target);
  std::filesystem::remove(file.path);

  const std::string pipe = file.path + ".pipe";
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  std::string read;
  std::thread reader([&] {
    std::ifstream in(pipe);
    read.assign(std::istreambuf_iterator<char>(in), {});
  });
  strop::Trace(pipe).finish();
  reader.join();
  CHECK(read.ends_with("]}\n"));
  CHECK(std::filesystem::is_fifo(pipe));
  std::filesystem::remove(pipe);
}

TEST_CASE("a file that cannot be written is said") {
  strop::Trace trace("/nowhere/trace.json");
  CHECK(sentence([&] { trace.finish(); }) == "Trace(\"/nowhere/trace.json\"): No such file or directory");
  const strop::Trace full("/dev/full/trace.json");  // its end is one line on standard error
}

TEST_CASE("threads push while traces begin and end") {
  const File file;
  Engine engine{{.threads = 2, .kind = Kind::threaded}};
  std::atomic<bool> stop = false;
  std::vector<std::thread> group;
  for (int t = 0; t < 3; ++t)
    group.emplace_back([&] {
      while (!stop) {
        const auto v = engine.variable();
        engine.push([] {}, {.writes = {v}, .name = "write"});
        engine.push_async([](const Engine::Done& done) { done(); }, {.reads = {v}, .name = "read"});
        engine.run([] {}, {.reads = {v}, .name = "run"});
        engine.wait(v);
      }
    });
  for (int i = 0; i < 20; ++i) {
    {
      const strop::Trace trace(file.path, 2000);
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    CHECK(file.read()["traceEvents"].is_array());
  }
  stop = true;
  for (auto& one : group) one.join();
}

#ifndef STROP_TEST_TSAN
TEST_CASE("the child of a fork writes no trace") {
  const File file;
  Engine engine{{.threads = 1, .kind = Kind::threaded}};
  strop::Trace trace(file.path);
  engine.push([] {}, {.name = "parent"});
  CHECK(in_child([&] {
          engine.push([] {}, {.name = "child"});
          engine.wait_all();
          trace.finish();
          return file.exists() ? 1 : 0;
        }) == 0);
  engine.wait_all();
  trace.finish();
  CHECK(slices(file.read()).size() == 1);
}

TEST_CASE("one operation of the global engine") {
  const auto v = Engine::global().variable();
  Engine::global().push([] {}, {.writes = {v}});
  Engine::global().wait(v);
}

TEST_CASE("STROP_TRACE traces a program from its first engine to its end") {
  const File file;
  const std::string again = "STROP_TRACE=" + file.path + " /proc/" + std::to_string(getpid()) +
                            "/exe --test-case='one operation of the global engine' > /dev/null";
  REQUIRE(std::system(again.c_str()) == 0);
  CHECK(slices(file.read()).size() == 1);
}
#endif
#endif
