// SPDX-License-Identifier: Apache-2.0
/// \file
/// `strop run`: an operator on files.
#include "command.hpp"

#include <strop/strop.hpp>

#include <cstdio>

namespace strop::command {
namespace {

NDArray load_one(const std::string& path) {
  auto arrays = load(path);
  if (arrays.size() != 1) fail("run: ", path, " holds ", arrays.size(), " arrays, expected one");
  return arrays[0].second;
}

/// y.npy for the first output, y.1.npy for the second, …
std::string numbered(const std::string& path, std::size_t i) {
  if (i == 0) return path;
  const std::size_t dot = path.rfind('.');
  return dot == std::string::npos ? cat(path, '.', i) : cat(path.substr(0, dot), '.', i, path.substr(dot));
}

}  // namespace

int run(const std::string& name, const std::vector<std::string>& words) {
  const Entry& entry = detail::find_operator(name);
  std::vector<NDArray> in;
  std::vector<std::string> keys, values;
  std::string target;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (word == "-o" || word == "--output") {
      if (++i == words.size()) fail("run: -o needs a file");
      target = words[i];
    } else if (word.starts_with("--")) {
      const std::size_t equals = word.find('=');
      keys.push_back(word.substr(2, equals == std::string::npos ? equals : equals - 2));
      if (equals != std::string::npos)
        values.push_back(word.substr(equals + 1));
      else if (++i == words.size())
        fail("run: ", word, " needs a value");
      else
        values.push_back(words[i]);
    } else {
      in.push_back(load_one(word));
    }
  }
  std::vector<std::pair<std::string_view, std::string_view>> params;
  for (std::size_t i = 0; i < keys.size(); ++i) params.emplace_back(keys[i], values[i]);
  const std::vector<NDArray> out = detail::invoke_entry(entry, in, params, {});
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (target.empty())
      fmt::print("{}\n", out[i]);
    else
      save(numbered(target, i), out[i].storage() == dense ? out[i] : out[i].to(dense));
  }
  return 0;
}

}  // namespace strop::command
