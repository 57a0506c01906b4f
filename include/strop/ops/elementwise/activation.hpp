// SPDX-License-Identifier: Apache-2.0
/// \file
/// Activation functions, element by element.
#pragma once
#include <strop/core/params.hpp>
#include <strop/op/op.hpp>
#include <strop/ops/list.hpp>

#include <string_view>

namespace strop::inline v0 {

namespace detail {
// Activation's enumerators hide these names.
constexpr auto logistic(auto x) { return sigmoid(x); }
constexpr auto hyperbolic_tangent(auto x) { return tanh(x); }
}  // namespace detail

struct Relu {
  static constexpr std::string_view name = "relu";
  static constexpr std::string_view aliases[] = {"_sparse_relu"};
  static constexpr const char* doc =
      "max(x, 0). Floating and integer types. The derivative at 0 is 0. A sparse input gives a result of its "
      "storage. Example: relu(array({2, -3})) is [2, 0].";
  static constexpr DtypeSet dtypes = floating | integral;
  constexpr auto forward(auto x) const { return max(x, 0); }
  constexpr auto grad_use_out(auto dy, auto y) const { return where(y > 0, dy, 0 * y); }
};

struct Sigmoid {
  static constexpr std::string_view name = "sigmoid";
  static constexpr std::string_view aliases[] = {"_sparse_sigmoid"};
  static constexpr const char* doc =
      "1/(1 + e⁻ˣ). Floating types. A sparse input is computed densely. Example: sigmoid(array({0, 2})) is [0.5, "
      "0.8807971].";
  constexpr auto forward(auto x) const { return sigmoid(x); }
  constexpr auto grad_use_out(auto dy, auto y) const { return dy * (y * (1 - y)); }
};

struct HardSigmoid {
  float alpha = 0.2f;
  float beta = 0.5f;

  static constexpr std::string_view name = "hard_sigmoid";
  static constexpr Note notes[] = {{"alpha", "slope"}, {"beta", "value at 0"}};
  static constexpr const char* doc =
      "alpha·x + beta, kept within [0, 1]. Floating types. The derivative is alpha inside, 0 elsewhere. A sparse "
      "input is computed densely. Example: hard_sigmoid(array({0, 1})) is [0.5, 0.7].";
  constexpr auto forward(auto x) const {
    const auto t = alpha * x + beta;
    return where(t <= 0, 0, where(t >= 1, 1, t));
  }
};

struct Softsign {
  static constexpr std::string_view name = "softsign";
  static constexpr const char* doc =
      "x/(1 + |x|). Floating types. A sparse input gives a result of its storage. Example: softsign(array({1, -3})) "
      "is [0.5, -0.75].";
  constexpr auto forward(auto x) const { return x / (1 + abs(x)); }
  constexpr auto grad_use_in(auto dy, auto x) const {
    const auto d = 1 + abs(x);
    return dy / d / d;  // d² may overflow
  }
};

struct SmoothL1 {
  double scalar = 1;
  bool is_int = true;

  static constexpr std::string_view name = "smooth_l1";
  static constexpr std::string_view aliases[] = {"_npx_smooth_l1"};
  static constexpr Note notes[] = {{"scalar", "σ"},
                                   {"is_int", "whether the scalar was an integer; it changes nothing"}};
  static constexpr const char* doc =
      "0.5·(σx)² where |x| ≤ 1/σ², else |x| − 0.5/σ²; σ is `scalar`. Floating types. A sparse input gives a result "
      "of its storage. Example: smooth_l1(array({1, 2})) is [0.5, 1.5].";
  constexpr auto forward(auto x) const {
    const auto steep = scalar * scalar;
    return where(abs(x) > 1 / steep, abs(x) - 0.5 / steep, 0.5 * steep * x * x);
  }
};

struct Quadratic {
  float a = 0, b = 0, c = 0;

  static constexpr std::string_view name = "_contrib_quadratic";
  static constexpr std::string_view aliases[] = {"quadratic"};
  static constexpr Note notes[] = {{"a", "coefficient of x²"}, {"b", "coefficient of x"}, {"c", "constant"}};
  static constexpr const char* doc =
      "a·x² + b·x + c. Floating and integer types. On integers the result is truncated. A sparse input keeps its "
      "storage where the value at 0 is 0. Example: quadratic(array({1, 2}), {.a = 1, .b = 2, .c = 3}) is [6, 11].";
  static constexpr DtypeSet dtypes = floating | integral;
  constexpr auto forward(auto x) const { return (a * x + b) * x + c; }
};

/// Activation: the function that act_type names: relu max(x, 0); sigmoid 1/(1 + e⁻ˣ); tanh; softrelu log(1 + eˣ);
/// softsign x/(1 + |x|). The gradient reads the output alone. Error: no act_type.
struct Activation {
  enum Type { relu, sigmoid, tanh, softrelu, softsign };
  Required<Type> act_type{};

  static constexpr std::string_view name = "Activation";
  static constexpr std::string_view aliases[] = {"_npx_activation"};
  static constexpr Note notes[] = {{"act_type", "the function: relu, sigmoid, tanh, softrelu or softsign"}};
  static constexpr const char* doc =
      "The function that act_type names, element by element: relu max(x, 0); sigmoid 1/(1 + e⁻ˣ); tanh; softrelu "
      "log(1 + eˣ); softsign x/(1 + |x|). Floating types. A sparse input keeps its storage where the value at 0 is 0. "
      "Example: activation(array({-1, 2}), {.act_type = Activation::relu}) is [0, 2].";

  constexpr auto forward(auto x) const {
    switch (*act_type) {
      case relu:
        return max(x, 0);
      case sigmoid:
        return detail::logistic(x);
      case tanh:
        return detail::hyperbolic_tangent(x);
      case softrelu:
        return softplus(x);
      case softsign:
        break;
    }
    return x / (1 + abs(x));
  }
  /// From the result alone but for softsign, whose result is 1 to the last digit long before its derivative is 0.
  constexpr auto grad_use_in_out(auto dy, auto x, auto y) const {
    switch (*act_type) {
      case relu:
        return where(y > 0, dy, 0 * y);
      case sigmoid:
        return dy * (y * (1 - y));
      case tanh:
        return dy * (1 - y * y);
      case softrelu:
        return -dy * expm1(-y);
      case softsign:
        break;
    }
    const auto d = 1 + abs(x);
    return dy / d / d;  // d² may overflow
  }
};

inline constexpr Op<Relu, OnUse> relu;
inline constexpr Op<Sigmoid, OnUse> sigmoid;
inline constexpr Op<HardSigmoid, OnUse> hard_sigmoid;
inline constexpr Op<Softsign, OnUse> softsign;
inline constexpr Op<SmoothL1, OnUse> smooth_l1;
inline constexpr Op<Quadratic, OnUse> quadratic;
inline constexpr Op<Activation, OnUse> activation;

using ActivationOps = OpList<Relu, Sigmoid, HardSigmoid, Softsign, SmoothL1, Quadratic, Activation>;

}  // namespace strop::inline v0
