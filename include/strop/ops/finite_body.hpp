// SPDX-License-Identifier: Apache-2.0
/// \file
/// Bodies of the operators of ops/finite.hpp, which only what builds their kernels reads.
#pragma once
#include <strop/ops/finite.hpp>
#include <strop/tensor/cast.hpp>

#include <algorithm>
#include <cstdint>
#include <span>

namespace strop::inline v0 {

namespace detail {

/// f(values, count) for stretches of an array's elements as doubles, until one is false; whether none was.
template <class F>
bool each_stretch_as_double(const NDArray& a, F f) {
  constexpr std::int64_t most = 512;
  double values[most];
  for (std::int64_t at = 0, n; at < a.size(); at += n) {
    n = std::min(most, a.size() - at);
    convert_elements(a.dtype(), a.bytes() + at * size_of(a.dtype()), f64, values, n);
    if (!f(values, n)) return false;
  }
  return true;
}

inline bool finite(const NDArray& a) {
  return each_stretch_as_double(a, [](const double* values, std::int64_t n) {
    double none = 0;  // infinity and NaN times 0 are NaN
    for (std::int64_t i = 0; i < n; ++i) none += values[i] * 0;
    return none == 0;
  });
}

inline double sum_of_squares(const NDArray& a) {
  double sum = 0;
  each_stretch_as_double(a, [&](const double* values, std::int64_t n) {
    double parts[4] = {};
    for (std::int64_t i = 0; i < n; ++i) parts[i % 4] += values[i] * values[i];
    sum += parts[0] + parts[1] + (parts[2] + parts[3]);
    return true;
  });
  return sum;
}

/// 1 or 0 in float32; 1 is not written where the result is one of several calls that started with 1.
inline void say_finite(bool finite, bool init, const NDArray& y) {
  if (init || !finite) *y.pointer<float>() = finite ? 1.0f : 0.0f;
}

}  // namespace detail

inline void AllFinite::forward(Cpu&, const NDArray& x, NDArray& y) const {
  detail::say_finite(detail::finite(x), init_output, y);
}

inline void MultiAllFinite::forward(Cpu&, std::span<const NDArray> x, NDArray& y) const {
  detail::say_finite(std::all_of(x.begin(), x.end(), detail::finite), init_output, y);
}

inline void MultiSumSq::forward(Cpu&, std::span<const NDArray> x, NDArray& y) const {
  for (std::size_t k = 0; k < x.size(); ++k) y.pointer<float>()[k] = static_cast<float>(detail::sum_of_squares(x[k]));
}

}  // namespace strop::inline v0
