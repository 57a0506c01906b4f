// SPDX-License-Identifier: Apache-2.0
/// \file
/// Recycled: operator new and delete of a small class on free lists of its thread.
#pragma once
#include <strop/memory/poison.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>

namespace strop::inline v0::memory {
namespace detail {

/// A free node. Its first bytes link it; the address sanitizer sees the rest as freed.
struct FreeNode {
  FreeNode* next;
};

/// Chains of free nodes on their way from threads that free more than they allocate to threads that do the opposite.
/// Constant-initialised and never destroyed. Never waits for its lock: in a child of fork() nobody may be left to open
/// it.
struct Depot {
  static constexpr int chain = 64, chains = 64;
  std::atomic<bool> held{false};
  FreeNode* heads[chains] = {};
  int count = 0;

  bool put(FreeNode* head) noexcept {
    if (held.exchange(true, std::memory_order_acquire)) return false;
    const bool room = count < chains;
    if (room) heads[count++] = head;
    held.store(false, std::memory_order_release);
    return room;
  }
  FreeNode* take() noexcept {
    if (held.exchange(true, std::memory_order_acquire)) return nullptr;
    FreeNode* const head = count > 0 ? heads[--count] : nullptr;
    held.store(false, std::memory_order_release);
    return head;
  }
};

/// One thread's free nodes of one size: a list in use, and a full chain beside it so that the depot is asked at most
/// once in `chain` calls. Trivial, so that it may be used before and after the thread's other objects.
struct NodeList {
  FreeNode* head = nullptr;
  FreeNode* spare = nullptr;  // a chain of Depot::chain nodes
  std::int32_t count = 0;     // in `head`
  std::int32_t room = 0;      // Depot::chain while the thread lives, else 0
  bool ended = false;
};

/// Nodes of Size bytes, shared by all classes of that size.
template <std::size_t Size>
struct Nodes {
  static inline constinit thread_local NodeList list{};
  static inline constinit Depot depot{};

  static void* allocate() {
    NodeList& l = list;
    if (l.head == nullptr) [[unlikely]]
      return allocate_rest(l);
    FreeNode* const node = l.head;
    l.head = node->next;
    --l.count;
    unpoison(node, Size);
    return node;
  }

  static void release(void* data) noexcept {
    NodeList& l = list;
    if (l.count == l.room) [[unlikely]]
      return release_rest(l, data);
    push(l, data);
  }

 private:
  static void push(NodeList& l, void* data) noexcept {
    FreeNode* const node = ::new (data) FreeNode{l.head};
    poison(node + 1, Size - sizeof(FreeNode));
    l.head = node;
    ++l.count;
  }

  [[gnu::noinline]] static void* allocate_rest(NodeList& l) {
    FreeNode* chain = l.spare;
    if (chain != nullptr)
      l.spare = nullptr;
    else if (!l.ended)
      chain = depot.take();
    if (chain == nullptr) return ::operator new(Size);
    if (l.room == 0) open(l);
    l.head = chain;
    l.count = Depot::chain;
    return allocate();
  }

  [[gnu::noinline]] static void release_rest(NodeList& l, void* data) noexcept {
    if (l.room == 0) open(l);
    if (l.room == 0) return ::operator delete(data);
    if (l.count == l.room) {
      if (l.spare != nullptr && !depot.put(l.spare)) free_all(l.spare);
      l.spare = l.head;
      l.head = nullptr;
      l.count = 0;
    }
    push(l, data);
  }

  static void free_all(FreeNode* node) noexcept {
    while (node != nullptr) {
      FreeNode* const next = node->next;
      unpoison(node, Size);
      ::operator delete(static_cast<void*>(node));
      node = next;
    }
  }

  static void open(NodeList& l) noexcept {
    if (l.ended) return;
    struct Sentry {
      ~Sentry() {
        NodeList& mine = list;
        mine.ended = true;
        mine.room = 0;
        free_all(mine.spare);
        free_all(mine.head);
        mine.head = mine.spare = nullptr;
        mine.count = 0;
      }
    };
    static thread_local Sentry sentry;
    l.room = Depot::chain;
  }
};

}  // namespace detail

/// Base that gives a small class its own operator new and delete: `struct Node : memory::Recycled<Node>`. A deleted
/// node waits in a list of the thread that deleted it for the next one of its size; full lists travel to other threads,
/// and beyond a bound (4096 nodes of a size, and 128 a thread) nodes go back to `::operator delete`. Usable from any
/// thread at any time. Classes derived further, arrays and over-aligned classes use the global operators.
template <class T>
struct Recycled {  // NOLINT(bugprone-crtp-constructor-accessibility): aggregates derive from it
  static void* operator new(std::size_t size) {
    if (size != sizeof(T)) return ::operator new(size);
    return detail::Nodes<node_bytes()>::allocate();
  }
  static void operator delete(void* data, std::size_t size) noexcept {
    if (size != sizeof(T)) return ::operator delete(data);
    detail::Nodes<node_bytes()>::release(data);
  }
  static void* operator new(std::size_t, void* where) noexcept { return where; }
  static void operator delete(void*, void*) noexcept {}

 private:
  static constexpr std::size_t node_bytes() {
    static_assert(alignof(T) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__, "a Recycled class may not be over-aligned");
    return (sizeof(T) + 15) / 16 * 16;
  }
};

}  // namespace strop::inline v0::memory
