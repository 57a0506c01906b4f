// SPDX-License-Identifier: Apache-2.0
/// \file
/// Operators of the command: rounding.
#include <strop/graph/symbol.hpp>
#include <strop/ops/elementwise/rounding.hpp>

namespace {
[[maybe_unused]] const void* const enrolled[] = {
    strop::RoundingOps::enrol(),
};
}  // namespace
