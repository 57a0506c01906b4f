// SPDX-License-Identifier: Apache-2.0
/// \file
/// The walk over the tape.
#pragma once
#include <strop/autograd/backward.hpp>
#include <strop/core/config.hpp>
#include <strop/core/few.hpp>
#include <strop/op/map_sparse.hpp>
#include <strop/tensor/sparse.hpp>

namespace strop::inline v0 {
namespace detail {

/// One pass over the tape. Leaves get their gradients in their buffers, or, for grad(), in `collected`.
class BackwardPass {
 public:
  BackwardPass(bool retain, bool create_graph, AddArrays add)
      : retain_(retain), create_graph_(create_graph), add_(add) {
    static std::atomic<std::uint64_t> passes{0};
    pass_ = ++passes;
  }

  void collect(std::span<const NDArray> variables) {
    collecting_ = true;
    for (const NDArray& v : variables) {
      if (!v) fail("grad: variable ", leaves_.size(), " is a handle without an array");
      if (!v.body().leaf) fail("grad: variable ", leaves_.size(), ", of shape ", v.shape(), ", has no attach_grad()");
      leaves_.push_back(static_cast<Leaf*>(v.body().leaf.get()));
    }
    collected_.resize(variables.size());
  }
  std::vector<NDArray>& collected() { return collected_; }

  void run(std::span<const NDArray> heads, std::span<const NDArray> head_gradients) {
    const ModeScope mode(create_graph_ ? &tape : nullptr, call_mode.training);
    try {
      walk(heads, head_gradients);
    } catch (...) {
      for (TapeNode* node : order_)
        for (TapeOutput& out : node->outputs) out.gradient = NDArray();
      throw;
    }
  }

 private:
  void walk(std::span<const NDArray> heads, std::span<const NDArray> head_gradients) {
    for (const NDArray& head : heads) {
      if (!head || !is_tracked(head))
        fail("backward: the array of shape ", head ? to_text(head.shape()) : std::string("()"),
             " was not computed while recording from an array with attach_grad()");
      if (head.body().lineage && !head.body().leaf) visit_node(static_cast<TapeNode*>(head.body().lineage.get()));
    }
    for (std::size_t i = 0; i < heads.size(); ++i) {
      const NDArray& head = heads[i];
      NDArray gradient = i < head_gradients.size() ? head_gradients[i] : NDArray();
      if (gradient && gradient.shape() != head.shape())
        fail("backward: head gradient ", i, " has shape ", gradient.shape(), ", expected ", head.shape());
      if (gradient && gradient.dtype() != head.dtype() && comes_from_map(head))
        fail("backward: head gradient ", i, " is ", name_of(gradient.dtype()), ", expected ", name_of(head.dtype()));
      if (!gradient) gradient = ones_like_dense(head);
      TapeInput to;
      fill_input(to, head, false);
      contribute(to, gradient);
    }
    for (std::size_t i = order_.size(); i-- > 0;) step(*order_[i]);
    if (!retain_ && !create_graph_)
      for (TapeNode* node : order_) node->release();
  }

  /// Whether the gradient of what made the array is a map, whose inputs have one type.
  static bool comes_from_map(const NDArray& head) {
    if (!head.body().lineage || head.body().leaf) return false;
    const auto* node = static_cast<const TapeNode*>(head.body().lineage.get());
    const Entry* gradient = node->entry != nullptr ? node->entry->gradient.entry : nullptr;
    return gradient != nullptr && gradient->is_map();
  }

  /// Post-order: a node stands behind everything that it was computed from.
  void visit_node(TapeNode* root) {
    struct Frame {
      TapeNode* node;
      std::size_t next;
    };
    if (root->mark == pass_) return;
    Few<Frame, 8> stack;
    root->mark = pass_;
    stack.push_back({root, 0});
    while (!stack.empty()) {
      Frame& top = stack.back();
      if (top.next == 0 && top.node->freed)
        fail("backward: the history of ", top.node->name(),
             " was freed by an earlier backward; pass retain_graph = true to it");
      if (top.next < top.node->inputs.size()) {
        TapeInput& in = top.node->inputs[top.next++];
        if (!in.source || in.leaf) continue;
        auto* node = static_cast<TapeNode*>(in.source.get());
        if (node->mark == pass_) continue;
        node->mark = pass_;
        stack.push_back({node, 0});
      } else {
        order_.push_back(top.node);
        stack.pop_back();
      }
    }
  }

  bool wanted(const TapeInput& in) const {
    if (!in.source) return false;
    if (!in.leaf) return true;
    const auto* leaf = static_cast<const Leaf*>(in.source.get());
    if (!collecting_) return leaf->request != GradRequest::null;
    for (const Leaf* l : leaves_)
      if (l == leaf) return true;
    return false;
  }

