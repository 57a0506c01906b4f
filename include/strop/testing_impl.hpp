// SPDX-License-Identifier: Apache-2.0
/// \file
/// How random arrays are made and symbols are checked: compiled into the tests that include strop/testing.hpp.
#pragma once
#include <strop/testing.hpp>

#include <cmath>
#include <string_view>
#include <utility>

namespace strop::inline v0 {
namespace detail {

/// One number in [low, high), from the global sequence.
inline double random_number(double low, double high) {
  return random::uniform(Shape{1}, low, high, f64).item<double>();
}

/// Where two arrays differ most beyond the tolerance, after `what`; empty where they agree.
inline std::string first_difference(std::string_view what, const NDArray& got, const NDArray& expected,
                                    testing::CheckTolerance tolerance) {
  if (!(got.shape() == expected.shape())) return cat(what, " has shape ", got.shape(), ", expected ", expected.shape());
  const std::vector<double> x = got.to_vector<double>(), y = expected.to_vector<double>();
  double worst = 1;
  std::string text;
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (x[i] == y[i] || (std::isnan(x[i]) && std::isnan(y[i]))) continue;
    const double error = std::abs(x[i] - y[i]) / (tolerance.atol + tolerance.rtol * std::abs(y[i]));
    if (error <= worst) continue;
    worst = std::isnan(error) ? INFINITY : error;
    text = cat(what, " is ", x[i], " at element ", i, ", expected ", y[i]);
  }
  return text;
}

/// A symbol's arguments and states with arrays of their own.
struct SymbolArrays {
  NamedArrays args, aux;

  SymbolArrays(std::string_view who, const Symbol& symbol, const std::vector<NDArray>& inputs) {
    const std::vector<std::string> arguments = symbol.list_arguments(), states = symbol.list_auxiliary_states();
    if (inputs.size() != arguments.size() + states.size())
      fail(who, ": ", inputs.size(), " arrays, expected ", arguments.size(), " arguments and ", states.size(),
           " auxiliary states");
    for (std::size_t i = 0; i < inputs.size(); ++i)
      if (i < arguments.size())
        args.emplace_back(arguments[i], inputs[i].copy());
      else
        aux.emplace_back(states[i - arguments.size()], inputs[i].copy());
  }
};

inline Device device_of(const std::vector<NDArray>& arrays) { return arrays.empty() ? cpu() : arrays[0].device(); }

/// The same numbers as doubles, dense and on the CPU.
inline NDArray as_doubles(const NDArray& a) {
  const std::vector<double> x = a.to_vector<double>();
  NDArray y(a.shape(), f64);
  for (std::size_t i = 0; i < x.size(); ++i) y.pointer<double>()[i] = x[i];
  return y;
}
/// Head gradients that differ from element to element, so that no error hides behind symmetry.
inline double weight_of(std::int64_t i) { return 0.5 + static_cast<double>((i * 7919 + 13) % 101) / 101.0; }
inline double weighted_total(const std::vector<NDArray>& outputs) {
  double total = 0;
  for (const NDArray& y : outputs) {
    std::int64_t i = 0;
    for (const double x : y.to_vector<double>()) total += weight_of(i++) * x;
  }
  return total;
}

/// As wide as the narrower of two types lets results agree.
inline testing::CheckTolerance tolerance_between(Dtype a, Dtype b) {
  const auto of = [](Dtype type) { return type == f64 ? 1e-12 : type == f32 ? 1e-5 : type == f16 ? 1e-2 : 5e-2; };
  const double wide = of(a) > of(b) ? of(a) : of(b);
  return {wide, wide};
}

}  // namespace detail

