// SPDX-License-Identifier: Apache-2.0
/// \file
/// Operators of the command: convolution, deconvolution, im2col, upsampling.
#include <strop/graph/symbol.hpp>
#include <strop/ops/convolution.hpp>
#include <strop/ops/deconvolution.hpp>
#include <strop/ops/im2col.hpp>
#include <strop/ops/upsampling.hpp>

namespace {
[[maybe_unused]] const void* const enrolled[] = {
    strop::ConvolutionOps::enrol(),
    strop::DeconvolutionOps::enrol(),
    strop::Im2colOps::enrol(),
    strop::UpSamplingOps::enrol(),
};
}  // namespace
