// SPDX-License-Identifier: Apache-2.0
/// \file
/// Operators of the command: ctc loss, regression output, softmax, softmax output, svm output.
#include <strop/graph/symbol.hpp>
#include <strop/ops/ctc_loss.hpp>
#include <strop/ops/regression_output.hpp>
#include <strop/ops/softmax.hpp>
#include <strop/ops/softmax_output.hpp>
#include <strop/ops/svm_output.hpp>

namespace {
[[maybe_unused]] const void* const enrolled[] = {
    strop::CtcLossOps::enrol(),
    strop::RegressionOutputOps::enrol(),
    strop::SoftmaxOps::enrol(),
    strop::SoftmaxOutputOps::enrol(),
    strop::SvmOutputOps::enrol(),
};
}  // namespace
