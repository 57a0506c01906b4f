// SPDX-License-Identifier: Apache-2.0
/// \file
/// How an array's elements wait for the engine.
#pragma once
#include <strop/core/config.hpp>
#include <strop/core/list.hpp>
#include <strop/engine/engine.hpp>
#include <strop/tensor/variable.hpp>

#include <cstddef>
#include <source_location>
#include <span>
#include <string_view>
#include <utility>

namespace strop::inline v0::detail {

/// The order of a buffer's elements: a variable of the global engine.
class OnEngine final : public Pending {
 public:
  using Variable = Engine::Variable;
  OnEngine() : Pending(calls), variable_(Engine::global().variable()) {}
  const Variable& variable() const { return variable_; }

 private:
  static const Calls calls;
  static OnEngine& from(Pending& order) { return static_cast<OnEngine&>(order); }
  static const OnEngine& from(const Pending& order) { return static_cast<const OnEngine&>(order); }

  void wait(bool reads) {
    if (used_here()) return;
    if (reads)
      Engine::global().wait_idle(variable_);
    else
      Engine::global().wait(variable_);
  }
  void settle() {
    if (!used_here()) Engine::global().settle(variable_);
  }
  // What a bulk has gathered is pending as well, and it is not for this question to send it off.
  bool idle() const { return Gathering::current == nullptr && variable_.idle(); }
  std::uint64_t writes() const {
    Gathering::flush_current();  // what is gathered is counted when it is sent off
    return Access::var(variable_)->writes_pushed.load(std::memory_order_relaxed);
  }
  bool busy() const { return !used_here() && (!variable_.idle() || variable_.failed()); }
  static void run(std::span<Pending* const> reads, std::span<Pending* const> writes, std::string_view name,
                  std::source_location where, Ref<Work> work) {
    const Variables r = variables(reads), w = variables(writes);
    const auto notes = [described = work.get()](TraceNotes& note) {
      described->describe(
          [](void* to, std::string_view key, std::string_view text) { (*static_cast<TraceNotes*>(to))(key, text); },
          &note);
    };
    Engine::global().push([work = std::move(work)] { work->run(); },
                          {.reads = r, .writes = w, .name = name, .notes = notes}, where);
  }

  /// The operation that runs on this thread has said that it uses the variable: the elements are its own.
  bool used_here() const {
    for (const Running* at = Running::current(); at != nullptr; at = at->outer)
      for (std::size_t i = 0; i < at->uses; ++i)
        if (at->links[i].var == Access::var(variable_)) return true;
    return false;
  }
  using Variables = List<Variable, 16>;  // a push of a few takes nothing from the heap for them
  static Variables variables(std::span<Pending* const> all) {
    Variables list;
    for (Pending* p : all) list.push_back(from(*p).variable_);
    return list;
  }
  Variable variable_;
};

inline constexpr Pending::Calls OnEngine::calls{
    [](Pending* order) noexcept { delete &from(*order); },
    [](Pending& order, bool reads) { from(order).wait(reads); },
    [](const Pending& order) { return from(order).busy(); },
    [](const Pending& order) { return from(order).idle(); },
    [](Pending& order) { from(order).settle(); },
    [](const Pending&, std::span<Pending* const> reads, std::span<Pending* const> writes, std::string_view name,
       std::source_location where, Ref<Work> work) { run(reads, writes, name, where, std::move(work)); },
    [](const Pending& order) { return from(order).writes(); }};

STROP_IMPL Ref<Pending> order_on_engine() { return Ref<Pending>(new OnEngine); }
STROP_IMPL const EngineVariable& variable_of(const Pending& order) {
  return static_cast<const OnEngine&>(order).variable();
}

}  // namespace strop::inline v0::detail
