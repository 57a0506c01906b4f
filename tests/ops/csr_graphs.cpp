// SPDX-License-Identifier: Apache-2.0
/// \file
/// Operators on graphs in CSR: what MXNet 1.9.1 gives where nothing is drawn, frequencies where something is.
#include "value_rows.hpp"

#include <cmath>
#include <map>
#include <utility>

using namespace ops_test;
using strop::array;

namespace {

constexpr auto uniform = "_contrib_dgl_csr_neighbor_uniform_sample";
constexpr auto by_weight = "_contrib_dgl_csr_neighbor_non_uniform_sample";

NDArray ids(std::initializer_list<std::int64_t> list) { return strop::array(std::vector<std::int64_t>(list)); }

/// Five vertices, an edge from each to every other: 1 to 20, row by row.
NDArray everything() {
  return strop::csr_matrix(strop::arange(1, 21, 1, strop::i64),
                           ids({1, 2, 3, 4, 0, 2, 3, 4, 0, 1, 3, 4, 0, 1, 2, 4, 0, 1, 2, 3}),
                           ids({0, 4, 8, 12, 16, 20}), {5, 5});
}
Arrays sampled(std::string_view op, const Arrays& in, const char* hops, const char* neighbors, const char* vertices) {
  const std::string count = std::to_string(in.size());
  return strop::invoke_all(
      op, in, {{"num_args", count}, {"num_hops", hops}, {"num_neighbor", neighbors}, {"max_num_vertices", vertices}});
}
std::string not_sampled(std::string_view op, const Arrays& in, const char* vertices = "6") {
  return testing::sentence([&] {
    for (const NDArray& a : sampled(op, in, "1", "2", vertices)) a.wait();
  });
}
std::string quiet_line;
void keep_line(std::string_view line) { quiet_line = line; }

}  // namespace

TEST_CASE("all neighbours of a vertex, as MXNet has them") {
  const NDArray graph = everything();
  const Arrays y = sampled(uniform, {graph, ids({3})}, "1", "10", "6");
  REQUIRE(y.size() == 3);
  CHECK(values(y[0]) == Numbers{0, 1, 2, 3, 4, -1, 5});
  CHECK(y[0].dtype() == strop::i64);
  CHECK(y[1].storage() == strop::csr);
  CHECK(y[1].dtype() == strop::i64);
  y[1].check_format();
  CHECK(y[1].shape() == Shape{6, 5});
  CHECK(values(y[1].data()) == Numbers{13, 14, 15, 16});
  CHECK(values(y[1].indices()) == Numbers{0, 1, 2, 4});
  CHECK(values(y[1].indptr()) == Numbers{0, 0, 0, 0, 4, 4, 4});
  CHECK(values(y[2]) == Numbers{1, 1, 1, 0, 1, -1});

  // Two steps reach every edge; the weights of what is taken anyway do not matter.
  const NDArray weights = array({0.5, 0, 0.25, 4, 1});
  const Arrays all = sampled(by_weight, {graph, weights, ids({3, 3})}, "2", "4", "6");
  REQUIRE(all.size() == 4);
  CHECK(values(all[0]) == Numbers{0, 1, 2, 3, 4, -1, 5});
  CHECK(values(all[1].data()) == values(graph.data()));
  CHECK(values(all[2]) == Numbers{0.5, 0, 0.25, 4, 1, 0});
  CHECK(all[2].dtype() == strop::f32);
  CHECK(values(all[3]) == Numbers{1, 1, 1, 0, 1, -1});

  const Arrays none = sampled(uniform, {graph, ids({3, 1})}, "0", "2", "2");
  CHECK(values(none[0]) == Numbers{1, 3, 2});
  CHECK(none[1].nnz() == 0);
  CHECK(values(none[2]) == Numbers{0, 0});

  // Each list of seeds has a sample of its own: all vertices, then all graphs, then all steps. Indices of 32 bits.
  const NDArray narrow = strop::csr_matrix(graph.data().to(strop::f32), graph.indices().to(strop::i32),
                                           graph.indptr().to(strop::i32), {5, 5});
  const Arrays two = sampled(uniform, {narrow, array({3}), array({0})}, "1", "4", "5");
  REQUIRE(two.size() == 6);
  CHECK(values(two[2].data()) == Numbers{13, 14, 15, 16});
  CHECK(values(two[3].data()) == Numbers{1, 2, 3, 4});
  CHECK(values(two[5]) == Numbers{0, 1, 1, 1, 1});
}

TEST_CASE("a sample that has all the vertices that it may") {
  const auto before = strop::set_log_sink([](std::string_view line) noexcept { keep_line(line); });
  const Arrays y = sampled(uniform, {everything(), ids({3})}, "2", "10", "3");
  for (const NDArray& a : y) a.wait();
  strop::set_log_sink(before);
  CHECK(values(y[0]) == Numbers{0, 1, 3, 3});
  CHECK(values(y[1].data()) == Numbers{13, 14, 15, 16});
  CHECK(values(y[2]) == Numbers{1, 1, 0});
  CHECK(quiet_line.find("max_num_vertices = 3 was reached before all neighbours were sampled") != std::string::npos);
  CHECK(refusal("_contrib_dgl_graph_compact", {{"return_mapping", "False"}, {"graph_sizes", "(3,)"}}, {y[1], y[0]}) ==
        "_contrib_dgl_graph_compact: graph 0 has an edge to vertex 2, which is not among its vertices");
}

