// SPDX-License-Identifier: Apache-2.0
/// \file
/// A block of memory that arrays share: from the pool, or foreign with a release function.
#pragma once
#include <strop/core/device.hpp>
#include <strop/core/ref.hpp>
#include <strop/memory/allocator.hpp>
#include <strop/memory/gpu.hpp>
#include <strop/memory/small.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <source_location>
#include <span>
#include <string_view>
#include <utility>

namespace strop::inline v0::detail {

/// Orders what happens to a buffer's elements: an engine's variable, seen from the layers below the engine's.
class Pending : public Counted {
 public:
  class Work : public Counted {
   public:
    /// What a trace is to say of the work.
    using Note = void (*)(void* to, std::string_view key, std::string_view text);
    virtual ~Work() = default;
    virtual void run() {}
    virtual void describe(Note, void*) const {}
  };

  /// What an order does. A table and no virtual functions: a compiler that sees a single class behind those calls its
  /// functions directly, and so has the engine in every program.
  struct Calls {
    void (*destroy)(Pending*) noexcept;
    void (*wait)(Pending&, bool reads);
    bool (*busy)(const Pending&);
    bool (*idle)(const Pending&);
    void (*settle)(Pending&);
    void (*run)(const Pending&, std::span<Pending* const> reads, std::span<Pending* const> writes,
                std::string_view name, std::source_location where, Ref<Work> work);
    std::uint64_t (*writes)(const Pending&);
  };
  explicit Pending(const Calls& calls) : calls_(calls) {}

  /// Waits for the writes (with `reads`: for all uses) that are pending; throws what failed. An operation of
  /// the engine does not wait for what it has said that it uses.
  void wait(bool reads) { calls_.wait(*this, reads); }
  /// Whether something is pending, or has failed.
  bool busy() const { return calls_.busy(*this); }
  /// Whether no operation that uses it is pending, the one that runs on this thread included.
  bool idle() const { return calls_.idle(*this); }
  /// Waits for the writes, and leaves what failed to whoever looks.
  void settle() { calls_.settle(*this); }
  /// How many writes have been pushed, those of the program's own operations included.
  std::uint64_t writes() const { return calls_.writes(*this); }
  /// Runs the work, which was asked for at `where`, as soon as nothing before it is in its way.
  void run(std::span<Pending* const> reads, std::span<Pending* const> writes, std::string_view name,
           std::source_location where, Ref<Work> work) const {
    calls_.run(*this, reads, writes, name, where, std::move(work));
  }

  /// How a Ref deletes what is derived from this.
  static void destroy(Pending* order) noexcept { order->calls_.destroy(order); }

 protected:
  ~Pending() = default;

 private:
  const Calls& calls_;
};

/// Where arrays without elements lie on the CPU, so that addresses in them are not computed from a null pointer.
alignas(64) inline constinit std::byte no_elements[64]{};

/// Memory with its owner's way to give it back. Counts the live bytes of pooled memory through the allocator.
///
/// Who frees memory and who may look at it are two things: a part of an arena (tensor/arena.hpp) is given back to the
/// arena, and is ordered like memory of the pool; only what is foreign is complete when a call on it returns.
class Buffer : public Counted, public memory::Recycled<Buffer> {
 public:
  using Release = void (*)(void* context, void* data) noexcept;

  Buffer(Device device, std::int64_t bytes) : device_(device), bytes_(bytes) {
    if (device.kind == DeviceKind::gpu)
      hold(memory::detail::GpuBlock::make(device, bytes));
    else
      data_ = bytes == 0 && device.kind == DeviceKind::cpu ? no_elements : memory::allocate(device, bytes);
  }
  Buffer(Device device, std::int64_t bytes, void* data, Release release, void* context)
      : device_(device), bytes_(bytes), data_(data), release_(release), context_(context), foreign_(true) {
    if (device.kind == DeviceKind::gpu) hold(memory::detail::GpuBlock::around(device, data, release, context, nullptr));
  }
  /// A part of `whole`, which outlives it, at another place of its memory.
  Buffer(const Buffer& whole, std::int64_t bytes, void* data, Release release, void* context)
      : device_(whole.device_),
        bytes_(bytes),
        data_(data),
        release_(release),
        context_(context),
        foreign_(whole.foreign_) {
    if (device_.kind == DeviceKind::gpu)
      hold(memory::detail::GpuBlock::around(device_, data, release, context, whole.on_gpu()));
  }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer() {
    Pending* const pending = pending_.load(std::memory_order_acquire);
    if (pending != nullptr) [[unlikely]]
      give_back_later(Ref(pending));
    else
      give_back(device_, data_, bytes_, release_, context_);
  }

