// SPDX-License-Identifier: Apache-2.0
// reject: strop: check::value takes a tensor for each input of forward
// reject: strop: check::value and check::gradient evaluate members on strop::View and strop::DenseResult alone
// reject: strop: check::gradient takes an operator that states its gradient, and there is none
// reject: strop: check::gradient takes an operator with a stated gradient on views: one that is written with operators
#include <strop/op/check_tensors.hpp>

using strop::check::gradient, strop::check::tensor, strop::check::value;

struct Twice {
  template <strop::Real E>
  constexpr void forward(strop::Cpu&, strop::View<const E, 1> x, strop::View<E, 1> y) const {
    for (std::int64_t i = 0; i < x.size(); ++i) y[i] = 2 * x[i];
  }
#if defined(CONTROL)
  template <strop::Real E>
  constexpr void grad_use_none(strop::Cpu& ctx, strop::View<const E, 1> dy, strop::View<E, 1> dx) const {
    forward(ctx, dy, dx);
  }
#endif
};
#if defined(CONTROL)
static_assert(value(Twice{}, tensor({1, 2})) == tensor({2, 4}));
static_assert(gradient(Twice{}, tensor({1, 2})) == tensor({2, 2}));
#else
static_assert(value(Twice{}, tensor({1, 2}), tensor({1, 2})) == tensor({2, 4}));
static_assert(gradient(Twice{}, tensor({1, 2})) == tensor({2, 2}));

struct Composed {
  template <strop::Real E>
  constexpr void forward(strop::Cpu&, strop::View<const E, 1> x, strop::View<E, 1> y) const {
    for (std::int64_t i = 0; i < x.size(); ++i) y[i] = 2 * x[i];
  }
  auto gradient(const auto& dy) const { return dy; }
};
static_assert(gradient(Composed{}, tensor({1, 2})) == tensor({2, 2}));

struct Whole {
  constexpr void forward(strop::Cpu&, const strop::NDArray&, strop::NDArray&) const {}
};
static_assert(value(Whole{}, tensor({1, 2})) == tensor({2, 4}));
#endif
