// SPDX-License-Identifier: Apache-2.0
/// \file
/// Operators of the command: sparse retain.
#include <strop/graph/symbol.hpp>
#include <strop/ops/sparse_retain.hpp>

namespace {
[[maybe_unused]] const void* const enrolled[] = {
    strop::SparseRetainOps::enrol(),
};
}  // namespace
