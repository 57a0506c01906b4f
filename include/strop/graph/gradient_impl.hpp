// SPDX-License-Identifier: Apache-2.0
/// \file
/// The walk from the outputs of a graph backwards that makes its gradients.
#pragma once
#include <strop/core/config.hpp>
#include <strop/graph/gradient.hpp>
#include <strop/graph/graph.hpp>
#include <strop/graph/naming.hpp>
#include <strop/op/names.hpp>

#include <algorithm>
#include <span>
#include <string>
#include <vector>

namespace strop::inline v0 {
namespace detail {

inline constexpr int most_summed = 4;

template <class V, int N>
void sum_loop(const void*, const void* const* in, void* const* out, std::int64_t n) {
  V* y = static_cast<V*>(out[0]);
  const V* x[N];
  for (int k = 0; k < N; ++k) x[k] = static_cast<const V*>(in[k]);
  for (std::int64_t i = 0; i < n; ++i) {
    V sum = x[0][i];
    for (int k = 1; k < N; ++k) sum = static_cast<V>(sum + x[k][i]);
    y[i] = sum;
  }
}
template <class V, int Value>
void fill_loop(const void*, const void* const*, void* const* out, std::int64_t n) {
  std::fill_n(static_cast<V*>(out[0]), n, V{Value});
}
template <int N>
void same_shape_signature(const void*, int, Signature& s) {
  fill_signature({}, {}, {}, N, 1, 1, s);
}

constexpr Entry plain_map(std::string_view name, int inputs, MapLoops loops) {
  Entry e;
  e.name = e.snake = e.qualified = name;
  e.library = e.same_shape = true;
  e.inputs = e.min_inputs = inputs;
  e.dtypes = any_dtype;
  e.loops = loops;
  e.facts.kept = [](const void*, Dtype) { return std::uint64_t{0}; };
  return e;
}

/// The sum of N contributions to one gradient; of a single one, a copy.
template <int N>
constexpr Entry sum_entry() {
  Entry e = plain_map("_grad_sum", N, {&sum_loop<float, N>, &sum_loop<double, N>, &sum_loop<std::int64_t, N>});
  e.signature = &same_shape_signature<N>;
  e.facts.zero = [](const void*, Dtype, std::uint64_t zeros) { return zeros == (std::uint64_t{1} << N) - 1; };
  e.gradient.heads = 1;
  e.gradient.gives = (std::uint64_t{1} << N) - 1;
  e.gradient.compose = [](const void*, std::span<const NDArray> dy, std::span<const NDArray>) { return std::vector<NDArray>(N, dy[0]); };
  e.gradient.compose_symbols = [](const void*, std::span<const Symbol> dy, std::span<const Symbol>) { return std::vector<Symbol>(N, dy[0]); };
  return e;
}
inline constexpr Entry sum_entries[most_summed] = {sum_entry<1>(), sum_entry<2>(), sum_entry<3>(), sum_entry<4>()};

/// Zeros (ones) of the shape, type and, of zeros, storage of the input.
template <int Value>
constexpr Entry fill_entry(std::string_view name) {
  Entry e = plain_map(name, 1, {&fill_loop<float, Value>, &fill_loop<double, Value>, &fill_loop<std::int64_t, Value>});
  e.signature = &same_shape_signature<1>;
  e.facts.zero = [](const void*, Dtype, std::uint64_t) { return Value == 0; };
  e.gradient.zero = true;
  return e;
}
inline constexpr Entry zeros_entry = fill_entry<0>("_grad_zeros");
inline constexpr Entry ones_entry = fill_entry<1>("_grad_ones");

STROP_COLD NodeOutput plain_node(const Entry& entry, std::vector<NodeOutput> in, std::string name) {
  const Ref<Node> node(new Node);
  node->name = std::move(name);
  node->entry = &entry;
  node->params = Ref(new ParamBox(nullptr));
  entry.signature(nullptr, static_cast<int>(in.size()), node->signature);
  node->inputs = std::move(in);
  return {node, 0};
}

/// A loss head: its gradient needs none from above, so backward may start here without.
STROP_COLD bool is_loss(const Entry& entry) {
  return !entry.loss_note.empty() || (entry.gradient.entry != nullptr && entry.gradient.heads == 0);
}

/// One walk from the outputs of a graph back to what gradients are wanted of.
class GradientWalk {
 public:
  GradientWalk(std::span<const NodeOutput> outputs, std::span<const NodeOutput> wanted)
      : graph_(both(outputs, wanted)), parts_(count(graph_.values())), leads_(count(graph_.values())), loss_(count(graph_.size())) {
    for (const NodeOutput& w : wanted) leads_[count(graph_.value(w))] = 1;
    for (int n = 0; n < graph_.size(); ++n) {
      bool any = false;
      for (const NodeOutput& in : graph_.node(n).inputs) any = any || leads(in);
      for (int k = 0; any && k < graph_.node(n).outputs(); ++k) leads_[count(graph_.value(n, k))] = 1;
    }
  }

