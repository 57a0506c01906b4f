// SPDX-License-Identifier: Apache-2.0
/// \file
/// Operators of the command: sparse optimizer.
#include <strop/graph/symbol.hpp>
#include <strop/ops/sparse_optimizer.hpp>

namespace {
[[maybe_unused]] const void* const enrolled[] = {
    strop::SparseOptimizerOps::enrol(),
};
}  // namespace
