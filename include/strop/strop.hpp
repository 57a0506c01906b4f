// SPDX-License-Identifier: Apache-2.0
/// \file
/// Everything that a program uses: one include. Operators of the library are declared; each is built where it is used.
#pragma once
#include <strop/core/push_macros.def>

// First those whose sentences compilers write: before each they list how they came to it.
#include <strop/core/config.hpp>
#include <strop/core/params.hpp>
#include <strop/number/num.hpp>
#include <strop/number/refused.hpp>

#include <strop/op/diagnose.hpp>

#include <strop/autograd/backward.hpp>
#include <strop/autograd/check_gradient.hpp>
#include <strop/autograd/function.hpp>
#include <strop/autograd/jvp.hpp>
#include <strop/autograd/tape.hpp>
#include <strop/autograd/views.hpp>
#include <strop/data/csv_iter.hpp>
#include <strop/data/image.hpp>
#include <strop/data/image_record.hpp>
#include <strop/data/image_record_iter.hpp>
#include <strop/data/libsvm_iter.hpp>
#include <strop/data/mnist_iter.hpp>
#include <strop/data/ndarray_iter.hpp>
#include <strop/data/record_file.hpp>
#include <strop/data/stages.hpp>
#include <strop/engine/engine.hpp>
#include <strop/engine/pool.hpp>
#include <strop/graph/checkpoint.hpp>
#include <strop/graph/control.hpp>
#include <strop/graph/executor.hpp>
#include <strop/graph/mirror.hpp>
#include <strop/graph/symbol.hpp>
#include <strop/graph/trace.hpp>
#include <strop/kvstore/kvstore.hpp>
#include <strop/library/load.hpp>
#include <strop/memory/random.hpp>
#include <strop/op/check_call.hpp>
#include <strop/op/check_tensors.hpp>
#include <strop/op/describe.hpp>
#include <strop/op/map.hpp>
#include <strop/op/op.hpp>
#include <strop/ops/library.hpp>
#include <strop/optim/optimizers.hpp>
#include <strop/tensor/allclose.hpp>
#include <strop/tensor/create.hpp>
#include <strop/tensor/io.hpp>
#include <strop/tensor/print.hpp>
#include <strop/tensor/random.hpp>
#include <strop/tensor/sparse.hpp>
#include <strop/tensor/variable.hpp>

#if defined(__CUDACC__)
#include <strop/cuda/enrol.hpp>
#endif

#include <strop/core/pop_macros.def>
