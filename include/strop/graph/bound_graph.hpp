// SPDX-License-Identifier: Apache-2.0
/// \file
/// BoundGraph: a graph with its arrays, the steps that it runs and where their values lie: all that an Executor holds.
/// Its members stand in executor_bind_impl.hpp, executor_steps_impl.hpp, executor_memory_impl.hpp,
/// executor_gradient_impl.hpp and executor_run_impl.hpp. Internal.
#pragma once
#include <strop/core/fork.hpp>
#include <strop/graph/control/flow.hpp>
#include <strop/graph/gradient.hpp>
#include <strop/graph/graph.hpp>
#include <strop/graph/passes/known_graph.hpp>
#include <strop/graph/placement.hpp>
#include <strop/graph/plan.hpp>
#include <strop/graph/steps.hpp>
#include <strop/graph/symbol.hpp>
#include <strop/tensor/arena.hpp>

#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace strop::inline v0::detail {

/// What comes to an output of a graph from what was computed of it.
enum class Head : std::uint8_t { none, zero, gradient };

/// Arenas, one for each device, and who has used them last.
struct ArenaUse : Counted {
  List<Ref<Arena>> arenas;
  std::uint64_t turn = 0;
  List<Ref<Buffer>> blocks;  // of the last one
};
/// The arenas of executors that run one after the other. One that was bound to smaller ones moves when it runs forward.
class ArenaPool : public Counted {
 public:
  explicit ArenaPool(Ref<ArenaUse> first) : now_(std::move(first)) {}
  /// The arenas that a run moves to. Another thread that binds may put larger ones in their place at any time.
  Ref<ArenaUse> now() {
    const std::lock_guard lock(changing_);
    return now_;
  }
  /// Puts f(arenas of now) in their place; those are there afterwards.
  template <class F>
  Ref<ArenaUse> replace(F&& f) {
    Ref<ArenaUse> before;  // goes when the lock is free again
    const std::lock_guard lock(changing_);
    before = now_;
    return now_ = f(now_);
  }

  std::atomic<bool> running{false};
  std::uint64_t turns = 0;  // for the one that is running

 private:
  ForkMutex changing_;
  Ref<ArenaUse> now_;
};
struct BoundGraph;

/// Copies the elements of one array to another of the same shape on the same device, or adds them.
void copy_into(const NDArray& from, const NDArray& to, Request request = Request::write);
void set_to_zero(const NDArray& a);

struct Monitor;
struct PassGraph;
class Inference;
/// How executors that share an arena take turns. Programs in which none shares do not have it.
struct Sharing {
  void (*fit)(BoundGraph&);                  // before blocks are taken, makes the arenas large enough
  void (*enter)(BoundGraph&, bool forward);  // around a run
  void (*leave)(BoundGraph&) noexcept;
};

/// All that an executor holds.
struct BoundGraph : Counted {
  Symbol symbol;
  NodeOutputs net;  // what runs in its place, output by output
  Device device;
  NamedArrays args, grads, aux;
  std::vector<NDArray> outputs;

  List<Request> requests;  // of the gradients, per argument
  List<bool> joint;        // of the gradients: another's goes to the same memory
  NodeOutputs arg_nodes, aux_nodes, heads;
  List<Head> coming;          // of the outputs; empty: a gradient to each
  List<Ref<KeptState>> kept;  // shared with the graph that runs in place of this one while a monitor looks on
  List<NDArray> values;       // of every value of the graph
  List<NDArray> absent;       // for inputs that were left out, one for each device
  List<NDArray> shells;       // for inputs that are not read
  List<int> uses;             // how many read it
  List<int> head_values;      // of each output; −1: a loss head, or nothing depends on it
  List<Step> forward_steps, backward_steps;
  List<Segment> forward_segments, backward_segments;
  List<Delivery> deliveries;
  std::string no_gradient;  // why backward cannot run
  bool train = false, ran = false;
  bool sparse_heads = false;  // the last backward has brought one that is sparse
  /// Where the head gradients of the last backward lie. Their memory is held until the next one, which is what tells
  /// whether it brings the same arrays: another one cannot lie there.
  struct HeadPlace {
    Ref<Buffer> buffer;
    const std::byte* bytes = nullptr;
  };
  List<HeadPlace> last_heads;
  bool heads_stay = false;  // it did, dense ones
  Placement placement;
  List<Ref<Buffer>> blocks;  // of the arena
  bool overwrites = false;   // backward writes over what it reads of forward
  bool spent = false;        // and has done so
  List<int> output_values;

  NamedDevices groups;   // devices of what has a ctx_group
  List<Device> devices;  // of every value, where there are groups
  struct Region {        // of the placement: what lies in the arena of one device
    Device device;
    std::int64_t offset, bytes;
  };
  List<Region> regions;
  Ref<ArenaUse> arenas;
  const Sharing* sharing = nullptr;  // with an arena pool
  Ref<ArenaPool> pool;
  std::uint64_t turn = 0;  // in the pool, when this one used it last
  bool lost = false;       // another one has, since forward

