// SPDX-License-Identifier: Apache-2.0
/// \file
/// Operators of the command: select.
#include <strop/graph/symbol.hpp>
#include <strop/ops/elementwise/select.hpp>

namespace {
[[maybe_unused]] const void* const enrolled[] = {
    strop::SelectOps::enrol(),
};
}  // namespace
