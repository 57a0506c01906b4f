// SPDX-License-Identifier: Apache-2.0
/// \file
/// The walk over the tape.
#pragma once
#include <strop/autograd/backward.hpp>
#include <strop/autograd/gradient_arrays_impl.hpp>
#include <strop/autograd/leaf_impl.hpp>
#include <strop/autograd/pass_claims_impl.hpp>
#include <strop/autograd/sparse_nodes_impl.hpp>
#include <strop/core/config.hpp>
#include <strop/core/list.hpp>
#include <strop/op/contributions_impl.hpp>
#include <strop/op/infer_call.hpp>
#include <strop/op/map_sparse.hpp>
#include <strop/op/reverse.hpp>
#include <strop/tensor/sparse.hpp>

namespace strop::inline v0 {
namespace detail {

/// One pass over the tape. Leaves get their gradients in their buffers, or, for grad(), in `collected`.
class BackwardPass : Reverse<BackwardPass> {
  friend Reverse;

 public:
  BackwardPass(bool retain, bool create_graph) : retain_(retain), create_graph_(create_graph) {}
  BackwardPass(const BackwardPass&) = delete;
  BackwardPass& operator=(const BackwardPass&) = delete;

  void collect(Span<const NDArray> variables) {
    collecting_ = true;
    for (const NDArray& v : variables) {
      if (!v.defined()) fail("grad: variable ", leaves_.size(), " is a handle without an array");
      if (!v.body().leaf) fail("grad: variable ", leaves_.size(), ", of shape ", v.shape(), ", has no attach_grad()");
      leaves_.push_back(static_cast<Leaf*>(v.body().leaf.get()));
    }
    collected_.resize(unsigned_size(variables.size()));
  }
  std::vector<NDArray>& collected() { return collected_; }

  void run(Span<const NDArray> heads, Span<const NDArray> head_gradients) {
    leave_trace("backward", "gradients go to arrays outside; call it on what the function returns");
    const ModeScope mode(create_graph_ ? &tape : nullptr, call_mode.training);
    const PassClaims::Turn turn(claims_);
    try {
      walk(heads, head_gradients);
    } catch (...) {
      for (TapeNode* node : order_)
        for (TapeOutput& out : node->outputs) out.gradient = NDArray();
      throw;
    }
  }

 private:
  void walk(Span<const NDArray> heads, Span<const NDArray> head_gradients) {
    for (const NDArray& head : heads)
      if (!head.defined() || !(head.body().leaf || head.body().gradient_node))
        fail("backward: the array of shape ", head.defined() ? to_text(head.shape()) : std::string("()"),
             " was not computed while recording from an array with attach_grad()");
    while (!visit_all(heads)) {
      order_.clear();
      claims_.wait_for_others();
    }
    for (Index i = 0; i < heads.size(); ++i) {
      const NDArray& head = heads[i];
      NDArray gradient = i < head_gradients.size() ? head_gradients[i] : NDArray();
      if (gradient.defined() && gradient.shape() != head.shape())
        fail("backward: head gradient ", i, " has shape ", gradient.shape(), ", expected ", head.shape());
      if (gradient.defined() && gradient.dtype() != head.dtype() && comes_from_map(head))
        fail("backward: head gradient ", i, " is ", name_of(gradient.dtype()), ", expected ", name_of(head.dtype()));
      if (gradient.defined()) check_structure_of(gradient, [i] { return cat("backward: head gradient ", i); });
      TapeInput to;
      fill_input(to, head, false);
      if (!gradient.defined()) gradient = head.storage() == dense ? filled_like(head, 1) : constant_like(head, 1);
      contribute(to, gradient);
    }
    for (Index i = order_.size(); i-- > 0;) step(*order_[i]);
    if (!retain_ && !create_graph_)
      for (TapeNode* node : order_) node->release();
  }

