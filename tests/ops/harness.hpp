// SPDX-License-Identifier: Apache-2.0
/// \file
/// What the tests of operators share: one call, run in every way that the operator's entry claims to serve.
///
/// `battery(subject(op, {inputs}, params))` compares types, requests, in-place, views between sentinels, zero sizes,
/// sparse storages and the gradient; each check_… can be called alone. `subject("name", {inputs}, {{"key", "text"}})`
/// asks the registry, and compiles no kernel. The checks themselves are those of strop/verify.hpp.
#pragma once
#include <doctest/doctest.h>
#include <strop/strop.hpp>
#include <strop/verify.hpp>

#include <cmath>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

namespace ops_test {

using strop::cat;
using strop::Dtype;
using strop::NDArray;
using strop::Request;
using strop::Shape;
using strop::Storage;
using strop::verify::Arrays;
using strop::verify::call;
using strop::verify::difference;
using strop::verify::error_of;
using strop::verify::Parts;
using strop::verify::QuietFallbacks;
using strop::verify::Subject;
using strop::verify::Tolerance;
using strop::verify::values;
using strop::verify::with_dtype;

template <class T, class When>
Subject subject(const strop::Op<T, When>& op, Arrays in, T params = {}) {
  return {&op.entry(), std::make_shared<T>(std::move(params)), std::move(in)};
}
inline Subject subject(std::string_view name, Arrays in, strop::Attributes params = {}) {
  return strop::verify::subject(name, std::move(in), {params.begin(), params.size()});
}

// --- comparing ------------------------------------------------------------------------------------------------------

/// One assertion that says which operator, in which way, and what came.
inline void expect(const Subject& s, const std::string& way, const std::string& wrong) {
  CHECK_MESSAGE(wrong.empty(), s.name(), ", ", way, ": ", wrong);
}

/// The first output against literal values.
inline void check_values(const Subject& s, const std::vector<double>& wanted, Tolerance tolerance = {}) {
  const NDArray y = call(s)[0];
  CHECK_MESSAGE(y.size() == static_cast<std::int64_t>(wanted.size()), s.name());
  expect(s, "values", difference(y, wanted, y.shape(), tolerance));
}
/// The same with the shape that it has.
inline void check_values(const Subject& s, const Shape& shape, const std::vector<double>& wanted,
                         Tolerance tolerance = {}) {
  const NDArray y = call(s)[0];
  expect(s, "values", y.shape() == shape ? difference(y, wanted, shape, tolerance) : cat("shape ", y.shape()));
  CHECK_MESSAGE(shape.size() == static_cast<std::int64_t>(wanted.size()), s.name());
}

// --- the battery ----------------------------------------------------------------------------------------------------

/// Runs a check, an assertion for all that it found.
template <class... X>
void report(void (*check)(strop::verify::Findings&, const Subject&, X...), const Subject& s,
            std::type_identity_t<X>... x) {
  strop::verify::Findings found;
  check(found, s, x...);
  std::string text;
  for (const std::string& failure : found.failures) text += cat("\n  ", failure);
  CHECK_MESSAGE(text.empty(), text);
}

/// Every type that the entry lists, against the same inputs in double. An integer result is the truncated one.
inline void check_dtypes(const Subject& s) { report(strop::verify::dtypes, s, strop::any_dtype, 1); }
/// Every type that the entry does not list is refused.
inline void check_refused_dtypes(const Subject& s) { report(strop::verify::refused_dtypes, s); }
/// write, add and null into arrays that exist.
inline void check_requests(const Subject& s, Tolerance tolerance = {}) {
  report(strop::verify::requests, s, tolerance);
}
/// An output in the memory of an input, where the operator allows it.
inline void check_inplace(const Subject& s) { report(strop::verify::inplace, s); }
/// Inputs and outputs that are views: the same results, nothing written beside them, inputs unchanged.
inline void check_views(const Subject& s) { report(strop::verify::views, s); }
/// No elements, and no dimensions. For operators whose outputs have the shape of their inputs.
inline void check_zero_size(const Subject& s) { report(strop::verify::zero_size, s); }
/// Every combination of storages: the dense result, with a sound structure.
inline void check_sparse(const Subject& s, Tolerance tolerance = {}) { report(strop::verify::sparse, s, tolerance); }
/// backward against central differences, in double.
inline void check_gradient(const Subject& s, strop::GradientTolerance tolerance = {}) {
  report(strop::verify::gradient, s, tolerance);
}
/// The gradient of the gradient against differences of the gradient.
inline void check_second_gradient(const Subject& s, strop::GradientTolerance tolerance = {}) {
  report(strop::verify::second_gradient, s, tolerance);
}
inline void battery(const Subject& s, Parts parts = {}) { report(strop::verify::battery, s, parts); }

}  // namespace ops_test
