// SPDX-License-Identifier: Apache-2.0
/// \file
/// Parallel loops: one pool for the kernels, aware of what the engine's threads do, replaceable by the host's own.
#pragma once
#include <atomic>
#include <cstdint>
#include <strop/engine/threads.hpp>
#include <type_traits>

namespace strop::inline v0 {

/// A piece of a loop, [begin, end), as the pool sees it. It never throws.
using LoopBody = void (*)(void* context, std::int64_t begin, std::int64_t end);

/// A host's own pool: calls `body(context, begin, end)` on disjoint pieces that cover [0, n), on any threads, and
/// returns when all of them have returned. Pieces of fewer than `grain` items are not worth a thread.
using ParallelHook = void (*)(std::int64_t n, std::int64_t grain, LoopBody body, void* context);

namespace detail {

inline constinit std::atomic<ParallelHook> parallel_hook{nullptr};
/// A piece of a loop that may throw.
using ThrowingBody = void (*)(void* context, std::int64_t begin, std::int64_t end);
/// Runs body on pieces of [0, n), on this thread and on those that have nothing else to do. Rethrows what body throws.
void run_parallel(std::int64_t n, std::int64_t grain, int wakes, ThrowingBody body, void* context);

/// parallel_for, for a loop that is worth waking at most `wakes` sleeping threads, which takes as long as some ten
/// thousand sums: those that are awake come in any case, and the others once such loops follow each other closely.
template <class F>
constexpr void parallel_for_waking(int wakes, std::int64_t n, std::int64_t grain, F&& f) {
  if (n <= 0) return;
  if (std::is_constant_evaluated() || n <= grain || inside_loop || num_threads() == 1) {
    f(std::int64_t{0}, n);
    return;
  }
  using Called = std::remove_reference_t<F>;
  run_parallel(
      n, grain, wakes,
      [](void* body, std::int64_t begin, std::int64_t end) { (*static_cast<Called*>(body))(begin, end); },
      const_cast<void*>(static_cast<const void*>(&f)));
}

}  // namespace detail

/// Hands all parallel loops to the host's pool; nullptr brings the library's own back. Not to be called during a loop.
inline void set_parallel(ParallelHook hook) { detail::parallel_hook.store(hook, std::memory_order_release); }

/// Calls f(begin, end) on disjoint pieces that cover [0, n), at the same time on several threads where that pays.
///
/// It is one plain call f(0, n) when n <= grain, when num_threads() is 1, and inside another parallel loop. Every piece
/// begins at a multiple of `grain`; otherwise how the range is cut, and which thread gets which piece, is not
/// specified. Threads that are busy with operations of the engine take no part, so that loops inside concurrent
/// operations do not oversubscribe the machine. The first exception of a piece reaches the caller after all running
/// pieces have ended; pieces that have not begun by then are left out. f is called on several threads at once through
/// one object.
template <class F>
constexpr void parallel_for(std::int64_t n, std::int64_t grain, F&& f) {
  detail::parallel_for_waking(detail::max_threads, n, grain, f);
}

}  // namespace strop::inline v0

#if !defined(STROP_COMPILED)
#include <strop/engine/thread_pool_impl.hpp>
#endif