  /// Whether the gradient of what made the array is a map, whose inputs have one type.
  static bool comes_from_map(const NDArray& head) {
    if (!head.body().gradient_node || head.body().leaf) return false;
    const auto* node = static_cast<const TapeNode*>(head.body().gradient_node.get());
    const Entry* gradient = node->entry != nullptr ? node->entry->gradient.entry : nullptr;
    return gradient != nullptr && gradient->is_map();
  }

  /// False where another thread's pass is at work on something of it: what was claimed is given back then.
  bool visit_all(Span<const NDArray> heads) {
    mark_ = next_pass();
    for (const NDArray& head : heads) {
      Body& body = head.body();
      const bool mine =
          body.leaf ? claim_leaf(*body.leaf) : visit_node(static_cast<TapeNode*>(body.gradient_node.get()));
      if (!mine) return false;
    }
    return true;
  }
  bool claim_leaf(GradientNode& gradient_node) {
    auto& leaf = static_cast<Leaf&>(gradient_node);
    return collecting_ || leaf.request == GradRequest::null || claims_.take(leaf.owner);
  }

  /// Post-order: a node stands behind everything that it was computed from.
  bool visit_node(TapeNode* root) {
    struct Frame {
      TapeNode* node;
      Index next;
    };
    List<Frame, 8> stack;
    const auto enter = [&](TapeNode* node) {
      if (!claims_.take(node->owner)) return false;
      if (node->mark != mark_) stack.push_back({node, 0});
      node->mark = mark_;
      return true;
    };
    if (!enter(root)) return false;
    while (!stack.empty()) {
      Frame& top = stack.back();
      if (top.next == 0 && top.node->freed)
        fail("backward: the history of ", top.node->name(),
             " was freed by an earlier backward; pass retain_graph = true to it");
      if (top.next == 0 && create_graph_ && top.node->function) top.node->function->open_step(*top.node);
      if (top.next < top.node->inputs.size()) {
        TapeInput& in = top.node->inputs[top.next++];
        if (in.source && !(in.leaf ? claim_leaf(*in.source) : enter(static_cast<TapeNode*>(in.source.get()))))
          return false;
      } else {
        top.node->on_pattern = stays_on_pattern(*top.node);
        order_.push_back(top.node);
        stack.pop_back();
      }
    }
    return true;
  }

  /// Whether the array was made by an operator whose gradient is zero, which reads no head gradient.
  static bool has_zero_gradient(const TapeInput& in) {
    if (!in.source || in.leaf) return false;
    const auto* node = static_cast<const TapeNode*>(in.source.get());
    return node->entry != nullptr && node->entry->gradient.zero && node->entry->gradient.entry == nullptr &&
           !is_composed(node->entry->gradient);
  }
  /// Whether a gradient of the array has to be computed.
  bool wanted(const TapeInput& in) const {
    if (!in.source) return false;
    if (!in.leaf) return !has_zero_gradient(in);
    const auto* leaf = static_cast<const Leaf*>(in.source.get());
    if (!collecting_) return leaf->request != GradRequest::null;
    for (const Leaf* l : leaves_)
      if (l == leaf) return true;
    return false;
  }

  void step(TapeNode& node) {
    Coming coming = coming_to(node);
    const Function* const function = node.function.get();
    if (function != nullptr && coming == Coming::zeros && (function->tells_zeros() || !function->is_linear()))
      coming = Coming::gradients;  // it is asked all the same
    if (function == nullptr || coming != Coming::gradients)
      differentiate(node, coming);
    else
      begin(node), step_function(node);
    if (coming != Coming::gradients) return;
    for (TapeOutput& out : node.outputs) out.gradient = NDArray();
  }

