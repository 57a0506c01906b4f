// SPDX-License-Identifier: Apache-2.0
/// \file
/// Symbols as text and back: layout, names, attributes, older versions, and what bad files are told.
#include "operators.hpp"

#include <strop/core/json.hpp>
#include <strop/graph/gradient.hpp>
#include <strop/ops/elementwise/elemwise.hpp>
#include <strop/ops/elementwise/sum.hpp>
#include <strop/ops/init.hpp>

#include <doctest/doctest.h>

#include <cstdio>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

using namespace graph_tests;

namespace {

/// A text of one variable and what `nodes` adds, with the last of `count` nodes as its head.
std::string graph_of(const std::string& nodes, int count, int version = 10700) {
  return R"({"nodes": [{"op": "null", "name": "x", "inputs": []})" + nodes + R"(], "heads": [[)" +
         std::to_string(count - 1) + R"(, 0, 0]], "attrs": {"mxnet_version": ["int", )" + std::to_string(version) +
         "]}}";
}
std::string refusal(const std::string& text) {
  return sentence([&] { (void)Symbol::from_json(text); });
}

}  // namespace

TEST_CASE("a symbol is written in the layout of MXNet and read back the same") {
  const NameScope fresh;
  const Symbol x = var("x", {.shape = {-1, 3}, .dtype = f64, .storage = csr, .attributes = {{"lr_mult", "2"}}});
  const Symbol net = dense_layer(quadratic(x, {.a = 1, .c = -0.5f}, "q"), {.num_hidden = 4}, "fc");
  net.set_attr("ctx_group", "g");
  const std::string text = net.to_json();
  const std::string expected = R"json({
  "nodes": [
    {
      "op": "null", 
      "name": "x", 
      "attrs": {
        "__dtype__": "1", 
        "__lr_mult__": "2", 
        "__shape__": "(0, 3)", 
        "__storage_type__": "2"
      }, 
      "inputs": []
    }, 
    {
      "op": "GtQuadratic", 
      "name": "q", 
      "attrs": {
        "a": "1", 
        "c": "-0.5"
      }, 
      "inputs": [[0, 0, 0]]
    }, 
    {
      "op": "null", 
      "name": "fc_weight", 
      "attrs": {"num_hidden": "4"}, 
      "inputs": []
    }, 
    {
      "op": "null", 
      "name": "fc_bias", 
      "attrs": {"num_hidden": "4"}, 
      "inputs": []
    }, 
    {
      "op": "FullyConnected", 
      "name": "fc", 
      "attrs": {
        "__ctx_group__": "g", 
        "num_hidden": "4"
      }, 
      "inputs": [[1, 0, 0], [2, 0, 0], [3, 0, 0]]
    }
  ], 
  "arg_nodes": [0, 2, 3], 
  "node_row_ptr": [0, 1, 2, 3, 4, 5], 
  "heads": [[4, 0, 0]], 
  "attrs": {"mxnet_version": ["int", 10700]}
})json";
  CHECK(text == expected);
  const Symbol again = Symbol::from_json(text);
  CHECK(again.to_json() == text);
  CHECK(again.list_arguments() == net.list_arguments());
  CHECK(again.attr("num_hidden") == "4");
  CHECK(again.infer_shape({{"x", {2, 3}}}).outputs[0] == Shape{2, 4});
  CHECK(again.infer_type().args[0] == f64);
  CHECK(again.infer_storage().args[0] == csr);
}

TEST_CASE("what is read computes the same") {
  const Symbol a = var("a"), b = var("b");
  const Symbol pair = both(quadratic(a, {.a = 1}), b, {}, "pair");
  const Symbol net = group({chain({pair[1], times(pair[0], b)}, {}, "cat"), pair[0]});
  const NDArray va = array({1.5f, -2.0f}), vb = array({3.0f, 0.25f});
  auto run = net.bind(cpu(), {{"a", va}, {"b", vb}});
  auto again = Symbol::from_json(net.to_json()).bind(cpu(), {{"a", va}, {"b", vb}});
  const auto& expected = run.forward();
  const auto& found = again.forward();
  REQUIRE(found.size() == expected.size());
  for (std::size_t k = 0; k < found.size(); ++k) CHECK(same(found[k], expected[k]));
}

