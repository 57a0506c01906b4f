// SPDX-License-Identifier: Apache-2.0
/// \file
/// Which nodes are computed a second time, so that training fits into so many bytes.
#pragma once
#include <strop/core/config.hpp>
#include <strop/graph/executor_gradient_impl.hpp>
#include <strop/graph/graph.hpp>
#include <strop/graph/infer_impl.hpp>
#include <strop/graph/mirror.hpp>

#include <string>
#include <utility>
#include <vector>

namespace strop::inline v0 {
namespace detail {

/// Where a graph may be cut, and what is marked for so many segments.
class Segments {
 public:
  Segments(const Symbol& net, const NamedShapes& shapes) : graph_(net.outputs()), known_(net) {
    known_.give("mirror_within", shapes, [&](int n, const Shape& shape) { known_.inference.give_shape(n, shape); });
    known_.inference.infer_shapes();
    known_.inference.infer_types();
    last_.resize(graph_.size());
    for (int n = 0; n < graph_.size(); ++n)
      for (const NodeOutput& in : graph_.node(n).inputs)
        if (in.node) last_[graph_.find(in.node.get())] = n;
    List<std::int64_t> more(graph_.size() + 1);
    for (int n = 0; n < graph_.size(); ++n) {
      const std::int64_t bytes = bytes_of(n);
      total_ += bytes;
      behind_.push_back(total_);
      more[n] += bytes;
      if (last_[n] > n) more[last_[n]] -= bytes;
      if (last_[n] <= n) more[n] -= bytes;
    }
    std::int64_t alive = 0;
    for (int n = 0; n < graph_.size(); ++n) alive_.push_back(alive += more[n]);
  }

  int nodes() const { return graph_.size(); }

  /// All but the last segment is computed again, from what is alive at the cuts.
  void mark(int segments) {
    List<bool> kept(graph_.size());
    int cut = -1;
    for (int s = 1; s < segments; ++s) {
      const std::int64_t aim = total_ / segments * s, reach = total_ / segments / 3;
      int best = -1;
      for (int n = 0; n < graph_.size(); ++n)
        if (n > cut && behind_[n] >= aim - reach && behind_[n] <= aim + reach && (best < 0 || alive_[n] < alive_[best]))
          best = n;
      if (best < 0) continue;
      cut = best;
      for (int n = 0; n <= cut; ++n) kept[n] = kept[n] || last_[n] > cut;
    }
    for (int n = 0; n < graph_.size(); ++n) {
      Node& node = graph_.node(n);
      if (node.is_variable()) continue;
      NamedTexts others;
      for (const auto& one : node.attributes)
        if (one.first != mirror_key) others.push_back(one);
      if (n <= cut && !kept[n]) others.push_back({std::string(mirror_key), "True"});
      node.attributes = std::move(others);
    }
  }

 private:
  std::int64_t bytes_of(int n) {
    const Node& node = graph_.node(n);
    std::int64_t bytes = 0;
    for (int k = 0; k < node.outputs() && !node.is_variable(); ++k) {
      const int v = known_.graph.value(known_.graph.find(&node), k);
      if (known_.inference.shape(v).known()) bytes += byte_count(known_.inference.shape(v), *known_.inference.type(v));
    }
    return bytes;
  }

  Graph graph_;
  NamedInference known_;
  List<int> last_;
  List<std::int64_t> behind_, alive_;  // bytes that are computed up to each node, and that are alive behind it
  std::int64_t total_ = 0;
};

/// Planned as an executor is, without its memory.
STROP_IMPL Ref<BoundGraph> bound_dry(const Symbol& net, const NamedShapes& shapes, bool training) {
  const Inferred<Shape> found = net.infer_shape(shapes);
  const Inferred<Dtype> type = net.infer_type({});
  const Ref<BoundGraph> run(new BoundGraph(net, cpu()));
  run->dry = true;
  const Graph graph(net.outputs());
  const List<bool> written = graph.auxiliary();
  NamedArrays args, aux;
  for (int n = 0; n < graph.size(); ++n) {
    const Node& node = graph.node(n);
    if (!node.is_variable()) continue;
    NamedArrays& kind = written[n] ? aux : args;
    const std::size_t i = kind.size();
    kind.emplace_back(node.name,
                      NDArray::shell(written[n] ? found.aux[i] : found.args[i], written[n] ? type.aux[i] : type.args[i],
                                     cpu(), node.variable.storage.value_or(dense)));
  }
  run->take_arrays(args, aux);
  run->take_gradients({}, training ? GradRequest::write : GradRequest::null, BoundGraph::Make::floating);
  if (!run->no_gradient.empty()) throw Error(run->no_gradient);
  return run;
}
STROP_IMPL MemoryPlan dry_plan(const Symbol& net, const NamedShapes& shapes, bool training) {
  return bound_dry(net, shapes, training)->memory_plan();
}

}  // namespace detail

STROP_IMPL std::int64_t mirror_within(const Symbol& net, const NamedShapes& shapes, std::int64_t bytes) {
  if (!net.defined()) fail("mirror_within: the symbol is empty");
  detail::Segments segments(net, shapes);
  std::int64_t least = -1;
  int best = 1;
  for (int count = 1; count <= segments.nodes() && count <= 96; count += count < 8 ? 1 : count / 4) {
    segments.mark(count);
    const std::int64_t planned = detail::bound_dry(net, shapes, true)->placement.bytes;
    if (least < 0 || planned < least) least = planned, best = count;
    if (least <= bytes) return least;
  }
  segments.mark(best);
  return least;
}

}  // namespace strop::inline v0
