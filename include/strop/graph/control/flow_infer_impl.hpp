// SPDX-License-Identifier: Apache-2.0
/// \file
/// What follows for the shapes and types of a loop or a branch from those in its bodies, and the other way round.
#pragma once
#include <strop/core/config.hpp>
#include <strop/graph/control/flow.hpp>
#include <strop/graph/graph.hpp>
#include <strop/graph/infer_impl.hpp>
#include <strop/op/gradient_roles.hpp>

#include <optional>
#include <span>

namespace strop::inline v0::detail {

STROP_IMPL const Flow& flow_in(const void* op) { return *static_cast<const FlowOp*>(op)->flow; }

STROP_IMPL void flow_signature(const void* op, int, Signature& s) {
  const Flow& flow = flow_in(op);
  for (const std::string& name : flow.input_names) s.inputs.push_back(name);
  for (const std::string& name : flow.output_names) s.outputs.push_back(name);
  for (int i = 0; i < flow.inputs; ++i)
    if (flow.written[i]) s.mutated.push_back(i);
  s.visible = flow.visible;
}

/// What a step sees of an array of this shape: an entry of its first axis; of a vector one element, as shape (1).
STROP_IMPL Shape entry_shape(const Shape& whole) {
  if (!whole.has_rank()) return Shape::unknown();
  if (whole.ndim() <= 1) return {1};
  Shape entry = whole;
  entry.erase(0);
  return entry;
}
STROP_IMPL Shape collected_shape(std::int64_t count, const Shape& entry) {
  Shape whole = entry;
  if (whole.has_rank()) whole.insert(0, count);
  return whole;
}

/// Shapes of a sub-graph's inputs and outputs, from what is known of its inputs.
STROP_IMPL InferenceMemory<Shape>::Found body_shapes(const Flow& flow, int g, const List<Shape>& seen) {
  return flow.shapes[g].find(seen, [&] {
    const SubGraph& sub = flow.graphs[g];
    const Graph graph(sub.outputs);
    Inference inference(graph);
    for (int i = 0; i < sub.inputs.size(); ++i)
      if (seen[i].has_rank()) inference.give_shape(graph.find(sub.inputs[i].node.get()), seen[i]);
    inference.infer_shapes();
    InferenceMemory<Shape>::Found found;
    for (const NodeOutput& input : sub.inputs) found.inputs.push_back(inference.shape(graph.value(input)));
    for (const NodeOutput& output : sub.outputs) found.outputs.push_back(inference.shape(graph.value(output)));
    return found;
  });
}
/// Their types, likewise.
STROP_IMPL InferenceMemory<std::optional<Dtype>>::Found body_types(const Flow& flow, int g,
                                                                   const List<std::optional<Dtype>>& seen) {
  return flow.types[g].find(seen, [&] {
    const SubGraph& sub = flow.graphs[g];
    const Graph graph(sub.outputs);
    Inference inference(graph);
    for (int i = 0; i < sub.inputs.size(); ++i)
      if (seen[i]) inference.give_type(graph.find(sub.inputs[i].node.get()), *seen[i]);
    inference.infer_known_types();
    InferenceMemory<std::optional<Dtype>>::Found found;
    for (const NodeOutput& input : sub.inputs) found.inputs.push_back(inference.type(graph.value(input)));
    for (const NodeOutput& output : sub.outputs) found.outputs.push_back(inference.type(graph.value(output)));
    return found;
  });
}

/// Shapes of one call, in the making.
class FlowShapes {
 public:
  FlowShapes(const Flow& flow, Shapes& shapes) : flow_(flow), s_(shapes) {}

  void run() {
    count_ = flow_.kind == FlowKind::while_loop ? flow_.most : Shape::unknown_extent;
    if (flow_.kind == FlowKind::foreach) count_entries();
    for (int g = 0; g < flow_.graphs.size(); ++g) infer(flow_.graphs[g], g);
    for (int i = 0; i < flow_.inputs; ++i)
      if (flow_.before[i] >= 0)
        s_.set_out(flow_.before[i], flow_.is_loop() ? collected_shape(count_, s_.in(i)) : s_.in(i));
    if (flow_.drawn >= 0) s_.set_out(flow_.drawn, {2});
    if (flow_.taken >= 0) s_.set_out(flow_.taken, {1});
  }

