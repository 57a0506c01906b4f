// SPDX-License-Identifier: Apache-2.0
/// \file
/// Rows of values: a call by name, parameters as text, and what each visible output is. The numbers are those that
/// MXNet 1.9.1 gives in float32 unless a test says where they come from.
#pragma once
#include <unit/sentence.hpp>
#include "harness.hpp"

#include <limits>

namespace ops_test {

inline constexpr double NaN = std::numeric_limits<double>::quiet_NaN();
inline constexpr double Inf = std::numeric_limits<double>::infinity();
using Numbers = std::vector<double>;

/// from, from + 1, … in float32.
inline NDArray count(const Shape& shape, double from = 0) {
  NDArray x(shape);
  for (std::int64_t i = 0; i < x.size(); ++i) x.pointer<float>()[i] = static_cast<float>(from + static_cast<double>(i));
  return x;
}

struct Wanted {
  Shape shape;
  Numbers values;
};

inline void row(std::string_view op, strop::Attributes params, const Arrays& in, const std::vector<Wanted>& wanted,
                Tolerance tolerance = {2e-6, 1e-6}) {
  std::string text(op);
  for (const auto& [key, value] : params) text += cat(' ', key, '=', value);
  const Arrays y = strop::invoke_all(op, in, {params.begin(), params.size()});
  REQUIRE_MESSAGE(y.size() == wanted.size(), text);
  for (std::size_t k = 0; k < y.size(); ++k) {
    const std::string wrong = difference(y[k], wanted[k].values, wanted[k].shape, tolerance);
    CHECK_MESSAGE(wrong.empty(), text, ", output ", k, ": ", wrong);
  }
}

/// The gradients of the inputs for head gradients `heads` of the visible outputs.
inline std::vector<Numbers> gradients(std::string_view op, strop::Attributes params, const Arrays& in,
                                      const Arrays& heads) {
  for (const NDArray& x : in) x.attach_grad();
  Arrays y;
  {
    strop::record scope;
    y = strop::invoke_all(op, in, {params.begin(), params.size()});
  }
  strop::backward(y, heads);
  std::vector<Numbers> out;
  for (const NDArray& x : in) out.push_back(values(x.grad()));
  return out;
}

/// The gradients of the first inputs for the head gradients 1, 2, 3, … of the only output.
inline void slopes(std::string_view op, strop::Attributes params, const Arrays& in, const std::vector<Numbers>& wanted,
                   Tolerance tolerance = {1e-5, 1e-5}) {
  std::string text(op);
  for (const auto& [key, value] : params) text += cat(' ', key, '=', value);
  const Shape shape = strop::invoke(op, in, {params.begin(), params.size()}).shape();
  const std::vector<Numbers> found = gradients(op, params, in, {count(shape, 1)});
  REQUIRE_MESSAGE(found.size() >= wanted.size(), text);
  for (std::size_t k = 0; k < wanted.size(); ++k) {
    const std::string wrong = difference(in[k].grad(), wanted[k], in[k].shape(), tolerance);
    CHECK_MESSAGE(wrong.empty(), text, ", gradient of input ", k, ": ", wrong);
  }
}

/// The sentence of the Error that the call throws.
inline std::string refusal(std::string_view op, strop::Attributes params, const Arrays& in) {
  const std::string said = testing::sentence([&] {
    for (const strop::NDArray& a : strop::invoke_all(op, in, {params.begin(), params.size()})) a.wait();
  });
  return said.substr(0, said.find(" [in operation "));  // of a call that was enqueued
}

}  // namespace ops_test
