// SPDX-License-Identifier: Apache-2.0
/// \file
/// Graphs in CSR, where row v stores a value for each edge from vertex v: neighbours sampled (_contrib_dgl_csr_
/// neighbor_uniform_sample, _contrib_dgl_csr_neighbor_non_uniform_sample), parts (_contrib_dgl_subgraph), samples
/// without empty rows (_contrib_dgl_graph_compact).
#pragma once
#include <strop/core/list.hpp>
#include <strop/core/log.hpp>
#include <strop/op/op.hpp>
#include <strop/ops/cast.hpp>
#include <strop/ops/index/kernels.hpp>
#include <strop/ops/list.hpp>
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
inline void sample_graph(const EdgeReader& graph, const NDArray* weights, const NDArray& seeds, SampleSizes sizes,
                         Draws draws, std::string_view op, const NDArray& numbers, const NDArray& sample,
                         const NDArray* probability, const NDArray& layers) {
  const std::int64_t extent = graph.graph.shape()[0], most = std::min(sizes.vertices, extent);
  if (seeds.size() > sizes.vertices)
    fail(op, ": ", seeds.size(), " seed vertices, expected max_num_vertices = ", sizes.vertices, " at most");
  MetVertices met(most);
  auto& list = met.list();
  for (const std::int64_t v : positions(seeds, extent, Outside::raise, op)) met.add(v, 0);
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

/// The graph comes first and is csr; what follows is dense.
constexpr bool infer_graph_storage(Storages& s, std::string_view op, int graphs, int first_made, int made) {
  bool served = true;
  for (int i = 0; i < s.inputs(); ++i) {
    if (i < graphs && s.in(i) != csr) fail(op, ": graph ", i, " is ", name_of(s.in(i)), ", expected csr");
    served = served && s.in(i) == (i < graphs ? csr : dense);
  }
  for (int k = 0; k < s.outputs(); ++k) {
    const Storage natural = k >= first_made && k < first_made + made ? csr : dense;
    if (!s.out(k)) s.set_out(k, natural);
    served = served && (natural == csr || s.out(k) == dense);
  }
  return served;
}

/// Shapes of a graph and of the sets of what is sampled of it, of which `graphs_at` is that of graphs.
constexpr void infer_sample_shapes(Shapes& s, int first_seeds, std::int64_t vertices) {
  const int sets = s.inputs() - first_seeds;
  if (sets < 1) s.fail("num_args is ", s.inputs(), ", expected ", first_seeds + 1, " or more");
  s.expect_rank(0, 2);
  const Shape& graph = s.in(0);
  if (graph.has_rank() && graph[0] >= 0 && graph[1] >= 0 && graph[0] != graph[1])
    s.fail(s.name_in(0), " has shape ", graph, ", expected as many columns as rows");
  if (first_seeds == 2 && graph.has_rank()) s.set_in(1, Shape{graph[0]});
  for (int i = 0; i < sets; ++i) {
    s.expect_rank(first_seeds + i, 1);
    s.set_out(i, Shape{vertices + 1});
    if (graph.has_rank()) s.set_out(sets + i, Shape{vertices, graph[1]});
    for (int set = 2; set < s.outputs() / sets; ++set) s.set_out(set * sets + i, Shape{vertices});
  }
}

inline constexpr std::int64_t most_vertices = std::int64_t{1} << 40;
inline constexpr Range sample_ranges[] = {
    {"num_args", 2}, {"num_hops", 0}, {"num_neighbor", 0}, {"max_num_vertices", 1, most_vertices}};
inline constexpr Note sample_notes[] = {
    {"num_args", "how many inputs there are"},
    {"num_hops", "how many steps are taken from the seeds"},
    {"num_neighbor", "how many edges of a vertex are drawn at most"},
    {"max_num_vertices", "how many vertices a sample has at most; at least as many as there are seeds"},
    {"csr_matrix", "a graph: a csr matrix of any type with as many rows as columns, an edge in each stored value"},
    {"probability", "how likely each vertex is drawn, relative to the others"},
    {"seed_arrays", "lists of vertices to start from, each for a sample of its own"}};

}  // namespace detail

