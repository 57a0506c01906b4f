// SPDX-License-Identifier: Apache-2.0
/// \file
/// Operators of the command: shape join.
#include <strop/graph/symbol.hpp>
#include <strop/ops/shape/join.hpp>

namespace {
[[maybe_unused]] const void* const enrolled[] = {
    strop::JoinOps::enrol(),
};
}  // namespace
