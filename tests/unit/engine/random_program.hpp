// SPDX-License-Identifier: Apache-2.0
/// \file
/// Random programs over variables, what a serial interpreter says of them, and the engine's answer beside it.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <set>
#include <vector>

namespace engine_test {

/// Programs are the same in every run of a seed.
struct Random {
  std::uint64_t state;
  explicit Random(std::uint64_t seed) : state(seed * 0x9e3779b97f4a7c15u + 0x632be59bd9b4e019u) { below(2); }
  std::size_t below(std::size_t n) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return static_cast<std::size_t>(state >> 33) % n;
  }
  bool once_in(std::size_t n) { return below(n) == 0; }
};

/// How much random testing is asked for: STROP_TEST_SCALE, 1 where it is not set.
inline std::size_t scale() {
  const char* text = std::getenv("STROP_TEST_SCALE");
  const long value = text == nullptr ? 1 : std::strtol(text, nullptr, 10);
  return value < 1 ? 1 : static_cast<std::size_t>(value);
}

enum class How : std::uint8_t { push, run, async_inside, async_other, prepared };

struct Step {
  std::size_t id = 0;
  std::vector<std::size_t> reads, writes;  // with duplicates
  bool fails = false;
  How how = How::push;
  int priority = 0;
  int device = 0;  // 1: another one's queue, 2: its queue of copies

  static bool has(const std::vector<std::size_t>& list, std::size_t v) {
    for (std::size_t x : list)
      if (x == v) return true;
    return false;
  }
};

struct Failed {
  std::size_t id;
};

inline std::uint64_t mix(std::uint64_t h, std::uint64_t x) {
  h ^= x + 0x9e3779b97f4a7c15u + (h << 6) + (h >> 2);
  return h * 0xff51afd7ed558ccdu;
}

/// What a step does to the values: a function of everything that it reads and updates.
inline void apply(const Step& step, std::vector<std::uint64_t>& values) {
  std::uint64_t h = mix(1, step.id);
  for (std::size_t r : step.reads) h = mix(h, values[r]);
  for (std::size_t w : step.writes) values[w] = mix(h, w + (Step::has(step.reads, w) ? values[w] : 0));
}

inline std::vector<Step> random_steps(Random& random, std::size_t variables, std::size_t n, std::size_t failing,
                                      bool devices = false) {
  std::vector<Step> steps(n);
  for (std::size_t i = 0; i < n; ++i) {
    Step& step = steps[i];
    step.id = i;
    // mostly few uses, sometimes many
    const std::size_t most = random.once_in(20) ? 12 : 3;
    for (std::size_t k = random.below(most + 1); k-- > 0;) step.reads.push_back(random.below(variables));
    for (std::size_t k = random.below(most); k-- > 0;) step.writes.push_back(random.below(variables));
    if (!step.writes.empty() && random.once_in(3)) step.reads.push_back(step.writes[0]);
    step.fails = failing > 0 && random.once_in(failing);
    step.how = static_cast<How>(random.below(5));
    if (devices && random.once_in(3)) step.device = static_cast<int>(random.below(3));
    if (random.once_in(5)) step.priority = static_cast<int>(random.below(21)) - 10;
  }
  return steps;
}

/// The serial interpreter: values, and of which failures each variable may have inherited one.
struct Interpreter {
  std::vector<std::uint64_t> values;
  std::vector<std::set<std::size_t>> failures;
  std::vector<std::uint64_t> versions;
  std::vector<std::size_t> failed;  // the steps that failed themselves
  std::vector<bool> ran;

  explicit Interpreter(std::size_t variables) : values(variables), failures(variables), versions(variables) {}

  void step(const Step& step) {
    std::set<std::size_t> inherited;
    for (std::size_t r : step.reads) inherited.insert(failures[r].begin(), failures[r].end());
    ran.push_back(inherited.empty());
    if (inherited.empty()) {
      if (step.fails) {
        failed.push_back(step.id);
        inherited.insert(step.id);
      } else {
        apply(step, values);
      }
    }
    std::set<std::size_t> written(step.writes.begin(), step.writes.end());
    for (std::size_t w : written) {
      ++versions[w];
      // an update keeps its variable's own failure
      if (!Step::has(step.reads, w) || failures[w].empty()) failures[w] = inherited;
    }
  }
};

}  // namespace engine_test
