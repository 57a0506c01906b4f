// SPDX-License-Identifier: Apache-2.0
/// \file
/// `strop graph`: symbol files as tables and pictures.
#include <doctest/doctest.h>

#include <cstdint>
#include <string>

#include <strop/core/text.hpp>

#include "shell.hpp"

using namespace strop;
using command_tests::Said, command_tests::strop_says;

TEST_CASE("graph: the bodies of loops stand below their nodes") {
  const test::Folder folder;
  test::put_file(folder / "loop.json", R"json({"nodes": [
    {"op": "null", "name": "x", "inputs": []}, {"op": "null", "name": "s", "inputs": []},
    {"op": "_foreach", "name": "loop", "attrs": {"in_data_locs": "[0]", "in_state_locs": "[1]", "remain_locs": "[]",
     "num_args": "3", "num_out_data": "1", "num_outputs": "2"}, "inputs": [[0, 0, 0], [1, 0, 0]], "subgraphs": [
      {"nodes": [{"op": "null", "name": "x-0", "inputs": []}, {"op": "null", "name": "s-0", "inputs": []},
       {"op": "elemwise_add", "name": "sum", "inputs": [[0, 0, 0], [1, 0, 0]]},
       {"op": "_copy", "name": "next", "inputs": [[2, 0, 0]]}],
       "arg_nodes": [0, 1], "node_row_ptr": [0, 1, 2, 3, 4], "heads": [[2, 0, 0], [3, 0, 0]]}]}],
    "arg_nodes": [0, 1], "heads": [[2, 0, 0]], "attrs": {"mxnet_version": ["int", 10700]}})json");
  const Said table = strop_says(folder, "graph loop.json --shape x=4,3 --shape s=3");
  CAPTURE(table.err);
  CHECK(table.code == 0);
  CHECK(table.out.find("loop         _foreach      (4, 3), (3,) ") != std::string::npos);
  CHECK(table.out.find("\n  body/sum   elemwise_add  (3,) ") != std::string::npos);
  CHECK(table.out.find("\n  body/next  _copy         (3,) ") != std::string::npos);
}

