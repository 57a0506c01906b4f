// SPDX-License-Identifier: Apache-2.0
/// \file
/// Few<X, Near>: a list that keeps its first elements in itself; short ones need no heap. Much less code than a vector:
/// what makes, lengthens and destroys one is a function, not a loop in each place.
#pragma once
#include <strop/core/config.hpp>

#include <cstddef>
#include <cstdint>
#include <new>
#include <span>
#include <utility>

namespace strop::inline v0::detail {

template <class X, int Near>
class Few {
 public:
  Few() = default;
  [[gnu::noinline]] explicit Few(std::size_t n) { resize(n); }
  [[gnu::noinline]] Few(Few&& from) noexcept
      : count_(std::exchange(from.count_, 0)),
        room_(std::exchange(from.room_, static_cast<std::size_t>(Near))),
        far_(std::exchange(from.far_, nullptr)) {
    if (far_ != nullptr) return;
    for (std::size_t i = 0; i < count_; ++i) near_[i] = std::move(from.near_[i]);
  }
  Few& operator=(Few&& from) noexcept {
    if (this == &from) return *this;
    delete[] std::exchange(far_, std::exchange(from.far_, nullptr));
    count_ = std::exchange(from.count_, 0);
    room_ = std::exchange(from.room_, static_cast<std::size_t>(Near));
    if (far_ == nullptr)
      for (std::size_t i = 0; i < count_; ++i) near_[i] = std::move(from.near_[i]);
    return *this;
  }
  Few(const Few&) = delete;
  Few& operator=(const Few&) = delete;
  [[gnu::noinline]] ~Few() { delete[] far_; }

  /// Sets the length of a new list.
  void resize(std::size_t n) {
    if (n > room_) grow(n);
    count_ = n;
  }
  void push_back(X x) {
    if (count_ == room_) grow(2 * room_);
    begin()[count_++] = std::move(x);
  }
  void pop_back() { --count_; }
  std::size_t size() const { return count_; }
  bool empty() const { return count_ == 0; }
  X* begin() { return far_ != nullptr ? far_ : near_; }
  const X* begin() const { return far_ != nullptr ? far_ : near_; }
  X* end() { return begin() + count_; }
  const X* end() const { return begin() + count_; }
  X& operator[](std::size_t i) { return begin()[i]; }
  const X& operator[](std::size_t i) const { return begin()[i]; }
  X& at(int i) { return begin()[i]; }
  const X& at(int i) const { return begin()[i]; }
  X& back() { return begin()[count_ - 1]; }
  X* data() { return begin(); }
  const X* data() const { return begin(); }
  std::span<X> span() { return {begin(), count_}; }
  std::span<const X> span() const { return {begin(), count_}; }

 private:
  [[gnu::noinline]] void grow(std::size_t room) {
    if (room > static_cast<std::size_t>(PTRDIFF_MAX) / sizeof(X)) throw std::bad_alloc();
    X* more = new X[room]{};
    for (std::size_t i = 0; i < count_; ++i) more[i] = std::move(begin()[i]);
    delete[] far_;
    far_ = more;
    room_ = room;
  }

  std::size_t count_ = 0, room_ = static_cast<std::size_t>(Near);
  X* far_ = nullptr;
  X near_[static_cast<std::size_t>(Near)]{};
};

}  // namespace strop::inline v0::detail