TEST_CASE("edges are drawn without putting back, as often as they should be") {
  const NDArray graph = everything(), weights = array({9, 4, 2, 0, 1});
  strop::random::seed(3);
  constexpr int calls = 2000;
  std::map<std::pair<double, double>, int> even, weighted;
  for (int i = 0; i < calls; ++i) {
    const Numbers e = values(sampled(uniform, {graph, ids({0})}, "1", "2", "5")[1].data());
    const Numbers w = values(sampled(by_weight, {graph, weights, ids({0})}, "1", "2", "5")[1].data());
    REQUIRE(e.size() == 2);
    REQUIRE(w.size() == 2);
    ++even[{e[0], e[1]}], ++weighted[{w[0], w[1]}];
  }
  const auto as_expected = [&](int count, double p) {
    return std::abs(count - calls * p) < 5 * std::sqrt(calls * p * (1 - p));
  };
  CHECK(even.size() == 6);
  for (const auto& [pair, count] : even) CHECK(as_expected(count, 1.0 / 6));
  // Edges 1, 2 and 4 lead to weights 4, 2 and 1, edge 3 to weight 0: one is drawn, then one of those that are left.
  const auto both = [](double a, double b, double sum) { return a / sum * b / (sum - a) + b / sum * a / (sum - b); };
  CHECK(weighted.size() == 3);
  CHECK(as_expected(weighted[{1, 2}], both(4, 2, 7)));
  CHECK(as_expected(weighted[{1, 4}], both(4, 1, 7)));
  CHECK(as_expected(weighted[{2, 4}], both(2, 1, 7)));
  // Only one edge can be drawn: MXNet repeats it.
  CHECK(values(sampled(by_weight, {graph, array({0, 0, 0, 0, 1}), ids({3})}, "1", "2", "6")[1].data()) == Numbers{16});
  // The same seed, the same sample.
  const auto drawn = [&] {
    strop::random::seed(8);
    return values(sampled(uniform, {graph, ids({2})}, "3", "1", "5")[1].data());
  };
  CHECK(drawn() == drawn());
}

TEST_CASE("edges between some vertices") {
  const NDArray graph =
      strop::csr_matrix(array({1, 2, 3, 4, 5, 6, 7}), ids({0, 3, 0, 2, 1, 1, 2}), ids({0, 2, 4, 5, 7}), {4, 4});
  const auto part = [&](const NDArray& v) {
    return strop::invoke_all("_contrib_dgl_subgraph", {graph, v}, {{"return_mapping", "True"}});
  };
  const Arrays y = part(ids({0, 1, 2}));
  REQUIRE(y.size() == 2);
  CHECK(values(y[0].data()) == Numbers{0, 1, 2, 3});
  CHECK(values(y[0].indices()) == Numbers{0, 0, 2, 1});
  CHECK(values(y[0].indptr()) == Numbers{0, 1, 3, 4});
  CHECK(values(y[1]) == Numbers{1, 0, 0, 3, 0, 4, 0, 5, 0});
  CHECK(y[1].storage() == strop::csr);
  const Arrays twice = part(ids({1, 2, 2}));
  CHECK(values(twice[1]) == Numbers{0, 4, 0, 5, 0, 0, 5, 0, 0});
  CHECK(part(ids({}))[0].shape() == Shape{0, 0});
  const Arrays two = strop::invoke_all("_contrib_dgl_subgraph", {graph, ids({0, 2}), ids({1, 3})},
                                       {{"num_args", "3"}, {"return_mapping", "False"}});
  REQUIRE(two.size() == 2);
  CHECK(two[0].nnz() == 1);
  CHECK(values(two[1].indptr()) == Numbers{0, 0, 1});
  const auto said = [&](const Arrays& in, const char* count = "2") {
    return refusal("_contrib_dgl_subgraph", {{"num_args", count}, {"return_mapping", "False"}}, in);
  };
  CHECK(said({graph, ids({1, 0})}) == "_contrib_dgl_subgraph: the vertices of input 1 do not ascend");
  CHECK(said({graph, ids({1, 9})}) == "_contrib_dgl_subgraph: position 9 is outside an axis of extent 4");
  CHECK(said({graph.to(strop::dense), ids({1})}) == "_contrib_dgl_subgraph: graph 0 is dense, expected csr");
  CHECK(said({graph, ids({1}), ids({2})}) == "_contrib_dgl_subgraph: num_args is 2, 3 inputs were given");
}