/// _contrib_dgl_csr_neighbor_uniform_sample: for each list of seeds the vertices that `num_hops` steps lead to, where a
/// vertex is left by `num_neighbor` of its edges, drawn without putting back, or by all that it has.
///
/// A sample has `max_num_vertices` vertices at most: when there are as many, no further vertex is left, which a line
/// says. Results, each for all lists before the next one: the vertices, ascending, in int64, and in the element behind
/// the last place how many there are; the edges that were drawn, csr of shape (max_num_vertices, columns of the graph)
/// with a row for each vertex and the values of the graph; how many steps each vertex is away, in int64. What there is
/// no vertex for is −1. Any type; the derivative is 0. Error: another number of inputs, a graph that is not csr or not
/// square, a seed outside, more seeds than vertices.
struct DglUniformSample {
  int num_args = 2;
  std::int64_t num_hops = 1, num_neighbor = 2, max_num_vertices = 100;
  static constexpr Resources resources{.random = true};
  static constexpr std::string_view name = "_contrib_dgl_csr_neighbor_uniform_sample",
                                    aliases[] = {"dgl_csr_neighbor_uniform_sample"},
                                    inputs[] = {"csr_matrix", "seed_arrays"},
                                    doc = "Vertices around others in a graph: so many steps along drawn edges.";
  static constexpr std::span<const Note> notes = detail::sample_notes;
  static constexpr std::span<const Range> range = detail::sample_ranges;
  static constexpr bool zero_gradient = true;

  constexpr int output_count() const {
    return detail::checked_outputs(3 * std::int64_t{num_args - 1}, name, "num_args");
  }
  constexpr void infer_shape(Shapes& s) const {
    detail::check_count(s, num_args);
    detail::infer_sample_shapes(s, 1, max_num_vertices);
  }
  constexpr void infer_type(Types& t) const {
    for (int k = 0, sets = t.outputs() / 3; k < t.outputs(); ++k) t.set_out(k, k / sets == 1 ? t.in(0) : i64);
  }
  constexpr bool infer_storage(Storages& s) const {
    return detail::infer_graph_storage(s, name, 1, s.outputs() / 3, s.outputs() / 3);
  }
  void forward(Cpu& ctx, const NDArray& graph, std::span<const NDArray> seeds, std::span<NDArray> y) const {
    const detail::EdgeReader edges(graph);
    const std::size_t sets = seeds.size();
    for (std::size_t i = 0; i < sets; ++i)
      detail::sample_graph(edges, nullptr, seeds[i], {num_hops, num_neighbor, max_num_vertices},
                           detail::Draws(ctx.random()), name, y[i], y[sets + i], nullptr, y[2 * sets + i]);
  }
};
template <>
inline constexpr bool detail::reads_any_index<DglUniformSample> = true;
inline constexpr Op<DglUniformSample, OnUse> dgl_csr_neighbor_uniform_sample;

/// _contrib_dgl_csr_neighbor_non_uniform_sample: _contrib_dgl_csr_neighbor_uniform_sample whose edges are drawn one
/// after the other, each by the probability of the vertex that it leads to among those that are left.
///
/// Probabilities need not add up to 1; a vertex with 0 is never drawn, but taken where all edges are. Between the edges
/// and the steps stand the probabilities of the sample's vertices, 0 where there is no vertex. They have any type.
/// Error: as there; a probability below 0 or not finite.
struct DglNonUniformSample {
  int num_args = 3;
  std::int64_t num_hops = 1, num_neighbor = 2, max_num_vertices = 100;
  static constexpr Resources resources{.random = true};
  static constexpr std::string_view name = "_contrib_dgl_csr_neighbor_non_uniform_sample",
                                    aliases[] = {"dgl_csr_neighbor_non_uniform_sample"},
                                    inputs[] = {"csr_matrix", "probability", "seed_arrays"},
                                    doc = "Vertices around others in a graph, likely ones rather than others.";
  static constexpr std::span<const Note> notes = detail::sample_notes;
  static constexpr std::span<const Range> range = detail::sample_ranges;
  static constexpr bool zero_gradient = true;

