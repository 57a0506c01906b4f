// SPDX-License-Identifier: Apache-2.0
/// \file
/// Operators of the command: dropout, leaky relu, pooling.
#include <strop/graph/symbol.hpp>
#include <strop/ops/dropout.hpp>
#include <strop/ops/leaky_relu.hpp>
#include <strop/ops/pooling.hpp>

namespace {
[[maybe_unused]] const void* const enrolled[] = {
    strop::DropoutOps::enrol(),
    strop::LeakyReluOps::enrol(),
    strop::PoolingOps::enrol(),
};
}  // namespace
