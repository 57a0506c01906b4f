// SPDX-License-Identifier: Apache-2.0
/// \file
/// `strop data`: the iterators of the registry, what they say of themselves, their first batches, and how fast they
/// are.
#include "card.hpp"
#include "command.hpp"
#include "words.hpp"

#include <sys/stat.h>
#include <strop/core/text.hpp>
#include <strop/data/iterators.hpp>
#include <strop/strop.hpp>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace strop::command {
namespace {

/// The iterator of that name, or WrongCall with the nearest names.
const IteratorEntry& iterator_called(const std::string& name) {
  try {
    return detail::find_iterator(detail::printable(name, 100));
  } catch (const Error& error) {
    throw WrongCall(cat(error.what(), "; `", program(), " data ls` lists all"));
  }
}

/// What the words open, and the files that they name.
struct Opened {
  DataIter batches;
  std::vector<std::string> files;
};

/// Files stand for the parameters without a default, in their order. `size` is that of a batch where no word says it.
Opened opened(std::string_view command, const std::string& name, const std::vector<std::string>& words,
              const char* size) {
  const IteratorEntry& entry = iterator_called(name);
  const CallWords call(command, words);
  if (!call.target.empty()) throw WrongCall(cat(command, ": it has no option -o"));
  Settings settings = call.params;
  const auto given = [&](std::string_view key) {
    return std::any_of(settings.begin(), settings.end(), [&](const auto& one) { return one.first == key; });
  };
  std::size_t used = 0;
  std::vector<std::string> files;
  for (const IteratorParam& param : detail::params_of_iterator(entry)) {
    if (param.required && !given(param.name) && used < call.files.size())
      settings.emplace_back(param.name, call.files[used++]);
    if (param.name == "batch_size" && !given("batch_size")) settings.emplace_back("batch_size", size);
  }
  if (used < call.files.size())
    throw WrongCall(cat(command, ": ", entry.name, " reads ", used, used == 1 ? " file" : " files", ", not also '",
                        detail::printable(call.files[used], 200), "'"));
  for (const auto& [key, value] : settings) files.push_back(value);
  const std::vector<Setting> views = views_of(settings);
  return {open_iter(entry.name, views), files};
}

void print_arrays(const char* what, const std::vector<NDArray>& arrays, const std::vector<DataDesc>& said) {
  for (std::size_t k = 0; k < arrays.size(); ++k)
    fmt::print("  {} {}: {}\n", what, k < said.size() ? said[k].name : std::string(), arrays[k]);
}

std::int64_t bytes_of(const NDArray& a) { return a.stored() * size_of(a.dtype()); }

int list_iterators(bool json) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const IteratorEntry* entry : detail::all_iterators()) {
    const std::vector<IteratorParam> params = detail::params_of_iterator(*entry);
    if (json) {
      nlohmann::ordered_json item, described = nlohmann::ordered_json::array();
      for (const IteratorParam& param : params) {
        nlohmann::ordered_json one;
        one["name"] = param.name;
        one["type"] = param.type;
        one["kind"] = name_of(param.kind);
        one["required"] = param.required;
        one["default"] = param.required ? nlohmann::ordered_json(nullptr) : nlohmann::ordered_json(param.value);
        one["doc"] = param.doc;
        described.push_back(one);
      }
      item["name"] = entry->name;
      item["doc"] = entry->doc;
      item["params"] = described;
      list.push_back(item);
      continue;
    }
    std::vector<std::string_view> needed, others;
    for (const IteratorParam& param : params) (param.required ? needed : others).push_back(param.name);
    std::printf("%-18s (%s) {%s}\n", std::string(entry->name).c_str(), joined(needed).c_str(), joined(others).c_str());
  }
  if (json)
    std::printf("%s\n", list.dump(1).c_str());
  else
    std::printf("%zu iterators\n", detail::all_iterators().size());
  return 0;
}

int describe_iterator(const std::string& name) {
  const IteratorEntry& entry = iterator_called(name);
  const std::vector<IteratorParam> params = detail::params_of_iterator(entry);
  const auto shown = [](const std::string& value) { return value.empty() ? std::string("''") : value; };
  std::vector<std::string> signature;
  for (const IteratorParam& param : params)
    signature.push_back(param.required ? std::string(param.name) : cat(param.name, '=', shown(param.value)));
  std::printf("%s(%s)\n", std::string(entry.name).c_str(), joined(signature).c_str());
  if (!entry.doc.empty()) std::printf("\n  %s.\n", std::string(entry.doc).c_str());
  std::printf("\n  parameters\n");
  for (const IteratorParam& param : params)
    std::printf("    %-18s %s, %s%s%s\n", std::string(param.name).c_str(), std::string(param.type).c_str(),
                param.required ? "required" : cat("default ", shown(param.value)).c_str(),
                param.doc.empty() ? "" : "  ", std::string(param.doc).c_str());
  return 0;
}

