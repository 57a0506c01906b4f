// SPDX-License-Identifier: Apache-2.0
/// \file
/// The package index of a Debian machine as a data set: words of names and descriptions, and the section to be guessed.
#pragma once
#include <strop/strop.hpp>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

/// Some of the packages: which words each has, and its section.
struct PackageSet {
  strop::NDArray words;     ///< csr, packages × vocabulary; every row has length 1
  strop::NDArray sections;  ///< (packages,), positions in Packages::sections
};

struct Packages {
  PackageSet train, test;                         ///< split by a hash of the name: one in ten is for testing
  std::vector<std::string> vocabulary, sections;  ///< sections: the largest first
  std::uint64_t digest;                           ///< of the names that are for testing
};

namespace package_index {

struct Package {
  std::string name, section, text;
};

inline std::string read_all(const std::string& file) {
  const bool piped = file.empty();
  const auto close = [piped](std::FILE* f) { piped ? ::pclose(f) : std::fclose(f); };
  const std::unique_ptr<std::FILE, decltype(close)> in(
      piped ? ::popen("apt-cache dumpavail 2>/dev/null", "r") : std::fopen(file.c_str(), "rb"), close);
  if (!in) strop::fail("packages: cannot read ", piped ? "from apt-cache" : file);
  std::string text;
  std::vector<char> block(1 << 20);
  for (std::size_t got; (got = std::fread(block.data(), 1, block.size(), in.get())) > 0;)
    text.append(block.data(), got);
  return text;
}

inline std::vector<Package> parse(std::string_view text) {
  std::vector<Package> packages(1);
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = text.substr(at, end - at);
    at = end + 1;
    const auto field = [line](std::string_view name) {
      return line.starts_with(name) ? line.substr(name.size()) : std::string_view{};
    };
    if (line.empty()) {
      if (!packages.back().name.empty()) packages.emplace_back();
    } else if (const auto name = field("Package: "); !name.empty()) {
      packages.back().name = name;
    } else if (const auto section = field("Section: "); !section.empty()) {
      packages.back().section = section.substr(section.find('/') + 1);
    } else if (const auto description = field("Description: "); !description.empty()) {
      packages.back().text = description;
    }
  }
  std::erase_if(packages, [](const Package& p) { return p.name.empty() || p.section.empty(); });
  // a machine may know a package in several versions
  std::stable_sort(packages.begin(), packages.end(),
                   [](const Package& a, const Package& b) { return a.name < b.name; });
  packages.erase(std::unique(packages.begin(), packages.end(),
                             [](const Package& a, const Package& b) { return a.name == b.name; }),
                 packages.end());
  return packages;
}

/// FNV-1a.
inline std::uint64_t hash(std::string_view text, std::uint64_t from = 0xcbf29ce484222325u) {
  for (const char c : text) from = (from ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return from;
}

/// Lower-case words of two letters or more, each once; those of the name are apart from those of the description.
inline std::vector<std::string> words_of(const Package& package) {
  std::vector<std::string> words;
  const auto split = [&words](std::string_view text, const char* prefix) {
    std::string word;
    const auto end = [&] {
      if (word.size() >= 2) words.push_back(prefix + word);
      word.clear();
    };
    for (const char c : text) {
      const auto byte = static_cast<unsigned char>(c);
      if (std::isalpha(byte) != 0)
        word += static_cast<char>(std::tolower(byte));
      else
        end();
    }
    end();
  };
  split(package.name, "name:");
  split(package.text, "");
  std::sort(words.begin(), words.end());
  words.erase(std::unique(words.begin(), words.end()), words.end());
  return words;
}

template <class T, class To>
strop::NDArray array_of(const std::vector<T>& from, strop::Dtype dtype) {
  const strop::NDArray a({static_cast<std::int64_t>(from.size())}, dtype);
  std::copy(from.begin(), from.end(), a.pointer<To>());
  return a;
}

}  // namespace package_index

/// Reads what `apt-cache dumpavail` says, or a file that holds it. Throws strop::Error where neither is there or it
/// holds no packages.
inline Packages read_packages(const std::string& file) {
  using namespace package_index;
  std::vector<Package> packages = parse(read_all(file));
  if (packages.size() < 1000)
    strop::fail("packages: ", file.empty() ? "apt-cache dumpavail" : file, " tells of ", packages.size(),
                " packages, expected 1000 or more (apt-get update brings the index)");
  // an order that has nothing to do with the names
  std::stable_sort(packages.begin(), packages.end(),
                   [](const Package& a, const Package& b) { return hash(a.name) < hash(b.name); });

  Packages all;
  std::unordered_map<std::string, std::int64_t> uses, sizes;
  std::vector<std::vector<std::string>> words;
  for (const Package& package : packages) {
    words.push_back(words_of(package));
    for (const std::string& word : words.back()) ++uses[word];
    ++sizes[package.section];
  }
  for (const auto& [section, size] : sizes) all.sections.push_back(section);
  std::sort(all.sections.begin(), all.sections.end(), [&](const std::string& a, const std::string& b) {
    return sizes[a] != sizes[b] ? sizes[a] > sizes[b] : a < b;
  });
  for (const auto& [word, count] : uses)
    if (count > 1) all.vocabulary.push_back(word);
  std::sort(all.vocabulary.begin(), all.vocabulary.end());
  std::unordered_map<std::string_view, std::int64_t> word_number, section_number;
  for (const std::string& word : all.vocabulary) word_number.emplace(word, word_number.size());
  for (const std::string& section : all.sections) section_number.emplace(section, section_number.size());

  all.digest = hash("");
  const auto part = [&](bool testing) {
    std::vector<std::int64_t> indices, indptr{0};
    std::vector<float> data, labels;
    for (std::size_t i = 0; i < packages.size(); ++i) {
      if ((hash(packages[i].name) >> 8) % 10 == 0 ? !testing : testing) continue;
      if (testing) all.digest = hash(packages[i].name, all.digest);
      const std::size_t begin = indices.size();
      for (const std::string& word : words[i])
        if (const auto at = word_number.find(word); at != word_number.end()) indices.push_back(at->second);
      const auto length =
          static_cast<float>(1 / std::sqrt(std::max<double>(1, static_cast<double>(indices.size() - begin))));
      data.resize(indices.size(), length);
      indptr.push_back(static_cast<std::int64_t>(indices.size()));
      labels.push_back(static_cast<float>(section_number[packages[i].section]));
    }
    using strop::f32, strop::i64;
    return PackageSet{
        strop::csr_matrix(array_of<float, float>(data, f32), array_of<std::int64_t, std::int64_t>(indices, i64),
                          array_of<std::int64_t, std::int64_t>(indptr, i64),
                          {static_cast<std::int64_t>(labels.size()), static_cast<std::int64_t>(all.vocabulary.size())}),
        array_of<float, float>(labels, f32)};
  };
  all.train = part(false);
  all.test = part(true);
  return all;
}
