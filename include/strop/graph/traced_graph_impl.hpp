// SPDX-License-Identifier: Apache-2.0
/// \file
/// What a traced function leaves behind: its graph, and the ways in which that is replayed.
#pragma once
#include <strop/core/call_mode.hpp>
#include <strop/core/fork.hpp>
#include <strop/graph/bound_graph.hpp>
#include <strop/graph/control.hpp>
#include <strop/graph/executor.hpp>
#include <strop/tensor/cast.hpp>

#include <atomic>
#include <cstdint>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

namespace strop::inline v0::detail {

/// Elements of an array from number `first` on, under a shape: what a view or a copy is in a graph.
struct Derived {
  std::int64_t first = 0;
  Shape shape = {};
  bool linked = true;  // its gradient goes to the array
  bool apart = false;  // a copy: what is written into the array later is not seen in it
};

STROP_IMPL void derive_elements(const Call& call, Context&) {
  const Derived& op = *static_cast<const Derived*>(call.params);
  const NDArray &from = call.in(0), &to = call.out[0];
  const std::int64_t size = size_of(from.dtype());
  const std::byte* const first = from.bytes() + op.first * size;
  if (call.request(0) == Request::null || to.bytes() == first) return;
  memory::detail::copy_bytes(to.device(), to.bytes(), from.device(), first, to.size() * size);
}
/// The gradient: zero around the elements.
STROP_IMPL void spread_elements(const Call& call, Context&) {
  const Derived& op = *static_cast<const Derived*>(call.params);
  const NDArray &head = call.in(0), &to = call.out[0];
  const std::int64_t size = size_of(head.dtype());
  if (call.request(0) == Request::null || to.bytes() == head.bytes()) return;
  if (to.size() != head.size()) clear(to, to.size() * size);
  memory::detail::copy_bytes(to.device(), to.bytes() + op.first * size, head.device(), head.bytes(),
                             head.size() * size);
}
inline constexpr Kernels derived_kernels{.run = {&derive_elements, &spread_elements}};
inline constinit Slot derived_slot{.cuda = &derived_kernels};
inline constexpr Share derived_in_place[] = {{0, 0}};  // of as many elements, and so all of them
constexpr Entry make_derived_entry(std::string_view name, std::string_view doc) {
  Entry e;
  e.name = e.snake = e.qualified = name;
  e.doc = doc;
  e.library = true;
  e.dtypes = any_dtype;
  e.params = &param_table<Derived>;
  e.signature = [](const void*, int, Signature& s) { fill_signature({}, {}, {}, 1, 1, 1, s); };
  e.infer_shape = [](const void* op, Shapes& s) { s.set_out(0, static_cast<const Derived*>(op)->shape); };
  e.infer_type = [](const void*, Types& t) { t.set_out(0, t.in(0)); };
  e.inplace = derived_in_place;
  e.cpu = derived_kernels;
  e.slot = &derived_slot;
  return e;
}
constexpr Entry make_spread_entry() {
  Entry e = make_derived_entry("_backward__view", "The gradient of a view.");
  e.infer_shape = [](const void*, Shapes&) {};
  e.order = 1;
  return e;
}
inline constexpr Entry spread_entry = make_spread_entry();
constexpr Entry make_view_entry() {
  Entry e = make_derived_entry("_view", "Elements of an array under another shape.");
  e.gradient.entry = &spread_entry;
  e.gradient.heads = e.gradient.gives = 1;
  return e;
}
constexpr Entry make_detached_entry() {
  Entry e = make_derived_entry("_detached", "Elements of an array, without its history.");
  e.gradient.constant = true;
  return e;
}
inline constexpr Entry view_entry = make_view_entry(), detached_entry = make_detached_entry();
inline bool is_derived(const Node& node) { return node.params && node.entry->params == &param_table<Derived>; }

/// Numbers for addresses, the last one said holds.
class Addresses {
 public:
  int find(const void* address) const {
    if (slots_.empty()) return -1;
    return slot(address).number;
  }
  void set(const void* address, int number) {
    if (used_ * 2 >= slots_.size()) grow();
    Slot& s = slot(address);
    if (s.address == nullptr) ++used_;
    s = {address, number};
  }

