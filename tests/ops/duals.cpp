// SPDX-License-Identifier: Apache-2.0
/// \file
/// The gradient of every map, stated or derived, against its body on dual numbers: on the rows whose inputs have one
/// shape and whose gradient is the function's.
#if !defined(__clang__)
#pragma GCC optimize("O0")  // a hundred bodies, each run on a few numbers: compiling them is what costs
#endif
#include <strop/verify.hpp>

#include <doctest/doctest.h>
#include <strop/ops/elementwise.hpp>
#include <strop/strop.hpp>

#include <cmath>
#include <string>
#include <vector>

using namespace strop;

namespace {

using Number = detail::Probe;
using Dual = number::Dual<Number>;

/// ∂/∂x_k of the sum of all results at x, by duals.
template <class T, std::size_t... I>
double slope(const T& op, const std::vector<double>& x, std::size_t k, std::index_sequence<I...>) {
  double sum = 0;
  for (const Dual& y : detail::as_numbers<Dual>(op.forward(Dual(Number(x[I]), Number(I == k ? 1.0 : 0.0))...)))
    sum += y.d.v;
  return sum;
}

/// How many rows were compared.
template <class T>
int compare() {
  int compared = 0;
  if constexpr (AnyMap<T> && !MutatesInputs<T> && !GradComposes<T>) {
    for (const verify::Row& row : verify::rows()) {
      if (row.op != detail::operator_name<T>() || !row.parts.gradient) continue;
      const verify::Subject s = row.subject(f64);
      bool agree = s.in.size() == arity<T> && s.entry->dtypes.contains(f64);
      for (const NDArray& a : s.in) agree = agree && a.shape() == s.in[0].shape();
      if (!agree) continue;
      T op;
      for (const auto& [key, text] : row.attributes())
        detail::set_param(row.op, detail::param_table<T>, &op, key, text);
      for (const NDArray& a : s.in) a.attach_grad();
      verify::Arrays y;
      {
        record scope;
        y = verify::call(s);
      }
      bool recorded = false;
      for (const NDArray& a : y) recorded = recorded || a.body().gradient_node;
      if (!recorded) continue;
      backward(y);
      ++compared;
      std::vector<std::vector<double>> values, gradients;
      for (const NDArray& a : s.in)
        values.push_back(a.to_vector<double>()), gradients.push_back(a.grad().to_vector<double>());
      for (std::size_t i = 0; i < values[0].size(); ++i) {
        std::vector<double> x;
        for (const auto& input : values) x.push_back(input[i]);
        for (std::size_t k = 0; k < x.size(); ++k) {
          const double wanted = slope(op, x, k, std::make_index_sequence<arity<T>>{}), got = gradients[k][i];
          if (got == wanted || std::abs(got - wanted) <= 1e-12 * (1 + std::abs(wanted))) continue;
          CHECK_MESSAGE(got == doctest::Approx(wanted), row.op, " {", row.params, "} input ", k, " at ", x[0]);
          return compared;
        }
      }
    }
  }
  return compared;
}

template <class... T>
int compare_all(OpList<T...>) {
  return (compare<T>() + ...);
}

}  // namespace

TEST_CASE("gradients of maps are those of their bodies on dual numbers") {
  const int compared = compare_all(ActivationOps{}) + compare_all(BroadcastOps{}) + compare_all(ElemwiseOps{}) +
                       compare_all(ExponentialOps{}) + compare_all(HyperbolicOps{}) + compare_all(PowerOps{}) +
                       compare_all(RoundingOps{}) + compare_all(ScalarOps{}) + compare_all(SelectOps{}) +
                       compare_all(SpecialOps{}) + compare_all(TrigonometricOps{}) + compare_all(IdentityOps{}) +
                       compare_all(ContribMapOps{});
  CHECK(compared >= 80);
}
