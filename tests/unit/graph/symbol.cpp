// SPDX-License-Identifier: Apache-2.0
/// \file
/// Symbols: names, arguments, composition, attributes.
#include "operators.hpp"

#include <doctest/doctest.h>

using namespace graph_tests;

TEST_CASE("operators on symbols make nodes with MXNet's names") {
  const NameScope fresh;
  const Symbol data = var("data");
  CHECK(data.name() == "data");
  CHECK(data.list_outputs() == Names{"data"});
  CHECK(dense_layer(data, {.num_hidden = 3}).name() == "fullyconnected0");
  CHECK(dense_layer(data, {.num_hidden = 3}).name() == "fullyconnected1");
  CHECK(quadratic(data).name() == "gtquadratic0");
  const Symbol fc = dense_layer(data, {.num_hidden = 10}, "fc1");
  CHECK(fc.name() == "fc1");
  CHECK(fc.list_arguments() == Names{"data", "fc1_weight", "fc1_bias"});
  CHECK(fc.list_outputs() == Names{"fc1_output"});
  CHECK(dense_layer(data, {.num_hidden = 10, .no_bias = true}, "fc2").list_arguments() == Names{"data", "fc2_weight"});
  const Symbol shared = dense_layer(data, Symbol(), var("b"), {.num_hidden = 10}, "fc3");
  CHECK(shared.list_arguments() == Names{"data", "fc3_weight", "b"});
}

TEST_CASE("name scopes count anew and put a prefix before operators, not before variables") {
  const NameScope fresh;
  const Symbol x = var("x");
  CHECK(quadratic(x).name() == "gtquadratic0");
  {
    const NameScope scope("stage_");
    CHECK(quadratic(x).name() == "stage_gtquadratic0");
    CHECK(quadratic(x, {}, "q").name() == "stage_q");
    CHECK(var("v").name() == "v");
    CHECK(dense_layer(x, {.num_hidden = 1}).list_arguments() ==
          Names{"x", "stage_fullyconnected0_weight", "stage_fullyconnected0_bias"});
  }
  CHECK(quadratic(x).name() == "gtquadratic1");
}

TEST_CASE("arguments stand depth first and once, states apart, hidden outputs stay hidden") {
  const Symbol x = var("x"), y = var("y");
  const Symbol net = times(center(plus(y, x, {}, "p"), {}, "c"), quadratic(x, {}, "q"), {}, "t");
  CHECK(net.list_arguments() == Names{"y", "x"});
  CHECK(net.list_auxiliary_states() == Names{"c_moving_mean"});
  const Symbol internals = net.get_internals();
  CHECK(internals.list_outputs() == Names{"y", "x", "p_output", "c_moving_mean", "c_output", "q_output", "t_output"});
  CHECK(internals["c_output"].list_arguments() == Names{"y", "x"});
  CHECK(internals[2].name() == "p");
  CHECK(net.get_children().list_outputs() == Names{"c_output", "q_output"});
  CHECK_FALSE(x.get_children().defined());
}

TEST_CASE("several outputs, groups and what takes one of them") {
  const Symbol pair = both(var("a"), var("b"), {}, "pair");
  CHECK(pair.size() == 2);
  CHECK(pair.name() == "pair");
  CHECK(pair.list_outputs() == Names{"pair_output0", "pair_output1"});
  CHECK(pair[1].list_outputs() == Names{"pair_output1"});
  const Symbol all = group({pair[1], var("c")});
  CHECK(all.name().empty());
  CHECK(all.list_outputs() == Names{"pair_output1", "c"});
  CHECK(all.list_arguments() == Names{"a", "b", "c"});
  CHECK(sentence([&] { (void)quadratic(pair); }) ==
        "gt_quadratic: input 'data' has 2 outputs (pair_output0, pair_output1), expected one; take one with [i]");
  CHECK(sentence([&] {
          (void)pair["pair_output2"];
        }).starts_with("symbol: no output 'pair_output2'; nearest: pair_output"));
  CHECK(sentence([&] { (void)pair[2]; }) == "symbol: no output 2; it has 2");
}

