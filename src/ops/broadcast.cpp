// SPDX-License-Identifier: Apache-2.0
/// \file
/// Operators of the command: broadcast.
#include <strop/graph/symbol.hpp>
#include <strop/ops/elementwise/broadcast.hpp>

namespace {
[[maybe_unused]] const void* const enrolled[] = {
    strop::BroadcastOps::enrol(),
};
}  // namespace
