// SPDX-License-Identifier: Apache-2.0
/// \file
/// Operators of the command: shape transpose.
#include <strop/graph/symbol.hpp>
#include <strop/ops/shape/transpose.hpp>

namespace {
[[maybe_unused]] const void* const enrolled[] = {
    strop::TransposeOps::enrol(),
};
}  // namespace
