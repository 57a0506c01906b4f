// SPDX-License-Identifier: Apache-2.0
/// \file
/// The walk from the outputs of a graph backwards that makes its gradients.
#pragma once
#include <strop/core/config.hpp>
#include <strop/graph/control/flow.hpp>
#include <strop/graph/gradient.hpp>
#include <strop/graph/graph.hpp>
#include <strop/graph/naming.hpp>
#include <strop/graph/passes/fused_map.hpp>
#include <strop/graph/symbol_impl.hpp>
#include <strop/op/contributions_impl.hpp>
#include <strop/op/names.hpp>
#include <strop/op/reverse.hpp>
#include <strop/tensor/create.hpp>

#include <algorithm>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace strop::inline v0 {
namespace detail {

template <class V, int Value>
void fill_loop(const void*, const void* const*, void* const* out, std::int64_t n) {
  std::fill_n(static_cast<V*>(out[0]), n, V{Value});
}
template <int Value>
STROP_IMPL void fill_on_gpu(const GpuMap& call, Cuda& ctx) {
  const MapOperand& out = call.out[0];
  const NDArray values = full(out.shape, Value, call.dtype, ctx.device());
  if (values.size() == 0) return;
  if (out.request == Request::add)
    memory::detail::driver_for(ctx.device())
        .add(ctx.device(), call.dtype, out.data, values.bytes(), out.data, values.size(), ctx.stream());
  else
    memory::detail::copy_bytes(ctx.device(), out.data, ctx.device(), values.bytes(),
                               values.size() * size_of(call.dtype));
}
template <int Value>
inline constexpr Kernels fill_launch{{&fill_on_gpu<Value>}};
template <int Value>
inline constinit Slot fill_slot{.cuda = &fill_launch<Value>};

/// Zeros (ones) of the shape, type and, of zeros, storage of the input.
template <int Value>
constexpr Entry fill_entry(std::string_view name, std::string_view doc) {
  Entry e =
      plain_map(name, doc, 1, {&fill_loop<float, Value>, &fill_loop<double, Value>, &fill_loop<std::int64_t, Value>});
  e.signature = &same_shape_signature<1>;
  e.slot = &fill_slot<Value>;
  e.facts.zero = [](const void*, Dtype, std::uint64_t) { return Value == 0; };
  e.gradient.zero = true;
  return e;
}
inline constexpr Entry zeros_entry = fill_entry<0>("_grad_zeros", "Zeros of the shape, type and storage of the input.");
inline constexpr Entry ones_entry = fill_entry<1>("_grad_ones", "Ones of the shape and type of the input.");

STROP_IMPL void enrol_gradient_operators() {
  static const bool once = [] {
    enrol(sum_slot<2>, sum_entry<2>);
    enrol(sum_slot<3>, sum_entry<3>);
    enrol(sum_slot<4>, sum_entry<4>);
    enrol(fill_slot<0>, zeros_entry);
    enrol(fill_slot<1>, ones_entry);
    return true;
  }();
  static_cast<void>(once);
}

STROP_IMPL NodeOutput plain_node(const Entry& entry, NodeOutputs in, std::string name) {
  const Ref<Node> node(new Node);
  node->name = std::move(name);
  node->entry = &entry;
  node->params = Ref(new ParamBox(nullptr));
  entry.signature(nullptr, static_cast<int>(in.size()), node->signature);
  node->inputs = std::move(in);
  return {node, 0};
}

/// While it lives, nodes that this thread makes are on the devices of this one: of the parts of its gradient those that
/// have no inputs, which say where all others are. They have no other attributes.
class PlacedLike {
 public:
  explicit PlacedLike(const Node& node) {
    NamedTexts group;
    if (const std::string* const name = find_text(node.attributes, "__ctx_group__")) group = {{"__ctx_group__", *name}};
    before_ = std::exchange(naming().attributes, std::move(group));
  }
  ~PlacedLike() { naming().attributes = std::move(before_); }
  PlacedLike(const PlacedLike&) = delete;
  PlacedLike& operator=(const PlacedLike&) = delete;

 private:
  NamedTexts before_;
};

/// One walk from the outputs of a graph back to what gradients are wanted of.
class GradientWalk : Reverse<GradientWalk> {
  friend Reverse;
  static constexpr Index most_parts = 64;  // of one composed gradient, that are looked at

