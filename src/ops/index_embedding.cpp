// SPDX-License-Identifier: Apache-2.0
/// \file
/// Operators of the command: index embedding.
#include <strop/graph/symbol.hpp>
#include <strop/ops/index/embedding.hpp>

namespace {
[[maybe_unused]] const void* const enrolled[] = {
    strop::EmbeddingOps::enrol(),
};
}  // namespace