  // What Reverse asks of a call.
  using Value = NDArray;
  static constexpr std::string_view plural = "arrays";
  static const Entry& entry(const TapeNode& node) { return *node.entry; }
  static std::string_view name(const TapeNode& node) { return node.name(); }
  static int inputs(const TapeNode& node) { return static_cast<int>(node.inputs.size()); }
  static int outputs(const TapeNode& node) { return static_cast<int>(node.outputs.size()); }
  static bool is_loss(const TapeNode& node) {
    return node.entry != nullptr ? node.entry->gradient.of_loss() : node.function->of_loss();
  }
  static bool is_composed(const GradientRule& rule) { return rule.compose != nullptr; }
  /// Zeros are forgotten here, but for functions that are told of them.
  static Coming comes(TapeNode& node, int k) {
    NDArray& gradient = node.outputs[k].gradient;
    if (!gradient.defined()) return Coming::nothing;
    if (!is_known_zero(gradient)) return Coming::gradients;
    if (!node.function || !node.function->tells_zeros()) gradient = NDArray();
    return Coming::zeros;
  }
  static NDArray gradient(const TapeNode& node, int k) {
    return repeated(node.outputs[k].gradient, node.outputs[k].array.shape());
  }
  static NDArray zeros(const TapeNode& node, int k) {
    const NDArray& y = node.outputs[k].array;
    return node.on_pattern ? NDArray(y.shape(), y.dtype(), y.device(), y.storage()) : filled_like(y, 0);
  }
  static void begin(const TapeNode& node) {
    for (Index i = 0; i < node.inputs.size(); ++i)
      check_version(node, node.inputs[i].kept, node.inputs[i].array, node.inputs[i].version, "input", i);
    for (Index i = 0; i < node.outputs.size(); ++i)
      check_version(node, node.outputs[i].kept, node.outputs[i].array, node.outputs[i].version, "output", i);
    call_mode.training = node.training;
  }
  NDArray head(TapeNode& node, int k) { return head_or_zeros(node, k); }
  /// An input that is not kept lends its shape alone: a dense shell, which no rule of storages looks at.
  static NDArray input(const TapeNode& node, int i) {
    const TapeInput& x = node.inputs[i];
    return x.kept || x.array.storage() == dense ? x.array : shell_of(x.array, dense);
  }
  static std::vector<NDArray> composed(const TapeNode& node, Span<const NDArray> heads, Span<const NDArray> in) {
    return node.entry->gradient.compose(node.op(), heads, in);
  }
  static std::string_view needed_by(const TapeNode&) { return {}; }
  template <class... Parts>
  [[noreturn]] static void fail_at(const TapeNode&, const Parts&... parts) {
    fail("backward: ", parts...);
  }

  static void check_version(const TapeNode& node, bool kept, const NDArray& array, std::uint64_t version,
                            const char* what, Index i) {
    if (kept && version_of(array) != version)
      fail("backward: ", what, ' ', i, " of ", node.name(), " (shape ", array.shape(),
           ") was overwritten after it was recorded",
           array.body().buffer && array.body().buffer->is_lent()
               ? ", or lent by view<E>(), which counts as a write unless E is const"
               : "");
  }

  /// The output as an array with its history, for gradients of gradients.
  static NDArray output_of(TapeNode& node, Index k) {
    NDArray y = node.outputs[k].array.detach();
    y.body().gradient_node = Ref<GradientNode>(&node);
    y.body().gradient_index = static_cast<std::int32_t>(k);
    return y;
  }

