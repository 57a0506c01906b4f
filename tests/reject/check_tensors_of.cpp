// SPDX-License-Identifier: Apache-2.0
// Operators of which no test can run when the program is compiled, and tests that give another number of inputs.
//
// reject: strop: check::value takes an operator with forward(strop::Cpu&, ...)
// reject: strop: check::value takes an operator without a state
// reject: strop: check::gradient takes a tensor for each input of forward
// reject: strop: check::differentiates takes a tensor for each input of forward
#include <strop/op/check_tensors.hpp>

using strop::check::differentiates, strop::check::gradient, strop::check::tensor, strop::check::value;

#if defined(CONTROL)
using Context = strop::Cpu;
#else
using Context = strop::Cuda;
#endif

struct Twice {
  template <strop::Real E>
  constexpr void forward(Context&, strop::View<const E, 1> x, strop::View<E, 1> y) const {
    for (std::int64_t i = 0; i < x.size(); ++i) y[i] = 2 * x[i];
  }
};
static_assert(value(Twice{}, tensor({1, 2})) == tensor({2, 4}));

struct Stateful {
#if !defined(CONTROL)
  int make_state(strop::Cpu&, const strop::Shape&) const { return 0; }
  void forward(strop::Cpu&, int&, strop::View<const double, 1>, strop::View<double, 1>) const {}
#else
  constexpr void forward(strop::Cpu&, strop::View<const double, 1> x, strop::View<double, 1> y) const { y[0] = x[0]; }
#endif
};
static_assert(value(Stateful{}, tensor({3})) == tensor({3}));

struct Same {
  template <strop::Real E>
  constexpr void forward(strop::Cpu&, strop::View<const E, 1> x, strop::View<E, 1> y) const {
    for (std::int64_t i = 0; i < x.size(); ++i) y[i] = x[i];
  }
  template <strop::Real E>
  constexpr void grad_use_none(strop::Cpu&, strop::View<const E, 1> dy, strop::View<E, 1> dx) const {
    for (std::int64_t i = 0; i < dy.size(); ++i) dx[i] = dy[i];
  }
};
#if defined(CONTROL)
static_assert(gradient(Same{}, tensor({1, 2})) == tensor({1, 1}));
static_assert(differentiates(Same{}, tensor({1, 2})));
#else
static_assert(gradient(Same{}, tensor({1, 2}), tensor({1, 2})) == tensor({1, 1}));
static_assert(differentiates(Same{}, tensor({1, 2}), tensor({1, 2})));
#endif
