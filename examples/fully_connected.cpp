// SPDX-License-Identifier: Apache-2.0
// A layer of one's own: named inputs, an inferred weight, a gradient that keeps data and weight but not bias.
#include <strop/eigen.hpp>
#include <strop/strop.hpp>

/// y = x · Wᵀ + b
struct Linear {
  strop::Required<int> num_hidden = {};  // leaving it out is an error that names it
  bool no_bias = false;

  static constexpr std::string_view inputs[] = {"data", "weight", "bias"};
  static constexpr std::string_view doc = "A linear layer.";
  static constexpr strop::Range range[] = {{"num_hidden", 1}};
  int input_count() const { return no_bias ? 2 : 3; }

  void infer_shape(strop::Shapes& s) const {
    s.expect_rank(0, 2);
    if (!s.in(0).has_rank()) return;
    s.set_in(1, {*num_hidden, s.in(0)[1]});  // the weight's shape follows from the data's
    if (!no_bias) s.set_in(2, {*num_hidden});
    s.set_out(0, {s.in(0)[0], *num_hidden});
  }

  template <strop::Real E>
  void forward(strop::Cpu&, strop::View<const E, 2> x, strop::View<const E, 2> w, strop::View<const E, 1> b,
               strop::View<E, 2> y) const {
    strop::matrix(y).noalias() = strop::matrix(x) * strop::matrix(w).transpose();
    if (b) strop::matrix(y).rowwise() += strop::matrix(b).transpose();
  }

  // What is tagged is kept alive until backward; a gradient that nobody asks for comes empty.
  template <strop::Real E>
  void grad(strop::Cpu&, strop::Head<"output", strop::View<const E, 2>> dy,
            strop::In<"data", strop::View<const E, 2>> x, strop::In<"weight", strop::View<const E, 2>> w,
            strop::Grad<"data", strop::View<E, 2>> dx, strop::Grad<"weight", strop::View<E, 2>> dw,
            strop::Grad<"bias", strop::View<E, 1>> db) const {
    if (dx) strop::matrix(dx).noalias() = strop::matrix(dy) * strop::matrix(w);
    if (dw) strop::matrix(dw).noalias() = strop::matrix(dy).transpose() * strop::matrix(x);
    if (db) strop::matrix(db) = strop::matrix(dy).colwise().sum().transpose();
  }
};
inline constexpr strop::Op<Linear> linear;
static_assert(strop::HasGrad<Linear> && strop::InfersShape<Linear> && strop::NamesArguments<Linear>);

int main() {
  strop::random::seed(1);
  auto x = strop::random::uniform({64, 3});
  auto y = linear(x, strop::array({{1, -2, 3}}), strop::array({0.5f}), {.num_hidden = 1});  // what is to be found
  auto weight = strop::zeros({1, 3}), bias = strop::zeros({1});
  weight.attach_grad();
  bias.attach_grad();
  for (int step = 0; step < 400; ++step) {
    {
      strop::record scope;
      auto miss = linear(x, weight, bias, {.num_hidden = 1}) - y;
      strop::mean(miss * miss).backward();
    }
    strop::sgd_update(weight, weight.grad(), {.lr = 0.5f}, strop::into(weight));
    strop::sgd_update(bias, bias.grad(), {.lr = 0.5f}, strop::into(bias));
  }
  const auto w = weight.to_vector<float>();
  fmt::print("{:.2f} {:.2f} {:.2f} and {:.2f}\n", w[0], w[1], w[2], bias.item<float>());
  // expect: 1.00 -2.00 3.00 and 0.50
  fmt::print("{}\n", linear(strop::array({{1, 2}}), strop::array({{1, 1}}), {.num_hidden = 1, .no_bias = true}));
  // expect: [[3]]

  auto net = linear(strop::var("data"), strop::Symbol(), strop::Symbol(), {.num_hidden = 10}, "fc1");
  for (const auto& name : net.list_arguments()) fmt::print("{} ", name);
  fmt::print("\n");
  // expect: data fc1_weight fc1_bias
  try {
    (void)linear(x, weight, bias);
  } catch (const std::exception& error) {
    fmt::print("{}\n", error.what());
  }
  // expect: linear: parameter 'num_hidden' (int) is required
}