  void step_stated(TapeNode& node) {
    const Entry& entry = *node.entry->gradient.entry;
    const GradientRoles roles = gradient_roles(node.entry->gradient, node.inputs.size(), node.outputs.size());
    GradientInputs held;
    const bool broadcasts = entry.is_map() && node.entry->gradient.in != 0;  // to the shape of the inputs
    for (const GradientArgument& argument : roles.takes) {
      const int k = argument.at;
      if (argument.role == Role::head)
        held.push_head(broadcasts && node.outputs[k].gradient.defined() ? std::move(node.outputs[k].gradient)
                                                                        : take_head(node, k));
      else
        held.push(argument.role == Role::in ? input_of(node, k) : output_of(node, k));
    }
    List<bool, 8> given(node.inputs.size());
    if (entry.is_map()) step_on_patterns(node, roles, held.arrays.span(), given);
    List<NDArray, 4> out;
    List<Request, 8> requests;
    List<bool, 8> apart;
    List<std::optional<Storage>, 4> storages;
    if (!choose_storages(node, roles, held, storages) && held.whole_heads(node, roles))
      choose_storages(node, roles, held, storages);
    bool asked = false;
    for (int i : roles.gives) {
      const Storage storage = *storages[out.size()];
      const TapeInput& input = node.inputs[i];
      if (has_zero_gradient(input)) contribute_zero(input);
      const bool wants = wanted(input) && !given[i];
      asked = asked || wants;
      NDArray direct = wants ? direct_target(node, input, i, held, storage) : NDArray();
      apart.push_back(!direct.defined());
      requests.push_back(!wants ? Request::null : direct.defined() ? direct_request(input) : Request::write);
      out.push_back(direct.defined() ? direct : shell_of(input.array, storage));
    }
    if (!asked) return;
    if (create_graph_ && !held.arrays.empty() && computes_in_double(entry, held.arrays[0].dtype()))
      fail("backward: the gradient of ", node.name(), " on ", name_of(held.arrays[0].dtype()),
           " is truncated and has no gradient itself; convert its inputs to a floating type with cast");
    // In the memory of the head gradient, which nobody looks at again but a GPU for a result of a map that is a sum
    // over it.
    bool summed = false;
    for (Index k = 0; k < out.size() && held.free_head >= 0 && entry.is_map(); ++k)
      summed = summed || (requests[k] != Request::null && out[k].shape() != held.arrays[held.free_head].shape());
    if (held.free_head >= 0 && !create_graph_ && !summed)
      for (Index k = 0; k < out.size(); ++k)
        if (const NDArray& head = held.arrays[held.free_head];
            apart[k] && requests[k] == Request::write &&
            may_take(entry, held.free_head, static_cast<int>(k), head, out[k])) {
          out[k] = head;
          break;
        }
    List<const NDArray*, 4> in;
    for (const NDArray& a : held.arrays) in.push_back(&a);
    dispatch(entry, node.op(), in.span(), out.span(), requests.span(), {}, node.state ? &node.state : nullptr);
    for (Index k = 0; k < out.size(); ++k) {
      if (requests[k] == Request::null) continue;
      const TapeInput& input = node.inputs[roles.gives[static_cast<int>(k)]];
      apart[k] ? contribute(input, out[k]) : written(input);
    }
  }

  /// The head gradient of output k, which the node then holds no longer; zeros where none came.
  NDArray take_head(TapeNode& node, int k) {
    NDArray head = head_or_zeros(node, k);
    node.outputs[k].gradient = NDArray();
    return head;
  }
  /// Whether the gradient operator may compute result k, as `out` describes it, in the memory of argument i.
  static bool may_take(const Entry& entry, int i, int k, const NDArray& argument, const NDArray& out) {
    return out.storage() == dense && out.shape() == argument.shape() && out.dtype() == argument.dtype() &&
           may_share(entry, i, k);
  }
  /// What forward was given; of what was not kept a dense shell, which no rule of storages looks at.
  static NDArray input_of(const TapeNode& node, Index i) {
    const NDArray& x = node.inputs[i].array;
    return x.storage() == dense || x.allocated() ? x : shell_of(x, dense);
  }

