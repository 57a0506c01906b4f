// SPDX-License-Identifier: Apache-2.0
/// \file
/// Flow: a loop or a branch as the parameter of a node. It holds sub-graphs, and how their inputs and outputs are those
/// of the node.
#pragma once
#include <strop/core/fork.hpp>
#include <strop/core/installed.hpp>
#include <strop/graph/control/inference_memory.hpp>
#include <strop/graph/node.hpp>

#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace strop::inline v0::detail {

/// The attribute that nodes made inside the body of a loop or a branch have; its text tells bodies apart.
inline constexpr std::string_view body_key = "__subgraph_name__";

/// A part of a graph with variables where it is cut out.
struct SubGraph {
  NodeOutputs outputs;
  NodeOutputs inputs;      // its variables, in the order in which a walk from the outputs meets them
  List<int> links;         // which input of the node each of them is
  List<bool> written;      // whether a node of the sub-graph writes it
  NodeOutputs results;     // what it computes, each once; copies at its end are left out
  List<int> result_of;     // of each output: which result it is; ~i where it is input i
  bool resources = false;  // whether an operator in it asks for some, such as random numbers
  bool states = false;     // whether one keeps a state

  /// Everything that follows from `outputs`; links are to be set.
  explicit SubGraph(NodeOutputs of);
  SubGraph() = default;
  /// The input that stands for input `link` of the node; −1 where it has none.
  int input_for(int link) const {
    for (int i = 0; i < links.size(); ++i)
      if (links[i] == link) return i;
    return -1;
  }
};

enum class FlowKind : std::uint8_t { foreach, while_loop, cond };

/// The bound bodies of a flow, which who runs it knows.
struct FlowBodies : Counted {
  virtual ~FlowBodies() = default;
  /// The arenas of those that are not at work, and of bodies in them that are not among those that were `met`.
  virtual std::int64_t bytes(List<const FlowBodies*>& met) = 0;
};

/// What is computed by running sub-graphs. Its node gives what a caller sees, and behind that what the gradient needs:
/// the states after each step, what stood in written inputs before it, where its random numbers come from, and how many
/// steps there were or which branch it was. The gradient runs the body once more for each step, and then its gradient.
struct Flow : Counted {
  FlowKind kind = FlowKind::foreach;
  List<SubGraph> graphs;  // the body; of while_loop the condition before it; of cond the predicate, then and else
  int inputs = 0;
  int data = 0;           // of foreach: the first inputs, of which a step sees an entry of the first axis
  List<int> states;       // inputs that are the loop's states
  int stacked = 0;        // outputs of the body that are collected along a new first axis; states come behind them
  std::int64_t most = 0;  // steps of while_loop, at most
  List<bool> written;     // of each input: whether a body writes it
  List<std::string> input_names, output_names;

  int visible = 0, outputs = 0;
  List<int> history;  // of each state: the output that has its values after each step
  List<int> before;  // of each input: the output that has what stood in it before each step; −1 where it is not written
  int drawn = -1;    // the output that random numbers follow from; −1 where no operator draws any
  int taken = -1;    // the output that says how many steps while_loop made, or which branch cond took
  Entry entry, gradient_entry;
  mutable InferenceMemory<Shape> shapes[3];  // of each graph, of which there are three at most
  mutable InferenceMemory<std::optional<Dtype>> types[3];
  mutable ForkMutex binding;
  mutable Ref<FlowBodies> bodies;

  bool is_loop() const { return kind != FlowKind::cond; }
  /// The graph that a step runs, or a branch.
  const SubGraph& body(int branch = 0) const { return graphs[kind == FlowKind::foreach ? 0 : 1 + branch]; }
  SubGraph& body(int branch = 0) { return graphs[kind == FlowKind::foreach ? 0 : 1 + branch]; }
  std::string_view name() const { return entry.snake; }
  /// Which state an input is; −1 where it is none.
  int state_of(int input) const {
    for (int j = 0; j < states.size(); ++j)
      if (states[j] == input) return j;
    return -1;
  }
  /// Whether the bodies are given a sparse array as it is: where they read it from outside, as a whole.
  bool takes_sparse(int input) const {
    return input >= data && state_of(input) < 0 && !written[input] &&
           (kind == FlowKind::foreach || graphs[0].input_for(input) < 0);
  }
};

