// SPDX-License-Identifier: Apache-2.0
/// \file
/// Operators of the command: init, random, random sample.
#include <strop/graph/symbol.hpp>
#include <strop/ops/init.hpp>
#include <strop/ops/random.hpp>
#include <strop/ops/random_sample.hpp>

namespace {
[[maybe_unused]] const void* const enrolled[] = {
    strop::InitOps::enrol(),
    strop::RandomOps::enrol(),
    strop::RandomSampleOps::enrol(),
};
}  // namespace
