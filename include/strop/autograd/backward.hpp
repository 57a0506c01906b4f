// SPDX-License-Identifier: Apache-2.0
/// \file
/// backward and grad: the recorded calls walked from the heads to the leaves.
#pragma once
#include <strop/autograd/function.hpp>
#include <strop/autograd/tape.hpp>
#include <strop/graph/symbol.hpp>
#include <strop/op/op.hpp>
#include <strop/tensor/create.hpp>

#include <span>
#include <tuple>
#include <vector>

namespace strop::inline v0 {

/// What grad() takes besides head and variables.
struct GradOptions {
  std::vector<NDArray> head_gradients = {};
  bool create_graph = false;  // the gradients can be differentiated again
  bool retain_graph = false;
};

namespace detail {

using AddArrays = NDArray (*)(const NDArray&, const NDArray&);
std::vector<NDArray> collect_gradients(const NDArray& head, std::span<const NDArray> variables,
                                       const GradOptions& options, AddArrays add);

/// a + b where gradients are differentiated again.
struct GradAdd {
  static constexpr std::string_view name = "_grad_add";
  static constexpr bool same_shape = true;
  constexpr auto forward(auto lhs, auto rhs) const { return lhs + rhs; }
  auto gradient(const auto& dy) const { return std::tuple(dy, dy); }
};

template <>
inline constexpr bool built_where_called<GradAdd> = true;

#if defined(__CUDACC__)
/// Gradients meet on a GPU as well, and no program names the operator: a .cu file that sees this brings its kernels.
inline const auto& grad_add_on_gpu = GpuEnroller<GradAdd>::instance;
#endif

/// Built where gradients are differentiated again.
template <std::same_as<GradAdd> G = GradAdd>
NDArray add_recorded(const NDArray& a, const NDArray& b) {
  return Op<G, OnUse>{}(a, b);
}

}  // namespace detail

/// Gradients of the heads with respect to everything that they were computed from, into the arrays with attach_grad().
/// A head without a gradient of its own counts with 1. Throws Error where there is no history or no gradient.
void backward(std::span<const NDArray> heads, std::span<const NDArray> head_gradients = {}, bool retain_graph = false);
inline void backward(std::initializer_list<NDArray> heads, std::initializer_list<NDArray> head_gradients = {},
                     bool retain_graph = false) {
  backward({heads.begin(), heads.size()}, std::span<const NDArray>(head_gradients.begin(), head_gradients.size()),
           retain_graph);
}

/// The gradients of the heads with respect to the variables, as new arrays; `.grad()` stays as it is. With create_graph
/// the results can be differentiated again.
template <std::same_as<NDArray> A>
std::vector<NDArray> grad(const A& head, std::span<const NDArray> variables, const GradOptions& options = {}) {
  return detail::collect_gradients(head, variables, options, &detail::add_recorded<detail::GradAdd>);
}
template <std::same_as<NDArray> A>
std::vector<NDArray> grad(const A& head, std::initializer_list<NDArray> variables, const GradOptions& options = {}) {
  return grad(head, std::span<const NDArray>(variables.begin(), variables.size()), options);
}

}  // namespace strop::inline v0

#if !defined(STROP_COMPILED)
#include <strop/autograd/backward_impl.hpp>
#endif
