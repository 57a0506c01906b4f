// SPDX-License-Identifier: Apache-2.0
/// \file
/// What the kernels of the library's operators share: element types, arrays as kernels see them. For what is
/// specialised of LibraryKernels.
#pragma once
#include <strop/cuda/block.hpp>
#include <strop/cuda/launches.hpp>
#include <strop/tensor/cast.hpp>
#include <strop/tensor/ndarray.hpp>

#include <cstdint>

namespace strop::inline v0::cuda {

/// Calls f(E{}) with the element type E of the arrays. Error, with the operator's name, of a type without a kernel.
template <bool Whole, class F>
void with_elements(const Entry& entry, Dtype type, const F& f) {
  if (type == f32) return f(float{});
  if (type == f64) return f(double{});
  if (type == f16) return f(half{});
  if (type == bf16) return f(bfloat16{});
  if constexpr (Whole) {
    if (type == i8) return f(std::int8_t{});
    if (type == u8) return f(std::uint8_t{});
    if (type == i32) return f(std::int32_t{});
    if (type == i64) return f(std::int64_t{});
  }
  fail(entry.snake, ": has no kernel of ", name_of(type), " for GPUs");
}

template <class E>
Global<const E> elements_of(const NDArray& a) {
  return {a.allocated() && a.size() != 0 ? a.pointer<const E>() : nullptr, a.size()};
}
template <class E>
Global<E> results_of(const NDArray& a) {
  return {a.size() != 0 ? a.pointer<E>() : nullptr, a.size()};
}
/// The same array, or a copy on its device in another type.
inline NDArray of_type(const NDArray& a, Dtype type) { return a.dtype() == type ? a : detail::as_type(a, type); }
/// Calls f with an array of the type that becomes `to`, which is that array where it has the type.
template <class F>
void into_type(const NDArray& to, Dtype type, const F& f) {
  if (to.dtype() == type) return f(to);
  const NDArray made = NDArray::fresh(to.shape(), type, to.device());
  f(made);
  if (made.size() != 0)
    detail::convert_elements_on(to.device(), type, made.bytes(), to.dtype(), to.bytes(), made.size());
}

}  // namespace strop::inline v0::cuda
