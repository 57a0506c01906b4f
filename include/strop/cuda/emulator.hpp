// SPDX-License-Identifier: Apache-2.0
/// \file
/// What the words of cuda/block.hpp ask of the emulator that runs their kernel.
#pragma once
#include <strop/core/push_macros.def>

#include <strop/core/error.hpp>

#include <cstdint>
#include <memory>
#include <source_location>
#include <string_view>

namespace strop::inline v0 {

namespace cuda {

/// In which order threads take their turns between two barriers, and blocks one after the other.
enum class Order : std::uint8_t { ascending, descending, seeded };
struct Emulation {
  Order order = Order::ascending;
  std::uint64_t seed = 0;  // of a seeded order
};

}  // namespace cuda

namespace detail {

/// When a thread did something: in which stretch between barriers of the block, and of its warp.
struct Moment {
  int thread = 0;
  std::uint32_t stretch = 0, warp_stretch = 0;
};

/// Which threads did one kind of thing with an element since the block's last barrier. Exact: what a warp did before
/// its own last barrier is remembered as a deed of the warp, which others conflict with and its lanes do not.
class Deeds {
 public:
  void add(const Moment& m);
  /// A thread other than m's that did it without a barrier before m; −1 where there is none.
  int beside(const Moment& m) const;

 private:
  std::uint32_t stretch_ = 0, warp_stretch_ = 0;
  std::uint32_t warps_ = 0;    // all that did it
  std::uint32_t lanes_ = 0;    // of the one warp, since its own last barrier, where it is only one
  int last_ = 0, before_ = 0;  // the last thread, and the last one of another warp
};

/// What the emulator knows of an element of shared memory.
struct SharedCell {
  Deeds reads, writes, atomics;
  bool written = false;
};

/// What an array of the emulator asks of the one that runs. Each throws the sentence of what is wrong.
void emulated_read(SharedCell& cell, std::int64_t i, std::int64_t size);
void emulated_write(SharedCell& cell, std::int64_t i, std::int64_t size);
void emulated_atomic(SharedCell& cell, std::int64_t i, std::int64_t size);
/// Element i of `size`.
void emulated_bounds(std::string_view array, std::int64_t i, std::int64_t size);
/// The 16 bytes of elements i, i + 1, …, of `size` at `data`.
void emulated_pack(std::string_view array, std::int64_t i, std::int64_t size, const void* data, std::int64_t width);

/// What a thread asks.
int emulated_thread();
int emulated_threads();
std::int64_t emulated_block();
std::int64_t emulated_blocks();
void emulated_sync(const std::source_location& where);
enum class LaneExchange : std::uint8_t { down, exclusive, broadcast, ballot, barrier };
std::uint64_t emulated_exchange(LaneExchange what, std::uint64_t bits, int argument, std::uint32_t mask,
                                const std::source_location& where);
/// A copy of 16 bytes that comes about when it is waited for: write(to, index) takes them there.
struct DeferredCopy {
  void (*write)(void* array, int at, const void* bytes);
  void* array;
  int at;
  const void* from;
};
void emulated_copy(const DeferredCopy& copy);
void emulated_commit();
void emulated_wait_copies(int pending);

/// A kernel without its type.
struct EmulatedKernel {
  std::string_view name;
  int threads;
  std::int64_t blocks;
  const void* kernel;
  void (*run)(const void* kernel, void* memory);
  std::shared_ptr<void> (*memory)();
};
void emulate_blocks(const EmulatedKernel& kernel, cuda::Emulation how);

}  // namespace detail

}  // namespace strop::inline v0

#if !defined(STROP_COMPILED)
#include <strop/cuda/emulator_impl.hpp>
#endif

#include <strop/core/pop_macros.def>