 public:
  GradientWalk(const NodeOutputs& outputs, const NodeOutputs& wanted) : graph_(both(outputs, wanted)) {
    parts_.resize(graph_.values());
    leads_.resize(graph_.values());
    zeros_.resize(graph_.values());
    loss_.resize(graph_.size());
    below_.resize(graph_.size());
    for (const NodeOutput& w : wanted) leads_[graph_.value(w)] = true;
    for (int n = 0; n < graph_.size(); ++n)
      if (leads_through(n))
        for (int k = 0; k < graph_.node(n).outputs(); ++k) leads_[graph_.value(n, k)] = true;
  }

  /// The gradient that comes from above to an output of the graph; none for a loss head.
  void start(const NodeOutput& output, const NodeOutput& head) {
    if (!output.node->is_variable() && output.node->entry->gradient.of_loss())
      loss_[graph_.find(output.node.get())] = true;
    else if (head.node)
      parts_[graph_.value(output)].push_back(head);
  }

  /// Zeros come from above, and nothing else: the tape computes nothing from them, and hands them on.
  void start_zero(const NodeOutput& output) {
    zeros_[graph_.value(output)] = true;
    below_[graph_.find(output.node.get())] = true;
  }

  void run() {
    for (int n = graph_.size(); n-- > 0;) {
      const Node& node = graph_.node(n);
      if (node.is_variable() || !leads_through(n)) continue;
      if (below_[n] && node.entry->gradient.of_loss()) loss_[n] = true;
      const Coming coming = coming_to(n);
      differentiate(n, coming);
      const bool reached = coming == Coming::gradients;
      if (reached && is_fused(node)) give_zeros(n);
      if (reached || below_[n])
        for (const NodeOutput& in : node.inputs)
          if (leads(in)) below_[graph_.find(in.node.get())] = true;
    }
  }

  /// The gradient of a value; none where nothing leads to it.
  NodeOutput gradient(const NodeOutput& of) { return summed(of.node->output_name(of.index), parts_[graph_.value(of)]); }

  /// Whether a value that has no gradient gets zeros.
  bool is_zero(const NodeOutput& of) const { return zeros_[graph_.value(of)]; }

  /// What was made, from the outputs to the inputs: in this order each value is needed for the shortest time.
  const NodeOutputs& contributions() const { return made_; }
  /// Which inputs gradients do not read.
  const List<UnreadInputs>& unread() const { return unread_; }

 private:
  static NodeOutputs both(NodeOutputs a, const NodeOutputs& b) {
    for (const NodeOutput& one : b) a.push_back(one);
    return a;
  }
  bool leads(const NodeOutput& in) const { return in.node && leads_[graph_.value(in)]; }
  bool leads_through(int n) const {
    if (!graph_.node(n).is_variable() && graph_.node(n).entry->gradient.constant) return false;
    for (const NodeOutput& in : graph_.node(n).inputs)
      if (leads(in)) return true;
    return false;
  }
  /// Contributions are added up as they come, so that few of them are there at once.
  void contribute(const NodeOutput& to, const NodeOutput& part) {
    if (!leads(to) || !part.node) return;
    made_.push_back(part);
    NodeOutputs& parts = parts_[graph_.value(to)];
    parts.push_back(part);
    if (parts.size() == most_summed) made_.push_back(summed(to.node->output_name(to.index), parts));
  }

