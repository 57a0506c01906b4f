// SPDX-License-Identifier: Apache-2.0
/// \file
/// Files of loops and branches: those that MXNet has written, and bad ones.
#include <strop/graph/control.hpp>
#include <strop/ops/arithmetic.hpp>
#include <strop/ops/cast.hpp>
#include <strop/ops/reduce.hpp>

#include "operators.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <vector>

using namespace graph_tests;

namespace {

using Arrays = std::vector<NDArray>;

Symbol in_one_another(int depth, const Symbol& x, const Symbol& s) {
  if (depth == 0) return x + s;
  const auto body = [&](const Symbol& one, const Symbol& state) {
    return std::pair(in_one_another(depth - 1, one, state), state);
  };
  return foreach(body, x, s).first;
}

/// Files as MXNet 1.9.1 writes them, but for blanks, and what it computes.
constexpr std::string_view foreach_file = R"({"nodes": [{"op": "null", "name": "data", "inputs": []},
{"op": "null", "name": "s", "inputs": []}, {"op": "null", "name": "t", "inputs": []},
{"op": "null", "name": "w", "inputs": []}, {"op": "_foreach", "name": "_foreach0", "attrs": {"in_data_locs": "[0]",
"in_state_locs": "[2, 3]", "num_args": "5", "num_out_data": "1", "num_outputs": "3", "remain_locs": "[1]"},
"inputs": [[0, 0, 0], [1, 0, 0], [2, 0, 0], [3, 0, 0]], "subgraphs": [{"nodes": [
{"op": "null", "name": "data-0", "attrs": {"__subgraph_name__": "loop0"}, "inputs": []},
{"op": "null", "name": "w", "inputs": []},
{"op": "broadcast_mul", "name": "o", "attrs": {"__subgraph_name__": "loop0"}, "inputs": [[0, 0, 0], [1, 0, 0]]},
{"op": "null", "name": "s-0", "attrs": {"__subgraph_name__": "loop0"}, "inputs": []},
{"op": "elemwise_add", "name": "_plus0", "attrs": {"__subgraph_name__": "loop0"}, "inputs": [[2, 0, 0], [3, 0, 0]]},
{"op": "_copy", "name": "identity0", "attrs": {"__subgraph_name__": "loop0"}, "inputs": [[4, 0, 0]]},
{"op": "null", "name": "t-0", "attrs": {"__subgraph_name__": "loop0"}, "inputs": []},
{"op": "_mul_scalar", "name": "_mulscalar0", "attrs": {"__subgraph_name__": "loop0", "scalar": "2"},
"inputs": [[6, 0, 0]]}], "arg_nodes": [0, 1, 3, 6], "node_row_ptr": [0, 1, 2, 3, 4, 5, 6, 7, 8],
"heads": [[4, 0, 0], [5, 0, 0], [7, 0, 0]]}]}], "arg_nodes": [0, 1, 2, 3], "node_row_ptr": [0, 1, 2, 3, 4, 7],
"heads": [[4, 0, 0], [4, 1, 0], [4, 2, 0]], "attrs": {"mxnet_version": ["int", 10901]}})";
constexpr std::string_view while_file = R"({"nodes": [{"op": "null", "name": "i", "inputs": []},
{"op": "null", "name": "a", "inputs": []}, {"op": "null", "name": "w", "inputs": []},
{"op": "_while_loop", "name": "_while_loop0", "attrs": {"cond_input_locs": "[0]", "func_input_locs": "[0, 1, 2]",
"func_var_locs": "[0, 1]", "max_iterations": "4", "num_args": "5", "num_out_data": "2", "num_outputs": "4"},
"inputs": [[0, 0, 0], [1, 0, 0], [2, 0, 0]], "subgraphs": [{"nodes": [
{"op": "null", "name": "i-0", "attrs": {"__subgraph_name__": "wl_cond0"}, "inputs": []},
{"op": "_lesser_equal_scalar", "name": "_lesser_equal_scalar0", "attrs": {"__subgraph_name__": "wl_cond0",
"scalar": "5"}, "inputs": [[0, 0, 0]]}], "arg_nodes": [0], "node_row_ptr": [0, 1, 2], "heads": [[1, 0, 0]]},
{"nodes": [{"op": "null", "name": "i-0", "attrs": {"__subgraph_name__": "wl_func0"}, "inputs": []},
{"op": "null", "name": "a-0", "attrs": {"__subgraph_name__": "wl_func0"}, "inputs": []},
{"op": "elemwise_add", "name": "_plus1", "attrs": {"__subgraph_name__": "wl_func0"},
"inputs": [[0, 0, 0], [1, 0, 0]]}, {"op": "null", "name": "w", "inputs": []},
{"op": "elemwise_mul", "name": "_mul0", "attrs": {"__subgraph_name__": "wl_func0"},
"inputs": [[1, 0, 0], [3, 0, 0]]},
{"op": "_plus_scalar", "name": "_plusscalar0", "attrs": {"__subgraph_name__": "wl_func0", "scalar": "1"},
"inputs": [[0, 0, 0]]}, {"op": "elemwise_add", "name": "_plus2", "attrs": {"__subgraph_name__": "wl_func0"},
"inputs": [[1, 0, 0], [0, 0, 0]]}], "arg_nodes": [0, 1, 3], "node_row_ptr": [0, 1, 2, 3, 4, 5, 6, 7],
"heads": [[2, 0, 0], [4, 0, 0], [5, 0, 0], [6, 0, 0]]}]}], "arg_nodes": [0, 1, 2], "node_row_ptr": [0, 1, 2, 3, 7],
"heads": [[3, 0, 0], [3, 1, 0], [3, 2, 0], [3, 3, 0]], "attrs": {"mxnet_version": ["int", 10901]}})";
constexpr std::string_view cond_file = R"({"nodes": [{"op": "null", "name": "a", "inputs": []},
{"op": "sum", "name": "sum0", "inputs": [[0, 0, 0]]}, {"op": "null", "name": "w", "inputs": []},
{"op": "sum", "name": "sum1", "inputs": [[2, 0, 0]]}, {"op": "_lesser", "name": "_lesser0",
"inputs": [[1, 0, 0], [3, 0, 0]]}, {"op": "_cond", "name": "_cond0", "attrs": {"cond_input_locs": "[0]",
"else_input_locs": "[2, 1]", "num_args": "6", "num_outputs": "2", "then_input_locs": "[1, 2]"},
"inputs": [[4, 0, 0], [0, 0, 0], [2, 0, 0]], "subgraphs": [{"nodes": [
{"op": "null", "name": "_lesser0_output", "inputs": []},
{"op": "_copy", "name": "identity1", "attrs": {"__subgraph_name__": "br_pred0"}, "inputs": [[0, 0, 0]]}],
"arg_nodes": [0], "node_row_ptr": [0, 1, 2], "heads": [[1, 0, 0]]}, {"nodes": [
{"op": "null", "name": "a", "inputs": []}, {"op": "_mul_scalar", "name": "_mulscalar1",
"attrs": {"__subgraph_name__": "br_then0", "scalar": "2"}, "inputs": [[0, 0, 0]]},
{"op": "null", "name": "w", "inputs": []}, {"op": "_copy", "name": "identity2",
"attrs": {"__subgraph_name__": "br_then0"}, "inputs": [[2, 0, 0]]}], "arg_nodes": [0, 2],
"node_row_ptr": [0, 1, 2, 3, 4], "heads": [[1, 0, 0], [3, 0, 0]]}, {"nodes": [
{"op": "null", "name": "w", "inputs": []}, {"op": "_mul_scalar", "name": "_mulscalar2",
"attrs": {"__subgraph_name__": "br_else0", "scalar": "3"}, "inputs": [[0, 0, 0]]},
{"op": "null", "name": "a", "inputs": []}, {"op": "_copy", "name": "identity3",
"attrs": {"__subgraph_name__": "br_else0"}, "inputs": [[2, 0, 0]]}], "arg_nodes": [0, 2],
"node_row_ptr": [0, 1, 2, 3, 4], "heads": [[1, 0, 0], [3, 0, 0]]}]}], "arg_nodes": [0, 2],
"node_row_ptr": [0, 1, 2, 3, 4, 5, 7], "heads": [[5, 0, 0], [5, 1, 0]], "attrs": {"mxnet_version": ["int", 10901]}})";