TEST_CASE("compose makes the same nodes by name, inputs in order or by name") {
  const Symbol data = var("data"), b = var("b");
  const Symbol fc = compose("FullyConnected", {data, {"bias", b}}, {{"num_hidden", "4"}}, "fc");
  CHECK(fc.list_arguments() == Names{"data", "fc_weight", "b"});
  CHECK(fc.attr("num_hidden") == "4");
  CHECK(
      compose("fully_connected", {{"data", data}}, {{"num_hidden", "4"}, {"no_bias", "True"}}, "fd").list_arguments() ==
      Names{"data", "fd_weight"});
  CHECK(compose("gt_quadratic", {}, {}, "q").list_arguments() == Names{"q_data"});
  CHECK(compose("Concat", {data, b, data}, {}, "c").list_arguments() == Names{"data", "b"});
  CHECK(sentence([&] { compose("FullyConnected", {data, {"wait", b}}, {{"num_hidden", "4"}}); }) ==
        "fully_connected: no input 'wait'; it has data, weight, bias");
  CHECK(sentence([&] { compose("FullyConnected", {data, {"data", b}}, {{"num_hidden", "4"}}); }) ==
        "fully_connected: input 'data' is given twice");
  CHECK(sentence([&] { compose("FullyConnected", {data}); }) ==
        "fully_connected: parameter 'num_hidden' (int) is required");
  CHECK(sentence([&] {
          compose("FullyConnected", {data}, {{"num_hiden", "4"}});
        }).starts_with("fully_connected: no parameter 'num_hiden'; it has num_hidden"));
  CHECK(sentence([&] {
          compose("FullyConected", {data});
        }).starts_with("strop: no operator 'FullyConected' in this program; nearest: "));
  CHECK(sentence([&] { compose("gt_quadratic", {data, b}); }) == "gt_quadratic: takes 1 input (data), 2 were given");
}

TEST_CASE("a state that an operator writes must be a variable") {
  CHECK(sentence([] { (void)center(var("x"), quadratic(var("m"), {}, "q")); }) ==
        "gt_center: input 'moving_mean' is written and so must be a variable, not the output of q");
}

TEST_CASE("variables need a name") {
  CHECK(sentence([] { var(""); }) == "var: a variable needs a name");
}

TEST_CASE("attributes: parameters as text, scopes, and keys that other tools read") {
  const Symbol v = var("v", {.shape = {2, 3}, .attributes = {{"lr_mult", "2"}, {"mine", "yes"}}});
  CHECK(v.attr("lr_mult") == "2");
  CHECK(v.attr("__lr_mult__") == "2");
  CHECK(v.attr("__shape__") == "(2, 3)");
  CHECK(v.attr("mine") == "yes");
  CHECK(v.attr("nothing").empty());
  Symbol q;
  {
    const AttrScope scope{{"ctx_group", "first"}};
    q = dense_layer(v, {.num_hidden = 2}, "f");
  }
  CHECK(q.attr("ctx_group") == "first");
  CHECK(q.attr("no_bias").empty());  // not given
  CHECK(q.get_children()[1].attr("ctx_group") == "first");
  CHECK(quadratic(v).attr("ctx_group").empty());
  q.set_attr("note", "kept");
  CHECK(q.attr("note") == "kept");
  CHECK(sentence([&] { (void)group({v, q}).attr("note"); }) ==
        "attr: a group of several nodes has no attributes; take one with [i]");
}

TEST_CASE(
    "parameters are listed where they were given, as they were written; inputs made by themselves have them too") {
  const Symbol data = var("data");
  const Symbol by_struct = dense_layer(data, {.num_hidden = 2, .no_bias = false}, "s");
  CHECK(by_struct.list_attr() == NamedTexts{{"num_hidden", "2"}});
  const Symbol by_text = compose("FullyConnected", {data}, {{"no_bias", "0"}, {"num_hidden", "002"}}, "t");
  const NamedTexts said{{"num_hidden", "002"}, {"no_bias", "0"}};
  CHECK(by_text.list_attr() == said);
  CHECK(by_text.copy().list_attr() == said);
  CHECK(by_text.get_internals()["t_weight"].list_attr() == said);
  CHECK(Symbol::from_json(by_text.to_json()).list_attr() == said);
  CHECK(Symbol::from_json(by_text.to_json()).get_internals()["t_bias"].attr("num_hidden") == "002");
  CHECK(data.list_attr().empty());
  {
    const AttrScope outer{{"wd_mult", "1"}}, inner{{"wd_mult", "2"}};
    const Symbol scoped = dense_layer(data, {.num_hidden = 2}, "u");
    CHECK(scoped.get_internals()["u_weight"].list_attr() ==
          NamedTexts{{"num_hidden", "2"}, {"__wd_mult__", "2"}, {"wd_mult", "2"}});
  }
  data.set_attr("mood", "good");
  data.set_attr("mood", "so so");
  CHECK(data.list_attr() == NamedTexts{{"mood", "so so"}});
}

