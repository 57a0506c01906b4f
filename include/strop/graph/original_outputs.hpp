// SPDX-License-Identifier: Apache-2.0
/// \file
/// Outputs as MXNet counts and names them, which files and programs of it rely on.
#pragma once
#include <strop/core/config.hpp>
#include <strop/core/params.hpp>
#include <strop/graph/node.hpp>

#include <string>
#include <string_view>

namespace strop::inline v0::detail {

/// An operator of which MXNet counts two outputs: always, or with these values of a parameter and one with
/// others. It has names for them, or numbers them, as those of any operator that has several and says no names.
struct OriginalOutputs {
  std::string_view op, parameter = {}, with = {}, or_with = {};
  bool numbers = true;
};
/// The second output of max pooling is a place for MKL-DNN, which nobody reads.
inline constexpr OriginalOutputs original_outputs[] = {
    {"CTCLoss"},
    {"LeakyReLU", "act_type", "rrelu", "rrelu", false},
    {"Pooling", "pool_type", "max", "max", false},
    {"_contrib_box_nms"},
    {"_sample_multinomial", "get_prob", "True", "True"},
    {"moments"},
    {"sort"},
    {"topk", "ret_typ", "value", "both"},
};

STROP_IMPL const OriginalOutputs* original_outputs_of(const Node& node) {
  if (node.is_variable() || !node.entry->library) return nullptr;
  for (const OriginalOutputs& one : original_outputs)
    if (one.op == node.entry->name) return &one;
  return nullptr;
}

/// How many outputs MXNet counts of a node of that operator.
STROP_IMPL int count_of(const OriginalOutputs& outputs, const Node& node) {
  if (outputs.parameter.empty()) return 2;
  const ParamTable& table = *node.entry->params;
  for (std::size_t i = 0; i < table.fields.size(); ++i)
    if (table.fields[i].name == outputs.parameter) {
      const std::string text = table.print(node.op(), i);
      return text == outputs.with || text == outputs.or_with ? 2 : 1;
    }
  return node.outputs();
}

}  // namespace strop::inline v0::detail
