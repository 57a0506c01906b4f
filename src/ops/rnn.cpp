// SPDX-License-Identifier: Apache-2.0
/// \file
/// Operators of the command: rnn.
#include <strop/graph/symbol.hpp>
#include <strop/ops/rnn.hpp>

namespace {
[[maybe_unused]] const void* const enrolled[] = {
    strop::RnnOps::enrol(),
};
}  // namespace
