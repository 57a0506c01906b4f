// SPDX-License-Identifier: Apache-2.0
/// \file
/// Operators of the command: rounding.
#include <strop/graph/symbol.hpp>
#include <strop/ops/elementwise/rounding.hpp>
#include <strop/ops/elementwise/power.hpp>
#include <strop/ops/elementwise/special.hpp>
#include <strop/ops/elementwise/identity.hpp>

namespace {
[[maybe_unused]] const void* const enrolled[] = {
    strop::RoundingOps::enrol(),
    strop::PowerOps::enrol(),
    strop::SpecialOps::enrol(),
    strop::IdentityOps::enrol(),
};
}  // namespace
