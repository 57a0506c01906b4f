// SPDX-License-Identifier: Apache-2.0
/// \file
/// The part of the runtime that holds and moves values: errors, parameters, memory, engine, arrays, files of arrays.
/// strop/source.hpp includes every part.
#pragma once
#include <strop/core/push_macros.def>

#include <strop/strop.hpp>

#include <strop/core/environment_impl.hpp>
#include <strop/core/error_impl.hpp>
#include <strop/core/fork_impl.hpp>
#include <strop/core/isa_impl.hpp>
#include <strop/core/params_impl.hpp>
#include <strop/core/sanitizer_impl.hpp>
#include <strop/core/scalar_impl.hpp>
#include <strop/core/shape_impl.hpp>
#include <strop/core/text_impl.hpp>
#include <strop/data/array_rows_impl.hpp>
#include <strop/data/csv_iter_impl.hpp>
#include <strop/data/data_iter_impl.hpp>
#include <strop/data/libsvm_impl.hpp>
#include <strop/data/libsvm_iter_impl.hpp>
#include <strop/data/libsvm_reader_impl.hpp>
#include <strop/data/lines_impl.hpp>
#include <strop/data/mnist_iter_impl.hpp>
#include <strop/data/ndarray_iter_impl.hpp>
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
#include <strop/memory/allocator_impl.hpp>
#include <strop/memory/random_impl.hpp>
#include <strop/number/jet_impl.hpp>
#include <strop/ops/csr_graphs_impl.hpp>
#include <strop/ops/sparse_kernels_impl.hpp>
#include <strop/tensor/allclose_impl.hpp>
#include <strop/tensor/arena_impl.hpp>
#include <strop/tensor/buffer_impl.hpp>
#include <strop/tensor/cast_impl.hpp>
#include <strop/tensor/convert_impl.hpp>
#include <strop/tensor/create_impl.hpp>
#include <strop/tensor/element_loops_impl.hpp>
#include <strop/tensor/io_impl.hpp>
#include <strop/tensor/literal_impl.hpp>
#include <strop/tensor/merged_impl.hpp>
#include <strop/tensor/ndarray_impl.hpp>
#include <strop/tensor/print_impl.hpp>
#include <strop/tensor/random_impl.hpp>
#include <strop/tensor/sparse_impl.hpp>
#include <strop/tensor/structure_impl.hpp>
#include <strop/tensor/variable_impl.hpp>

#include <strop/core/pop_macros.def>
