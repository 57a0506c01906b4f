// SPDX-License-Identifier: Apache-2.0
/// \file
/// Operators of the command: broadcast compare.
#include <strop/graph/symbol.hpp>
#include <strop/ops/elementwise/broadcast_compare.hpp>

namespace {
[[maybe_unused]] const void* const enrolled[] = {
    strop::BroadcastCompareOps::enrol(),
};
}  // namespace
