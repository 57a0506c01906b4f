// SPDX-License-Identifier: Apache-2.0
/// \file
/// Runs a kernel of cuda/block.hpp on a CPU, one block after the other, a fiber for each thread, and finds what a
/// device would pass over in silence: a barrier that is missing, an index that is outside, a lane that is not there.
#pragma once
#include <strop/core/push_macros.def>

#include <strop/core/reflect.hpp>
#include <strop/cuda/block_emulated.hpp>

#include <memory>
#include <type_traits>

namespace strop::inline v0 {
namespace cuda {

/// Runs every thread of every block of a kernel. Error, with the kernel, the block and the thread, where a thread
/// - reads an element of shared memory that nobody wrote, or is outside of an array;
/// - reads or writes an element of shared memory that another thread writes, without a barrier between them;
/// - waits at a barrier that another thread of the block does not reach, or has ended before;
/// - exchanges numbers with a lane that takes no part, or is not in the mask;
/// - moves a pack that does not begin at a multiple of 16 bytes;
/// - ends while an asynchronous copy of its own is under way.
///
/// Several threads of the machine may emulate kernels at once.
template <class Kernel>
void emulate(const Kernel& kernel, Emulation how = {}) {
  static_assert(std::is_trivially_copyable_v<Kernel>,
                "strop: a kernel is copied to the device: it must be trivially copyable");
  static_assert(Kernel::threads > 0 && Kernel::threads <= 1024 && Kernel::threads % 32 == 0,
                "strop: a block has a multiple of 32 threads, at most 1024");
  using Memory = typename Kernel::Memory;
  detail::emulate_blocks({detail::type_name<Kernel>, Kernel::threads, kernel.blocks(), &kernel,
                          [](const void* k, void* memory) {
                            const Block block;
                            (*static_cast<const Kernel*>(k))(block, *static_cast<Memory*>(memory));
                          },
                          []() -> std::shared_ptr<void> { return std::make_shared<Memory>(); }},
                         how);
}

}  // namespace cuda
}  // namespace strop::inline v0

#include <strop/core/pop_macros.def>