  constexpr int output_count() const {
    return detail::checked_outputs(4 * std::max<std::int64_t>(1, std::int64_t{num_args} - 2), name, "num_args");
  }
  constexpr void infer_shape(Shapes& s) const {
    detail::check_count(s, num_args);
    detail::infer_sample_shapes(s, 2, max_num_vertices);
  }
  constexpr void infer_type(Types& t) const {
    for (int k = 0, sets = t.outputs() / 4; k < t.outputs(); ++k)
      t.set_out(k, k / sets == 1 ? t.in(0) : k / sets == 2 ? t.in(1) : i64);
  }
  constexpr bool infer_storage(Storages& s) const {
    return detail::infer_graph_storage(s, name, 1, s.outputs() / 4, s.outputs() / 4);
  }
  void forward(Cpu& ctx, const NDArray& graph, const NDArray& probability, std::span<const NDArray> seeds,
               std::span<NDArray> y) const {
    const detail::EdgeReader edges(graph);
    const std::size_t sets = seeds.size();
    for (std::size_t i = 0; i < sets; ++i)
      detail::sample_graph(edges, &probability, seeds[i], {num_hops, num_neighbor, max_num_vertices},
                           detail::Draws(ctx.random()), name, y[i], y[sets + i], &y[2 * sets + i], y[3 * sets + i]);
  }
};
template <>
inline constexpr bool detail::reads_any_index<DglNonUniformSample> = true;
inline constexpr Op<DglNonUniformSample, OnUse> dgl_csr_neighbor_non_uniform_sample;

/// _contrib_dgl_subgraph: for each list of vertices, ascending, the edges between these: csr of the graph's type with a
/// row and a column for each of them.
///
/// The values number the edges, 0, 1, …; with `return_mapping` the same matrices with the values of the graph follow
/// behind all lists. Of a vertex that is listed twice only the first has edges that lead to it. Any type, of which
/// booleans tell no numbers apart; the derivative is 0. Error: another number of inputs, a graph that is not csr,
/// vertices outside or not ascending, more edges than its type can number.
///
/// Example: of `array({{1, 0, 2}, {0, 3, 4}, {5, 0, 0}}).to(csr)` and vertices [0, 2] with return_mapping they are
/// [[0, 1], [2, 0]], which stores three values, and [[1, 2], [5, 0]].
struct DglSubgraph {
  int num_args = 2;
  Required<bool> return_mapping = {};
  static constexpr std::string_view name = "_contrib_dgl_subgraph", aliases[] = {"dgl_subgraph"},
                                    inputs[] = {"graph", "data"}, doc = "The edges of a graph between some vertices.";
  static constexpr Note notes[] = {{"num_args", "how many inputs there are"},
                                   {"return_mapping", "also the same matrices with the values of the graph"},
                                   {"graph", "a csr matrix of any type, an edge in each stored value"},
                                   {"data", "lists of vertices, ascending, each for a result of its own"}};
  static constexpr Range range[] = {{"num_args", 2}};
  static constexpr bool zero_gradient = true;

