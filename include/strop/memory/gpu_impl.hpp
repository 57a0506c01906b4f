// SPDX-License-Identifier: Apache-2.0
/// \file
/// How streams and blocks of GPUs are made, ordered, waited for and given back.
#pragma once
#include <strop/core/config.hpp>
#include <strop/memory/allocator.hpp>
#include <strop/memory/gpu.hpp>
#include <strop/memory/root.hpp>

#include <cstdint>
#include <mutex>
#include <utility>

namespace strop::inline v0::memory {

STROP_IMPL const GpuDriver* set_gpu_driver(const GpuDriver* driver) {
  if (driver != gpu_driver.load(std::memory_order_acquire))
    for (detail::GpuDevice& device : detail::gpu_devices) device.close();
  detail::root.reclaim.store([](Device device) noexcept { detail::gpu_devices[device.id].reclaim(); },
                             std::memory_order_release);
  return gpu_driver.exchange(driver, std::memory_order_acq_rel);
}

namespace detail {

// --- streams --------------------------------------------------------------------------------------------------------

STROP_IMPL GpuStream::GpuStream(Device device, const GpuDriver& driver)
    : device_(device), driver_(&driver), handle_(driver.make_stream(device)) {
  try {
    for (void*& event : events_) event = driver.make_event(device);  // so that marks do not run out of memory
  } catch (...) {
    close();
    throw;
  }
}

STROP_IMPL std::uint64_t GpuStream::mark() {
  const std::lock_guard lock(mutex_);
  if (driver_ == nullptr) return 0;
  driver_->record(device_, events_[(marks_ + 1) % kept], handle_);
  return ++marks_;
}

STROP_IMPL bool GpuStream::passed(std::uint64_t mark) noexcept {
  const std::lock_guard lock(mutex_);
  if (driver_ == nullptr || mark <= passed_) return true;
  // A device that has failed says so too; whoever waits is to be told, so that this is not remembered.
  return driver_->passed(device_, events_[kept_mark(mark) % kept]);
}

STROP_IMPL void GpuStream::wait(std::uint64_t mark) {
  const GpuDriver* driver = nullptr;
  void* event = nullptr;
  std::uint64_t at = 0;
  {
    const std::lock_guard lock(mutex_);
    if (driver_ == nullptr || mark <= passed_) return;
    driver = driver_;
    at = kept_mark(mark);
    event = events_[at % kept];
  }
  // Meanwhile the event may be moved on, which makes the wait longer and not wrong.
  driver->wait(device_, event);
  const std::lock_guard lock(mutex_);
  if (at > passed_) passed_ = at;
}

STROP_IMPL void GpuStream::settle() noexcept {
  try {
    wait(mark());
  } catch (...) {  // the device has failed: nothing is done there any more
  }
}

STROP_IMPL bool GpuStream::has_followed(const GpuStream& other, std::uint64_t mark) {
  if (&other == this) return true;
  const std::lock_guard lock(mutex_);
  for (const Followed& before : followed_)
    if (before.stream == &other) return before.mark >= mark;
  return false;
}

STROP_IMPL void GpuStream::follow(GpuStream& other, std::uint64_t mark) {
  if (&other == this || mark == 0) return;
  {
    const std::lock_guard lock(mutex_);
    if (driver_ == nullptr) return;
    for (const Followed& before : followed_)
      if (before.stream == &other && before.mark >= mark) return;
  }
  {
    const std::lock_guard lock(other.mutex_);
    if (other.driver_ == nullptr || mark <= other.passed_) return;
    mark = other.kept_mark(mark);
    driver_->follow(device_, handle_, other.events_[mark % kept]);
  }
  const std::lock_guard lock(mutex_);
  for (Followed& before : followed_)
    if (before.stream == &other) {
      if (before.mark < mark) before.mark = mark;
      return;
    }
  followed_.push_back({&other, mark});
}

STROP_IMPL void GpuStream::close() noexcept {
  const std::lock_guard lock(mutex_);
  if (driver_ == nullptr) return;
  for (void*& event : events_)
    if (event != nullptr) driver_->destroy_event(device_, std::exchange(event, nullptr));
  driver_->destroy_stream(device_, std::exchange(handle_, nullptr));
  driver_ = nullptr;
}

// --- devices --------------------------------------------------------------------------------------------------------

STROP_IMPL GpuDevice& GpuDevice::of(Device device) {
  if (device.kind != DeviceKind::gpu) fail("strop: a stream of ", name_of(device), " was asked for, expected a GPU");
  driver_for(device);
  if (device.id < 0 || device.id >= device_count)
    fail("strop: ", name_of(device), " was asked for, but there is no CUDA device of that number: they go from 0 to ",
         device_count - 1);
  return gpu_devices[device.id];
}

/// Under the lock.
STROP_IMPL GpuStream& GpuDevice::make(Device device) {
  auto* const stream = new GpuStream(device, driver_for(device));
  stream->next_ = std::exchange(all, stream);
  return *stream;
}

STROP_IMPL GpuStream& GpuDevice::fixed(Device device, std::atomic<GpuStream*>& which) {
  const std::lock_guard lock(mutex);
  if (which.load(std::memory_order_relaxed) == nullptr) which.store(&make(device), std::memory_order_release);
  return *which.load(std::memory_order_relaxed);
}

STROP_IMPL GpuStream& compute_stream(Device device) {
  GpuDevice& state = GpuDevice::of(device);
  GpuStream* const made = state.compute.load(std::memory_order_acquire);
  return made != nullptr ? *made : state.fixed(device, state.compute);
}

STROP_IMPL GpuStream& copy_stream(Device device) {
  GpuDevice& state = GpuDevice::of(device);
  GpuStream* const made = state.copies.load(std::memory_order_acquire);
  return made != nullptr ? *made : state.fixed(device, state.copies);
}

STROP_IMPL GpuStream& GpuDevice::take_idle(Device device) {
  const std::lock_guard lock(mutex);
  if (idle == nullptr) return make(device);
  GpuStream* const taken = idle;
  idle = std::exchange(taken->next_idle_, nullptr);
  taken->in_use_ = true;
  return *taken;
}

STROP_IMPL void GpuDevice::give_idle(GpuStream& stream) noexcept {
  const std::lock_guard lock(mutex);
  take_free(stream);
  stream.in_use_ = false;
  if (stream.handle() != nullptr) stream.next_idle_ = std::exchange(idle, &stream);
}

/// The block goes back to the pool once all that is queued on the stream is done. Under the lock.
STROP_IMPL void GpuDevice::wait_for(GpuBlock* block, GpuStream& stream) noexcept {
  block->home_ = nullptr;
  try {
    block->written_ = {&stream, stream.mark()};
  } catch (...) {  // the device has failed: nothing is done there any more
    block->written_ = {};
  }
  block->next_ = std::exchange(later, block);
  waiting.store(true, std::memory_order_release);
}

/// Takes away what goes round on the stream. Under the lock.
STROP_IMPL void GpuDevice::take_free(GpuStream& stream) noexcept {
  while (stream.free_ != nullptr) wait_for(std::exchange(stream.free_, stream.free_->next_), stream);
}

STROP_IMPL void GpuDevice::release_later(GpuBlock* block) noexcept {
  const std::lock_guard lock(mutex);
  block->next_ = std::exchange(later, block);
  waiting.store(true, std::memory_order_release);
}

STROP_IMPL void GpuDevice::collect() noexcept {
  if (!waiting.load(std::memory_order_acquire)) return;
  GpuBlock* free = nullptr;
  {
    const std::lock_guard lock(mutex);
    for (GpuBlock** at = &later; *at != nullptr;) {
      GpuBlock* const block = *at;
      if (block->is_free()) {
        *at = block->next_;
        block->next_ = std::exchange(free, block);
      } else {
        at = &block->next_;
      }
    }
    waiting.store(later != nullptr, std::memory_order_release);
  }
  while (free != nullptr) std::exchange(free, free->next_)->finish();  // an owner may do anything
}

STROP_IMPL bool GpuDevice::reclaim() noexcept {
  GpuBlock* used = nullptr;
  {
    const std::lock_guard lock(mutex);
    for (GpuStream* stream = all; stream != nullptr; stream = stream->next_) take_free(*stream);
    for (GpuBlock* block = later; block != nullptr; block = block->next_) block->leave_home();
    used = std::exchange(later, nullptr);
    waiting.store(false, std::memory_order_release);
  }
  const bool any = used != nullptr;
  while (used != nullptr) {
    GpuBlock* const block = std::exchange(used, used->next_);
    block->wait_free();
    block->finish();
  }
  return any;
}

STROP_IMPL void GpuDevice::close() noexcept {
  reclaim();
  const std::lock_guard lock(mutex);
  for (GpuStream* stream = all; stream != nullptr; stream = stream->next_) {
    stream->close();
    stream->next_idle_ = nullptr;
  }
  idle = nullptr;
  compute.store(nullptr, std::memory_order_release);
  copies.store(nullptr, std::memory_order_release);
}

// --- blocks ---------------------------------------------------------------------------------------------------------

STROP_IMPL GpuBlock* GpuBlock::make(Device device, std::int64_t bytes) {
  GpuStream& stream = current_stream(device);
  GpuDevice& state = gpu_devices[device.id];
  state.collect();
  const bool is_compute = &stream == state.compute.load(std::memory_order_acquire);
  if (!is_compute && bytes > 0) {
    const std::lock_guard lock(state.mutex);
    for (GpuBlock** at = &stream.free_; *at != nullptr; at = &(*at)->next_)
      if (GpuBlock* const block = *at; class_of(block->bytes_) == class_of(bytes)) {
        *at = std::exchange(block->next_, nullptr);
        return block;
      }
  }
  void* data = nullptr;
  try {
    data = allocate(device, bytes);
  } catch (const Error&) {
    if (!state.reclaim()) throw;
    data = allocate(device, bytes);
  }
  try {
    // What the pool hands out may still be in use on the device's own stream.
    if (!is_compute && bytes > 0) {
      GpuStream& own = compute_stream(device);
      stream.follow(own, own.mark());
    }
    return new GpuBlock(device, bytes, data, nullptr, nullptr, nullptr, &stream);
  } catch (...) {
    memory::release(device, data, bytes);
    throw;
  }
}

STROP_IMPL GpuBlock* GpuBlock::around(Device device, void* data, Release release, void* context, GpuBlock* whole) {
  return new GpuBlock(device, 0, data, release, context, whole, nullptr);
}

STROP_IMPL void GpuBlock::order_read(GpuStream& stream) {
  if (whole_ != nullptr) return whole_->order_read(stream);
  const std::lock_guard lock(mutex_);
  if (written_.stream != nullptr) stream.follow(*written_.stream, written_.mark);
  for (const Use& use : reads_)
    if (use.writes) stream.follow(*use.stream, use.mark);
}

STROP_IMPL void GpuBlock::order_write(GpuStream& stream) {
  if (whole_ != nullptr) return whole_->order_write(stream);
  const std::lock_guard lock(mutex_);
  if (written_.stream != nullptr) stream.follow(*written_.stream, written_.mark);
  for (const Use& use : reads_) stream.follow(*use.stream, use.mark);
}

STROP_IMPL void GpuBlock::used(GpuStream& stream, std::uint64_t mark, bool writes) {
  if (whole_ != nullptr) whole_->used(stream, mark, writes);
  const std::lock_guard lock(mutex_);
  if (writes) {  // it came after all the others but those that use other parts of the memory at the same time
    strop::detail::List<Use, 2> apart;
    const auto keep = [&](const Use& use, bool wrote) {
      if (use.stream != nullptr && !stream.has_followed(*use.stream, use.mark) && !use.stream->passed(use.mark))
        apart.push_back({use.stream, use.mark, wrote});
    };
    keep(written_, true);
    for (const Use& use : reads_) keep(use, use.writes);
    written_ = {&stream, mark};
    reads_ = std::move(apart);
    return;
  }
  for (Use& use : reads_)
    if (use.stream == &stream && !use.writes) {
      if (use.mark < mark) use.mark = mark;
      return;
    }
  reads_.push_back({&stream, mark});
}

STROP_IMPL void GpuBlock::wait() {
  strop::detail::List<Use, 2> last;
  {
    const std::lock_guard lock(mutex_);
    if (written_.stream != nullptr) last.push_back(written_);
    for (const Use& use : reads_)
      if (use.writes) last.push_back(use);
  }
  for (const Use& use : last) use.stream->wait(use.mark);
}

STROP_IMPL bool GpuBlock::is_free() noexcept {
  const std::lock_guard lock(mutex_);
  bool free = passed(written_);
  for (const Use& use : reads_) free = free && passed(use);
  return free;
}

/// The memory is to leave the stream that it goes round on, and so waits for that as well.
STROP_IMPL void GpuBlock::leave_home() noexcept {
  GpuStream* const home = home_;
  if (home == nullptr || home == gpu_devices[device_.id].compute.load(std::memory_order_acquire)) return;
  home_ = nullptr;
  try {
    used(*home, home->mark(), false);
  } catch (...) {  // the device has failed: nothing is done there any more
  }
}

STROP_IMPL void GpuBlock::wait_free() noexcept {
  const auto wait = [](const Use& use) {
    try {
      if (use.stream != nullptr) use.stream->wait(use.mark);
    } catch (...) {  // who looks at an array is told; memory that the device has given up is free
    }
  };
  wait(written_);
  for (const Use& use : reads_) wait(use);
}

STROP_IMPL void GpuBlock::release() noexcept {
  // Memory of others may be on a device that this program does not know.
  if (whole_ != nullptr || device_.id < 0 || device_.id >= device_count) return finish();
  GpuDevice& state = gpu_devices[device_.id];
  if (is_free())
    finish();
  else
    state.release_later(this);
  state.collect();
}

STROP_IMPL void GpuBlock::finish() noexcept {
  if (release_ != nullptr) {
    release_(context_, data_);
  } else if (GpuDevice& state = gpu_devices[device_.id]; home_ != nullptr && bytes_ > 0 && home_->handle() != nullptr &&
                                                         home_ != state.compute.load(std::memory_order_acquire)) {
    // It goes round on the stream of a scope, as long as that lives.
    const std::lock_guard lock(state.mutex);
    written_ = {};
    reads_.clear();
    if (home_->in_use_)
      next_ = std::exchange(home_->free_, this);
    else
      state.wait_for(this, *home_);
    return;
  } else {
    memory::release(device_, data_, bytes_);
  }
  delete this;
}

STROP_IMPL void copy_on_stream(Device to, void* target, Device from, const void* source, std::int64_t bytes) {
  const bool to_gpu = to.kind == DeviceKind::gpu, from_gpu = from.kind == DeviceKind::gpu;
  GpuStream& stream = current_stream(to_gpu ? to : from);
  GpuStream* const other = to_gpu && from_gpu && to.id != from.id ? &current_stream(from) : nullptr;
  if (other != nullptr) stream.follow(*other, other->mark());
  driver_for(stream.device()).copy(to, target, from, source, bytes, stream.handle());
  if (other != nullptr) other->follow(stream, stream.mark());  // the source may be handed out again there
  if (!to_gpu || !from_gpu) stream.wait(stream.mark());
}

STROP_IMPL void clear_on_stream(Device device, void* target, std::int64_t bytes) {
  GpuStream& stream = current_stream(device);
  driver_for(device).clear(device, target, bytes, stream.handle());
}

}  // namespace detail
}  // namespace strop::inline v0::memory
