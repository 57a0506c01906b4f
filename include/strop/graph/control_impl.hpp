// SPDX-License-Identifier: Apache-2.0
/// \file
/// What loops and branches on arrays check.
#pragma once
#include <strop/core/config.hpp>
#include <strop/graph/control.hpp>
#include <strop/graph/control/flow_impl.hpp>

#include <utility>
#include <vector>

namespace strop::inline v0::detail {

STROP_IMPL void CollectedSteps::add(std::vector<NDArray> outputs) {
  for (std::size_t k = 0; k < outputs.size(); ++k)
    if (!outputs[k].defined()) fail(loop_, ": output ", k, " of the body is a handle without an array");
  if (!steps_.empty()) {
    const std::vector<NDArray>& first = steps_[0];
    if (outputs.size() != first.size())
      fail(loop_, ": step ", steps_.size(), " has ", outputs.size(), " outputs, the first had ", first.size());
    for (std::size_t k = 0; k < outputs.size(); ++k)
      if (outputs[k].shape() != first[k].shape() || outputs[k].dtype() != first[k].dtype())
        fail(loop_, ": output ", k, " of step ", steps_.size(), " is ", name_of(outputs[k].dtype()), ' ',
             outputs[k].shape(), ", that of the first is ", name_of(first[k].dtype()), ' ', first[k].shape());
  }
  steps_.push_back(std::move(outputs));
}

STROP_IMPL std::vector<std::vector<NDArray>> CollectedSteps::each(std::int64_t rows) const {
  std::vector<std::vector<NDArray>> out;
  for (std::size_t k = 0; !steps_.empty() && k < steps_[0].size(); ++k) {
    std::vector<NDArray>& parts = out.emplace_back();
    for (const std::vector<NDArray>& step : steps_) parts.push_back(step[k]);
    const NDArray& first = steps_[0][k];
    if (std::ssize(parts) < rows)
      parts.resize(unsigned_size(rows), zeros(first.shape(), first.dtype(), first.device()));
  }
  return out;
}

STROP_IMPL std::int64_t entries_of(const std::vector<NDArray>& data) {
  if (data.empty()) fail("foreach: there is no data to go along");
  for (std::size_t i = 0; i < data.size(); ++i) {
    if (!data[i].defined()) fail("foreach: data ", i, " is a handle without an array");
    if (data[i].ndim() == 0) fail("foreach: data ", i, " has shape (), and so no axis to go along");
    if (data[i].shape()[0] != data[0].shape()[0])
      fail("foreach: data ", i, " has ", data[i].shape()[0], " entries, and data 0 has ", data[0].shape()[0]);
  }
  return data[0].shape()[0];
}

STROP_IMPL bool holds(std::string_view op, const NDArray& condition) {
  if (!condition.defined()) fail(op, ": the condition is a handle without an array");
  if (condition.size() != 1) fail(op, ": the condition has shape ", condition.shape(), ", expected one element");
  return condition.item<double>() != 0;
}

STROP_IMPL void check_most(std::int64_t max_iterations) {
  if (max_iterations < 1) fail("while_loop: max_iterations is ", max_iterations, ", expected at least 1");
}

}  // namespace strop::inline v0::detail
