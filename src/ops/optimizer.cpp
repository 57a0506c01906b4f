// SPDX-License-Identifier: Apache-2.0
/// \file
/// Operators of the command: optimizer.
#include <strop/graph/symbol.hpp>
#include <strop/ops/optimizer.hpp>

namespace {
[[maybe_unused]] const void* const enrolled[] = {
    strop::OptimizerOps::enrol(),
};
}  // namespace
