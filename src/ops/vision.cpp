// SPDX-License-Identifier: Apache-2.0
/// \file
/// Operators of the command: correlation, regions, resize, sampling.
#include <strop/graph/symbol.hpp>
#include <strop/ops/vision/correlation.hpp>
#include <strop/ops/vision/regions.hpp>
#include <strop/ops/vision/resize.hpp>
#include <strop/ops/vision/sampling.hpp>

namespace {
[[maybe_unused]] const void* const enrolled[] = {
    strop::CorrelationOps::enrol(),
    strop::RegionOps::enrol(),
    strop::ResizeOps::enrol(),
    strop::SamplingOps::enrol(),
};
}  // namespace
