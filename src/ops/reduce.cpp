// SPDX-License-Identifier: Apache-2.0
/// \file
/// Operators of the command: reduce.
#include <strop/graph/symbol.hpp>
#include <strop/ops/reduce.hpp>

namespace {
[[maybe_unused]] const void* const enrolled[] = {
    strop::ReduceOps::enrol(),
};
}  // namespace
