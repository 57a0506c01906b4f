// SPDX-License-Identifier: Apache-2.0
/// \file
/// Parts of the runtime that a program has only where it can need them.
#pragma once
#include <strop/core/config.hpp>
#include <strop/core/error.hpp>

#include <atomic>
#include <string_view>

namespace strop::inline v0::detail {

/// A part of the runtime, a function or a constant table of functions, that is reached through a pointer.
///
/// An inline function is in the object of a header-only program where something refers to it, and all of the runtime
/// would be: every call may meet a sparse array or wait for the engine. What only some programs can meet is therefore
/// asked for here, and installed by what brings the case about: the functions that make sparse arrays, for example. A
/// part that is not installed is one whose case cannot occur, or has another way. With the compiled runtime there is
/// nothing to save, and every part is there from the start.
///
/// A part never changes once it is installed, so that threads may install and use it at the same time.
template <class T>
class Installed {
 public:
  constexpr explicit Installed(T* part) : part_(from_the_start ? part : nullptr) {}
  void install(T& part) {
    if (part_.load(std::memory_order_relaxed) == nullptr) part_.store(&part, std::memory_order_release);
  }
  explicit operator bool() const { return part_.load(std::memory_order_acquire) != nullptr; }
  /// The part, where its case has occurred. Error where what brought it about was built apart and hides its symbols.
  T& get(std::string_view what) const {
    T* const part = part_.load(std::memory_order_acquire);
    if (part == nullptr) [[unlikely]]
      fail("strop: ", what, " came from a library that shares no symbols with this program");
    return *part;
  }

 private:
#if defined(STROP_COMPILED)
  static constexpr bool from_the_start = true;
#else
  static constexpr bool from_the_start = false;
#endif
  std::atomic<T*> part_;
};

}  // namespace strop::inline v0::detail
