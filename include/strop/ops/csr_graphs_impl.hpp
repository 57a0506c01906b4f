// SPDX-License-Identifier: Apache-2.0
/// \file
/// How graphs in CSR are sampled and cut.
#pragma once
#include <strop/core/config.hpp>
#include <strop/core/list.hpp>
#include <strop/core/log.hpp>
#include <strop/ops/cast.hpp>
#include <strop/ops/csr_graphs.hpp>
#include <strop/ops/index/kernels.hpp>
#include <strop/tensor/merged.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <span>
#include <string_view>

namespace strop::inline v0 {

namespace detail {

/// The edges of a graph, whose structure is checked where it is used: a file may claim anything.
struct EdgeReader {
  NDArray graph;
  IndexReader indices, indptr;
  explicit EdgeReader(const NDArray& given)
      : graph(merged(cast_storage(given, csr))), indices(graph.indices()), indptr(graph.indptr()) {}
  RowSpan from(std::int64_t v) const { return row_span(indptr, v, graph.nnz()); }
  std::int64_t vertex(std::int64_t edge) const { return checked_index(indices[edge], graph.shape()[1]); }
};

/// Edges of a graph that go into another one, row by row.
struct TakenEdges {
  List<std::int64_t> edges, columns;  // which stored values of the graph, and where in the row they go
  List<std::int64_t> starts = {0};
  void take(std::int64_t edge, std::int64_t column) {
    edges.push_back(edge);
    columns.push_back(column);
  }
  void end_row() { starts.push_back(edges.size()); }

  /// Into y, with the values of the graph, or `numbered` 0, 1, …. Rows that were not ended are empty.
  void write(std::string_view op, const NDArray& graph, const NDArray& y, bool numbered) const {
    if (numbered) check_numbers(op, graph.dtype());
    const NDArray out = y.storage() == csr ? y : NDArray::fresh_shell(y.shape(), y.dtype(), y.device(), csr);
    const std::int64_t count = edges.size(), size = size_of(graph.dtype());
    allocate_stored_as(out, count, i64);
    write_indices(out.indices(), columns.data(), count);
    write_indices(out.indptr(), starts.data(), starts.size());
    const List<std::int64_t> rest(y.shape()[0] + 1 - starts.size(), count);
    write_indices(out.indptr(), rest.data(), rest.size(), starts.size());
    for (std::int64_t k = 0; k < count; ++k)
      if (numbered)
        convert_elements(i64, &k, out.dtype(), out.bytes() + k * size, 1);
      else
        copy_bytes(out.bytes() + k * size, graph.bytes() + edges[k] * size, size);
    if (!out.is(y)) assign(out, y);
  }

 private:
  /// The last two numbers: of what a type cannot tell apart, one is odd. Booleans number nothing.
  void check_numbers(std::string_view op, Dtype type) const {
    if (type == boolean) return;
    for (std::int64_t k = std::max<std::int64_t>(0, edges.size() - 2); k < edges.size(); ++k) {
      std::int64_t told = 0, again = -1;
      convert_elements(i64, &k, type, &told, 1);
      convert_elements(type, &told, i64, &again, 1);
      if (again != k)
        fail(op, ": ", edges.size(), " edges cannot be numbered in ", name_of(type), ", the type of the graph");
    }
  }
};

/// Vertices in the order in which they were met, each once. `most` of them at most.
class MetVertices {
 public:
  struct Vertex {
    std::int64_t id, layer, at;  // at: the place of its edges among those that were taken, -1 for none
  };
  explicit MetVertices(std::int64_t most)
      : mask_(std::bit_ceil(static_cast<std::uint64_t>(2 * most + 2)) - 1),
        table_(static_cast<std::int64_t>(mask_) + 1, -1) {}
  void add(std::int64_t id, std::int64_t layer) {
    std::uint64_t at = static_cast<std::uint64_t>(id) * 0x9E3779B97F4A7C15u >> 20 & mask_;
    for (; table_[at] >= 0; at = (at + 1) & mask_)
      if (list_[table_[at]].id == id) return;
    table_[at] = list_.size();
    list_.push_back({id, layer, -1});
  }
  List<Vertex>& list() { return list_; }

 private:
  std::uint64_t mask_;
  List<std::int64_t> table_;  // of places in list_, from where an id hashes to on
  List<Vertex> list_;
};

/// Numbers of a stream, one after the other.
class Draws {
 public:
  explicit Draws(const random::Stream& stream) : stream_(stream) {}
  double uniform() { return stream_.uniform01d(next_++); }
  std::int64_t below(std::int64_t n) {
    return std::min(static_cast<std::int64_t>(uniform() * static_cast<double>(n)), n - 1);
  }

