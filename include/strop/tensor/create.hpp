// SPDX-License-Identifier: Apache-2.0
/// \file
/// New arrays: from literals, containers and foreign memory; constants and ranges.
#pragma once
#include <strop/tensor/literal.hpp>
#include <strop/tensor/ndarray.hpp>

#include <cstdint>
#include <initializer_list>
#include <type_traits>
#include <utility>
#include <vector>

namespace strop::inline v0 {

/// The array that nested braces spell, at any depth: `array({1, 2.5})`, `array<double>({{0, 1}, {2, 0}})`. Error where
/// lists of one level differ in length.
template <Element T = float>
NDArray array(std::initializer_list<detail::Literal> values) {
  return detail::from_literal(values, dtype_of<T>);
}

namespace detail {
/// Elements `from` to `from + count` of start, start + step, …, each `repeat` times.
void fill_range(Dtype dtype, std::byte* to, const Scalar& start, const Scalar& step, std::int64_t from,
                std::int64_t count, std::int64_t repeat);

/// An array of one value.
NDArray filled(const Shape& shape, const Scalar& value, Dtype dtype, Device device);
}  // namespace detail

/// A copy of the elements of a container, with the dtype of its elements.
template <detail::ElementRange R>
NDArray array(const R& values, const Shape& shape) {
  const auto* from = values.data();
  return detail::from_range(from, static_cast<std::int64_t>(values.size()),
                            dtype_of<std::remove_pointer_t<decltype(from)>>, shape);
}
template <detail::ElementRange R>
NDArray array(const R& values) {
  return array(values, Shape{static_cast<std::int64_t>(values.size())});
}

/// An array without dimensions that holds one number.
inline NDArray scalar(const Scalar& value, Dtype dtype = f32) { return detail::filled({}, value, dtype, cpu()); }

/// An array whose elements are not set.
inline NDArray empty(const Shape& shape, Dtype dtype = f32, Device device = cpu()) {
  return NDArray(shape, dtype, device);
}

/// An array of one value.
inline NDArray full(const Shape& shape, const Scalar& value, Dtype dtype = f32, Device device = cpu()) {
  return detail::filled(shape, value, dtype, device);
}
inline NDArray full(const Shape& shape, const Scalar& value, Device device) {
  return detail::filled(shape, value, f32, device);
}

inline NDArray zeros(const Shape& shape, Dtype dtype = f32, Device device = cpu()) {
  return full(shape, 0, dtype, device);
}
inline NDArray zeros(const Shape& shape, Device device) { return full(shape, 0, f32, device); }
/// A sparse array that stores nothing (or a dense one of zeros).
NDArray zeros(const Shape& shape, Storage storage, Dtype dtype = f32, Device device = cpu());

inline NDArray ones(const Shape& shape, Dtype dtype = f32, Device device = cpu()) {
  return full(shape, 1, dtype, device);
}
inline NDArray ones(const Shape& shape, Device device) { return full(shape, 1, f32, device); }

/// start, start + step, … up to but not including stop: ⌈(stop − start) / step⌉ elements, none where that is negative.
NDArray arange(const Scalar& start, const Scalar& stop, const Scalar& step, Dtype dtype = f32, Device device = cpu());
inline NDArray arange(const Scalar& start, const Scalar& stop, Dtype dtype = f32, Device device = cpu()) {
  return arange(start, stop, 1, dtype, device);
}
inline NDArray arange(const Scalar& stop) { return arange(0, stop, 1); }

/// An array over foreign memory: row-major elements at `data`, which nobody else writes while a call uses it. Operators
/// on it have been computed when the call returns. The last array that shares it calls a copy of `release` once, with
/// the address. On an Error the memory stays the caller's.
template <Element T, class Release>
  requires std::is_invocable_v<std::decay_t<Release>&, void*>
NDArray from_pointer(T* data, const Shape& shape, Release&& release) {
  using Callable = std::decay_t<Release>;
  const std::int64_t bytes = detail::byte_count(shape, dtype_of<T>);
  if (data == nullptr && bytes != 0) fail("strop: from_pointer() of a null pointer with shape ", to_text(shape));
  NDArray out = NDArray::shell(shape, dtype_of<T>);
  struct Held {
    Callable* callable;
    ~Held() { delete callable; }
  } held{new Callable(std::forward<Release>(release))};
  const auto give_back = [](void* context, void* memory) noexcept {
    const Held last{static_cast<Callable*>(context)};
    (*last.callable)(memory);
  };
  out.body().buffer = detail::Ref(new detail::Buffer(cpu(), bytes, data, give_back, held.callable));
  held.callable = nullptr;
  return out;
}
/// An array over foreign memory that outlives it.
template <Element T>
NDArray from_pointer(T* data, const Shape& shape) {
  return from_pointer(data, shape, [](void*) {});
}

}  // namespace strop::inline v0

#if !defined(STROP_COMPILED)
#include <strop/tensor/create_impl.hpp>
#endif
