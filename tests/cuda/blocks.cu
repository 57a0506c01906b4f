// SPDX-License-Identifier: Apache-2.0
// The kernels that are written in the words of strop/cuda/block.hpp, as nvcc compiles them: every word, the reductions
// and the softmaxes for the types that the CPU has.
#include <kernels/reduce.cuh>
#include <kernels/rowwise.cuh>

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

struct Queue {
  cudaStream_t stream;
  cudaError_t& status;
  template <class Kernel>
  void operator()(const Kernel& kernel) const {
    if (status == cudaSuccess) status = launch_blocks(kernel, stream);
  }
};

template <class Step, class X, class Y = X>
void reduce(const Queue& queue, const ReduceShape& a, const Step& step = {}) {
  run_reduce<X, Y>(step, a, {}, {}, {}, false, queue);
}
template <class X>
void reduce_integers(const Queue& queue, const ReduceShape& a) {
  reduce<SumStep<X>, X>(queue, a);
  reduce<ExtremeStep<X, true>, X>(queue, a);
}
/// The steps that differ most from one floating type to the other.
template <class X>
void reduce_floating(const Queue& queue, const ReduceShape& a) {
  reduce<SumStep<X>, X>(queue, a);
  reduce<LengthStep<X>, X>(queue, a);
  reduce<PositionStep<X, true>, X>(queue, a);
  run_softmax_rows<false>(SoftmaxRows<X, X>{}, queue);
  run_softmax_rows<true>(SoftmaxRows<X, X>{}, queue);
}

}  // namespace

cudaError_t queue_blocks(cudaStream_t stream, const ReduceShape& a) {
  cudaError_t status = cudaSuccess;
  const Queue queue{stream, status};
  queue(Words{});
  reduce_floating<float>(queue, a);
  reduce<ProductStep<float>, float>(queue, a);
  reduce<ExtremeStep<float, false>, float>(queue, a);
  reduce<MagnitudeStep<float>, float>(queue, a);
  reduce<SumStep<float, true>, float>(queue, a);
  reduce<MeanStep<float>, float>(queue, a, MeanStep<float>(a.terms.count));
  reduce_floating<double>(queue, a);
  reduce_floating<strop::half>(queue, a);
  reduce<SumStep<strop::bfloat16>, strop::bfloat16>(queue, a);
  reduce_integers<std::int8_t>(queue, a);
  reduce_integers<std::int64_t>(queue, a);
  return status;
}
