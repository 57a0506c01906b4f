// SPDX-License-Identifier: Apache-2.0
/// \file
/// Bodies of the operators of ops/reduce.hpp, which only what builds their kernels reads.
#pragma once
#include <strop/ops/cast_body.hpp>
#include <strop/ops/reduce.hpp>
#include <strop/ops/reduce_kernels_body.hpp>
#include <strop/ops/reduce_safe.hpp>
#include <strop/ops/reduce_sparse_body.hpp>

namespace strop::inline v0 {

template <Real E>
inline void ReduceGradient::forward(Cpu&, const NDArray& dy, const NDArray&, NDArray& dx) const {
  const detail::ReducePlan plan(dx.shape(), axis, exclude);
  const E factor = mean ? E(1) / static_cast<E>(plan.reduced) : E(1);
  detail::spread(plan, dx.shape(), dy.pointer<const E>(), dx.pointer<E>(), factor);
}

template <detail::Summable E>
inline void Sum::forward(Cpu& ctx, const NDArray& x, NDArray& y) const {
  detail::reduce_array<detail::AddStep, E>(ctx, x, y, axis, exclude);
}

inline NDArray Sum::spread_gradient(const NDArray& dy, const Shape& x) const {
  return detail::spread_shape(dy, x, axis, exclude, name);
}

template <Real E>
inline void Mean::forward(Cpu& ctx, const NDArray& x, NDArray& y) const {
  detail::mean_array<E>(ctx, x, y, axis, exclude);
}

inline NDArray Mean::spread_gradient(const NDArray& dy, const Shape& x) const {
  return detail::scaled(detail::spread_shape(dy, x, axis, exclude, name),
                        static_cast<double>(dy.size()) / static_cast<double>(x.size()));
}

template <detail::Summable E>
inline void Prod::forward(Cpu& ctx, View<const E> x, View<E> y) const {
  detail::reduce<detail::MultiplyStep>(ctx, x, y, detail::ReducePlan(x.shape(), axis, exclude));
}

template <Real E>
inline void Prod::grad_use_in_out(Cpu&, View<const E> dy, View<const E> x, View<const E> y, View<E> dx) const {
  detail::spread_product(detail::ReducePlan(x.shape(), axis, exclude), x, dy, y, dx);
}

template <Real E>
inline void Nansum::forward(Cpu& ctx, View<const E> x, View<E> y) const {
  detail::reduce<detail::AddNumbersStep>(ctx, x, y, detail::ReducePlan(x.shape(), axis, exclude));
}

template <Real E>
inline void Nansum::grad_use_in(Cpu&, View<const E> dy, View<const E> x, View<E> dx) const {
  detail::spread(detail::ReducePlan(x.shape(), axis, exclude), x.shape(), dy.data(), dx.data(), E(1));
  for (std::int64_t i = 0; i < x.size(); ++i)
    if (x[i] != x[i]) dx[i] = 0;
}

template <Real E>
inline void Nanprod::forward(Cpu& ctx, View<const E> x, View<E> y) const {
  detail::reduce<detail::MultiplyNumbersStep>(ctx, x, y, detail::ReducePlan(x.shape(), axis, exclude));
}

template <Real E>
inline void Nanprod::grad_use_in_out(Cpu& ctx, View<const E> dy, View<const E> x, View<const E> y, View<E> dx) const {
  const View<E, 1> numbers = ctx.temp<E>(x.size());
  for (std::int64_t i = 0; i < x.size(); ++i) numbers[i] = x[i] == x[i] ? x[i] : E(1);
  detail::spread_product(detail::ReducePlan(x.shape(), axis, exclude), View<const E>(numbers.data(), x.shape()), dy, y,
                         dx);
  for (std::int64_t i = 0; i < x.size(); ++i)
    if (x[i] != x[i]) dx[i] = 0;
}

template <detail::Summable E>
inline void Max::forward(Cpu& ctx, const NDArray& x, NDArray& y) const {
  detail::reduce_array<detail::MaxStep, E>(ctx, x, y, axis, exclude);
}

template <Real E>
inline void Max::grad_use_in_out(Cpu&, const NDArray& dy, const NDArray& x, const NDArray& y, NDArray& dx) const {
  detail::spread_equal<E>(dy, x, y, dx, axis, exclude);
}

template <detail::Summable E>
inline void Min::forward(Cpu& ctx, const NDArray& x, NDArray& y) const {
  detail::reduce_array<detail::MinStep, E>(ctx, x, y, axis, exclude);
}

template <Real E>
inline void Min::grad_use_in_out(Cpu&, const NDArray& dy, const NDArray& x, const NDArray& y, NDArray& dx) const {
  detail::spread_equal<E>(dy, x, y, dx, axis, exclude);
}

template <Real E>
inline void Norm::forward(Cpu& ctx, const NDArray& x, NDArray& y) const {
  if constexpr (std::same_as<E, float>)
    if (y.dtype() == f64) return forward<double>(ctx, as<double>(x), y);
  const NDArray result = y.dtype() == dtype_of<E> ? y : NDArray(y.shape(), dtype_of<E>);
  if (ord == 1)
    detail::reduce_array<detail::AddMagnitudeStep, E>(ctx, x, result, axis, false);
  else
    detail::euclidean_norm<E>(ctx, x, result, axis);
  if (!result.is(y)) detail::assign(result, y);
}

template <Real E>
inline void Norm::grad_use_in_out(Cpu& ctx, const NDArray& head, const NDArray& data, const NDArray& output,
                                  NDArray& gradient) const {
  if constexpr (std::same_as<E, float>)  // the wider type of data and result
    if (data.dtype() == f64) return grad_use_in_out<double>(ctx, head, data, output, gradient);
  const NDArray dy = as<E>(head), x = as<E>(data), y = as<E>(output),
                dx = gradient.dtype() == dtype_of<E>
                         ? gradient
                         : NDArray(data.shape(), dtype_of<E>, gradient.device(), gradient.storage());
  detail::spread_by<E>(dy, x, y, dx, axis, false, [&](E element, E slope, E length) {
    if (ord == 1) return slope * static_cast<E>((element > 0) - (element < 0));
    return length == 0 ? slope * E(0) : slope * (element / length);
  });
  if (!dx.is(gradient)) detail::assign(dx, gradient);
}

template <class E>
inline NDArray Norm::as(const NDArray& a) {
  if (a.dtype() == dtype_of<E>) return a;
  NDArray converted(a.shape(), dtype_of<E>, a.device(), a.storage());
  detail::assign(a, converted);
  return converted;
}

template <bool Largest>
template <detail::Located E>
inline void ArgExtreme<Largest>::forward(Cpu&, View<const E> x, View<E> y) const {
  detail::reduce_position<Largest>(detail::ReducePlan(x.shape(), axis ? Axes(*axis) : Axes(), false), x, y);
}

template <detail::Located E>
inline void ArgmaxChannel::forward(Cpu& ctx, View<const E> x, View<E> y) const {
  Argmax{.axis = 1}.forward<E>(ctx, x, y);
}

}  // namespace strop::inline v0
