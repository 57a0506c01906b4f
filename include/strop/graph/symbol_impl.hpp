// SPDX-License-Identifier: Apache-2.0
/// \file
/// How operators on symbols make nodes, and Symbol's members that need no inference.
#pragma once
#include <strop/core/config.hpp>
#include <strop/core/text.hpp>
#include <strop/graph/attributes_impl.hpp>
#include <strop/graph/control/flow.hpp>
#include <strop/graph/graph.hpp>
#include <strop/graph/name_table.hpp>
#include <strop/graph/naming.hpp>
#include <strop/graph/original_outputs.hpp>
#include <strop/graph/symbol.hpp>

namespace strop::inline v0 {
namespace detail {

/// How the thread names nodes at this moment.
struct Naming {
  std::string prefix;
  List<std::pair<std::string, int>> counters;
};
struct NamingState {
  List<Naming> scopes;
  NamedTexts attributes;
};
STROP_IMPL NamingState& naming() {
  thread_local NamingState state;
  if (state.scopes.empty()) state.scopes.resize(1);
  return state;
}

/// The name of a new node: as given, or the operator's name in lower case and a number; the scope's prefix before it.
STROP_IMPL std::string node_name(const Entry& entry, std::string_view given) {
  Naming& scope = naming().scopes.back();
  if (!given.empty()) return cat(scope.prefix, given);
  std::string hint(entry.name);
  for (char& c : hint)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + ('a' - 'A'));
  int number = 0;
  std::pair<std::string, int>* counter = nullptr;
  for (auto& known : scope.counters)
    if (known.first == hint) counter = &known;
  if (counter != nullptr)
    number = counter->second++;
  else
    scope.counters.push_back({hint, 1});
  return cat(scope.prefix, hint, number);
}

STROP_IMPL Node::Node() = default;
STROP_IMPL Node::Node(const Node&) = default;
/// Takes deep graphs down node by node, not by recursion.
STROP_IMPL Node::~Node() {
  NodeOutputs last;
  const auto take = [&last](NodeOutputs& list) {
    for (NodeOutput& in : list)
      if (in.node) last.push_back(std::move(in));
  };
  take(inputs);
  take(like);
  while (!last.empty()) {
    const NodeOutput next = std::move(last.back());
    last.pop_back();
    if (next.node->owners() != 1) continue;
    take(next.node->inputs);
    take(next.node->like);
  }
}

STROP_IMPL std::string Node::output_name(int k) const {
  if (entry == nullptr) return name;
  if (const OriginalOutputs* const original = original_outputs_of(*this);
      original != nullptr && original->numbers && count_of(*original, *this) > 1)
    return cat(name, "_output", k);
  const std::string_view own = element(signature.outputs, k);
  return name.empty() ? std::string(own) : cat(name, '_', own);
}

STROP_IMPL void fail_in(const Node& node, const Error& error) {
  const std::string place = place_of(node.site);
  fail("Error in node ", node.name, place.empty() ? "" : ", called at ", place, ": ", error.what());
}

/// Names as they stand in a sentence: "data, weight".
STROP_IMPL std::string listed(std::span<const std::string_view> names) {
  std::string out;
  for (std::string_view name : names) {
    if (!out.empty()) out += ", ";
    out += name;
  }
  return out;
}
STROP_IMPL std::string listed(const List<std::string_view>& names) { return listed(names.span()); }

/// A sentence about a name that is none of the known ones: "executor: no argument 'w'; nearest: weight".
[[noreturn]] STROP_IMPL void fail_unknown(std::string_view what, std::string_view name,
                                          const List<std::string_view>& known) {
  fail(what, " '", name,
       "'; nearest: ", list_nearest(name, std::vector<std::string_view>(known.begin(), known.end()), 5));
}
/// Throws Error for a name that is given twice or that nothing has.
STROP_IMPL void check_given(std::string_view what, const List<std::string_view>& given,
                            const List<std::string_view>& known) {
  if (given.empty()) return;
  const NameTable there(known);
  NameTable seen;
  for (const std::string_view name : given) {
    if (there.find(name) < 0) fail_unknown(cat(what, ": no argument"), name, known);
    if (!seen.add(name)) fail(what, ": argument '", name, "' is given twice");
  }
}
template <class Pairs>
List<std::string_view> names_of(const Pairs& pairs) {
  List<std::string_view> names;
  for (const auto& one : pairs) names.push_back(one.first);
  return names;
}
template <class X>
const X* find_named(const std::vector<std::pair<std::string, X>>& given, std::string_view name) {
  for (const auto& one : given)
    if (one.first == name) return &one.second;
  return nullptr;
}

/// A variable that the program did not ask for: no attributes of a scope say what its array is.
STROP_IMPL NodeOutput new_variable(std::string name) {
  const Ref<Node> node(new Node);
  node->name = std::move(name);
  return {node, 0};
}
STROP_IMPL NodeOutput scoped_variable(std::string name) {
  NodeOutput made = new_variable(std::move(name));
  for (const auto& [key, text] : naming().attributes) set_attribute(*made.node, key, text);
  return made;
}

/// The one output that an input of an operator is.
STROP_IMPL NodeOutput one_output(std::string_view op, std::string_view input, const Symbol& symbol) {
  if (symbol.size() == 1) return symbol.outputs()[0];
  std::string names;
  for (const NodeOutput& output : symbol.outputs())
    names += cat(names.empty() ? "" : ", ", output.node->output_name(output.index));
  fail(op, ": input '", input, "' has ", symbol.size(), " outputs (", names, "), expected one; take one with [i]");
}

/// How many inputs a node has of an operator that takes any number of them: as many as are given, or as its parameters
/// count, of which those that are missing become variables.
STROP_IMPL int counted_inputs(const Entry& entry, const void* op, int given) {
  if (entry.inputs >= 0 || entry.params == nullptr) return given;
  for (const std::string_view name : {"num_args", "num_arrays", "num_outputs"})
    if (const auto i = entry.params->find(name))
      if (const auto count = entry.params->number(op, *i); count && *count > given && *count < 1 << 16)
        return static_cast<int>(*count);
  return given;
}

STROP_IMPL void refuse_found(const Entry& entry) {
  if (entry.found != 0)
    fail(entry.snake,
         ": the shape of its result follows from the data, which a graph does not know; call it on arrays");
}

STROP_IMPL Symbol build_node(const Entry& entry, Ref<ParamBox> params, std::span<const Symbol> in,
                             std::string_view given_name, NamedTexts said) {
  refuse_found(entry);
  if (entry.params != nullptr && entry.params->checked) check_params(entry.snake, *entry.params, params->get());
  const Ref<Node> node(new Node);
  node->signature =
      signature_of(entry, params->get(), counted_inputs(entry, params->get(), static_cast<int>(in.size())));
  const std::vector<std::string_view>& names = node->signature.inputs;
  if (in.size() > names.size())
    fail(entry.snake, ": takes ", names.size(), names.size() == 1 ? " input (" : " inputs (", listed(names), "), ",
         in.size(), in.size() == 1 ? " was given" : " were given");
  node->name = node_name(entry, given_name);
  node->entry = &entry;
  node->params = std::move(params);
  node->attributes = naming().attributes;
  node->said = std::move(said);
  for (std::size_t i = 0; i < names.size(); ++i) {
    const bool given = i < in.size() && in[i].defined();
    node->inputs.push_back(given ? one_output(entry.snake, names[i], in[i])
                                 : missing_input(*node, names, static_cast<int>(i)));
    if (Node& source = *node->inputs[static_cast<int>(i)].node; given && source.is_variable())
      say_initial(entry, names[i], source);
  }
  for (int i : node->signature.mutated)
    if (const Node& state = *node->inputs[i].node; !state.is_variable())
      fail(entry.snake, ": input '", element(names, i), "' is written and so must be a variable, not the output of ",
           state.name);
  NodeOutputs outputs;
  for (int k = 0; k < node->visible(); ++k) outputs.push_back({node, k});
  return Symbol(std::move(outputs));
}

STROP_IMPL Symbol make_node(const Entry& entry, const void* op, std::span<const Symbol> in, std::string_view name) {
  return build_node(entry, Ref(new ParamBox(entry.params, op)), in, name);
}

}  // namespace detail