TEST_CASE("samples without what is empty") {
  const NDArray graph = everything();
  const Arrays sample = sampled(uniform, {graph, ids({3}), ids({1})}, "1", "1", "6");
  const Arrays y = strop::invoke_all("_contrib_dgl_graph_compact", {sample[2], sample[3], sample[0], sample[1]},
                                     {{"num_args", "4"}, {"return_mapping", "True"}, {"graph_sizes", "(2, 2)"}});
  REQUIRE(y.size() == 4);
  for (std::size_t i = 0; i < 2; ++i) {
    const double seed = i == 0 ? 3 : 1, other = values(sample[i])[values(sample[i])[0] == seed ? 1 : 0];
    const bool first = seed < other;
    CHECK(y[i].shape() == Shape{2, 2});
    CHECK(values(y[i].data()) == Numbers{0});
    CHECK(values(y[i].indices()) == Numbers{first ? 1.0 : 0.0});
    CHECK(values(y[i].indptr()) == (first ? Numbers{0, 1, 1} : Numbers{0, 0, 1}));
    CHECK(values(y[2 + i].data()) == values(sample[2 + i].data()));
    y[2 + i].check_format();
  }
  const auto said = [&](const char* graph_sizes) {
    return refusal("_contrib_dgl_graph_compact", {{"return_mapping", "False"}, {"graph_sizes", graph_sizes}},
                   {sample[2], sample[0]});
  };
  CHECK(said("(1,)") == "_contrib_dgl_graph_compact: graph_sizes has 1 for graph 0, whose vertices are 2");
  CHECK(said("(2, 2)") ==
        "_contrib_dgl_graph_compact: parameter 'graph_sizes' is (2, 2), expected a number for each of 1 graphs");
  CHECK(said("(7,)") ==
        "_contrib_dgl_graph_compact: parameter 'graph_sizes' is (7,), graph 0 has (6, 5) and its vertices (7,)");
}

TEST_CASE("what cannot be sampled is refused") {
  const NDArray graph = everything();
  CHECK(not_sampled(uniform, {graph, ids({7})}) ==
        "_contrib_dgl_csr_neighbor_uniform_sample: position 7 is outside an axis of extent 5");
  CHECK(not_sampled(uniform, {graph, ids({1, 2, 3})}, "2") ==
        "_contrib_dgl_csr_neighbor_uniform_sample: 3 seed vertices, expected max_num_vertices = 2 at most");
  CHECK(not_sampled(uniform, {graph, array({{1}})}) ==
        "_contrib_dgl_csr_neighbor_uniform_sample: input 'seed_arrays' has shape (1, 1), expected 1 dimension");
  CHECK(not_sampled(uniform, {strop::zeros({2, 3}, strop::csr), ids({1})}) ==
        "_contrib_dgl_csr_neighbor_uniform_sample: input 'csr_matrix' has shape (2, 3), expected as many columns as "
        "rows");
  CHECK(not_sampled(by_weight, {graph, array({1, -1, 1, 1, 1}), ids({0})}) ==
        "_contrib_dgl_csr_neighbor_non_uniform_sample: probability of vertex 1 is -1, expected a finite number of 0 or "
        "more");
  CHECK(not_sampled(by_weight, {graph, array({1, 1}), ids({0})}) ==
        "_contrib_dgl_csr_neighbor_non_uniform_sample: input 'probability' has shape (2,), expected (5,)");
  CHECK(not_sampled(by_weight, {graph, array({1, 1, 1, 1, 1})}) ==
        "_contrib_dgl_csr_neighbor_non_uniform_sample: num_args is 2, expected 3 or more");
  // An edge that leads outside, as a file may claim.
  const NDArray broken = graph.copy();
  broken.indices().pointer<std::int64_t>()[0] = 9;
  CHECK_FALSE(not_sampled(uniform, {broken, ids({0})}, "6").empty());
}

TEST_CASE("graph operators refuse what they cannot count or number") {
  const strop::Symbol x = strop::var("x");
  CHECK(error_of([&] {
          strop::dgl_graph_compact({x, x, x}, {.return_mapping = {false}, .graph_sizes = {Shape{1}}})
              .infer_type({{"x", strop::i64}});
        }).find("num_args is 2, 3 inputs were given") != std::string::npos);
  const std::int64_t n = 20;
  const NDArray all = strop::ones({n, n}).to(strop::u8).to(strop::csr);
  CHECK(refusal("_contrib_dgl_subgraph", {{"return_mapping", "False"}}, {all, strop::arange(0, n, 1, strop::i64)}) ==
        "_contrib_dgl_subgraph: 400 edges cannot be numbered in uint8, the type of the graph");
  const NDArray longer =
      strop::csr_matrix(strop::array(std::vector<std::int64_t>{1, 2}), ids({0, 0}), ids({0, 1, 2}), {2, 3});
  CHECK(refusal("_contrib_dgl_graph_compact", {{"return_mapping", "False"}, {"graph_sizes", "(1,)"}},
                {longer, ids({0, 1})}) ==
        "_contrib_dgl_graph_compact: graph 0 has edges of vertices behind the first 1");
}
