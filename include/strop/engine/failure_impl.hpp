// SPDX-License-Identifier: Apache-2.0
/// \file
/// How failures are made, raised and told.
#pragma once
#include <atomic>
#include <cstddef>
#include <exception>
#include <new>
#include <source_location>
#include <stdexcept>
#include <string>
#include <string_view>
#include <strop/core/config.hpp>
#include <strop/core/error.hpp>
#include <strop/core/log.hpp>
#include <strop/engine/failure.hpp>
#include <typeinfo>
#include <utility>

namespace strop::inline v0::detail {

/// The exception E with the operation in its sentence: still caught as E.
template <class E>
class Named final : public E, public FailedOperation {
 public:
  Named(const E& e, const std::string& text, std::string_view name, std::source_location where)
      : E(e), FailedOperation(name, where), text_(text) {}
  const char* what() const noexcept override { return text_.c_str(); }

 private:
  std::string text_;
};

STROP_IMPL FailureState* FailureState::out_of_memory() {
  alignas(FailureState) static char memory[sizeof(FailureState)];  // never destroyed
  static FailureState* const state = [] {
    FailureState* made = ::new (static_cast<void*>(memory)) FailureState;
    made->immortal = true;
    made->error = std::make_exception_ptr(std::bad_alloc());
    return made;
  }();
  state->retain();
  return state;
}

STROP_IMPL FailureState* FailureState::make(std::exception_ptr error, std::string_view operation,
                                            std::source_location where) noexcept {
  FailureState* made = new (std::nothrow) FailureState;
  if (made == nullptr) return out_of_memory();
  made->error = std::move(error);
  made->where = where;
  try {
    made->operation = operation;
  } catch (...) {  // unnamed, then
  }
  return made;
}

STROP_IMPL void FailureState::raise_share(FailureState* failure) {
  if (failure == nullptr) return;
  struct Share {
    FailureState* state;
    ~Share() { state->drop(); }
  } const share{failure};
  failure->raise();
}

#if defined(__cpp_rtti)
/// The sentence of an exception with the operation, and where it was pushed, in it.
STROP_IMPL std::string name_failure(const std::exception& e, const FailureState& failure) {
  std::string text = e.what();
  const bool named = text.find(failure.operation) != std::string::npos;
  const std::string name = named ? std::string() : cat("in operation '", failure.operation, '\''),
                    place = place_of(failure.where);
  const bool placed = !place.empty();
  if (!named || placed) text += cat(" [", name, !named && placed ? ", " : "", placed ? "pushed at " : "", place, ']');
  return text;
}

template <class E>
[[gnu::cold, gnu::noinline]] void raise_named(const std::exception& e, const FailureState& failure) {
  if (typeid(e) == typeid(E))
    throw Named<E>(static_cast<const E&>(e), name_failure(e, failure), failure.operation, failure.where);
}
#endif

STROP_IMPL void FailureState::raise() const {
  seen.store(true, std::memory_order_relaxed);
  if (operation.empty()) std::rethrow_exception(error);
#if !defined(__cpp_rtti)  // an exception of a class that nobody knows is raised as it is
  std::rethrow_exception(error);
#else
  try {
    std::rethrow_exception(error);
  } catch (const std::exception& e) {
    raise_named<Error>(e, *this);
    raise_named<std::runtime_error>(e, *this);
    raise_named<std::range_error>(e, *this);
    raise_named<std::overflow_error>(e, *this);
    raise_named<std::underflow_error>(e, *this);
    raise_named<std::logic_error>(e, *this);
    raise_named<std::invalid_argument>(e, *this);
    raise_named<std::domain_error>(e, *this);
    raise_named<std::length_error>(e, *this);
    raise_named<std::out_of_range>(e, *this);
    throw;
  }
#endif
}

STROP_IMPL void FailureState::tell(std::size_t more) const noexcept {
  try {
    std::string text = "a failure that was never raised: ";
    try {
      raise();
    } catch (const std::exception& e) {
      text += e.what();
    } catch (...) {
      text += "an exception that is no std::exception";
    }
    if (more != 0) text += cat(" (and ", more, more == 1 ? " more operation)" : " more operations)");
    log(text);
  } catch (...) {  // no memory for the sentence
    log("a failure that was never raised");
  }
}

}  // namespace strop::inline v0::detail