TEST_CASE("graph: a symbol file as a table and as a picture") {
  const test::Folder folder;
  test::put_file(folder / "net.json", R"json({"nodes": [
    {"op": "null", "name": "data", "inputs": []},
    {"op": "null", "name": "c_weight", "inputs": []},
    {"op": "null", "name": "c_bias", "inputs": []},
    {"op": "Convolution", "name": "c", "attrs": {"kernel": "(3, 3)", "num_filter": "8"},
     "inputs": [[0, 0, 0], [1, 0, 0], [2, 0, 0]]},
    {"op": "null", "name": "n_gamma", "inputs": []},
    {"op": "null", "name": "n_beta", "inputs": []},
    {"op": "null", "name": "n_moving_mean", "inputs": []},
    {"op": "null", "name": "n_moving_var", "inputs": []},
    {"op": "BatchNorm", "name": "n", "inputs": [[3, 0, 0], [4, 0, 0], [5, 0, 0], [6, 0, 0], [7, 0, 0]]},
    {"op": "relu", "name": "a<b>", "inputs": [[8, 0, 0]]},
    {"op": "elemwise_add", "name": "sum", "inputs": [[9, 0, 0], [3, 0, 0]]}],
    "arg_nodes": [0, 1, 2, 4, 5, 6, 7], "heads": [[10, 0, 0]], "attrs": {"mxnet_version": ["int", 10700]}})json");
  const Said table = strop_says(folder, "graph net.json --shape data=2,3,8,9 --svg net.svg");
  CAPTURE(table.err);
  CHECK(table.code == 0);
  CHECK(table.out ==
        "node  operator      output          parameters           bytes\n"
        "data  (input)       (2, 3, 8, 9)                          1728\n"
        "c     Convolution   (2, 8, 6, 7)           224            2688\n"
        "n     BatchNorm     (2, 8, 6, 7)            16            2688\n"
        "a<b>  relu          (2, 8, 6, 7)                          2688\n"
        "sum   elemwise_add  (2, 8, 6, 7)                          2688\n"
        "                                           240           12480\n"
        "parameters 960 bytes, 16 states 64 bytes\n"
        "picture: net.svg\n");
  const std::string picture = test::content_of(folder / "net.svg");
  const auto count = [&](const std::string& what) {
    std::size_t n = 0;
    for (std::size_t at = picture.find(what); at != std::string::npos; at = picture.find(what, at + 1)) ++n;
    return n;
  };
  CHECK(count("<g>") == 5);     // a box for each row
  CHECK(count("<path ") == 5);  // data-c, c-n, n-a, a-sum, c-sum
  CHECK(count("a&lt;b&gt;") == 2);
  CHECK(picture.ends_with("</svg>\n"));
  const Said open = strop_says(folder, "graph net.json");
  CHECK(open.code == 0);
  CHECK(open.out.find("left out of the sums: data, c_weight; give --shape") != std::string::npos);
  for (const char* shape : {"data", "data=", "=1,2", "data=1,x", "data=-1,2"}) {
    const Said wrong = strop_says(folder, cat("graph net.json --shape ", shape));
    CHECK(wrong.code == 2);
    CHECK(wrong.err == cat("strop: graph: --shape is '", shape, "', expected NAME=1,3,224,224\n"));
  }
  CHECK(strop_says(folder, "graph net.json --shape c_wieght=8,3,3,3").has("'c_wieght'; nearest: c_weight"));
  std::int64_t arena[2] = {};
  for (const bool predict : {false, true}) {
    const Said plan =
        strop_says(folder, cat("graph net.json --shape data=2,3,8,9 --plan plan.svg", predict ? " --predict" : ""));
    CHECK(plan.code == 0);
    const std::size_t at = plan.out.find("\narena ");
    REQUIRE(at != std::string::npos);
    arena[predict] = std::stoll(plan.out.substr(at + 7));
    CHECK(plan.out.ends_with("\npicture: plan.svg\n"));
    const std::string drawn = test::content_of(folder / "plan.svg");
    CHECK(drawn.starts_with("<svg"));
    CHECK(drawn.find("<rect ") != std::string::npos);
    CHECK(drawn.ends_with("</svg>\n"));
  }
  CHECK(arena[1] > 0);
  CHECK(arena[1] < arena[0]);
  // Results that lie at the same bytes have one colour, and a thick line leads to what is computed in place.
  test::put_file(folder / "chain.json", R"json({"nodes": [
    {"op": "null", "name": "x", "inputs": []},
    {"op": "tanh", "name": "t", "inputs": [[0, 0, 0]]},
    {"op": "flip", "name": "f", "attrs": {"axis": "0"}, "inputs": [[1, 0, 0]]},
    {"op": "relu", "name": "r", "inputs": [[2, 0, 0]]},
    {"op": "flip", "name": "g", "attrs": {"axis": "0"}, "inputs": [[3, 0, 0]]},
    {"op": "flip", "name": "h", "attrs": {"axis": "0"}, "inputs": [[4, 0, 0]]}],
    "arg_nodes": [0], "heads": [[5, 0, 0]], "attrs": {"mxnet_version": ["int", 10700]}})json");
  CHECK(strop_says(folder, "graph chain.json --shape x=32 --predict --svg chain.svg").code == 0);
  const std::string chain = test::content_of(folder / "chain.svg");
  CAPTURE(chain);
  CHECK(chain.find("arena 256 bytes") != std::string::npos);
  CHECK(chain.find(
            "r: relu (32,), 0 parameters, 128 bytes; bytes 128 to 256 of the arena, steps 2 to 3, in place of f") !=
        std::string::npos);
  CHECK(chain.find("h: reverse (32,), 0 parameters, 128 bytes; in an array that the caller sees") != std::string::npos);
  const auto colour_of = [&](const char* node) {
    const std::size_t box = chain.find(cat("<title>", node, ": ")), at = chain.find("fill='", box) + 6;
    return chain.substr(at, chain.find('\'', at) - at);
  };
  CHECK(colour_of("r") == colour_of("f"));
  CHECK(colour_of("g") == colour_of("t"));
  CHECK(colour_of("f") != colour_of("t"));
  CHECK(chain.find("stroke-width='4'") != std::string::npos);
  const Said unplanned = strop_says(folder, "graph net.json --plan plan.svg");
  CHECK(unplanned.code == 1);
  CHECK(unplanned.has("data"));
  const Said rank = strop_says(folder, "graph net.json --shape data=2,3");
  CHECK(rank.code == 1);
  CHECK(rank.err == "strop: Error in node c: Convolution: input 'data' has shape (2, 3), expected 4 dimensions\n");
}