namespace testing {

inline Shape random_shape(int rank, std::int64_t most) {
  if (rank < 0 || most < 1)
    fail("random_shape: rank ", rank, " with extents to ", most,
         ", expected a rank of at least 0 and extents of at least 1");
  Shape shape;
  for (int i = 0; i < rank; ++i)
    shape.push_back(1 + static_cast<std::int64_t>(detail::random_number(0, static_cast<double>(most))));
  return shape;
}

inline NDArray random_array(const Shape& shape, Storage storage, const RandomArray& how) {
  if (!(how.density <= 1)) fail("random_array: a density of ", how.density, ", expected at most 1");
  if (!(how.low < how.high)) fail("random_array: low is ", how.low, ", expected below high, ", how.high);
  const NDArray a = random::uniform(shape, how.low, how.high, f64);
  const double density = how.density >= 0 || storage == dense ? how.density : detail::random_number(0, 1);
  if (density >= 0 && a.size() != 0) {
    const std::int64_t width = storage == row_sparse ? shape.size(1, shape.ndim()) : 1;
    const NDArray drawn = random::uniform(Shape{a.size() / width}, 0, 1, f64);
    double* const element = a.pointer<double>();
    for (std::int64_t i = 0; i < a.size(); ++i)
      if (drawn.pointer<const double>()[i / width] >= density)
        element[i] = 0;
      else if (element[i] == 0)
        element[i] = how.high / 2 + how.low / 2 != 0 ? how.high / 2 + how.low / 2 : how.high / 2;  // it is stored
  }
  NDArray typed(shape, how.dtype);
  detail::convert_elements(f64, a.bytes(), how.dtype, typed.bytes(), a.size());
  return storage == dense ? typed : detail::cast_storage(typed, storage);
}

inline Check check_forward(const Symbol& symbol, const std::vector<NDArray>& inputs,
                           const std::vector<NDArray>& expected, CheckTolerance tolerance) {
  const detail::SymbolArrays arrays("check_forward", symbol, inputs);
  Executor run = symbol.bind(detail::device_of(inputs), arrays.args, {}, GradRequest::null, arrays.aux);
  const std::vector<NDArray>& outputs = run.forward();
  if (outputs.size() != expected.size())
    fail("check_forward: ", expected.size(), " expected arrays, the symbol has ", outputs.size(), " outputs");
  const std::vector<std::string> names = symbol.list_outputs();
  for (std::size_t k = 0; k < outputs.size(); ++k)
    if (std::string wrong = detail::first_difference(names[k], outputs[k], expected[k], tolerance); !wrong.empty())
      return {std::move(wrong)};
  return {};
}

inline Check check_backward(const Symbol& symbol, const std::vector<NDArray>& inputs, const std::vector<NDArray>& heads,
                            const std::vector<NDArray>& expected, CheckTolerance tolerance, GradRequest request) {
  const detail::SymbolArrays arrays("check_backward", symbol, inputs);
  if (expected.size() != arrays.args.size())
    fail("check_backward: ", expected.size(), " expected gradients, expected ", arrays.args.size(),
         ", an empty handle where none is asked for");
  NamedArrays grads;
  for (std::size_t i = 0; i < expected.size(); ++i)
    if (expected[i].defined()) {
      const NDArray& x = arrays.args[i].second;
      grads.emplace_back(arrays.args[i].first, full(x.shape(), 1, x.dtype(), x.device()));
    }
  Executor run = symbol.bind(detail::device_of(inputs), arrays.args, grads, request, arrays.aux);
  std::vector<NDArray> given = heads;
  for (const NDArray& y : run.forward(true))
    if (heads.empty()) given.push_back(full(y.shape(), 1, y.dtype(), y.device()));
  run.backward(given);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (!expected[i].defined()) continue;
    const NDArray wanted = request == GradRequest::add ? expected[i].to(dense) + 1.0 : expected[i];
    const std::string& name = arrays.args[i].first;
    if (std::string wrong = detail::first_difference(cat("the gradient of ", name), run.grad(name), wanted, tolerance);
        !wrong.empty())
      return {std::move(wrong)};
  }
  return {};
}

inline GradientCheck check_gradient(const Symbol& symbol, const std::vector<NDArray>& inputs,
                                    GradientTolerance tolerance) {
  const detail::SymbolArrays arrays("check_gradient", symbol, inputs);
  GradientCheck result;
  NamedArrays args, grads;
  for (const auto& [name, a] : arrays.args) {
    args.emplace_back(name, detail::as_doubles(a));
    if (is_floating(a.dtype())) grads.emplace_back(name, zeros(a.shape(), f64));
  }
  const auto bound = [&] {
    NamedArrays states;
    for (const auto& [name, a] : arrays.aux) states.emplace_back(name, detail::as_doubles(a));
    return symbol.bind(cpu(), args, grads, GradRequest::write, states);
  };
  Executor run = bound();
  std::vector<NDArray> heads;
  for (const NDArray& y : run.forward(true)) {
    NDArray head(y.shape(), f64);
    for (std::int64_t i = 0; i < head.size(); ++i) head.pointer<double>()[i] = detail::weight_of(i);
    heads.push_back(head);
  }
  run.backward(heads);
  for (const auto& [name, gradient] : grads)
    for (const auto& [argument, x] : args) {
      if (argument != name) continue;
      for (std::int64_t i = 0; i < x.size(); ++i) {
        double& element = x.pointer<double>()[i];
        const double at = element, step = tolerance.step * (std::abs(at) > 1 ? std::abs(at) : 1.0);
        const auto sum_at = [&](double value) {
          element = value;
          return detail::weighted_total(bound().forward(true));
        };
        const double difference = (sum_at(at + step) - sum_at(at - step)) / (2 * step);
        element = at;
        const double given = gradient.to_vector<double>()[static_cast<std::size_t>(i)];
        const double error = std::abs(given - difference) / (tolerance.atol + tolerance.rtol * std::abs(difference));
        if (error <= result.worst) continue;
        result.worst = std::isnan(error) ? 1e300 : error;
        result.text = cat("the gradient of ", name, " at element ", i, " (x = ", at, "): backward gives ", given,
                          ", differences give ", difference);
      }
    }
  result.passed = result.worst <= 1;
  if (result.passed) result.text = cat("all gradients agree with differences; nearest to the bound: ", result.text);
  return result;
}

