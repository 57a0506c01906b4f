// SPDX-License-Identifier: Apache-2.0
/// \file
/// Operators of the command: quantization, position sensitive, proposals, rotated regions.
#include <strop/graph/symbol.hpp>
#include <strop/ops/quantization.hpp>
#include <strop/ops/vision/position_sensitive.hpp>
#include <strop/ops/vision/proposals.hpp>
#include <strop/ops/vision/rotated_regions.hpp>

namespace {
[[maybe_unused]] const void* const enrolled[] = {
    strop::QuantizationOps::enrol(),
    strop::PositionSensitiveOps::enrol(),
    strop::ProposalOps::enrol(),
    strop::RotatedRegionOps::enrol(),
};
}  // namespace
