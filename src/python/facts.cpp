// SPDX-License-Identifier: Apache-2.0
/// \file
/// How facts pass through the operators of the library, by their names.
#include "facts.hpp"

#include <strop/core/text.hpp>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

namespace strop::python {
namespace {

using Names = std::span<const std::string_view>;
bool stands_in(Names names, std::string_view name) { return std::ranges::find(names, name) != names.end(); }

constexpr std::string_view comparisons[] = {
#define STROP_RELATION(Type, snake) "_" #snake,
#include <strop/ops/elementwise/relations.def>
    "all_finite", "_contrib_allclose", "logical_not", "multi_all_finite"};
bool compares(std::string_view name) {
  if (stands_in(comparisons, name)) return true;
  if (name.ends_with("_scalar")) return stands_in(comparisons, name.substr(0, name.size() - 7));
  return name.starts_with("broadcast_") && stands_in(comparisons, name.substr(9));
}
/// Elements of every input. Of truths these sums and products are or and and, as in NumPy.
constexpr std::string_view of_all[] = {"BlockGrad",
                                       "Concat",
                                       "Flatten",
                                       "MakeLoss",
                                       "Pad",
                                       "Reshape",
                                       "SliceChannel",
                                       "SwapAxis",
                                       "_contrib_gradientmultiplier",
                                       "_copy",
                                       "_linalg_extractdiag",
                                       "_linalg_extracttrian",
                                       "_linalg_makediag",
                                       "_linalg_maketrian",
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
                                       "im2col",
                                       "max",
                                       "min",
                                       "ones_like",
                                       "repeat",
                                       "reverse",
                                       "slice",
                                       "slice_axis",
                                       "sort",
                                       "space_to_depth",
                                       "squeeze",
                                       "stack",
                                       "tile",
                                       "transpose",
                                       "zeros_like",
                                       "broadcast_maximum",
                                       "broadcast_minimum"};
/// Elements of the first input, at places or in the shape that others say.
constexpr std::string_view of_first[] = {"Crop",
                                         "SequenceLast",
                                         "SequenceMask",
                                         "SequenceReverse",
                                         "_contrib_boolean_mask",
                                         "_identity_with_attr_like_rhs",
                                         "_sparse_retain",
                                         "batch_take",
                                         "broadcast_like",
                                         "gather_nd",
                                         "pick",
                                         "reshape_like",
                                         "scatter_nd",
                                         "slice_like",
                                         "take"};
/// Elements of the inputs with these bits.
struct Moved {
  std::string_view name;
  std::uint64_t whose;
};
constexpr Moved of_some[] = {
    {"Embedding", 0b10}, {"_contrib_SparseEmbedding", 0b10}, {"_contrib_index_copy", 0b101}, {"where", 0b110}};
/// What is written by them stays what it was. Without an array to write a new one is made: of the inputs with these
/// bits.
constexpr Moved written[] = {{"Cast", 0},
                             {"_CrossDeviceCopy", 0b1},
                             {"_full", 0},
                             {"_scatter_set_nd", 0b1},
                             {"_slice_assign", 0b1},
                             {"_slice_assign_scalar", 0b1},
                             {"amp_cast", 0}};
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
  flow.chooses = entry.name == "topk";
  const auto moves = [&](Flow::Truth truth, std::uint64_t whose) { flow.truth = truth, flow.whose = whose; };
  if (compares(entry.name)) flow.truth = Flow::Truth::made;
  if (stands_in(of_all, entry.name)) moves(Flow::Truth::kept, Flow::all);
  if (stands_in(of_first, entry.name)) moves(Flow::Truth::kept, 1);
  for (const Moved& one : of_some)
    if (one.name == entry.name) moves(Flow::Truth::kept, one.whose);
  for (const Moved& one : written)
    if (one.name == entry.name) moves(Flow::Truth::assigned, one.whose);
  flow.makes = flow.reduces || flow.chooses || flow.truth == Flow::Truth::made;
  return flow;
}

bool gives_mask(const Entry& entry, const void* op) {
  const std::optional<std::size_t> field = entry.params != nullptr ? entry.params->find("ret_typ") : std::nullopt;
  return field && entry.params->print(op, *field) == "mask";
}

unsigned facts_after(const Flow& flow, const Entry& entry, const void* op, bool by_default,
                     std::span<PyObject* const> inputs, const NDArray& result) {
  if (inputs.empty()) return 0;
  unsigned every = ~0U;
  for (PyObject* const one : inputs) every &= facts_of(one) | (array_of(one).ndim() == 0 ? fact::number : 0);
  unsigned facts = flow.elementwise ? every & fact::number : 0;
  const auto is_truth = [&](std::size_t i) { return (facts_of(inputs[i]) & fact::truth) != 0; };
  if (makes_truths(flow, entry, op, inputs.size(), is_truth)) facts |= fact::truth;
  if (flow.reduces && result.ndim() == 1 && result.shape()[0] == 1 &&
      ((by_default && entry.name != "dot") || leaves_no_axis(entry, op, inputs)))
    facts |= fact::number;
  return facts;
}

}  // namespace strop::python
