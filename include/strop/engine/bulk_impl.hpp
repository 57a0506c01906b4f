// SPDX-License-Identifier: Apache-2.0
/// \file
/// How the operations of a bulk become one.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <new>
#include <strop/core/config.hpp>
#include <strop/engine/bulk.hpp>
#include <strop/engine/core.hpp>
#include <strop/engine/operation.hpp>
#include <strop/engine/variable.hpp>
#include <utility>
#include <vector>

namespace strop::inline v0::detail {

/// The function of a bulk.
struct Gathering::Members {
  Operation* first;
  FailureState** now;  // of each use
  ~Members() { delete[] now; }
  static void whole(Operation& operation, ReadyList& ready) {
    auto& own = *static_cast<Members*>(operation.function());
    Core& core = *operation.core;
    core.execute_bulk(&operation, own.first, own.now, ready);
    own.~Members();
    operation.free();
  }
};

STROP_IMPL void Gathering::take(Core& core, Operation* operation) {
  if (&core != &core_ || operation->table->asynchronous || operation->lane != 0 ||
      (count_ > 0 && (operation->level != list_.first->level || vars_.size() + operation->uses > most_uses))) {
    flush();
    if (&core != &core_ || operation->table->asynchronous || operation->lane != 0) {
      core.submit(operation);
      return;
    }
  }
  try {
    vars_.reserve(vars_.size() + operation->uses);
  } catch (const std::bad_alloc&) {
    flush();
    core.submit(operation);
    return;
  }
  for (std::size_t i = 0; i < operation->uses; ++i) {
    Var* const var = operation->links()[i].var;
    var->retain();
    vars_.push_back(var);
  }
  list_.add(operation);
  if (++count_ >= most_ || vars_.size() > 4096) flush();
}

STROP_IMPL void Gathering::flush() noexcept {
  if (count_ == 0) return;
  Operation* first = std::exchange(list_.first, nullptr);
  Operation* const whole = std::exchange(count_, 0) == 1 ? nullptr : united(first);
  const std::vector<Var*> vars = std::exchange(vars_, {});  // a naive engine may gather again in submit
  if (whole != nullptr)
    core_.submit(whole);
  else
    while (first != nullptr) core_.submit(std::exchange(first, first->next));
  for (Var* var : vars) var->drop();
}

STROP_IMPL Operation* Gathering::united(Operation* first) noexcept {
  static constexpr FunctionTable table{
      nullptr, Members::whole, nullptr,
      static_cast<std::uint32_t>((sizeof(Operation) + sizeof(Members) + alignof(Link) - 1) / alignof(Link) *
                                 alignof(Link)),
      false};
  Operation* whole = nullptr;
  try {
    struct Use {
      Link* link;
      std::size_t place;
    };
    std::vector<Use> all;
    all.reserve(vars_.size());
    for (Operation* at = first; at != nullptr; at = at->next)
      for (std::size_t i = 0; i < at->uses; ++i) all.push_back({&at->links()[i], all.size()});
    // by variable as sort_uses would: locking must not change what the members' uses refer to
    std::sort(all.begin(), all.end(), [](const Use& a, const Use& b) {
      const auto x = reinterpret_cast<std::uintptr_t>(a.link->var), y = reinterpret_cast<std::uintptr_t>(b.link->var);
      return x != y ? x < y : a.place < b.place;
    });
    std::size_t distinct = 0;
    for (std::size_t i = 0; i < all.size(); ++i)
      distinct += i == 0 || all[i].link->var != all[i - 1].link->var ? std::size_t{1} : 0;
    whole = Operation::make(&core_, table, distinct, {}, first->where);
    ::new (whole->function()) Members{first, nullptr};
    static_cast<Members*>(whole->function())->now = new FailureState* [distinct] {};
    Link* to = whole->links() - 1;
    for (std::size_t i = 0; i < all.size(); ++i) {
      Link& use = *all[i].link;
      const std::uint16_t writes = use.mode == Mode::read ? 0 : 1;
      if (i == 0 || use.var != to->var) {
        *++to = {use.var, whole, nullptr, use.mode, 0, writes};
      } else {
        if (to->mode == Mode::read && writes > 0) to->mode = Mode::update;
        to->writes = static_cast<std::uint16_t>(to->writes + writes);
      }
      use.next = to;
    }
    whole->uses = static_cast<std::uint16_t>(distinct);
    whole->level = first->level;
    for (Operation* at = first; at != nullptr; at = at->next)
      if (at->traced) trace_order(at->record, at->links(), at->uses);
    return whole;
  } catch (const std::bad_alloc&) {
    if (whole != nullptr) whole->free();
    return nullptr;
  }
}

}  // namespace strop::inline v0::detail
