// SPDX-License-Identifier: Apache-2.0
/// \file
/// A parameter that is exactly 0, 1 or −1: the terms that drop out of a gradient leave no NaN behind, whichever inputs
/// are kept, and derivatives of every order are their limits.
#include <strop/op/loops.hpp>
#include <strop/ops/elementwise/broadcast.hpp>
#include <strop/ops/elementwise/scalar.hpp>
#include <strop/ops/reduce.hpp>
#include <strop/strop.hpp>

#include <doctest/doctest.h>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <tuple>
#include <vector>

namespace bodies {  // where strop's names are not beside those of C

// A family of bodies, each with a factor a that may be 0 beside what is infinite, or has an infinite derivative, at 0
// or elsewhere. All are linear in x, or in x and y, where a is 0.
#define STROP_FAMILY(Name, text, expression)                    \
  struct Name {                                                 \
    static constexpr std::string_view name = text;              \
    float a = 0, b = 2;                                         \
    constexpr auto forward(auto x) const { return expression; } \
  };                                                            \
  constexpr strop::Op<Name> call_##Name;
STROP_FAMILY(Log, "dropped_log", a* log(x) + b * x)
STROP_FAMILY(Root, "dropped_root", a* sqrt(x) + b * x)
STROP_FAMILY(Inverse, "dropped_inverse", (a / x + b) * x)
STROP_FAMILY(Shifted, "dropped_shifted", a* log(x - 1) + b * x)
STROP_FAMILY(Power, "dropped_power", pow(x, a) * a + b * x)
STROP_FAMILY(InversePower, "dropped_inverse_power", a* pow(x, -1.5f) + b * x)
STROP_FAMILY(Nested, "dropped_nested", a* exp(1 / x) * sin(1 / (x * x)) + b * x)
STROP_FAMILY(Difference, "dropped_difference", (a - b + 2) * log(x) + b * x)
STROP_FAMILY(Chosen, "dropped_chosen", a* where(x > 1, log(x), 1 / x) + b * x)
STROP_FAMILY(Arcs, "dropped_arcs", a*(acosh(x) + asin(3 * x) + atanh(x) + cbrt(x)) + b * x)
STROP_FAMILY(Gamma, "dropped_gamma", a* lgamma(x) * tgamma(x) + digamma(x) * a + b * x)
STROP_FAMILY(Plain, "dropped_plain", a* x* x + tanh(a * x) * sigmoid(x) + b * x)
#undef STROP_FAMILY

struct Quotient {
  static constexpr std::string_view name = "dropped_quotient";
  float a = 0;
  constexpr auto forward(auto x, auto y) const { return a * x / y + x + y; }
};
constexpr strop::Op<Quotient> quotient;
struct Kept {
  static constexpr std::string_view name = "dropped_kept";
  float a = 0;
  constexpr auto forward(auto x, auto y) const { return std::tuple(a * log(x) + x * y, a / y + x * x); }
};
constexpr strop::Op<Kept> kept;
struct Stated {
  static constexpr std::string_view name = "dropped_stated";
  double a = 0;
  constexpr auto forward(auto x) const { return a * log(x) + x; }
  constexpr auto grad_use_in(auto dy, auto x) const { return dy * (a / x + 1); }
};
constexpr strop::Op<Stated> stated;

struct PowerOf {
  double a = 0;
  constexpr auto forward(auto x) const { return pow(x, a); }
};
struct PowerTo {
  double a = 0;
  constexpr auto forward(auto x) const { return pow(a, x); }
};
struct TimesRoot {
  constexpr auto forward(auto x, auto y) const { return x * sqrt(y) + pow(x, y) + x / (1 + y * y); }
};
struct Hypotenuse {
  double a = 0;
  constexpr auto forward(auto x) const { return hypot(x, a) * x; }
};
struct Smooth {
  double a = 1;
  constexpr auto forward(auto x) const {
    return softplus(a * x) + log_sigmoid(x) * a + sinc(a * x) + x * tanh(softplus(x)) + tanh(x) + sigmoid(x);
  }
};
struct Pairs {
  double a = 1;
  constexpr auto forward(auto x, auto y) const { return a * logaddexp(x, y) + xlogy(x, y) + xlogy(a, y); }
};

constexpr auto mish = [](auto x) { return x * tanh(softplus(x)); };
constexpr auto three = [](auto x) { return 0 * log(x) + 3 * x; };

}  // namespace bodies

