// SPDX-License-Identifier: Apache-2.0
/// \file
/// `strop ops`, `strop describe` and `strop info`: the registry as text and as JSON.
#include "command.hpp"
#include "operator.hpp"

#include <strop/strop.hpp>

#include <cstdio>
#include <nlohmann/json.hpp>

namespace strop::command {
namespace {

using detail::GradientRule;
using nlohmann::ordered_json;

/// A value that a required parameter may have. By its name where the type alone would give one that is of no use.
std::string example_of(const detail::Field& field) {
  constexpr std::pair<std::string_view, std::string_view> known[] = {
      {"a_min", "0"},      {"axis", "0"},        {"begin", "0"},
      {"low", "0"},        {"start", "0"},       {"block_size", "2"},
      {"depth", "10"},     {"high", "10"},       {"input_dim", "10"},
      {"lr", "0.1"},       {"num_hidden", "10"}, {"repeats", "2"},
      {"shape", "(2, 3)"}, {"reps", "2"},        {"pad_width", "(0, 0, 0, 0, 1, 1, 1, 1)"}};
  for (const auto& [name, text] : known)
    if (name == field.name) return std::string(text);
  const std::string_view type = field.type->name;
  if (type.starts_with("{'")) return std::string(type.substr(2, type.find('\'', 2) - 2));  // the first of them
  return type == "dtype" ? "float32" : "1";
}

/// An operator with its default parameters, its names and counts.
struct Card {
  const Entry& entry;
  detail::ParamBox params;
  Signature signature;

