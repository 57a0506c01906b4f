// SPDX-License-Identifier: Apache-2.0
/// \file
/// Operators of the command: shape.
#include <strop/graph/symbol.hpp>
#include <strop/ops/shape/reshape.hpp>
#include <strop/ops/shape/transpose.hpp>
#include <strop/ops/shape/slice.hpp>

namespace {
[[maybe_unused]] const void* const enrolled[] = {
    strop::ReshapeOps::enrol(),
    strop::TransposeOps::enrol(),
    strop::SliceOps::enrol(),
};
}  // namespace
