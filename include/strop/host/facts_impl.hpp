// SPDX-License-Identifier: Apache-2.0
/// \file
/// How the facts of an operator are found.
#pragma once
#include <strop/core/config.hpp>
#include <strop/host/facts.hpp>
#include <strop/op/mode.hpp>
#include <strop/op/registry.hpp>

#include <dlfcn.h>
#include <algorithm>

namespace strop::inline v0 {
namespace detail {

/// How many outputs a call has, and how many of them are seen: with the default parameters, where every call with one
/// parameter changed has as many; else none.
STROP_IMPL std::optional<std::pair<int, int>> outputs_of_every_call(const Entry& e) {
  if (e.is_map()) return std::pair(e.outputs, e.visible);
  const int given = e.inputs < 0 ? std::max(e.min_inputs, 1) : e.inputs;
  std::optional<std::pair<int, int>> count;
  bool same = true;
  const auto look = [&](std::string_view key, std::string_view text) {
    try {
      const Ref<ParamBox> box = try_params(e, key, text);
      if (!box) return;
      const std::pair<int, int> found = count_outputs(e, box->get(), given);
      if (!count) count = found;
      same = same && count->first == found.first;
    } catch (const Error&) {  // parameters that no call may have
    }
  };
  look({}, {});
  if (e.params != nullptr)
    for (const Field& field : e.params->fields) {
      for (const std::string_view text : telling_values(*field.type)) look(field.name, text);
      if (const ParamKind kind = field.type->kind; kind != ParamKind::flag && kind != ParamKind::enumeration &&
                                                   kind != ParamKind::real && kind != ParamKind::string)
        for (const std::string_view text : {"1", "2", "3", "(1, 2)", "(1, 2, 3)"}) look(field.name, text);
    }
  return same ? count : std::nullopt;
}

/// Whether a call takes numbers from the random stream, or keeps a state for its gradient.
STROP_IMPL bool draws_or_keeps(const Entry& e) {
  if (e.cpu.make_state != nullptr) return true;
  if (e.resources == nullptr) return false;
  const std::vector<Shape> shapes(unsigned_size(e.inputs < 0 ? std::max(e.min_inputs, 1) : e.inputs), Shape{1, 1});
  const ModeScope training(nullptr, true);  // some draw in training alone
  try {
    const Ref<ParamBox> box = try_params(e);
    return box && e.resources(box->get(), shapes).random;
  } catch (const Error&) {  // shapes that no call may have
    return false;
  }
}

}  // namespace detail

namespace host {

STROP_IMPL Facts::Facts(const Entry& e) : entry(e), arguments(arguments_of(e)) {
  for (const Argument& a : arguments.inputs) variadic = variadic || a.variadic;
  if (variadic)  // the list stands for what some calls name
    std::erase_if(arguments.inputs, [](const Argument& a) { return a.optional && !a.variadic; });
  if (const auto count = detail::outputs_of_every_call(e)) outputs = count->first, visible = count->second;
  const detail::GradientRule& rule = e.gradient;
  constant = rule.constant;
  differentiable = !constant && (rule.entry != nullptr || rule.compose != nullptr || rule.zero);
  trains = e.mutates && differentiable;
  if (e.found != 0)
    refused = "the shape of its result follows from the data";
  else if (detail::draws_or_keeps(e))
    refused = "it draws random numbers, which are not those of the framework";
}

STROP_IMPL std::vector<std::size_t> placed_inputs(const Facts& facts, const void* op, const std::vector<bool>& given) {
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < given.size(); ++i)
    if (given[i]) places.push_back(i);
  if (facts.variadic || places.size() == facts.arguments.inputs.size()) return places;
  const Signature signature = detail::signature_of(facts.entry, op, static_cast<int>(places.size()));
  std::vector<std::size_t> order;
  for (const std::string_view name : signature.inputs) {
    std::size_t at = 0;
    while (at < facts.arguments.inputs.size() && facts.arguments.inputs[at].name != name) ++at;
    if (at >= given.size() || !given[at]) fail(facts.entry.snake, ": input '", name, "' is missing");
    order.push_back(at);
  }
  if (order.size() != places.size())
    fail(facts.entry.snake, ": takes ", order.size(), " inputs with these parameters, got ", places.size());
  return order;
}

STROP_IMPL std::vector<const Entry*> operators(const void* anchor) {
  const auto file_of = [](const void* address) -> const void* {
    Dl_info info{};
    return address != nullptr && ::dladdr(address, &info) != 0 ? info.dli_fbase : nullptr;
  };
  const void* const file = file_of(anchor);
  std::vector<const Entry*> all;
  for (const Entry* e : detail::all_operators())
    if (!e->is_gradient() && (file == nullptr || file_of(e) == file)) all.push_back(e);
  return all;
}

}  // namespace host
}  // namespace strop::inline v0