  /// Gradients of a map for sparse inputs where they are wanted at stored positions alone, or are zero outside of rows
  /// that are stored, computed there alone.
  void step_on_patterns(TapeNode& node, const GradientRoles& roles, Span<const NDArray> held, List<bool, 8>& given) {
    const Index results = roles.gives.size();
    NDArray rows;
    for (Index k = 0; k < results; ++k) {
      const int i = roles.gives[k];
      const TapeInput& input = node.inputs[i];
      if (!wanted(input) || input.array.shape() != node.outputs[0].array.shape()) continue;
      const bool by_rows = !wants_pattern(input) && takes_rows_of(input, held, roles);
      if (by_rows && !rows.defined()) rows = rows_of_gradients(node);
      const NDArray& places = by_rows ? rows : input.array;
      if (!(by_rows ? rows.defined() : wants_pattern(input))) continue;
      given[i] = true;
      contribute(input, map_on_pattern(*node.entry->gradient.entry, node.op(), held, results, k, places));
    }
  }
  /// Whether the gradient of a row-sparse input is worth its rows alone, of dense heads: it goes to a row-sparse
  /// buffer, or to a map that takes rows.
  bool takes_rows_of(const TapeInput& input, Span<const NDArray> held, const GradientRoles& roles) const {
    if (create_graph_ || input.array.storage() != row_sparse || !is_floating(input.array.dtype())) return false;
    for (Index i = 0; i < roles.takes.size(); ++i)
      if (roles.takes[i].role == Role::head && held[i].storage() != dense) return false;
    if (input.leaf) return buffer_storage(input) == row_sparse;
    const auto* node = static_cast<const TapeNode*>(input.source.get());
    const Entry* const gradient = node->entry != nullptr ? node->entry->gradient.entry : nullptr;
    if (gradient == nullptr || !gradient->is_map()) return false;
    for (const TapeInput& in : node->inputs)
      if (in.array.storage() != dense && in.array.shape() != input.array.shape()) return false;
    return true;
  }

  /// A leaf whose buffer the gradient operator may write itself.
  NDArray direct_target(const TapeNode& node, const TapeInput& in, int i, const GradientInputs& held,
                        Storage made) const {
    if (collecting_ || create_graph_ || !in.leaf) return {};
    NDArray buffer = static_cast<const Leaf*>(in.source.get())->gradient;
    if (buffer.storage() != made) return {};
    // The same array given twice: its gradients are added, and a kernel may write both at once.
    for (int j = 0; j < i; ++j)
      if (node.inputs[j].source == in.source) return {};
    for (const NDArray& a : held.arrays)  // x.backward(x.grad()): what is read must not be written yet
      if (a.body().buffer == buffer.body().buffer) return {};
    return buffer;
  }
  Request direct_request(const TapeInput& in) const {
    const auto* leaf = static_cast<const Leaf*>(in.source.get());
    return leaf->request == GradRequest::write && leaf->pass != pass_ ? Request::write : adding();
  }
  void written(const TapeInput& in) const { static_cast<Leaf*>(in.source.get())->pass = pass_; }

