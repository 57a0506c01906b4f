// SPDX-License-Identifier: Apache-2.0
/// \file
/// Small fixed-size blocks that one thread takes and another gives back, without a call to the system allocator.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>
#include <strop/core/sanitizer.hpp>
#include <strop/engine/sync.hpp>
#include <utility>

namespace strop::inline v0::detail {

/// A small number that tells threads apart, for spreading shared counters; it is reused only by wrapping around.
inline unsigned thread_index() {
  static constinit std::atomic<unsigned> threads{0};
  static constinit thread_local unsigned index = 0;  // 0: not given yet
  if (index == 0) [[unlikely]]
    index = threads.fetch_add(1, std::memory_order_relaxed) + 1;
  return index - 1;
}

/// A free block.
struct BlockNode {
  BlockNode* next;
};
struct BlockSlab;
/// The free blocks of some of the threads.
struct alignas(64) BlockShard {
  SpinLock lock;
  BlockNode* free = nullptr;
  char *fresh = nullptr, *end = nullptr;
  BlockSlab* slabs = nullptr;  // keeps the memory reachable
  alignas(64) std::atomic<BlockNode*> returned{nullptr};
};
/// The head of 64 KiB, aligned to as much, that are cut into blocks.
struct BlockSlab {
  BlockShard* home;
  BlockSlab* older;
};

/// Blocks of Size bytes, aligned to 64. A block goes back to the shard that it came from, so that a producer gets its
/// own blocks back from its consumers. Memory is kept for the life of the process; trimming would need a scan.
template <std::size_t Size>
class Blocks {
  static_assert(Size % 64 == 0);

 public:
  static constexpr std::size_t size = Size;

  /// Throws std::bad_alloc.
  static void* take() {
    if (guards_memory())  // the address sanitizer then sees every use after release
      return ::operator new(Size, std::align_val_t{64});
    BlockShard& shard = shards[thread_index() % count];
    Hold hold(shard.lock);
    if (shard.free == nullptr) shard.free = shard.returned.exchange(nullptr, std::memory_order_acquire);
    if (BlockNode* node = shard.free) {
      shard.free = node->next;
      return node;
    }
    if (shard.fresh == shard.end) grow(shard);
    void* block = shard.fresh;
    shard.fresh += Size;
    return block;
  }

  static void give(void* block) noexcept {
    if (guards_memory()) return ::operator delete(block, std::align_val_t{64});
    BlockShard& home = *slab_of(block)->home;
    BlockNode* node = ::new (block) BlockNode;
    node->next = home.returned.load(std::memory_order_relaxed);
    while (!home.returned.compare_exchange_weak(node->next, node, std::memory_order_release, std::memory_order_relaxed))
      pause();
  }

  /// Around a fork, so that the child finds every shard whole.
  static void lock_all() {
    for (BlockShard& shard : shards) shard.lock.lock();
  }
  static void unlock_all() {
    for (BlockShard& shard : shards) shard.lock.unlock();
  }

 private:
  static constexpr std::size_t slab_size = 64 * 1024;
  static constexpr std::size_t head_size = 64;
  static_assert(sizeof(BlockSlab) <= head_size);
  static constexpr unsigned count = 8;

  static BlockSlab* slab_of(void* block) {
    return reinterpret_cast<BlockSlab*>(reinterpret_cast<std::uintptr_t>(block) & ~std::uintptr_t{slab_size - 1});
  }

  static void grow(BlockShard& shard) {
    char* memory = static_cast<char*>(::operator new(slab_size, std::align_val_t{slab_size}));
    shard.slabs = ::new (static_cast<void*>(memory)) BlockSlab{&shard, shard.slabs};
    shard.fresh = memory + head_size;
    shard.end = shard.fresh + (slab_size - head_size) / Size * Size;
  }

  static inline constinit BlockShard shards[count]{};
};

/// Blocks of one size that one owner takes again and again, larger than the common ones: another is made where all are
/// out, and they stay as long as the owner. Any thread gives them back, also when the owner is gone.
class OwnBlocks {
 public:
  /// Of the same size each time, aligned to 64. Throws std::bad_alloc.
  void* take(std::size_t size) {
    Head* all = guards_memory() ? nullptr : free_.exchange(nullptr, std::memory_order_acquire);
    Head* const head = all != nullptr ? std::exchange(all, all->next)
                                      : ::new (::operator new(sizeof(Head) + size, std::align_val_t{64})) Head;
    while (all != nullptr) put(std::exchange(all, all->next));
    head->home = this;
    holders_.fetch_add(1, std::memory_order_relaxed);
    return head + 1;
  }
  static void give(void* block) noexcept {
    Head* const head = static_cast<Head*>(block) - 1;
    OwnBlocks& home = *head->home;
    guards_memory() ? release(head) : home.put(head);
    home.drop();
  }
  /// By the owner, when it goes.
  void drop() noexcept {
    if (holders_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
    for (Head* head = free_.load(std::memory_order_relaxed); head != nullptr;) release(std::exchange(head, head->next));
    delete this;
  }

 private:
  struct alignas(64) Head {
    OwnBlocks* home;
    Head* next;
  };
  void put(Head* head) noexcept {
    head->next = free_.load(std::memory_order_relaxed);
    while (!free_.compare_exchange_weak(head->next, head, std::memory_order_release, std::memory_order_relaxed))
      pause();
  }
  static void release(Head* head) noexcept { ::operator delete(static_cast<void*>(head), std::align_val_t{64}); }

  std::atomic<Head*> free_{nullptr};
  std::atomic<std::uint32_t> holders_{1};  // the owner, and each block that is out
};

}  // namespace strop::inline v0::detail
