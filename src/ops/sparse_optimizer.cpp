// SPDX-License-Identifier: Apache-2.0
/// \file
/// Operators of the command: mixed optimizer, sparse optimizer.
#include <strop/graph/symbol.hpp>
#include <strop/ops/mixed_optimizer.hpp>
#include <strop/ops/sparse_optimizer.hpp>

namespace {
[[maybe_unused]] const void* const enrolled[] = {
    strop::MixedOptimizerOps::enrol(),
    strop::SparseOptimizerOps::enrol(),
};
}  // namespace
