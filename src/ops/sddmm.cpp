// SPDX-License-Identifier: Apache-2.0
/// \file
/// Operators of the command: sddmm.
#include <strop/graph/symbol.hpp>
#include <strop/ops/sddmm.hpp>

namespace {
[[maybe_unused]] const void* const enrolled[] = {
    strop::SddmmOps::enrol(),
};
}  // namespace