 private:
  random::Stream stream_;
  std::int64_t next_ = 0;
};

/// Some edges of a vertex, drawn without putting back: all of them equally often, or by the weight of the vertex that
/// each leads to.
class EdgeSampler {
 public:
  EdgeSampler(const EdgeReader& graph, const NDArray* weights, std::int64_t most, Draws draws, std::string_view op)
      : graph_(graph), weights_(weights), most_(most), draws_(draws), op_(op) {}
  /// The edges of v, ascending; all where there are no more than are wanted.
  const List<std::int64_t>& edges_of(std::int64_t v) {
    const RowSpan all = graph_.from(v);
    chosen_.clear();
    if (all.end - all.begin <= most_)
      for (std::int64_t e = all.begin; e < all.end; ++e) chosen_.push_back(e);
    else if (weights_ == nullptr)
      uniform(all);
    else
      by_weight(all);
    std::sort(chosen_.begin(), chosen_.end());
    return chosen_;
  }

 private:
  /// Of the first n + 1 edges the last, or one of the first n where that was drawn before: every set is equally likely.
  void uniform(RowSpan all) {
    const std::int64_t count = all.end - all.begin;
    if (drawn_.size() < count) drawn_.resize(count);
    for (std::int64_t n = count - most_; n < count; ++n) {
      const std::int64_t k = draws_.below(n + 1), taken = drawn_[k] ? n : k;
      drawn_[taken] = true;
      chosen_.push_back(all.begin + taken);
    }
    for (const std::int64_t e : chosen_) drawn_[e - all.begin] = false;
  }
  /// The edges with the least -log(u) / weight: as if one was drawn after the other by the weights of those that are
  /// left.
  void by_weight(RowSpan all) {
    keys_.clear();
    for (std::int64_t e = all.begin; e < all.end; ++e) {
      const double weight = weight_of(graph_.vertex(e)), u = draws_.uniform();
      if (weight > 0) keys_.push_back({-std::log1p(-u) / weight, e});
    }
    const std::int64_t count = std::min(most_, keys_.size());
    std::partial_sort(keys_.begin(), keys_.begin() + count, keys_.end(), [](const Key& a, const Key& b) {
      return a.least != b.least ? a.least < b.least : a.edge < b.edge;
    });
    for (std::int64_t k = 0; k < count; ++k) chosen_.push_back(keys_[k].edge);
  }
  double weight_of(std::int64_t v) const {
    double weight = 0;
    convert_elements(weights_->dtype(), weights_->bytes() + v * size_of(weights_->dtype()), f64, &weight, 1);
    if (!(weight >= 0) || std::isinf(weight))
      fail(op_, ": probability of vertex ", v, " is ", weight, ", expected a finite number of 0 or more");
    return weight;
  }
  struct Key {
    double least;
    std::int64_t edge;
  };
  const EdgeReader& graph_;
  const NDArray* weights_;
  std::int64_t most_;
  Draws draws_;
  std::string_view op_;
  List<std::int64_t> chosen_;
  List<bool> drawn_;
  List<Key> keys_;
};

/// What both sampling operators are told.
struct SampleSizes {
  std::int64_t hops, neighbors, vertices;
};

/// The vertices that `hops` steps along sampled edges lead to from `seeds`, and these edges: their numbers, the graph,
/// their weights where there are any, their steps.
STROP_IMPL void sample_graph(const EdgeReader& graph, const NDArray* weights, const NDArray& seeds, SampleSizes sizes,
                             Draws draws, std::string_view op, const NDArray& numbers, const NDArray& sample,
                             const NDArray* probability, const NDArray& layers) {
  const std::int64_t extent = graph.graph.shape()[0], most = std::min(sizes.vertices, extent);
  if (seeds.size() > sizes.vertices)
    fail(op, ": ", seeds.size(), " seed vertices, expected max_num_vertices = ", sizes.vertices, " at most");
  MetVertices met(most);
  auto& list = met.list();
  for (const std::int64_t v : positions(seeds, extent, Outside::from_end, op)) met.add(v, 0);
  EdgeSampler sampler(graph, weights, sizes.neighbors, draws, op);
  List<std::int64_t> taken, ends;
  std::int64_t at = 0;
  for (; at < list.size() && list.size() < sizes.vertices; ++at) {
    const std::int64_t layer = list[at].layer;
    if (layer >= sizes.hops) continue;
    list[at].at = ends.size();
    for (const std::int64_t edge : sampler.edges_of(list[at].id)) {
      taken.push_back(edge);
      if (list.size() < sizes.vertices) met.add(graph.vertex(edge), layer + 1);
    }
    ends.push_back(taken.size());
  }
  for (; at < list.size(); ++at)
    if (list[at].layer < sizes.hops) {
      log(cat(op, ": max_num_vertices = ", sizes.vertices, " was reached before all neighbours were sampled"));
      break;
    }

  std::sort(list.begin(), list.end(), [](const auto& a, const auto& b) { return a.id < b.id; });
  List<std::int64_t> ids(sizes.vertices + 1, -1), steps(sizes.vertices, -1);
  ids[sizes.vertices] = list.size();
  TakenEdges edges;
  for (std::int64_t i = 0; i < list.size(); ++i) {
    const auto& vertex = list[i];
    ids[i] = vertex.id;
    steps[i] = vertex.layer;
    if (vertex.at >= 0)
      for (std::int64_t k = vertex.at == 0 ? 0 : ends[vertex.at - 1]; k < ends[vertex.at]; ++k)
        edges.take(taken[k], graph.vertex(taken[k]));
    edges.end_row();
  }
  convert_elements(i64, ids.data(), numbers.dtype(), numbers.bytes(), ids.size());
  convert_elements(i64, steps.data(), layers.dtype(), layers.bytes(), steps.size());
  if (probability != nullptr) {
    const std::int64_t size = size_of(probability->dtype());
    clear(*probability, probability->size() * size);
    for (std::int64_t i = 0; i < list.size(); ++i)
      copy_bytes(probability->bytes() + i * size, weights->bytes() + list[i].id * size, size);
  }
  edges.write(op, graph.graph, sample, false);
}

}  // namespace detail

STROP_IMPL void DglUniformSample::forward(Cpu& ctx, const NDArray& graph, std::span<const NDArray> seeds,
                                          std::span<NDArray> y) const {
  const detail::EdgeReader edges(graph);
  const std::size_t sets = seeds.size();
  for (std::size_t i = 0; i < sets; ++i)
    detail::sample_graph(edges, nullptr, seeds[i], {num_hops, num_neighbor, max_num_vertices},
                         detail::Draws(ctx.random()), name, y[i], y[sets + i], nullptr, y[2 * sets + i]);
}

STROP_IMPL void DglNonUniformSample::forward(Cpu& ctx, const NDArray& graph, const NDArray& probability,
                                             std::span<const NDArray> seeds, std::span<NDArray> y) const {
  const detail::EdgeReader edges(graph);
  const std::size_t sets = seeds.size();
  for (std::size_t i = 0; i < sets; ++i)
    detail::sample_graph(edges, &probability, seeds[i], {num_hops, num_neighbor, max_num_vertices},
                         detail::Draws(ctx.random()), name, y[i], y[sets + i], &y[2 * sets + i], y[3 * sets + i]);
}

STROP_IMPL void DglSubgraph::forward(Cpu&, const NDArray& graph, std::span<const NDArray> vertices,
                                     std::span<NDArray> y) const {
  const detail::EdgeReader edges(graph);
  for (std::size_t i = 0; i < vertices.size(); ++i) {
    const auto kept = detail::positions(vertices[i], graph.shape()[0], detail::Outside::from_end, name);
    if (!std::is_sorted(kept.begin(), kept.end())) fail(name, ": the vertices of input ", i + 1, " do not ascend");
    detail::TakenEdges taken;
    for (const std::int64_t v : kept) {
      const detail::RowSpan all = edges.from(v);
      for (std::int64_t e = all.begin; e < all.end; ++e) {
        const std::int64_t to = edges.vertex(e), *at = std::lower_bound(kept.begin(), kept.end(), to);
        if (at != kept.end() && *at == to) taken.take(e, at - kept.begin());
      }
      taken.end_row();
    }
    taken.write(name, edges.graph, y[i], true);
    if (mapped()) taken.write(name, edges.graph, y[vertices.size() + i], false);
  }
}

STROP_IMPL void DglGraphCompact::forward(Cpu&, std::span<const NDArray> x, std::span<NDArray> y) const {
  const std::size_t graphs = x.size() / 2;
  for (std::size_t i = 0; i < graphs; ++i) {
    const detail::EdgeReader edges(x[i]);
    const std::int64_t size = (*graph_sizes)[static_cast<int>(i)];
    detail::List<std::int64_t> ids(x[graphs + i].size());
    detail::convert_elements(x[graphs + i].dtype(), x[graphs + i].bytes(), i64, ids.data(), ids.size());
    if (ids.back() != size)
      fail(name, ": graph_sizes has ", size, " for graph ", i, ", whose vertices are ", ids.back());
    ids.resize(size);
    if (!std::is_sorted(ids.begin(), ids.end())) fail(name, ": the vertices of graph ", i, " do not ascend");
    detail::TakenEdges taken;
    for (std::int64_t row = 0; row < size; ++row) {
      const detail::RowSpan all = edges.from(row);
      for (std::int64_t e = all.begin; e < all.end; ++e) {
        const std::int64_t to = edges.vertex(e), *at = std::lower_bound(ids.begin(), ids.end(), to);
        if (at == ids.end() || *at != to)
          fail(name, ": graph ", i, " has an edge to vertex ", to, ", which is not among its vertices");
        taken.take(e, at - ids.begin());
      }
      taken.end_row();
    }
    if ((size == 0 ? 0 : edges.from(size - 1).end) != edges.graph.nnz())
      fail(name, ": graph ", i, " has edges of vertices behind the first ", size);
    taken.write(name, edges.graph, y[i], true);
    if (mapped()) taken.write(name, edges.graph, y[graphs + i], false);
  }
}

}  // namespace strop::inline v0
