// SPDX-License-Identifier: Apache-2.0
/// \file
/// Operators of the command: activation.
#include <strop/graph/symbol.hpp>
#include <strop/ops/elementwise/activation.hpp>
#include <strop/ops/elementwise/select.hpp>
#include <strop/ops/elementwise/sum.hpp>

namespace {
[[maybe_unused]] const void* const enrolled[] = {
    strop::ActivationOps::enrol(),
    strop::SelectOps::enrol(),
    strop::SumOps::enrol(),
};
}  // namespace
