// SPDX-License-Identifier: Apache-2.0
/// \file
/// Checkpoints: a pair of files, written and read as MXNet does.
#include "operators.hpp"

#include <strop/graph/checkpoint.hpp>
#include <strop/op/map.hpp>
#include <strop/tensor/io.hpp>
#include <unit/tensor/format/bytes.hpp>

#include <doctest/doctest.h>

#include <string>

using namespace graph_tests;

namespace {

// What mx.model.save_checkpoint of MXNet 1.9.1 writes for a FullyConnected of two rows, in epoch 3.
constexpr const char* original_symbol = R"({
  "nodes": [
    {"op": "null", "name": "data", "inputs": []},
    {"op": "null", "name": "fc_weight", "attrs": {"num_hidden": "2"}, "inputs": []},
    {"op": "null", "name": "fc_bias", "attrs": {"num_hidden": "2"}, "inputs": []},
    {"op": "FullyConnected", "name": "fc", "attrs": {"num_hidden": "2"}, "inputs": [[0, 0, 0], [1, 0, 0], [2, 0, 0]]}
  ],
  "arg_nodes": [0, 1, 2], "node_row_ptr": [0, 1, 2, 3, 4], "heads": [[3, 0, 0]],
  "attrs": {"mxnet_version": ["int", 10901]}
})";
constexpr const char* original_params =
    "120100000000000000000000000000000300000000000000c9fa93f90000000002000000020000000000000003000000"
    "000000000100000000000000000000000000803f0000004000004040000080400000a0400000c040c9fa93f900000000"
    "0100000002000000000000000100000000000000000000000000003f000080bfc9fa93f9000000000100000001000000"
    "00000000010000000000000006000000070000000000000003000000000000000d000000000000006172673a66635f77"
    "65696768740b000000000000006172673a66635f6269617308000000000000006175783a7365656e";

}  // namespace

TEST_CASE("a checkpoint of MXNet is read, and runs") {
  const test::Folder folder;
  test::put_file(folder / "mx-symbol.json", original_symbol);
  test::put_file(folder / "mx-0003.params", test::from_hex(original_params));
  const auto [net, args, aux] = load_checkpoint(folder / "mx", 3);
  REQUIRE(args.size() == 2);
  CHECK(args[0].first == "fc_weight");
  CHECK(same(args[0].second, array({{1, 2, 3}, {4, 5, 6}})));
  CHECK(same(args[1].second, array({0.5f, -1.0f})));
  REQUIRE(aux.size() == 1);
  CHECK(aux[0].first == "seen");
  CHECK(aux[0].second.dtype() == i64);
  Executor run = net.simple_bind(cpu(), {{"data", {1, 3}}}, GradRequest::null);
  run.copy_params_from(args);
  CHECK(same(run.forward(false, {{"data", array({{1, 1, 1}})}})[0], array({{6.5f, 14.0f}})));

  save_checkpoint(folder / "again", 3, net, args, aux);
  CHECK(test::content_of(folder / "again-0003.params") == test::from_hex(original_params));
}

TEST_CASE("a checkpoint comes back: the network, its arguments and its states") {
  const test::Folder folder;
  const std::string prefix = folder / "net";
  const Symbol net = center(turned(var("data")), {}, "c");
  Executor run = net.simple_bind(cpu(), {{"data", {3}}}, GradRequest::null);
  run.forward(true, {{"data", array({1, 2, 6})}});
  save_checkpoint(prefix, 12345, net, {}, run.aux_states());
  save_checkpoint(prefix, 0, net, {}, run.aux_states());
  CHECK(folder.files() == 3);
  const Checkpoint found = load_checkpoint(prefix, 12345);
  CHECK(found.symbol.to_json() == net.to_json());
  CHECK(found.args.empty());
  REQUIRE(found.aux.size() == 1);
  CHECK(found.aux[0].first == "c_moving_mean");
  CHECK(same(found.aux[0].second, run.aux("c_moving_mean")));
}

TEST_CASE("what is no checkpoint is said in a sentence, and files stay as they were") {
  const test::Folder folder;
  const std::string prefix = folder / "net";
  const Symbol net = quadratic(var("x"), {}, "q");
  const NDArray one = array({1.0f});
  save_checkpoint(prefix, 1, net, {{"x", one}});
  const std::string before = test::content_of(prefix + "-0001.params");
  CHECK(sentence([&] { save_checkpoint(prefix, -1, net, {}); }) == "save_checkpoint: epoch is -1, expected 0 or more");
  CHECK(sentence([&] { save_checkpoint(prefix, 1, net, {{"x", one}}, {{"x", one}}); }) ==
        "save_checkpoint: 'x' is given twice");
  CHECK(sentence([&] { save_checkpoint(prefix, 1, net, {{"x", NDArray()}}); }) ==
        "save_checkpoint: 'x' is a handle without an array");
  CHECK(sentence([&] {
          save_checkpoint(prefix, 1, map([k = 2.0f](auto v) { return k * v; }, var("x")), {});
        }).starts_with("to_json: node "));
  CHECK(test::content_of(prefix + "-0001.params") == before);
  CHECK(folder.files() == 2);
  CHECK(sentence([&] { load_checkpoint(prefix, 2); }).find("net-0002.params") != std::string::npos);
  CHECK(sentence([&] { load_checkpoint(folder / "no", 1); }).find("no-symbol.json") != std::string::npos);
  save(prefix + "-0003.params", {{"x", one}});
  const std::string said = sentence([&] { load_checkpoint(prefix, 3); });
  CHECK(said.find("has an array 'x', expected arg:<name> or aux:<name>") != std::string::npos);
}
