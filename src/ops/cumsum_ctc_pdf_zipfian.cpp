// SPDX-License-Identifier: Apache-2.0
/// \file
/// Operators of the command: ctc loss, cumsum, random pdf, random zipfian.
#include <strop/graph/symbol.hpp>
#include <strop/ops/ctc_loss.hpp>
#include <strop/ops/cumsum.hpp>
#include <strop/ops/random_pdf.hpp>
#include <strop/ops/random_zipfian.hpp>

namespace {
[[maybe_unused]] const void* const enrolled[] = {
    strop::CtcLossOps::enrol(),
    strop::CumsumOps::enrol(),
    strop::RandomPdfOps::enrol(),
    strop::RandomZipfianOps::enrol(),
};
}  // namespace
