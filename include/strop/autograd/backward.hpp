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
#include <vector>

namespace strop::inline v0 {

/// What grad() takes besides head and variables.
struct GradOptions {
  std::vector<NDArray> head_gradients = {};
  bool create_graph = false;  // the gradients can be differentiated again
  bool retain_graph = false;
};

namespace detail {

std::vector<NDArray> collect_gradients(const NDArray& head, std::span<const NDArray> variables,
                                       const GradOptions& options);

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
inline std::vector<NDArray> grad(const NDArray& head, std::span<const NDArray> variables,
                                 const GradOptions& options = {}) {
  return detail::collect_gradients(head, variables, options);
}
inline std::vector<NDArray> grad(const NDArray& head, std::initializer_list<NDArray> variables,
                                 const GradOptions& options = {}) {
  return grad(head, std::span<const NDArray>(variables.begin(), variables.size()), options);
}

}  // namespace strop::inline v0

#if !defined(STROP_COMPILED)
#include <strop/autograd/backward_impl.hpp>
#endif
