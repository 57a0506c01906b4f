// SPDX-License-Identifier: Apache-2.0
/// \file
/// Operators of the command: allclose, moments, order, sequence.
#include <strop/graph/symbol.hpp>
#include <strop/ops/allclose.hpp>
#include <strop/ops/moments.hpp>
#include <strop/ops/order.hpp>
#include <strop/ops/sequence.hpp>

namespace {
[[maybe_unused]] const void* const enrolled[] = {
    strop::AllcloseOps::enrol(),
    strop::MomentsOps::enrol(),
    strop::OrderOps::enrol(),
    strop::SequenceOps::enrol(),
};
}  // namespace
