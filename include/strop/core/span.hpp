// SPDX-License-Identifier: Apache-2.0
/// \file
/// Index, the type of every size and position of a list; Span<X>, a view of elements that are counted by it; and the
/// border to code that counts without a sign.
#pragma once
#include <strop/core/config.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace strop::inline v0::detail {

/// Extents, sizes and positions are signed, so that differences and loops that run down need no thought.
using Index = std::int64_t;

/// A size as the memory functions and the containers of std count it. It was checked where it came from.
constexpr std::size_t unsigned_size(std::integral auto n) { return static_cast<std::size_t>(n); }

inline void copy_bytes(void* to, const void* from, Index bytes) { std::memcpy(to, from, unsigned_size(bytes)); }
/// Of what may overlap.
inline void move_bytes(void* to, const void* from, Index bytes) { std::memmove(to, from, unsigned_size(bytes)); }
inline void clear_bytes(void* to, Index bytes) { std::memset(to, 0, unsigned_size(bytes)); }

/// Element i of what std counts without a sign: a vector that a public function takes or returns.
template <class C>
constexpr decltype(auto) element(C&& list, Index i) {
  return list[unsigned_size(i)];
}

/// Elements that lie one behind the other in somebody else's memory. Made of a std::span, a List, a vector or an array,
/// and becomes a std::span by itself, which is what the structs of users are given.
template <class X>
class Span {
 public:
  constexpr Span() = default;
  constexpr Span(X* data, Index size) : data_(data), size_(size) {}
  constexpr Span(std::span<X> from) : Span(from.data(), static_cast<Index>(from.size())) {}
  /// From its beginning to its end: size() of a Shape is something else.
  template <class From>
    requires requires(From&& from) {
      { from.data() } -> std::convertible_to<X*>;
      { from.end() - from.begin() } -> std::integral;
    }
  constexpr Span(From&& from) : Span(from.data(), static_cast<Index>(from.end() - from.begin())) {}
  template <std::size_t N>
  constexpr Span(X (&from)[N]) : Span(from, static_cast<Index>(N)) {}

  constexpr Index size() const { return size_; }
  constexpr bool empty() const { return size_ == 0; }
  constexpr X* data() const { return data_; }
  constexpr X* begin() const { return data_; }
  constexpr X* end() const { return data_ + size_; }
  constexpr X& operator[](Index i) const { return data_[i]; }
  constexpr X& front() const { return data_[0]; }
  constexpr X& back() const { return data_[size_ - 1]; }
  constexpr Span first(Index n) const { return {data_, n}; }
  constexpr Span last(Index n) const { return {data_ + (size_ - n), n}; }
  constexpr Span subspan(Index from) const { return {data_ + from, size_ - from}; }
  constexpr Span subspan(Index from, Index n) const { return {data_ + from, n}; }

 private:
  X* data_ = nullptr;
  Index size_ = 0;
};

template <class X, class N>
Span(X*, N) -> Span<X>;

}  // namespace strop::inline v0::detail

/// So that a std::span is made of a Span that is a temporary: it may end before what it looks at.
template <class X>
inline constexpr bool std::ranges::enable_borrowed_range<strop::detail::Span<X>> = true;
