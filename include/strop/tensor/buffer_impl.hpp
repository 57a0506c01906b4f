// SPDX-License-Identifier: Apache-2.0
/// \file
/// How memory that is still in use is given back.
#pragma once
#include <strop/core/config.hpp>
#include <strop/tensor/buffer.hpp>

#include <cstdint>

namespace strop::inline v0::detail {

STROP_IMPL void Buffer::give_back_later(const Ref<Pending>& pending) noexcept {
  pending->drop();  // the buffer's own share
  // In a queue it would stand behind calls that take more memory meanwhile.
  if (pending->idle()) return give_back(device_, data_, bytes_, release_, context_);
  class GiveBack final : public Pending::Work {
   public:
    explicit GiveBack(const Buffer& b)
        : device_(b.device_), bytes_(b.bytes_), data_(b.data_), release_(b.release_), context_(b.context_) {}
    // At the end of the work, also where a failure before it kept it from running.
    ~GiveBack() override { give_back(device_, data_, bytes_, release_, context_); }

   private:
    Device device_;
    std::int64_t bytes_;
    void* data_;
    Release release_;
    void* context_;
  };
  Pending* const own = pending.get();
  try {
    pending->run({}, {&own, 1}, "release", {}, Ref<Pending::Work>(new GiveBack(*this)));
  } catch (...) {  // no memory to queue it: what was made of it has given the memory back, or leaves it to the system
    return;
  }
}

}  // namespace strop::inline v0::detail
