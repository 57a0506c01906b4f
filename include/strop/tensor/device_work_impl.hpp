// SPDX-License-Identifier: Apache-2.0
/// \file
/// How work on a GPU is put into the order of all streams.
#pragma once
#include <strop/core/config.hpp>
#include <strop/memory/gpu_block.hpp>
#include <strop/tensor/device_work.hpp>

#include <cstdint>

namespace strop::inline v0::detail {

STROP_IMPL void DeviceWork::uses(const Ref<Buffer>& buffer, bool writes) {
  memory::detail::GpuBlock* const block = buffer && stream_ != nullptr ? buffer->on_gpu() : nullptr;
  if (block == nullptr) return;
  for (Use& use : uses_)
    if (use.buffer == buffer && use.writes == writes) return;
  if (writes)
    block->order_write(*stream_);
  else
    block->order_read(*stream_);
  uses_.push_back({buffer, writes});
}

STROP_IMPL void DeviceWork::each_part(const NDArray& a, bool writes) {
  if (stream_ == nullptr || !a.defined()) return;
  const Body& body = a.body();
  uses(body.buffer, writes);
  if (body.indices) uses(body.indices->buffer, writes);
  if (body.indptr) uses(body.indptr->buffer, writes);
}

STROP_IMPL void DeviceWork::end() noexcept {
  if (uses_.empty()) return;
  try {
    const std::uint64_t mark = stream_->mark();
    // A write is the last word on a block that is read as well.
    for (const bool writes : {false, true})
      for (const Use& use : uses_)
        if (use.writes == writes) use.buffer->on_gpu()->used(*stream_, mark, writes);
  } catch (...) {
    // No memory to remember it, so it is over before anybody else comes; or the device has failed, and whoever waits
    // for anything there is told.
    stream_->settle();
  }
}

STROP_IMPL void copy_between(const NDArray& to, std::byte* target, const NDArray& from, const std::byte* source,
                             std::int64_t bytes) {
  DeviceWork work(to.device().kind == DeviceKind::gpu ? to.device() : from.device());
  work.reads(from);
  work.writes(to);
  memory::detail::copy_bytes(to.device(), target, from.device(), source, bytes);
}

}  // namespace strop::inline v0::detail
