// SPDX-License-Identifier: Apache-2.0
/// \file
/// Maps hold their digits at every size of their input, values and gradients: in float beside double, and in double
/// beside formulas in long double where a derivative is easily written so that it cancels or overflows.
#include "harness.hpp"

#include <cmath>
#include <cstring>
#include <limits>
#include <set>
#include <string>

using namespace ops_test;
using strop::Entry;

namespace {

/// ±10⁻³⁰ … ±10³⁰, four to a decade, as floats.
NDArray sizes() {
  std::vector<float> list;
  for (int i = -120; i <= 120; ++i)
    for (const double sign : {1.0, -1.0}) list.push_back(static_cast<float>(sign * std::pow(10.0, i / 4.0)));
  const NDArray x = strop::zeros({std::ssize(list)});
  std::memcpy(x.bytes(), list.data(), list.size() * sizeof(float));
  return x;
}

/// Results of a call, then the gradients of the inputs where it has any, for head gradients of 1.
std::vector<std::vector<double>> results(const Entry& entry, const void* op, const Arrays& in) {
  std::vector<const NDArray*> inputs;
  for (const NDArray& a : in) inputs.push_back(&a), a.attach_grad();
  Arrays out(static_cast<std::size_t>(entry.outputs));
  {
    const strop::record scope;
    strop::detail::dispatch(entry, op, inputs, out);
  }
  std::vector<std::vector<double>> all;
  for (const NDArray& y : out) all.push_back(values(y));
  if (entry.gradient.entry == nullptr && entry.gradient.compose == nullptr) return all;
  strop::backward(out);
  for (const NDArray& a : in) all.push_back(values(a.grad()));
  return all;
}

/// Gradients that are had from the result alone, as MXNet has them: where that is 1 to the last digit they hold
/// to the last digits of 1, not to their own.
bool is_of_result(const Entry& entry, const std::string& params) {
  return entry.name == "sigmoid" || entry.name == "tanh" ||
         (entry.name == "Activation" && (params == "act_type=sigmoid" || params == "act_type=tanh"));
}

/// Where `got` is further than `relative` from `wanted`, of those that are normal numbers; "" where nowhere.
std::string worst(const std::vector<double>& got, const std::vector<double>& wanted, const std::vector<double>& x,
                  double relative, double absolute, double least, double most) {
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const double size = std::abs(wanted[i]);
    if (!(size >= least && size <= most)) continue;
    if (!(std::abs(got[i] - wanted[i]) <= relative * size + absolute))
      return cat("at ", x[i], " it is ", got[i], ", expected ", wanted[i]);
  }
  return {};
}

}  // namespace

TEST_CASE("every map in float is that in double, whatever the size of its input") {
  const NDArray x = sizes();
  const std::vector<double> at = values(x);
  int maps = 0;
  for (const Entry* const entry : strop::detail::all_operators()) {
    if (!entry->library || entry->is_gradient() || !entry->is_map() || entry->mutates) continue;
    if (!entry->dtypes.contains(strop::f32) || !entry->dtypes.contains(strop::f64) || entry->inputs > 2) continue;
    std::set<std::string> seen;
    for (const strop::verify::Row& row : strop::verify::rows_of(*entry)) {
      if (!seen.insert(row.params).second) continue;
      // Near a root, of the derivative or of a weight less its step, every way of writing it cancels.
      if (entry->name == "_contrib_quadratic" || entry->name.ends_with("_update")) continue;
      ++maps;
      const Subject s = row.subject(strop::f32);
      for (int which = 0; which < entry->inputs; ++which)
        for (const double other : {0.7, -1.3, 3.0}) {
          if (entry->inputs == 1 && other != 3.0) continue;
          Arrays narrow, wide;
          for (int i = 0; i < entry->inputs; ++i) {
            narrow.push_back(i == which ? x.copy() : strop::full(x.shape(), other));
            wide.push_back(narrow.back().to(strop::f64));
          }
          const auto got = results(*entry, s.op(), narrow), wanted = results(*entry, s.op(), wide);
          for (std::size_t k = 0; k < wanted.size(); ++k) {
            const bool gradient = k >= static_cast<std::size_t>(entry->outputs);
            const double absolute = gradient && is_of_result(*entry, row.params) ? 4 * 0x1p-24 : 0;
            const std::string wrong = worst(got[k], wanted[k], at, 1e-5, absolute, std::numeric_limits<float>::min(),
                                            std::numeric_limits<float>::max());
            CHECK_MESSAGE(wrong.empty(), entry->name, " {", row.params, "} input ", which, " beside ", other,
                          ", result ", k, ": ", wrong);
          }
        }
    }
  }
  CHECK(maps > 90);
}