using namespace strop;
using namespace bodies;

namespace {

using Values = std::vector<double>;

/// The gradient of sum(f(x)) in a buffer of that storage.
template <class F>
Values gradient(const NDArray& x, F f, Storage storage = dense) {
  x.attach_grad(GradRequest::write, storage);
  {
    record scope;
    sum(f(x)).backward();
  }
  return x.grad().to(f64).to_vector<double>();
}

/// The same by a bound graph.
template <class F>
Values bound_gradient(const NDArray& x, F f) {
  const NDArray dx = zeros(x.shape(), x.dtype());
  auto run = sum(f(var("x"))).bind(cpu(), {{"x", x}}, {{"x", dx}});
  run.forward(true);
  run.backward({ones({1}, x.dtype())});
  return dx.to(f64).to_vector<double>();
}

template <class Call>
void check_linear(const char* name, Call call) {
  CAPTURE(std::string(name));
  const Values two(5, 2.0);
  const NDArray at = array({0, 1, -1, 0.5, 4});
  for (const Dtype type : {f32, f64, f16, bf16}) {
    const NDArray x = at.to(type);
    CHECK(gradient(x, call) == two);
    CHECK(bound_gradient(x, call) == two);
    // beyond one block, and broadcast
    const NDArray large = zeros({3, 40000}, type);
    CHECK(gradient(large, call) == Values(120000, 2.0));
    CHECK(gradient(x, [&](const NDArray& v) { return call(v) + zeros({3, 1}, type); }) == Values(5, 6.0));
  }
  for (const Storage storage : {csr, row_sparse}) {
    const NDArray x = array({{0, 3, 0}, {0, 0, 0}, {4, 0, 5}}).to(storage);
    CHECK(gradient(x, call, dense) == Values(9, 2.0));
    const Values stored = storage == csr ? Values{0, 2, 0, 0, 0, 0, 2, 0, 2} : Values(9, 2.0);
    CHECK(gradient(x, call, storage) == stored);
  }
  record scope;
  const NDArray x = array({0, 2});
  x.attach_grad();
  const NDArray first = grad(call(x) + x * x * x, {x}, {.create_graph = true})[0];
  CHECK(first.to_vector<float>() == std::vector<float>{2, 14});
  CHECK(grad(first, {x})[0].to_vector<float>() == std::vector<float>{0, 12});
}

// --- derivatives of every order against limits -----------------------------------------------------------------------

using Loop = detail::MapLoop;
/// One result of a loop over doubles at one place.
double at(Loop loop, const void* op, const Values& in, std::size_t results, std::size_t k) {
  std::vector<const void*> x;
  for (const double& v : in) x.push_back(&v);
  Values y(results);
  std::vector<void*> to;
  for (double& v : y) to.push_back(&v);
  loop(op, x.data(), to.data(), 1);
  return y[k];
}

/// Where the gradient's values on both sides of a place agree, the place has that value too: for each input of the map,
/// along which the place is left. Gives the places that were looked at.
template <class G, class T>
int has_limits(const char* name, const T& op, const std::vector<Values>& places) {
  const Loop loop = detail::loops_of<G>().f64;
  constexpr std::size_t inputs = arity<G>, results = detail::results<G>, first = inputs - arity<T>;
  int looked = 0;
  for (const Values& place : places)
    for (std::size_t k = 0; k < results; ++k)
      for (std::size_t i = 0; i < arity<T>; ++i) {
        Values x(inputs, 1.0), below, above;
        for (std::size_t j = 0; j < arity<T>; ++j) x[first + j] = place[j];
        below = above = x;
        const double step = 1e-6;
        below[first + i] -= step;
        above[first + i] += step;
        const double low = at(loop, &op, below, results, k), high = at(loop, &op, above, results, k);
        const double size = 1 + std::abs(low) + std::abs(high);
        if (!(size < 1e5) || std::abs(low - high) > 1e-3 * size) continue;  // none, or a pole
        ++looked;
        const double got = at(loop, &op, x, results, k);
        if (std::abs(got - (low + high) / 2) <= 1e-3 * size) continue;
        CHECK_MESSAGE(false, std::string(name), " result ", k, " at ", place[0], " ", place.back(), ", input ", i, ": ",
                      got, ", on both sides ", low, " ", high);
      }
  return looked;
}
/// The gradient does not depend on what stands in for inputs that are not kept.
template <class T>
void needs_kept(const char* name, const T& op, const std::vector<Values>& places) {
  using G = Gradient<T>;
  const Loop loop = detail::loops_of<G>().f64;
  const std::uint64_t kept = detail::kept_of<T>(&op, f64);
  for (const Values& place : places)
    for (std::size_t k = 0; k < arity<T>; ++k) {
      Values read(detail::results<T>, 1.0), unread = read;
      for (std::size_t i = 0; i < arity<T>; ++i) {
        read.push_back(place[i]);
        unread.push_back((kept >> i & 1) != 0 ? place[i] : 0);
      }
      const double a = at(loop, &op, read, arity<T>, k), b = at(loop, &op, unread, arity<T>, k);
      if (a == b || (std::isnan(a) && std::isnan(b) && kept != 0)) continue;
      CHECK_MESSAGE(false, std::string(name), " gradient ", k, " at ", place[0], " ", place.back(), ": ", a,
                    " where all is read, else ", b);
    }
}

/// Whether the map has a value there.
template <class T>
bool has_value(const T& op, const Values& x) {
  return [&]<std::size_t... I>(std::index_sequence<I...>) {
    for (const auto& y : detail::evaluate<detail::Probe>(op, x[I]...))
      if (!std::isfinite(y.v)) return false;
    return true;
  }(std::make_index_sequence<arity<T>>{});
}
/// `everywhere`: at places where the map itself has no value as well, since what makes it infinite drops out.
template <class T>
int has_limits(const char* name, const T& op, bool everywhere) {
  std::vector<Values> places;
  const Values ones{0, 1, -1, 0.5, -0.3, 2, 1000, -1000};
  if constexpr (arity<T> == 1) {
    for (const double x : ones) places.push_back({x});
  } else {
    for (const double x : ones)
      for (const double y : ones) places.push_back({x, y});
  }
  needs_kept(name, op, places);
  if (!everywhere) std::erase_if(places, [&](const Values& x) { return !has_value(op, x); });
  using G1 = Gradient<T>;
  using G2 = Gradient<G1>;
  return has_limits<G1>(name, op, places) + has_limits<G2>(name, op, places) +
         has_limits<Gradient<G2>>(name, op, places);
}

}  // namespace

