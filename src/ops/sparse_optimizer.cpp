// SPDX-License-Identifier: Apache-2.0
/// \file
/// Operators of the command: finite, large batch, mixed optimizer, sparse optimizer.
#include <strop/graph/symbol.hpp>
#include <strop/ops/finite.hpp>
#include <strop/ops/large_batch.hpp>
#include <strop/ops/mixed_optimizer.hpp>
#include <strop/ops/sparse_optimizer.hpp>

namespace {
[[maybe_unused]] const void* const enrolled[] = {
    strop::FiniteOps::enrol(),
    strop::LargeBatchOps::enrol(),
    strop::MixedOptimizerOps::enrol(),
    strop::SparseOptimizerOps::enrol(),
};
}  // namespace
