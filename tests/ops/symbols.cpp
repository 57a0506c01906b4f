// SPDX-License-Identifier: Apache-2.0
/// \file
/// Symbol files of the library's operators: what MXNet 1.9.1 wrote (tests/ops/symbols/make.py) reads and writes back
/// the same, and so does every operator of the registry.
#include <strop/graph/executor.hpp>
#include <strop/graph/library_names.hpp>
#include <strop/op/registry.hpp>
#include <strop/ops/reduce.hpp>
#include <strop/ops/shape/reshape.hpp>
#include <strop/tensor/allclose.hpp>
#include <strop/tensor/io.hpp>
#include <unit/sentence.hpp>

#include <doctest/doctest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

using namespace strop;
using testing::sentence;

namespace {

std::string path_of(const char* name) {
  const char* const root = std::getenv("STROP_SOURCE");
  return std::string(root != nullptr ? root : ".") + "/tests/ops/symbols/" + name;
}
std::string text_of(const char* name) {
  std::ifstream file(path_of(name));
  return {std::istreambuf_iterator<char>(file), {}};
}
/// What the original wrote, with the version that is written here.
std::string as_version_1_7(std::string text) {
  const std::size_t at = text.find("[\"int\", 10901]");
  REQUIRE(at != std::string::npos);
  return text.replace(at, 14, "[\"int\", 10700]");
}

}  // namespace

TEST_CASE("files of the original are read, and written back to the byte") {
  for (const char* name : {"network.json", "many.json", "stated.json"}) {
    CAPTURE(name);
    const Symbol net = Symbol::load(path_of(name));
    CHECK(net.to_json() == as_version_1_7(text_of(name)));
  }
  const Symbol net = Symbol::load(path_of("network.json"));
  CHECK(net.list_arguments() == std::vector<std::string>{"data", "bn_gamma", "bn_beta", "fc_weight", "fc_bias"});
  CHECK(net.list_auxiliary_states() == std::vector<std::string>{"bn_moving_mean", "bn_moving_var"});
  CHECK(net.list_outputs() == std::vector<std::string>{"sm_output", "cl_output", "bn_output"});
  CHECK(net.get_internals()["fc_output"].attr("ctx_group") == "g1");
  CHECK(net.get_internals()["data"].attr("lr_mult") == "2");
  CHECK(net.infer_type({}).args.front() == f64);
  CHECK(net.infer_shape({{"data", {2, 4}}}).outputs[1] == Shape{3, 2});
}

TEST_CASE("what is known of a shape in part is known of what is made of it") {
  const Symbol x = var("x");
  const NamedShapes part{{"x", {2, -1, 5}}};
  const auto out = [&](const Symbol& y) { return y.infer_shape_partial(part).outputs[0]; };
  CHECK(out(strop::sum(x, {.axis = {1}})) == Shape{2, 5});
  CHECK(out(strop::mean(x, {.axis = {2}})) == Shape{2, -1});
  CHECK(out(strop::sum(x, {.axis = {0}, .keepdims = true})) == Shape{1, -1, 5});
  CHECK(out(strop::norm(x, {.axis = {1}})) == Shape{2, 5});
  CHECK(out(strop::reshape(x, {.shape = {0, -1}})) == Shape{2, -1});
  CHECK(out(strop::reshape(x, {.shape = {0, 0, 5, 1}})) == Shape{2, -1, 5, 1});
  CHECK_FALSE(out(strop::reshape(x, {.shape = {-3, 5}})).has_rank());
  // The rest follows backwards.
  CHECK(
      group({strop::reshape(x, {.shape = {0, -1}}), var("y")}).infer_shape({{"x", {2, 3, 5}}, {"y", {1}}}).outputs[0] ==
      Shape{2, 15});
}

TEST_CASE("files count the outputs that the original counts") {
  const std::pair<const char*, int> counts[] = {
      {R"x("LeakyReLU")x", 1},
      {R"x("LeakyReLU", "attrs": {"act_type": "rrelu"})x", 2},
      {R"x("Pooling", "attrs": {"kernel": "(2, 2)"})x", 2},
      {R"x("Pooling", "attrs": {"kernel": "(2, 2)", "pool_type": "avg"})x", 1},
      {R"x("topk")x", 1},
      {R"x("topk", "attrs": {"ret_typ": "value"})x", 2},
      {R"x("Dropout")x", 2},
  };
  for (const auto& [node, count] : counts) {
    CAPTURE(node);
    const Symbol net =
        Symbol::from_json(R"({"nodes": [{"op": "null", "name": "x", "inputs": []}, {"op": )" + std::string(node) +
                          R"(, "name": "y", "inputs": [[0, 0, 0]]}], "heads": [[1, 0, 0]]})");
    const std::string rows = "\"node_row_ptr\": [0, 1, " + std::to_string(1 + count) + "]";
    CHECK(net.to_json().find(rows) != std::string::npos);
  }
}