TEST_CASE("terms that drop out of a gradient leave no NaN, dense, sparse, recorded or bound") {
  const auto linear = [](const auto& op) { return [&op](const auto& x) { return op(x, {.a = 0, .b = 2}); }; };
  check_linear("log", linear(call_Log));
  check_linear("root", linear(call_Root));
  check_linear("inverse", linear(call_Inverse));
  check_linear("shifted", linear(call_Shifted));
  check_linear("power", linear(call_Power));
  check_linear("inverse power", linear(call_InversePower));
  check_linear("nested", linear(call_Nested));
  check_linear("difference", linear(call_Difference));
  check_linear("chosen", linear(call_Chosen));
  check_linear("arcs", linear(call_Arcs));
  check_linear("gamma", linear(call_Gamma));
  check_linear("plain", linear(call_Plain));
}

TEST_CASE("what drops out is not kept, and what is read elsewhere meets no 0 * infinity either") {
  static_assert(check::keeps(bodies::Log{}) == Keeps::none && check::keeps(Inverse{}) == Keeps::none &&
                check::keeps(Quotient{}) == Keeps::none && check::keeps(Stated{}) == Keeps::none);
  static_assert(check::keeps(bodies::Log{.a = 1}) == Keeps::in && check::keeps(Kept{}) == Keeps::in);
  static_assert(detail::gradient_facts<float>(bodies::Log{}).drops &&
                !detail::gradient_facts<float>(bodies::Log{.a = 1}).drops);
  static_assert(!detail::gradient_facts<float>(Plain{}).drops);  // nothing there is infinite: the fast loop serves
  const NDArray x = array({0, 1, -1, 2}), y = array({0, 0, 3, -4});
  x.attach_grad();
  y.attach_grad();
  {
    record scope;
    quotient(x, y, {.a = 0}).backward();
  }
  CHECK(x.grad().to_vector<float>() == std::vector<float>{1, 1, 1, 1});
  CHECK(y.grad().to_vector<float>() == std::vector<float>{1, 1, 1, 1});
  {
    record scope;
    backward(kept(x, y, {.a = 0}));
  }
  CHECK(x.grad().to_vector<float>() == std::vector<float>{0, 2, 1, 0});  // y + 2x
  CHECK(y.grad().to_vector<float>() == std::vector<float>{0, 1, -1, 2});
  CHECK(gradient(x, [](const NDArray& v) { return stated(v); }) == Values{1, 1, 1, 1});
  CHECK(gradient(x, [](const NDArray& v) { return map(three, v); }) == Values{3, 3, 3, 3});
}