  Device device() const { return device_; }
  /// Which streams use the memory; null on the CPU.
  memory::detail::GpuBlock* on_gpu() const {
    return device_.kind == DeviceKind::gpu ? static_cast<memory::detail::GpuBlock*>(context_) : nullptr;
  }
  /// Memory whose owner may look at it, or take it away, without asking an array.
  bool is_foreign() const { return foreign_; }
  std::int64_t bytes() const { return bytes_; }
  /// The elements, once every write that is pending is complete. Throws what failed on the way.
  std::byte* data() const {
    if (Pending* const p = pending()) [[unlikely]]
      p->wait(false);
    return address();
  }
  /// Where the elements are, whatever is pending.
  std::byte* address() const { return static_cast<std::byte*>(data_); }
  /// The order of what happens to the elements; null while everything has happened at the call.
  Pending* pending() const { return pending_.load(std::memory_order_acquire); }
  /// Gives the buffer an order, unless it has got one meanwhile.
  Pending& order(const Ref<Pending>& made) {
    Pending* before = nullptr;
    if (!pending_.compare_exchange_strong(before, made.get(), std::memory_order_acq_rel)) return *before;
    made->retain();
    return *made;
  }

  // For calls that wait: whether the buffer was made for the result of one, and how many of them hold it.
  // Only the pool's: what lies in memory that somebody else holds takes none by being ahead.
  void mark_ahead() { ahead_.store(release_ == nullptr, std::memory_order_relaxed); }
  bool is_ahead() const { return ahead_.load(std::memory_order_relaxed); }
  /// Returns how many held it before.
  std::int32_t hold_ahead(std::int32_t more) { return held_ahead_.fetch_add(more, std::memory_order_relaxed); }

  /// Goes up with every write that was asked for, but for those of the program's own operations in the engine.
  std::uint64_t version() const { return version_.load(std::memory_order_relaxed); }
  void written() { version_.store(version() + 1, std::memory_order_relaxed); }
  /// Goes up with every write that was asked for, by whomever: what backward kept can be checked against it.
  std::uint64_t writes() const {
    const Pending* const order = pending();
    return version() + (order != nullptr ? order->writes() : 0);
  }
  /// Somebody is given the address, to write there whenever he likes: nothing that is found out of the elements holds
  /// for longer than the call that looked.
  void lend() { lent_.store(true, std::memory_order_relaxed); }
  bool is_lent() const { return lent_.load(std::memory_order_relaxed); }

 private:
  /// Memory of a GPU is the block's, which knows who gives it back.
  void hold(memory::detail::GpuBlock* block) {
    data_ = block->data();
    context_ = block;
    release_ = [](void* held, void*) noexcept { static_cast<memory::detail::GpuBlock*>(held)->release(); };
  }
  static void give_back(Device device, void* data, std::int64_t bytes, Release release, void* context) noexcept {
    if (release != nullptr)
      release(context, data);
    else
      memory::release(device, data, bytes);
  }
  /// The memory stays until every operation on it that was pushed is complete, failed ones included.
  void give_back_later(const Ref<Pending>& pending) noexcept;

  Device device_;
  std::int64_t bytes_;
  void* data_ = nullptr;
  Release release_ = nullptr;
  void* context_ = nullptr;
  std::atomic<std::uint64_t> version_{0};
  std::atomic<Pending*> pending_{nullptr};
  std::atomic<std::int32_t> held_ahead_{0};
  std::atomic<bool> ahead_{false};
  std::atomic<bool> lent_{false};
  bool foreign_ = false;
};

}  // namespace strop::inline v0::detail

#if !defined(STROP_COMPILED)
#include <strop/tensor/buffer_impl.hpp>
#endif
