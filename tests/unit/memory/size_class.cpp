// SPDX-License-Identifier: Apache-2.0
/// \file
/// Every size has a block that fits, and the fit is close.
#include <strop/memory/size_class.hpp>

#include <doctest/doctest.h>

using namespace strop::memory::detail;

static_assert(class_of(1) == 0 && class_of(64) == 0 && class_of(65) == 1);
static_assert(class_of(1024) == 15 && class_of(1025) == 16 && class_bytes(16) == 1152);
static_assert(class_of(2048) == 23 && class_bytes(23) == 2048);
static_assert(class_of(largest_block) == class_count - 1 && class_bytes(class_count - 1) == largest_block);
static_assert(cached_classes < 256);  // small_classes keeps them in bytes

TEST_CASE("size classes: the block is the smallest that fits and wastes at most an eighth") {
  for (int c = 0; c < class_count; ++c) {
    const std::int64_t block = class_bytes(c);
    CHECK(block % strop::memory::alignment == 0);
    CHECK(class_of(block) == c);
    if (c == 0) continue;
    const std::int64_t least = class_bytes(c - 1) + 1;
    CHECK(class_of(least) == c);
    if (block > 512)
      CHECK((block - least) * 8 <= least);
    else
      CHECK(block - least < 64);
  }
}

TEST_CASE("size classes: blocks of a page or more are whole lines, of 2 MiB or more whole pages") {
  for (int c = class_of(std::int64_t{2} << 20); c < class_count; ++c) CHECK(class_bytes(c) % 4096 == 0);
}

TEST_CASE("size classes: the table of small sizes says the same as the formula") {
  for (std::int64_t bytes = 1; bytes <= cached_block_bytes; ++bytes) {
    REQUIRE(small_classes.of[(bytes - 1) / 64] == class_of(bytes));
  }
}

TEST_CASE("size classes: what a thread keeps of a class is bounded") {
  for (int c = 0; c < cached_classes; ++c) {
    CHECK(magazine_capacity(c) >= 2);
    CHECK(magazine_capacity(c) * class_bytes(c) <= 64 * 1024);
  }
}
