// SPDX-License-Identifier: Apache-2.0
/// \file
/// Operators of the command: exponential, hyperbolic, trigonometric.
#include <strop/graph/symbol.hpp>
#include <strop/ops/elementwise/exponential.hpp>
#include <strop/ops/elementwise/hyperbolic.hpp>
#include <strop/ops/elementwise/trigonometric.hpp>

namespace {
[[maybe_unused]] const void* const enrolled[] = {
    strop::ExponentialOps::enrol(),
    strop::HyperbolicOps::enrol(),
    strop::TrigonometricOps::enrol(),
};
}  // namespace
