// SPDX-License-Identifier: Apache-2.0
/// \file
/// Operators of the command: power.
#include <strop/graph/symbol.hpp>
#include <strop/ops/elementwise/power.hpp>

namespace {
[[maybe_unused]] const void* const enrolled[] = {
    strop::PowerOps::enrol(),
};
}  // namespace
