// SPDX-License-Identifier: Apache-2.0
/// \file
/// The way of a map to its GPU kernel.
#pragma once
#include <strop/core/config.hpp>
#include <strop/core/few.hpp>
#include <strop/memory/gpu.hpp>
#include <strop/op/gpu_map.hpp>
#include <strop/op/mode.hpp>

namespace strop::inline v0::detail {

STROP_IMPL void fail_without_kernel(const Entry& entry, Device device) {
  fail(entry.snake, ": has no kernel for ", to_text(device), " in this program",
       !entry.is_map()               ? ""
       : entry.slot == nullptr       ? ", as forward mode has none"
       : launch_of(entry) == nullptr ? "; name the operator in a .cu file"
                                     : ", as its parameters are not trivially copyable");
}

STROP_IMPL void run_map_on_gpu(const Entry& entry, const void* op, Device device, const Shape& common,
                               std::span<const MapOperand> in, std::span<const MapOperand> out) {
  const CudaLaunch* const launch = launch_of(entry);
  const CudaLaunch::Map run = launch != nullptr ? launch->map[entry.order] : nullptr;
  if (run == nullptr) fail_without_kernel(entry, device);
  Few<Request, 8> requests(out.size());
  for (std::size_t i = 0; i < out.size(); ++i) requests[i] = out[i].request;
  Cuda context(device, requests, call_mode.training);
  context.use_stream(memory::detail::driver_for(device).stream(device));
  run({entry, op, in.empty() ? out[0].dtype : in[0].dtype, common, in, out}, context);
}

}  // namespace strop::inline v0::detail
