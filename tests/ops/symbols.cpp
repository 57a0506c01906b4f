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
#include <strop/verify.hpp>
#include <unit/sentence.hpp>

#include <doctest/doctest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
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
/// What MXNet wrote, with the version that is written here.
std::string as_version_1_7(std::string text) {
  const std::size_t at = text.find("[\"int\", 10901]");
  REQUIRE(at != std::string::npos);
  return text.replace(at, 14, "[\"int\", 10700]");
}

using Texts = std::vector<std::pair<std::string, std::string>>;

/// The parameters of a row.
Texts texts_of(const verify::Row& row) {
  Texts texts;
  for (const auto& [name, text] : row.attributes()) texts.emplace_back(name, text);
  return texts;
}
/// The same, parameter i with a value that is not its default's.
Texts with_another(const detail::ParamTable& table, std::size_t i, Texts texts) {
  const detail::ParamBox defaults(&table);
  const detail::ValueType& type = *table.fields[i].type;
  const std::string standard = table.missing(defaults.get(), i) ? "" : table.print(defaults.get(), i);
  const Range* const range = table.range(i);
  std::string text = "(1, 2)";
  const auto take = [&](std::span<const std::string_view> words) {
    for (const std::string_view word : words)
      if (word != standard || words.size() == 1) text = word;
  };
  static constexpr std::string_view flags[] = {"True", "False"}, dtypes[] = {"float64", "float16"};
  switch (type.kind) {
    case ParamKind::flag:
      take(flags);
      break;
    case ParamKind::integer:
    case ParamKind::real:
      for (const char* const number : {"0.5", "0", "1", "3", "2"})
        if (const double value = std::stod(number);
            number != standard && (range == nullptr || (value >= range->low && value <= range->high)))
          text = number;
      break;
    case ParamKind::string:
      text = "word";
      break;
    case ParamKind::enumeration:
      take(type.words);
      break;
    case ParamKind::dtype:
      take(dtypes);
      break;
    default:
      break;
  }
  for (auto& [name, given] : texts)
    if (table.find(name) == i) {
      given = text;
      return texts;
    }
  texts.emplace_back(table.fields[i].name, text);
  return texts;
}
detail::Ref<detail::ParamBox> parsed(const Entry& entry, const Texts& texts) {
  const std::vector<std::pair<std::string_view, std::string_view>> given(texts.begin(), texts.end());
  return detail::parse_params(entry, given);
}
/// A node of the operator, written, read and written.
void check_round_trip(const Entry& entry, const Texts& texts, std::size_t inputs) {
  const detail::Ref<detail::ParamBox> params = parsed(entry, texts);
  std::vector<Symbol> in;
  for (std::size_t i = 0; entry.inputs < 0 && i < inputs; ++i) in.push_back(var("in" + std::to_string(i)));
  const Symbol net = detail::make_node(entry, params->get(), in, "node");
  const std::string text = net.to_json();
  CAPTURE(text);
  const Symbol again = Symbol::from_json(text);
  CHECK(again.to_json() == text);
  const NamedTexts before = net.list_attr(), after = again.list_attr();
  REQUIRE(before.size() == after.size());
  for (int i = 0; i < before.size(); ++i)
    if (before[i].first != "num_args") CHECK(before[i] == after[i]);  // a file counts them
  CHECK(again.list_arguments() == net.list_arguments());
  CHECK(again.list_auxiliary_states() == net.list_auxiliary_states());
}

}  // namespace

TEST_CASE("files of MXNet are read, and written back to the byte") {
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

TEST_CASE("files count the outputs that MXNet counts") {
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

TEST_CASE("a network of MXNet gives what it gave there, and so does what is written of it") {
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

TEST_CASE("what 0.8 wrote is brought up to date as MXNet does it") {
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

TEST_CASE("every operator is found again by its file, with every parameter that differs from its default") {
  for (const Entry* entry : detail::all_operators()) {
    if (entry->is_gradient() || !entry->library || entry->found != 0) continue;  // these are of no graph
    CAPTURE(entry->name);
    const std::vector<verify::Row> rows = verify::rows_of(*entry);
    CHECK_FALSE(rows.empty());
    for (const verify::Row& row : rows) check_round_trip(*entry, texts_of(row), row.in.size());
    for (std::size_t i = 0; entry->params != nullptr && i < entry->params->fields.size(); ++i) {
      // In the first row whose other parameters it goes together with.
      std::string refused = "no row";
      for (const verify::Row& row : rows) {
        const Texts texts = with_another(*entry->params, i, texts_of(row));
        try {
          (void)parsed(*entry, texts);
        } catch (const Error& error) {
          refused = error.what();
          continue;
        }
        refused.clear();
        check_round_trip(*entry, texts, row.in.size());
        break;
      }
      CHECK_MESSAGE(refused.empty(), entry->params->fields[i].name, " was not tried: ", refused);
    }
  }
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
