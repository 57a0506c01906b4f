// SPDX-License-Identifier: Apache-2.0
/// \file
/// Blocks are apart, aligned, reused, and may be given back by another thread.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <set>
#include <strop/core/sanitizer.hpp>
#include <strop/engine/blocks.hpp>
#include <thread>
#include <vector>

using strop::detail::Blocks;

TEST_CASE("blocks are aligned and do not overlap") {
  std::vector<char*> taken;
  for (int i = 0; i < 5000; ++i) {
    char* block = static_cast<char*>(Blocks<192>::take());
    CHECK(reinterpret_cast<std::uintptr_t>(block) % 64 == 0);
    std::memset(block, i & 0xff, 192);
    taken.push_back(block);
  }
  bool intact = true;
  for (std::size_t i = 0; i < taken.size(); ++i)
    for (int k = 0; k < 192; ++k) intact = intact && taken[i][k] == static_cast<char>(i & 0xff);
  CHECK(intact);
  std::vector<char*> sorted = taken;
  std::sort(sorted.begin(), sorted.end());
  bool apart = true;
  for (std::size_t i = 1; i < sorted.size(); ++i) apart = apart && sorted[i] - sorted[i - 1] >= 192;
  CHECK(apart);
  for (char* block : taken) Blocks<192>::give(block);
}

TEST_CASE("blocks that another thread gives back are used again") {
  if (strop::detail::sanitized) return;  // the sanitizer keeps what is given back apart
  std::set<void*> first, second;
  for (int i = 0; i < 100; ++i) first.insert(Blocks<320>::take());
  std::thread([&] {
    for (void* block : first) Blocks<320>::give(block);
  }).join();
  for (int i = 0; i < 100; ++i) second.insert(Blocks<320>::take());
  CHECK(first == second);
  for (void* block : second) Blocks<320>::give(block);
}

TEST_CASE("blocks from many threads") {
  std::vector<std::thread> group;
  std::atomic<int> wrong = 0;
  for (int t = 0; t < 4; ++t)
    group.emplace_back([&wrong, t] {
      std::vector<int*> mine;
      for (int i = 0; i < 20000; ++i) {
        if (mine.size() < 50 && i % 3 != 0) {
          mine.push_back(static_cast<int*>(Blocks<64>::take()));
          *mine.back() = t;
        } else if (!mine.empty()) {
          if (*mine.back() != t) ++wrong;
          Blocks<64>::give(mine.back());
          mine.pop_back();
        }
      }
      for (int* block : mine) Blocks<64>::give(block);
    });
  for (auto& one : group) one.join();
  CHECK(wrong == 0);
}