TEST_CASE("operators of the library with a number that is 0, 1 or -1") {
  const NDArray x = array({0, 1, -1, 0.5, 4});
  const Values none(5, 0.0);
  const auto check = [&](const char* what, auto f, const Values& wanted) {
    CAPTURE(std::string(what));
    for (const Dtype type : {f32, f64}) {
      CHECK(gradient(x.to(type), f) == wanted);
      CHECK(bound_gradient(x.to(type), f) == wanted);
    }
  };
  check("x ** 0", [](const auto& v) { return power_scalar(v, {.scalar = 0}); }, none);
  check("0 / x", [](const auto& v) { return rdiv_scalar(v, {.scalar = 0}); }, none);
  check("x ** 1", [](const auto& v) { return power_scalar(v, {.scalar = 1}); }, {1, 1, 1, 1, 1});
  const NDArray up = array({0, 1, 0.5, 2, 30});
  CHECK(gradient(up, [](const NDArray& v) { return rpower_scalar(v, {.scalar = 0}); }) == none);
  CHECK(gradient(x, [](const NDArray& v) { return broadcast_power(v, array({0})); }) == none);
  CHECK(gradient(x, [](const NDArray& v) { return broadcast_hypot(v, array({0})); }) == Values{0, 1, -1, 1, 1});
  record scope;
  const NDArray z = array({0, 2});
  z.attach_grad();
  for (const double exponent : {1.0, 2.0}) {
    const NDArray first = grad(power_scalar(z, {.scalar = exponent}), {z}, {.create_graph = true})[0];
    const NDArray second = grad(first, {z}, {.create_graph = true})[0];
    CHECK(second.to_vector<float>() == std::vector<float>(2, exponent == 2 ? 2.0F : 0.0F));
    if (exponent == 1) CHECK(grad(second, {z})[0].to_vector<float>() == std::vector<float>{0, 0});
  }
}

TEST_CASE("derivatives of orders 1 to 3 are their limits, with parameters 0, 1 and -1") {
  for (const double p : {0.0, 1.0, -1.0}) {
    CAPTURE(p);
    const auto a = static_cast<float>(p);
    CHECK(has_limits("log", bodies::Log{a, 2}, p == 0) > 5);
    CHECK(has_limits("root", Root{a, 2}, p == 0) > 5);
    CHECK(has_limits("inverse", Inverse{a, 2}, p == 0) > 5);
    CHECK(has_limits("shifted", Shifted{a, 2}, p == 0) > 3);
    CHECK(has_limits("power", Power{a, 2}, p == 0) > 5);
    CHECK(has_limits("chosen", Chosen{a, 2}, p == 0) > 5);
    CHECK(has_limits("plain", Plain{a, 2}, p == 0) > 5);
    CHECK(has_limits("quotient", Quotient{a}, p == 0) > 50);
    CHECK(has_limits("kept", Kept{a}, p == 0) > 50);
    CHECK(has_limits("stated", Stated{p}, p == 0) > 5);
    CHECK(has_limits("power of", PowerOf{p}, p == 0) > 5);
    CHECK(has_limits("power of", PowerOf{2 + p}, false) > 5);
    CHECK(has_limits("power to", PowerTo{p}, p == 0) > 5);
    CHECK(has_limits("hypot", Hypotenuse{p}, p == 0) > 5);
    CHECK(has_limits("smooth", Smooth{p}, p == 0) > 20);
    CHECK(has_limits("pairs", Pairs{p}, p == 0) > 50);
  }
  CHECK(has_limits("times root", TimesRoot{}, false) > 50);
}

