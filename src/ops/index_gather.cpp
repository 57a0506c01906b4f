// SPDX-License-Identifier: Apache-2.0
/// \file
/// Operators of the command: index gather.
#include <strop/graph/symbol.hpp>
#include <strop/ops/index/gather.hpp>

namespace {
[[maybe_unused]] const void* const enrolled[] = {
    strop::GatherOps::enrol(),
};
}  // namespace