 private:
  struct Slot {
    const void* address = nullptr;
    int number = -1;
  };
  Slot& slot(const void* address) const {
    const auto mask = slots_.size() - 1;
    auto at = (reinterpret_cast<std::uintptr_t>(address) >> 4) * 0x9e3779b97f4a7c15U >> 20 & mask;
    while (slots_[at].address != nullptr && slots_[at].address != address) at = (at + 1) & mask;
    return slots_[at];
  }
  void grow() {
    std::vector<Slot> before = std::exchange(slots_, std::vector<Slot>(slots_.empty() ? 64 : slots_.size() * 2));
    for (const Slot& s : before)
      if (s.address != nullptr) slot(s.address) = s;
  }
  mutable std::vector<Slot> slots_;
  std::size_t used_ = 0;
};

/// An array of a bound graph that is another one at each run: every place that holds it.
class Exchanged {
 public:
  Exchanged() = default;
  Exchanged(BoundGraph& graph, const NDArray& array) : shape_(array.shape()), dtype_(array.dtype()) {
    const Buffer* const buffer = array.body().buffer.get();
    const auto look = [&](NDArray& slot) {
      if (!slot.defined() || slot.body().buffer.get() != buffer) return;
      const Ref<Body> seen(new Body(slot.body()));
      seen->buffer = nullptr;
      slots_.push_back({&slot, NDArray(seen)});
    };
    for (NDArray& slot : graph.values) look(slot);
    for (List<Step>* steps : {&graph.forward_steps, &graph.backward_steps})
      for (Step& step : *steps)
        for (NDArray& slot : step.outputs) look(slot);
    for (NDArray& slot : graph.outputs) look(slot);
    for (auto& [name, slot] : graph.grads) look(slot);
  }
  /// A new array in all of them.
  NDArray put(Device device) {
    NDArray made(shape_, dtype_, device);
    for (const Slot& slot : slots_) {  // some see it under another shape
      const Ref<Body> body(new Body(slot.seen.body()));
      body->buffer = made.body().buffer;
      *slot.place = NDArray(body);
    }
    return made;
  }
  void clear() noexcept {
    for (Slot& slot : slots_) *slot.place = NDArray();
  }

 private:
  struct Slot {
    NDArray* place;
    NDArray seen;  // without elements
  };
  List<Slot> slots_;
  Shape shape_;
  Dtype dtype_ = f32;
};

/// A graph bound with the gradients of some of its inputs. One recorded call after the other has it to itself, until no
/// backward can follow.
struct RecordedRun : Counted {
  List<bool> wanted;  // of the inputs: the arguments of the function, then the arrays from outside
  List<Head> coming;  // of the results that calls have made
  Ref<BoundGraph> bound;
  List<int> input_values;  // −1: nothing depends on it
  List<bool> read_back;    // whether backward reads the input
  List<bool> reads_result;
  List<Exchanged> results;
  struct Gradient {
    Index input;
    Exchanged array;
  };
  List<Gradient> gradients;
  List<Index> zeros;  // inputs that get zeros

  void put(Span<const NDArray> inputs) {
    for (Index i = 0; i < inputs.size(); ++i)
      if (input_values[i] >= 0) bound->values[input_values[i]] = inputs[i];
  }
  void clear() noexcept {
    for (const int v : input_values)
      if (v >= 0) bound->values[v] = NDArray();
    for (Exchanged& result : results) result.clear();
    for (Gradient& one : gradients) one.array.clear();
    for (const int v : bound->head_values)
      if (v >= 0) bound->values[v] = NDArray();
  }
};

/// Those of a graph that wait for their next call.
struct RecordedRuns : Counted {
  ForkMutex changing;
  std::vector<Ref<RecordedRun>> free;
  List<Head> coming;  // as a backward has brought it last; empty before the first

  void expect(const List<Head>& heads) {
    std::lock_guard lock(changing);
    coming = heads;
  }
};

/// The calls that a function has made, in its order, which operators that write an input or draw numbers go by. The
/// tape shares them, and not the arrays that the function has captured: these may have a history that leads there.
struct TracedCalls : Counted {
  struct Made {  // a call, and the mode in which the function made it
    Ref<Node> node;
    const Recorder* recorder;
    bool training;
    bool draws;                 // it drew random numbers, which a kernel need not announce
    const FlowOperators* flow;  // what a loop or a branch needs to run step by step
    int first = 0;              // of its values
    List<int> in;               // −1: left out
    List<int> spent;            // values that nobody reads behind it
  };
  std::vector<Made> all;
  List<int> input_values, returned;  // of the arguments and the arrays from outside (−1: not used); of the results
  int value_count = 0;
  List<int> written;       // inputs that a call writes
  bool draws = false;      // whether one draws random numbers
  bool of_loss = false;    // whether one is a loss head
  List<int> result_of;     // of each result: which of those that calls have made it is; ~i where it is input i
  List<Index> computed;    // these: where each stands first among the results
  bool loss_head = false;  // whether there is one, and a loss head
  /// The computed ones of the results.
  List<NDArray> computed_of(const std::vector<NDArray>& given) const {
    List<NDArray> some;
    for (const Index at : computed) some.push_back(element(given, at));
    return some;
  }
  /// What comes to them with these head gradients.
  List<Head> coming(Span<const NDArray> heads) const {
    List<Head> out;
    for (const NDArray& head : heads) {
      const bool whole = loss_head || (head.defined() && (head.storage() != dense || head.allocated()));
      out.push_back(whole ? Head::gradient : head.defined() ? Head::zero : Head::none);
    }
    return out;
  }

