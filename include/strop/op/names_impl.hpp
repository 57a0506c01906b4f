// SPDX-License-Identifier: Apache-2.0
/// \file
/// Names of arguments where a struct states none.
#pragma once
#include <strop/core/config.hpp>
#include <strop/op/entry.hpp>
#include <strop/op/names.hpp>

#include <algorithm>
#include <cstddef>
#include <deque>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace strop::inline v0::detail {

STROP_IMPL std::string_view numbered_name(bool output, Index i) {
  if (i < std::ssize(numbered_inputs)) return output ? numbered_outputs[i] : numbered_inputs[i];
  struct Table {
    std::mutex mutex;
    std::deque<std::string> names[2];
  };
  static Table& table = *new Table;
  const std::lock_guard lock(table.mutex);
  std::deque<std::string>& made = table.names[output ? 1 : 0];
  while (std::ssize(made) <= i) made.push_back((output ? "output" : "arg") + std::to_string(made.size()));
  return element(made, i);
}

STROP_IMPL void fill_signature(NameList stated_in, NameList stated_out, NameList mutated, int inputs, int outputs,
                               int visible, Signature& s) {
  const auto fill = [](Span<const std::string_view> stated, Index n, auto usual, std::vector<std::string_view>& to) {
    to.clear();
    for (Index i = 0; i < n; ++i) to.push_back(stated.empty() ? usual(i, n) : stated[std::min(i, stated.size() - 1)]);
  };
  fill(stated_in, inputs, default_input, s.inputs);
  fill(stated_out, outputs, default_output, s.outputs);
  s.mutated.clear();
  for (std::string_view name : mutated)
    for (std::size_t i = 0; i < s.inputs.size(); ++i)
      if (s.inputs[i] == name) s.mutated.push_back(static_cast<int>(i));
  s.visible = visible;
}

}  // namespace strop::inline v0::detail
