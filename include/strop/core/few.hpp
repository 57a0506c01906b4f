// SPDX-License-Identifier: Apache-2.0
/// \file
/// Few<X, Near>: a list whose length is set once; short ones need no heap. Much less code than a growing vector.
#pragma once
#include <cstddef>

namespace strop::inline v0::detail {

template <class X, int Near>
class Few {
 public:
  Few() = default;
  explicit Few(std::size_t n) { resize(n); }
  Few(const Few&) = delete;
  Few& operator=(const Few&) = delete;
  ~Few() { delete[] far_; }

  /// Sets the length, once.
  void resize(std::size_t n) {
    count_ = n;
    if (n > Near) far_ = new X[n]{};
  }
  std::size_t size() const { return count_; }
  X* begin() { return far_ != nullptr ? far_ : near_; }
  const X* begin() const { return far_ != nullptr ? far_ : near_; }
  X* end() { return begin() + count_; }
  const X* end() const { return begin() + count_; }
  X& operator[](std::size_t i) { return begin()[i]; }
  const X& operator[](std::size_t i) const { return begin()[i]; }
  X& at(int i) { return begin()[i]; }
  X* data() { return begin(); }
  const X* data() const { return begin(); }

 private:
  std::size_t count_ = 0;
  X* far_ = nullptr;
  X near_[static_cast<std::size_t>(Near)]{};
};

}  // namespace strop::inline v0::detail
