// SPDX-License-Identifier: Apache-2.0
/// \file
/// Runs a kernel's threads on the CPU, one after the other.
#pragma once
#include "../../kernels/map.cuh"

#include <cstdint>

namespace shim {

template <class T, class E, std::size_t N, std::size_t M>
void run_map(const T& op, const strop::cuda::MapArguments<E, N, M>& arguments, std::int64_t blocks,
             std::int64_t threads) {
  for (std::int64_t thread = 0; thread < blocks * threads; ++thread)
    strop::cuda::map_thread(op, arguments, thread, blocks * threads);
}

}  // namespace shim
