// SPDX-License-Identifier: Apache-2.0
// The words of strop/cuda/block.hpp, as nvcc compiles them.
#include <strop/cuda/block.hpp>

namespace {

using namespace strop::cuda;

/// Every word once.
struct Words {
  static constexpr int threads = 64;
  struct Memory {
    Shared<float, 256> x;
    Shared<int, 64> votes;
  };
  Global<const float> x;
  Global<float> y;
  Global<int> i32;
  Global<std::int64_t> i64;
  Global<double> f64;

  std::int64_t blocks() const { return x.size() / 256; }
  constexpr void operator()(auto& block, auto& memory) const {
    const int t = block.thread(), at = 4 * t;
    const std::int64_t from = 256 * block.index();
    block.copy_async(memory.x, at, x, from + at);
    block.commit_copies();
    block.template wait_copies<0>();
    block.sync();
    Pack<float> v = memory.x.load(252 - at);
    for (float& e : v.e) e = block.shuffle_down(e, 1) + block.shuffle_xor(e, 2) + block.broadcast(e, 3);
    y.store(from + at, v);
    memory.votes[t] = static_cast<int>(block.ballot(v.e[0] > 0));
    block.sync_warp();
    const int vote = memory.votes[t ^ 1];
    block.atomic_add(i32[0], vote);
    block.atomic_max(i32[1], vote);
    block.atomic_min(i64[0], std::int64_t{vote});
    block.atomic_add(i64[1], std::int64_t{vote});
    block.atomic_add(f64[0], 0.5 * vote);
    block.atomic_max(f64[1], 0.5 * vote);
    block.atomic_max(y[0], v.e[1]);
    block.atomic_min(memory.x[0], v.e[2]);
    block.atomic_cas(i64[2], std::int64_t{0}, block.broadcast(std::int64_t{t}, 5));
  }
};

}  // namespace

cudaError_t queue_words(cudaStream_t stream) { return launch_blocks(Words{}, stream); }