STROP_IMPL NameScope::NameScope(std::string prefix) { detail::naming().scopes.push_back({std::move(prefix), {}}); }
STROP_IMPL NameScope::~NameScope() { detail::naming().scopes.pop_back(); }
STROP_IMPL AttrScope::AttrScope(std::initializer_list<std::pair<std::string_view, std::string_view>> attributes)
    : before_(detail::naming().attributes) {
  for (const auto& [key, text] : attributes)
    detail::set_text(detail::naming().attributes, detail::attribute_key(key), text);
}
STROP_IMPL AttrScope::~AttrScope() { detail::naming().attributes = std::move(before_); }

STROP_IMPL Symbol var(std::string_view name, const Variable& options) {
  if (name.empty()) fail("var: a variable needs a name");
  const detail::NodeOutput made = detail::scoped_variable(std::string(name));
  for (const auto& [key, text] : options.attributes) detail::set_attribute(*made.node, key, text);
  Variable& variable = made.node->variable;
  if (options.shape.has_rank()) variable.shape = options.shape;
  if (options.dtype) variable.dtype = options.dtype;
  if (options.storage) variable.storage = options.storage;
  return Symbol(made);
}

STROP_IMPL Symbol group(std::span<const Symbol> symbols) {
  detail::NodeOutputs outputs;
  for (const Symbol& symbol : symbols)
    for (const detail::NodeOutput& output : symbol.outputs()) outputs.push_back(output);
  return Symbol(std::move(outputs));
}