TEST_CASE("written states count their versions; a file may count the inputs of an operator that takes any number") {
  const Symbol state = var("mean"), x = var("x");
  const Symbol net = chain({center(x, state, {}, "c1"), center(x, state, {}, "c2")}, {}, "cat");
  const std::string text = net.to_json();
  CHECK(text.find("\"inputs\": [[0, 0, 0], [1, 0, 1]]") != std::string::npos);
  CHECK(text.find("\"inputs\": [[0, 0, 0], [1, 0, 2]]") != std::string::npos);
  CHECK(text.find("\"node_row_ptr\": [0, 1, 2, 4, 6, 7]") != std::string::npos);
  const Symbol again = Symbol::from_json(text);
  CHECK(again.to_json() == text);
  CHECK(again.list_auxiliary_states() == Names{"mean"});
  std::string counted = text, wrong = text;
  const std::size_t at = text.rfind("\"inputs\"");
  CHECK(Symbol::from_json(counted.insert(at, R"("attrs": {"num_args": "2"}, )")).to_json() == text);
  wrong.insert(at, R"("attrs": {"num_args": "3"}, )");
  CHECK(refusal(wrong) == "from_json: node 4 'cat': concat: num_args is 3, and there are 2 inputs");
}

TEST_CASE("names of any characters, attributes of which the last holds, extents of zero") {
  const Symbol x = var("a \"b\"\\\n\t\x01 \u00e9\U0001F600");
  x.set_attr("__note__", "old");
  x.set_attr("__note__", "new\r");
  const Symbol again = Symbol::from_json(quadratic(x, {}, "q").to_json());
  CHECK(again.list_arguments() == Names{x.name()});
  CHECK(again.get_internals()[0].attr("note") == "new\r");
  const Symbol none = Symbol::from_json(var("z", {.shape = {0, -1}}).to_json());
  CHECK(none.infer_shape_partial({}).args[0] == Shape{0, -1});
  const Symbol scalar = Symbol::from_json(var("s", {.shape = Shape{}}).to_json());
  CHECK(scalar.infer_shape({}).args[0] == Shape{});
  CHECK_FALSE(Symbol::from_json(var("o", {.shape = {-1, 2}}).to_json()).infer_shape_partial({}).args[0].known());
}

TEST_CASE("files: complete, or the sentence of what is wrong with them") {
  const std::string path = "strop-symbol-test.json";
  const Symbol net = quadratic(var("x"), {.b = 2}, "q");
  net.save(path);
  CHECK(Symbol::load(path).to_json() == net.to_json());
  std::ofstream(path) << "{\"nodes\": [}";
  CHECK(sentence([&] { (void)Symbol::load(path); }) ==
        "strop: load(\"strop-symbol-test.json\"): line 1, column 12: expected an object");
  std::remove(path.c_str());
  CHECK(sentence([&] { (void)Symbol::load(path); }) ==
        "strop: load(\"strop-symbol-test.json\"): No such file or directory");
  CHECK(sentence([&] { net.save("no/such/folder.json"); }) ==
        "strop: save(\"no/such/folder.json\"): No such file or directory");
}

TEST_CASE("what older versions wrote: keys, links of two numbers, plain attributes, missing states") {
  const char* const old = R"({"nodes": [
    {"op": "null", "param": {}, "name": "x", "inputs": [], "backward_source_id": -1, "attr": {"lr_mult": "0.5"}},
    {"op": "null", "param": {}, "name": "w", "inputs": [], "backward_source_id": -1, "attr": {"wd_mult": "2"}},
    {"op": "FullyConnected", "param": {"num_hidden": "2", "no_bias": "True"}, "name": "fc", "inputs": [[0, 0], [1, 0]],
     "backward_source_id": -1, "attr": {"ctx_group": "g", "weight_wd_mult": "3"}},
    {"op": "GtCenter", "param": {}, "name": "c", "inputs": [[2, 0]], "backward_source_id": -1}],
    "arg_nodes": [0, 1], "heads": [[3, 0]]})";
  const Symbol net = Symbol::from_json(old);
  CHECK(net.list_arguments() == Names{"x", "w"});
  CHECK(net.list_auxiliary_states() == Names{"c_moving_mean"});
  const Symbol all = net.get_internals();
  CHECK(all["x"].attr("__lr_mult__") == "0.5");
  CHECK(all["w"].attr("__wd_mult__") == "3");
  CHECK(all["fc_output"].attr("__ctx_group__") == "g");
  CHECK(all["w"].list_attr() == NamedTexts{{"__wd_mult__", "3"}, {"wd_mult", "3"}});  // said once by the variable
  CHECK(refusal(graph_of(R"(, {"op": "GtCenter", "name": "c", "inputs": [[0, 0, 0]]})", 2)) ==
        "from_json: node 1 'c': gt_center: takes 2 inputs (data, moving_mean), and the file gives 1");
}

