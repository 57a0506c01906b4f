// SPDX-License-Identifier: Apache-2.0
/// \file
/// List<X>: a growing array that costs a compiler little. Graphs hold many kinds of small lists and none that is hot.
#pragma once
#include <strop/core/config.hpp>

#include <initializer_list>
#include <new>
#include <span>
#include <utility>

namespace strop::inline v0::detail {

template <class X>
class List {
 public:
  List() = default;
  List(std::initializer_list<X> from) {
    for (const X& x : from) push(x);
  }
  List(const List& from) {
    for (const X& x : from) push(x);
  }
  List(List&& from) noexcept
      : data_(std::exchange(from.data_, nullptr)),
        size_(std::exchange(from.size_, 0)),
        room_(std::exchange(from.room_, 0)) {}
  List& operator=(List from) noexcept {
    std::swap(data_, from.data_);
    std::swap(size_, from.size_);
    std::swap(room_, from.room_);
    return *this;
  }
  ~List() {
    clear();
    ::operator delete(data_);
  }

  int size() const { return size_; }
  bool empty() const { return size_ == 0; }
  X* begin() { return data_; }
  X* end() { return data_ + size_; }
  const X* begin() const { return data_; }
  const X* end() const { return data_ + size_; }
  X& operator[](int i) { return data_[i]; }
  const X& operator[](int i) const { return data_[i]; }
  X& back() { return data_[size_ - 1]; }
  std::span<X> span() { return {data_, static_cast<std::size_t>(size_)}; }
  std::span<const X> span() const { return {data_, static_cast<std::size_t>(size_)}; }

  void push(X x) {
    if (size_ == room_) grow();
    ::new (static_cast<void*>(data_ + size_)) X(std::move(x));
    ++size_;
  }
  X pop() {
    X x = std::move(back());
    shorten(size_ - 1);
    return x;
  }
  /// New elements are made of nothing.
  void resize(int n) {
    shorten(n);
    while (size_ < n) push(X{});
  }
  void clear() { shorten(0); }

 private:
  void shorten(int n) {
    while (size_ > n) data_[--size_].~X();
  }
  void grow() {
    const int room = room_ == 0 ? 4 : 2 * room_;
    X* to = static_cast<X*>(::operator new(static_cast<std::size_t>(room) * sizeof(X)));
    for (int i = 0; i < size_; ++i) {
      ::new (static_cast<void*>(to + i)) X(std::move(data_[i]));
      data_[i].~X();
    }
    ::operator delete(data_);
    data_ = to;
    room_ = room;
  }

  X* data_ = nullptr;
  int size_ = 0, room_ = 0;
};

}  // namespace strop::inline v0::detail