  /// The gradient that comes from above to an output of the graph; none for a loss head.
  void start(const NodeOutput& output, const NodeOutput& head) {
    if (output.node->entry != nullptr && is_loss(*output.node->entry)) loss_[count(graph_.find(output.node.get()))] = 1;
    else if (head.node) parts_[count(graph_.value(output))].push_back(head);
  }

  void run() {
    for (int n = graph_.size(); n-- > 0;) {
      if (graph_.node(n).entry == nullptr) continue;
      bool reached = loss_[count(n)] != 0, lead = false;
      for (int k = 0; k < graph_.node(n).outputs(); ++k) reached = reached || !parts_[count(graph_.value(n, k))].empty();
      for (const NodeOutput& in : graph_.node(n).inputs) lead = lead || leads(in);
      if (reached && lead) step(n);
    }
  }

  /// The gradient of a value; none where nothing leads to it.
  NodeOutput gradient(const NodeOutput& of) { return summed(of.node->output_name(of.index), parts_[count(graph_.value(of))]); }

 private:
  static std::size_t count(int n) { return static_cast<std::size_t>(n); }
  static std::vector<NodeOutput> both(std::span<const NodeOutput> a, std::span<const NodeOutput> b) {
    std::vector<NodeOutput> all(a.begin(), a.end());
    all.insert(all.end(), b.begin(), b.end());
    return all;
  }
  bool leads(const NodeOutput& in) const { return in.node && leads_[count(graph_.value(in))] != 0; }
  void contribute(const NodeOutput& to, const NodeOutput& part) {
    if (leads(to) && part.node) parts_[count(graph_.value(to))].push_back(part);
  }

  static NodeOutput summed(const std::string& name, std::vector<NodeOutput>& parts) {
    while (parts.size() > 1) {
      const auto now = static_cast<std::ptrdiff_t>(std::min(parts.size(), count(most_summed)));
      std::vector<NodeOutput> some(parts.begin(), parts.begin() + now);
      parts.erase(parts.begin() + 1, parts.begin() + now);
      parts[0] = plain_node(sum_entries[now - 1], std::move(some), cat(name, "_grad_sum"));
    }
    return parts.empty() ? NodeOutput() : parts[0];
  }
  NodeOutput head(int n, int k) {
    const Node& node = graph_.node(n);
    const NodeOutput sum = summed(node.output_name(k), parts_[count(graph_.value(n, k))]);
    return sum.node ? sum : plain_node(zeros_entry, {{Ref(&graph_.node(n)), k}}, cat(node.name, "_grad_zeros"));
  }

  void step(int n) {
    const Node& node = graph_.node(n);
    const GradientRule& rule = node.entry->gradient;
    if (rule.compose_symbols != nullptr) step_composed(n);
    else if (rule.entry != nullptr) step_operator(n);
    else if (!rule.zero)
      fail("Error in node ", node.name, ": ", node.entry->name, " has no gradient",
           node.entry->name.starts_with("_backward_") ? " of this order (derived gradients exist to order 3)" : "", ", which ", wanted_name(), " needs");
  }

  std::string wanted_name() const {
    for (int n = 0; n < graph_.size(); ++n)
      if (graph_.node(n).entry == nullptr && leads_[count(graph_.value(n, 0))] != 0) return cat("the gradient of '", graph_.node(n).name, "'");
    return "the gradient that is asked for";
  }

