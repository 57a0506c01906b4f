// SPDX-License-Identifier: Apache-2.0
/// \file
/// Operators of the command: index take.
#include <strop/graph/symbol.hpp>
#include <strop/ops/index/take.hpp>

namespace {
[[maybe_unused]] const void* const enrolled[] = {
    strop::TakeOps::enrol(),
};
}  // namespace
