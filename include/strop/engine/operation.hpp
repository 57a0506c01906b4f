// SPDX-License-Identifier: Apache-2.0
/// \file
/// One pushed operation: header, function, uses and name in one block of memory.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <source_location>
#include <string_view>
#include <strop/engine/blocks.hpp>
#include <strop/engine/variable.hpp>
#include <type_traits>
#include <utility>

namespace strop::inline v0::detail {

struct ReadyList;

/// That an operation can count.
inline constexpr std::size_t most_uses = 0xFFFF;

/// What the engine knows of the type of a pushed function.
struct FunctionTable {
  void (*run)(Operation&);
  void (*whole)(Operation&, ReadyList&);  // not null: executes and completes the operation by itself
  void (*destroy)(Operation&);            // null: nothing to do
  std::uint32_t links;                    // offset of the uses, behind the function
  bool asynchronous;
};

/// The states of an operation that completes by Done: bits of Operation::state.
enum AsyncState : std::uint8_t {
  async_returned = 1,   // the function has returned
  async_done = 2,       // a Done has been called
  async_completed = 4,  // and has completed the uses; the later one of this and async_returned destroys the function
};

/// Where the memory of an operation comes from.
enum class BlockHome : std::uint8_t { heap, common, step };

/// The header; the function follows it at once, then the uses, then the name.
struct alignas(64) Operation {
  using Block = Blocks<256>;

  Operation* next = nullptr;  // in a list of ready ones
  Operation* previous = nullptr;
  Core* core;
  const FunctionTable* table;
  std::source_location where;
  union {
    const char* text = "";  // the name
    TraceRecord* record;    // knows it as well
  };
  std::atomic<std::int32_t> waits{0};    // uses that are not granted, and threads that look at it
  std::atomic<std::int32_t> holders{1};  // asynchronous ones: the engine, and every Done
  std::uint16_t uses = 0;
  std::uint8_t level = 16;  // of priority 0
  bool queued = false;      // in a level of the ready queue; guarded by the queue's lock
  BlockHome home;
  std::atomic<std::uint8_t> state{0};  // asynchronous ones: AsyncState
  std::uint8_t lane = 0;               // the queue that it becomes ready in: context.hpp
  bool traced = false;

  Operation(Core* core_, const FunctionTable* table_, std::source_location where_, BlockHome home_)
      : core(core_), table(table_), where(where_), home(home_) {}

  Link* links() { return reinterpret_cast<Link*>(reinterpret_cast<char*>(this) + table->links); }
  void* function() { return this + 1; }
  const char* name() const { return traced ? record->name.c_str() : text; }
  void trace(TraceRecord* as) {
    if (as == nullptr) return;
    traced = true;
    record = as;
  }

  /// A block with room for `uses` uses and a copy of the name; the function is still to be made. `own` has those that
  /// are larger than the common ones, instead of the heap. May throw bad_alloc.
  static Operation* make(Core* core, const FunctionTable& table, std::size_t uses, std::string_view name,
                         std::source_location where, OwnBlocks* own = nullptr);

  /// Gives the block back; the function is gone already.
  void free();
};
static_assert(sizeof(Operation) <= 64 + sizeof(std::source_location));

/// The table of an F. `Call` says how an F is called for an operation.
template <class F, class Call>
struct FunctionTableOf {
  static_assert(alignof(F) <= alignof(Operation), "a pushed function may be aligned to 64 bytes at most");
  static void run(Operation& operation) { Call()(*static_cast<F*>(operation.function()), operation); }
  static void destroy(Operation& operation) { static_cast<F*>(operation.function())->~F(); }
  static constexpr FunctionTable value{
      run, nullptr, std::is_trivially_destructible_v<F> ? nullptr : destroy,
      static_cast<std::uint32_t>((sizeof(Operation) + sizeof(F) + alignof(Link) - 1) / alignof(Link) * alignof(Link)),
      Call::template asynchronous<F>};
};

/// Sorts uses by variable, the order in which locks are waited for.
void sort_uses(Link* links, std::size_t n);

/// Makes one use of those of the same variable: in both lists is an update. Returns how many are left.
std::size_t merge_uses(Link* links, std::size_t n);

/// Locks the variables of merged uses, which it may reorder. Holding them all, a push comes before or after another
/// one on every variable that they share.
void lock_uses(Link* links, std::size_t n);

/// A list of operations in the order in which they became ready, linked by `next`.
struct ReadyList {
  Operation* first = nullptr;
  Operation* last = nullptr;

  void add(Operation* operation) {
    operation->next = nullptr;
    (first == nullptr ? first : last->next) = operation;
    last = operation;
  }
  Operation* take() {
    Operation* operation = first;
    if (operation != nullptr) first = operation->next;
    return operation;
  }
};

}  // namespace strop::inline v0::detail

#if !defined(STROP_COMPILED)
#include <strop/engine/operation_impl.hpp>
#endif
