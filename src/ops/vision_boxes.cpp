// SPDX-License-Identifier: Apache-2.0
/// \file
/// Operators of the command: box targets, boxes, multibox, multibox target.
#include <strop/graph/symbol.hpp>
#include <strop/ops/vision/box_targets.hpp>
#include <strop/ops/vision/boxes.hpp>
#include <strop/ops/vision/multibox.hpp>
#include <strop/ops/vision/multibox_target.hpp>

namespace {
[[maybe_unused]] const void* const enrolled[] = {
    strop::BoxTargetOps::enrol(),
    strop::BoxOps::enrol(),
    strop::MultiBoxOps::enrol(),
    strop::MultiBoxTargetOps::enrol(),
};
}  // namespace