TEST_CASE("of a key in two of attrs, attr and param the last holds; texts of parameters are kept as they stand") {
  const auto written = [](const char* texts) {
    const std::string text = graph_of(R"(, {"op": "FullyConnected", "name": "fc", )" + std::string(texts) +
                                          R"(, "inputs": [[0, 0, 0], [0, 0, 0], [0, 0, 0]]})",
                                      2);
    const Symbol net = Symbol::from_json(text);
    CHECK(Symbol::from_json(net.to_json()).list_attr() == net.list_attr());
    return net.list_attr();
  };
  CHECK(written(R"("param": {"num_hidden": "2"}, "attr": {"num_hidden": "5", "lr_mult": "3"})") ==
        NamedTexts{{"num_hidden", "5"}, {"__lr_mult__", "3"}, {"lr_mult", "3"}});
  CHECK(written(R"("attr": {"num_hidden": "5"}, "param": {"num_hidden": "2"})") == NamedTexts{{"num_hidden", "2"}});
  CHECK(written(R"("attrs": {"no_bias": "False", "num_hidden": "+4"})") ==
        NamedTexts{{"num_hidden", "+4"}, {"no_bias", "False"}});
}

TEST_CASE("an extent of 0 in MXNet's files of zeros follows from what these meet") {
  CHECK(strop::elemwise_add(strop::zeros_op({.shape = {0, 3}}), strop::zeros({0, 3})).shape() == Shape{0, 3});
  const auto net = [](std::string_view shape) {
    return cat(
        R"({"nodes": [{"op": "null", "name": "x", "inputs": []}, {"op": "_zeros", "name": "z", "attrs": {"shape": ")",
        shape, R"("}, "inputs": []}, {"op": "elemwise_add", "name": "y", "inputs": [[0, 0, 0], [1, 0, 0]]}],
"heads": [[2, 0, 0]])");
  };
  for (const std::string_view shape : {"(0, 3)", "[0,0]", "(-1, 3)"}) {
    const Symbol read = Symbol::from_json(net(shape) + "}"), again = Symbol::from_json(read.to_json());
    for (const Symbol& one : {read, again})
      CHECK(one.infer_shape({{"x", {2, 3}}}).outputs == std::vector<Shape>{{2, 3}});
    Executor run = read.simple_bind(cpu(), {{"x", {2, 3}}});
    CHECK(run.forward(false)[0].shape() == Shape{2, 3});
  }
  const Symbol none = Symbol::from_json(net("(0, 3)") + R"(, "attrs": {"is_np_shape": ["int", 1]}})");
  CHECK(none.infer_shape({}).outputs == std::vector<Shape>{{0, 3}});
  CHECK(Symbol::from_json(none.to_json()).infer_shape({}).outputs == std::vector<Shape>{{0, 3}});
}

TEST_CASE("operators that the program lacks stand in one sentence") {
  const std::string said = refusal(graph_of(R"(, {"op": "_contrib_hawkesll", "name": "c1", "inputs": [[0, 0, 0]]},
                              {"op": "GtQuadratic", "name": "s", "inputs": [[1, 0, 0]]},
                              {"op": "_contrib_hawkesll", "name": "c2", "inputs": [[2, 0, 0]]},
                              {"op": "GtQuadratic", "name": "q", "inputs": [[3, 0, 0]]})",
                                            5));
  CHECK(said ==
        "from_json: this program has no operators _contrib_hawkesll (node 'c1'); the library has none called "
        "_contrib_hawkesll");  // one that the library has and the program lacks: tests/spec/graph.cpp
}

TEST_CASE("a node without a name has outputs of their own names") {
  const Symbol s = Symbol::from_json(graph_of(R"(, {"op": "GtQuadratic", "name": "", "inputs": [[0, 0, 0]]})", 2));
  CHECK(s.list_outputs() == std::vector<std::string>{"output"});
}