namespace {
struct PrecisionSigmoid {
  constexpr auto forward(auto x) const { return sigmoid(x); }
};
struct PrecisionTanh {
  constexpr auto forward(auto x) const { return tanh(x); }
};
constexpr strop::Op<PrecisionSigmoid> derived_sigmoid;
constexpr strop::Op<PrecisionTanh> derived_tanh;
}  // namespace

TEST_CASE("gradients in double are those of long double, whatever the size of the input") {
  using Long = long double;
  const NDArray x = sizes().to(strop::f64);
  const std::vector<double> at = values(x);
  const auto check = [&](const Entry& entry, const std::string& params, Long (*slope)(Long)) {
    const Subject s = strop::verify::Row{std::string(entry.name), params, {{x.shape()}}}.subject(strop::f64);
    const auto got = results(entry, s.op(), {x.copy()});
    std::vector<double> wanted;
    for (const double v : at) wanted.push_back(static_cast<double>(slope(v)));
    const std::string wrong =
        worst(got[1], wanted, at, 1e-12, 0, std::numeric_limits<double>::min(), std::numeric_limits<double>::max());
    CHECK_MESSAGE(wrong.empty(), entry.name, " {", params, "}: ", wrong);
  };
  const auto of_softsign = [](Long v) -> Long { return 1 / ((1 + std::abs(v)) * (1 + std::abs(v))); };
  check(strop::softsign.entry(), "", of_softsign);
  check(strop::activation.entry(), "act_type=softsign", of_softsign);
  check(strop::activation.entry(), "act_type=softrelu",
        [](Long v) -> Long { return v < 0 ? std::exp(v) / (1 + std::exp(v)) : 1 / (1 + std::exp(-v)); });
  check(derived_sigmoid.entry(), "", [](Long v) -> Long {
    const Long c = std::cosh(v / 2);
    return 1 / (4 * c * c);
  });
  check(derived_tanh.entry(), "", [](Long v) -> Long { return 1 / (std::cosh(v) * std::cosh(v)); });
  check(strop::arctan.entry(), "", [](Long v) -> Long { return 1 / (1 + v * v); });
  check(strop::arcsinh.entry(), "", [](Long v) -> Long { return 1 / std::sqrt(1 + v * v); });
  check(strop::erf.entry(), "", [](Long v) -> Long { return 1.128379167095512573896L * std::exp(-v * v); });
  check(strop::log1p.entry(), "", [](Long v) -> Long { return 1 / (1 + v); });
  check(strop::expm1.entry(), "", [](Long v) -> Long { return std::exp(v); });
  check(strop::rsqrt.entry(), "", [](Long v) -> Long { return -1 / (2 * v * std::sqrt(v)); });
  check(strop::cbrt.entry(), "", [](Long v) -> Long { return 1 / (3 * std::cbrt(v) * std::cbrt(v)); });
  check(strop::reciprocal.entry(), "", [](Long v) -> Long { return -1 / (v * v); });
}

TEST_CASE("softsign's gradient by Activation is that of softsign to a few digits of the last place") {
  for (const Dtype type : {strop::f32, strop::f64}) {
    const Subject s = subject("Activation", {sizes().to(type)}, {{"act_type", "softsign"}});
    const auto got = results(*s.entry, s.op(), {s.in[0].copy()});
    const double last = type == strop::f32 ? 0x1p-23 : 0x1p-52;
    const std::vector<double> at = values(s.in[0]);
    for (std::size_t i = 0; i < at.size(); ++i) {
      const long double d = 1 + std::abs(static_cast<long double>(at[i])), slope = 1 / (d * d);
      if (slope < std::numeric_limits<float>::min()) continue;
      CHECK(static_cast<double>(std::abs(got[1][i] - slope) / slope) <= 3 * last);
    }
  }
  // What it reads with these parameters is kept, and no more.
  static_assert(strop::check::keeps(strop::Activation{.act_type = strop::Activation::softsign}) ==
                strop::Keeps::in_out);
  static_assert(strop::check::keeps(strop::Activation{.act_type = strop::Activation::relu}) == strop::Keeps::out);
  static_assert(strop::check::keeps(strop::PlusScalar{}) == strop::Keeps::none);
  const NDArray x = strop::array({-1, 2});
  x.attach_grad();
  NDArray y;
  {
    const strop::record scope;
    const NDArray moved = x * 2;
    y = strop::activation(moved, {.act_type = strop::Activation::relu}, strop::into(moved));  // in place: not read
  }
  y.backward();
  CHECK(values(x.grad()) == std::vector<double>{0, 2});
}
