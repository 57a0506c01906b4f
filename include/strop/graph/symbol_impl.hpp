// SPDX-License-Identifier: Apache-2.0
/// \file
/// How operators on symbols make nodes, and Symbol's members that need no later part of the graph layer.
#pragma once
#include <strop/core/config.hpp>
#include <strop/core/text.hpp>
#include <strop/graph/graph.hpp>
#include <strop/graph/naming.hpp>
#include <strop/graph/symbol.hpp>

namespace strop::inline v0 {
namespace detail {

/// How the thread names nodes at this moment.
struct Naming {
  std::string prefix;
  std::vector<std::pair<std::string, int>> counters;
};
struct NamingState {
  std::vector<Naming> scopes = std::vector<Naming>(1);
  NamedTexts attributes;
};
STROP_COLD NamingState& naming() {
  thread_local NamingState state;
  return state;
}

/// The name of a new node: as given, or the operator's name in lower case and a number; the scope's prefix before it.
STROP_COLD std::string node_name(const Entry& entry, std::string_view given) {
  Naming& scope = naming().scopes.back();
  if (!given.empty()) return cat(scope.prefix, given);
  std::string hint(entry.name);
  for (char& c : hint)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + ('a' - 'A'));
  for (auto& [known, next] : scope.counters)
    if (known == hint) return cat(scope.prefix, hint, next++);
  scope.counters.emplace_back(hint, 1);
  return cat(scope.prefix, hint, 0);
}

/// Attributes that other tools read are kept as `__key__`.
STROP_COLD std::string attribute_key(std::string_view key) {
  for (std::string_view known : {"ctx_group", "lr_mult", "wd_mult", "force_mirroring", "mirror_stage"})
    if (key == known) return cat("__", key, "__");
  return std::string(key);
}

STROP_COLD Node::Node() = default;
STROP_COLD Node::Node(const Node&) = default;
/// Takes deep graphs down node by node, not by recursion.
STROP_COLD Node::~Node() {
  std::vector<NodeOutput> last;
  const auto take = [&last](Node& node) {
    for (auto* list : {&node.inputs, &node.like})
      for (NodeOutput& in : *list)
        if (in.node) last.push_back(std::move(in));
  };
  take(*this);
  while (!last.empty()) {
    const NodeOutput next = std::move(last.back());
    last.pop_back();
    if (next.node->owners() == 1) take(*next.node);
  }
}

STROP_COLD std::string Node::output_name(int k) const {
  return entry == nullptr ? name : cat(name, '_', signature.outputs[static_cast<std::size_t>(k)]);
}

STROP_COLD std::string listed(std::span<const std::string_view> names) {
  std::string out;
  for (std::string_view name : names) out += cat(out.empty() ? "" : ", ", name);
  return out;
}
STROP_COLD std::string listed(std::span<const std::string> names) {
  return listed(std::vector<std::string_view>(names.begin(), names.end()));
}

/// A node of the operator on these inputs; inputs that are missing become variables.
STROP_COLD Symbol build_node(const Entry& entry, Ref<ParamBox> params, std::span<const Symbol> in, std::string_view given_name) {
  if (entry.params != nullptr && entry.params->checked) check_params(entry.snake, *entry.params, params->get());
  const Ref<Node> node(new Node);
  const auto given = static_cast<int>(in.size());
  if (entry.signature != nullptr) entry.signature(params->get(), given, node->signature);
  const std::vector<std::string_view>& names = node->signature.inputs;
  const std::size_t wanted = names.size();
  if (in.size() > wanted)
    fail(entry.snake, ": takes ", wanted, wanted == 1 ? " input (" : " inputs (", listed(names), "), ", given, given == 1 ? " was given" : " were given");
  node->name = node_name(entry, given_name);
  node->entry = &entry;
  node->params = std::move(params);
  node->attributes = naming().attributes;
  for (std::size_t i = 0; i < wanted; ++i) {
    const Symbol missing;
    const Symbol& symbol = i < in.size() ? in[i] : missing;
    if (symbol.size() > 1)
      fail(entry.snake, ": input '", names[i], "' has ", symbol.size(), " outputs (", listed(symbol.list_outputs()), "), expected one; take one with [i]");
    node->inputs.push_back(symbol ? symbol.outputs()[0] : var(cat(node->name, '_', names[i])).outputs()[0]);
  }
  for (int i : node->signature.mutated)
    if (const Node& state = *node->inputs[static_cast<std::size_t>(i)].node; state.entry != nullptr)
      fail(entry.snake, ": input '", names[static_cast<std::size_t>(i)], "' is written and so must be a variable, not the output of ", state.name);
  std::vector<NodeOutput> outputs;
  for (int k = 0; k < node->visible(); ++k) outputs.push_back({node, k});
  return Symbol(std::move(outputs));
}

STROP_COLD Symbol make_node(const Entry& entry, const void* op, std::span<const Symbol> in, std::string_view name) {
  return build_node(entry, Ref(new ParamBox(entry.params, op)), in, name);
}

/// Throws Error for a name that is given twice or that nothing has.
STROP_COLD void check_given(const char* what, const std::vector<std::string_view>& given, const std::vector<std::string>& known) {
  for (std::size_t i = 0; i < given.size(); ++i) {
    bool found = false;
    for (const std::string& name : known) found = found || name == given[i];
    if (!found) fail(what, ": no argument '", given[i], "'; nearest: ", list_nearest(given[i], std::vector<std::string_view>(known.begin(), known.end()), 5));
    for (std::size_t j = 0; j < i; ++j)
      if (given[j] == given[i]) fail(what, ": argument '", given[i], "' is given twice");
  }
}
template <class X>
void check_names(const char* what, const std::vector<std::pair<std::string, X>>& given, const std::vector<std::string>& known) {
  std::vector<std::string_view> names;
  for (const auto& one : given) names.push_back(one.first);
  check_given(what, names, known);
}
template <class X>
const X* find_named(const std::vector<std::pair<std::string, X>>& given, std::string_view name) {
  for (const auto& [key, value] : given)
    if (key == name) return &value;
  return nullptr;
}

}  // namespace detail

