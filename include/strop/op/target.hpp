// SPDX-License-Identifier: Apache-2.0
/// \file
/// Where the results of a call go.
#pragma once
#include <strop/core/installed.hpp>
#include <strop/core/span.hpp>
#include <strop/op/mode.hpp>
#include <strop/tensor/ndarray.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace strop::inline v0 {

namespace detail {
/// sum = a + b element by element, in float, double or 64-bit integers; all dense and of one shape, sum apart.
void add_elements(const NDArray& a, const NDArray& b, const NDArray& sum);
/// What results are added by that an operator did not add itself. Installed by what asks for that.
inline constinit Installed<void(const NDArray&, const NDArray&, const NDArray&)> adder{&add_elements};
inline Request adding() {
  adder.install(add_elements);
  return Request::add;
}
}  // namespace detail

// In a call, `{}` stands for the parameters and for nothing else: whatever may stand beside them has a constructor.

/// Where results go: `strop::into(y)` overwrites y, `strop::add_to(y)` adds to it; a handle without an array is
/// refused, as the result would not be in it. It refers to the arrays; what into gives for a temporary handle or for
/// several, Targets, owns them (`auto`, where it is to be kept).
struct Target {
  const NDArray* arrays;
  std::int32_t count;  // 0: the call makes its results
  Request request;
  Target(const NDArray* ys, std::size_t n, Request r) : arrays(ys), count(static_cast<std::int32_t>(n)), request(r) {}
  detail::Span<const NDArray> span() const { return {arrays, count}; }
};
/// Several outputs, in their order, or a temporary handle.
struct Targets {
  std::vector<NDArray> arrays;
  Request request;
  Targets(std::vector<NDArray> ys, Request r) : arrays(std::move(ys)), request(r) {}
  operator Target() const { return {arrays.data(), arrays.size(), request}; }
};
inline Target into(const NDArray& y) { return {&y, 1, Request::write}; }
inline Target add_to(const NDArray& y) { return {&y, 1, detail::adding()}; }
inline Targets into(NDArray&& y) { return {{std::move(y)}, Request::write}; }
inline Targets add_to(NDArray&& y) { return {{std::move(y)}, detail::adding()}; }
inline Targets into(std::vector<NDArray> ys) { return {std::move(ys), Request::write}; }
inline Targets add_to(std::vector<NDArray> ys) { return {std::move(ys), detail::adding()}; }

}  // namespace strop::inline v0
