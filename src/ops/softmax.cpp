// SPDX-License-Identifier: Apache-2.0
/// \file
/// Operators of the command: regression output, softmax, softmax output, svm output.
#include <strop/graph/symbol.hpp>
#include <strop/ops/regression_output.hpp>
#include <strop/ops/softmax.hpp>
#include <strop/ops/softmax_output.hpp>
#include <strop/ops/svm_output.hpp>

namespace {
[[maybe_unused]] const void* const enrolled[] = {
    strop::RegressionOutputOps::enrol(),
    strop::SoftmaxOps::enrol(),
    strop::SoftmaxOutputOps::enrol(),
    strop::SvmOutputOps::enrol(),
};
}  // namespace
