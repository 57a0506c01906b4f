// SPDX-License-Identifier: Apache-2.0
/// \file
/// A block of a GPU's memory and the streams that use it: when it may be read, written, looked at and given back.
#pragma once
#include <strop/memory/gpu_stream.hpp>
#include <strop/memory/small.hpp>

#include <cstdint>

namespace strop::inline v0::memory::detail {

/// Memory of the pool, foreign memory, or a part of another block.
///
/// A block of the pool belongs to the stream that it was made on, and is handed out again in that stream's order. What
/// any other stream did with it, and what any stream did with foreign memory, has passed before it is given back.
class GpuBlock : public Recycled<GpuBlock> {
 public:
  using Release = void (*)(void* context, void* data) noexcept;

  /// Memory of the pool for the current stream. Throws as allocate does.
  static GpuBlock* make(Device device, std::int64_t bytes);
  /// Memory that release(context, data) gives back. A part of `whole`, which outlives it, is used where that is.
  static GpuBlock* around(Device device, void* data, Release release, void* context, GpuBlock* whole);

  void* data() const { return data_; }

  /// The stream's next work reads the block: it follows who wrote it.
  void order_read(GpuStream& stream);
  /// The stream's next work writes the block: it follows all who used it.
  void order_write(GpuStream& stream);
  /// What the stream did with the block is done when the mark has passed.
  void used(GpuStream& stream, std::uint64_t mark, bool writes);

  /// Returns when the last write is done; throws what failed.
  void wait();
  /// Ends the block: its memory is given back, now or as soon as nobody uses it.
  void release() noexcept;

 private:
  friend struct GpuDevice;
  struct Use {
    GpuStream* stream = nullptr;
    std::uint64_t mark = 0;
    bool writes = false;  // of one in reads_: another part was written at the same time
  };
  GpuBlock(Device device, std::int64_t bytes, void* data, Release give_back, void* context, GpuBlock* whole,
           GpuStream* home)
      : device_(device),
        bytes_(bytes),
        data_(data),
        release_(give_back),
        context_(context),
        whole_(whole),
        home_(home) {}

  bool passed(const Use& use) const noexcept {
    return use.stream == nullptr || use.stream == home_ || use.stream->passed(use.mark);
  }
  bool is_free() noexcept;
  void leave_home() noexcept;
  void wait_free() noexcept;
  /// Gives the memory back and deletes this.
  void finish() noexcept;

  const Device device_;
  const std::int64_t bytes_;
  void* const data_;
  const Release release_;  // null: the pool's
  void* const context_;
  GpuBlock* const whole_;
  GpuStream* home_;  // in whose order the memory goes round; null where it waits for all
  strop::detail::ForkMutex mutex_;
  Use written_;
  strop::detail::List<Use, 2> reads_;  // since then, or beside it
  GpuBlock* next_ = nullptr;           // in a list of the device
};

}  // namespace strop::inline v0::memory::detail
