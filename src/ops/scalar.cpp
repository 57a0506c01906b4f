// SPDX-License-Identifier: Apache-2.0
/// \file
/// Operators of the command: scalar.
#include <strop/graph/symbol.hpp>
#include <strop/ops/elementwise/scalar.hpp>

namespace {
[[maybe_unused]] const void* const enrolled[] = {
    strop::ScalarOps::enrol(),
};
}  // namespace
