// SPDX-License-Identifier: Apache-2.0
/// \file
/// How operations are made and freed, and how their uses are put in order and locked.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <source_location>
#include <string_view>
#include <strop/core/config.hpp>
#include <strop/engine/blocks.hpp>
#include <strop/engine/operation.hpp>
#include <strop/engine/variable.hpp>

namespace strop::inline v0::detail {

STROP_IMPL Operation* Operation::make(Core* core, const FunctionTable& table, std::size_t uses, std::string_view name,
                                      std::source_location where, OwnBlocks* own) {
  const std::size_t named = table.links + uses * sizeof(Link);
  const std::size_t size = named + (name.empty() ? 0 : name.size() + 1);
  const BlockHome home = size <= Block::size ? BlockHome::common : own != nullptr ? BlockHome::step : BlockHome::heap;
  char* memory = static_cast<char*>(home == BlockHome::common ? Block::take()
                                    : home == BlockHome::step ? own->take(size)
                                                              : ::operator new(size, std::align_val_t{64}));
  Operation* operation = ::new (static_cast<void*>(memory)) Operation(core, &table, where, home);
  if (!name.empty()) {
    std::memcpy(memory + named, name.data(), name.size());
    memory[named + name.size()] = 0;
    operation->text = memory + named;
  }
  return operation;
}

STROP_IMPL void Operation::free() {
  void* memory = this;
  const BlockHome from = home;
  this->~Operation();
  switch (from) {
    case BlockHome::common:
      return Block::give(memory);
    case BlockHome::step:
      return OwnBlocks::give(memory);
    case BlockHome::heap:
      return ::operator delete(memory, std::align_val_t{64});
  }
}

STROP_IMPL void sort_uses(Link* links, std::size_t n) {
  const auto key = [](const Link& link) { return reinterpret_cast<std::uintptr_t>(link.var); };
  for (std::size_t gap = n > 16 ? n / 2 : 1; gap > 0; gap /= 2)
    for (std::size_t i = gap; i < n; ++i) {
      const Link link = links[i];
      std::size_t at = i;
      for (; at >= gap && key(links[at - gap]) > key(link); at -= gap) links[at] = links[at - gap];
      links[at] = link;
    }
}

STROP_IMPL std::size_t merge_uses(Link* links, std::size_t n) {
  // sorting a few costs more, in mispredicted branches, than comparing each with all
  const bool few = n <= 8;
  if (!few) sort_uses(links, n);
  std::size_t kept = 0;
  for (std::size_t i = 0; i < n; ++i) {
    std::size_t at = few || kept == 0 ? 0 : kept - 1;
    while (at < kept && links[at].var != links[i].var) ++at;
    if (at < kept) {
      if (links[at].mode != links[i].mode) links[at].mode = Mode::update;
    } else {
      if (kept != i) links[kept] = links[i];  // a copy of what has just been written in parts would wait for it
      ++kept;
    }
  }
  return kept;
}

STROP_IMPL void lock_uses(Link* links, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) {
    if (links[i].var->lock.try_lock()) continue;
    while (i > 0) links[--i].var->lock.unlock();
    sort_uses(links, n);
    for (; i < n; ++i) links[i].var->lock.lock();
    return;
  }
}

}  // namespace strop::inline v0::detail