TEST_CASE("softplus and its like have finite derivatives where exp overflows") {
  for (const Dtype type : {f32, f64, f16, bf16}) {
    const NDArray x = array({1000, 100, -100, -1000}).to(type);
    const auto near = [](const Values& got, const Values& wanted) {
      for (std::size_t i = 0; i < got.size(); ++i) CHECK(std::abs(got[i] - wanted[i]) <= 1e-6);
    };
    near(gradient(x, [](const NDArray& v) { return map(mish, v); }), {1, 1, 0, 0});
    near(gradient(x, [](const NDArray& v) { return map([](auto e) { return softplus(e); }, v); }), {1, 1, 0, 0});
    near(gradient(x, [](const NDArray& v) { return map([](auto e) { return log_sigmoid(e); }, v); }), {0, 0, 1, 1});
    near(gradient(x, [](const NDArray& v) { return map([](auto e) { return logaddexp(e, 0); }, v); }), {1, 1, 0, 0});
    near(gradient(x, [](const NDArray& v) { return map([](auto e) { return logaddexp(e, e); }, v); }), {1, 1, 1, 1});
  }
  CHECK(gradient(array({0, 2}), [](const NDArray& v) { return map([](auto e) { return xlogy(0, e); }, v); }) ==
        Values{0, 0});
  const NDArray counts = array({{0, 3}, {0, 0}}).to(csr), of = array({{0, 1}, {2, 0}});
  const NDArray y = map([](auto e, auto p) { return xlogy(e, p); }, counts, of);
  CHECK(y.storage() == csr);
  CHECK(y.to(dense).to_vector<float>() == std::vector<float>{0, 0, 0, 0});
}

TEST_CASE("a body that reads a variable of the program is asked anew") {
  static float slope = 0;
  const auto bent = [](auto x) { return slope * x * x; };
  const auto gradient = [&] {
    const NDArray x = array({3, -2});
    x.attach_grad();
    const record scope;
    map(bent, x).backward();
    return x.grad().to_vector<double>();
  };
  CHECK(gradient() == std::vector<double>{0, 0});
  slope = 1;
  CHECK(gradient() == std::vector<double>{6, -4});
  slope = 0;
  CHECK(gradient() == std::vector<double>{0, 0});
}

TEST_CASE("where xlogy and its second argument are 0, so are its derivatives") {
  const NDArray x = array({0, 0, 2}), y = array({0, 3, 3});
  for (const NDArray& a : {x, y}) a.attach_grad();
  {
    const record scope;
    map([](auto a, auto b) { return xlogy(a, b); }, x, y).backward();
  }
  const float log3 = std::log(3.0F);
  CHECK(allclose(x.grad(), array({0, log3, log3})));
  CHECK(allclose(y.grad(), array({0, 0, 2.0F / 3})));
}

TEST_CASE("the entropy's gradient is finite where a probability is 0") {
  const NDArray p = array({0, 0.5F, 1});
  p.attach_grad();
  {
    const record scope;
    map([](auto e) { return -xlogy(e, e); }, p).backward();
  }
  CHECK(allclose(p.grad(), array({0, std::log(2.0F) - 1, -1})));
}

TEST_CASE("forward mode has the limits as well; values are what the numbers give") {
  for (const Dtype type : {f32, f64}) {
    const NDArray x = array({0, 1, -1, 4}).to(type), v = ones({4}, type);
    const auto [y, dy] = jvp(call_Root, {x}, {v}, {.a = 0, .b = 2});
    CHECK(dy.to(f64).to_vector<double>() == Values{2, 2, 2, 2});
    CHECK(y.to(f64).to_vector<double>()[3] == 8);
    CHECK(std::isnan(y.to(f64).to_vector<double>()[2]));
    const NDArray large = zeros({1000}, type);
    const auto [z, dz] = jvp(call_Inverse, {large}, {ones({1000}, type)}, {.a = 0, .b = 2});
    CHECK(dz.to(f64).to_vector<double>() == Values(1000, 2.0));
    CHECK(std::isnan(z.to(f64).to_vector<double>()[999]));
  }
}