 private:
  void count_entries() {
    int first = -1;
    for (int i = 0; i < flow_.data; ++i) {
      const Shape& whole = s_.in(i);
      if (!whole.has_rank()) continue;
      if (whole.ndim() == 0) s_.fail(s_.name_in(i), " has shape ", whole, ", and so no axis to go along");
      if (whole[0] < 0) continue;
      if (count_ >= 0 && count_ != whole[0])
        s_.fail(s_.name_in(i), " has ", whole[0], " entries, and ", s_.name_in(first), " has ", count_);
      count_ = whole[0];
      first = i;
    }
    for (int k = 0; k < flow_.stacked && count_ < 0; ++k)
      if (s_.out(k).has_rank() && s_.out(k).ndim() > 0) count_ = s_.out(k)[0];
    for (int i = 0; i < flow_.data; ++i)
      if (s_.in(i).has_rank()) {
        Shape whole = s_.in(i);
        whole[0] = count_;
        s_.set_in(i, whole);
      }
  }

  void infer(const SubGraph& sub, int g) {
    List<Shape> seen;
    for (const int link : sub.links) seen.push_back(link < flow_.data ? entry_shape(s_.in(link)) : s_.in(link));
    const auto found = body_shapes(flow_, g, seen);
    for (int i = 0; i < sub.inputs.size(); ++i) learn(sub.links[i], found.inputs[i]);
    const auto result = [&](int k) -> const Shape& { return found.outputs[k]; };
    if (g == 0 && flow_.kind != FlowKind::foreach)
      check_condition(result(0));
    else if (flow_.is_loop())
      give_loop(result);
    else
      for (int k = 0; k < flow_.visible; ++k) give_branch(k, result(k), g);
  }

  void learn(int link, const Shape& seen) {
    if (link >= flow_.data) return s_.set_in(link, seen);
    // An entry of one element may come from a vector.
    if (!seen.has_rank() || (seen == Shape{1} && s_.in(link).ndim() < 2)) return;
    s_.set_in(link, collected_shape(count_, seen));
  }
  void check_condition(const Shape& shape) const {
    if (shape.known() && shape.size() != 1) s_.fail("the condition has shape ", shape, ", expected one element");
  }
  template <class Result>
  void give_loop(const Result& result) {
    for (int k = 0; k < flow_.stacked; ++k) s_.set_out(k, collected_shape(count_, result(k)));
    for (int j = 0; j < flow_.states.size(); ++j) {
      const int input = flow_.states[j];
      Shape both = s_.in(input);
      if (!unify(both, result(flow_.stacked + j)))
        s_.fail(s_.name_in(input), " enters the body with shape ", s_.in(input), " and leaves it with ",
                result(flow_.stacked + j), "; a state keeps its shape");
      s_.set_in(input, both);
      s_.set_out(flow_.stacked + j, both);
      if (flow_.history[j] >= flow_.visible) s_.set_out(flow_.history[j], collected_shape(count_, both));
    }
  }
  void give_branch(int k, const Shape& shape, int g) {
    Shape both = s_.out(k);
    if (!unify(both, shape))
      s_.fail("output ", k, " has shape ", g == 1 ? shape : both, " where the condition holds and ",
              g == 1 ? both : shape, " where it does not");
    s_.set_out(k, both);
  }