TEST_CASE("a text that is no symbol is refused with the place or the node") {
  for (
      const auto& [text, expected] : std::vector<std::pair<std::string, std::string>>{
          {"", "line 1, column 1: expected an object"},
          {"[]", "line 1, column 1: expected an object"},
          {"{}", "line 1, column 3: a symbol has nodes and heads; there are no nodes"},
          {R"({"nodes": []})", "line 1, column 14: a symbol has nodes and heads; there are no heads"},
          {R"({"nodes": [], "heads": []} x)", "line 1, column 28: expected the end of the text"},
          {R"({"nodes": [], "heads": []})", "the symbol has no heads, which are its outputs"},
          {"{\"nodes\": [],\n \"heads\": [[0, 0, 0]]}", "head 0: it links to node 0, expected one of the 0 before it"},
          {R"({"nodes": [], "nodes": []})", "line 1, column 23: 'nodes' comes twice"},
          {R"({"layers": []})",
           "line 1, column 11: a symbol has no 'layers'; it has nodes, arg_nodes, node_row_ptr, heads and attrs"},
          {"{\n\"nodes\": [{\"op\": \"null\", \"inputs\": []}], \"heads\": []}",
           "line 2, column 39: node 0 has no name"},
          {R"({"nodes": [{"op": 3}]})", "line 1, column 19: expected a string"},
          {R"({"nodes": [{"op": "a)", "line 1, column 21: the text ends within a string"},
          {R"({"nodes": [{"op": "\x"}]})", "line 1, column 21: expected one of \" \\ / b f n r t u after a backslash"},
          {R"({"nodes": [{"op": "\ud800"}]})", "line 1, column 26: the first half of a surrogate pair stands alone"},
          {"{\"nodes\": [{\"op\": \"\xff\"}]}", "line 1, column 20: a byte within a string is not UTF-8"},
          {"{\"nodes\": [{\"op\": \"a\nb\"}]}",
           "line 1, column 21: a control character within a string is written as an escape"},
          {R"({"heads": [[1.5, 0, 0]]})", "line 1, column 13: expected a whole number"},
          {R"({"heads": [[01, 0, 0]]})", "line 1, column 14: expected ',' or ']'"},
          {R"({"heads": [[99999999999999999999, 0, 0]]})", "line 1, column 13: expected a whole number"},
          {R"({"heads": [[0]]})", "line 1, column 15: a link to an output is [node, index, version], not 1 numbers"},
          {R"({"heads": [[0, 0, 0],]})", "line 1, column 22: expected an array"},
          {graph_of(R"(, {"op": "null", "name": "y", "inputs": [[0, 0, 0]]})", 2),
           "node 1 'y': a variable has no inputs"},
          {graph_of(R"(, {"op": "GtQuadratic", "name": "q", "inputs": [[1, 0, 0]]})", 2),
           "node 1 'q': it links to node 1, expected one of the 1 before it"},
          {graph_of(R"(, {"op": "GtQuadratic", "name": "q", "inputs": [[-1, 0, 0]]})", 2),
           "node 1 'q': it links to node -1, expected one of the 1 before it"},
          {graph_of(R"(, {"op": "GtQuadratic", "name": "q", "inputs": [[0, 1, 0]]})", 2),
           "node 1 'q': it links to output 1 of 'x', which has 1"},
          {graph_of(R"(, {"op": "GtQuadratic", "name": "q", "inputs": [[0, 0, 0], [0, 0, 0]]})", 2),
           "node 1 'q': gt_quadratic: takes 1 input (data), and the file gives 2"},
          {graph_of(R"(, {"op": "GtQuadratic", "name": "q", "attrs": {"a": "much"}, "inputs": [[0, 0, 0]]})", 2),
           "node 1 'q': gt_quadratic: parameter 'a' is 'much', expected a float"},
          {graph_of(R"(, {"op": "GtQuadratic", "name": "q", "attrs": {"d": "1"}, "inputs": [[0, 0, 0]]})", 2),
           "node 1 'q': gt_quadratic: no parameter 'd'; it has a, b, c"},
          {graph_of(R"(, {"op": "GtQuadratic", "name": "q", "attrs": {"a": "1", "a": "1"}, "inputs": [[0, 0, 0]]})", 2),
           "node 1 'q': gt_quadratic: parameter 'a' is given twice, as '1' and as '1'"},
          {graph_of(R"(, {"op": "FullyConnected", "name": "f", "inputs": [[0, 0, 0], [0, 0, 0], [0, 0, 0]]})", 2),
           "node 1 'f': fully_connected: parameter 'num_hidden' (int) is required"},
          {graph_of(R"(, {"op": "GtQuadratic", "name": "q", "inputs": [[0, 0, 0]]},
                        {"op": "GtCenter", "name": "c", "inputs": [[0, 0, 0], [1, 0, 0]]})",
                    3),
           "node 2 'c': gt_center: input 'moving_mean' is written and so must be a variable, not the output of 'q'"},
          {R"({"nodes": [{"op": "null", "name": "x", "attrs": {"__shape__": "2x3"}, "inputs": []}], "heads": [[0, 0]]})",
           "node 0 'x': '__shape__' is '2x3', expected whole numbers as (2, 3)"},
          {R"({"nodes": [{"op": "null", "name": "x", "attrs": {"__dtype__": "99"}, "inputs": []}], "heads": [[0, 0]]})",
           "node 0 'x': '__dtype__' is 99, which is none of the element types"}}) {
    CAPTURE(text);
    CHECK(refusal(text) == "from_json: " + expected);
  }
  std::string deep = R"({"attrs": {"a": )";
  deep.append(100000, '[');
  CHECK(refusal(deep).ends_with("the text is nested more than 256 deep"));
  std::string many = R"({"nodes": [{"op": "null", "name": "x", "attrs": {"a": "")";
  for (int i = 0; i < 2000; ++i) many += cat(", \"k", i, "\": \"\"");
  CHECK(refusal(many).find("a node with more than 1024 attributes") != std::string::npos);
  // As many inputs of one node as there are links in the file.
  const std::vector<Symbol> inputs(100'000, var("x"));
  CHECK(Symbol::from_json(strop::add_n(inputs).to_json()).list_arguments() == std::vector<std::string>{"x"});
}

