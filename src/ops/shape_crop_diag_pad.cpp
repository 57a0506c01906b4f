// SPDX-License-Identifier: Apache-2.0
/// \file
/// Operators of the command: crop, diag, pad.
#include <strop/graph/symbol.hpp>
#include <strop/ops/shape/crop.hpp>
#include <strop/ops/shape/diag.hpp>
#include <strop/ops/shape/pad.hpp>

namespace {
[[maybe_unused]] const void* const enrolled[] = {
    strop::CropOps::enrol(),
    strop::DiagOps::enrol(),
    strop::PadOps::enrol(),
};
}  // namespace