  void step_composed(int n) {
    const Node& node = graph_.node(n);
    std::vector<Symbol> heads;
    for (int k = 0; k < (node.entry->gradient.heads == every ? node.outputs() : 1); ++k)
      heads.push_back(Symbol({parts_[count(graph_.value(n, k))].empty() && loss_[count(n)] != 0
                                  ? plain_node(ones_entry, {{Ref(&graph_.node(n)), k}}, cat(node.name, "_grad_ones"))
                                  : head(n, k)}));
    std::vector<Symbol> in;
    for (const NodeOutput& from : node.inputs) in.push_back(Symbol({from}));
    // Optional inputs that were left out are empty symbols.
    while (std::ssize(in) < node.entry->inputs) in.emplace_back();
    const NameScope names(cat(node.name, "_backward_"));
    const std::vector<Symbol> gradients = node.entry->gradient.compose_symbols(node.op(), heads, in);
    if (gradients.size() > in.size())
      fail("Error in node ", node.name, ": the gradient of ", node.entry->name, " returned ", gradients.size(), " results for ", in.size(), " inputs");
    for (std::size_t i = 0; i < std::min(gradients.size(), node.inputs.size()); ++i)
      if (gradients[i]) contribute(node.inputs[i], gradients[i].outputs()[0]);
  }

  void step_operator(int n) {
    const Node& node = graph_.node(n);
    const GradientRule& rule = node.entry->gradient;
    const auto inputs = static_cast<int>(node.inputs.size());
    const Ref<Node> made(new Node);
    made->name = cat(node.name, "_backward");
    made->entry = rule.entry;
    made->params = node.params;
    made->attributes = node.attributes;
    // Tensors stand at the places that the masks say; an optional one that was left out keeps its place.
    const auto each = [](std::uint64_t mask, int there, auto take) {
      for (int k = 0; k < (mask == every ? there : 64); ++k)
        if ((mask >> (k < 64 ? k : 63) & 1U) != 0) take(k);
    };
    each(rule.heads, node.visible(), [&](int k) { made->inputs.push_back(k < node.outputs() ? head(n, k) : NodeOutput()); });
    each(rule.in, inputs, [&](int k) { made->inputs.push_back(k < inputs ? node.inputs[count(k)] : NodeOutput()); });
    each(rule.out, node.outputs(), [&](int k) { made->inputs.push_back(k < node.outputs() ? NodeOutput{Ref(&graph_.node(n)), k} : NodeOutput()); });
    made->signature.inputs.assign(made->inputs.size(), "argument");
    each(rule.gives, inputs, [&](int k) {
      if (k >= inputs) return;
      made->like.push_back(node.inputs[count(k)]);
      made->signature.outputs.push_back(node.signature.inputs[count(k)]);
    });
    made->signature.visible = static_cast<int>(made->like.size());
    for (std::size_t k = 0; k < made->like.size(); ++k) contribute(made->like[k], {made, static_cast<int>(k)});
  }

  Graph graph_;
  std::vector<std::vector<NodeOutput>> parts_;  // contributions to the gradient of each value
  std::vector<char> leads_, loss_;              // values that what is wanted leads to; nodes that are loss heads
};

}  // namespace detail

STROP_COLD std::vector<Symbol> gradients(const Symbol& of, std::span<const Symbol> wrt, std::span<const Symbol> heads) {
  std::vector<detail::NodeOutput> wanted;
  for (const Symbol& symbol : wrt) {
    if (symbol.size() != 1) fail("gradients: gradients are with respect to single outputs; this symbol has ", symbol.size());
    wanted.push_back(symbol.outputs()[0]);
  }
  if (!heads.empty() && heads.size() != of.size()) fail("gradients: ", heads.size(), " head gradients for ", of.size(), " outputs");
  detail::GradientWalk walk(of.outputs(), wanted);
  for (std::size_t i = 0; i < of.size(); ++i) {
    const detail::NodeOutput& output = of.outputs()[i];
    if (i < heads.size() && heads[i].size() == 1) walk.start(output, heads[i].outputs()[0]);
    else walk.start(output, detail::plain_node(detail::ones_entry, {output}, cat(output.node->name, "_grad_ones")));
  }
  walk.run();
  std::vector<Symbol> out;
  for (const detail::NodeOutput& w : wanted) {
    const detail::NodeOutput found = walk.gradient(w);
    out.push_back(Symbol({found.node ? found : detail::plain_node(detail::zeros_entry, {w}, cat(w.node->name, "_grad_zeros"))}));
  }
  return out;
}

}  // namespace strop::inline v0
