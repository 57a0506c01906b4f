// SPDX-License-Identifier: Apache-2.0
/// \file
/// List<X, Near>: a growing array whose first Near elements lie in itself, so that short lists need no heap. Much less
/// code than a vector: what makes, lengthens and destroys one is a function, not a loop in each place. A contiguous
/// range, so that Span and std::span are made of it.
#pragma once
#include <strop/core/span.hpp>

#include <initializer_list>
#include <new>
#include <utility>

namespace strop::inline v0::detail {

/// Room for the elements that lie in a list: memory alone, the list makes and destroys what is in it.
template <class X, std::size_t Near>
struct NearElements {
  NearElements() {}
  ~NearElements() {}
  NearElements(const NearElements&) = delete;
  NearElements& operator=(const NearElements&) = delete;
  X* room() { return near; }
  union {
    X near[Near];
  };
};
template <class X>
struct NearElements<X, 0> {
  X* room() { return nullptr; }
};

template <class X, std::size_t Near = 0>
class List : NearElements<X, Near> {
 public:
  List() noexcept : data_(this->room()) {}
  /// n elements made of nothing.
  explicit List(std::integral auto n) : List() { resize(n); }
  List(std::initializer_list<X> from) : List() { append({from.begin(), static_cast<Index>(from.size())}); }
  explicit List(std::integral auto n, const X& value) : List() {
    if (n > 0) grow(static_cast<Index>(n));
    while (size_ < static_cast<Index>(n)) push_back(value);
  }
  explicit List(Span<const X> from) : List() { append(from); }
  List(const List& from) : List() { append(from); }
  [[gnu::noinline]] List(List&& from) noexcept : List() { take(from); }
  List& operator=(const List& from) {
    if (this == &from) return *this;
    clear();
    append(from);
    return *this;
  }
  [[gnu::noinline]] List& operator=(List&& from) noexcept {
    if (this == &from) return *this;
    release();
    take(from);
    return *this;
  }
  [[gnu::noinline]] ~List() { release(); }

  Index size() const { return size_; }
  bool empty() const { return size_ == 0; }
  X* data() { return data_; }
  const X* data() const { return data_; }
  X* begin() { return data_; }
  const X* begin() const { return data_; }
  X* end() { return data_ + size_; }
  const X* end() const { return data_ + size_; }
  X& operator[](std::integral auto i) { return data_[i]; }
  const X& operator[](std::integral auto i) const { return data_[i]; }
  X& back() { return data_[size_ - 1]; }
  const X& back() const { return data_[size_ - 1]; }
  Span<X> span() { return {data_, size_}; }
  Span<const X> span() const { return {data_, size_}; }

  friend bool operator==(const List& a, const List& b) {
    if (a.size_ != b.size_) return false;
    for (Index i = 0; i < a.size_; ++i)
      if (!(a.data_[i] == b.data_[i])) return false;
    return true;
  }

  void push_back(X x) {
    if (size_ == room_) grow(size_ + 1);
    ::new (static_cast<void*>(data_ + size_)) X(std::move(x));
    ++size_;
  }
  void pop_back() { data_[--size_].~X(); }
  [[gnu::noinline]] void append(Span<const X> from) {
    if (from.size() > room_ - size_) grow(size_ + from.size());
    for (const X& x : from) ::new (static_cast<void*>(data_ + size_)) X(x), ++size_;
  }
  /// Room for n elements, so that the list does not grow on the way there.
  void reserve(std::integral auto n) {
    if (static_cast<Index>(n) > room_) grow(static_cast<Index>(n));
  }
  /// New elements are made of nothing.
  void resize(std::integral auto n) { set_size(static_cast<Index>(n)); }
  void clear() { shorten(0); }

 private:
  void shorten(Index n) {
    while (size_ > n) data_[--size_].~X();
  }
  [[gnu::noinline]] void set_size(Index n) {
    shorten(n);
    if (n > room_) grow(n);
    for (; size_ < n; ++size_) ::new (static_cast<void*>(data_ + size_)) X{};
  }
  void release() {
    clear();
    give_back();
  }
  void give_back() {
    if (data_ == this->room()) return;
    void* const memory = data_;
    overaligned() ? ::operator delete(memory, std::align_val_t{alignof(X)}) : ::operator delete(memory);
  }
  static constexpr bool overaligned() { return alignof(X) > __STDCPP_DEFAULT_NEW_ALIGNMENT__; }
  /// Into a list that holds nothing.
  void take(List& from) {
    if (from.data_ != from.room()) {
      data_ = std::exchange(from.data_, from.room());
      room_ = std::exchange(from.room_, static_cast<Index>(Near));
      size_ = std::exchange(from.size_, 0);
      return;
    }
    data_ = this->room();
    room_ = static_cast<Index>(Near);
    for (; size_ < from.size_; ++size_) ::new (static_cast<void*>(data_ + size_)) X(std::move(from.data_[size_]));
    from.clear();
  }
  /// To `least` elements, and to twice as many as there is room for where that is more.
  [[gnu::noinline]] void grow(Index least) {
    Index room = room_ < 2 ? 4 : 2 * room_;
    if (room < least) room = least;
    if (room > static_cast<Index>(PTRDIFF_MAX / sizeof(X))) throw std::bad_alloc();
    const std::size_t bytes = unsigned_size(room) * sizeof(X);
    X* to =
        static_cast<X*>(overaligned() ? ::operator new(bytes, std::align_val_t{alignof(X)}) : ::operator new(bytes));
    for (Index i = 0; i < size_; ++i) {
      ::new (static_cast<void*>(to + i)) X(std::move(data_[i]));
      data_[i].~X();
    }
    give_back();
    data_ = to;
    room_ = room;
  }

  X* data_;
  Index size_ = 0, room_ = static_cast<Index>(Near);
};

}  // namespace strop::inline v0::detail
