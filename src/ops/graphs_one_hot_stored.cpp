// SPDX-License-Identifier: Apache-2.0
/// \file
/// Operators of the command: csr graphs, index copy, one hot, stored.
#include <strop/graph/symbol.hpp>
#include <strop/ops/csr_graphs.hpp>
#include <strop/ops/index/index_copy.hpp>
#include <strop/ops/index/one_hot.hpp>
#include <strop/ops/stored.hpp>

namespace {
[[maybe_unused]] const void* const enrolled[] = {
    strop::GraphOps::enrol(),
    strop::IndexCopyOps::enrol(),
    strop::OneHotOps::enrol(),
    strop::StoredOps::enrol(),
};
}  // namespace
