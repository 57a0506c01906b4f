// SPDX-License-Identifier: Apache-2.0
/// \file
/// Extents of an array: signed 64-bit, held inline up to six dimensions; unknown rank and unknown extents for
/// inference.
#pragma once
#include <strop/core/error.hpp>

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

namespace strop::inline v0 {

namespace detail {
/// Says that there is no array of this shape.
[[noreturn, gnu::cold]] void refuse_size(const Shape& shape);
}  // namespace detail

/// The extents of an array, outermost first. `Shape{}` is the shape of a scalar (0 dimensions, one element).
///
/// While shapes are inferred an extent may be `Shape::unknown_extent` and the whole shape `Shape::unknown()`.
class Shape {
 public:
  static constexpr std::int64_t unknown_extent = -1;

  // A body, and no default: so that a const one, or a field, is one without more.
  constexpr Shape() noexcept { begin_near(); }
  constexpr Shape(std::initializer_list<std::int64_t> extents) { assign(extents.begin(), extents.size()); }
  constexpr explicit Shape(std::span<const std::int64_t> extents) { assign(extents.data(), extents.size()); }
  constexpr Shape(const std::vector<std::int64_t>& extents) { assign(extents.data(), extents.size()); }
  constexpr Shape(const Shape& other) { copy(other); }
  constexpr Shape(Shape&& other) noexcept { steal(other); }
  constexpr Shape& operator=(const Shape& other) {
    if (this != &other) {
      release();
      copy(other);
    }
    return *this;
  }
  constexpr Shape& operator=(Shape&& other) noexcept {
    if (this != &other) {
      release();
      steal(other);
    }
    return *this;
  }
  constexpr ~Shape() { release(); }

  /// A shape of `rank` times the same extent.
  static constexpr Shape filled(int rank, std::int64_t extent) {
    Shape s;
    s.resize(rank, extent);
    return s;
  }
  /// A shape of which not even the rank is known.
  static constexpr Shape unknown() {
    Shape s;
    s.rank_ = -1;
    s.near_[0] = unknown_extent;  // compilers that lose sight of rank_ take the far pointer for uninitialised
    return s;
  }

  constexpr int ndim() const { return rank_ < 0 ? 0 : rank_; }
  constexpr bool has_rank() const { return rank_ >= 0; }
  /// Whether rank and every extent are known.
  constexpr bool known() const {
    if (rank_ < 0) return false;
    for (std::int64_t extent : *this)
      if (extent < 0) return false;
    return true;
  }
  /// Product of the extents (1 for a scalar). Error where 64 bits do not hold it.
  constexpr std::int64_t size() const {
    std::int64_t n = 1;
    for (std::int64_t extent : *this)
      if (__builtin_mul_overflow(n, extent, &n)) [[unlikely]]
        detail::refuse_size(*this);
    return n;
  }
  /// Product of the extents [from, to), likewise.
  constexpr std::int64_t size(int from, int to) const {
    std::int64_t n = 1;
    for (int i = from; i < to; ++i)
      if (__builtin_mul_overflow(n, (*this)[i], &n)) [[unlikely]]
        detail::refuse_size(*this);
    return n;
  }

  constexpr const std::int64_t* data() const { return rank_ > inline_rank ? far_ : near_; }
  constexpr std::int64_t* data() { return rank_ > inline_rank ? far_ : near_; }
  constexpr const std::int64_t* begin() const { return data(); }
  constexpr const std::int64_t* end() const { return data() + ndim(); }
  constexpr std::int64_t* begin() { return data(); }
  constexpr std::int64_t* end() { return data() + ndim(); }
  constexpr bool empty() const { return ndim() == 0; }
  constexpr std::int64_t operator[](std::integral auto i) const { return data()[i]; }
  constexpr std::int64_t& operator[](std::integral auto i) { return data()[i]; }
  constexpr std::int64_t back() const { return data()[ndim() - 1]; }
  constexpr std::int64_t& back() { return data()[ndim() - 1]; }
  constexpr std::int64_t front() const { return data()[0]; }

