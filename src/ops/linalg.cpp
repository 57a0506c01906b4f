// SPDX-License-Identifier: Apache-2.0
/// \file
/// Operators of the command: diagonals, factors, orthogonal, products.
#include <strop/graph/symbol.hpp>
#include <strop/ops/linalg/diagonals.hpp>
#include <strop/ops/linalg/factors.hpp>
#include <strop/ops/linalg/orthogonal.hpp>
#include <strop/ops/linalg/products.hpp>

namespace {
[[maybe_unused]] const void* const enrolled[] = {
    strop::LinalgDiagonalOps::enrol(),
    strop::LinalgFactorOps::enrol(),
    strop::LinalgOrthogonalOps::enrol(),
    strop::LinalgProductOps::enrol(),
};
}  // namespace
