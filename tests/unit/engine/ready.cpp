// SPDX-License-Identifier: Apache-2.0
/// \file
/// The ready queue: order, levels, claims, picks.
#include <doctest/doctest.h>

#include <cstddef>
#include <memory>
#include <source_location>
#include <strop/engine/operation.hpp>
#include <strop/engine/ready.hpp>
#include <vector>

using strop::detail::BlockHome;
using strop::detail::level_of;
using strop::detail::Operation;
using strop::detail::ReadyQueue;

namespace {

std::vector<std::unique_ptr<Operation>> operations(std::size_t n) {
  std::vector<std::unique_ptr<Operation>> made;
  for (std::size_t i = 0; i < n; ++i)
    made.push_back(std::make_unique<Operation>(nullptr, nullptr, std::source_location::current(), BlockHome::heap));
  return made;
}

}  // namespace

TEST_CASE("levels rise with the priority") {
  CHECK(level_of(0) == 16);
  CHECK(level_of(1) == 17);
  CHECK(level_of(-1) == 15);
  CHECK(level_of(7) < level_of(8));
  CHECK(level_of(2147483647) == 31);
  CHECK(level_of(-2147483647 - 1) == 0);
  for (int p = -100000; p < 100000; ++p) {
    if (level_of(p) > level_of(p + 1)) FAIL("falls at ", p);
    if (p >= -7 && p < 7 && level_of(p) == level_of(p + 1)) FAIL("equal at ", p);
  }
}

TEST_CASE("first come, first served, by level") {
  ReadyQueue queue;
  const auto ops = operations(6);
  CHECK(queue.empty());
  CHECK(queue.pop() == nullptr);
  ops[4]->level = 20;
  ops[5]->level = 3;
  for (std::size_t i : {5u, 0u, 1u, 4u, 2u}) queue.push(ops[i].get());
  CHECK_FALSE(queue.empty());
  CHECK(queue.pop() == ops[4].get());
  CHECK(queue.pop() == ops[0].get());
  queue.push(ops[3].get());
  for (std::size_t i : {1u, 2u, 3u, 5u}) CHECK(queue.pop() == ops[i].get());
  CHECK(queue.empty());
  CHECK(queue.empty_for_sure());
}

TEST_CASE("one can be claimed from anywhere, once") {
  ReadyQueue queue;
  const auto ops = operations(5);
  CHECK_FALSE(queue.claim(ops[0].get()));
  for (const auto& op : ops) queue.push(op.get());
  for (std::size_t i : {2u, 0u, 4u}) {
    CHECK(queue.claim(ops[i].get()));
    CHECK_FALSE(queue.claim(ops[i].get()));
  }
  CHECK(queue.pop() == ops[1].get());
  CHECK(queue.pop() == ops[3].get());
  CHECK(queue.pop() == nullptr);
}

TEST_CASE("a pick sees all") {
  ReadyQueue queue;
  const auto ops = operations(4);
  for (const auto& op : ops) queue.push(op.get());
  std::size_t seen = 0;
  const auto choose = [&](std::size_t k) {
    return [&seen, k](std::size_t ready) {
      seen = ready;
      return k;
    };
  };
  CHECK(queue.pick(choose(2)) == ops[2].get());
  CHECK(seen == 4);
  CHECK(queue.pick(choose(2)) == ops[3].get());
  CHECK(queue.pick(choose(5)) == ops[1].get());  // modulo
  CHECK(queue.pick(choose(0)) == ops[0].get());
  CHECK(seen == 1);
  CHECK(queue.pick(choose(0)) == nullptr);
}
