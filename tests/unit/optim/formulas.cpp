// SPDX-License-Identifier: Apache-2.0
/// \file
/// Every optimizer against its formula in double, with weight decay, rescaled and clipped gradients.
#include "training.hpp"

#include <cmath>
#include <cstddef>
#include <numeric>

using namespace strop::optim;
using namespace optim_test;

namespace {

constexpr double lr = 0.1, wd = 0.05, rescale = 0.5, bound = 0.4;

/// A gradient before weight decay.
double taken(const Formula& at, std::size_t i) { return clipped(rescale * at.g[i], bound); }
/// With weight decay within the clip, as Adam and RMSProp have it.
double decayed(const Formula& at, std::size_t i) { return clipped(rescale * at.g[i] + wd * at.w[i], bound); }
double length(const Numbers& v) { return std::sqrt(std::inner_product(v.begin(), v.end(), v.begin(), 0.0)); }

}  // namespace

TEST_CASE("sgd and nag") {
  const auto plain = each([](Formula& at, std::size_t i) { at.w[i] -= lr * (taken(at, i) + wd * at.w[i]); });
  follows(Sgd{.learning_rate = lr, .wd = wd, .rescale_grad = rescale, .clip_gradient = bound}, 0, plain);
  follows(Nag{.learning_rate = lr, .wd = wd, .rescale_grad = rescale, .clip_gradient = bound}, 0, plain);
  follows(Sgd{.learning_rate = lr, .momentum = 0.9, .wd = wd, .rescale_grad = rescale, .clip_gradient = bound}, 1,
          each([](Formula& at, std::size_t i) {
            double& mom = at.states[0][i];
            mom = 0.9 * mom - lr * (taken(at, i) + wd * at.w[i]);
            at.w[i] += mom;
          }));
  follows(Nag{.learning_rate = lr, .momentum = 0.9, .wd = wd, .rescale_grad = rescale, .clip_gradient = bound}, 1,
          each([](Formula& at, std::size_t i) {
            double& mom = at.states[0][i];
            const double g = taken(at, i) + wd * at.w[i];
            mom = 0.9 * mom - lr * g;
            at.w[i] += 0.9 * mom - lr * g;
          }));
}

TEST_CASE("without a bound, with a bound of nothing, and in double") {
  const auto plain = each([](Formula& at, std::size_t i) { at.w[i] -= lr * at.g[i]; });
  follows(Sgd{.learning_rate = lr}, 0, plain);
  follows(Sgd{.learning_rate = lr, .clip_gradient = 0}, 0, plain);
  follows(Sgd{.learning_rate = lr, .clip_gradient = -1}, 0, plain);
  follows(Sgd{.learning_rate = 0.125}, 0, each([](Formula& at, std::size_t i) { at.w[i] -= 0.125 * at.g[i]; }), "w",
          strop::f64, 1e-15);
}

TEST_CASE("signum") {
  follows(Signum{.learning_rate = lr,
                 .momentum = 0.9,
                 .wd_lh = 0.02,
                 .wd = wd,
                 .rescale_grad = rescale,
                 .clip_gradient = bound},
          1, each([](Formula& at, std::size_t i) {
            double& mom = at.states[0][i];
            mom = 0.9 * mom - (1 - 0.9) * (taken(at, i) + wd * at.w[i]);
            at.w[i] = (1 - lr * 0.02) * at.w[i] + lr * sign(mom);
          }));
  follows(Signum{.learning_rate = lr, .momentum = 0, .wd = wd}, 0,
          each([](Formula& at, std::size_t i) { at.w[i] = (1 - lr * wd) * at.w[i] - lr * sign(at.g[i]); }));
}

