// SPDX-License-Identifier: Apache-2.0
/// \file
/// Operators of the command: scalar compare.
#include <strop/graph/symbol.hpp>
#include <strop/ops/elementwise/scalar_compare.hpp>

namespace {
[[maybe_unused]] const void* const enrolled[] = {
    strop::ScalarCompareOps::enrol(),
};
}  // namespace