/// Without blanks and versions.
std::string bare(std::string_view text) {
  std::string out;
  for (const char c : text)
    if (c != ' ' && c != '\n') out += c;
  return out.substr(0, out.rfind("\"mxnet_version\""));
}
/// Reads a file, writes the same, and computes: head gradients of output k are k + 1.
void check_file(std::string_view text, const NamedArrays& args, const Arrays& outputs, const NamedArrays& gradients) {
  const Symbol net = Symbol::from_json(text);
  CHECK(bare(net.to_json()) == bare(text));
  NamedArrays grads;
  for (const auto& [name, a] : args) grads.emplace_back(name, zeros(a.shape()));
  auto run = net.bind(cpu(), args, grads);
  const Arrays found = run.forward(true);
  REQUIRE(found.size() == outputs.size());
  Arrays heads;
  for (std::size_t k = 0; k < found.size(); ++k) {
    CHECK(same(found[k], outputs[k]));
    heads.push_back(full(found[k].shape(), static_cast<double>(k + 1)));
  }
  run.backward(heads);
  for (const auto& [name, gradient] : gradients) CHECK(same(run.grad(name), gradient));
}
std::string with(std::string_view text, std::string_view what, std::string_view by) {
  std::string out(text);
  out.replace(out.find(what), what.size(), by);
  return out;
}
}  // namespace

