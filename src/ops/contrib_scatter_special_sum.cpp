// SPDX-License-Identifier: Apache-2.0
/// \file
/// Operators of the command: contrib, scatter, special, sum.
#include <strop/graph/symbol.hpp>
#include <strop/ops/elementwise/contrib.hpp>
#include <strop/ops/elementwise/scatter.hpp>
#include <strop/ops/elementwise/special.hpp>
#include <strop/ops/elementwise/sum.hpp>

namespace {
[[maybe_unused]] const void* const enrolled[] = {
    strop::ContribMapOps::enrol(),
    strop::ScatterOps::enrol(),
    strop::SpecialOps::enrol(),
    strop::SumOps::enrol(),
};
}  // namespace
