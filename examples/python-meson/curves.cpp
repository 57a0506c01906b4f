// SPDX-License-Identifier: Apache-2.0
/// \file
/// A Python module of one operator.
#include <Python.h>
#include <strop/op.hpp>
#include <strop/python.hpp>

struct Squash {
  float beta = 1;
  static constexpr std::string_view doc = "x / (1 + beta |x|), element by element.";
  static constexpr strop::Note notes[] = {{"beta", "how soon it bends"}};
  static constexpr strop::Range range[] = {{"beta", 0, 100}};
  constexpr auto forward(auto x) const { return x / (1 + beta * abs(x)); }
};
inline constexpr strop::Op<Squash> squash;

static_assert(strop::check::value(Squash{2}, 1.5) == 0.375);
static_assert(strop::check::gradient(Squash{}, 1.0) == 0.25);
static_assert(strop::check::storage(Squash{}, strop::csr) == strop::csr);

PyMODINIT_FUNC PyInit_curves() { return strop::python_module(); }
