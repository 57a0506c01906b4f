// SPDX-License-Identifier: Apache-2.0
/// \file
/// The comparison of backward with differences.
#pragma once
#include <strop/autograd/check_gradient.hpp>
#include <strop/core/config.hpp>

namespace strop::inline v0 {
namespace detail {
inline double magnitude(double x) { return x < 0 ? -x : x; }
/// Head gradients that differ from element to element, so that no error hides behind symmetry.
STROP_IMPL double head_weight(std::int64_t i) { return 0.5 + static_cast<double>((i * 7919 + 13) % 101) / 101.0; }

STROP_IMPL NDArray as_f64(const NDArray& a) {
  const NDArray source = dense_on_host(a);
  NDArray copy(a.shape(), f64);
  convert_elements(source.dtype(), source.bytes(), f64, copy.bytes(), a.size());
  return copy;
}

/// Σ over the outputs of weight · element.
STROP_IMPL double weighted_sum(std::span<const NDArray> outputs) {
  double total = 0;
  for (const NDArray& y : outputs) {
    const NDArray d = as_f64(y);
    for (std::int64_t i = 0; i < d.size(); ++i) total += head_weight(i) * d.pointer<double>()[i];
  }
  return total;
}

STROP_IMPL bool takes_doubles(const Entry& entry, const void* op, Index inputs) {
  const Signature signature = signature_of(entry, op, static_cast<int>(inputs));
  List<std::optional<Dtype>, 4> in(inputs, f64), out(std::ssize(signature.outputs));
  const CallNames names{entry.snake, signature.inputs, signature.outputs};
  Types types(names, in.span(), out.span());
  try {
    infer_types(entry, op, types);
    return true;
  } catch (const Error&) {
    return false;
  }
}

STROP_IMPL GradientCheck compare_gradients(std::string_view name, bool integers_too, std::span<const NDArray> in,
                                           GradientTolerance tolerance,
                                           std::vector<NDArray> (*call)(const void*, std::span<const NDArray>),
                                           const void* context) {
  GradientCheck result;
  std::vector<NDArray> x;
  for (const NDArray& a : in) x.push_back(integers_too || is_floating(a.dtype()) ? as_f64(a) : a);
  for (const NDArray& a : x)
    if (a.dtype() == f64) a.attach_grad();
  std::vector<NDArray> y;
  {
    record scope;
    y = call(context, x);
  }
  std::vector<NDArray> heads;
  for (const NDArray& a : y) {
    NDArray head(a.shape(), f64);
    for (std::int64_t i = 0; i < head.size(); ++i) head.pointer<double>()[i] = head_weight(i);
    heads.push_back(head);
  }
  backward(y, heads);
  std::size_t checked = 0;
  for (std::size_t k = 0; k < x.size(); ++k) {
    if (x[k].dtype() != f64) continue;
    const NDArray gradient = x[k].grad();
    for (std::int64_t i = 0; i < x[k].size(); ++i, ++checked) {
      double& element = x[k].pointer<double>()[i];
      const double at = element, step = tolerance.step * (at > 1 || at < -1 ? (at < 0 ? -at : at) : 1.0);
      train_mode training;
      element = at + step;
      const double above = weighted_sum(call(context, x));
      element = at - step;
      const double below = weighted_sum(call(context, x));
      element = at;
      const double difference = (above - below) / (2 * step), given = gradient.pointer<double>()[i];
      const double error = magnitude(given - difference) / (tolerance.atol + tolerance.rtol * magnitude(difference));
      const bool nan = !(error == error);
      if (nan || error > result.worst) {
        result.worst = nan ? 1e300 : error;
        result.text = cat(name, ": gradient of input ", k, " at element ", i, " (x = ", at, "): backward gives ", given,
                          ", differences give ", difference);
      }
    }
  }
  result.passed = result.worst <= 1;
  if (result.passed)
    result.text = cat(name, ": ", checked, " gradients agree with differences; nearest to the bound: ", result.text);
  return result;
}
}  // namespace detail

}  // namespace strop::inline v0
