// SPDX-License-Identifier: Apache-2.0
/// \file
/// The runtime, once per program: all code of the headers that is no template. One file of a program whose others are
/// compiled with -DSTROP_COMPILED includes this; the library that the wrap and `meson install` build is nothing else.
#pragma once
#if !defined(STROP_COMPILED)
#if defined(STROP_IMPL)
#error \
    "strop: a file that includes <strop/source.hpp> has it first, or is compiled with -DSTROP_COMPILED like the others"
#endif
#define STROP_COMPILED
#endif
#include <strop/core/push_macros.def>

#include <strop/strop.hpp>

#include <strop/autograd/backward_impl.hpp>
#include <strop/autograd/check_gradient_impl.hpp>
#include <strop/autograd/function_impl.hpp>
#include <strop/autograd/jvp_impl.hpp>
#include <strop/autograd/tape_impl.hpp>
#include <strop/autograd/views_impl.hpp>
#include <strop/core/environment_impl.hpp>
#include <strop/core/error_impl.hpp>
#include <strop/core/isa_impl.hpp>
#include <strop/core/params_impl.hpp>
#include <strop/core/sanitizer_impl.hpp>
#include <strop/core/shape_impl.hpp>
#include <strop/core/text_impl.hpp>
#include <strop/data/libsvm_impl.hpp>
#include <strop/data/libsvm_iter_impl.hpp>
#include <strop/data/lines_impl.hpp>
#include <strop/engine/bulk_impl.hpp>
#include <strop/engine/crew_impl.hpp>
#include <strop/engine/execute_impl.hpp>
#include <strop/engine/failure_impl.hpp>
#include <strop/engine/lifetime_impl.hpp>
#include <strop/engine/operation_impl.hpp>
#include <strop/engine/options_impl.hpp>
#include <strop/engine/ready_impl.hpp>
#include <strop/engine/step_impl.hpp>
#include <strop/engine/threads_impl.hpp>
#include <strop/engine/trace_impl.hpp>
#include <strop/engine/uses_impl.hpp>
#include <strop/engine/variable_impl.hpp>
#include <strop/engine/wait_impl.hpp>
#include <strop/engine/workers_impl.hpp>
#include <strop/graph/executor_gradient_impl.hpp>
#include <strop/graph/executor_impl.hpp>
#include <strop/graph/gradient_impl.hpp>
#include <strop/graph/infer_impl.hpp>
#include <strop/graph/json_read_impl.hpp>
#include <strop/graph/json_write_impl.hpp>
#include <strop/graph/symbol_impl.hpp>
#include <strop/graph/trace_impl.hpp>
#include <strop/library/export_impl.hpp>
#include <strop/library/hosted_impl.hpp>
#include <strop/library/load_impl.hpp>
#include <strop/memory/allocator_impl.hpp>
#include <strop/memory/random_impl.hpp>
#include <strop/number/jet_impl.hpp>
#include <strop/op/add_impl.hpp>
#include <strop/op/call_impl.hpp>
#include <strop/op/deferred_impl.hpp>
#include <strop/op/describe_impl.hpp>
#include <strop/op/devices_impl.hpp>
#include <strop/op/dispatch_impl.hpp>
#include <strop/op/execute_impl.hpp>
#include <strop/op/fallback_impl.hpp>
#include <strop/op/higher_impl.hpp>
#include <strop/op/infer_call_impl.hpp>
#include <strop/op/map_infer_impl.hpp>
#include <strop/op/map_run_impl.hpp>
#include <strop/op/map_sparse_impl.hpp>
#include <strop/op/names_impl.hpp>
#include <strop/op/place_impl.hpp>
#include <strop/op/plan_impl.hpp>
#include <strop/op/recordable_impl.hpp>
#include <strop/op/registry_impl.hpp>
#include <strop/tensor/allclose_impl.hpp>
#include <strop/tensor/arena_impl.hpp>
#include <strop/tensor/buffer_impl.hpp>
#include <strop/tensor/cast_impl.hpp>
#include <strop/tensor/convert_impl.hpp>
#include <strop/tensor/create_impl.hpp>
#include <strop/tensor/element_loops_impl.hpp>
#include <strop/tensor/io_impl.hpp>
#include <strop/tensor/literal_impl.hpp>
#include <strop/tensor/ndarray_impl.hpp>
#include <strop/tensor/print_impl.hpp>
#include <strop/tensor/random_impl.hpp>
#include <strop/tensor/sparse_impl.hpp>
#include <strop/tensor/variable_impl.hpp>

#include <strop/core/pop_macros.def>