STROP_COLD NameScope::NameScope(std::string prefix) { detail::naming().scopes.push_back({std::move(prefix), {}}); }
STROP_COLD NameScope::~NameScope() { detail::naming().scopes.pop_back(); }
STROP_COLD AttrScope::AttrScope(std::initializer_list<std::pair<std::string_view, std::string_view>> attributes) : before_(detail::naming().attributes) {
  for (const auto& [key, text] : attributes) detail::naming().attributes.emplace_back(detail::attribute_key(key), text);
}
STROP_COLD AttrScope::~AttrScope() { detail::naming().attributes = std::move(before_); }

STROP_COLD GradRequests::GradRequests(std::initializer_list<std::pair<std::string_view, GradRequest>> named) : named_(named.begin(), named.end()) {}
STROP_COLD GradRequest GradRequests::of(std::string_view argument) const {
  for (const auto& [name, request] : named_)
    if (name == argument) return request;
  return all_;
}

STROP_COLD Symbol var(std::string_view name, const Variable& options) {
  if (name.empty()) fail("var: a variable needs a name");
  const detail::Ref<detail::Node> node(new detail::Node);
  node->name = name;
  node->variable = options;
  node->attributes = detail::naming().attributes;
  for (const auto& [key, text] : options.attributes) node->attributes.emplace_back(detail::attribute_key(key), text);
  return Symbol({{node, 0}});
}

STROP_COLD Symbol group(std::span<const Symbol> symbols) {
  std::vector<detail::NodeOutput> outputs;
  for (const Symbol& symbol : symbols) outputs.insert(outputs.end(), symbol.outputs().begin(), symbol.outputs().end());
  return Symbol(std::move(outputs));
}

STROP_COLD Symbol compose(std::string_view name, std::initializer_list<InputSymbol> inputs, Attributes attributes, std::string_view node_name) {
  const Entry& entry = detail::find_operator(name);
  detail::Ref<detail::ParamBox> params = detail::parse_params(entry, {attributes.begin(), attributes.size()});
  Signature signature;
  if (entry.signature != nullptr) entry.signature(params->get(), static_cast<int>(inputs.size()), signature);
  std::vector<Symbol> in;
  for (const InputSymbol& input : inputs) {
    std::size_t at = in.size();
    if (!input.name.empty()) {
      for (at = 0; at < signature.inputs.size() && signature.inputs[at] != input.name;) ++at;
      if (at == signature.inputs.size()) fail(entry.snake, ": no input '", input.name, "'; it has ", detail::listed(signature.inputs));
      if (at < in.size() && in[at]) fail(entry.snake, ": input '", input.name, "' is given twice");
    }
    if (at >= in.size()) in.resize(at + 1);
    in[at] = input.symbol;
  }
  return detail::build_node(entry, std::move(params), in, node_name);
}

STROP_COLD std::string Symbol::name() const {
  for (const detail::NodeOutput& output : outputs_)
    if (output.node != outputs_[0].node) return {};
  return outputs_.empty() ? std::string() : outputs_[0].node->name;
}

STROP_COLD Symbol Symbol::operator[](std::int64_t i) const {
  if (i < 0 || i >= std::ssize(outputs_)) fail("symbol: no output ", i, "; it has ", outputs_.size());
  return Symbol({outputs_[static_cast<std::size_t>(i)]});
}

STROP_COLD Symbol Symbol::operator[](std::string_view name) const {
  const std::vector<std::string> names = list_outputs();
  for (std::size_t i = 0; i < names.size(); ++i)
    if (names[i] == name) return Symbol({outputs_[i]});
  fail("symbol: no output '", name, "'; nearest: ", detail::list_nearest(name, std::vector<std::string_view>(names.begin(), names.end()), 5));
}

STROP_COLD std::vector<std::string> Symbol::variables(bool auxiliary) const {
  const detail::Graph graph(outputs_);
  const std::vector<char> written = graph.auxiliary();
  std::vector<std::string> names;
  for (int n = 0; n < graph.size(); ++n)
    if (graph.node(n).entry == nullptr && (written[static_cast<std::size_t>(n)] != 0) == auxiliary) names.push_back(graph.node(n).name);
  return names;
}

