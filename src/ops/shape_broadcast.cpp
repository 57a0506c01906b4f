// SPDX-License-Identifier: Apache-2.0
/// \file
/// Operators of the command: shape broadcast.
#include <strop/graph/symbol.hpp>
#include <strop/ops/shape/broadcast.hpp>

namespace {
[[maybe_unused]] const void* const enrolled[] = {
    strop::RepetitionOps::enrol(),
};
}  // namespace
