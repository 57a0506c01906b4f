// SPDX-License-Identifier: Apache-2.0
/// \file
/// jvp: forward mode, the derivative of a function along given directions.
#pragma once
#include <strop/autograd/backward.hpp>
#include <strop/core/list.hpp>

#include <concepts>
#include <span>
#include <utility>
#include <vector>

namespace strop::inline v0 {
namespace detail {

/// `none`: inputs that have none, whatever is given for them, a bit each.
void check_tangents(std::string_view what, std::span<const NDArray> x, std::span<const NDArray> tangents,
                    std::uint64_t none = 0);

/// The value of f and its derivative along the tangents, f being any function of arrays whose gradient can be
/// differentiated once: uᵀ·J is linear in u, and its derivative by u along the tangents is J·tangents.
std::pair<NDArray, NDArray> push_forward(NDArray (*call)(const void* f, std::span<const NDArray> x), const void* f,
                                         std::span<const NDArray> x, std::span<const NDArray> tangents);

}  // namespace detail

/// Forward mode: y = f(x…) and dy = Σ ∂f/∂x_i · tangent_i, with a tangent of the shape of each input; what stands for
/// an input of whole numbers, which may be an empty handle, is not looked at. A map runs once,
/// on dual numbers; other operators go through two backward passes and need a gradient that has a gradient. `auto [y,
/// dy] = jvp(quadratic, {x}, {v}, {.a = 1});` Of an operator with one visible output. Throws Error for tangents of
/// other shapes. Of a map, and recorded, dy can be differentiated again: grad of it is a Hessian's product with the
/// tangents.
template <class T, class When>
std::pair<NDArray, NDArray> jvp(const Op<T, When>& op, std::initializer_list<NDArray> x,
                                std::initializer_list<NDArray> tangents, const T& params = {}) {
  const std::span<const NDArray> inputs(x.begin(), x.size()), along(tangents.begin(), tangents.size());
  const std::uint64_t whole = Op<T, When>::entry().whole;
  detail::check_tangents(Op<T, When>::entry().snake, inputs, along, whole);
  if constexpr (AnyMap<T> && !GradComposes<T> && !MutatesInputs<T> && !HasZeroGradient<T>) {
    static_assert(detail::results<T> == 1, "strop: jvp takes an operator with one output");
    detail::List<const NDArray*, 8> in;
    for (const NDArray& a : inputs) in.push_back(&a);
    for (std::size_t i = 0; i < along.size(); ++i)
      if ((whole >> i & 1U) == 0) in.push_back(&along[i]);
    NDArray out[2];
    detail::dispatch(detail::EntryOf<Tangent<T>>::value, &params, in, out);
    return {std::move(out[0]), std::move(out[1])};
  } else {
    struct Bound {
      const Op<T, When>& op;
      const T& params;
    } bound{op, params};
    return detail::push_forward(
        [](const void* f, std::span<const NDArray> in) {
          const Bound& with = *static_cast<const Bound*>(f);
          return NDArray(with.op(in, with.params));
        },
        &bound, inputs, along);
  }
}

/// The same for a function of arrays: `auto [y, dy] = jvp([](std::span<const NDArray> x) { return dot(x[0], x[1]); },
/// {a, b}, {da, db});`.
template <class F>
  requires std::is_invocable_r_v<NDArray, const F&, std::span<const NDArray>>
std::pair<NDArray, NDArray> jvp(const F& f, std::initializer_list<NDArray> x, std::initializer_list<NDArray> tangents) {
  const std::span<const NDArray> inputs(x.begin(), x.size()), along(tangents.begin(), tangents.size());
  detail::check_tangents("the function", inputs, along);
  return detail::push_forward(
      [](const void* object, std::span<const NDArray> in) -> NDArray { return (*static_cast<const F*>(object))(in); },
      &f, inputs, along);
}

}  // namespace strop::inline v0

#if !defined(STROP_COMPILED)
#include <strop/autograd/jvp_impl.hpp>
#endif
