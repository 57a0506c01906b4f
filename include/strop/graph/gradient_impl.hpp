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
#include <strop/op/gpu_map.hpp>
#include <strop/op/names.hpp>
#include <strop/tensor/create.hpp>

#include <algorithm>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace strop::inline v0 {
namespace detail {

inline constexpr int most_summed = 4;

template <class V, int N>
void sum_loop(const void*, const void* const* in, void* const* out, std::int64_t n) {
  V* y = static_cast<V*>(out[0]);
  const V* x[std::size_t{N}];
  for (int k = 0; k < N; ++k) x[k] = static_cast<const V*>(in[k]);
  for (std::int64_t i = 0; i < n; ++i) {
    V total = x[0][i];
    for (int k = 1; k < N; ++k) total = static_cast<V>(total + x[k][i]);
    y[i] = total;
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

constexpr Entry plain_map(std::string_view name, std::string_view doc, int inputs, MapLoops loops) {
  Entry e;
  e.name = e.snake = e.qualified = name;
  e.doc = doc;
  e.library = e.same_shape = true;
  e.inputs = e.min_inputs = inputs;
  e.dtypes = any_dtype;
  e.loops = loops;
  e.facts.kept = [](const void*, Dtype) { return std::uint64_t{0}; };
  return e;
}

/// On a GPU the driver alone adds and fills, so that no kernel has to be in the program.
STROP_IMPL void sum_on_gpu(const GpuMap& call, Cuda& ctx) {
  const memory::GpuDriver& driver = memory::detail::driver_for(ctx.device());
  const std::int64_t n = call.common.size();
  if (n == 0) return;
  const MapOperand& out = call.out[0];
  const bool add = out.request == Request::add;
  Index first = -1;  // what lies in the result already
  for (Index k = 0; k < call.in.size(); ++k)
    if (call.in[k].data == out.data) first = k;
  if (!add && first < 0) {
    first = 0;
    driver.copy(ctx.device(), out.data, ctx.device(), call.in[0].data, n * size_of(call.dtype));
  }
  for (Index k = 0; k < call.in.size(); ++k)
    if (add || k != first) driver.add(ctx.device(), call.dtype, out.data, call.in[k].data, out.data, n);
}
template <int Value>
STROP_IMPL void fill_on_gpu(const GpuMap& call, Cuda& ctx) {
  const MapOperand& out = call.out[0];
  const NDArray values = full(out.shape, Value, call.dtype, ctx.device());
  if (values.size() == 0) return;
  if (out.request == Request::add)
    memory::detail::driver_for(ctx.device())
        .add(ctx.device(), call.dtype, out.data, values.bytes(), out.data, values.size());
  else
    memory::detail::copy_bytes(ctx.device(), out.data, ctx.device(), values.bytes(),
                               values.size() * size_of(call.dtype));
}
inline constexpr Kernels sum_launch{{&sum_on_gpu}};
template <int Value>
inline constexpr Kernels fill_launch{{&fill_on_gpu<Value>}};
template <int N>
inline constinit Slot sum_slot{.cuda = &sum_launch};
template <int Value>
inline constinit Slot fill_slot{.cuda = &fill_launch<Value>};

/// The sum of N contributions to one gradient, in one pass.
template <int N>
constexpr Entry sum_entry(std::string_view name, std::string_view doc) {
  Entry e = plain_map(name, doc, N, {&sum_loop<float, N>, &sum_loop<double, N>, &sum_loop<std::int64_t, N>});
  e.signature = &same_shape_signature<N>;
  e.facts.operations = [](const void*) { return N - 1; };
  e.slot = &sum_slot<N>;
  e.facts.zero = [](const void*, Dtype, std::uint64_t zeros) { return zeros == (std::uint64_t{1} << N) - 1; };
  e.gradient.heads = 1;
  e.gradient.gives = (std::uint64_t{1} << N) - 1;
  e.gradient.compose = [](const void*, std::span<const NDArray> dy, std::span<const NDArray>) {
    return std::vector<NDArray>(N, dy[0]);
  };
  e.gradient.compose_symbols = [](const void*, std::span<const Symbol> dy, std::span<const Symbol>) {
    return std::vector<Symbol>(N, dy[0]);
  };
  return e;
}
inline constexpr Entry sum_entries[] = {sum_entry<2>("_grad_sum2", "The sum of two contributions to a gradient."),
                                        sum_entry<3>("_grad_sum3", "The sum of three contributions to a gradient."),
                                        sum_entry<4>("_grad_sum4", "The sum of four contributions to a gradient.")};

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
    enrol(sum_slot<2>, sum_entries[0]);
    enrol(sum_slot<3>, sum_entries[1]);
    enrol(sum_slot<4>, sum_entries[2]);
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
class GradientWalk {
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
      bool reached = loss_[n];
      for (int k = 0; k < node.outputs(); ++k) reached = reached || !parts_[graph_.value(n, k)].empty();
      if (reached) step(n);
      hand_on_zeros(n, reached);
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
      const Entry& entry = sum_entries[some.size() - 2];
      some = {plain_node(entry, std::move(some), cat(name, "_grad_sum"))};
    }
    parts = some;
    return parts[0];
  }
  NodeOutput output(int n, int k) const { return {Ref(&graph_.node(n)), k}; }
  NodeOutput head(int n, int k) {
    const Node& node = graph_.node(n);
    const NodeOutput total = summed(node.output_name(k), parts_[graph_.value(n, k)]);
    return total.node ? total : filled(zeros_entry, n, k, "_grad_zeros");
  }
  /// Of the output's shape and type, which is all that is seen of it.
  NodeOutput filled(const Entry& entry, int n, int k, std::string_view suffix) {
    const NodeOutput made = plain_node(entry, {output(n, k)}, cat(graph_.node(n).name, suffix));
    unread_.push_back({made.node, nullptr, 1});
    return made;
  }

  void step(int n) {
    const Node& node = graph_.node(n);
    const GradientRule& rule = node.entry->gradient;
    if (rule.compose_symbols != nullptr)
      step_composed(n);
    else if (rule.entry != nullptr)
      step_operator(n);
    else if (!rule.zero)
      fail("Error in node ", node.name, ": ", node.entry->name, " has no gradient", no_further_gradient(*node.entry),
           ", which ", wanted_name(), " needs",
           node.entry->params == &flow_table
               ? "; call the loop or branch on arrays, where its steps are recorded one by "
                 "one and have gradients of every order"
               : "");
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

  void hand_on_zeros(int n, bool reached) {
    const Node& node = graph_.node(n);
    const GradientRule& rule = node.entry->gradient;
    const bool none = rule.entry == nullptr && rule.compose_symbols == nullptr;
    bool zero = reached && (none || is_fused(node));
    for (int k = 0; k < node.outputs() && !reached; ++k) zero = zero || zeros_[graph_.value(n, k)];
    if (!zero) return;
    const std::uint64_t given = reached_inputs(n, true);
    for (Index i = 0; i < node.inputs.size(); ++i)
      if (leads(node.inputs[i]) && in_mask(given, i)) zeros_[graph_.value(node.inputs[i])] = true;
  }

  std::string wanted_name() const {
    for (int n = 0; n < graph_.size(); ++n)
      if (graph_.node(n).is_variable() && leads_[graph_.value(n, 0)])
        return cat("the gradient of '", graph_.node(n).name, "'");
    return "the gradient that is asked for";
  }

  void step_composed(int n) {
    const Node& node = graph_.node(n);
    List<Symbol> heads;
    for (int k = 0; k < (node.entry->gradient.heads == every ? node.outputs() : 1); ++k) {
      const bool starts = loss_[n] && parts_[graph_.value(n, k)].empty();
      heads.push_back(Symbol(starts ? filled(ones_entry, n, k, "_grad_ones") : head(n, k)));
    }
    List<Symbol> in;
    for (const NodeOutput& from : node.inputs) in.push_back(Symbol(from));
    // Optional inputs that were left out are empty symbols.
    while (in.size() < node.entry->inputs) in.push_back(Symbol());
    const NameScope names(cat(node.name, "_backward_"));
    const PlacedLike place(node);
    const std::vector<Symbol> gradients = node.entry->gradient.compose_symbols(node.op(), heads, in);
    if (std::ssize(gradients) > in.size())
      fail("Error in node ", node.name, ": the gradient of ", node.entry->name, " returned ", gradients.size(),
           " results for ", in.size(), " inputs");
    int i = 0;
    for (const Symbol& gradient : gradients) {
      if (i < node.inputs.size() && gradient.defined()) contribute(node.inputs[i], gradient.outputs()[0]);
      ++i;
    }
    find_unread(node, heads, gradients);
  }

  /// Of inputs that a composed gradient does not read, its parts see shape and type.
  void find_unread(const Node& node, const List<Symbol>& heads, const std::vector<Symbol>& gradients) {
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

  void step_operator(int n) {
    const Node& node = graph_.node(n);
    const GradientRule& rule = node.entry->gradient;
    const Ref<Node> made(new Node);
    made->name = cat(node.name, "_backward");
    made->entry = rule.entry;
    made->params = node.params;
    made->attributes = node.attributes;
    const GradientRoles roles = gradient_roles(rule, node.inputs.size(), node.outputs());
    for (const GradientArgument& argument : roles.takes)
      made->inputs.push_back(argument.role == Role::head ? head(n, argument.at)
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
