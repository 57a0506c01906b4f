// SPDX-License-Identifier: Apache-2.0
/// \file
/// check_gradient: an operator's gradient against finite differences, in double precision.
#pragma once
#include <strop/autograd/backward.hpp>

#include <cmath>
#include <fmt/core.h>
#include <string>

namespace strop::inline v0 {

/// What check_gradient found. `if (result)` is true when all gradients agree; printed, it says where they differ most.
struct GradientCheck {
  bool passed = true;
  double worst = 0;  // |backward − difference| / (atol + rtol·|difference|)
  std::string text;
  explicit operator bool() const { return passed; }
};

struct GradientTolerance {
  double rtol = 1e-4, atol = 1e-6, step = 1e-5;
};

namespace detail {
/// Head gradients that differ from element to element, so that no error hides behind symmetry.
inline double head_weight(std::int64_t i) { return 0.5 + static_cast<double>((i * 7919 + 13) % 101) / 101.0; }

inline NDArray as_f64(const NDArray& a) {
  const NDArray source = dense_on_host(a);
  NDArray copy(a.shape(), f64);
  convert_elements(source.dtype(), source.bytes(), f64, copy.bytes(), a.size());
  return copy;
}

/// Σ over the outputs of weight · element.
inline double weighted_sum(std::span<const NDArray> outputs) {
  double sum = 0;
  for (const NDArray& y : outputs) {
    const NDArray d = as_f64(y);
    for (std::int64_t i = 0; i < d.size(); ++i) sum += head_weight(i) * d.pointer<double>()[i];
  }
  return sum;
}

inline std::vector<NDArray> outputs_of(NDArray y) { return {std::move(y)}; }
inline std::vector<NDArray> outputs_of(std::vector<NDArray> y) { return y; }

/// `call(context, inputs)` runs the operator on arrays of doubles.
inline GradientCheck compare_gradients(std::string_view name, std::span<const NDArray> in, GradientTolerance tolerance,
                                       std::vector<NDArray> (*call)(const void*, std::span<const NDArray>), const void* context) {
  GradientCheck result;
  std::vector<NDArray> x;
  for (const NDArray& a : in) x.push_back(as_f64(a));
  for (const NDArray& a : x) a.attach_grad();
  std::vector<NDArray> y;
  {
    record scope;
    y = call(context, x);
  }
  std::vector<NDArray> heads;
  for (const NDArray& a : y) {
    NDArray head(a.shape(), f64);
    for (std::int64_t i = 0; i < head.size(); ++i) head.pointer<double>()[i] = head_weight(i);
    heads.push_back(head);
  }
  backward(y, heads);
  std::size_t checked = 0;
  for (std::size_t k = 0; k < x.size(); ++k) {
    const NDArray gradient = x[k].grad();
    for (std::int64_t i = 0; i < x[k].size(); ++i, ++checked) {
      double& element = x[k].pointer<double>()[i];
      const double at = element, step = tolerance.step * std::max(1.0, std::abs(at));
      train_mode training;
      element = at + step;
      const double above = weighted_sum(call(context, x));
      element = at - step;
      const double below = weighted_sum(call(context, x));
      element = at;
      const double difference = (above - below) / (2 * step), given = gradient.pointer<double>()[i];
      const double error = std::abs(given - difference) / (tolerance.atol + tolerance.rtol * std::abs(difference));
      const bool nan = !(error == error);
      if (nan || error > result.worst) {
        result.worst = nan ? INFINITY : error;
        result.text = fmt::format("{}: gradient of input {} at element {} (x = {}): backward gives {}, differences give {}", name, k, i, at, given, difference);
      }
    }
  }
  result.passed = result.worst <= 1;
  if (result.passed) result.text = fmt::format("{}: {} gradients agree with differences; nearest to the bound: {}", name, checked, result.text);
  return result;
}
}  // namespace detail

/// Compares backward with central differences at the given inputs, in double, for every element of every input.
/// `check_gradient(op, {x, y})`, `check_gradient(op, {x}, {.a = 1})`; a relative tolerance of 1e-4 unless given.
template <class T, class When>
GradientCheck check_gradient(const Op<T, When>& op, std::initializer_list<NDArray> in, const T& params = {}, GradientTolerance tolerance = {}) {
  struct Bound {
    const Op<T, When>& op;
    const T& params;
  } bound{op, params};
  return detail::compare_gradients(
      Op<T, When>::entry().snake, {in.begin(), in.size()}, tolerance,
      [](const void* c, std::span<const NDArray> x) {
        const Bound& with = *static_cast<const Bound*>(c);
        return detail::outputs_of(with.op(x, with.params));
      },
      &bound);
}

}  // namespace strop::inline v0

template <>
struct fmt::formatter<strop::GradientCheck> {
  constexpr auto parse(fmt::format_parse_context& context) { return context.begin(); }
  template <class Context>
  auto format(const strop::GradientCheck& check, Context& context) const {
    auto out = context.out();
    for (const char c : check.text) *out++ = c;
    return out;
  }
};
