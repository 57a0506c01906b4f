// SPDX-License-Identifier: Apache-2.0
/// \file
/// The words of a command line that come after an operator's name.
#pragma once
#include "command.hpp"

#include <strop/core/printable.hpp>
#include <strop/core/text.hpp>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace strop::command {

/// Parameters with their values as text, and what a registry takes of them.
using Settings = std::vector<std::pair<std::string, std::string>>;
using Setting = std::pair<std::string_view, std::string_view>;
inline std::vector<Setting> views_of(const Settings& settings) { return {settings.begin(), settings.end()}; }

/// Files, parameters and where results go: `x.npy --key value --key=value -o y.npy`.
struct CallWords {
  std::vector<std::string> files;
  Settings params;
  std::string target;

  CallWords(std::string_view command, const std::vector<std::string>& words) {
    for (std::size_t i = 0; i < words.size(); ++i) {
      const std::string& word = words[i];
      const auto value = [&] {
        if (++i == words.size()) throw WrongCall(cat(command, ": ", detail::printable(word, 100), " needs a value"));
        return words[i];
      };
      const std::size_t equals = word.find('=');
      if (word.starts_with("-o") || word == "--output" || word.starts_with("--output=")) {
        if (!target.empty()) throw WrongCall(cat(command, ": -o is given twice"));
        target = word == "-o" || word == "--output" ? value() : word.substr(word[1] == 'o' ? 2 : 9);
        if (!target.ends_with(".npy") && !target.ends_with(".npz") && !target.ends_with(".params"))
          throw WrongCall(cat(command, ": -o is '", detail::printable(target, 200),
                              "', expected a name that ends in .npy, .npz or .params"));
      } else if (word.starts_with("--")) {
        const std::string key = word.substr(2, equals == std::string::npos ? equals : equals - 2);
        params.emplace_back(key, equals != std::string::npos ? word.substr(equals + 1) : value());
      } else if (word.size() > 1 && word[0] == '-') {
        throw WrongCall(
            cat(command, ": no option '", detail::printable(word, 100), "'; it has -o FILE and --PARAMETER VALUE"));
      } else {
        files.push_back(word);
      }
    }
  }
};

}  // namespace strop::command