STROP_COLD std::vector<std::string> Symbol::list_outputs() const {
  std::vector<std::string> names;
  for (const detail::NodeOutput& output : outputs_) names.push_back(output.node->output_name(output.index));
  return names;
}

STROP_COLD Symbol Symbol::get_internals() const {
  const detail::Graph graph(outputs_);
  std::vector<detail::NodeOutput> outputs;
  for (int n = 0; n < graph.size(); ++n)
    for (int k = 0; k < graph.node(n).visible(); ++k) outputs.push_back({detail::Ref(&graph.node(n)), k});
  return Symbol(std::move(outputs));
}

STROP_COLD Symbol Symbol::get_children() const {
  std::vector<detail::NodeOutput> inputs;
  const detail::Node* last = nullptr;
  for (const detail::NodeOutput& output : outputs_) {
    if (output.node.get() == last) continue;
    last = output.node.get();
    for (const detail::NodeOutput& in : last->inputs)
      if (in.node) inputs.push_back(in);
  }
  return Symbol(std::move(inputs));
}

STROP_COLD detail::Node& Symbol::only_node(const char* what) const {
  for (const detail::NodeOutput& output : outputs_)
    if (output.node != outputs_[0].node) fail(what, ": a group of several nodes has no attributes; take one with [i]");
  if (outputs_.empty()) fail(what, ": the symbol is empty");
  return *outputs_[0].node;
}

STROP_COLD NamedTexts Symbol::list_attr() const {
  const detail::Node& node = only_node("list_attr");
  NamedTexts out;
  if (node.entry != nullptr && node.entry->params != nullptr) {
    const detail::ParamTable& table = *node.entry->params;
    for (std::size_t i = 0; i < table.fields.size(); ++i)
      out.emplace_back(table.fields[i].name, table.fields[i].type->print(table.at(const_cast<void*>(node.op()), i)));
  }
  if (node.variable.shape.has_rank()) out.emplace_back("__shape__", to_text(node.variable.shape));
  if (node.variable.dtype) out.emplace_back("__dtype__", cat(static_cast<int>(*node.variable.dtype)));
  if (node.variable.storage) out.emplace_back("__storage_type__", cat(static_cast<int>(*node.variable.storage)));
  out.insert(out.end(), node.attributes.begin(), node.attributes.end());
  return out;
}

STROP_COLD std::string Symbol::attr(std::string_view key) const {
  const NamedTexts all = list_attr();
  const std::string hidden = cat("__", key, "__");
  std::string found;
  for (const auto& [known, text] : all)  // the last one said holds
    if (known == key || known == hidden) found = text;
  return found;
}

STROP_COLD void Symbol::set_attr(std::string_view key, std::string_view text) const {
  only_node("set_attr").attributes.emplace_back(detail::attribute_key(key), text);
}

STROP_COLD Symbol Symbol::operator()(const NamedSymbols& replacements) const {
  const detail::Graph graph(outputs_, true);
  std::vector<std::string> names;
  for (int n = 0; n < graph.size(); ++n)
    if (graph.node(n).entry == nullptr) names.push_back(graph.node(n).name);
  detail::check_names("symbol", replacements, names);
  std::vector<detail::NodeOutput> made;  // what stands for output 0 of each node
  const auto moved = [&](const detail::NodeOutput& from) {
    if (!from.node) return from;
    detail::NodeOutput to = made[static_cast<std::size_t>(graph.find(from.node.get()))];
    if (from.node->entry != nullptr) to.index = from.index;
    return to;
  };
  for (int n = 0; n < graph.size(); ++n) {
    detail::Node& node = graph.node(n);
    detail::NodeOutput out{detail::Ref(&node), 0};
    if (node.entry == nullptr) {
      if (const Symbol* other = detail::find_named(replacements, node.name)) {
        if (other->size() != 1) fail("symbol: the replacement of '", node.name, "' has ", other->size(), " outputs, expected one");
        out = other->outputs()[0];
      }
    } else {
      out.node = detail::Ref(new detail::Node(node));
      bool changed = false;
      for (auto* list : {&out.node->inputs, &out.node->like})
        for (detail::NodeOutput& in : *list) {
          const detail::NodeOutput to = moved(in);
          changed = changed || !(to.node == in.node) || to.index != in.index;
          in = to;
        }
      if (!changed) out.node = detail::Ref(&node);
      for (int i : out.node->signature.mutated)
        if (out.node->inputs[static_cast<std::size_t>(i)].node->entry != nullptr)
          fail("symbol: '", node.inputs[static_cast<std::size_t>(i)].node->name, "' is written by ", node.name, " and can only be replaced by a variable");
    }
    made.push_back(std::move(out));
  }
  std::vector<detail::NodeOutput> outputs;
  for (const detail::NodeOutput& output : outputs_) outputs.push_back(moved(output));
  return Symbol(std::move(outputs));
}

}  // namespace strop::inline v0