STROP_IMPL Symbol compose(std::string_view name, std::initializer_list<InputSymbol> inputs, Attributes attributes,
                          std::string_view node_name) {
  const Entry& entry = detail::find_operator(name);
  detail::Ref<detail::ParamBox> params = detail::parse_params(entry, {attributes.begin(), attributes.size()});
  const Signature signature = detail::signature_of(entry, params->get(), static_cast<int>(inputs.size()));
  detail::NameTable places;
  for (const std::string_view one : signature.inputs) places.add(one);
  detail::List<Symbol> in;
  for (const InputSymbol& input : inputs) {
    detail::Index at = in.size();
    if (!input.name.empty()) {
      at = places.find(input.name);
      if (at < 0) fail(entry.snake, ": no input '", input.name, "'; it has ", detail::listed(signature.inputs));
      if (at < in.size() && in[at].defined()) fail(entry.snake, ": input '", input.name, "' is given twice");
    }
    if (at >= in.size()) in.resize(at + 1);
    in[at] = input.symbol;
  }
  NamedTexts said;
  for (const auto& [key, text] : attributes)
    said.push_back({std::string(entry.params->fields[*entry.params->find(key)].name), std::string(text)});
  return detail::build_node(entry, std::move(params), in, node_name, std::move(said));
}

STROP_IMPL std::string Symbol::name() const {
  for (const detail::NodeOutput& output : outputs_)
    if (output.node != outputs_[0].node) return {};
  return outputs_.empty() ? std::string() : outputs_[0].node->name;
}

STROP_IMPL Symbol Symbol::operator[](std::int64_t i) const {
  if (i < 0 || i >= size()) fail("symbol: no output ", i, "; it has ", size());
  return Symbol(outputs_[static_cast<int>(i)]);
}

STROP_IMPL Symbol Symbol::operator[](std::string_view name) const {
  const std::vector<std::string> names = list_outputs();
  detail::List<std::string_view> known;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i] == name) return Symbol(outputs_[static_cast<int>(i)]);
    known.push_back(names[i]);
  }
  detail::fail_unknown("symbol: no output", name, known);
}

STROP_IMPL std::vector<std::string> Symbol::variables(bool auxiliary) const {
  const detail::Graph graph(outputs_);
  const detail::List<bool> written = graph.auxiliary();
  std::vector<std::string> names;
  for (int n = 0; n < graph.size(); ++n)
    if (graph.node(n).is_variable() && written[n] == auxiliary) names.push_back(graph.node(n).name);
  return names;
}

STROP_IMPL std::vector<std::string> Symbol::list_outputs() const {
  std::vector<std::string> names;
  for (const detail::NodeOutput& output : outputs_) names.push_back(output.node->output_name(output.index));
  return names;
}

STROP_IMPL Symbol Symbol::get_internals() const {
  const detail::Graph graph(outputs_);
  detail::NodeOutputs outputs;
  for (int n = 0; n < graph.size(); ++n)
    for (int k = 0; k < graph.node(n).visible(); ++k) outputs.push_back({detail::Ref(&graph.node(n)), k});
  return Symbol(std::move(outputs));
}

STROP_IMPL Symbol Symbol::get_children() const {
  detail::NodeOutputs inputs;
  const detail::Node* last = nullptr;
  for (const detail::NodeOutput& output : outputs_) {
    if (output.node.get() == last) continue;
    last = output.node.get();
    for (const detail::NodeOutput& in : last->inputs)
      if (in.node) inputs.push_back(in);
  }
  return Symbol(std::move(inputs));
}

STROP_IMPL detail::Node& Symbol::only_node(const char* what) const {
  for (const detail::NodeOutput& output : outputs_)
    if (output.node != outputs_[0].node) fail(what, ": a group of several nodes has no attributes; take one with [i]");
  if (outputs_.empty()) fail(what, ": the symbol is empty");
  return *outputs_[0].node;
}

