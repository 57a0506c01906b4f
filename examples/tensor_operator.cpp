// SPDX-License-Identifier: Apache-2.0
// An operator that is not a map: it works on typed views, here as Eigen expressions, and states its gradient.
#include <strop/eigen.hpp>
#include <strop/strop.hpp>

/// Probabilities along the last axis.
struct RowSoftmax {
  float temperature = 1;
  static constexpr strop::Range range[] = {{"temperature", 1e-3}};  // inclusive bounds, checked at each call
  static constexpr strop::Share inplace[] = {{0, 0}};               // output 0 may use the memory of input 0

  template <strop::Real E>
  void forward(strop::Cpu& ctx, strop::View<const E, 2> x, strop::View<E, 2> y) const {
    auto peak = ctx.temp<E>(x.shape()[0]);  // temporary space, until forward returns
    strop::matrix(peak) = strop::matrix(x).rowwise().maxCoeff();
    auto p = strop::matrix(y).array();
    p = ((strop::matrix(x).array().colwise() - strop::matrix(peak).array()) / E(temperature)).exp();
    p.colwise() /= p.rowwise().sum().eval();
  }
  /// Keeps the output alive until backward, and nothing else: that is what the name says.
  template <strop::Real E>
  void grad_use_out(strop::Cpu&, strop::View<const E, 2> dy, strop::View<const E, 2> y, strop::View<E, 2> dx) const {
    auto g = strop::matrix(dy).array(), p = strop::matrix(y).array();
    strop::matrix(dx).array() = p * (g.colwise() - (g * p).rowwise().sum().eval()) / E(temperature);
  }
};
inline constexpr strop::Op<RowSoftmax> row_softmax;
static_assert(strop::TensorOp<RowSoftmax> && strop::HasGradUseOut<RowSoftmax> && strop::InplaceOption<RowSoftmax>);

int main() {
  auto x = strop::array({{0, 0}, {5, 5}});
  fmt::print("{}\n", row_softmax(x));
  // expect: [[0.5, 0.5], [0.5, 0.5]]

  auto y = strop::full({2, 2}, 1);
  row_softmax(x, strop::add_to(y));  // the sum is made for operators that do not say `accumulates`
  fmt::print("{}\n", y);
  // expect: [[1.5, 1.5], [1.5, 1.5]]

  auto z = strop::array({{0.5f, -1, 2}, {1, 1, -0.25f}});
  fmt::print("{}\n", static_cast<bool>(strop::check_gradient(row_softmax, {z}, {.temperature = 2})));
  // expect: true
  fmt::print("{}\n", row_softmax(z.to(strop::f16)).dtype() == strop::f16);  // halves: converted copies
  // expect: true

  for (const auto& bad : {strop::zeros({4}), strop::zeros({2, 2}, strop::i32)}) try {
      (void)row_softmax(bad);
    } catch (const std::exception& error) {
      fmt::print("{}\n", error.what());
    }
  // expect: row_softmax: input 'data' has shape (4,), expected 2 dimensions
  // expect: row_softmax: input 'data' is int32, expected one of float16, bfloat16, float32, float64
  row_softmax(x, strop::into(x));
  fmt::print("{}\n", x[0]);
  // expect: [0.5, 0.5]
}
