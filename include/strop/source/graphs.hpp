// SPDX-License-Identifier: Apache-2.0
/// \file
/// The part of the runtime that differentiates and runs graphs: tape, symbols, passes, executors, traced functions.
/// strop/source.hpp includes every part.
#pragma once
#include <strop/core/push_macros.def>

#include <strop/strop.hpp>

#include <strop/autograd/backward_impl.hpp>
#include <strop/autograd/check_gradient_impl.hpp>
#include <strop/autograd/function_impl.hpp>
#include <strop/autograd/gradient_arrays_impl.hpp>
#include <strop/autograd/jvp_impl.hpp>
#include <strop/autograd/leaf_impl.hpp>
#include <strop/autograd/pass_claims_impl.hpp>
#include <strop/autograd/sparse_nodes_impl.hpp>
#include <strop/autograd/tape_impl.hpp>
#include <strop/autograd/views_impl.hpp>
#include <strop/graph/attributes_impl.hpp>
#include <strop/graph/checkpoint_impl.hpp>
#include <strop/graph/control/bound_body_impl.hpp>
#include <strop/graph/control/flow_files_impl.hpp>
#include <strop/graph/control/flow_impl.hpp>
#include <strop/graph/control/flow_infer_impl.hpp>
#include <strop/graph/control/run_impl.hpp>
#include <strop/graph/control_impl.hpp>
#include <strop/graph/executor_bind_impl.hpp>
#include <strop/graph/executor_gradient_impl.hpp>
#include <strop/graph/executor_memory_impl.hpp>
#include <strop/graph/executor_run_impl.hpp>
#include <strop/graph/executor_steps_impl.hpp>
#include <strop/graph/gradient_impl.hpp>
#include <strop/graph/infer_impl.hpp>
#include <strop/graph/json_read_impl.hpp>
#include <strop/graph/json_write_impl.hpp>
#include <strop/graph/mirror_impl.hpp>
#include <strop/graph/mirror_nodes_impl.hpp>
#include <strop/graph/passes/check_impl.hpp>
#include <strop/graph/passes/common_impl.hpp>
#include <strop/graph/passes/constants_impl.hpp>
#include <strop/graph/passes/devices_impl.hpp>
#include <strop/graph/passes/fuse_impl.hpp>
#include <strop/graph/passes/fused_map_impl.hpp>
#include <strop/graph/passes/passes_impl.hpp>
#include <strop/graph/placement_impl.hpp>
#include <strop/graph/plan_impl.hpp>
#include <strop/graph/symbol_impl.hpp>
#include <strop/graph/trace_impl.hpp>
#include <strop/graph/trace_recorded_impl.hpp>
#include <strop/graph/traced_calls_impl.hpp>
#include <strop/graph/traced_graph_impl.hpp>
#include <strop/graph/tracing_impl.hpp>
#include <strop/host/call_impl.hpp>
#include <strop/host/facts_impl.hpp>
#include <strop/host/torch/schema_impl.hpp>
#include <strop/op/contributions_impl.hpp>

#include <strop/core/pop_macros.def>
