// SPDX-License-Identifier: Apache-2.0
/// \file
/// A map on its way to a GPU: what its launcher is given, and the way there.
#pragma once
#include <strop/core/span.hpp>
#include <strop/op/map_run.hpp>

#include <span>

namespace strop::inline v0::detail {

/// One call of a map on dense operands that lie on the device of `Cuda`. Every operand has the element type `dtype`; an
/// input without memory is one that the operator does not read.
struct GpuMap {
  const Entry& entry;
  const void* op;
  Dtype dtype;
  const Shape& common;  // the broadcast shape of all operands
  Span<const MapOperand> in, out;
};

/// Says that the program has no kernel of the operator for the GPU, and for a map what it lacks.
[[noreturn]] void fail_without_kernel(const Entry& entry, Device device);
/// run_map for operands on a GPU. Error where the program has no kernel of the operator, and where the device refuses.
void run_map_on_gpu(const Entry& entry, const void* op, Device device, const Shape& common, Span<const MapOperand> in,
                    Span<const MapOperand> out);

}  // namespace strop::inline v0::detail
