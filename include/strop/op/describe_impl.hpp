// SPDX-License-Identifier: Apache-2.0
/// \file
/// How arguments and costs are read from an entry.
#pragma once
#include <strop/core/config.hpp>
#include <strop/op/broadcast.hpp>
#include <strop/op/describe.hpp>
#include <strop/op/names.hpp>

#include <algorithm>

namespace strop::inline v0 {
namespace detail {

/// A value of a parameter's type and range, as text.
STROP_IMPL std::string some_value(const ParamTable& table, std::size_t i) {
  const ValueType& type = *table.fields[i].type;
  const Range* const range = table.range(i);
  if (type.kind == ParamKind::enumeration) return std::string(type.words.front());
  if (type.kind == ParamKind::dtype) return "float32";
  if (range == nullptr || range->contains(1)) return "1";
  const double value = range->low > -Range::unbounded ? range->low : range->high;
  return type.kind == ParamKind::integer ? cat(static_cast<std::int64_t>(value)) : print_real(value);
}

STROP_IMPL std::vector<std::string_view> telling_values(const ValueType& type) {
  std::vector<std::string_view> out;
  if (type.kind == ParamKind::flag)
    out = {"False", "True"};
  else if (type.kind == ParamKind::enumeration)
    out.assign(type.words.begin(), type.words.end());
  else if (type.optional)
    out = {type.kind == ParamKind::dtype ? "float32" : "1"};
  if (type.optional) out.push_back("None");
  return out;
}

STROP_IMPL Ref<ParamBox> try_params(const Entry& entry, std::string_view key, std::string_view text) {
  std::vector<std::string> values;
  std::vector<std::pair<std::string_view, std::string_view>> all;
  const std::size_t n = entry.params != nullptr ? entry.params->fields.size() : 0;
  values.reserve(n);
  for (std::size_t i = 0; i < n; ++i) {
    const Field& field = entry.params->fields[i];
    if (!field.type->required || field.name == key) continue;
    values.push_back(some_value(*entry.params, i));
    all.emplace_back(field.name, values.back());
  }
  if (!key.empty()) all.emplace_back(key, text);
  try {
    return parse_params(entry, all);
  } catch (const Error&) {
    return nullptr;
  }
}

/// The tensors of one kind, inputs or outputs, of one call after another.
class ArgumentList {
 public:
  ArgumentList(const Entry& entry, std::vector<Argument>& list) : entry_(entry), list_(list) {}

  /// Takes the names of a call in. What they add stands behind the name before it and those that others added there;
  /// what they lack is optional.
  void add(const std::vector<std::string_view>& names, bool first) {
    std::size_t at = 0;
    for (const std::string_view name : names) {
      const auto known = std::find_if(list_.begin(), list_.end(), [&](const Argument& a) { return a.name == name; });
      if (known != list_.end()) {
        at = static_cast<std::size_t>(known - list_.begin()) + 1;
        continue;
      }
      Argument made{name, note_of(name)};
      made.optional = !first;
      while (at < list_.size() && list_[at].optional) ++at;  // which another parameter adds there
      list_.insert(list_.begin() + static_cast<std::ptrdiff_t>(std::min(at, list_.size())), made);
      ++at;
    }
    for (Argument& a : list_)
      if (std::find(names.begin(), names.end(), a.name) == names.end()) a.optional = true;
  }

 private:
  std::string_view note_of(std::string_view name) const {
    for (const Note& note : entry_.notes)
      if (note.name == name) return note.text;
    return {};
  }
  const Entry& entry_;
  std::vector<Argument>& list_;
};

}  // namespace detail

STROP_IMPL Arguments arguments_of(const Entry& entry) {
  Arguments all;
  detail::ArgumentList inputs(entry, all.inputs), outputs(entry, all.outputs);
  const bool open = entry.inputs < 0;
  bool first = true;
  std::vector<std::string_view> shown, unshown;
  const auto look = [&](std::string_view key, std::string_view text) {
    const detail::Ref<detail::ParamBox> box = detail::try_params(entry, key, text);
    if (!box) return;
    Signature s;
    try {
      s = detail::signature_of(entry, box->get(), open ? std::max(entry.min_inputs, 1) : entry.inputs);
    } catch (const Error&) {
      return;  // parameters that no call may have
    }
    inputs.add(s.inputs, first);
    outputs.add(s.outputs, first);
    first = false;
    for (const int i : s.mutated)
      for (Argument& a : all.inputs)
        if (a.name == detail::element(s.inputs, i)) a.written = true;
    for (std::size_t k = 0; k < s.outputs.size(); ++k)
      (static_cast<int>(k) < s.visible ? shown : unshown).push_back(s.outputs[k]);
  };
  look({}, {});
  if (entry.params != nullptr)
    for (const detail::Field& field : entry.params->fields)
      for (const std::string_view value : detail::telling_values(*field.type)) look(field.name, value);
  const auto stands = [](const std::vector<std::string_view>& list, std::string_view name) {
    return std::find(list.begin(), list.end(), name) != list.end();
  };
  for (Argument& a : all.outputs) {
    a.hidden = !stands(shown, a.name);
    a.optional = a.optional || (!a.hidden && stands(unshown, a.name));
  }
  for (std::size_t i = 0; i < all.inputs.size() && i < 64; ++i) all.inputs[i].whole = (entry.whole >> i & 1U) != 0;
  if (open && !all.inputs.empty()) {
    Argument& last = all.inputs.back();
    last.variadic = true;
    if (last.name == detail::numbered_name(false, std::ssize(all.inputs) - 1)) last.name = "args";
  }
  return all;
}

STROP_IMPL Cost cost_of(const Entry& entry, const void* op, std::span<const Shape> in, std::span<const Dtype> in_types,
                        std::span<const Shape> out, std::span<const Dtype> out_types) {
  const auto bytes = [](const Shape& shape, Dtype type) { return shape.size() * size_of(type); };
  Cost cost;
  for (std::size_t i = 0; i < in.size(); ++i) cost.bytes_read += bytes(in[i], in_types[i]);
  for (std::size_t k = 0; k < out.size(); ++k) cost.bytes_written += bytes(out[k], out_types[k]);
  if (entry.mutates)
    for (const int i : detail::signature_of(entry, op, static_cast<int>(in.size())).mutated)
      cost.bytes_written += bytes(detail::element(in, i), detail::element(in_types, i));
  if (entry.operations != nullptr)
    cost.operations = entry.operations(op, in);
  else if (entry.facts.operations != nullptr && !out.empty()) {
    Shape common = out[0];
    for (const Shape& shape : in) detail::broadcast_into(common, shape);
    const auto elements = static_cast<double>(common.size());
    double each = entry.facts.operations(op);
    for (const Shape& shape : out)  // of a gradient: a sum over the axes along which the input was repeated
      if (shape != common) ++each;
    cost.operations = each * elements;
  }
  return cost;
}

}  // namespace strop::inline v0
