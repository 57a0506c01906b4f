// SPDX-License-Identifier: Apache-2.0
/// \file
/// Operators of the command: compare.
#include <strop/graph/symbol.hpp>
#include <strop/ops/elementwise/compare.hpp>

namespace {
[[maybe_unused]] const void* const enrolled[] = {
    strop::CompareOps::enrol(),
};
}  // namespace
