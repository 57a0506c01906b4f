// SPDX-License-Identifier: Apache-2.0
/// \file
/// What an operation says of itself: the variables that it reads and writes, its name, its priority.
#pragma once
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <initializer_list>
#include <iterator>
#include <source_location>
#include <string_view>
#include <strop/core/device.hpp>
#include <strop/core/error.hpp>
#include <strop/engine/bulk.hpp>
#include <strop/engine/context.hpp>
#include <strop/engine/core.hpp>
#include <strop/engine/operation.hpp>
#include <strop/engine/trace_record.hpp>
#include <strop/engine/variable.hpp>
#include <utility>

namespace strop::inline v0 {

namespace detail {
struct Access;
}

/// A handle of something that operations read and write: memory, a file, a random stream. Copies are the same variable.
/// It may be let go of at any time, also while operations use it.
class EngineVariable {
 public:
  EngineVariable() = default;  ///< empty: nothing can be pushed with it
  EngineVariable(const EngineVariable& other) : var_(other.var_) {
    if (var_ != nullptr) var_->retain();
  }
  EngineVariable(EngineVariable&& other) noexcept : var_(std::exchange(other.var_, nullptr)) {}
  EngineVariable& operator=(EngineVariable other) noexcept {
    std::swap(var_, other.var_);
    return *this;
  }
  ~EngineVariable() {
    if (var_ != nullptr) var_->drop();
  }

  explicit operator bool() const { return var_ != nullptr; }
  friend bool operator==(const EngineVariable& a, const EngineVariable& b) { return a.var_ == b.var_; }

  /// No operation that uses it is pending; everything that the completed ones did is visible to the caller. One load.
  bool idle() const {
    if (var_ == nullptr) return true;
    detail::Gathering::flush_current();
    return var_->uses.load(std::memory_order_acquire) == 0;
  }
  /// The writes that have completed, failed ones included.
  std::uint64_t version() const { return var_ == nullptr ? 0 : var_->version.load(std::memory_order_acquire); }
  /// Its last completed write failed or inherited a failure. One load.
  bool failed() const { return var_ != nullptr && var_->failure.load(std::memory_order_acquire) != nullptr; }
  /// What failed on the way to its last completed write, as it was thrown; null where nothing did.
  std::exception_ptr failure() const {
    detail::FailureState* const state = var_ == nullptr ? nullptr : detail::Core::failure_of(var_);
    if (state == nullptr) return nullptr;
    std::exception_ptr error = state->error;
    state->drop();
    return error;
  }

 private:
  friend struct detail::Access;
  explicit EngineVariable(detail::Var* var) : var_(var) {}
  detail::Var* var_ = nullptr;
};

/// Variables for one push: `{a, b}`, or any contiguous container of them. It only refers to them.
class EngineVariables {
 public:
  EngineVariables() = default;
  /// One element of a braced list.
  class Item {
   public:
    Item(const EngineVariable& variable) : variable_(&variable) {}

   private:
    friend class EngineVariables;
    const EngineVariable* variable_;
  };
  EngineVariables(std::initializer_list<Item> items) : EngineVariables(items.begin(), items.size()) {}
  template <class C>
    requires requires(const C& c) {
      { c.data() } -> std::convertible_to<const EngineVariable*>;
      { c.size() } -> std::convertible_to<std::size_t>;
    }
  EngineVariables(const C& c) : EngineVariables(c.data(), static_cast<std::size_t>(c.size())) {}
  EngineVariables(const EngineVariable* variables, std::size_t size);
  EngineVariables(const EngineVariables& other);
  EngineVariables& operator=(const EngineVariables&) = delete;
  ~EngineVariables() {
    if (vars_ != few_) delete[] vars_;
  }

  std::size_t size() const { return size_; }

 private:
  friend struct detail::Access;
  EngineVariables(const Item* items, std::size_t size);
  void reserve(std::size_t size) {
    if (size > std::size(few_)) vars_ = new detail::Var*[size];
    size_ = size;
  }