/// The parameters of the operators _foreach, _while_loop and _cond.
struct FlowOp {
  Ref<Flow> flow;
};
inline constexpr ParamTable flow_table{
    {},
    {},
    sizeof(FlowOp),
    alignof(FlowOp),
    [](const ParamTable&, void* p) { ::new (p) FlowOp{}; },
    [](const ParamTable&, void* to, const void* from) { ::new (to) FlowOp(*static_cast<const FlowOp*>(from)); },
    [](const ParamTable&, void* p) { static_cast<FlowOp*>(p)->~FlowOp(); },
    [](const ParamTable&, void* object, std::size_t) { return object; },
    false};

/// The flow of a node that is a loop or a branch; null for others.
inline const Flow* flow_of(const Node& node) {
  if (node.entry == nullptr || node.entry->params != &flow_table || node.entry->is_gradient()) return nullptr;
  return static_cast<const FlowOp*>(node.op())->flow.get();
}

/// Where the random numbers of a step begin: the same for forward and gradient. A condition has its own.
constexpr std::uint64_t flow_stream(std::int64_t step, bool condition = false) {
  return static_cast<std::uint64_t>(step) << 31 | (condition ? std::uint64_t{1} << 30 : 0);
}

/// A body in the making: nodes and variables that the thread makes while it lives belong to it.
class BodyScope {
 public:
  explicit BodyScope(std::string_view hint);
  ~BodyScope();
  BodyScope(const BodyScope&) = delete;
  BodyScope& operator=(const BodyScope&) = delete;
  /// Variables that stand for these symbols, of one output each, inside the body.
  std::vector<Symbol> variables(std::string_view what, const std::vector<Symbol>& of);
  const std::string& name() const { return name_; }
  /// Ends it.
  void close();

 private:
  std::string name_;
  NamedTexts before_;
  bool open_ = true;
};

/// Which outputs of a body need a node of their own, as they are variables, come from outside, or are there twice.
std::vector<bool> lacking_node(std::string_view scope, const std::vector<Symbol>& outputs);

/// Cuts bodies out of the graph in which they were made.
class BodyCutter {
 public:
  /// `own`: the variables that stand for the node's first inputs.
  SubGraph cut(std::string_view scope, const std::vector<Symbol>& outputs, const std::vector<Symbol>& own);
  /// What the bodies read from outside, which become inputs of the node behind the `own` ones.
  const NodeOutputs& outside() const { return outside_; }

 private:
  NodeOutputs outside_;
};

/// The node of a loop over entries, with all of its visible outputs. `own` stands for data and states in the body.
Symbol make_foreach(std::string_view scope, const std::vector<Symbol>& data, const std::vector<Symbol>& states,
                    const std::vector<Symbol>& own, const std::vector<Symbol>& outputs, const std::vector<Symbol>& next,
                    std::string_view name);
/// The same of a loop with a condition, which has a body of its own, and of a branch.
Symbol make_while(std::string_view of_condition, const std::vector<Symbol>& own_of_condition, const Symbol& condition,
                  std::string_view scope, const std::vector<Symbol>& own, const std::vector<Symbol>& states,
                  const std::vector<Symbol>& outputs, const std::vector<Symbol>& next, std::int64_t most,
                  std::string_view name);
/// The predicate is computed outside; its sub-graph passes `own`, which stands for it, on.
Symbol make_cond(std::string_view of_predicate, const std::vector<Symbol>& own, const Symbol& passed,
                 const Symbol& predicate, std::string_view of_then, const std::vector<Symbol>& then,
                 std::string_view of_else, const std::vector<Symbol>& otherwise, std::string_view name);

/// Completes a flow whose graphs, links and numbers are there. Throws Error where they do not suit each other.
void complete_flow(const Ref<Flow>& flow);
/// How flows run. Executors install it: graphs are made and read without.
void run_flow(const Call& call, Context& ctx);
void run_flow_gradient(const Call& call, Context& ctx);
struct FlowKernels {
  Kernels::Run forward = &run_flow, backward = &run_flow_gradient;
};
inline constexpr FlowKernels flow_kernels{};
inline constinit Installed<const FlowKernels> flow_runner{&flow_kernels};

/// "_foreach" and its like: which kind; −1 for other operators.
int flow_kind_of(std::string_view op);
/// What a file says of it besides its sub-graphs: num_args, in_data_locs and their like.
/// A position of −1: the body does not use it.
NamedTexts flow_attributes(const Flow& flow);
/// Throws Error where a file cannot say what the flow is.
void check_in_files(const Flow& flow, std::string_view node);
/// The flow of a node of a file, from its attributes and sub-graphs. Throws Error where they do not suit each other.
Ref<Flow> flow_of_file(FlowKind kind, int inputs, const std::vector<std::pair<std::string, std::string>>& attributes,
                       const std::vector<Symbol>& graphs);

}  // namespace strop::inline v0::detail
