// SPDX-License-Identifier: Apache-2.0
/// \file
/// Names of arguments where a struct states none.
#pragma once
#include <strop/core/config.hpp>
#include <strop/op/entry.hpp>
#include <strop/op/names.hpp>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace strop::inline v0::detail {

STROP_IMPL std::string_view numbered_name(bool output, Index i) {
  if (i < std::ssize(numbered_inputs)) return output ? numbered_outputs[i] : numbered_inputs[i];
  // In lists each of which is twice as long as the one before, and which are never forgotten.
  static constinit std::atomic<const std::string*> lists[2][64]{};
  const int which = static_cast<int>(std::bit_width(static_cast<std::uint64_t>(i))) - 1;
  const Index first = Index{1} << which;
  std::atomic<const std::string*>& list = lists[output ? 1 : 0][which];
  const std::string* names = list.load(std::memory_order_acquire);
  if (names == nullptr) {
    std::unique_ptr<std::string[]> own(new std::string[static_cast<std::size_t>(first)]);
    for (Index k = 0; k < first; ++k) own[static_cast<std::size_t>(k)] = cat(output ? "output" : "arg", first + k);
    if (list.compare_exchange_strong(names, own.get(), std::memory_order_acq_rel))  // else another thread was faster
      names = own.release();
  }
  return names[i - first];
}

STROP_IMPL void fill_signature(NameList stated_in, NameList stated_out, NameList mutated, int inputs, int outputs,
                               int visible, Signature& s, ListParameters lists) {
  const auto fill = [](Span<const std::string_view> stated, Index list, Index n, auto usual,
                       std::vector<std::string_view>& to) {
    to.clear();
    const Index last = stated.size() - 1, more = std::max<Index>(0, n - stated.size());  // than one in the list
    for (Index i = 0; i < n; ++i) {
      const Index parameter = list < 0 || i <= list ? i : std::max(list, i - more);
      to.push_back(stated.empty() ? usual(i, n) : stated[std::min(parameter, last)]);
    }
  };
  fill(stated_in, lists.in, inputs, default_input, s.inputs);
  fill(stated_out, lists.out, outputs, default_output, s.outputs);
  s.mutated.clear();
  for (std::string_view name : mutated)
    for (std::size_t i = 0; i < s.inputs.size(); ++i)
      if (s.inputs[i] == name) s.mutated.push_back(static_cast<int>(i));
  s.visible = visible;
}

}  // namespace strop::inline v0::detail
