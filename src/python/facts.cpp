// SPDX-License-Identifier: Apache-2.0
/// \file
/// How facts pass through the operators of the library, by their names.
#include "facts.hpp"

#include <strop/core/text.hpp>

#include <algorithm>
#include <string>
#include <string_view>

namespace strop::python {
namespace {

using Names = std::span<const std::string_view>;
bool stands_in(Names names, std::string_view name) { return std::ranges::find(names, name) != names.end(); }

constexpr std::string_view comparisons[] = {"_equal",          "_greater",     "_greater_equal",    "_lesser",
                                            "_lesser_equal",   "_logical_and", "_logical_or",       "_logical_xor",
                                            "_not_equal",      "all_finite",   "_contrib_allclose", "logical_not",
                                            "multi_all_finite"};
bool compares(std::string_view name) {
  if (stands_in(comparisons, name)) return true;
  if (name.ends_with("_scalar")) return stands_in(comparisons, name.substr(0, name.size() - 7));
  return name.starts_with("broadcast_") && stands_in(comparisons, name.substr(9));
}
/// Elements of every input. Of truths these sums and products are or and and, as in NumPy.
constexpr std::string_view of_all[] = {"BlockGrad",
                                       "Concat",
                                       "Flatten",
                                       "Reshape",
                                       "SliceChannel",
                                       "SwapAxis",
                                       "_copy",
                                       "_maximum",
                                       "_minimum",
                                       "_shuffle",
                                       "_split_v2",
                                       "broadcast_add",
                                       "broadcast_axis",
                                       "broadcast_mul",
                                       "broadcast_to",
                                       "cast_storage",
                                       "depth_to_space",
                                       "diag",
                                       "elemwise_add",
                                       "elemwise_mul",
                                       "expand_dims",
                                       "max",
                                       "min",
                                       "ones_like",
                                       "repeat",
                                       "reverse",
                                       "slice",
                                       "slice_axis",
                                       "space_to_depth",
                                       "squeeze",
                                       "stack",
                                       "tile",
                                       "transpose",
                                       "zeros_like",
                                       "broadcast_maximum",
                                       "broadcast_minimum"};
/// Elements of the first input, at places or in the shape that others say.
constexpr std::string_view of_first[] = {"SequenceLast",
                                         "SequenceReverse",
                                         "_identity_with_attr_like_rhs",
                                         "_sparse_retain",
                                         "batch_take",
                                         "broadcast_like",
                                         "gather_nd",
                                         "pick",
                                         "reshape_like",
                                         "slice_like",
                                         "take"};
constexpr std::string_view written[] = {"Cast",          "_CrossDeviceCopy",     "_full",   "_scatter_set_nd",
                                        "_slice_assign", "_slice_assign_scalar", "amp_cast"};
constexpr std::string_view reductions[] = {"_square_sum", "argmax",  "argmin", "dot",  "max",  "mean",
                                           "min",         "nanprod", "nansum", "norm", "prod", "softmax_cross_entropy",
                                           "sum"};

/// Whether a result of one element has no dimensions in NumPy.
bool leaves_no_axis(const Entry& entry, const void* op, std::span<PyObject* const> inputs) {
  const int axes = array_of(inputs[0]).ndim();
  const bool vectors = std::ranges::all_of(inputs, [](PyObject* one) { return array_of(one).ndim() == 1; });
  if (entry.name == "dot") return vectors;
  for (std::size_t i = 0; entry.params != nullptr && i < entry.params->fields.size(); ++i) {
    const std::string_view name = entry.params->fields[i].name;
    if (name == "keepdims" || name == "exclude") {
      if (*static_cast<const bool*>(entry.params->value(op, i))) return false;
    } else if (name == "axis" && !vectors) {
      const std::string said = entry.params->print(op, i);
      Shape listed;
      const bool every = detail::parse_shape(said, listed) && listed.ndim() == axes;
      if (!every && said != "None" && said != "()") return false;
    }
  }
  return true;
}

}  // namespace

Flow flow_of(const Entry& entry) {
  Flow flow;
  if (!entry.library) return flow;  // of a name that another program has chosen nobody knows
  flow.elementwise = entry.is_map() || entry.name == "Cast" || entry.name == "amp_cast" || entry.name == "cast_storage";
  flow.reduces = stands_in(reductions, entry.name);
  if (compares(entry.name)) flow.truth = Flow::Truth::made;
  if (stands_in(written, entry.name)) flow.truth = Flow::Truth::assigned;
  if (stands_in(of_all, entry.name)) flow.truth = Flow::Truth::kept;
  if (stands_in(of_first, entry.name)) flow = {Flow::Truth::kept, 0, 1, flow.elementwise};
  if (entry.name == "where") flow = {Flow::Truth::kept, 1, 3};
  flow.makes = flow.reduces || flow.truth == Flow::Truth::made;
  return flow;
}

unsigned facts_after(const Flow& flow, const Entry& entry, const void* op, bool by_default,
                     std::span<PyObject* const> inputs, const NDArray& result) {
  if (inputs.empty()) return 0;
  unsigned every = ~0U, facts = flow.truth == Flow::Truth::made ? fact::truth : 0;
  for (PyObject* const one : inputs) every &= facts_of(one) | (array_of(one).ndim() == 0 ? fact::number : 0);
  if (flow.elementwise) facts |= every & fact::number;
  if (flow.truth == Flow::Truth::kept) {
    if (flow.first != 0 || flow.end < inputs.size()) {
      every = flow.first < inputs.size() ? ~0U : 0;
      for (std::size_t i = flow.first; i < inputs.size() && i < flow.end; ++i) every &= facts_of(inputs[i]);
    }
    facts |= every & fact::truth;
  }
  if (flow.reduces && result.ndim() == 1 && result.shape()[0] == 1 &&
      ((by_default && entry.name != "dot") || leaves_no_axis(entry, op, inputs)))
    facts |= fact::number;
  return facts;
}

}  // namespace strop::python
