// SPDX-License-Identifier: Apache-2.0
/// \file
/// `strop run`: an operator on files.
#include "command.hpp"
#include "operator.hpp"
#include "words.hpp"

#include <strop/strop.hpp>

#include <algorithm>
#include <cstdio>

namespace strop::command {
namespace {

/// Above this a dense form that nobody asked for by name is refused.
constexpr std::int64_t huge_bytes = std::int64_t{1} << 30;

NDArray load_one(const std::string& path) {
  auto arrays = load(path);
  if (arrays.size() != 1) fail("run: ", path, " holds ", arrays.size(), " arrays, expected one");
  if (!arrays[0].second.defined()) fail("run: ", path, " marks its array as none, expected one with elements");
  return arrays[0].second;
}

/// y.npy for the first output, y.1.npy for the second, …
std::string numbered(const std::string& path, std::size_t i) {
  if (i == 0) return path;
  const std::size_t dot = path.rfind('.');
  return dot == std::string::npos ? cat(path, '.', i) : cat(path.substr(0, dot), '.', i, path.substr(dot));
}

/// One file of all results: sparse ones stay sparse. A single result has no name.
void save_together(const std::string& path, NamedArrays results) {
  if (results.size() == 1) results[0].first.clear();
  for (std::size_t i = 0; i < results.size(); ++i)  // an input may be called as an output is
    for (std::size_t k = 0; k < i; ++k)
      if (results[i].first == results[k].first) results[i].first = cat(results[i].first, '.', i);
  save(path, results);
}

/// One .npy file for each result, which holds dense arrays only: other forms are said.
void save_apart(const std::string& path, const NamedArrays& results, std::size_t outputs) {
  for (const auto& [name, a] : results)
    if (a.storage() != dense && detail::byte_count(a.shape(), a.dtype()) > huge_bytes)
      fail("run: ", name, " is a ", name_of(a.storage()), " array of shape ", a.shape(),
           ", whose dense form takes more than 1 GiB: save it as .npz or .params, which keep it sparse");
  for (std::size_t i = 0; i < results.size(); ++i) {
    const auto& [name, a] = results[i];
    const std::string file = numbered(path, i);
    save(file, a.to(dense));
    if (a.storage() != dense)
      std::fprintf(stderr, "%s: run: %s holds the dense form of a %s array; .npz and .params keep it sparse\n",
                   program().c_str(), file.c_str(), std::string(name_of(a.storage())).c_str());
    if (i >= outputs)
      std::fprintf(stderr, "%s: run: %s holds the input '%s', which the operator wrote\n", program().c_str(),
                   file.c_str(), name.c_str());
  }
}

}  // namespace

int run(const std::string& name, const std::vector<std::string>& words) {
  const Entry& entry = operator_called(name);
  const CallWords call("run", words);
  const std::vector<Setting> params = views_of(call.params);
  const auto box = params_of(entry, params);
  std::vector<NDArray> in;
  for (const std::string& file : call.files) in.push_back(load_one(file));
  const Signature names = detail::signature_of(entry, box->get(), static_cast<int>(in.size()));
  std::vector<NDArray> out;
  try {
    out = detail::invoke_entry(entry, in, params, {});
  } catch (const Error& error) {
    if (names.inputs.size() != in.size()) throw WrongCall(error.what());
    throw;
  }

  NamedArrays results;
  for (std::size_t i = 0; i < out.size(); ++i)
    results.emplace_back(i < names.outputs.size() ? std::string(names.outputs[i]) : cat("output", i), out[i]);
  for (const int i : names.mutated)
    if (i < std::ssize(in)) results.emplace_back(detail::element(names.inputs, i), detail::element(in, i));
  if (call.target.empty())
    for (const auto& [label, a] : results) fmt::print("{}\n", a);
  else if (call.target.ends_with(".npy"))
    save_apart(call.target, results, out.size());
  else
    save_together(call.target, results);
  return 0;
}

}  // namespace strop::command