/// Takes `-n COUNT` out of the words.
std::int64_t take_count(std::vector<std::string>& words) {
  std::int64_t count = 1;
  for (auto at = words.begin(); at != words.end();) {
    if (*at != "-n") {
      ++at;
      continue;
    }
    if (at + 1 == words.end() || !detail::parse_integer(at[1], count) || count < 0)
      throw WrongCall("data head: -n needs a number of batches");
    at = words.erase(at, at + 2);
  }
  return count;
}

int show_batches(const std::string& name, std::vector<std::string> words) {
  const std::int64_t count = take_count(words);
  Opened from = opened("data head", name, words, "5");
  const std::vector<DataDesc> data = from.batches.provide_data(), label = from.batches.provide_label();
  for (const auto& [what, said] : {std::pair("data", &data), std::pair("label", &label)})
    for (const DataDesc& one : *said) fmt::print("{} {}: {} {}\n", what, one.name, name_of(one.dtype), one.shape);
  for (std::int64_t k = 0; k < count && from.batches.next(); ++k) {
    const DataBatch& batch = from.batches.batch();
    fmt::print("batch {}, pad {}\n", k, batch.pad);
    print_arrays("data", batch.data, data);
    print_arrays("label", batch.label, label);
    if (batch.qid.defined()) fmt::print("  qid: {}\n", batch.qid);
  }
  return 0;
}

int time_batches(const std::string& name, const std::vector<std::string>& words) {
  Opened from = opened("data bench", name, words, "128");
  std::int64_t of_files = 0;
  for (const std::string& path : from.files) {
    struct stat info{};
    if (::stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode)) of_files += info.st_size;
  }
  double best = 0, best_work = 0;
  std::int64_t rows = 0, batches = 0, bytes = 0;
  const auto begin = std::chrono::steady_clock::now();
  const auto since = [](auto start) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  for (int epoch = 0; epoch < 2 || (epoch < 10 && since(begin) < 2); ++epoch) {  // the first one warms up
    rows = batches = bytes = 0;
    const auto start = std::chrono::steady_clock::now();
    const std::clock_t work = std::clock();
    for (const DataBatch& batch : from.batches) {
      ++batches;
      rows += std::ssize(batch.index) - batch.pad;
      for (const std::vector<NDArray>* arrays : {&batch.data, &batch.label})
        for (const NDArray& a : *arrays) bytes += bytes_of(a);
    }
    const double seconds = since(start);
    const double worked = static_cast<double>(std::clock() - work) / CLOCKS_PER_SEC;
    if (epoch == 0 || seconds < best) best = seconds;
    if (epoch == 0 || worked < best_work) best_work = worked;
  }
  if (batches == 0) fail("data bench: ", name, " has no batches");
  fmt::print("{}: {} batches, {} rows an epoch\n", name, batches, rows);
  const auto rate = [&](std::int64_t n) { return static_cast<double>(n) / best; };
  fmt::print("  {:.3g} s an epoch, {:.4g} rows a second, {:.4g} MB/s of arrays", best, rate(rows), rate(bytes) / 1e6);
  if (of_files > 0) fmt::print(", {:.4g} MB/s of the files", rate(of_files) / 1e6);
  fmt::print("\n");
  if (best_work <= 0) return 0;  // less than the clock tells
  fmt::print("  a core: {:.4g} rows a second", static_cast<double>(rows) / best_work);
  if (of_files > 0) fmt::print(", {:.4g} MB/s of the files", static_cast<double>(of_files) / best_work / 1e6);
  fmt::print("\n");
  return 0;
}

}  // namespace

void add_data(CLI::App& app, int& status) {
  static bool json = false;
  static std::string name;
  CLI::App* data = app.add_subcommand("data", "Iterators over data: what there is, what they read, how fast");
  data->require_subcommand(1);
  CLI::App* list = data->add_subcommand("ls", "List the iterators");
  list->add_flag("--json", json, "As JSON");
  list->callback([&status] { status = list_iterators(json); });
  CLI::App* describe = data->add_subcommand("describe", "Parameters and documentation of an iterator");
  describe->add_option("iterator", name, "Its name")->required();
  describe->callback([&status] { status = describe_iterator(name); });
  const auto takes_words = [](CLI::App* sub) {
    sub->footer(
        "After the iterator: files for its parameters without a default, --PARAMETER VALUE or --PARAMETER=VALUE;\n"
        "head takes -n COUNT as well.");
    sub->add_option("iterator", name, "Its name")->required();
    sub->allow_extras();
    sub->prefix_command();
  };
  CLI::App* head = data->add_subcommand("head", "The first batches of an iterator over files, and their shapes");
  takes_words(head);
  head->callback([&status, head] { status = show_batches(name, head->remaining()); });
  CLI::App* bench = data->add_subcommand("bench", "Rows and bytes a second of an iterator over files");
  takes_words(bench);
  bench->callback([&status, bench] { status = time_batches(name, bench->remaining()); });
}

}  // namespace strop::command
