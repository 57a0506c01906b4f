// SPDX-License-Identifier: Apache-2.0
// What a kernel of blocks has to be.
// reject THREADS: strop: a block has a multiple of 32 threads, at most 1024
// reject COPIED: strop: a kernel is copied to the device: it must be trivially copyable
// reject LANES: strop: lanes exchange numbers of 4 or 8 bytes
#include <strop/cuda/block.hpp>
#include <strop/cuda/emulate.hpp>

#include <cstdint>
#include <vector>

struct Fill {
#if defined(THREADS)
  static constexpr int threads = 48;
#else
  static constexpr int threads = 64;
#endif
  struct Memory {};
  strop::cuda::Global<std::int16_t> y;
#if defined(COPIED)
  std::vector<int> extents = {};
#endif
  std::int64_t blocks() const { return 1; }
  constexpr void operator()(auto& block, auto&) const {
#if defined(LANES)
    const std::int16_t value = block.shuffle_down(y[block.thread()], 1);
#else
    const auto value = static_cast<std::int16_t>(block.shuffle_down(int{y[block.thread()]}, 1));
#endif
    y[block.thread()] = value;
  }
};

int main() {
  std::int16_t y[64] = {};
  strop::cuda::emulate(Fill{{y, 64}});
}