  /// The sum of the parts, some at a time from the first to the last; the list keeps the total alone.
  static NodeOutput summed(const std::string& name, NodeOutputs& parts) {
    if (parts.empty()) return {};
    NodeOutputs some{parts[0]};
    for (int i = 1; i < parts.size(); ++i) {
      some.push_back(parts[i]);
      if (some.size() < most_summed && i + 1 < parts.size()) continue;
      const Entry& entry = some.size() == 2 ? sum_entry<2> : some.size() == 3 ? sum_entry<3> : sum_entry<4>;
      some = {plain_node(entry, std::move(some), cat(name, "_grad_sum"))};
    }
    parts = some;
    return parts[0];
  }
  NodeOutput output(int n, int k) const { return {Ref(&graph_.node(n)), k}; }
  // What Reverse asks of a call, which is the number of a node.
  using Value = Symbol;
  static constexpr std::string_view plural = "results";
  const Entry& entry(int n) const { return *graph_.node(n).entry; }
  std::string_view name(int n) const { return entry(n).name; }
  int inputs(int n) const { return static_cast<int>(graph_.node(n).inputs.size()); }
  int outputs(int n) const { return graph_.node(n).outputs(); }
  bool is_loss(int n) const { return loss_[n]; }
  static bool is_composed(const GradientRule& rule) { return rule.compose_symbols != nullptr; }
  Coming comes(int n, int k) const {
    const int v = graph_.value(n, k);
    return !parts_[v].empty() ? Coming::gradients : zeros_[v] ? Coming::zeros : Coming::nothing;
  }
  NodeOutput gradient(int n, int k) { return summed(graph_.node(n).output_name(k), parts_[graph_.value(n, k)]); }
  NodeOutput zeros(int n, int k) { return filled(zeros_entry, n, k, "_grad_zeros"); }
  static void begin(int) {}
  static bool gives_small(int) { return false; }
  Symbol head(int n, int k) {
    const bool starts = loss_[n] && comes(n, k) != Coming::gradients;
    return Symbol(starts ? filled(ones_entry, n, k, "_grad_ones") : head_or_zeros(n, k));
  }
  Symbol input(int n, int i) const { return Symbol(graph_.node(n).inputs[i]); }
  std::vector<Symbol> composed(int n, const List<Symbol, 4>& heads, const List<Symbol, 4>& in) {
    const Node& node = graph_.node(n);
    const NameScope names(cat(node.name, "_backward_"));
    const PlacedLike place(node);
    std::vector<Symbol> gradients = node.entry->gradient.compose_symbols(node.op(), heads, in);
    find_unread(node, heads, gradients);
    return gradients;
  }
  void give(int n, int i, const Symbol& gradient) { contribute(graph_.node(n).inputs[i], gradient.outputs()[0]); }
  template <class... Parts>
  [[noreturn]] void fail_at(int n, const Parts&... parts) const {
    fail("Error in node ", graph_.node(n).name, ": ", parts...);
  }

  /// Of the output's shape and type, which is all that is seen of it.
  NodeOutput filled(const Entry& entry, int n, int k, std::string_view suffix) {
    const NodeOutput made = plain_node(entry, {output(n, k)}, cat(graph_.node(n).name, suffix));
    unread_.push_back({made.node, nullptr, 1});
    return made;
  }

  /// Inputs that a gradient, or zeros as well, may come to: of a fused map not each result was computed from all of
  /// them.
  std::uint64_t reached_inputs(int n, bool by_zeros) const {
    std::uint64_t found = 0;
    for (int k = 0; k < graph_.node(n).outputs(); ++k)
      if (const int v = graph_.value(n, k); !parts_[v].empty() || (by_zeros && zeros_[v]))
        found |= sources_of(graph_.node(n), k);
    return found;
  }

  void give_zeros(int n) {
    const Node& node = graph_.node(n);
    const std::uint64_t given = reached_inputs(n, true);
    for (Index i = 0; i < node.inputs.size(); ++i)
      if (leads(node.inputs[i]) && in_mask(given, i)) zeros_[graph_.value(node.inputs[i])] = true;
  }

  std::string needed_by(int n) const {
    std::string wanted = "the gradient that is asked for";
    for (int v = graph_.size(); v-- > 0;)
      if (graph_.node(v).is_variable() && leads_[graph_.value(v, 0)])
        wanted = cat("the gradient of '", graph_.node(v).name, "'");
    return cat(", which ", wanted, " needs",
               entry(n).params == &flow_table ? "; call the loop or branch on arrays, where its steps are recorded one "
                                                "by one and have gradients of every order"
                                              : "");
  }