  /// The storages that the gradient operator makes its results in: all dense where it has no form, as the answer says.
  bool choose_storages(const TapeNode& node, const GradientRoles& roles, const GradientInputs& held,
                       List<std::optional<Storage>, 4>& storages) const {
    const Entry& entry = *node.entry->gradient.entry;
    bool sparse = false;
    storages.clear();
    if (entry.is_map()) {  // results that are smaller than the head are sums, and dense
      bool whole = held.sparse;
      for (int i : roles.gives) whole = whole && node.inputs[i].array.shape() == node.outputs[0].array.shape();
      const Storage same = whole ? storage_of_map(entry, node, held.arrays.span()) : dense;
      for (Index k = 0; k < roles.gives.size(); ++k) storages.push_back(same);
      return true;
    }
    for (int i : roles.gives) {
      storages.push_back(storage_of_gradient(node, node.inputs[i], i, held));
      sparse = sparse || storages.back() != dense;
    }
    if (!sparse && !held.sparse_head) return true;
    List<Storage, 8> in;
    for (const NDArray& a : held.arrays) in.push_back(a.storage());
    const StorageQuery known{.in = in.span(), .device = held.arrays.empty() ? cpu() : held.arrays[0].device()};
    if (infer_storages(entry, node.op(), known, storages.span()).why.empty()) return true;
    for (std::optional<Storage>& storage : storages) storage = dense;
    return false;
  }
  /// Whether what made the dense array may have a form for a row-sparse head, which step_stated() asks.
  bool takes_rows(const TapeInput& in) const {
    const auto* node = static_cast<const TapeNode*>(in.source.get());
    const Entry* const made_by = node->entry != nullptr ? node->entry->gradient.entry : nullptr;
    return !create_graph_ && made_by != nullptr && !made_by->is_map() && made_by->infer_storage != nullptr &&
           node->entry->gradient.compose == nullptr && is_floating(in.array.dtype());
  }
  std::optional<Storage> storage_of_gradient(const TapeNode& node, const TapeInput& in, int i,
                                             const GradientInputs& held) const {
    const GradientRule& rule = node.entry->gradient;
    if (!has_csr_buffer(in) && !wants_pattern(in)) return wanted_storage(in);
    if (rule.entry->infer_storage == nullptr) return dense;  // then projected
    // Who does not read the input does not know its pattern, and says whether it knows another one.
    if (!held.sparse_head && !in_mask(rule.in, i)) return std::nullopt;
    return in.array.storage();
  }
  /// The storage that the gradient ends in: that of the leaf's buffer, also behind maps of one input, whose gradients
  /// are zero where their heads are.
  static Storage wanted_storage(const TapeInput& in) {
    const TapeInput* at = &in;
    for (int step = 0; step < 8 && !at->leaf && at->source; ++step) {
      const auto* node = static_cast<const TapeNode*>(at->source.get());
      const Entry* gradient = node->entry != nullptr ? node->entry->gradient.entry : nullptr;
      if (gradient == nullptr || !gradient->is_map() || node->inputs.size() != 1 ||
          node->inputs[0].array.shape() != in.array.shape())
        return dense;
      at = &node->inputs[0];
    }
    return buffer_storage(*at);
  }
  static Storage storage_of_map(const Entry& entry, const TapeNode& node, Span<const NDArray> held) {
    List<Storage, 8> in;
    List<Shape, 4> shapes;
    for (const NDArray& a : held) {
      in.push_back(a.storage());
      shapes.push_back(a.shape());
    }
    std::optional<Storage> out[1];
    const Shape result[1] = {node.outputs[0].array.shape()};
    const Dtype stored = stored_type(entry, held.size(), [&](Index i) { return held[i].dtype(); });
    infer_storages(entry, node.op(), {in.span(), shapes.span(), result, {}, stored, held[0].device()}, out);
    return *out[0];
  }
  static Storage buffer_storage(const TapeInput& in) {
    const Leaf* leaf = in.leaf ? static_cast<const Leaf*>(in.source.get()) : nullptr;
    return leaf != nullptr && leaf->gradient.defined() ? leaf->gradient.storage() : dense;
  }
  /// A CSR leaf with a CSR buffer: its gradient is wanted on the leaf's pattern. A row-sparse buffer takes every row
  /// that has a gradient.
  static bool has_csr_buffer(const TapeInput& in) { return in.array.storage() == csr && buffer_storage(in) == csr; }
  /// Whether the gradient of a sparse input is wanted at its stored positions alone: for a CSR buffer, or for a result
  /// whose own inputs want no more. Gradients that are differentiated again stay whole.
  bool wants_pattern(const TapeInput& in) const {
    if (create_graph_ || !in.source || in.array.storage() == dense || !in.array.body().indices) return false;
    if (in.leaf) return has_csr_buffer(in);
    return static_cast<const TapeNode*>(in.source.get())->on_pattern;
  }
  /// Whether the gradient takes heads that are stored as the results are.
  bool takes_sparse_heads(const TapeNode& node) const {
    const GradientRule& rule = node.entry->gradient;
    if (rule.entry == nullptr || rule.entry->is_map()) return rule.entry != nullptr || rule.compose != nullptr;
    GradientInputs held;
    const GradientRoles roles = gradient_roles(rule, node.inputs.size(), node.outputs.size());
    for (const auto& [role, at] : roles.takes)
      role == Role::head ? held.push_head(shell_of(node.outputs[at].array))
                         : held.push(role == Role::in ? input_of(node, at) : shell_of(node.outputs[at].array));
    List<std::optional<Storage>, 4> storages;
    return choose_storages(node, roles, held, storages);
  }
  /// Whether the gradients of the node's results are wanted where they store something: a result is zero elsewhere
  /// whatever its inputs store, and those want no more than their stored positions.
  bool stays_on_pattern(const TapeNode& node) const {
    if (create_graph_ || node.entry == nullptr || !is_zero_elsewhere(node)) return false;
    for (const TapeInput& in : node.inputs) {
      if (!wanted(in) || in.array.storage() == dense) continue;
      if (!wants_pattern(in)) return false;
      if (node.entry->is_map() && in.array.shape() != node.outputs[0].array.shape()) return false;
    }
    return takes_sparse_heads(node) && (!node.entry->is_map() || is_flat_elsewhere(node));
  }

