// SPDX-License-Identifier: Apache-2.0
/// \file
/// check_gradient: an operator's gradient against finite differences, in double precision.
#pragma once
#include <strop/autograd/backward.hpp>
#include <strop/tensor/print.hpp>

#include <fmt/core.h>
#include <string>

namespace strop::inline v0 {

/// What check_gradient found. `if (result)` is true when all gradients agree; printed, it says where they differ most.
struct [[nodiscard]] GradientCheck {
  bool passed = true;
  double worst = 0;  // |backward − difference| / (atol + rtol·|difference|)
  std::string text;
  explicit operator bool() const { return passed; }
  friend std::string text_of(const GradientCheck& check) { return check.text; }
};

struct GradientTolerance {
  double rtol = 1e-4, atol = 1e-6, step = 1e-5;
};

namespace detail {
inline std::vector<NDArray> outputs_of(NDArray y) { return {std::move(y)}; }
inline std::vector<NDArray> outputs_of(std::vector<NDArray> y) { return y; }
/// Whether the operator takes all inputs as double.
bool takes_doubles(const Entry& entry, const void* op, Index inputs);
/// `call(context, inputs)` runs the operator on arrays of doubles, integers among them or as they are.
GradientCheck compare_gradients(std::string_view name, bool integers_too, std::span<const NDArray> in,
                                GradientTolerance tolerance,
                                std::vector<NDArray> (*call)(const void*, std::span<const NDArray>),
                                const void* context);
}  // namespace detail

/// Compares backward with central differences at the given inputs, in double, for every element of every input; but for
/// inputs of integers that the operator does not take as double, such as a mask or labels, which stay what they are.
/// `check_gradient(op, {x, y})`, `check_gradient(op, {x}, {.a = 1})`; a relative tolerance of 1e-4 unless given.
template <class T, class When>
GradientCheck check_gradient(const Op<T, When>& op, std::span<const NDArray> in, const T& params = {},
                             GradientTolerance tolerance = {}) {
  struct Bound {
    const Op<T, When>& op;
    const T& params;
  } bound{op, params};
  return detail::compare_gradients(
      Op<T, When>::entry().snake, detail::takes_doubles(Op<T, When>::entry(), &params, std::ssize(in)), in, tolerance,
      [](const void* c, std::span<const NDArray> x) {
        const Bound& with = *static_cast<const Bound*>(c);
        return detail::outputs_of(with.op(x, with.params));
      },
      &bound);
}
template <class T, class When>
GradientCheck check_gradient(const Op<T, When>& op, std::initializer_list<NDArray> in, const T& params = {},
                             GradientTolerance tolerance = {}) {
  return check_gradient(op, std::span<const NDArray>(in.begin(), in.size()), params, tolerance);
}

}  // namespace strop::inline v0

template <>
struct fmt::formatter<strop::GradientCheck> : strop::detail::TextFormatter<strop::GradientCheck> {};

#if !defined(STROP_COMPILED)
#include <strop/autograd/check_gradient_impl.hpp>
#endif
