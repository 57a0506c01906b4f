// SPDX-License-Identifier: Apache-2.0
/// \file
/// Operators of the command: shape slice.
#include <strop/graph/symbol.hpp>
#include <strop/ops/shape/slice.hpp>

namespace {
[[maybe_unused]] const void* const enrolled[] = {
    strop::SliceOps::enrol(),
};
}  // namespace