  /// Hands on a gradient in a shape that broadcasts to the input's: it is repeated where somebody needs its elements.
  bool gives_small(TapeNode& node) {
    const GradientRule& rule = node.entry->gradient;
    const TapeInput& in = node.inputs[0];
    if (rule.spread == nullptr || create_graph_ || in.array.device().kind != DeviceKind::cpu) return false;
    if (has_zero_gradient(in)) contribute_zero(in);
    if (!wanted(in)) return true;
    const NDArray gradient = rule.spread(node.op(), take_head(node, 0), in.array.shape());
    Shape common = in.array.shape();
    if (!gradient.defined() || !broadcast_into(common, gradient.shape()) || common != in.array.shape() ||
        gradient.storage() != dense)
      fail("backward: spread_gradient of ", node.name(), " returned ",
           gradient.defined() ? cat("shape ", gradient.shape(), " (", name_of(gradient.storage()), ")")
                              : std::string("nothing"),
           ", expected a dense array that broadcasts to ", in.array.shape());
    contribute(in, gradient);
    return true;
  }

  void step_function(TapeNode& node) {
    List<NDArray, 4> heads;
    const bool tells = node.function->tells_zeros();
    for (int k = 0; k < outputs(node); ++k) {
      const NDArray& head = node.outputs[k].gradient;
      heads.push_back(tells && (!head.defined() || is_known_zero(head)) ? head : head_or_zeros(node, k));
    }
    give_all(node, node.function->backward(heads), node.inputs.size());
  }

  void give(const TapeNode& node, int i, const NDArray& gradient) {
    const TapeInput& in = node.inputs[i];
    if (has_zero_gradient(in)) contribute_zero(in);
    if (!wanted(in)) return;
    if (gradient.shape() != in.array.shape())
      fail("backward: the gradient of ", node.name(), " for input ", i, " has shape ", gradient.shape(), ", expected ",
           in.array.shape());
    const bool elsewhere = node.on_pattern && wants_pattern(in) && gradient.storage() != dense;
    is_known_zero(gradient) ? contribute_zero(in)
                            : contribute(in, elsewhere ? projected(gradient, in.array) : gradient);
  }

  void give_zeros(const TapeNode& node) {
    for (const TapeInput& in : node.inputs)
      if (wanted(in) || has_zero_gradient(in)) contribute_zero(in);
  }
  void contribute_zero(const TapeInput& in) {
    if (in.leaf) {
      contribute(in, buffer_storage(in) == row_sparse && !create_graph_
                         ? NDArray(in.array.shape(), in.array.dtype(), in.array.device(), row_sparse)
                         : constant_like(in.array, 0));
    } else if (NDArray& slot = static_cast<TapeNode*>(in.source.get())->outputs[in.index].gradient; !slot.defined()) {
      slot = shell_of(in.array, dense);
    }
  }

