// SPDX-License-Identifier: Apache-2.0
/// \file
/// Operators of the command: activation.
#include <strop/graph/symbol.hpp>
#include <strop/ops/elementwise/activation.hpp>

namespace {
[[maybe_unused]] const void* const enrolled[] = {
    strop::ActivationOps::enrol(),
};
}  // namespace
