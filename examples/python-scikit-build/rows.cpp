// SPDX-License-Identifier: Apache-2.0
/// \file
/// A Python module of an operator that is no map: what it does on views, and its gradient, is written down.
#include <Python.h>
#include <strop/op.hpp>
#include <strop/python.hpp>

struct Centre {
  static constexpr std::string_view doc = "Every row less its mean.";
  template <strop::Real E>
  void forward(strop::Cpu&, strop::View<const E, 2> x, strop::View<E, 2> y) const {
    for (std::int64_t i = 0; i < x.shape()[0]; ++i) {
      E sum = 0;
      for (std::int64_t j = 0; j < x.shape()[1]; ++j) sum += x(i, j);
      for (std::int64_t j = 0; j < x.shape()[1]; ++j) y(i, j) = x(i, j) - sum / E(x.shape()[1]);
    }
  }
  template <strop::Real E>
  void grad_use_none(strop::Cpu& ctx, strop::View<const E, 2> dy, strop::View<E, 2> dx) const {
    forward(ctx, dy, dx);  // which is linear, and its own transpose
  }
};
inline constexpr strop::Op<Centre> centre;

PyMODINIT_FUNC PyInit_rows() { return strop::python_module(); }
