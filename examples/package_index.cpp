// SPDX-License-Identifier: Apache-2.0
// The dependency engine without an array: the machine's package index is read, tokenised and counted by operations over
// a file, buffers and tables, and one of the inputs is not there. STROP_TRACE=trace.json shows what ran when and where.
#include <strop/engine/engine.hpp>

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>
// skip-unless: /var/lib/dpkg/status

using Table = std::unordered_map<std::string_view, std::int64_t>;  // refers to the buffers

/// An input on its way: each part has a variable, which stands for it in the engine.
struct Input {
  std::string buffer;
  std::vector<std::string_view> words;
  Table table;
  strop::Engine::Variable buffer_var, words_var, table_var;
};

std::string read_whole(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot read " + path);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<std::string_view> tokenise(std::string_view text) {
  std::vector<std::string_view> words;
  const auto in_word = [](char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; };
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at;
    while (end < text.size() && in_word(text[end])) ++end;
    if (end - at >= 4) words.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return words;
}

/// Where to cut a text into pieces: between two packages, at an empty line.
std::vector<std::size_t> cuts_of(std::string_view text, std::size_t pieces) {
  std::vector<std::size_t> cuts{0};
  for (std::size_t i = 1; i < pieces; ++i) {
    const std::size_t gap = text.find("\n\n", std::max(cuts.back(), text.size() / pieces * i));
    cuts.push_back(gap == std::string_view::npos ? text.size() : gap + 1);
  }
  cuts.push_back(text.size());
  return cuts;
}

void add(Table& to, const Table& from) {
  for (const auto& [word, count] : from) to[word] += count;
}

/// The index of this machine's package manager, or nothing.
std::string find_index() {
  std::error_code none;
  if (std::filesystem::is_regular_file("/var/lib/dpkg/status", none)) return "/var/lib/dpkg/status";
  for (const auto& entry : std::filesystem::directory_iterator("/var/lib/apt/lists", none))
    if (entry.path().native().ends_with("_Packages")) return entry.path();
  return {};
}

int main(int argc, char** argv) {
  const std::string path = argc > 1 ? argv[1] : find_index();
  if (path.empty()) {
    std::puts(
        "package_index: this machine has no package index (/var/lib/dpkg/status, /var/lib/apt/lists); name a file");
    return 0;
  }
  constexpr std::size_t pieces = 6;
  strop::Engine engine{{.threads = 2}};
  const auto note = [](std::size_t i) { return [i](strop::TraceNotes& say) { say("input", i); }; };

  // One more input than there are pieces: the last is a file that does not exist.
  std::vector<Input> inputs(pieces + 1);
  for (Input& input : inputs) {
    input.buffer_var = engine.variable();
    input.words_var = engine.variable();
    input.table_var = engine.variable();
  }
  std::string text;
  const auto file = engine.variable();
  const auto pipeline = [&](std::size_t i) {
    Input& in = inputs[i];
    engine.push([&in] { in.words = tokenise(in.buffer); },
                {.reads = {in.buffer_var}, .writes = {in.words_var}, .name = "tokenise", .notes = note(i)});
    engine.push(
        [&in] {
          in.table.clear();
          for (std::string_view word : in.words) ++in.table[word];
        },
        {.reads = {in.buffer_var, in.words_var}, .writes = {in.table_var}, .name = "count", .notes = note(i)});
  };

  engine.push([&] { text = read_whole(path); }, {.writes = {file}, .name = "read index"});
  for (std::size_t i = 0; i < pieces; ++i) {
    engine.push(
        [&, i] {
          const auto cuts = cuts_of(text, pieces);
          inputs[i].buffer = text.substr(cuts[i], cuts[i + 1] - cuts[i]);
        },
        {.reads = {file}, .writes = {inputs[i].buffer_var}, .name = "cut", .notes = note(i)});
    pipeline(i);
  }
  Input& absent = inputs[pieces];
  engine.push([&] { absent.buffer = read_whole("no-such-index"); },
              {.writes = {absent.buffer_var}, .name = "read addition", .notes = note(pieces)});
  pipeline(pieces);

  // Tables are added up two by two.
  for (std::size_t step = 1; step < pieces; step *= 2)
    for (std::size_t i = 0; i + step < pieces; i += 2 * step)
      engine.push([&a = inputs[i], &b = inputs[i + step]] { add(a.table, b.table); },
                  {.reads = {inputs[i].table_var, inputs[i + step].table_var},
                   .writes = {inputs[i].table_var},
                   .name = "add up"});
  Table everything;
  const auto everything_var = engine.variable();
  const auto add_everything = [&] {
    engine.push(
        [&] {
          everything = inputs[0].table;
          add(everything, absent.table);
        },
        {.reads = {inputs[0].table_var, absent.table_var}, .writes = {everything_var}, .name = "add everything"});
  };
  add_everything();

  engine.wait(inputs[0].table_var);  // the index alone has nothing to do with the failure

  try {
    engine.wait(everything_var);
  } catch (const std::runtime_error& e) {
    const std::string_view said = e.what();
    std::printf("with the addition: %.*s\n", static_cast<int>(said.find(" [")), said.data());
    // expect: with the addition: cannot read no-such-index
  }
  // A buffer that is overwritten is healed, and what comes from it can be made again.
  engine.push([&] { absent.buffer = "no such index, then: counting goes on"; },
              {.writes = {absent.buffer_var}, .name = "replace"});
  pipeline(pieces);
  add_everything();
  engine.wait(everything_var);
  std::printf("replaced: %s\n", everything.at("counting") > 0 ? "counted" : "lost");
  // expect: replaced: counted
  std::vector<std::pair<std::string_view, std::int64_t>> most(inputs[0].table.begin(), inputs[0].table.end());
  std::sort(most.begin(), most.end(), [](const auto& a, const auto& b) {
    return a.second != b.second ? a.second > b.second : a.first < b.first;
  });
  std::printf("%zu different words in %s:", most.size(), path.c_str());
  for (std::size_t i = 0; i < std::min<std::size_t>(5, most.size()); ++i)
    std::printf(" %.*s %lld", static_cast<int>(most[i].first.size()), most[i].first.data(),
                static_cast<long long>(most[i].second));
  std::printf("\n");
  Table serial;
  for (std::string_view word : tokenise(text)) ++serial[word];
  std::printf("one thread counts %s\n", serial == inputs[0].table ? "the same" : "something else");
  // expect: one thread counts the same
  return serial == inputs[0].table ? 0 : 1;
}