  void step(TapeNode& node) {
    bool any = false;
    for (TapeOutput& out : node.outputs) any = any || out.gradient;
    if (!any) return;
    for (std::size_t i = 0; i < node.inputs.size(); ++i)
      check_version(node, node.inputs[i].kept, node.inputs[i].array, node.inputs[i].version, "input", i);
    for (std::size_t i = 0; i < node.outputs.size(); ++i)
      check_version(node, node.outputs[i].kept, node.outputs[i].array, node.outputs[i].version, "output", i);
    call_mode.training = node.training;
    if (node.function)
      step_function(node);
    else if (node.entry->gradient.compose != nullptr)
      step_composed(node);
    else if (node.entry->gradient.entry != nullptr)
      step_operator(node);
    else if (node.entry->gradient.zero)
      step_zero(node);
    else
      fail("backward: ", node.name(), " has no gradient", no_further_gradient(*node.entry));
    for (TapeOutput& out : node.outputs) out.gradient = NDArray();
  }

  static void check_version(const TapeNode& node, bool kept, const NDArray& array, std::uint64_t version,
                            const char* what, std::size_t i) {
    if (kept && version_of(array) != version)
      fail("backward: ", what, ' ', i, " of ", node.name(), " (shape ", array.shape(),
           ") was overwritten after it was recorded");
  }

  NDArray head_of(TapeNode& node, std::size_t k) {
    TapeOutput& out = node.outputs[k];
    return out.gradient ? out.gradient : filled_like(out.array, 0);
  }
  /// The output as an array with its history, for gradients of gradients.
  static NDArray output_of(TapeNode& node, std::size_t k) {
    NDArray y = node.outputs[k].array.detach();
    y.body().lineage = Ref<Lineage>(&node);
    y.body().lineage_index = static_cast<std::int32_t>(k);
    return y;
  }

  void step_operator(TapeNode& node) {
    const GradientRule& rule = node.entry->gradient;
    Few<NDArray, 4> held;
    for (std::size_t k = 0; k < node.outputs.size(); ++k)
      if (in_mask(rule.heads, k)) held.push_back(head_of(node, k));
    bool sparse_head = false;
    for (const NDArray& head : held) sparse_head = sparse_head || head.storage() != dense;
    const NDArray* pattern = projection_pattern(node, rule);
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      if (!in_mask(rule.in, i)) continue;
      NDArray x = node.inputs[i].array;
      if (pattern == nullptr && rule.entry->is_map() && x.storage() != dense)
        x = x.allocated() ? cast_storage(x, dense) : NDArray::shell(x.shape(), x.dtype());
      held.push_back(std::move(x));
    }
    for (std::size_t k = 0; k < node.outputs.size(); ++k)
      if (in_mask(rule.out, k)) held.push_back(output_of(node, k));
    if (pattern != nullptr) return step_projected(node, *pattern, held);
    Few<const NDArray*, 4> in;
    for (NDArray& a : held) {
      if (rule.entry->is_map() && a.storage() != dense) a = cast_storage(a, dense);
      in.push_back(&a);
    }
    Few<NDArray, 4> out;
    Few<Request, 8> requests;
    Few<TapeInput*, 4> targets;
    Few<bool, 8> apart;
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      if (!in_mask(rule.gives, i)) continue;
      TapeInput& input = node.inputs[i];
      targets.push_back(&input);
      // Who does not read the input does not know its pattern: the gradient is computed dense, then projected.
      const bool knows_pattern = rule.entry->infer_storage != nullptr && (sparse_head || in_mask(rule.in, i));
      const bool projects = has_sparse_buffer(input) && !knows_pattern;
      NDArray direct = projects ? NDArray() : direct_target(input);
      // The same array given twice: its gradients are added, and a kernel may write both at once.
      for (std::size_t j = 0; j < i; ++j)
        if (node.inputs[j].source == input.source) direct = NDArray();
      for (const NDArray& a : held)  // x.backward(x.grad()): what is read must not be written yet
        if (direct && a.body().buffer == direct.body().buffer) direct = NDArray();
      apart.push_back(!direct);
      out.push_back(direct ? direct
                           : NDArray::shell(input.array.shape(), input.array.dtype(), input.array.device(),
                                            projects ? dense : gradient_storage(input)));
      requests.push_back(!wanted(input) ? Request::null : direct ? direct_request(input) : Request::write);
    }
    dispatch(*rule.entry, node.params ? node.params->get() : nullptr, in, out, requests, {},
             node.state ? &node.state : nullptr);
    for (std::size_t i = 0; i < targets.size(); ++i) {
      if (requests[i] == Request::null) continue;
      if (apart[i])
        contribute(*targets[i], out[i]);
      else
        written(*targets[i]);
    }
  }

