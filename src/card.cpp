// SPDX-License-Identifier: Apache-2.0
/// \file
/// What the registry says of an operator.
#include "card.hpp"

#include <algorithm>

namespace strop::command {
namespace {

using detail::Field;
using detail::GradientRule;
using detail::signature_of;

/// The parameters as an object; none where the operator refuses them.
detail::Ref<detail::ParamBox> box_of(const Entry& e, const Settings& settings) {
  try {
    return detail::parse_params(e, views_of(settings));
  } catch (const Error&) {
    return nullptr;
  }
}

/// Values that may make a difference to what is kept and to how results are stored.
std::vector<std::string_view> values_of(const Field& field) {
  const detail::ValueType& type = *field.type;
  if (type.kind == ParamKind::flag) return {"False", "True"};
  if (type.kind == ParamKind::enumeration) return {type.words.begin(), type.words.end()};
  if (type.has_order) return {"0", "1", "2", "-1"};
  return {};
}

std::string names_of(std::span<const Storage> storages) {
  std::vector<std::string_view> names;
  for (const Storage storage : storages) names.push_back(name_of(storage));
  return joined(names);
}
bool all_dense(std::span<const Storage> storages) {
  return std::ranges::all_of(storages, [](Storage s) { return s == dense; });
}

/// A value as a shell takes it.
std::string quoted(std::string_view text) {
  const bool plain = !text.empty() && text.find_first_of(" ()'\"$*?[]|&;<>") == std::string_view::npos;
  return plain ? std::string(text) : cat('\'', text, '\'');
}
std::string options(const Settings& settings) {
  std::string out;
  for (const auto& [key, value] : settings) out += cat(" --", key, ' ', quoted(value));
  return out;
}

Dtype computed_type(const Entry& e) { return e.loops.f32 != nullptr ? f32 : e.loops.f64 != nullptr ? f64 : i64; }

}  // namespace

Settings with(Settings settings, std::string_view key, std::string_view value) {
  for (auto& [name, text] : settings)
    if (name == key) return text = value, settings;
  settings.emplace_back(key, value);
  return settings;
}

Card::Card(const Entry& e) : entry(e), arguments(arguments_of(e)) {
  if (const std::vector<verify::Row> rows = verify::rows_of(e); !rows.empty()) row = rows.front();
  for (std::size_t i = 0; e.params != nullptr && i < e.params->fields.size(); ++i) {
    if (default_of(i)) continue;
    const Field& field = e.params->fields[i];
    // Where no row has a value: one of the type.
    std::string_view value = field.type->kind == ParamKind::dtype ? "float32" : "1";
    if (field.type->kind == ParamKind::enumeration) value = field.type->words.front();
    if (row)
      for (const auto& [key, text] : row->attributes())
        if (key == field.name) value = text;
    required.emplace_back(field.name, value);
  }
  call = required;
  if (row)
    for (const auto& [key, text] : row->attributes()) call = with(std::move(call), key, text);
  if (!box_of(e, call)) row.reset();  // a row of any map knows nothing of its parameters
  const auto box = box_of(e, required);
  if (box) signature = signature_of(e, box->get(), e.inputs < 0 ? e.min_inputs : e.inputs);
}

std::optional<std::string> Card::default_of(std::size_t i) const {
  const detail::ParamBox fresh(entry.params);
  if (entry.params->missing(fresh.get(), i)) return std::nullopt;
  return entry.params->print(fresh.get(), i);
}

std::string Card::cost() const {
  if (entry.facts.operations != nullptr) {
    const auto box = box_of(entry, required);
    const int count = box ? entry.facts.operations(box->get()) : 0;
    return !box ? "what its parameters say" : cat(count, count == 1 ? " operation" : " operations", " an element");
  }
  return entry.operations != nullptr ? "operations by its shapes" : "";
}

std::string Card::note_of(std::string_view name) const {
  for (const Note& note : entry.notes)
    if (note.name == name) return std::string(note.text);
  return {};
}

std::string Card::range_of(std::string_view name) const {
  for (const Range& r : entry.params->ranges)
    if (r.name == name) return detail::bounds_of(r, {});
  return {};
}

std::string Card::dtypes() const {
  std::vector<std::string_view> names;
  for (const Dtype type : all_dtypes)
    if (entry.dtypes.contains(type)) names.push_back(name_of(type));
  return names.empty() ? "any" : joined(names);
}

/// The parameters as in `required`, then with one of them changed; of a number that is required the example's stands
/// for all.
std::vector<Settings> Card::variants() const {
  std::vector<Settings> out{required};
  for (std::size_t i = 0; entry.params != nullptr && i < entry.params->fields.size(); ++i) {
    const Field& field = entry.params->fields[i];
    if (!default_of(i) && field.type->kind != ParamKind::enumeration) continue;
    for (const std::string_view value : values_of(field)) out.push_back(with(required, field.name, value));
  }
  return out;
}

/// The tensors, by name, that stay alive until backward.
std::string Card::kept(const Settings& settings) const {
  const auto box = box_of(entry, settings);
  if (!box) return "what its parameters say";
  const GradientRule& rule = entry.gradient;
  std::uint64_t in = rule.in;
  if (entry.inputs < 0 && in == detail::every) return "all inputs";
  if (in != detail::every && entry.facts.kept != nullptr && rule.entry != nullptr)
    in &= entry.facts.kept(box->get(), computed_type(entry));
  const Signature s = signature_of(entry, box->get(), std::max(entry.inputs, entry.min_inputs));
  std::vector<std::string_view> names;
  const detail::GradientRoles roles =
      detail::gradient_roles({.in = in, .out = rule.out}, std::ssize(s.inputs), std::ssize(s.outputs));
  for (const detail::GradientArgument& argument : roles.takes)
    names.push_back(detail::element(argument.role == detail::Role::in ? s.inputs : s.outputs, argument.at));
  return names.empty() ? "nothing" : joined(names);
}

std::string Card::gradient() const {
  const GradientRule& rule = entry.gradient;
  if (rule.zero) return "zero";
  if (rule.entry == nullptr && rule.compose == nullptr) return "none";
  const std::string usual = kept(required);
  std::string text = cat(rule.compose != nullptr ? "composed of operators, "
                         : rule.heads == 0       ? "loss head (needs no head gradient), "
                                                 : "",
                         "keeps ", usual);
  for (const Settings& settings : variants()) {
    if (!box_of(entry, settings)) continue;
    if (const std::string other = kept(settings); other != usual) {
      for (const auto& setting : settings)
        if (std::ranges::find(required, setting) == required.end())
          text += cat("; ", other, " with", options({setting}));
      break;
    }
  }
  return text;
}

std::vector<std::string> Card::differentiated() const {
  const GradientRule& rule = entry.gradient;
  std::vector<std::string> names;
  if (rule.entry == nullptr || rule.zero || entry.inputs < 0) return names;
  for (std::size_t i = 0; i < arguments.inputs.size(); ++i)
    if ((rule.gives >> i & 1) != 0) names.emplace_back(arguments.inputs[i].name);
  return names;
}

std::optional<int> Card::orders() const {
  constexpr int endless = 16;  // more than any: gradients of gradients that lead back to an operator
  int count = 0;
  for (const Entry* e = &entry; e != nullptr && !e->gradient.zero; e = e->gradient.entry) {
    if (e->gradient.compose != nullptr || count == endless) return std::nullopt;
    if (e->gradient.entry != nullptr) ++count;
  }
  return count;
}

/// What the storages of inputs may be. The inputs that are written have one among them.
std::vector<std::vector<Storage>> Card::combinations() const {
  constexpr Storage kinds[] = {dense, csr, row_sparse};
  constexpr std::size_t most_kinds = 4;
  std::vector<std::vector<Storage>> out;
  if (entry.inputs < 0) {
    for (const Storage kind : kinds) out.emplace_back(std::max(entry.min_inputs, 2), kind);
    return out;
  }
  const std::size_t n = signature.inputs.size();
  std::vector<std::size_t> digit(n);  // of each input, the place of its kind in the number of the combination
  std::size_t digits = 0, written = n;
  for (std::size_t i = 0; i < n; ++i) {
    const bool mutated = std::ranges::find(signature.mutated, static_cast<int>(i)) != signature.mutated.end();
    if (mutated && written == n) written = digits++;
    digit[i] = mutated ? written : digits++;
  }
  std::size_t count = 1;
  for (std::size_t i = 0; i < digits && digits <= most_kinds; ++i) count *= std::size(kinds);
  for (std::size_t c = 0; c < count; ++c) {
    std::vector<Storage>& in = out.emplace_back();
    for (std::size_t i = 0; i < n; ++i) {
      std::size_t rest = c;
      for (std::size_t k = 0; k < digit[i]; ++k) rest /= std::size(kinds);
      in.push_back(kinds[rest % std::size(kinds)]);
    }
  }
  return out;
}

/// The storages of the results; none where the parameters are refused or the call would go by dense copies.
std::optional<std::vector<Storage>> Card::served(const Settings& settings, std::span<const Storage> in) const {
  const auto box = box_of(entry, settings);
  if (!box) return std::nullopt;
  const auto inputs = static_cast<int>(in.size());
  if (entry.inputs >= 0 && signature_of(entry, box->get(), inputs).inputs.size() != in.size()) return std::nullopt;
  const auto [outputs, visible] = detail::count_outputs(entry, box->get(), inputs);
  std::vector<Storage> results(detail::unsigned_size(outputs), dense);
  try {
    std::vector<std::optional<Storage>> out(results.size());
    const detail::StorageChoice choice =
        detail::infer_storages(entry, box->get(), {.in = in, .stored = computed_type(entry)}, out);
    if (!choice.why.empty()) return std::nullopt;
    for (std::size_t k = 0; k < out.size(); ++k) results[k] = *out[k];
  } catch (const Error&) {
    return std::nullopt;
  }
  results.resize(detail::unsigned_size(visible));
  if (std::ranges::count(results, results[0]) == visible) results.resize(1);
  return results;
}

/// The parameters that have to be as they are in `settings` for `in` to give `out`.
std::string Card::condition(const Settings& settings, std::span<const Storage> in,
                            const std::vector<Storage>& out) const {
  Settings needed;
  for (const auto& setting : settings) {
    bool matters = std::ranges::find(required, setting) == required.end();
    for (const Field& field : entry.params->fields)
      if (field.name == setting.first)
        for (const std::string_view value : values_of(field)) {
          const Settings other = with(settings, field.name, value);
          matters = matters || (box_of(entry, other) && served(other, in) != out);
        }
    if (matters) needed.push_back(setting);
  }
  return needed.empty() ? "" : cat(" with", options(needed));
}

std::vector<std::string> Card::storages() const {
  std::vector<std::string> lines;
  // How an update is parametrised changes nothing that is of use.
  const std::vector<Settings> ways = entry.mutates ? std::vector<Settings>{required} : variants();
  for (const std::vector<Storage>& in : combinations()) {
    const bool alike = !in.empty() && (all_dense(in) || entry.inputs < 0);
    const std::string from = alike ? cat(name_of(in[0]), in[0] != dense ? ", ..." : "") : names_of(in);
    std::vector<std::vector<Storage>> seen;
    for (const Settings& settings : ways) {
      const auto out = served(settings, in);
      if (!out || std::ranges::find(seen, *out) != seen.end()) continue;
      seen.push_back(*out);
      lines.push_back(cat(from, from.empty() ? "" : " -> ", names_of(*out), condition(settings, in, *out)));
    }
  }
  return lines;
}

std::string Card::resources() const {
  const auto box = box_of(entry, required);
  if (!box) return "what its parameters say";
  // Whatever the shapes are.
  const strop::detail::List<Shape> shapes(std::max(entry.inputs, 1), Shape{1, 1});
  const Resources needed = entry.resources(box->get(), shapes);
  return needed.random && needed.temp_bytes != 0 ? "random numbers, temporary space"
         : needed.random                         ? "random numbers"
         : needed.temp_bytes != 0                ? "temporary space"
                                                 : "none with these parameters";
}

std::vector<std::string> Card::example_names() const {
  const auto box = box_of(entry, call);
  const Signature s = signature_of(entry, box->get(), static_cast<int>(row->in.size()));
  std::vector<std::string> names;
  for (std::size_t i = 0; i < row->in.size(); ++i) {
    const std::string_view name = i < s.inputs.size() ? s.inputs[i] : "data";
    const bool again = std::ranges::count(s.inputs, name) > 1;
    names.push_back(cat(name, again ? cat(i) : ""));
  }
  return names;
}

std::vector<std::string> Card::file_names() const {
  std::vector<std::string> names = example_names();
  for (std::size_t i = 0; i < names.size(); ++i) names[i] += row->in[i].storage == dense ? ".npy" : ".npz";
  return names;
}

std::string_view Card::called() const {
  const Entry* const found = detail::look_up(entry.snake);
  return found == nullptr || found == &entry ? entry.snake : entry.name;
}

std::string Card::example(std::string_view program) const {
  std::string text = cat(program, " run ", called());
  bool sparse = false;
  if (row) {
    for (const std::string& file : file_names()) text += cat(' ', file);
    for (const verify::Sample& sample : row->in) sparse = sparse || sample.storage != dense;
  } else {
    for (std::string_view input : signature.inputs) text += cat(' ', input, ".npy");
  }
  return cat(text, options(call), " -o ", signature.outputs.empty() ? "output" : signature.outputs[0],
             sparse ? ".npz" : ".npy");
}

std::string Card::example_inputs() const {
  if (!row) return {};
  std::vector<std::string> parts;
  const std::vector<std::string> files = file_names();
  for (std::size_t i = 0; i < files.size(); ++i) {
    const verify::Sample& sample = row->in[i];
    parts.push_back(cat(files[i].substr(0, files[i].rfind('.')), " of shape ", sample.shape,
                        sample.storage == dense ? "" : cat(" (", name_of(sample.storage), ')'),
                        sample.positions == 0 ? "" : cat(" from 0 to ", sample.positions - 1),
                        entry.dtypes.contains(f32) ? "" : " (int64)"));
  }
  return joined(parts);
}

}  // namespace strop::command