  /// Of inputs that a composed gradient does not read, its parts see shape and type.
  void find_unread(const Node& node, const List<Symbol, 4>& heads, const std::vector<Symbol>& gradients) {
    const auto is_unread = [&](const NodeOutput& from) {
      bool unread = false;
      for (Index i = 0; i < node.inputs.size(); ++i) {
        const NodeOutput& in = node.inputs[i];
        if (in.node != from.node || in.index != from.index) continue;
        if (in_mask(node.entry->gradient.in, i)) return false;
        unread = static_cast<bool>(in.node);
      }
      return unread;
    };
    bool any = false;
    for (const NodeOutput& in : node.inputs) any = any || is_unread(in);
    if (!any) return;
    List<Ref<Node>> parts;
    const auto visit = [&](const NodeOutput& from) {
      const Ref<Node>& part = from.node;
      bool known = !part || part->is_variable() || graph_.find(part.get()) >= 0;
      for (const Symbol& head : heads) known = known || head.outputs()[0].node == from.node;
      for (const Ref<Node>& other : parts) known = known || other == part;
      if (!known && parts.size() < most_parts) parts.push_back(part);
    };
    for (const Symbol& gradient : gradients)
      if (gradient.defined()) visit(gradient.outputs()[0]);
    for (Index at = 0; at < parts.size(); ++at) {
      const Ref<Node> part = parts[at];
      std::uint64_t unread = 0;
      for (Index i = 0; i < part->inputs.size(); ++i) {
        if (i < 64 && is_unread(part->inputs[i])) unread |= std::uint64_t{1} << i;
        visit(part->inputs[i]);
      }
      if (unread != 0) unread_.push_back({part, nullptr, unread});
    }
  }

  void step_stated(int n) {
    const Node& node = graph_.node(n);
    const GradientRule& rule = node.entry->gradient;
    const Ref<Node> made(new Node);
    made->name = cat(node.name, "_backward");
    made->entry = rule.entry;
    made->params = node.params;
    made->attributes = node.attributes;
    const GradientRoles roles = gradient_roles(rule, node.inputs.size(), node.outputs());
    for (const GradientArgument& argument : roles.takes)
      made->inputs.push_back(argument.role == Role::head ? head_or_zeros(n, argument.at)
                             : argument.role == Role::in ? node.inputs[argument.at]
                                                         : output(n, argument.at));
    made->signature.inputs.assign(unsigned_size(made->inputs.size()), "argument");
    for (int k : roles.gives) {
      made->like.push_back(node.inputs[k]);
      made->signature.outputs.push_back(element(node.signature.inputs, k));
    }
    if (rule.in != 0 && node.entry->facts.kept != nullptr) unread_.push_back({made, &node, 0});
    const auto results = static_cast<int>(made->like.size());
    made->signature.visible = results;
    const std::uint64_t given = is_fused(node) ? reached_inputs(n, false) : every;
    for (int k = 0; k < results; ++k)
      if (in_mask(given, roles.gives[k])) contribute(made->like[k], {made, k});
  }

  Graph graph_;
  List<NodeOutputs> parts_;  // contributions to the gradient of each value
  List<bool> leads_, loss_;  // values that what is wanted leads to; nodes that are loss heads
  List<bool> zeros_;         // values that get zeros, and may get more
  List<bool> below_;         // nodes that the walk has come down to, if only by gradients that are zero
  NodeOutputs made_;
  List<UnreadInputs> unread_;
};

}  // namespace detail

STROP_IMPL std::vector<Symbol> gradients(const Symbol& of, std::span<const Symbol> wrt, std::span<const Symbol> heads) {
  detail::enrol_gradient_operators();
  detail::NodeOutputs wanted;
  for (const Symbol& symbol : wrt) {
    if (symbol.size() != 1)
      fail("gradients: gradients are with respect to single outputs; this symbol has ", symbol.size());
    wanted.push_back(symbol.outputs()[0]);
  }
  if (!heads.empty() && std::ssize(heads) != of.size())
    fail("gradients: ", heads.size(), " head gradients for ", of.size(), " outputs");
  detail::GradientWalk walk(of.outputs(), wanted);
  std::size_t i = 0;
  for (const detail::NodeOutput& output : of.outputs()) {
    const bool given = i < heads.size() && heads[i].size() == 1;
    walk.start(output, given ? heads[i].outputs()[0]
                             : detail::plain_node(detail::ones_entry, {output}, cat(output.node->name, "_grad_ones")));
    ++i;
  }
  walk.run();
  std::vector<Symbol> out;
  for (const detail::NodeOutput& w : wanted) {
    const detail::NodeOutput found = walk.gradient(w);
    out.push_back(
        Symbol(found.node ? found : detail::plain_node(detail::zeros_entry, {w}, cat(w.node->name, "_grad_zeros"))));
  }
  return out;
}

}  // namespace strop::inline v0
