// SPDX-License-Identifier: Apache-2.0
// The two operators of MXNet's operator documents, quadratic and smooth_l1, as plain structs.
#include <strop/strop.hpp>

/// f(x) = a·x² + b·x + c
struct Quadratic {
  float a = 0, b = 0, c = 0;
  constexpr auto forward(auto x) const { return (a * x + b) * x + c; }
};
inline constexpr strop::Op<Quadratic> quadratic;

/// 0.5·(σx)² where |x| ≤ 1/σ², else |x| − 0.5/σ²; σ is `scalar`.
struct SmoothL1 {
  float scalar = 1;
  constexpr auto forward(auto x) const {
    const float steep = scalar * scalar;
    return where(abs(x) > 1 / steep, abs(x) - 0.5f / steep, 0.5f * steep * x * x);
  }
};
inline constexpr strop::Op<SmoothL1> smooth_l1;

// The same with its gradient by hand, which then keeps what the member's name says and must agree with forward.
struct SmoothL1ByHand {
  float scalar = 1;
  constexpr auto forward(auto x) const { return SmoothL1{scalar}.forward(x); }
  constexpr auto grad_use_in(auto dy, auto x) const {
    const float steep = scalar * scalar;
    return dy * where(abs(x) > 1 / steep, sign(x), steep * x);
  }
};
inline constexpr strop::Op<SmoothL1ByHand> smooth_l1_by_hand;

// Unit tests of the compiler: value, gradient, storage, what backward keeps alive.
static_assert(strop::UnaryOp<Quadratic> && strop::HasGradUseIn<SmoothL1ByHand> && !strop::HasGradUseIn<SmoothL1>);
static_assert(strop::check::value(SmoothL1{}, 4.0) == 3.5 && strop::check::gradient(SmoothL1{}, 4.0) == 1.0);
static_assert(strop::check::gradient(SmoothL1ByHand{2}, 0.125) == strop::check::gradient(SmoothL1{2}, 0.125));
static_assert(strop::check::storage(Quadratic{1, 2, 0}, strop::csr) == strop::csr);
static_assert(strop::check::keeps(Quadratic{0, 2, 3}) == strop::Keeps::none);  // without a it is linear
static_assert(strop::check::keeps(Quadratic{1, 2, 3}) == strop::Keeps::in);

int main() {
  auto x = strop::array({1, 2, 3, 4});
  fmt::print("{}\n{}\n", quadratic(x, {.a = 1, .b = 2, .c = 3}), smooth_l1(x));
  // expect: [6, 11, 18, 27]
  // expect: [0.5, 1.5, 2.5, 3.5]
  fmt::print("{}\n", strop::invoke("smooth_l1", {x}, {{"scalar", "0.5"}}));  // by name, parameters as text
  // expect: [0.125, 0.5, 1.125, 2]

  // The loss of MXNet's tutorial: outside_weight · f(inside_weight · (data − label)).
  auto label = strop::array({1, 0, 5, 4}), inside = strop::full({4}, 2), outside = strop::full({4}, 3);
  x.attach_grad();
  {
    strop::record scope;
    strop::sum(outside * smooth_l1(inside * (x - label))).backward();
  }
  fmt::print("{}\n", x.grad());
  // expect: [0, 6, -6, 0]

  auto y = strop::zeros({4});
  smooth_l1(x, strop::into(y));                   // kWriteTo
  smooth_l1(x, {.scalar = 2}, strop::add_to(y));  // kAddTo
  smooth_l1(x, strop::into(x));                   // kWriteInplace
  fmt::print("{}\n{}\n", y, x);
  // expect: [1.375, 3.375, 5.375, 7.375]
  // expect: [0.5, 1.5, 2.5, 3.5]
  fmt::print("{}\n", static_cast<bool>(strop::check_gradient(smooth_l1_by_hand, {label}, {.scalar = 2})));
  // expect: true
}
