// SPDX-License-Identifier: Apache-2.0
/// \file
/// Recycled nodes: reuse, threads, bounds, exit.
#include <strop/memory/small.hpp>

#include <doctest/doctest.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

using namespace strop;

namespace {

struct Node : memory::Recycled<Node> {
  long value = 7;
  Node* next = nullptr;
  char rest[28] = {};
};

struct Larger : Node {
  char more[100] = {};
};

struct Base : memory::Recycled<Base> {
  virtual ~Base() = default;
  int x = 1;
};
struct Derived : Base {
  double y[9] = {};
};

struct Throwing : memory::Recycled<Throwing> {
  Throwing() { throw std::runtime_error("no"); }
  char rest[200] = {};
};

/// Deletes nodes when the lists of its thread are already closed.
struct Late {
  std::vector<Node*> nodes;
  ~Late() {
    for (Node* node : nodes) delete node;
    delete new Node;
  }
};
Late at_exit;

using Lists = memory::detail::Nodes<sizeof(Node)>;

}  // namespace

static_assert(sizeof(Node) == 48);

TEST_CASE("recycled: the node deleted last is the next new one") {
  Node* const first = new Node;
  delete first;
  Node* const second = new Node;
  CHECK(first == second);
  CHECK(second->value == 7);
  delete second;
}

TEST_CASE("recycled: live nodes are distinct and aligned") {
  std::set<Node*> nodes;
  for (int i = 0; i < 1000; ++i) nodes.insert(new Node);
  CHECK(nodes.size() == 1000);
  for (Node* node : nodes) CHECK(reinterpret_cast<std::uintptr_t>(node) % __STDCPP_DEFAULT_NEW_ALIGNMENT__ == 0);
  for (Node* node : nodes) delete node;
}

TEST_CASE("recycled: derived classes and arrays take the global operators, also through the base") {
  std::unique_ptr<Larger> larger(new Larger);
  std::unique_ptr<Base> base(new Derived);
  std::unique_ptr<Node[]> array(new Node[3]);
  CHECK(larger->value + base->x + array[2].value == 15);
}

TEST_CASE("recycled: a constructor that throws gives its memory back") {
  for (int i = 0; i < 100; ++i) CHECK_THROWS_AS(new Throwing, std::runtime_error);
}

TEST_CASE("recycled: placement new is not taken away") {
  alignas(Node) unsigned char place[sizeof(Node)];
  Node* const node = new (place) Node;
  CHECK(static_cast<void*>(node) == static_cast<void*>(place));
  node->~Node();
}

TEST_CASE("recycled: one thread makes, another deletes; what piles up is bounded") {
  constexpr int rounds = 300, batch = 100;
  std::mutex mutex;
  std::vector<Node*> between;
  std::atomic<bool> finished{false};
  std::atomic<int> wrong{0}, deleted{0};
  std::thread consumer([&] {
    while (true) {
      std::vector<Node*> mine;
      const bool last = finished;
      {
        const std::lock_guard lock(mutex);
        mine.swap(between);
      }
      for (Node* node : mine) {
        if (node->value != 42) ++wrong;
        delete node;
        ++deleted;
      }
      if (Lists::list.count > memory::detail::Depot::chain) ++wrong;
      if (last && mine.empty()) break;
    }
  });
  for (int i = 0; i < rounds; ++i) {
    for (int j = 0; j < batch; ++j) {
      Node* const node = new Node;
      node->value = 42;
      const std::lock_guard lock(mutex);
      between.push_back(node);
    }
  }
  finished = true;
  consumer.join();
  CHECK(wrong == 0);
  CHECK(deleted == rounds * batch);
  CHECK(Lists::depot.count <= memory::detail::Depot::chains);
}

TEST_CASE("recycled: full lists travel through the depot and come back") {
  constexpr int count = 1000, chains = count / memory::detail::Depot::chain - 2;  // two lists stay with their thread
  std::vector<Node*> nodes;
  for (int i = 0; i < count; ++i) nodes.push_back(new Node);
  const int before = Lists::depot.count;
  std::thread([&] {
    for (Node* node : nodes) delete node;
  }).join();
  CHECK(Lists::depot.count >= before + chains);
  const std::set<Node*> made(nodes.begin(), nodes.end());
  int found = 0;
  for (Node*& node : nodes) {
    node = new Node;
    found += made.count(node) != 0;
  }
  CHECK(Lists::depot.count <= before + 2);
  CHECK(found >= chains * memory::detail::Depot::chain);
  for (Node* node : nodes) delete node;
}

TEST_CASE("recycled: many threads, random lifetimes") {
  constexpr int slots = 256;
  std::vector<std::atomic<Node*>> shared(slots);
  std::atomic<int> wrong{0};
  const auto run = [&](std::uint32_t seed) {
    for (int i = 0; i < 30000; ++i) {
      seed = seed * 1664525u + 1013904223u;
      Node* const fresh = new Node;
      if (fresh->value != 7 || fresh->next != nullptr) ++wrong;
      fresh->next = fresh;
      Node* const old = shared[(seed >> 16) % slots].exchange(fresh);
      if (old != nullptr && old->next != old) ++wrong;
      delete old;
    }
  };
  std::vector<std::thread> threads;
  for (std::uint32_t t = 1; t <= 4; ++t) threads.emplace_back(run, t * 77u);
  for (std::thread& thread : threads) thread.join();
  for (auto& slot : shared) delete slot.load();
  CHECK(wrong == 0);
}

TEST_CASE("recycled: threads that end leave nothing behind, and may delete after their lists are closed") {
  for (int i = 0; i < 3; ++i) {
    std::thread([] {
      static thread_local Late late;
      for (int j = 0; j < 300; ++j) late.nodes.push_back(new Node);
      for (int j = 0; j < 100; ++j) delete new Node;
    }).join();
  }
  for (int j = 0; j < 300; ++j) at_exit.nodes.push_back(new Node);
  CHECK(at_exit.nodes.size() == 300);
}
