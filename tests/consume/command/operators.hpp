// SPDX-License-Identifier: Apache-2.0
/// \file
/// The operators of a foreign project: a map, and a tensor operator with a gradient.
#pragma once
#include <strop/strop.hpp>

/// slope · x where x is negative, else x.
struct Lean {
  float slope = 0.25f;
  constexpr auto forward(auto x) const { return where(x < 0, slope * x, x); }
};
inline constexpr strop::Op<Lean> lean;

/// Every element less the first of its row.
struct Spread {
  static constexpr std::string_view doc = "Every element less the first of its row.";
  template <strop::Real E>
  void forward(strop::Cpu&, strop::View<const E, 2> x, strop::View<E, 2> y) const {
    const std::int64_t width = x.shape()[1];
    for (std::int64_t i = 0; i < x.size(); ++i) y[i] = x[i] - x[i / width * width];
  }
  template <strop::Real E>
  void grad_use_none(strop::Cpu&, strop::View<const E, 2> dy, strop::View<E, 2> dx) const {
    const std::int64_t rows = dy.shape()[0], width = dy.shape()[1];
    for (std::int64_t r = 0; r < rows; ++r) {
      E first = 0;
      for (std::int64_t k = 0; k < width; ++k) {
        dx[r * width + k] = dy[r * width + k];
        first += dy[r * width + k];
      }
      if (width != 0) dx[r * width] -= first;
    }
  }
};
inline constexpr strop::Op<Spread> spread;
