// SPDX-License-Identifier: Apache-2.0
/// \file
/// Placement by ctx_group: nodes get devices, and copies stand where a value crosses from one to another.
#pragma once
#include <strop/graph/graph.hpp>
#include <strop/graph/passes/known_graph.hpp>
#include <strop/graph/symbol.hpp>

#include <cstdint>

namespace strop::inline v0::detail {

/// The parameters of the operator that copies a value to another device: kinds and numbers of both.
struct CopyAcross {
  std::int32_t to_kind = 1, to_id = 0, from_kind = 1, from_id = 0;
};

/// The graph with the same outputs in which every node finds its inputs on its own device. A node runs where
/// `groups` says of its `ctx_group`; one that says none where the first of its inputs that is computed lies, or else on
/// `device`. Nodes of which the second rule says where they run get the name of a group of that device, so that each
/// says it itself. Throws Error where a node writes a variable of another device.
NodeOutputs place_nodes(const NodeOutputs& roots, Device device, const NamedDevices& groups,
                        const BoundVariables& variables);

/// The device of each value of such a graph, of its gradients as well: that of the array, of the inputs or, without
/// any, of the group.
List<Device> value_devices(const Graph& graph, Device device, const NamedDevices& groups,
                           const BoundVariables& variables);

/// Where arrays of an attribute list go: the device of its `ctx_group`, or `otherwise`.
Device device_of_group(const NamedTexts& attributes, const NamedDevices& groups, Device otherwise);

}  // namespace strop::inline v0::detail

#if !defined(STROP_COMPILED)
#include <strop/graph/passes/devices_impl.hpp>
#endif
