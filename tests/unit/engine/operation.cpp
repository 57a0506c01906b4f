// SPDX-License-Identifier: Apache-2.0
/// \file
/// The uses of an operation: duplicates, both lists, the order of locks.
#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <strop/engine/operation.hpp>
#include <thread>
#include <vector>

#include "random_program.hpp"

using strop::detail::Link;
using strop::detail::Mode;
using strop::detail::Var;

TEST_CASE("settling makes one use of each variable") {
  std::vector<Var> vars(40);
  for (std::size_t seed = 0; seed < 2000; ++seed) {
    engine_test::Random random(seed);
    const std::size_t n = random.below(seed % 2 == 0 ? 9 : 60);
    std::vector<Link> links;
    std::map<Var*, Mode> expected;
    for (std::size_t i = 0; i < n; ++i) {
      Var* const var = &vars[random.below(seed % 3 == 0 ? 4 : 40)];
      const Mode mode = random.once_in(2) ? Mode::read : Mode::write;
      links.push_back({var, nullptr, nullptr, mode});
      const auto [at, added] = expected.emplace(var, mode);
      if (!added && at->second != mode) at->second = Mode::update;
    }
    links.resize(strop::detail::merge_uses(links.data(), n));
    std::map<Var*, Mode> merged;
    for (const Link& link : links) merged.emplace(link.var, link.mode);
    REQUIRE(links.size() == expected.size());
    REQUIRE(merged == expected);
    strop::detail::sort_uses(links.data(), links.size());
    for (std::size_t i = 1; i < links.size(); ++i) REQUIRE(links[i - 1].var < links[i].var);
  }
}

TEST_CASE("locking several variables locks each, in the face of another holder too") {
  std::vector<Var> vars(3);
  std::vector<Link> links;
  for (std::size_t i : {2u, 0u, 1u}) links.push_back({&vars[i], nullptr, nullptr, Mode::read});
  strop::detail::lock_uses(links.data(), 3);
  for (Var& var : vars) CHECK_FALSE(var.lock.try_lock());
  for (Var& var : vars) var.lock.unlock();
  // held for a moment by another thread: everything is let go of, and waited for in another order
  vars[1].lock.lock();
  std::atomic<bool> locked = false;
  std::thread other([&] {
    strop::detail::lock_uses(links.data(), 3);
    locked = true;
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(2));
  CHECK_FALSE(locked);
  vars[1].lock.unlock();
  other.join();
  CHECK(locked);
  for (Var& var : vars) CHECK_FALSE(var.lock.try_lock());
}
