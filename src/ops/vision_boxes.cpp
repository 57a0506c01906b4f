// SPDX-License-Identifier: Apache-2.0
/// \file
/// Operators of the command: vision boxes.
#include <strop/graph/symbol.hpp>
#include <strop/ops/vision/boxes.hpp>

namespace {
[[maybe_unused]] const void* const enrolled[] = {
    strop::BoxOps::enrol(),
};
}  // namespace