  detail::Var* few_[6];
  detail::Var** vars_ = few_;
  std::size_t size_ = 0;
};

/// The uses of an operation. A variable in both lists is updated; listing one twice is the same as once.
struct EngineUses {
  EngineVariables reads = {};
  EngineVariables writes = {};
  std::string_view name = {};  ///< appears in failures; copied
  int priority = 0;            ///< among ready operations, higher ones tend to run first
  /// Whose threads run it, and of what the stream is that a function of an EngineContext gets. All of the processor's
  /// share one queue, whatever their number.
  Device device = cpu();
  bool copies = false;     ///< in the other device's queue of copies, beside its work
  EngineNotes notes = {};  ///< what a trace says of it; called in the push, and only while a trace is taken
};

namespace detail {

/// The way from handles to states.
struct Access {
  static EngineVariable handle(Var* var) { return EngineVariable(var); }
  static Var* var(const EngineVariable& variable) { return variable.var_; }

  static std::size_t count(const EngineUses& uses) { return uses.reads.size_ + uses.writes.size_; }

  /// Writes the uses, merged; there is room for count(uses). Returns how many they are.
  static std::size_t gather(const Core* core, const EngineUses& uses, Link* links);

 private:
  static void check(const Core* core, const Var* var, const EngineUses& uses, const char* list, std::size_t i) {
    if (var == nullptr || var->core != core) [[unlikely]]
      refuse(var, uses, list, i);
  }
  [[noreturn]] static void refuse(const Var* var, const EngineUses& uses, const char* list, std::size_t i);
};

/// A block with its uses; the function is still to be made.
Operation* new_operation(Core& core, const FunctionTable& table, const EngineUses& uses, std::source_location where);

/// An operation that runs on its pusher's stack; its uses have been entered.
class InlineRun {
 public:
  static constexpr std::size_t max_uses = 8;

  InlineRun(Core& core, Link* links, std::size_t n, std::string_view name, std::source_location where)
      : core_(core),
        links_(links),
        n_(n),
        name_(name),
        where_(where),
        running_(&core, links, n, name.data(), name.size()) {
    failure_ = Core::inherited(links, n);
  }
  ~InlineRun() { core_.leave(links_, n_, failure_); }
  InlineRun(const InlineRun&) = delete;
  InlineRun& operator=(const InlineRun&) = delete;

  bool clean() const { return failure_ == nullptr; }
  const FailureState* failure() const { return failure_; }
  /// Inside a handler: the exception that is handled is the operation's failure.
  void failed() { failure_ = core_.failed(std::current_exception(), name_, where_); }

 private:
  Core& core_;
  Link* links_;
  std::size_t n_;
  std::string_view name_;
  std::source_location where_;
  FailureState* failure_ = nullptr;
  Running running_;
};

/// What a trace says of one; there may be no record.
class InlineTrace {
 public:
  InlineTrace(TraceRecord* record, const InlineRun& scope, const Link* links, std::size_t n)
      : record_(record), scope_(scope), runs_(scope.clean()) {
    if (record_ == nullptr) return;
    trace_order(record_, links, n);
    if (runs_) trace_start(record_);
  }
  ~InlineTrace();
  InlineTrace(const InlineTrace&) = delete;
  InlineTrace& operator=(const InlineTrace&) = delete;

 private:
  TraceRecord* record_;
  const InlineRun& scope_;
  const bool runs_;
};

}  // namespace detail

inline EngineVariables::EngineVariables(const EngineVariable* variables, std::size_t size) {
  reserve(size);
  for (std::size_t i = 0; i < size; ++i) vars_[i] = detail::Access::var(variables[i]);
}
inline EngineVariables::EngineVariables(const Item* items, std::size_t size) {
  reserve(size);
  for (std::size_t i = 0; i < size; ++i) vars_[i] = detail::Access::var(*items[i].variable_);
}
inline EngineVariables::EngineVariables(const EngineVariables& other) {
  reserve(other.size_);
  for (std::size_t i = 0; i < size_; ++i) vars_[i] = other.vars_[i];
}

}  // namespace strop::inline v0
