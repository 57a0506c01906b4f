// SPDX-License-Identifier: Apache-2.0
/// \file
/// Operators of the command: cast, amp, identity.
#include <strop/graph/symbol.hpp>
#include <strop/ops/cast.hpp>
#include <strop/ops/elementwise/amp.hpp>
#include <strop/ops/elementwise/identity.hpp>

namespace {
[[maybe_unused]] const void* const enrolled[] = {
    strop::CastOps::enrol(),
    strop::AmpOps::enrol(),
    strop::IdentityOps::enrol(),
};
}  // namespace