  /// One after the other, each of which is recorded where calls are. Inputs are the arguments and the arrays from
  /// outside.
  std::vector<NDArray> replay(Span<const NDArray> inputs) const;
};

/// Says once for each function what its replay does not do.
class TraceLog : public Counted {
 public:
  explicit TraceLog(Site site) : site_(site) {}
  void tell(std::string_view what);

 private:
  const Site site_;  // of trace_function
  std::atomic<bool> told_ = false;
};

/// A function's graph for one set of arguments.
struct TracedGraph : Counted {
  explicit TracedGraph(Ref<TraceLog> log) : told(std::move(log)) {}
  // What it is for.
  struct Argument {
    Shape shape;
    Dtype dtype;
    Storage storage;
    Device device;
    bool suits(const NDArray& a) const {
      return a.shape() == shape && a.dtype() == dtype && a.storage() == storage && a.device() == device;
    }
  };
  std::vector<Argument> arguments;
  bool training = false, recorded = false;

  bool eager = false;  // it does what a graph cannot: the function runs at each call
  const Ref<TraceLog> told;
  Symbol symbol;
  std::vector<NodeOutput> argument_nodes;
  std::vector<std::pair<NodeOutput, NDArray>> captured;
  NodeOutputs results;
  Ref<TracedCalls> calls{new TracedCalls};

  // How it runs unrecorded.
  Ref<BoundGraph> bound;
  struct Fresh {  // a result, which is a new array at each call
    Step* step;
    int output, value;
    Shape shape;
    Dtype dtype;
    Storage storage;
  };
  std::vector<Fresh> fresh;
  std::vector<int> argument_values, result_values;
  ForkMutex running;

  /// How it runs where calls are recorded.
  Ref<RecordedRuns> runs{new RecordedRuns};

  bool suits(std::span<const NDArray> in) const {
    if (training != call_mode.training || recorded != (call_mode.recorder != nullptr) || in.size() != arguments.size())
      return false;
    for (std::size_t i = 0; i < in.size(); ++i)
      if (!arguments[i].suits(in[i])) return false;
    return true;
  }
  /// Whether it is replayed call by call: where what one writes is seen by another, where the graph would draw random
  /// numbers in another order than the function, where arrays are on several devices, and where it is recorded and a
  /// tape of its calls could do what a graph with gradients cannot.
  std::atomic<bool> by_calls{false};

  void drop_unused();
  void number_values(const Graph& graph);
  bool draws_in_order(const BoundGraph& made) const;
  const char* why_by_calls() const;
  const char* why_not_one_gradient() const;
  void go_by_calls(std::string_view why);
  /// Lets go of the graph: the function runs at each call.
  void forget() {
    eager = true;
    calls = Ref<TracedCalls>(new TracedCalls);
    argument_nodes.clear();
    captured.clear();
    results.clear();
    symbol = Symbol();
  }
  void bind(std::span<const NDArray> in);
  std::vector<NDArray> run(std::span<const NDArray> in);
  std::vector<NDArray> replay(std::span<const NDArray> in);
  std::vector<NDArray> replay_recorded(std::span<const NDArray> in);
  int input_at(const NodeOutput& variable) const;
  bool shares_history(const List<bool>& wanted) const;
  bool writes_apart() const;
  bool writes_others(std::span<const NDArray> in) const;
  void list_results();
  std::vector<NDArray> results_from(Span<const NDArray> computed, Span<const NDArray> inputs) const;
  std::vector<NDArray> watched(const std::vector<NDArray>& made, Span<const NDArray> inputs);
  Ref<RecordedRun> bind_recorded(Span<const NDArray> inputs, const List<bool>& wanted, const List<Head>& coming) const;
  std::vector<NDArray> inputs_of(std::span<const NDArray> in) const;
};

}  // namespace strop::inline v0::detail