  /// A leaf whose buffer the gradient operator may write itself.
  NDArray direct_target(const TapeInput& in) const {
    if (collecting_ || create_graph_ || !in.leaf || !wanted(in)) return {};
    return static_cast<const Leaf*>(in.source.get())->gradient;
  }
  Request direct_request(const TapeInput& in) const {
    const auto* leaf = static_cast<const Leaf*>(in.source.get());
    return leaf->request == GradRequest::write && leaf->pass != pass_ ? Request::write : Request::add;
  }
  void written(const TapeInput& in) const { static_cast<Leaf*>(in.source.get())->pass = pass_; }
  static Storage gradient_storage(const TapeInput& in) {
    const Leaf* leaf = in.leaf ? static_cast<const Leaf*>(in.source.get()) : nullptr;
    return leaf != nullptr && leaf->gradient ? leaf->gradient.storage() : dense;
  }
  /// A sparse leaf with a buffer of its own storage: its gradient is wanted on the leaf's pattern.
  static bool has_sparse_buffer(const TapeInput& in) {
    return in.array.storage() != dense && gradient_storage(in) == in.array.storage();
  }
  /// Gradients that are differentiated again stay whole.
  bool is_projected(const TapeInput& in) const {
    return !create_graph_ && has_sparse_buffer(in) && in.array.body().indices &&
           in.array.device().kind == DeviceKind::cpu;
  }

  /// The sparse input of a map whose gradient is computed on the input's own pattern alone.
  const NDArray* projection_pattern(TapeNode& node, const GradientRule& rule) const {
    if (!rule.entry->is_map() || node.inputs.size() != 1) return nullptr;
    TapeInput& in = node.inputs[0];
    return wanted(in) && is_projected(in) ? &in.array : nullptr;
  }

  /// The gradient on the stored positions only.
  void step_projected(TapeNode& node, const NDArray& x, std::span<NDArray> held) {
    const StoredPattern pattern = pattern_of(x);
    Few<const NDArray*, 4> in;
    const std::int64_t stored = x.stored();
    for (NDArray& a : held) {
      if (!a.allocated())  // which the gradient does not read
        a = NDArray::shell({stored}, a.dtype());
      else if (a.storage() == x.storage() && a.body().indices == x.body().indices)
        a = view_as(a.data(), {stored});  // itself, whatever its order
      else if (a.shape() == x.shape() || a.storage() == dense)
        a = lay_along(a, pattern, x.shape(), x.storage());
      in.push_back(&a);
    }
    NDArray result = NDArray::shell(x.shape(), x.dtype(), x.device(), x.storage());
    store_pattern(result, pattern);
    NDArray values = view_as(result.data(), {result.stored()});
    NDArray out[1] = {values};
    dispatch(*node.entry->gradient.entry, node.params ? node.params->get() : nullptr, in, out);
    contribute(node.inputs[0], result);
  }

  void step_composed(TapeNode& node) {
    Few<NDArray, 4> in, heads;
    // An input that is not kept lends its shape alone: a dense shell, which no rule of storages looks at.
    for (const TapeInput& x : node.inputs)
      in.push_back(x.kept || x.array.storage() == dense
                       ? x.array
                       : NDArray::shell(x.array.shape(), x.array.dtype(), x.array.device()));
    for (std::size_t k = 0; k < (node.entry->gradient.heads == every ? node.outputs.size() : 1); ++k)
      heads.push_back(head_of(node, k));
    // Optional inputs that were left out are empty handles.
    while (static_cast<int>(in.size()) < node.entry->inputs) in.push_back({});
    std::vector<NDArray> gradients =
        node.entry->gradient.compose(node.params ? node.params->get() : nullptr, heads, in);
    give(node, gradients);
  }

  void step_function(TapeNode& node) {
    Few<NDArray, 4> heads;
    for (std::size_t k = 0; k < node.outputs.size(); ++k) heads.push_back(head_of(node, k));
    std::vector<NDArray> gradients = node.function->backward(heads);
    give(node, gradients);
  }

  void give(TapeNode& node, std::vector<NDArray>& gradients) {
    if (gradients.size() > node.inputs.size())
      fail("backward: the gradient of ", node.name(), " returned ", gradients.size(), " arrays for ",
           node.inputs.size(), " inputs");
    for (std::size_t i = 0; i < gradients.size(); ++i) {
      if (!gradients[i] || !wanted(node.inputs[i])) continue;
      if (gradients[i].shape() != node.inputs[i].array.shape())
        fail("backward: the gradient of ", node.name(), " for input ", i, " has shape ", gradients[i].shape(),
             ", expected ", node.inputs[i].array.shape());
      contribute(node.inputs[i], gradients[i]);
    }
  }

