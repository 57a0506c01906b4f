// SPDX-License-Identifier: Apache-2.0
/// \file
/// Operators of the command: index one hot.
#include <strop/graph/symbol.hpp>
#include <strop/ops/index/one_hot.hpp>

namespace {
[[maybe_unused]] const void* const enrolled[] = {
    strop::OneHotOps::enrol(),
};
}  // namespace
