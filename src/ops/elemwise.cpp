// SPDX-License-Identifier: Apache-2.0
/// \file
/// Operators of the command: elemwise.
#include <strop/graph/symbol.hpp>
#include <strop/ops/elementwise/elemwise.hpp>

namespace {
[[maybe_unused]] const void* const enrolled[] = {
    strop::ElemwiseOps::enrol(),
};
}  // namespace
