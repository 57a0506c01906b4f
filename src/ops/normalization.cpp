// SPDX-License-Identifier: Apache-2.0
/// \file
/// Operators of the command: group norm, lrn, norm.
#include <strop/graph/symbol.hpp>
#include <strop/ops/group_norm.hpp>
#include <strop/ops/lrn.hpp>
#include <strop/ops/norm.hpp>

namespace {
[[maybe_unused]] const void* const enrolled[] = {
    strop::GroupNormOps::enrol(),
    strop::LrnOps::enrol(),
    strop::NormOps::enrol(),
};
}  // namespace
