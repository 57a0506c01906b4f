// SPDX-License-Identifier: Apache-2.0
/// \file
/// Under the address sanitizer, recycled memory is guarded like the system's.
#include <strop/memory/allocator.hpp>
#include <strop/memory/small.hpp>

#include <doctest/doctest.h>

using namespace strop;
using memory::detail::is_poisoned;
using memory::detail::sanitized;

namespace {
struct Node : memory::Recycled<Node> {
  char bytes[40] = {};
};
}  // namespace

TEST_CASE("poison: a live block is open to its last byte and no further, a released one is closed") {
  for (const std::int64_t bytes : {100, 5000, 100000, 5000000}) {
    auto* data = static_cast<char*>(memory::allocate(cpu(), bytes));
    int closed = 0;
    for (std::int64_t i = 0; i < bytes; i += 7) closed += is_poisoned(data + i);
    CHECK(closed == 0);
    CHECK_FALSE(is_poisoned(data + bytes - 1));
    CHECK(is_poisoned(data + (bytes + 7) / 8 * 8) == sanitized);
    memory::release(cpu(), data, bytes);
    CHECK(is_poisoned(data) == sanitized);
    CHECK(is_poisoned(data + bytes / 2) == sanitized);
  }
}

TEST_CASE("poison: memory that went back to the system is the system's to use") {
  for (const std::int64_t bytes : {4000, 100000, 5000000}) {
    memory::release(cpu(), memory::allocate(cpu(), bytes), bytes);
    memory::release_cached(cpu());
    char* const data = new char[static_cast<std::size_t>(bytes)];
    CHECK_FALSE(is_poisoned(data));
    CHECK_FALSE(is_poisoned(data + bytes - 1));
    delete[] data;
  }
}

TEST_CASE("poison: a deleted node is closed, a new one is open") {
  Node* const node = new Node;
  const char* const last = node->bytes + 39;
  CHECK_FALSE(is_poisoned(last));
  delete node;
  CHECK(is_poisoned(last) == sanitized);
  Node* const next = new Node;
  CHECK_FALSE(is_poisoned(next->bytes + 39));
  delete next;
}