  Ref<Monitor> monitor;
  Ref<BoundGraph> watched;  // what runs in place of this one while a monitor looks on: its nodes as they are written
  void (*show)(BoundGraph&, const Step&, bool results) = nullptr;
  bool as_written = false;  // each node computes what it is said to, and nothing else

  TurnLock running;           // held by whoever runs it, or changes what runs
  bool dry = false;           // it is planned, and not run
  bool side_by_side = false;  // as BindOptions says

  /// A state of a copy of a node, which begins as the node's own state was at the last forward.
  struct Snapshot {
    NodeOutput made, of;
  };
  List<Snapshot> snapshots;
  List<int> own_states;                     // the values that they are
  List<std::pair<NDArray, NDArray>> saved;  // the states' arrays, from and to
  void (*save_states)(BoundGraph&) = nullptr;

  std::optional<KnownGraph> known_net;  // what was inferred of net, until it is planned

  // What the walk that makes gradients says of them.
  List<bool> reached;         // of what is wanted: whether it gets one, if only zeros
  NodeOutputs contributions;  // in the order in which they are best computed
  List<UnreadInputs> unread;

  BoundGraph(Symbol s, Device d);
  Device device_of(int value) const { return devices.empty() ? device : devices[value]; }
  BoundGraph& active() { return watched ? *watched : *this; }

  // In executor_bind_impl.hpp: the arrays.
  enum class Make : std::uint8_t { none, floating, all };
  void take_arrays(const NamedArrays& given, const NamedArrays& states);
  void take_gradients(const NamedArrays& given, const GradRequests& requests, Make make);
  void find_joint_gradients();
  BoundVariables variables() const;
  const NDArray& named(const NamedArrays& arrays, const char* what, std::string_view name) const;
  Executor as_executor();
  Executor reshape(const NamedShapes& shapes);
  void set_arguments(const NamedArrays& inputs);
  void gather_params(const NamedArrays& from, const NamedArrays& to, const char* what, bool allow_extra,
                     List<NDArray>& sources, List<NDArray>& places) const;

  // In executor_steps_impl.hpp: what runs.
  /// What follows from gradients in plan(): a function, so that programs without gradients do without its code.
  using Place = void (*)(BoundGraph&, const Graph&, Inference&, const NodeOutputs& gradients);
  void optimize(const NodeOutputs& wanted);
  void plan(const NodeOutputs& gradients, Place place);
  Index find_state(const Node& node);
  List<Node*> order_of_nodes(const Graph& ahead, const NodeOutputs& gradients) const;
  void find_unread(const Graph& graph, Inference& inference);
  void drop_unused(List<Step>& steps);
  void run_early(List<Step>& steps) const;
  void add_in_place(List<Step>& steps, Inference& inference);
  bool takes_add(const Step& step, Inference& inference, int value) const;
  const NDArray* absent_on(Device there);
  void resolve_steps(Inference& inference, List<Step>& steps);

  // In executor_memory_impl.hpp: where values lie.
  void make_values(const Graph& graph, Inference& inference);
  void add_shares(MemoryTask::Step& task, Inference& inference, const Step& step,
                  const List<std::int64_t>& bytes) const;
  void find_places(const MemoryTask& task);
  void make_arena(Inference& inference);
  List<Ref<Buffer>> parts_of(const ArenaUse& use) const;
  void use_parts(List<Ref<Buffer>> parts) noexcept;
  void share_with(const Executor* other);
  MemoryPlan memory_plan() const;
  std::int64_t body_bytes(List<const FlowBodies*>& met) const;

  // In executor_gradient_impl.hpp.
  NodeOutputs gradient_nodes(const NodeOutputs& wanted);
  void make_gradients(PassGraph& graph);
  void place_gradients(const Graph& graph, Inference& inference, const NodeOutputs& gradients, bool make);
  void set_heads(Span<const NDArray> given);
  void check_repeatable() const;
  void backward(Span<const NDArray> given);

  // In executor_run_impl.hpp.
  void forward(bool training);
  void run(List<Step>& steps, List<Segment>& segments);
  void run_one_by_one(List<Step>& steps);
  void run_step(Step& step);
  void run_on_patterns(Step& step);
  void make_segments();
  void make_segments(const List<Step>& steps, List<Segment>& segments) const;
  bool is_ordered(const Step& step) const;
  void compare_heads();
  bool goes_as_one(const List<Step>& steps, const Segment& segment) const;
  void push(const List<Step>& steps, Segment& segment);
  void watch(const Ref<Monitor>& by);
};

/// One run, of an executor that may share its arenas: it has them to itself meanwhile.
class Turn {
 public:
  Turn(BoundGraph& graph, bool forward) : graph_(graph) {
    if (graph_.sharing != nullptr) graph_.sharing->enter(graph_, forward);
  }
  ~Turn() {
    if (graph_.sharing != nullptr) graph_.sharing->leave(graph_);
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

 private:
  BoundGraph& graph_;
};

}  // namespace strop::inline v0::detail