TEST_CASE("adam, adamax") {
  follows(
      Adam{.learning_rate = lr, .beta1 = 0.8, .beta2 = 0.99, .wd = wd, .rescale_grad = rescale, .clip_gradient = bound},
      2, each([](Formula& at, std::size_t i) {
        double &mean = at.states[0][i], &var = at.states[1][i];
        const double g = decayed(at, i);
        mean = 0.8 * mean + 0.2 * g;
        var = 0.99 * var + 0.01 * g * g;
        const double rate = lr * std::sqrt(1 - std::pow(0.99, at.t)) / (1 - std::pow(0.8, at.t));
        at.w[i] -= rate * mean / (std::sqrt(var) + 1e-8);
      }));
  follows(Adamax{.learning_rate = lr, .wd = wd, .rescale_grad = rescale, .clip_gradient = bound}, 2,
          each([](Formula& at, std::size_t i) {
            double &mean = at.states[0][i], &most = at.states[1][i];
            const double g = decayed(at, i);
            mean = 0.9 * mean + 0.1 * g;
            most = std::fmax(0.999 * most, std::fabs(g));
            at.w[i] -= lr / (1 - std::pow(0.9, at.t)) * mean / most;
          }));
}

TEST_CASE("adagrad, adadelta") {
  follows(AdaGrad{.learning_rate = lr, .wd = wd, .rescale_grad = rescale, .clip_gradient = bound}, 1,
          each([](Formula& at, std::size_t i) {
            double& history = at.states[0][i];
            const double g = taken(at, i);
            history += g * g;
            at.w[i] -= lr * (g / std::sqrt(history + 1e-7) + wd * at.w[i]);
          }));
  follows(AdaDelta{.rho = 0.8, .wd = wd, .rescale_grad = rescale, .clip_gradient = bound}, 2,
          each([](Formula& at, std::size_t i) {
            double &n = at.states[0][i], &steps = at.states[1][i];
            const double g = taken(at, i);
            n = 0.8 * n + 0.2 * g * g;
            const double d = std::sqrt(steps + 1e-5) / std::sqrt(n + 1e-5) * g;
            steps = 0.8 * steps + 0.2 * d * d;
            at.w[i] -= d + wd * at.w[i];
          }));
}

TEST_CASE("rmsprop, centered or not") {
  follows(RMSProp{.learning_rate = 0.01, .wd = wd, .rescale_grad = rescale, .clip_gradient = bound}, 1,
          each([](Formula& at, std::size_t i) {
            double& n = at.states[0][i];
            const double g = decayed(at, i);
            n = 0.9 * n + 0.1 * g * g;
            at.w[i] -= 0.01 * g / std::sqrt(n + 1e-8);
          }));
  follows(RMSProp{.learning_rate = 0.01, .clip_weights = 0.5}, 1, each([](Formula& at, std::size_t i) {
            double& n = at.states[0][i];
            n = 0.9 * n + 0.1 * at.g[i] * at.g[i];
            at.w[i] = clipped(at.w[i] - 0.01 * at.g[i] / std::sqrt(n + 1e-8), 0.5);
          }));
  follows(RMSProp{.learning_rate = 0.01, .gamma1 = 0.8, .centered = true, .wd = wd, .rescale_grad = rescale}, 3,
          each([](Formula& at, std::size_t i) {
            double &n = at.states[0][i], &mean = at.states[1][i], &delta = at.states[2][i];
            const double g = rescale * at.g[i] + wd * at.w[i];
            n = 0.8 * n + 0.2 * g * g;
            mean = 0.8 * mean + 0.2 * g;
            delta = 0.9 * delta - 0.01 * g / std::sqrt(n - mean * mean + 1e-8);
            at.w[i] += delta;
          }));
}

TEST_CASE("ftrl, ftml") {
  follows(Ftrl{.learning_rate = lr, .lamda1 = 0.02, .wd = wd, .rescale_grad = rescale, .clip_gradient = bound}, 2,
          each([](Formula& at, std::size_t i) {
            double &z = at.states[0][i], &n = at.states[1][i];
            const double g = taken(at, i);
            z += g - (std::sqrt(n + g * g) - std::sqrt(n)) * at.w[i] / lr;
            n += g * g;
            at.w[i] = std::fabs(z) <= 0.02 ? 0 : (sign(z) * 0.02 - z) / ((1 + std::sqrt(n)) / lr + wd);
          }));
  follows(Ftml{.learning_rate = lr, .wd = wd, .rescale_grad = rescale, .clip_gradient = bound}, 3,
          each([](Formula& at, std::size_t i) {
            double &d = at.states[0][i], &v = at.states[1][i], &z = at.states[2][i];
            const double g = decayed(at, i);
            v = 0.999 * v + 0.001 * g * g;
            const double next = (1 - std::pow(0.6, at.t)) / lr * (std::sqrt(v / (1 - std::pow(0.999, at.t))) + 1e-8);
            z = 0.6 * z + 0.4 * g - (next - 0.6 * d) * at.w[i];
            d = next;
            at.w[i] = -z / d;
          }),
          "w", strop::f32, 2e-4);  // next − 0.6 · d cancels
}