  explicit Card(const Entry& e) : entry(e), params(e.params) {
    if (e.params != nullptr) fill();
    if (e.signature != nullptr) e.signature(params.get(), e.inputs < 0 ? e.min_inputs : e.inputs, signature);
  }
  /// Required parameters get a value, so that names and counts can be asked for, and the example works.
  void fill() {
    for (std::size_t i = 0; i < entry.params->fields.size(); ++i) {
      const detail::Field& field = entry.params->fields[i];
      void* at = entry.params->at(params.get(), i);
      const bool required = field.type->missing != nullptr && field.type->missing(at);
      if (!required && (entry.inputs != 0 || field.name != "shape")) continue;  // nothing else says how much is made
      const std::string text = example_of(field);
      field.type->parse(at, text);
      example += cat(" --", field.name, ' ', text.find(' ') == std::string::npos ? text : cat("'", text, "'"));
    }
  }
  std::string example;  // the required parameters as a command line gives them
};

std::string gradient_text(const Entry& e) {
  const GradientRule& rule = e.gradient;
  if (rule.compose != nullptr) return "composed of operators";
  if (rule.zero) return "zero";
  if (rule.entry == nullptr) return "none";
  if (rule.heads == 0) return "loss head: needs no head gradient";
  if (rule.in != 0 && rule.out != 0) return "keeps inputs and outputs";
  if (rule.in != 0) return "keeps inputs";
  if (rule.out != 0) return "keeps outputs";
  return "keeps nothing";
}

/// What the operator takes besides its tensors, whatever their shapes are.
std::string resources_of(Card& card) {
  const Entry& e = card.entry;
  const std::vector<Shape> shapes(static_cast<std::size_t>(std::max(e.inputs, 1)), Shape{1, 1});
  const Resources needed = e.resources(card.params.get(), shapes);
  return needed.random && needed.temp_bytes != 0 ? "random numbers, temporary space"
         : needed.random                         ? "random numbers"
         : needed.temp_bytes != 0                ? "temporary space"
                                                 : "none with these parameters";
}

/// Whether zeros in the inputs of `set` give zeros: "" with the default parameters, or those of the example, " with …"
/// where a number has to have another value, else "never".
std::string kept_with(Card& card, Dtype computed, std::uint64_t set) {
  const Entry& e = card.entry;
  const auto keeps = [&](const void* params) { return e.facts.zero(params, computed, set); };
  if (keeps(card.params.get())) return card.example.empty() ? std::string() : cat(" with", card.example);
  for (std::size_t i = 0; e.params != nullptr && i < e.params->fields.size(); ++i) {
    const detail::Field& field = e.params->fields[i];
    if (field.type->number == nullptr || field.type->name == "bool") continue;
    for (const char* text : {"0", "1", "2"}) {
      Card changed(e);
      if (!field.type->parse(e.params->at(changed.params.get(), i), text)) continue;
      if (keeps(changed.params.get())) return cat(" with", card.example, " --", field.name, ' ', text);
    }
  }
  return "never";
}

/// "csr -> csr" and the like.
std::vector<std::string> storages_of(Card& card) {
  std::vector<std::string> out{"dense -> dense"};
  const Entry& e = card.entry;
  if (e.sparse_forms) out.emplace_back("sparse forms of its own");
  if (!e.is_map() || e.facts.zero == nullptr || e.inputs > 3) return out;
  const Dtype computed = e.loops.f32 != nullptr ? f32 : e.loops.f64 != nullptr ? f64 : i64;
  for (const Storage sparse : {csr, row_sparse})
    for (std::uint64_t set = 1; set < (std::uint64_t{1} << e.inputs); ++set) {
      const std::string condition = kept_with(card, computed, set);
      if (condition == "never") continue;
      std::string line;
      for (int i = 0; i < e.inputs; ++i)
        line += cat(i == 0 ? "" : ", ", name_of((set >> i & 1U) != 0 ? sparse : dense));
      out.push_back(cat(line, " -> ", name_of(sparse), condition));
    }
  return out;
}

std::string note_of(const Entry& e, std::string_view name) {
  for (const Note& note : e.notes)
    if (note.name == name) return std::string(note.text);
  return {};
}

std::string dtypes_of(const Entry& e) {
  std::string out;
  for (const Dtype type : all_dtypes)
    if (e.dtypes.contains(type)) out += cat(out.empty() ? "" : ", ", name_of(type));
  return out.empty() ? "any" : out;
}

std::string default_of(Card& card, std::size_t i) {
  const detail::Field& field = card.entry.params->fields[i];
  detail::ParamBox fresh(card.entry.params);
  void* at = card.entry.params->at(fresh.get(), i);
  if (field.type->missing != nullptr && field.type->missing(at)) return {};
  return field.type->print(at);
}

}  // namespace

std::string version() { return "0.1.0"; }

int list_operators(bool json) {
  ordered_json list = ordered_json::array();
  int shown = 0;
  for (const Entry* e : detail::all_operators()) {
    if (!!e->is_gradient()) continue;
    Card card(*e);
    ++shown;
    if (!json) {
      std::string in, params;
      for (std::string_view name : card.signature.inputs) in += cat(in.empty() ? "" : ", ", name);
      if (e->inputs < 0) in += "...";
      if (e->params != nullptr)
        for (const detail::Field& field : e->params->fields) params += cat(params.empty() ? "" : ", ", field.name);
      std::printf("%-28s (%s) {%s}\n", std::string(e->snake).c_str(), in.c_str(), params.c_str());
      continue;
    }
    ordered_json item;
    item["name"] = e->name;
    std::vector<std::string> aliases;
    if (e->snake != e->name) aliases.emplace_back(e->snake);
    for (std::string_view alias : e->aliases)
      if (alias != e->snake) aliases.emplace_back(alias);
    item["aliases"] = aliases;
    item["inputs"] = card.signature.inputs;
    item["outputs"] = card.signature.outputs;
    item["params"] = ordered_json::array();
    if (e->params != nullptr)
      for (std::size_t i = 0; i < e->params->fields.size(); ++i) {
        const detail::Field& field = e->params->fields[i];
        const std::string value = default_of(card, i);
        ordered_json param;
        param["name"] = field.name;
        param["type"] = field.type->name;
        if (value.empty() && field.type->missing != nullptr)
          param["default"] = nullptr;
        else
          param["default"] = value;
        param["doc"] = note_of(*e, field.name);
        item["params"].push_back(param);
      }
    item["gradient"] = gradient_text(*e);
    item["storages"] = storages_of(card);
    item["devices"] = detail::devices_of(*e);
    list.push_back(item);
  }
  if (json)
    std::printf("%s\n", list.dump(1).c_str());
  else
    std::printf("%d operators\n", shown);
  return 0;
}

int describe(const std::string& name) {
  const Entry& e = operator_called(name);
  Card card(e);
  std::string in, out, aliases, example;
  for (std::string_view input : card.signature.inputs) in += cat(in.empty() ? "" : ", ", input);
  if (e.inputs < 0) in += ", ...";
  for (std::string_view output : card.signature.outputs) out += cat(out.empty() ? "" : ", ", output);
  for (std::string_view alias : e.aliases) aliases += cat(aliases.empty() ? "" : ", ", alias);
  std::printf("%s(%s", std::string(e.snake).c_str(), in.c_str());
  if (e.params != nullptr)
    for (std::size_t i = 0; i < e.params->fields.size(); ++i) {
      const std::string value = default_of(card, i);
      std::printf("%s%s%s", in.empty() && i == 0 ? "" : ", ", std::string(e.params->fields[i].name).c_str(),
                  value.empty() ? "" : cat("=", value).c_str());
    }
  std::printf(") -> %s\n", out.c_str());
  if (!e.doc.empty()) std::printf("\n  %s\n", std::string(e.doc).c_str());
  std::printf("\n  name       %s%s%s\n", std::string(e.name).c_str(), aliases.empty() ? "" : ", also ",
              aliases.c_str());
  std::printf("  kind       %s\n", e.is_map() ? "map: element by element" : "tensor operator");
  std::printf("  types      %s\n", dtypes_of(e).c_str());
  std::printf("  gradient   %s\n", gradient_text(e).c_str());
  std::string storages, devices;
  for (const std::string& s : storages_of(card)) storages += cat(storages.empty() ? "" : "; ", s);
  for (std::string_view d : detail::devices_of(e)) devices += cat(devices.empty() ? "" : ", ", d);
  std::printf("  storages   %s\n  devices    %s\n", storages.c_str(), devices.c_str());
  if (e.resources != nullptr) std::printf("  resources  %s\n", resources_of(card).c_str());
  if (e.make_state != nullptr) std::printf("  state      kept from forward to backward\n");
  if (e.params != nullptr && !e.params->fields.empty()) {
    std::printf("\n  parameters\n");
    for (std::size_t i = 0; i < e.params->fields.size(); ++i) {
      const detail::Field& field = e.params->fields[i];
      const std::string value = default_of(card, i);
      std::string range;
      for (const Range& r : e.params->ranges)
        if (r.name == field.name)
          range = r.low <= -1e308   ? cat(", at most ", r.high)
                  : r.high >= 1e308 ? cat(", at least ", r.low)
                                    : cat(", from ", r.low, " to ", r.high);
      std::printf("    %-16s %s, %s%s  %s\n", std::string(field.name).c_str(), std::string(field.type->name).c_str(),
                  value.empty() && field.type->missing != nullptr ? "required" : cat("default ", value).c_str(),
                  range.c_str(), note_of(e, field.name).c_str());
    }
  }
  for (std::string_view input : card.signature.inputs) example += cat(" ", input, ".npy");
  std::printf("\n  example    strop run %s%s%s -o %s.npy\n", std::string(e.snake).c_str(), example.c_str(),
              card.example.c_str(),
              card.signature.outputs.empty() ? "out" : std::string(card.signature.outputs[0]).c_str());
  return 0;
}

int info() {
  std::printf("strop %s\n", version().c_str());
#if defined(__AVX512F__)
  const char* isa = "AVX-512";
#elif defined(__AVX2__)
  const char* isa = "AVX2";
#else
  const char* isa = "baseline";
#endif
  int operators = 0;
  for (const Entry* e : detail::all_operators()) operators += e->is_gradient() ? 0 : 1;
  std::printf(
      "operators        %d\ninstruction set  %s (%lld lanes of float32)\nthreads          %d\ncompiler         "
      "%s\ndevices          cpu\n",
      operators, isa, static_cast<long long>(number::Rep<number::Vec<float>>::lanes), num_threads(), __VERSION__);
  const memory::Statistics use = memory::statistics(cpu());
  std::printf("memory           %lld bytes live, %lld at most\n", static_cast<long long>(use.live_bytes),
              static_cast<long long>(use.peak_bytes));
  return 0;
}

}  // namespace strop::command
