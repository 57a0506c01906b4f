// SPDX-License-Identifier: Apache-2.0
/// \file
/// A failure on its way from the operation that failed to everybody who observes what depends on it.
#pragma once
#include <atomic>
#include <cstddef>
#include <exception>
#include <new>
#include <source_location>
#include <stdexcept>
#include <string>
#include <string_view>
#include <strop/core/error.hpp>
#include <strop/core/log.hpp>
#include <typeinfo>
#include <utility>

namespace strop::inline v0 {

/// What every exception that the engine raises for a named operation can be cast to, beside its own type.
class FailedOperation {
 public:
  FailedOperation(std::string_view name, std::source_location where) : name_(name), where_(where) {}
  virtual ~FailedOperation() = default;
  const std::string& operation() const { return name_; }  ///< the `.name` that it was pushed with
  std::source_location where() const { return where_; }   ///< the call that pushed it

 private:
  std::string name_;
  std::source_location where_;
};

namespace detail {

/// Shared by the variables that it has reached; owned by counting.
struct FailureState {
  std::atomic<int> owners{1};
  std::exception_ptr error;
  std::string operation;
  std::source_location where;
  mutable std::atomic<bool> seen{false};  // it was raised
  bool immortal = false;                  // the one that stands for all where no memory was left to describe a failure
  FailureState* next_unraised = nullptr;

  void retain() { owners.fetch_add(1, std::memory_order_relaxed); }
  void drop() {
    if (owners.fetch_sub(1, std::memory_order_acq_rel) == 1 && !immortal) delete this;
  }

  static FailureState* out_of_memory();

  /// Never throws: with no memory left the failure is a std::bad_alloc.
  static FailureState* make(std::exception_ptr error, std::string_view operation, std::source_location where) noexcept;

  /// Throws the error, as its own type, with the operation and where it was pushed in its sentence where the type
  /// permits.
  [[noreturn]] void raise() const;
  /// Logs what nobody was told, of this failure and of so many more.
  void tell(std::size_t more = 0) const noexcept;
  /// Raises a failure, if there is one, and drops the caller's share.
  static void raise_share(FailureState* failure);
};

}  // namespace detail
}  // namespace strop::inline v0

#if !defined(STROP_COMPILED)
#include <strop/engine/failure_impl.hpp>
#endif