TEST_CASE("lamb") {
  const auto rule = [](double most, bool correct) {
    return [=](Formula& at) {
      Numbers u(at.w.size());
      for (std::size_t i = 0; i < u.size(); ++i) {
        double &mean = at.states[0][i], &var = at.states[1][i];
        const double g = taken(at, i);
        mean = 0.9 * mean + 0.1 * g;
        var = 0.999 * var + 0.001 * g * g;
        const double m = correct ? mean / (1 - std::pow(0.9, at.t)) : mean,
                     v = correct ? var / (1 - std::pow(0.999, at.t)) : var;
        u[i] = m / (std::sqrt(v) + 1e-6) + wd * at.w[i];
      }
      const double ratio = std::fmin(length(at.w), most) / length(u);
      for (std::size_t i = 0; i < u.size(); ++i) at.w[i] -= lr * ratio * u[i];
    };
  };
  follows(Lamb{.learning_rate = lr, .wd = wd, .rescale_grad = rescale, .clip_gradient = bound}, 2, rule(1e9, true));
  follows(Lamb{.learning_rate = lr,
               .upper_bound = 0.5,
               .bias_correction = false,
               .wd = wd,
               .rescale_grad = rescale,
               .clip_gradient = bound},
          2, rule(0.5, false));
}

TEST_CASE("lars, whose rates follow from norms") {
  const auto rule = [](double momentum, bool scales) {
    return [=](Formula& at) {
      const double norm = length(at.w);
      const double rate = scales ? lr * 0.02 * norm / (rescale * length(at.g) + wd * norm + 1e-3) : lr;
      for (std::size_t i = 0; i < at.w.size(); ++i) {
        const double along = rate * (taken(at, i) + wd * at.w[i]);
        if (momentum == 0) {
          at.w[i] -= along;
          continue;
        }
        double& mom = at.states[0][i];
        mom = momentum * mom - along;
        at.w[i] += mom;
      }
    };
  };
  Lars lars{.learning_rate = lr, .eta = 0.02, .eps = 1e-3, .wd = wd, .rescale_grad = rescale, .clip_gradient = bound};
  follows(lars, 0, rule(0, true), "fc_weight");
  follows(lars, 0, rule(0, false), "fc_bias");
  follows(lars, 0, rule(0, false), "bn_gamma");
  lars.momentum = 0.9;
  follows(lars, 1, rule(0.9, true));
  follows(lars, 1, rule(0.9, false), "bn_beta");
}

TEST_CASE("lars: the momentum grows with the rate") {
  Lars lars{.learning_rate = 1, .momentum = 0.5, .lr_scheduler = [](std::int64_t n) { return n == 1 ? 1.0 : 3.0; }};
  const auto mom_after = [](const Lars& of) {
    Updater updater(of);
    auto w = strop::array({1}), g = strop::array({2});
    updater("bias", g, w);
    const double before = w.item<double>();
    updater("bias", g, w);
    return w.item<double>() - before;
  };
  CHECK(mom_after(lars) == doctest::Approx(-2 * 0.5 * 3 - 3 * 2));
  lars.momentum_correction = false;
  CHECK(mom_after(lars) == doctest::Approx(-2 * 0.5 - 3 * 2));
}

TEST_CASE("lars: a weight or a gradient of zeros has the rate as it is") {
  Updater updater(Lars{.learning_rate = 0.5});
  auto w = strop::array({0, 0});
  updater("w", strop::array({1, 2}), w);
  CHECK(w.to_vector<float>() == std::vector<float>{-0.5, -1});
  updater("w", strop::array({0, 0}), w);
  CHECK(w.to_vector<float>() == std::vector<float>{-0.5, -1});
}
