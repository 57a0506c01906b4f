// SPDX-License-Identifier: Apache-2.0
/// \file
/// Operators of the command: dot, fully connected.
#include <strop/graph/symbol.hpp>
#include <strop/ops/dot.hpp>
#include <strop/ops/fully_connected.hpp>

namespace {
[[maybe_unused]] const void* const enrolled[] = {
    strop::DotOps::enrol(),
    strop::FullyConnectedOps::enrol(),
};
}  // namespace