TEST_CASE("what a variable is may be said by attributes, in any of three ways") {
  const Symbol declared = var("v", {.attributes = {{"__shape__", "(2, 0)"}, {"__dtype__", "1"}}});
  CHECK(declared.attr("__shape__") == "(2, 0)");
  CHECK(plus(declared, var("w")).infer_type()["w"] == f64);
  CHECK(quadratic(declared).infer_shape({{"v", {-1, 3}}}).outputs == std::vector<Shape>{{2, 3}});
  CHECK(var("v", {.shape = {4}, .attributes = {{"__shape__", "(2,)"}}}).attr("__shape__") == "(4,)");
  const Symbol later = var("v");
  later.set_attr("__shape__", "(5,)");
  later.set_attr("__storage_type__", "2");
  CHECK(quadratic(later).infer_shape({}).outputs == std::vector<Shape>{{5}});
  CHECK(quadratic(later, {.a = 1}).infer_storage().outputs == std::vector<Storage>{csr});
  {
    const AttrScope scope{{"__dtype__", "float16"}};
    CHECK(quadratic(var("v")).infer_type().outputs == std::vector<Dtype>{f16});
  }
  CHECK(sentence([&] { later.set_attr("__shape__", "(2, x)"); }) ==
        "variable 'v': '__shape__' is '(2, x)', expected whole numbers as (2, 3)");
  CHECK(sentence([&] { later.set_attr("__dtype__", "99"); }) ==
        "variable 'v': '__dtype__' is 99, which is none of the element types");
  CHECK(sentence([&] { later.set_attr("__storage_type__", "csr"); }) ==
        "variable 'v': '__storage_type__' is 'csr', expected 0, 1 or 2");
  CHECK(later.attr("__shape__") == "(5,)");
}

TEST_CASE("a copy has nodes of its own; attr_dict is what all nodes say") {
  const Symbol x = var("x", {.attributes = {{"lr_mult", "3"}}});
  const Symbol net = plus(quadratic(x, {.a = 2}, "q"), x, {}, "p"), copy = net.copy();
  CHECK(copy.list_arguments() == Names{"x"});
  CHECK(copy.get_internals()["x"].attr("lr_mult") == "3");
  copy.get_internals()["x"].set_attr("lr_mult", "5");
  copy.set_attr("mine", "yes");
  CHECK(x.attr("lr_mult") == "3");
  CHECK(net.attr("mine").empty());
  CHECK(copy.get_internals()["x"].attr("lr_mult") == "5");
  const auto all = net.attr_dict();
  REQUIRE(all.size() == 2);
  CHECK(all[0] == std::pair<std::string, NamedTexts>("x", {{"__lr_mult__", "3"}, {"lr_mult", "3"}}));
  CHECK(all[1].first == "q");
  CHECK(all[1].second[0] == std::pair<std::string, std::string>("a", "2"));
  const Symbol pair = both(x, x);
  const Symbol halves = group({pair[1], pair[0]}).copy();
  CHECK(halves.list_outputs() == group({pair[1], pair[0]}).list_outputs());
  CHECK(halves[0].outputs()[0].node == halves[1].outputs()[0].node);
}

TEST_CASE("variables are replaced by expressions without touching the original") {
  const Symbol net = plus(quadratic(var("x"), {}, "q"), var("y"), {}, "p");
  const Symbol deeper = net({{"x", dense_layer(var("data"), {.num_hidden = 2}, "fc")}});
  CHECK(deeper.list_arguments() == Names{"data", "fc_weight", "fc_bias", "y"});
  CHECK(deeper.list_outputs() == Names{"p_output"});
  CHECK(net.list_arguments() == Names{"x", "y"});
  CHECK(sentence([&] { net({{"z", var("a")}}); }) == "symbol: no argument 'z'; nearest: x, y");
  CHECK(sentence([&] { net({{"x", both(var("a"), var("b"))}}); }) ==
        "symbol: the replacement of 'x' has 2 outputs, expected one");
}

TEST_CASE("graphs of great depth are walked and taken down without recursion") {
  Symbol net = var("x");
  for (int i = 0; i < 200000; ++i) net = quadratic(net, {.b = 1}, "q");
  CHECK(net.list_arguments() == Names{"x"});
  net = Symbol();
  CHECK_FALSE(net.defined());
}