  constexpr void resize(int rank, std::int64_t extent = unknown_extent) {
    if (rank <= inline_rank && rank_ <= inline_rank) {
      for (int i = ndim(); i < rank; ++i) near_[i] = extent;
      rank_ = rank;
      return;
    }
    const int kept = ndim() < rank ? ndim() : rank;
    auto* extents = new std::int64_t[static_cast<std::size_t>(rank)];
    for (int i = 0; i < rank; ++i) extents[i] = i < kept ? data()[i] : extent;
    release();
    assign(extents, static_cast<std::size_t>(rank));
    delete[] extents;
  }
  constexpr void push_back(std::int64_t extent) { resize(ndim() + 1, extent); }
  constexpr void insert(int at, std::int64_t extent) {
    push_back(extent);
    for (int i = ndim() - 1; i > at; --i) (*this)[i] = (*this)[i - 1];
    (*this)[at] = extent;
  }
  constexpr void erase(int at) {
    for (int i = at; i + 1 < ndim(); ++i) (*this)[i] = (*this)[i + 1];
    resize(ndim() - 1);
  }
  constexpr operator std::span<const std::int64_t>() const { return {data(), static_cast<std::size_t>(ndim())}; }

  friend constexpr bool operator==(const Shape& a, const Shape& b) {
    if (a.rank_ != b.rank_) return false;
    for (int i = 0; i < a.ndim(); ++i)
      if (a[i] != b[i]) return false;
    return true;
  }

 private:
  static constexpr int inline_rank = 6;

  /// In constant evaluation: near_ is the member that is there, and all of it has a value.
  constexpr void begin_near() noexcept {
    if (std::is_constant_evaluated())
      for (int i = 0; i < inline_rank; ++i) near_[i] = 0;
  }
  constexpr void assign(const std::int64_t* from, std::size_t count) {
    rank_ = static_cast<int>(count);
    if (count > std::size_t{inline_rank}) {
      far_ = new std::int64_t[count];
      for (std::size_t i = 0; i < count; ++i) far_[i] = from[i];
    } else {
      begin_near();
      for (std::size_t i = 0; i < count; ++i) near_[i] = from[i];
    }
  }
  constexpr void copy(const Shape& other) {
    rank_ = other.rank_;
    if (rank_ > inline_rank) {
      copy_far(other);
    } else {
      begin_near();
      for (int i = 0; i < rank_; ++i) near_[i] = other.near_[i];
    }
  }
  [[gnu::noinline, gnu::cold]] constexpr void copy_far(const Shape& other) {
    assign(other.far_, static_cast<std::size_t>(other.rank_));
  }
  [[gnu::noinline, gnu::cold]] constexpr void release_far() { delete[] far_; }
  constexpr void steal(Shape& other) noexcept {
    rank_ = other.rank_;
    if (rank_ > inline_rank) {
      far_ = other.far_;
      other.rank_ = 0;
    } else {
      begin_near();
      for (int i = 0; i < rank_; ++i) near_[i] = other.near_[i];
    }
  }
  constexpr void release() {
    if (rank_ > inline_rank) [[unlikely]]
      release_far();
    rank_ = 0;
  }

  int rank_ = 0;
  union {
    std::int64_t near_[inline_rank];
    std::int64_t* far_;
  };
};

namespace detail {
void append_text(std::string& out, const Shape& shape);
}

/// "(2, 3)", "(4,)", "()"; an unknown extent is "?", an unknown rank "(...)".
std::string to_text(const Shape& shape);

/// Takes what `from` knows into `to`; false, and nothing taken, where the two contradict each other.
constexpr bool unify(Shape& to, const Shape& from) {
  if (!from.has_rank()) return true;
  if (!to.has_rank()) {
    to = from;
    return true;
  }
  if (to.ndim() != from.ndim()) return false;
  for (int i = 0; i < to.ndim(); ++i)
    if (to[i] >= 0 && from[i] >= 0 && from[i] != to[i]) return false;
  for (int i = 0; i < to.ndim(); ++i)
    if (to[i] < 0) to[i] = from[i];
  return true;
}

}  // namespace strop::inline v0

#if !defined(STROP_COMPILED)
#include <strop/core/shape_impl.hpp>
#endif
