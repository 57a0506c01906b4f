// SPDX-License-Identifier: Apache-2.0
/// \file
/// Operators of the command: init, random, random counts, random pdf, random sample, random zipfian.
#include <strop/graph/symbol.hpp>
#include <strop/ops/init.hpp>
#include <strop/ops/random.hpp>
#include <strop/ops/random_counts.hpp>
#include <strop/ops/random_pdf.hpp>
#include <strop/ops/random_sample.hpp>
#include <strop/ops/random_zipfian.hpp>

namespace {
[[maybe_unused]] const void* const enrolled[] = {
    strop::InitOps::enrol(),
    strop::RandomOps::enrol(),
    strop::RandomCountOps::enrol(),
    strop::RandomPdfOps::enrol(),
    strop::RandomSampleOps::enrol(),
    strop::RandomZipfianOps::enrol(),
};
}  // namespace