TEST_CASE("files that MXNet has written are read, computed as it does, and written the same") {
  (void)broadcast_mul.entry(), (void)elemwise_add.entry(), (void)elemwise_mul.entry(), (void)identity.entry();
  (void)mul_scalar.entry(), (void)plus_scalar.entry(), (void)lesser_equal_scalar.entry(), (void)elemwise_lesser.entry();
  (void)strop::sum.entry();
  check_file(foreach_file,
             {{"data", array({{1, 2}, {3, 4}, {-1, 0.5f}})},
              {"s", array({0.5f, -1})},
              {"t", array({1, 3})},
              {"w", array({2, -0.5f})}},
             {array({{2.5f, -2}, {8.5f, -4}, {6.5f, -4.25f}}), array({6.5f, -4.25f}), array({8, 24})},
             {{"data", array({{10, -2.5f}, {8, -2}, {6, -1.5f}})},
              {"s", array({5, 5})},
              {"t", array({24, 24})},
              {"w", array({14, 27.5f})}});
  check_file(while_file, {{"i", array({3})}, {"a", array({2})}, {"w", array({1.5f})}},
             {array({{5}, {9}, {14}, {0}}), array({{3}, {7.5f}, {13.5f}, {0}}), array({6}), array({14})},
             {{"i", array({30})}, {"a", array({16})}, {"w", array({32})}});
  check_file(cond_file, {{"a", array({1, 2})}, {"w", array({2, 3})}}, {array({2, 4}), array({2, 3})},
             {{"a", array({2, 2})}, {"w", array({2, 2})}});
}

TEST_CASE("bad files of loops and branches are told what is wrong") {
  const auto refusal = [](const std::string& text) { return sentence([&] { (void)Symbol::from_json(text); }); };
  const auto part = [](const std::string& told, std::string_view text) { return told.find(text) != std::string::npos; };
  CHECK(part(refusal(with(foreach_file, R"("in_data_locs": "[0]",)", "")), "there is no 'in_data_locs'"));
  CHECK(part(refusal(with(foreach_file, R"("in_data_locs": "[0]")", R"("in_data_locs": "[4]")")),
             "'in_data_locs' has the position 4, expected one below 4"));
  CHECK(part(refusal(with(foreach_file, R"("remain_locs": "[1]")", R"("remain_locs": "[0]")")),
             "'remain_locs' has the position 0, which another input has"));
  CHECK(part(refusal(with(foreach_file, R"("in_state_locs": "[2, 3]")", R"("in_state_locs": "[2]")")),
             "'in_state_locs' has 1 positions, expected 2"));
  CHECK(part(refusal(with(foreach_file, R"("num_outputs": "3")", R"("num_outputs": "4")")),
             "num_outputs is 4, and the body has 3 outputs"));
  CHECK(part(refusal(with(foreach_file, R"([[0, 0, 0], [1, 0, 0], [2, 0, 0], [3, 0, 0]])", "[[0, 0, 0]]")),
             "there are 1 inputs for 1 data and 2 states"));
  CHECK(part(refusal(with(foreach_file, "\"broadcast_mul\"", "\"broadcast_mull\"")), "broadcast_mull (node 'o')"));
  CHECK(part(refusal(with(while_file, R"("max_iterations": "4",)", "")), "there is no 'max_iterations'"));
  CHECK(part(refusal(with(while_file, R"("max_iterations": "4")", R"("max_iterations": "x")")),
             "'max_iterations' is 'x', expected a whole number"));
  CHECK(part(refusal(with(while_file, R"("func_var_locs": "[0, 1]")", R"("func_var_locs": "[0, 9]")")),
             "'func_var_locs' has the position 9"));
  CHECK(part(refusal(with(while_file, R"("func_var_locs": "[0, 1]")", R"("func_var_locs": "[0, 0]")")),
             "two states are the same input, 0"));
  CHECK(part(refusal(with(cond_file, R"("then_input_locs": "[1, 2]")", R"("then_input_locs": "[1, 1]")")),
             "of a body are the same input"));
  CHECK(part(refusal(with(cond_file, R"(, {"nodes": [
{"op": "null", "name": "w")",
                          R"(], "x": [{"nodes": [
{"op": "null", "name": "w")")),
             "a node has no 'x'"));
  std::string deep = R"({"nodes": [], "heads": []})";
  for (int i = 0; i < 80; ++i)
    deep = R"({"nodes": [{"op": "_foreach", "name": "f", "inputs": [], "subgraphs": [)" + deep +
           R"(]}], "heads": [[0, 0, 0]]})";
  CHECK(part(refusal(deep), "nested more than 256 deep"));
}

TEST_CASE("what is written with loops in loops is read again, or not written") {
  const std::string text = in_one_another(20, var("x"), var("s")).to_json();
  CHECK(Symbol::from_json(text).to_json() == text);
  CHECK(sentence([] {
          (void)in_one_another(62, var("x"), var("s")).to_json();
        }).find("more than 60 deep in one another") != std::string::npos);
}
