// SPDX-License-Identifier: Apache-2.0
/// \file
/// An arena: one block of memory in which several arrays lie, at the same bytes at different times as well.
#pragma once
#include <strop/core/list.hpp>
#include <strop/engine/sync.hpp>
#include <strop/tensor/ndarray.hpp>

#include <cstdint>
#include <vector>

namespace strop::inline v0::detail {

/// Where values lie that a plan has put into one block. A part is a buffer like any other: it has an order, a failure
/// and a version of its own, also where another part lies at the same bytes. Parts and handles of the arena go in any
/// order; the memory stays until the last of them, and every operation on them, has ended.
///
/// Bytes of an arena that belong to no live part are closed to the address sanitizer.
class Arena : public Counted {
 public:
  /// Where parts may begin, as the allocator's blocks do.
  static constexpr std::int64_t alignment = 64;

  /// Memory of the pool. Throws Error where there is none.
  Arena(Device device, std::int64_t bytes) : Arena(Ref(new Buffer(device, bytes))) {}
  /// Memory that is there, and that nobody else uses meanwhile. Parts of what is foreign are foreign.
  explicit Arena(Ref<Buffer> memory);
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;
  ~Arena();

  Device device() const { return memory_->device(); }
  std::int64_t bytes() const { return memory_->bytes(); }
  std::byte* address() const { return memory_->address(); }

  /// The bytes [offset, offset + bytes) as a buffer. Throws Error where they do not lie in the arena, or where offset
  /// is no multiple of the alignment. Safe from any thread.
  static Ref<Buffer> part(const Ref<Arena>& arena, std::int64_t offset, std::int64_t bytes);

 private:
  struct Place;
  void open(std::int64_t offset, std::int64_t bytes);
  void close(std::int64_t offset, std::int64_t bytes) noexcept;

  Ref<Buffer> memory_;
  // Under the address sanitizer: how many live parts cover each stretch of `alignment` bytes.
  SpinLock counting_;
  List<std::int32_t> parts_;
};

/// A dense array of its own in the arena's bytes from `offset` on. Throws Error as Arena::part does.
NDArray array_in(const Ref<Arena>& arena, std::int64_t offset, const Shape& shape, Dtype dtype);

/// For two parts at the same bytes: `later` takes them over. What is asked of it from now on waits for everything that
/// was asked of `earlier` so far, those who read it included. A failure of `earlier` stays where it is and does not
/// pass over; one of `later` is forgotten, as the bytes are no longer its own until it is written. Costs a load or two
/// where nothing is pending on `earlier`. Throws only where memory runs out. Not to be called from an operation that
/// uses either of them.
void follow(Buffer& later, const Buffer& earlier);

}  // namespace strop::inline v0::detail

#if !defined(STROP_COMPILED)
#include <strop/tensor/arena_impl.hpp>
#endif
