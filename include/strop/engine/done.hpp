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
  template <class F>
  static constexpr bool takes = std::is_invocable_v<F&> || std::is_invocable_v<F&, const EngineContext&>;
  /// A function that asks for a stream leaves work there.
  template <class F>
  static constexpr bool asynchronous = !std::is_invocable_v<F&>;

  template <class F>
  void operator()(F& f, Operation& operation) const {
    if constexpr (asynchronous<F> && std::is_move_constructible_v<F>) {
      Left left;
      {
        F own(std::move(f));  // what it holds goes before the operation is complete
        left = leave(own, operation.lane);
      }
      complete(operation, left);
    } else {
      again(f, operation);
    }
  }
  /// The same of a function that is called again.
  template <class F>
  static void again(F& f, Operation& operation) {
    if constexpr (asynchronous<F>)
      complete(operation, leave(f, operation.lane));
    else
      static_cast<void>(f());
  }
  /// The same, and waits for what the function has left.
  template <class F>
  static void call(F& f, unsigned lane) {
    if constexpr (asynchronous<F>) {
      const Left left = leave(f, lane);
      if (left.stream != nullptr) left.stream->wait(left.mark);
    } else {
      static_cast<void>(f());
    }
  }

 private:
  /// What a function has left on a stream: what was queued up to the mark.
  struct Left {
    memory::detail::GpuStream* stream = nullptr;
    std::uint64_t mark = 0;
  };
  /// Where it throws, what it has left is waited for: others may take the memory away then.
  template <class F>
  static Left leave(F& f, unsigned lane) {
    const StreamScope scope(lane);
    memory::detail::GpuStream* const stream = scope.stream();
    try {
      static_cast<void>(f(scope.context()));
    } catch (...) {
      if (stream != nullptr) stream->settle();
      throw;
    }
    return stream == nullptr ? Left{} : Left{stream, stream->mark()};
  }
  static void complete(Operation& operation, const Left& left) {
    if (left.stream != nullptr)
      operation.core->complete_after(&operation, *left.stream, left.mark);
    else
      Core::done(&operation, nullptr);
  }
};
struct CallWithDone {
  template <class F>
  static constexpr bool asynchronous = true;
  template <class F>
  static constexpr bool takes =
      std::is_invocable_v<F&, EngineDone> || std::is_invocable_v<F&, const EngineContext&, EngineDone>;

  template <class F>
  void operator()(F& f, Operation& operation) const {
    if constexpr (std::is_invocable_v<F&, EngineDone>) {
      static_cast<void>(f(EngineDone(operation)));
    } else {
      const StreamScope scope(operation.lane);
      static_cast<void>(f(scope.context(), EngineDone(operation)));
    }
  }
};

}  // namespace detail
}  // namespace strop::inline v0
