// SPDX-License-Identifier: Apache-2.0
/// \file
/// Rows of the tests of element-wise operators, and the check that no operator of a family is without one.
#pragma once
#include <strop/ops/list.hpp>
#include "harness.hpp"

#include <algorithm>
#include <limits>
#include <string_view>

namespace ops_test {

inline constexpr double NaN = std::numeric_limits<double>::quiet_NaN();
inline constexpr double Inf = std::numeric_limits<double>::infinity();
using Numbers = std::vector<double>;

/// Names of the operators that had a row in this program.
inline std::vector<std::string_view>& rows_seen() {
  static std::vector<std::string_view> names;
  return names;
}
inline void saw(const Subject& s) { rows_seen().push_back(s.entry->name); }

/// `of`: which operators of the list, by their names.
template <class... T>
void check_covered(strop::OpList<T...>, bool (*of)(std::string_view name) = [](std::string_view) { return true; }) {
  for (std::string_view name : {strop::detail::operator_name<T>()...})
    CHECK_MESSAGE((!of(name) || std::ranges::find(rows_seen(), name) != rows_seen().end()), "no row for ", name);
}

/// Six numbers as an array of shape (2, 3).
inline NDArray grid(const Numbers& x, Dtype dtype = strop::f32) {
  NDArray a({2, 3}, strop::f64);
  std::copy(x.begin(), x.end(), a.pointer<double>());
  return with_dtype(a, dtype);
}

/// The f64 kernel against the C library, to a few units in the last place.
inline void check_double(const Subject& s, const Numbers& x, double (*reference)(double)) {
  if (reference == nullptr) return;
  Numbers wanted;
  for (double e : x) wanted.push_back(reference(e));
  const NDArray y = call(s, {grid(x, strop::f64)})[0];
  expect(s, "in double", difference(y, wanted, y.shape(), {4e-15, 1e-300}));
}

/// One input: at `x` the function is smooth and everything is checked, at `edges` the gradient is not. `y` and
/// `at_edges` are what MXNet 1.9.1 gives in float32.
template <class T, class When>
void row(const strop::Op<T, When>& op, const Numbers& x, const Numbers& y, const Numbers& edges,
         const Numbers& at_edges, double (*reference)(double), T params = {}, Parts parts = {}) {
  const Subject smooth = subject(op, {grid(x)}, params), rough = subject(op, {grid(edges)}, params);
  saw(smooth);
  check_values(smooth, y, {2e-6, 1e-7});
  check_values(rough, at_edges, {2e-6, 1e-7});
  check_double(smooth, x, reference);
  battery(smooth, parts);
  parts.gradient = parts.dtypes = false;
  battery(rough, parts);
}

/// Two inputs where the function is smooth, and two with zeros and ties, where the gradient is not compared with
/// differences. `y` and `at_zeros` are what MXNet 1.9.1 gives in float32. Types are compared on small positive numbers.
template <class T, class When>
void row2(const strop::Op<T, When>& op, const std::vector<Numbers>& x, const Numbers& y,
          const std::vector<Numbers>& zeros, const Numbers& at_zeros, Parts parts = {}) {
  const Subject smooth = subject(op, {grid(x[0]), grid(x[1])}), rough = subject(op, {grid(zeros[0]), grid(zeros[1])});
  const Subject small = subject(op, {grid({3, 2, 5, 7, 9, 4}), grid({1, 2, 2, 1, 2, 3})});
  saw(smooth);
  check_values(smooth, y, {2e-6, 1e-7});
  check_values(rough, at_zeros, {2e-6, 1e-7});
  check_dtypes(small);
  check_refused_dtypes(small);
  parts.dtypes = false;
  battery(smooth, parts);
  parts.gradient = false;
  battery(rough, parts);
}

/// Shapes that broadcast: (2, 3) with a row, a column, a vector and a single number, either way round.
template <class T, class When>
void row_broadcast(const strop::Op<T, When>& op, double (*reference)(double, double), bool gradient = true) {
  const NDArray whole = grid({1.25, 2.5, 3.75, 1.5, 2.25, 5});
  const Numbers some{2, 0.8, 3.5};
  const auto of_shape = [&](const Shape& shape) {
    return strop::array(Numbers(some.begin(), some.begin() + shape.size()), shape).to(strop::f32);
  };
  for (const Shape& shape : {Shape{1, 3}, Shape{2, 1}, Shape{3}, Shape{1}, Shape{}, Shape{1, 1}})
    for (bool whole_first : {true, false}) {
      const NDArray part = of_shape(shape);
      const Subject s = whole_first ? subject(op, {whole, part}) : subject(op, {part, whole});
      Numbers wanted;
      const Numbers w = values(whole), p = values(part);
      for (std::size_t i = 0; i < 6; ++i) {
        const double e = p[p.size() == 3 ? i % 3 : p.size() == 2 ? i / 3 : 0];
        wanted.push_back(whole_first ? reference(w[i], e) : reference(e, w[i]));
      }
      check_values(s, wanted, {2e-6, 1e-7});
      check_requests(s);
      check_views(s);
      if (gradient) check_gradient(s);
    }
  const Subject s = subject(op, {whole, strop::array({1, 2})});
  CHECK_MESSAGE(error_of([&] { call(s); }) ==
                    strop::cat(s.entry->snake, ": input 'rhs' has shape (2,), which does not broadcast with (2, 3)"),
                s.name());
}

/// The number on the right is a parameter.
template <class T, class When>
void row_scalar(const strop::Op<T, When>& op, double scalar, const Numbers& x, const Numbers& y, const Numbers& zeros,
                const Numbers& at_zeros, Parts parts = {}) {
  T params;
  params.scalar = scalar;
  const Subject smooth = subject(op, {grid(x)}, params), rough = subject(op, {grid(zeros)}, params),
                small = subject(op, {grid({3, 2, 5, 1, 4, 3})}, params);
  saw(smooth);
  check_values(smooth, y, {2e-6, 1e-7});
  check_values(rough, at_zeros, {2e-6, 1e-7});
  if (parts.dtypes) check_dtypes(small);
  check_refused_dtypes(small);
  parts.dtypes = false;
  battery(smooth, parts);
  parts.gradient = false;
  battery(rough, parts);
}

}  // namespace ops_test
