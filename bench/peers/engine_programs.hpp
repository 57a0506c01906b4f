// SPDX-License-Identifier: Apache-2.0
/// \file
/// The programs that bench/peers give to this engine and to others: lists of operations that read and write cells.
#pragma once
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <strop/engine/engine.hpp>
#include <vector>

namespace engine_peers {

constexpr std::size_t cells = 64, count = 4000;

struct alignas(64) Cell {
  std::int64_t value = 0;
};

/// cell[write] = cell[reads[0]] + cell[reads[1]] + 1, of as many reads as there are; nothing is used where write < 0.
struct Operation {
  int reads[2] = {0, 0};
  int read_count = 0;
  int write = -1;

  void apply(Cell* at) const {
    std::int64_t sum = 1;
    for (int i = 0; i < read_count; ++i) sum += at[reads[i]].value;
    if (write >= 0) at[write].value = sum;
  }
};
struct Program {
  const char* name;
  std::vector<Operation> operations;
};

inline std::vector<Program> programs() {
  std::vector<Program> made;
  made.push_back({"independent, no variables", std::vector<Operation>(count)});
  made.push_back({"chain", std::vector<Operation>(count, Operation{{0, 0}, 1, 0})});
  Program diamonds{"diamonds", {}};
  for (std::size_t i = 0; i < count / 4; ++i) {
    diamonds.operations.push_back({{0, 0}, 0, 0});
    diamonds.operations.push_back({{0, 0}, 1, 1});
    diamonds.operations.push_back({{0, 0}, 1, 2});
    diamonds.operations.push_back({{1, 2}, 2, 3});
  }
  made.push_back(diamonds);
  Program random{"2 reads + 1 write over 64", {}};
  std::uint64_t state = 1;
  const auto below = [&state](std::uint64_t n) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return static_cast<int>((state >> 33) % n);
  };
  for (std::size_t i = 0; i < count; ++i) random.operations.push_back({{below(cells), below(cells)}, 2, below(cells)});
  made.push_back(random);
  return made;
}

/// For peers that want a graph: calls edge(from, to) for every operation that one has to come after.
template <class Edge>
void edges_of(const std::vector<Operation>& operations, Edge edge) {
  std::vector<std::int64_t> writer(cells, -1);
  std::vector<std::vector<std::size_t>> readers(cells);
  for (std::size_t i = 0; i < operations.size(); ++i) {
    const Operation& operation = operations[i];
    for (int k = 0; k < operation.read_count; ++k) {
      const auto cell = static_cast<std::size_t>(operation.reads[k]);
      if (k > 0 && operation.reads[0] == operation.reads[1]) continue;
      if (writer[cell] >= 0) edge(static_cast<std::size_t>(writer[cell]), i);
      if (operation.reads[k] != operation.write) readers[cell].push_back(i);
    }
    if (operation.write < 0) continue;
    const auto cell = static_cast<std::size_t>(operation.write);
    bool reads_it = false;
    for (int k = 0; k < operation.read_count; ++k) reads_it = reads_it || operation.reads[k] == operation.write;
    if (!reads_it && readers[cell].empty() && writer[cell] >= 0) edge(static_cast<std::size_t>(writer[cell]), i);
    for (std::size_t reader : readers[cell]) edge(reader, i);
    readers[cell].clear();
    writer[cell] = static_cast<std::int64_t>(i);
  }
}

/// What the cells hold after a program: what every engine must come to.
inline std::vector<Cell> expected(const Program& program) {
  std::vector<Cell> at(cells);
  for (const Operation& operation : program.operations) operation.apply(at.data());
  return at;
}

struct Time {
  double median = 0, best = 0;  // nanoseconds an operation
};

/// Times body(cells), which runs the program once; ends the process where it came to something else.
template <class Body>
Time measure(const Program& program, int repetitions, Body body) {
  const auto wanted = expected(program);
  std::vector<double> times;
  for (int i = 0; i < repetitions; ++i) {
    std::vector<Cell> at(cells);
    const auto start = std::chrono::steady_clock::now();
    body(at.data());
    const std::chrono::duration<double, std::nano> passed = std::chrono::steady_clock::now() - start;
    times.push_back(passed.count() / static_cast<double>(program.operations.size()));
    for (std::size_t k = 0; k < cells; ++k)
      if (at[k].value != wanted[k].value) {
        std::fprintf(stderr, "%s: wrong result\n", program.name);
        std::exit(1);
      }
  }
  std::sort(times.begin(), times.end());
  return {times[times.size() / 2], times.front()};
}

/// This engine's side.
inline Time measure_strop(const Program& program, int repetitions) {
  static strop::Engine engine{{.kind = strop::Engine::Kind::threaded}};
  static const std::vector<strop::Engine::Variable> v = [] {
    std::vector<strop::Engine::Variable> made;
    for (std::size_t i = 0; i < cells; ++i) made.push_back(engine.variable());
    return made;
  }();
  return measure(program, repetitions, [&](Cell* at) {
    for (const Operation& o : program.operations) {
      const auto body = [&o, at] { o.apply(at); };
      const auto var = [](int i) -> const strop::Engine::Variable& { return v[static_cast<std::size_t>(i)]; };
      if (o.write < 0)
        engine.push(body);
      else if (o.read_count == 0)
        engine.push(body, {.writes = {var(o.write)}});
      else if (o.read_count == 1)
        engine.push(body, {.reads = {var(o.reads[0])}, .writes = {var(o.write)}});
      else
        engine.push(body, {.reads = {var(o.reads[0]), var(o.reads[1])}, .writes = {var(o.write)}});
    }
    engine.wait_all();
  });
}

inline void heading() {
  std::printf("%-28s %-26s %10s %10s %8s\n", "ns an operation, built + run", "", "median", "best", "ratio");
}
inline void report(const Program& program, const char* who, Time time, Time ours) {
  std::printf("%-28s %-26s %10.1f %10.1f %7.2fx\n", program.name, who, time.median, time.best,
              ours.median > 0 ? time.median / ours.median : 0);
  std::fflush(stdout);
}

}  // namespace engine_peers
