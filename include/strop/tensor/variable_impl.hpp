// SPDX-License-Identifier: Apache-2.0
/// \file
/// How an array's elements wait for the engine.
#pragma once
#include <strop/core/config.hpp>
#include <strop/engine/engine.hpp>
#include <strop/tensor/variable.hpp>

#include <cstddef>
#include <source_location>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace strop::inline v0::detail {

STROP_IMPL OnEngine::OnEngine() : variable_(Engine::global().variable()) {}

STROP_IMPL void OnEngine::wait(bool reads) {
  if (used_here()) return;
  if (reads)
    Engine::global().wait_idle(variable_);
  else
    Engine::global().wait(variable_);
}

STROP_IMPL void OnEngine::settle() {
  if (!used_here()) Engine::global().settle(variable_);
}

STROP_IMPL bool OnEngine::busy() const { return !used_here() && (!variable_.idle() || variable_.failed()); }

STROP_IMPL void OnEngine::run(std::span<Pending* const> reads, std::span<Pending* const> writes, std::string_view name,
                              std::source_location where, Ref<Work> work) const {
  const std::vector<Variable> r = variables(reads), w = variables(writes);
  const auto notes = [described = work.get()](TraceNotes& note) {
    described->describe(
        [](void* to, std::string_view key, std::string_view text) { (*static_cast<TraceNotes*>(to))(key, text); },
        &note);
  };
  Engine::global().push([work = std::move(work)] { work->run(); },
                        {.reads = r, .writes = w, .name = name, .notes = notes}, where);
}

STROP_IMPL bool OnEngine::used_here() const {
  for (const Running* at = Running::current(); at != nullptr; at = at->outer)
    for (std::size_t i = 0; i < at->uses; ++i)
      if (at->links[i].var == Access::var(variable_)) return true;
  return false;
}

STROP_IMPL std::vector<OnEngine::Variable> OnEngine::variables(std::span<Pending* const> all) {
  std::vector<Variable> list;
  for (Pending* p : all) list.push_back(static_cast<OnEngine*>(p)->variable_);
  return list;
}

}  // namespace strop::inline v0::detail