inline Check check_consistency(const Symbol& symbol, const NamedShapes& shapes, const std::vector<Place>& places,
                               CheckTolerance tolerance) {
  if (places.size() < 2) fail("check_consistency: ", places.size(), " places, expected at least 2");
  std::size_t widest = 0;
  for (std::size_t p = 0; p < places.size(); ++p)
    if (size_of(places[p].dtype) > size_of(places[widest].dtype)) widest = p;
  std::vector<NDArray> first, heads;
  struct Run {
    std::vector<NDArray> outputs;
    NamedArrays grads;
  };
  std::vector<Run> runs;
  // Numbers that the narrowest type holds exactly.
  const auto drawn = [](const Shape& shape) {
    NDArray a = random::uniform(shape, -1, 1, f64);
    for (std::int64_t i = 0; i < a.size(); ++i) a.pointer<double>()[i] = std::round(a.pointer<double>()[i] * 64) / 64;
    return a;
  };
  const auto placed = [](const NDArray& a, const Place& place) {
    NDArray typed(a.shape(), place.dtype);
    detail::convert_elements(f64, a.bytes(), place.dtype, typed.bytes(), a.size());
    return typed.to(place.device);
  };
  for (const Place& place : places) {
    NamedTypes types;
    for (const std::string& name : symbol.list_arguments()) types.emplace_back(name, place.dtype);
    Executor run = symbol.simple_bind(place.device, shapes, GradRequest::write, types);
    NamedArrays inputs;
    for (const auto& [name, array] : run.args()) {
      if (first.size() == inputs.size()) first.push_back(drawn(array.shape()));
      inputs.emplace_back(name, placed(first[inputs.size()], place));
    }
    Run result;
    for (const NDArray& y : run.forward(true, inputs)) result.outputs.push_back(y.to(cpu()).copy());
    std::vector<NDArray> given;
    for (std::size_t k = 0; k < result.outputs.size(); ++k) {
      if (heads.size() == k) heads.push_back(drawn(result.outputs[k].shape()));
      given.push_back(placed(heads[k], {place.device, result.outputs[k].dtype()}));
    }
    run.backward(given);
    for (const auto& [name, gradient] : run.grads())
      if (gradient.defined()) result.grads.emplace_back(name, gradient.to(cpu()).copy());
    runs.push_back(std::move(result));
  }
  const std::vector<std::string> names = symbol.list_outputs();
  for (std::size_t p = 0; p < places.size(); ++p) {
    if (p == widest) continue;
    const CheckTolerance allowed = tolerance.rtol > 0 || tolerance.atol > 0
                                       ? tolerance
                                       : detail::tolerance_between(places[p].dtype, places[widest].dtype);
    const std::string where = cat(" on ", to_text(places[p].device), " in ", name_of(places[p].dtype), ", beside ",
                                  to_text(places[widest].device), " in ", name_of(places[widest].dtype), ',');
    for (std::size_t k = 0; k < names.size(); ++k)
      if (std::string wrong =
              detail::first_difference(cat(names[k], where), runs[p].outputs[k], runs[widest].outputs[k], allowed);
          !wrong.empty())
        return {std::move(wrong)};
    for (std::size_t i = 0; i < runs[p].grads.size(); ++i)
      if (std::string wrong = detail::first_difference(cat("the gradient of ", runs[p].grads[i].first, where),
                                                       runs[p].grads[i].second, runs[widest].grads[i].second, allowed);
          !wrong.empty())
        return {std::move(wrong)};
  }
  return {};
}

}  // namespace testing
}  // namespace strop::inline v0
