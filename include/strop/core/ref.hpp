// SPDX-License-Identifier: Apache-2.0
/// \file
/// Intrusive shared ownership: one pointer wide, thread-safe counting.
#pragma once
#include <strop/core/config.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace strop::inline v0::detail {

/// Base of what a Ref may own. A new object has no owner yet.
class Counted {
 public:
  Counted() = default;
  Counted(const Counted&) {}
  Counted& operator=(const Counted&) { return *this; }
  void retain() const { owners_.fetch_add(1, std::memory_order_relaxed); }
  bool drop() const { return owners_.fetch_sub(1, std::memory_order_acq_rel) == 1; }
  std::int32_t owners() const { return owners_.load(std::memory_order_acquire); }

 private:
  mutable std::atomic<std::int32_t> owners_{0};
};

/// Shares ownership of a T derived from Counted; copying counts, the last one deletes, by T::destroy where there is
/// one.
template <class T>
class Ref {
 public:
  Ref() = default;
  Ref(std::nullptr_t) {}
  explicit Ref(T* p) : p_(p) {
    if (p_ != nullptr) p_->retain();
  }
  Ref(const Ref& other) : Ref(other.p_) {}
  Ref(Ref&& other) noexcept : p_(std::exchange(other.p_, nullptr)) {}
  template <class U>
    requires(std::is_convertible_v<U*, T*>)
  Ref(const Ref<U>& other) : Ref(other.get()) {}
  Ref& operator=(Ref other) noexcept {
    std::swap(p_, other.p_);
    return *this;
  }
  ~Ref() {
    if (p_ != nullptr && p_->drop()) destroy(p_);
  }

  T* get() const { return p_; }
  /// Gives this share away: whoever takes the pointer drops it.
  T* release() { return std::exchange(p_, nullptr); }
  T* operator->() const { return p_; }
  T& operator*() const { return *p_; }
  explicit operator bool() const { return p_ != nullptr; }
  friend bool operator==(const Ref& a, const Ref& b) { return a.p_ == b.p_; }

 private:
  // Apart, once: handles die in many places, and most of them are not the last.
  [[gnu::noinline]] static void destroy(T* p) noexcept {
    if constexpr (requires { T::destroy(p); })
      T::destroy(p);
    else
      delete p;
  }
  T* p_ = nullptr;
};

}  // namespace strop::inline v0::detail
