// SPDX-License-Identifier: Apache-2.0
/// \file
/// Operators of the command: dot, fully connected, khatri rao.
#include <strop/graph/symbol.hpp>
#include <strop/ops/dot.hpp>
#include <strop/ops/fully_connected.hpp>
#include <strop/ops/khatri_rao.hpp>

namespace {
[[maybe_unused]] const void* const enrolled[] = {
    strop::DotOps::enrol(),
    strop::FullyConnectedOps::enrol(),
    strop::KhatriRaoOps::enrol(),
};
}  // namespace