  constexpr int output_count() const {
    return detail::checked_outputs((1 + mapped()) * std::int64_t{num_args - 1}, name, "num_args");
  }
  constexpr void infer_shape(Shapes& s) const {
    detail::check_count(s, num_args);
    s.expect_rank(0, 2);
    for (int i = 1; i < s.inputs(); ++i) {
      s.expect_rank(i, 1);
      if (!s.in(i).has_rank()) continue;
      for (int k = i - 1; k < s.outputs(); k += s.inputs() - 1) s.set_out(k, Shape{s.in(i)[0], s.in(i)[0]});
    }
  }
  constexpr void infer_type(Types& t) const {
    for (int k = 0; k < t.outputs(); ++k) t.set_out(k, t.in(0));
  }
  constexpr bool infer_storage(Storages& s) const { return detail::infer_graph_storage(s, name, 1, 0, s.outputs()); }
  void forward(Cpu&, const NDArray& graph, std::span<const NDArray> vertices, std::span<NDArray> y) const {
    const detail::EdgeReader edges(graph);
    for (std::size_t i = 0; i < vertices.size(); ++i) {
      const auto kept = detail::positions(vertices[i], graph.shape()[0], detail::Outside::raise, name);
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

 private:
  constexpr bool mapped() const { return return_mapping.value.value_or(false); }
};
template <>
inline constexpr bool detail::reads_any_index<DglSubgraph> = true;
inline constexpr Op<DglSubgraph, OnUse> dgl_subgraph;

/// _contrib_dgl_graph_compact: of graphs and vertices as the sampling operators give them, all graphs before all
/// vertices, each graph without the rows and columns that have no vertex: csr of its type with a row and a column for
/// each of `graph_sizes` vertices.
///
/// The values number the edges, 0, 1, …; with `return_mapping` the same matrices with the values of the graph follow
/// behind all of them (the original leaves these empty). Any type, of which booleans tell no numbers apart; the
/// derivative is 0. Error: another number of inputs or of sizes, a graph that is not csr, a size that is not the last
/// element of its vertices, vertices that do not ascend, edges of rows behind these, more edges than its type can
/// number, an edge to a vertex that is not among them, which a sample has that reached `max_num_vertices`.
///
/// Example: of `csr_matrix({7, 8}, {0, 4}, {0, 0, 2, 2}, {3, 5})`, vertices [0, 3, 4, 3] and graph_sizes = (3,) it
/// stores 0 at (1, 0) and 1 at (1, 2).
struct DglGraphCompact {
  int num_args = 2;
  Required<bool> return_mapping = {};
  Required<Shape> graph_sizes = {};
  static constexpr std::string_view name = "_contrib_dgl_graph_compact", aliases[] = {"dgl_graph_compact"},
                                    inputs[] = {"graph_data"},
                                    doc = "A sampled graph without rows and columns that are empty.";
  static constexpr Note notes[] = {{"num_args", "how many inputs there are"},
                                   {"return_mapping", "also the same matrices with the values of the graphs"},
                                   {"graph_sizes", "how many vertices each graph has"},
                                   {"graph_data", "csr matrices of any type, then the vertices of each"}};
  static constexpr Range range[] = {{"num_args", 2}};
  static constexpr bool zero_gradient = true;

  constexpr int output_count() const {
    return detail::checked_outputs((1 + mapped()) * std::int64_t{num_args / 2}, name, "num_args");
  }
  constexpr void infer_shape(Shapes& s) const {
    detail::check_count(s, num_args);
    const int graphs = num_args / 2;
    if (num_args % 2 != 0) s.fail("num_args is ", num_args, ", expected as many lists of vertices as graphs");
    if ((*graph_sizes).ndim() != graphs)
      s.fail("parameter 'graph_sizes' is ", *graph_sizes, ", expected a number for each of ", graphs, " graphs");
    for (int i = 0; i < graphs; ++i) {
      const std::int64_t size = (*graph_sizes)[i];
      s.expect_rank(i, 2);
      s.expect_rank(graphs + i, 1);
      if (size < 0 || (s.in(i).known() && size > s.in(i)[0]) ||
          (s.in(graphs + i).known() && size >= s.in(graphs + i)[0]))
        s.fail("parameter 'graph_sizes' is ", *graph_sizes, ", graph ", i, " has ", s.in(i), " and its vertices ",
               s.in(graphs + i));
      for (int k = i; k < s.outputs(); k += graphs) s.set_out(k, Shape{size, size});
    }
  }
  constexpr void infer_type(Types& t) const {
    detail::check_count(t, num_args);
    for (int k = 0, graphs = t.inputs() / 2; k < t.outputs(); ++k) t.set_out(k, t.in(k % graphs));
  }
  constexpr bool infer_storage(Storages& s) const {
    return detail::infer_graph_storage(s, name, s.inputs() / 2, 0, s.outputs());
  }
  void forward(Cpu&, std::span<const NDArray> x, std::span<NDArray> y) const {
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

 private:
  constexpr bool mapped() const { return return_mapping.value.value_or(false); }
};
template <>
inline constexpr bool detail::reads_any_index<DglGraphCompact> = true;
inline constexpr Op<DglGraphCompact, OnUse> dgl_graph_compact;

using GraphOps = OpList<DglUniformSample, DglNonUniformSample, DglSubgraph, DglGraphCompact>;

}  // namespace strop::inline v0
