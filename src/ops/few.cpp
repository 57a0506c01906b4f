// SPDX-License-Identifier: Apache-2.0
/// \file
/// Operators of the command: few.
#include <strop/autograd/views.hpp>
#include <strop/graph/symbol.hpp>
#include <strop/ops/cast.hpp>
#include <strop/ops/elementwise/amp.hpp>
#include <strop/ops/elementwise/contrib.hpp>
#include <strop/ops/elementwise/identity.hpp>
#include <strop/ops/elementwise/scatter.hpp>
#include <strop/ops/elementwise/special.hpp>
#include <strop/ops/elementwise/sum.hpp>
#include <strop/ops/init.hpp>

namespace {
[[maybe_unused]] const void* const enrolled[] = {
    strop::CastOps::enrol(),    strop::AmpOps::enrol(),     strop::ContribMapOps::enrol(), strop::IdentityOps::enrol(),
    strop::ScatterOps::enrol(), strop::SpecialOps::enrol(), strop::SumOps::enrol(),        strop::InitOps::enrol(),
};
}  // namespace