  void contribute(const TapeInput& in, const NDArray& whole) {
    if (has_zero_gradient(in)) return contribute_zero(in);
    if (!wanted(in)) return;
    const NDArray given = whole.storage() == dense && wants_pattern(in) ? projected(whole, in.array) : whole;
    if (!in.leaf) {
      // Whoever made a dense array expects its gradient dense, unless it goes on to a sparse buffer.
      if (in.array.storage() == dense && given.storage() != dense && wanted_storage(in) != given.storage() &&
          !(given.storage() == row_sparse && takes_rows(in)))
        return contribute(in, dense_form(given));
      NDArray& slot = static_cast<TapeNode*>(in.source.get())->outputs[in.index].gradient;
      if (is_known_zero(slot)) slot = NDArray();
      if (!slot.defined() || slot.shape() == given.shape())
        slot = slot.defined() ? sum_of_contributions(slot, given) : given;
      else
        slot = sum_of_contributions(repeated(slot, in.array.shape()), repeated(given, in.array.shape()));
      return;
    }
    auto* leaf = static_cast<Leaf*>(in.source.get());
    const NDArray gradient = repeated(given, in.array.shape());
    if (collecting_) {
      for (Index i = 0; i < leaves_.size(); ++i)
        if (leaves_[i] == leaf) {
          NDArray& sum = element(collected_, i);
          sum = sum.defined() ? sum_of_contributions(sum, gradient) : gradient;
        }
      return;
    }
    const bool fresh = leaf->request == GradRequest::write && leaf->pass != pass_;
    leaf->pass = pass_;
    const NDArray made = fresh ? gradient : sum_of_contributions(leaf->gradient, gradient);
    store_gradient(made, leaf->gradient);
  }

  static void store_gradient(const NDArray& from, const NDArray& to) {
    // A sparse buffer takes over what it is given, which somebody else may hold.
    deliver(from.storage() != dense && from.storage() == to.storage() ? from.copy() : from, to, Request::write);
    if (to.body().buffer) to.body().buffer->written();
  }
  bool retain_, create_graph_, collecting_ = false;
  const std::uint64_t pass_ = next_pass();
  std::uint64_t mark_ = 0;  // of the nodes that were met on this walk
  PassClaims claims_;
  List<TapeNode*, 8> order_;
  List<Leaf*> leaves_;
  std::vector<NDArray> collected_;
};

STROP_IMPL std::vector<NDArray> collect_gradients(const NDArray& head, std::span<const NDArray> variables,
                                                  const GradOptions& options) {
  BackwardPass pass(options.retain_graph || options.create_graph, options.create_graph);
  pass.collect(variables);
  pass.run({&head, 1}, options.head_gradients);
  std::vector<NDArray> out = std::move(pass.collected());
  for (std::size_t i = 0; i < out.size(); ++i) {
    const NDArray& variable = variables[i];
    if (!out[i].defined()) out[i] = zeros(variable.shape(), variable.dtype(), variable.device());
    // As in its buffer: the rows that are not zero.
    if (const NDArray buffer = variable.grad();
        variable.storage() == row_sparse && buffer.defined() && buffer.storage() == row_sparse && !options.create_graph)
      out[i] = cast_storage(out[i], row_sparse);
  }
  return out;
}

}  // namespace detail

STROP_IMPL void backward(std::span<const NDArray> heads, std::span<const NDArray> head_gradients, bool retain_graph) {
  detail::BackwardPass(retain_graph, false).run(heads, head_gradients);
}

STROP_IMPL void NDArray::backward(const NDArray& head_gradient, bool retain_graph) const {
  strop::backward({this, 1}, std::span<const NDArray>(&head_gradient, head_gradient.defined() ? 1U : 0U), retain_graph);
}

}  // namespace strop::inline v0
