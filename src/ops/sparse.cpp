// SPDX-License-Identifier: Apache-2.0
/// \file
/// Operators of the command: sddmm, sparse retain, square sum, stored softmax.
#include <strop/graph/symbol.hpp>
#include <strop/ops/sddmm.hpp>
#include <strop/ops/sparse_retain.hpp>
#include <strop/ops/square_sum.hpp>
#include <strop/ops/stored_softmax.hpp>

namespace {
[[maybe_unused]] const void* const enrolled[] = {
    strop::SddmmOps::enrol(),
    strop::SparseRetainOps::enrol(),
    strop::SquareSumOps::enrol(),
    strop::StoredSoftmaxOps::enrol(),
};
}  // namespace