TEST_CASE("what no file can hold is refused when it is written") {
  const Symbol x = var("x"), q = quadratic(x, {}, "q");
  CHECK(sentence([] { (void)Symbol().to_json(); }) == "to_json: the symbol is empty");
  CHECK(sentence([] { (void)var("\xff").to_json(); }).ends_with("is not UTF-8"));
  q.set_attr("note", "1");
  CHECK(sentence([&] { (void)q.to_json(); }) ==
        "to_json: node 'q' has an attribute 'note', which files take for a parameter of GtQuadratic; call it __note__");
  CHECK(sentence([&] {
          (void)gradients(times(x, x, {}, "t"), {x})[0].to_json();
        }).find("' is a gradient; save what it is the gradient of") != std::string::npos);
}

TEST_CASE("a chain of a hundred thousand nodes is written, read and taken down") {
  Symbol net = var("x");
  for (int i = 0; i < 100000; ++i) net = quadratic(net, {.b = 1}, "n");
  const std::string text = net.to_json();
  net = Symbol();
  Symbol again = Symbol::from_json(text);
  CHECK(again.to_json() == text);
  CHECK(again.list_arguments() == Names{"x"});
}

TEST_CASE("JSON strings of every kind") {
  const auto read = [](std::string_view text) { return strop::detail::JsonReader(text, "t").string(); };
  CHECK(read(R"("\"\\\/\b\f\n\r\t\u0041\u00e9\u20ac\ud83d\ude00")") == "\"\\/\b\f\n\r\tA\u00e9\u20ac\U0001F600");
  CHECK(sentence([&] { read(R"("\u12g4")"); }) == "t: line 1, column 6: expected four hexadecimal digits after \\u");
  CHECK(sentence([&] { read(R"("\udc00")"); }) ==
        "t: line 1, column 8: the second half of a surrogate pair stands alone");
  CHECK(sentence([&] { read("\"\xc0\x80\""); }) == "t: line 1, column 2: a byte within a string is not UTF-8");
  for (const char* good : {"0", "-0", "12", "1.5e+3", "true", "null", " [ ] ", "{\"a\": [1, {}]}"}) {
    strop::detail::JsonReader in(good, "t");
    in.skip();
    CHECK_NOTHROW(in.finish());
  }
  for (const char* bad :
       {"", "+1", "01", "1.", ".5", "1e", "-", "tru", "nul", "[1 2]", "[,]", "{a: 1}", "{\"a\" 1}", "'a'"})
    CHECK_FALSE(sentence([&] {
                  strop::detail::JsonReader in(bad, "t");
                  in.skip();
                  in.finish();
                }).empty());
}