  const Flow& flow_;
  Shapes& s_;
  std::int64_t count_ = Shape::unknown_extent;
};

STROP_IMPL void infer_flow_shape(const void* op, Shapes& shapes) { FlowShapes(flow_in(op), shapes).run(); }

STROP_IMPL void infer_flow_type(const void* op, Types& types) {
  const Flow& flow = flow_in(op);
  for (int g = 0; g < flow.graphs.size(); ++g) {
    const SubGraph& sub = flow.graphs[g];
    List<std::optional<Dtype>> seen;
    for (const int link : sub.links) seen.push_back(types.in(link));
    const auto found = body_types(flow, g, seen);
    for (int i = 0; i < sub.inputs.size(); ++i) types.set_in(sub.links[i], found.inputs[i]);
    if (g == 0 && flow.kind != FlowKind::foreach) continue;
    for (int k = 0; k < flow.visible; ++k) {
      const std::optional<Dtype> made = found.outputs[k];
      const int j = k - flow.stacked;
      if (flow.is_loop() && j >= 0) {
        const std::optional<Dtype> given = types.in(flow.states[j]);
        if (given && made && *given != *made)
          types.fail("input '", flow.input_names[flow.states[j]], "' enters the body as ", name_of(*given),
                     " and leaves it as ", name_of(*made), "; a state keeps its type");
        types.set_in(flow.states[j], made);
        types.set_out(k, types.in(flow.states[j]));
        types.set_out(flow.history[j], types.in(flow.states[j]));
        continue;
      }
      if (const std::optional<Dtype> other = types.out(k); other && made && *other != *made && g == 2)
        types.fail("output ", k, " is ", name_of(*other), " where the condition holds and ", name_of(*made),
                   " where it does not");
      types.set_out(k, made);
    }
  }
  for (int i = 0; i < flow.inputs; ++i)
    if (flow.before[i] >= 0) types.set_out(flow.before[i], types.in(i));
  if (flow.drawn >= 0) types.set_out(flow.drawn, i64);
  if (flow.taken >= 0) types.set_out(flow.taken, i64);
}

/// Sparse arrays that bodies read from outside reach them; outputs, and the gradients of all inputs, are dense.
STROP_IMPL bool infer_flow_storage(const void* op, Storages& storages) {
  const Flow& flow = flow_in(op);
  bool serves = true;
  for (int i = 0; i < storages.inputs(); ++i) serves = serves && (storages.in(i) == dense || flow.takes_sparse(i));
  for (int k = 0; k < storages.outputs(); ++k) serves = storages.set_out(k, dense) && serves;
  return serves;
}
STROP_IMPL bool infer_flow_gradient_storage(const void* op, Storages& storages) {
  const Flow& flow = flow_in(op);
  const GradientRoles roles = gradient_roles(flow.entry.gradient, flow.inputs, flow.outputs);
  bool serves = true;
  for (int i = 0; i < storages.inputs(); ++i) {
    const auto& [role, at] = roles.takes[i];
    serves = serves && (storages.in(i) == dense || (role == Role::in && flow.takes_sparse(at)));
  }
  for (int k = 0; k < storages.outputs(); ++k) serves = storages.set_out(k, dense) && serves;
  return serves;
}

/// What any operator of the bodies asks for, but space, which each takes for itself.
STROP_IMPL Resources flow_resources(const void* op, std::span<const Shape> in) {
  const Flow& flow = flow_in(op);
  Resources needed;
  for (const SubGraph& sub : flow.graphs) {
    if (!sub.resources) continue;
    const Graph graph(sub.outputs);
    Inference inference(graph);
    for (int i = 0; i < sub.inputs.size(); ++i) {
      const Shape& whole = element(in, sub.links[i]);
      inference.give_shape(graph.find(sub.inputs[i].node.get()), sub.links[i] < flow.data ? entry_shape(whole) : whole);
    }
    inference.infer_shapes();
    for (int n = 0; n < graph.size(); ++n) {
      const Node& node = graph.node(n);
      if (node.is_variable() || node.entry->resources == nullptr) continue;
      List<Shape, 4> shapes;
      for (const NodeOutput& from : node.inputs)
        shapes.push_back(from.node ? inference.shape(graph.value(from)) : Shape{0});
      needed.random = needed.random || node.entry->resources(node.op(), shapes.span()).random;
    }
  }
  return needed;
}

}  // namespace strop::inline v0::detail