namespace detail {

STROP_IMPL NamedTexts attributes_of(const Node& node) {
  NamedTexts out = parameters_of(node);
  if (const Flow* const flow = flow_of(node))
    for (auto& one : flow_attributes(*flow)) out.push_back(std::move(one));
  if (node.variable.shape.has_rank())
    out.push_back({"__shape__", text_of(node.variable.shape, has_zero_extent(node.variable.shape))});
  if (node.variable.dtype) out.push_back({"__dtype__", cat(static_cast<int>(*node.variable.dtype))});
  if (node.variable.storage) out.push_back({"__storage_type__", cat(static_cast<int>(*node.variable.storage))});
  for (const auto& [key, text] : node.attributes) {
    out.push_back({key, text});
    for (const std::string_view plain : hidden_keys)
      if (key == attribute_key(plain)) out.push_back({std::string(plain), text});
  }
  return out;
}

}  // namespace detail

STROP_IMPL NamedTexts Symbol::list_attr() const { return detail::attributes_of(only_node("attr")); }

STROP_IMPL std::vector<std::pair<std::string, NamedTexts>> Symbol::attr_dict() const {
  const detail::Graph graph(outputs_);
  std::vector<std::pair<std::string, NamedTexts>> out;
  for (int n = 0; n < graph.size(); ++n)
    if (NamedTexts own = detail::attributes_of(graph.node(n)); !own.empty())
      out.emplace_back(graph.node(n).name, std::move(own));
  return out;
}

STROP_IMPL std::string Symbol::attr(std::string_view key) const {
  if (key == "name") return only_node("attr").name;
  const NamedTexts all = list_attr();
  const std::string* found = detail::find_text(all, key);
  if (found == nullptr) found = detail::find_text(all, cat("__", key, "__"));
  return found != nullptr ? *found : std::string();
}

STROP_IMPL void Symbol::set_attr(std::string_view key, std::string_view text) const {
  detail::Node& node = only_node("set_attr");
  if (key == "name")
    node.name = text;
  else
    detail::set_attribute(node, key, text);
}

namespace detail {

/// The nodes of `outputs` anew, with other expressions in place of some variables: those that this changes, or all.
STROP_IMPL NodeOutputs made_anew(const NodeOutputs& outputs, const NamedSymbols& replacements, bool all) {
  const Graph graph(outputs, true);
  List<std::string_view> names;
  for (int n = 0; n < graph.size(); ++n)
    if (graph.node(n).is_variable()) names.push_back(graph.node(n).name);
  check_given("symbol", names_of(replacements), names);
  const NameTable replaced(names_of(replacements));
  NodeOutputs made;  // what stands for output 0 of each node
  // A copy of a node that keeps a state has one of its own, which its gradient finds by the parameters that they share.
  List<std::pair<const ParamBox*, Ref<ParamBox>>> own;
  const auto own_params = [&](const Node& node) {
    for (const auto& [before, copy] : own)
      if (before == node.params.get()) return copy;
    if (node.entry->cpu.make_state == nullptr || node.entry->is_gradient()) return node.params;
    own.push_back({node.params.get(), Ref(new ParamBox(node.entry->params, node.op()))});
    return own.back().second;
  };
  const auto moved = [&](const NodeOutput& from) {
    if (!from.node) return from;
    NodeOutput to = made[graph.find(from.node.get())];
    if (!from.node->is_variable()) to.index = from.index;
    return to;
  };
  for (int n = 0; n < graph.size(); ++n) {
    Node& node = graph.node(n);
    NodeOutput out{Ref(&node), 0};
    if (node.is_variable()) {
      const int at = replaced.find(node.name);
      const Symbol* const other = at < 0 ? nullptr : &element(replacements, at).second;
      if (other != nullptr && other->size() != 1)
        fail("symbol: the replacement of '", node.name, "' has ", other->size(), " outputs, expected one");
      if (other != nullptr)
        out = other->outputs()[0];
      else if (all)
        out.node = Ref(new Node(node));
    } else {
      const Ref<Node> copy(new Node(node));
      bool changed = all;
      for (auto* list : {&copy->inputs, &copy->like})
        for (NodeOutput& in : *list) {
          const NodeOutput to = moved(in);
          changed = changed || to.node != in.node || to.index != in.index;
          in = to;
        }
      if (changed) copy->params = own_params(node);
      if (changed) out.node = copy;
      for (int i : copy->signature.mutated)
        if (!copy->inputs[i].node->is_variable())
          fail("symbol: '", node.inputs[i].node->name, "' is written by ", node.name,
               " and can only be replaced by a variable");
    }
    made.push_back(std::move(out));
  }
  NodeOutputs heads;
  for (const NodeOutput& output : outputs) heads.push_back(moved(output));
  return heads;
}

}  // namespace detail

STROP_IMPL Symbol Symbol::operator()(const NamedSymbols& replacements) const {
  return Symbol(detail::made_anew(outputs_, replacements, false));
}

STROP_IMPL Symbol Symbol::copy() const { return Symbol(detail::made_anew(outputs_, {}, true)); }

}  // namespace strop::inline v0
