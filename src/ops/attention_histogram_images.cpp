// SPDX-License-Identifier: Apache-2.0
/// \file
/// Operators of the command: histogram, interleaved matmul, images.
#include <strop/graph/symbol.hpp>
#include <strop/ops/histogram.hpp>
#include <strop/ops/interleaved_matmul.hpp>
#include <strop/ops/vision/images.hpp>

namespace {
[[maybe_unused]] const void* const enrolled[] = {
    strop::HistogramOps::enrol(),
    strop::InterleavedMatmulOps::enrol(),
    strop::ImageOps::enrol(),
};
}  // namespace
