// SPDX-License-Identifier: Apache-2.0
/// \file
/// Tensor operators: functions of whole tensors, written per device on typed views.
///
///  1. `void forward(strop::Cpu& ctx, strop::View<const E, N> in…, strop::View<E, N> out…) const`, and the same with
///     strop::Cuda&; E is fixed or the member's template argument, and std::span<const View> is any number of inputs.
///  2. Every input stands before every output.
///  3. It has an output: a view to write that is no input of `mutates`.
///  4. forward of every device takes the same tensors.
#pragma once
#include <strop/op/concepts/map.hpp>
#include <strop/op/context.hpp>

#include <cstdint>

namespace strop::inline v0 {
namespace detail {
// Asked only of what is no map: naming a map's member for a type would instantiate its body.
#define STROP_ON_DEVICE(member)                                                    \
  template <class T, class Ctx>                                                    \
  constexpr bool member##_on() {                                                   \
    if constexpr (AnyMap<T>)                                                       \
      return false;                                                                \
    else                                                                           \
      return requires { signature_on<Ctx>(&T::member); } ||                        \
             requires { signature_on<Ctx>(&T::template member<float>); } ||        \
             requires { signature_on<Ctx>(&T::template member<std::int64_t>); } || \
             requires { signature_on<Ctx>(&T::template member<>); };               \
  }                                                                                \
  template <class T>                                                               \
  constexpr bool member##_on_any() {                                               \
    if constexpr (member##_on<T, Cpu>())                                           \
      return true;                                                                 \
    else                                                                           \
      return member##_on<T, Cuda>();                                               \
  }
STROP_ON_DEVICE(forward)
STROP_ON_DEVICE(grad_use_in)
STROP_ON_DEVICE(grad_use_out)
STROP_ON_DEVICE(grad_use_none)
STROP_ON_DEVICE(grad_use_in_out)
STROP_ON_DEVICE(grad)
#undef STROP_ON_DEVICE
}  // namespace detail

/// Clause 1, for one device at least.
template <class T>
concept TensorOp = detail::NamesForward<T> && detail::forward_on_any<T>();

}  // namespace strop::inline v0
