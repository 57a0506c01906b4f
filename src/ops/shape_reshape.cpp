// SPDX-License-Identifier: Apache-2.0
/// \file
/// Operators of the command: shape reshape.
#include <strop/graph/symbol.hpp>
#include <strop/ops/shape/reshape.hpp>

namespace {
[[maybe_unused]] const void* const enrolled[] = {
    strop::ReshapeOps::enrol(),
};
}  // namespace
