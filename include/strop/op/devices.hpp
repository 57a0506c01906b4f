// SPDX-License-Identifier: Apache-2.0
/// \file
/// What kinds of devices do differently with a call. Nothing else in this layer asks which device it is.
#pragma once
#include <strop/core/span.hpp>
#include <strop/op/gpu_map.hpp>
#include <strop/op/plan.hpp>

#include <span>

namespace strop::inline v0::detail {

/// One kind of device.
struct DeviceBackend {
  /// What the device runs of an operator; null where the program has nothing.
  const Kernels* (*kernels)(const Entry&);
  /// A map on dense operands that lie on the device.
  void (*run_map)(const Entry& entry, const void* op, Device device, const Shape& common, Span<const MapOperand> in,
                  Span<const MapOperand> out);
  /// Calls `use` with a context of the device.
  void (*in_context)(Device device, Span<const Request> requests, void (*use)(void* with, Context&), void* with);
  /// Calls `run` as work of the device on the call's arrays, those that it makes included; null where nobody else is at
  /// work on them.
  void (*in_order)(const Plan& plan, Inputs in, Span<NDArray> out, void (*run)(void* with), void* with);
  bool defers;  // calls may wait in the engine's order (others have a queue of their own)
};
const DeviceBackend& backend_of(Device device);

/// The kernel of a tensor operator, for sparse arrays where it has one of those. Throws Error where there is none.
Kernels::Run kernel_of(const Entry& entry, Device device, bool sparse);
/// Whether the device runs the plan's call on arrays some of which are sparse: without dense copies, but for gradients
/// of maps, whose dense copies go through the CPU, as the log of fallbacks says.
bool serves_sparse(const Plan& plan);

}  // namespace strop::inline v0::detail
