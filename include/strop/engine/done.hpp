// SPDX-License-Identifier: Apache-2.0
/// \file
/// How an asynchronous operation tells the engine that it is complete.
#pragma once
#include <exception>
#include <strop/engine/context.hpp>
#include <strop/engine/core.hpp>
#include <strop/engine/operation.hpp>
#include <type_traits>
#include <utility>

namespace strop::inline v0 {

namespace detail {
struct CallWithDone;
}

/// Tells the engine that an asynchronous operation is complete; comes with the call of its function.
///
/// Callable from any thread, also before the function has returned. Copies share one completion: the first call counts,
/// later ones do nothing. Letting go of the last copy without a call is a failure of the operation.
class EngineDone {
 public:
  EngineDone() = default;  ///< empty: a call does nothing
  EngineDone(const EngineDone& other) : operation_(other.operation_) {
    if (operation_ != nullptr) detail::Core::retain(operation_);
  }
  EngineDone(EngineDone&& other) noexcept : operation_(std::exchange(other.operation_, nullptr)) {}
  EngineDone& operator=(EngineDone other) noexcept {
    std::swap(operation_, other.operation_);
    return *this;
  }
  ~EngineDone() {
    if (operation_ != nullptr) detail::Core::drop(operation_);
  }

  /// Completes the operation, with a failure where `error` is not null. Never throws.
  void operator()(std::exception_ptr error = nullptr) const noexcept {
    if (operation_ != nullptr) detail::Core::done(operation_, std::move(error));
  }

 private:
  friend struct detail::CallWithDone;
  explicit EngineDone(detail::Operation& operation) : operation_(&operation) { detail::Core::retain(operation_); }
  detail::Operation* operation_ = nullptr;
};

namespace detail {

/// How the functions of push and of push_async are called.
struct CallPlain {
  static constexpr bool asynchronous = false;
  template <class F>
  static constexpr bool takes = std::is_invocable_v<F&> || std::is_invocable_v<F&, const EngineContext&>;

  template <class F>
  void operator()(F& f, Operation& operation) const {
    call(f, *operation.core, operation.lane);
  }
  template <class F>
  static void call(F& f, Core& core, unsigned lane) {
    if constexpr (std::is_invocable_v<F&>) {
      static_cast<void>(f());
    } else {
      StreamScope scope(core.streams(lane), device_of_lane(lane));
      static_cast<void>(f(scope.context()));
      scope.finish();
    }
  }
};
struct CallWithDone {
  static constexpr bool asynchronous = true;
  template <class F>
  static constexpr bool takes =
      std::is_invocable_v<F&, EngineDone> || std::is_invocable_v<F&, const EngineContext&, EngineDone>;

  template <class F>
  void operator()(F& f, Operation& operation) const {
    if constexpr (std::is_invocable_v<F&, EngineDone>) {
      static_cast<void>(f(EngineDone(operation)));
    } else {
      StreamScope scope(operation.core->streams(operation.lane), device_of_lane(operation.lane));
      static_cast<void>(f(scope.context(), EngineDone(operation)));
      scope.leave_running();
    }
  }
};

}  // namespace detail
}  // namespace strop::inline v0
