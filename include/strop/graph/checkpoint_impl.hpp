// SPDX-License-Identifier: Apache-2.0
/// \file
/// How checkpoints are written and read.
#pragma once
#include <strop/core/config.hpp>
#include <strop/core/text.hpp>
#include <strop/graph/checkpoint.hpp>
#include <strop/graph/name_table.hpp>
#include <strop/graph/symbol_impl.hpp>
#include <strop/tensor/io.hpp>

#include <string>
#include <string_view>
#include <utility>

namespace strop::inline v0 {
namespace detail {

/// "lenet-0003.params"
STROP_IMPL std::string checkpoint_file(const char* what, const std::string& prefix, int epoch) {
  if (epoch < 0) fail(what, ": epoch is ", epoch, ", expected 0 or more");
  const std::string number = cat(epoch);
  return cat(prefix, '-', std::string(number.size() < 4 ? 4 - number.size() : 0, '0'), number, ".params");
}

}  // namespace detail

STROP_IMPL void save_checkpoint(const std::string& prefix, int epoch, const Symbol& symbol, const NamedArrays& args,
                                const NamedArrays& aux) {
  const std::string file = detail::checkpoint_file("save_checkpoint", prefix, epoch);
  NamedArrays all;
  detail::NameTable known;
  for (const auto& [kind, arrays] : {std::pair("arg:", &args), std::pair("aux:", &aux)})
    for (const auto& [name, array] : *arrays) {
      if (!array.defined()) fail("save_checkpoint: '", name, "' is a handle without an array");
      if (!known.add(name)) fail("save_checkpoint: '", name, "' is given twice");
      all.emplace_back(cat(kind, name), array);
    }
  symbol.save(prefix + "-symbol.json");
  save(file, all);
}

STROP_IMPL Checkpoint load_checkpoint(const std::string& prefix, int epoch) {
  const std::string file = detail::checkpoint_file("load_checkpoint", prefix, epoch);
  Checkpoint out;
  out.symbol = Symbol::load(prefix + "-symbol.json");
  for (auto& [name, array] : load(file)) {
    const bool argument = name.starts_with("arg:");
    if (!argument && !name.starts_with("aux:"))
      fail("load_checkpoint(\"", prefix, "\", ", epoch, "): ", file, " has an array '", name,
           "', expected arg:<name> or aux:<name>");
    (argument ? out.args : out.aux).emplace_back(name.substr(4), std::move(array));
  }
  return out;
}

}  // namespace strop::inline v0
