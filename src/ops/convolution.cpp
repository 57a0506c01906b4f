// SPDX-License-Identifier: Apache-2.0
/// \file
/// Operators of the command: convolution.
#include <strop/graph/symbol.hpp>
#include <strop/ops/convolution.hpp>

namespace {
[[maybe_unused]] const void* const enrolled[] = {
    strop::ConvolutionOps::enrol(),
};
}  // namespace
