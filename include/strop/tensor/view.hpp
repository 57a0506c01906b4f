// SPDX-License-Identifier: Apache-2.0
/// \file
/// Typed, non-owning views of array memory: what a tensor operator's forward receives.
#pragma once
#include <strop/core/dtype.hpp>

#include <array>
#include <cstdint>
#include <span>
#include <type_traits>

namespace strop::inline v0 {

/// The rank of a view that takes arrays of any rank.
inline constexpr int any_rank = -1;

/// Row-major, contiguous elements with `Rank` extents. `View<const E, 2>` reads, `View<E, 2>` writes.
template <class E, int Rank = any_rank>
class View {
 public:
  using Element = E;
  using Extents = std::array<std::int64_t, static_cast<std::size_t>(Rank)>;
  static constexpr int rank = Rank;

  View() = default;
  constexpr View(E* data, const Extents& shape) : data_(data), shape_(shape) {}
  /// A view that writes is also one that reads.
  template <class C>
    requires(std::is_same_v<C, const E> && !std::is_const_v<E>)
  constexpr operator View<C, Rank>() const {
    return {data_, shape_};
  }

  constexpr E* data() const { return data_; }
  constexpr const Extents& shape() const { return shape_; }
  static constexpr int ndim() { return Rank; }
  constexpr std::int64_t size() const {
    std::int64_t n = 1;
    for (std::int64_t extent : shape_) n *= extent;
    return n;
  }
  /// Whether there is an array behind it (an optional input may be absent).
  constexpr explicit operator bool() const { return data_ != nullptr; }
  constexpr bool defined() const { return data_ != nullptr; }

  /// Element at the indices; not checked.
  template <class... I>
    requires(sizeof...(I) == Rank)
  constexpr E& operator()(I... i) const {
    std::int64_t at = 0;
    std::size_t k = 0;
    ((at = at * shape_[k++] + static_cast<std::int64_t>(i)), ...);
    return data_[at];
  }
  /// Element by its position in memory, counted from 0; not checked.
  constexpr E& operator[](std::int64_t i) const { return data_[i]; }
  constexpr E* begin() const { return data_; }
  constexpr E* end() const { return data_ + size(); }

 private:
  E* data_ = nullptr;
  Extents shape_{};
};

/// A view of any rank: the extents are those of the array, which outlives the call.
template <class E>
class View<E, any_rank> {
 public:
  using Element = E;
  static constexpr int rank = any_rank;

  View() = default;
  constexpr View(E* data, std::span<const std::int64_t> shape) : data_(data), shape_(shape) {}
  template <class C>
    requires(std::is_same_v<C, const E> && !std::is_const_v<E>)
  constexpr operator View<C, any_rank>() const {
    return {data_, shape_};
  }

  constexpr E* data() const { return data_; }
  constexpr std::span<const std::int64_t> shape() const { return shape_; }
  constexpr int ndim() const { return static_cast<int>(shape_.size()); }
  constexpr std::int64_t size() const {
    std::int64_t n = 1;
    for (std::int64_t extent : shape_) n *= extent;
    return n;
  }
  constexpr explicit operator bool() const { return data_ != nullptr; }
  constexpr bool defined() const { return data_ != nullptr; }
  constexpr E& operator[](std::int64_t i) const { return data_[i]; }
  constexpr E* begin() const { return data_; }
  constexpr E* end() const { return data_ + size(); }

 private:
  E* data_ = nullptr;
  std::span<const std::int64_t> shape_;
};

/// A matrix in compressed rows, read only: row i stores elements indptr[i] … indptr[i + 1] − 1.
template <class E>
struct CsrView {
  std::int64_t rows = 0, cols = 0;
  View<const E, 1> data;
  View<const std::int64_t, 1> indices;
  View<const std::int64_t, 1> indptr;
  std::int64_t nnz() const { return data.shape()[0]; }
};

/// A subset of the rows of an array, read only: `data[k]` is row `indices[k]` of a `shape`-shaped array.
template <class E>
struct RowSparseView {
  std::span<const std::int64_t> shape;
  View<const E, 2> data;  // stored rows × elements of a row
  View<const std::int64_t, 1> indices;
  std::int64_t rows() const { return shape[0]; }
  std::int64_t stored() const { return indices.shape()[0]; }
};

}  // namespace strop::inline v0
