// SPDX-License-Identifier: Apache-2.0
/// \file
/// The table of sparse kernels in words.
#pragma once
#include <strop/core/error.hpp>
#include <strop/ops/sparse_kernels.hpp>

#include <algorithm>

namespace strop::inline v0 {

STROP_IMPL std::string sparse_kernels() {
  using namespace detail;
  const auto padded = [](std::string text, std::size_t width) {
    if (text.size() < width) text.append(width - text.size(), ' ');
    return text;
  };
  const auto condition = [](const SparseRule& rule) {
    std::string text;
    const auto add = [&](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
    if (rule.least_sums != 0) add(cat("columns x width >= ", rule.least_sums));
    if (rule.least_width != 0) add(cat("width >= ", rule.least_width));
    if (rule.filling.values != 0)
      add(rule.filling.columns == 1
              ? cat(rule.filling.values, " values a column or more")
              : cat(rule.filling.values, " value for ", rule.filling.columns, " columns or more"));
    if (rule.most_counted == int32_most) add("counts of 32 bits");
    if (rule.varied) add("short rows of changing length");
    if (rule.most_piece == narrow_bytes) add(cat("columns of ", narrow_bytes, " bytes or less"));
    if (rule.least_bytes != 0) add(cat("a dense factor of ", rule.least_bytes >> 20, " MiB or more"));
    if (rule.adjacent) add("elements of rows follow each other");
    return text.empty() ? std::string("otherwise") : text;
  };
  std::size_t longest = 0;
  for (const SparseRule& rule : sparse_rules) longest = std::max(longest, condition(rule).size());
  std::string out;
  for (const SparseRule& rule : sparse_rules)
    out += cat(padded(std::string(sparse_work_names[static_cast<int>(rule.work)]), 20),
               padded(condition(rule), longest + 2), sparse_kernel_names[static_cast<int>(rule.kernel)], '\n');
  return out;
}

}  // namespace strop::inline v0