TEST_CASE("a network of the original gives what it gave there, and so does what is written of it") {
  const Symbol net = Symbol::load(path_of("classifier.json"));
  NamedArrays args, states;
  NDArray expected;
  for (const auto& [name, array] : load(path_of("classifier.npz"))) {
    if (name == "softmax_output")
      expected = array;
    else
      (name.starts_with("bn_moving") ? states : args).emplace_back(name, array);
  }
  for (const Symbol& each : {net, Symbol::from_json(net.to_json())}) {
    auto run = each.bind(cpu(), args, {}, GradRequest::null, states);
    CHECK(allclose(run.forward()[0], expected, 1e-5, 1e-6));
  }
}

TEST_CASE("what 0.8 wrote is brought up to date as the original does it") {
  const Symbol net = Symbol::load(path_of("old.json"));
  const Symbol upgraded = Symbol::load(path_of("old_upgraded.json"));
  CHECK(net.list_arguments() == upgraded.list_arguments());
  CHECK(net.list_auxiliary_states() == std::vector<std::string>{"bn_moving_mean", "bn_moving_var"});
  CHECK(net.list_auxiliary_states() == upgraded.list_auxiliary_states());
  const Symbol all = net.get_internals(), wanted = upgraded.get_internals();
  REQUIRE(all.list_outputs() == wanted.list_outputs());
  for (std::int64_t i = 0; i < all.size(); ++i)
    for (const char* key :
         {"lr_mult", "wd_mult", "ctx_group", "axis", "eps", "momentum", "fix_gamma", "num_hidden", "init"})
      CHECK(all[i].attr(key) == wanted[i].attr(key));
  CHECK(all["fc1_weight"].attr("lr_mult") == "1.2");
  CHECK(all["am_output"].attr("axis").empty());  // all of them, as by default: −1 said so in 0.8
}

TEST_CASE("every operator is found again by its file, with parameters that differ from their defaults") {
  const auto some_text = [](const detail::ParamTable& table, std::size_t i) -> std::string {
    const detail::ValueType& type = *table.fields[i].type;
    const Range* const range = table.range(i);
    switch (type.kind) {
      case ParamKind::flag:
        return "True";
      case ParamKind::integer:
      case ParamKind::real:
        return range != nullptr && range->low > 2    ? std::to_string(static_cast<int>(range->low))
               : range != nullptr && range->high < 2 ? "1"
                                                     : "2";
      case ParamKind::string:
        return "word";
      case ParamKind::enumeration:
        return std::string(type.words.back());
      case ParamKind::dtype:
        return "float64";
      default:
        return "(1, 2)";
    }
  };
  int made = 0;
  for (const Entry* entry : detail::all_operators()) {
    if (entry->is_gradient() || !entry->library) continue;
    CAPTURE(entry->name);
    const Symbol x = var("x");
    std::vector<std::pair<std::string, std::string>> texts;
    for (std::size_t i = 0; entry->params != nullptr && i < entry->params->fields.size(); ++i)
      texts.emplace_back(entry->params->fields[i].name, some_text(*entry->params, i));
    // All parameters at once, then one after the other beside those that are required.
    for (std::size_t only = 0; only <= texts.size(); ++only) {
      detail::Ref<detail::ParamBox> params;
      Symbol net;
      try {
        std::vector<std::pair<std::string_view, std::string_view>> given;
        for (std::size_t i = 0; i < texts.size(); ++i)
          if (only == texts.size() || i == only || entry->params->fields[i].type->required)
            if (entry->params->fields[i].name != "num_args") given.emplace_back(texts[i].first, texts[i].second);
        params = detail::parse_params(*entry, given);
        std::vector<Symbol> in;
        for (int i = 0; entry->inputs < 0 && i < 2; ++i) in.push_back(var(i == 0 ? "a" : "b"));
        net = detail::make_node(*entry, params->get(), in, "node");
      } catch (const Error&) {
        continue;  // parameters that do not go together
      }
      if (!net) continue;
      ++made;
      const std::string text = net.to_json();
      const Symbol again = Symbol::from_json(text);
      CHECK(again.to_json() == text);
      const NamedTexts before = net.list_attr(), after = again.list_attr();
      REQUIRE(before.size() == after.size());
      for (int i = 0; i < before.size(); ++i)
        if (before[i].first != "num_args") CHECK(before[i] == after[i]);  // a file counts them
      CHECK(again.list_arguments() == net.list_arguments());
      CHECK(again.list_auxiliary_states() == net.list_auxiliary_states());
    }
  }
  CHECK(made > 500);
}

TEST_CASE("the names of the library are those of its operators") {
  std::size_t count = 0;
  for (const Entry* entry : detail::all_operators()) {
    if (!entry->library || entry->is_gradient() || entry->name.starts_with("_grad_")) continue;
    CAPTURE(entry->name);
    std::vector<std::string_view> names(entry->aliases.begin(), entry->aliases.end());
    names.push_back(entry->name);
    if (entry->snake != entry->name) names.push_back(entry->snake);
    for (const std::string_view name : names) {
      CAPTURE(name);
      CHECK(detail::in_library(name));
      ++count;
    }
  }
  std::size_t listed = 0;
  for (const char c : detail::library_names) listed += c == ' ' ? 1 : 0;
  CHECK(listed - 1 <= count);  // none that the registry lacks
  CHECK_FALSE(detail::in_library("_contrib_hawkesll"));
  CHECK_FALSE(detail::in_library(""));
  CHECK_FALSE(detail::in_library("tanh softmax"));
}
