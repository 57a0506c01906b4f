// SPDX-License-Identifier: Apache-2.0
/// \file
/// Numbers and nested braced lists of numbers as function arguments: `array({{0, 1.5}, {2, 0}})`.
#pragma once
#include <strop/core/scalar.hpp>
#include <strop/tensor/ndarray.hpp>

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <type_traits>

namespace strop::inline v0::detail {

/// A number, or a braced list of such: lives as long as the expression that it is written in.
class Literal {
 public:
  template <class N>
    requires(std::convertible_to<N, Scalar> && !std::same_as<N, Literal>)
  constexpr Literal(N number) : number_(number) {}
  constexpr Literal(std::initializer_list<Literal> list) : list_(list), is_list_(true) {}

  constexpr bool is_list() const { return is_list_; }
  constexpr const Scalar& number() const { return number_; }
  constexpr const Literal* begin() const { return list_.begin(); }
  constexpr const Literal* end() const { return list_.end(); }
  constexpr std::int64_t count() const { return static_cast<std::int64_t>(list_.size()); }

 private:
  Scalar number_;
  std::initializer_list<Literal> list_;
  bool is_list_ = false;
};

/// std::vector, std::array, std::span and their like, of a type that an array can hold.
template <class R>
concept ElementRange = requires(const R& values) {
  requires std::is_pointer_v<decltype(values.data())>;
  requires Element<std::remove_cv_t<std::remove_pointer_t<decltype(values.data())>>>;
  static_cast<std::int64_t>(values.size());
};

/// The array that a literal spells; a number alone has no dimension.
NDArray from_literal(const Literal& literal, Dtype dtype);

/// A copy of `count` elements under a shape that must have as many.
NDArray from_range(const void* values, std::int64_t count, Dtype dtype, const Shape& shape);

}  // namespace strop::inline v0::detail

#if !defined(STROP_COMPILED)
#include <strop/tensor/literal_impl.hpp>
#endif
