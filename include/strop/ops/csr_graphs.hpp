// SPDX-License-Identifier: Apache-2.0
/// \file
/// Graphs in CSR, where row v stores a value for each edge from vertex v: neighbours sampled (_contrib_dgl_csr_
/// neighbor_uniform_sample, _contrib_dgl_csr_neighbor_non_uniform_sample), parts (_contrib_dgl_subgraph), samples
/// without empty rows (_contrib_dgl_graph_compact).
#pragma once
#include <strop/core/checked.hpp>
#include <strop/op/op.hpp>
#include <strop/ops/list.hpp>

#include <cstdint>
#include <span>
#include <string_view>

namespace strop::inline v0 {

namespace detail {

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
                                    inputs[] = {"csr_matrix", "seed_arrays"};
  static constexpr const char* doc = "Vertices around others in a graph: so many steps along drawn edges.";
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
  void forward(Cpu& ctx, const NDArray& graph, std::span<const NDArray> seeds, std::span<NDArray> y) const;
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
                                    inputs[] = {"csr_matrix", "probability", "seed_arrays"};
  static constexpr const char* doc = "Vertices around others in a graph, likely ones rather than others.";
  static constexpr std::span<const Note> notes = detail::sample_notes;
  static constexpr std::span<const Range> range = detail::sample_ranges;
  static constexpr bool zero_gradient = true;

  constexpr int output_count() const {
    return detail::checked_outputs(4 * detail::larger(1, std::int64_t{num_args} - 2), name, "num_args");
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
               std::span<NDArray> y) const;
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
                                    inputs[] = {"graph", "data"};
  static constexpr const char* doc = "The edges of a graph between some vertices.";
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
  void forward(Cpu&, const NDArray& graph, std::span<const NDArray> vertices, std::span<NDArray> y) const;

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
/// behind all of them (MXNet leaves these empty). Any type, of which booleans tell no numbers apart; the
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
                                    inputs[] = {"graph_data"};
  static constexpr const char* doc = "A sampled graph without rows and columns that are empty.";
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
  void forward(Cpu&, std::span<const NDArray> x, std::span<NDArray> y) const;

 private:
  constexpr bool mapped() const { return return_mapping.value.value_or(false); }
};
template <>
inline constexpr bool detail::reads_any_index<DglGraphCompact> = true;
inline constexpr Op<DglGraphCompact, OnUse> dgl_graph_compact;

using GraphOps = OpList<DglUniformSample, DglNonUniformSample, DglSubgraph, DglGraphCompact>;

}  // namespace strop::inline v0

#if !defined(STROP_COMPILED)
#include <strop/ops/csr_graphs_impl.hpp>
#endif