  void step_zero(TapeNode& node) {
    for (TapeInput& in : node.inputs)
      if (wanted(in)) contribute(in, filled_like(in.array, 0));
  }

  void contribute(const TapeInput& in, const NDArray& given) {
    if (!wanted(in)) return;
    if (!in.leaf) {
      NDArray& slot = static_cast<TapeNode*>(in.source.get())->outputs[static_cast<std::size_t>(in.index)].gradient;
      slot = slot ? sum_of(slot, given) : given;
      return;
    }
    auto* leaf = static_cast<Leaf*>(in.source.get());
    const NDArray gradient = given.storage() == dense && is_projected(in) ? projected(given, in.array) : given;
    if (collecting_) {
      for (std::size_t i = 0; i < leaves_.size(); ++i)
        if (leaves_[i] == leaf) collected_[i] = collected_[i] ? sum_of(collected_[i], gradient) : gradient;
      return;
    }
    const bool fresh = leaf->request == GradRequest::write && leaf->pass != pass_;
    leaf->pass = pass_;
    const NDArray made = fresh ? gradient : sum_of(leaf->gradient, gradient);
    store_gradient(made, leaf->gradient);
  }

  NDArray sum_of(const NDArray& a, const NDArray& b) const {
    return add_ != nullptr && create_graph_ ? add_(a, b) : add_arrays(a, b);
  }

  static void store_gradient(const NDArray& from, const NDArray& to) {
    deliver(from, to, Request::write);
    if (to.body().buffer) to.body().buffer->written();
  }
  static NDArray add_arrays(const NDArray& a, const NDArray& b) {
    if (a.storage() != dense && a.storage() == b.storage() && a.dtype() == b.dtype() &&
        a.device().kind == DeviceKind::cpu && b.device() == a.device())
      return add_stored(a, b);
    const NDArray total(a.shape(), a.dtype(), a.device());
    add_elements(dense_form(a), dense_form(b), total);
    return total;
  }
  static NDArray filled_like(const NDArray& a, double value) { return full(a.shape(), value, a.dtype(), a.device()); }
  static NDArray ones_like_dense(const NDArray& a) { return filled_like(a, 1); }

  bool retain_, create_graph_, collecting_ = false;
  AddArrays add_;
  std::uint64_t pass_ = 0;
  Few<TapeNode*, 8> order_;
  std::vector<Leaf*> leaves_;
  std::vector<NDArray> collected_;
};

STROP_IMPL std::vector<NDArray> collect_gradients(const NDArray& head, std::span<const NDArray> variables,
                                                  const GradOptions& options, AddArrays add) {
  BackwardPass pass(options.retain_graph || options.create_graph, options.create_graph, add);
  pass.collect(variables);
  pass.run({&head, 1}, options.head_gradients);
  std::vector<NDArray> out = std::move(pass.collected());
  for (std::size_t i = 0; i < out.size(); ++i)
    if (!out[i]) out[i] = zeros(variables[i].shape(), variables[i].dtype(), variables[i].device());
  return out;
}

}  // namespace detail

STROP_IMPL void NDArray::attach_grad(GradRequest request, Storage storage) const {
  if (!*this) fail("attach_grad: a handle without an array");
  if (!is_floating(dtype())) fail("attach_grad: gradients are of floating types, this array is ", name_of(dtype()));
  auto* leaf = new detail::Leaf;
  body_->leaf = detail::Ref<detail::Lineage>(leaf);
  body_->lineage = nullptr;
  leaf->request = request;
  if (request == GradRequest::null) return;
  leaf->gradient = storage == dense ? zeros(shape(), dtype(), device()) : NDArray(shape(), dtype(), device(), storage);
}

STROP_IMPL NDArray NDArray::grad() const {
  if (!*this || !body_->leaf) return {};
  return static_cast<detail::Leaf*>(body_->leaf.get())->gradient;
}

STROP_IMPL void backward(std::span<const NDArray> heads, std::span<const NDArray> head_gradients, bool retain_graph) {
  detail::BackwardPass(retain_graph, false, nullptr).run(heads, head_gradients);
}

STROP_IMPL void NDArray::backward(const NDArray& head_gradient, bool retain_graph) const {
  strop::backward({this, 1}, std::span<const NDArray>(&head_gradient, head_gradient ? 1U : 0U), retain_graph);
}

}  // namespace strop::inline v0
