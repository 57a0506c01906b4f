// SPDX-License-Identifier: Apache-2.0
/// \file
/// Gradients of symbolic graphs: they are nodes of the same kind.
#pragma once
#include <strop/graph/symbol.hpp>

#include <initializer_list>
#include <span>
#include <vector>

namespace strop::inline v0 {

/// The gradients of the outputs of `of`, weighted by `heads` (1 where there are none), with respect to each of `wrt`:
/// symbols to bind or to differentiate again. What `of` does not depend on gets zeros. Throws Error where an operator
/// on the way has no gradient.
std::vector<Symbol> gradients(const Symbol& of, std::span<const Symbol> wrt, std::span<const Symbol> heads = {});
inline std::vector<Symbol> gradients(const Symbol& of, std::initializer_list<Symbol> wrt,
                                     std::initializer_list<Symbol> heads = {}) {
  return gradients(of, std::span<const Symbol>(wrt.begin(), wrt.size()),
                   std::span<const Symbol>(heads.begin(), heads.size()));
}

namespace detail {
/// Inputs of a node of a gradient of which it sees shape and type alone. `of` is the node whose gradient it is, which
/// decides by its parameters and types; without it, `inputs` has a bit for each.
struct UnreadInputs {
  Ref<Node> reader;  // kept, so that no other node comes to stand where it stood
  const Node* of;
  std::uint64_t inputs;
};

/// Lists the operators that gradients are made of besides those of the symbols, so that a saved graph finds them by
/// name: _grad_sum2, _grad_sum3, _grad_sum4, _grad_zeros, _grad_ones. gradients() does it, and who reads a graph.
void enrol_gradient_operators();
}  // namespace detail

}  // namespace strop::inline v0

#if !defined(STROP_COMPILED)
#include <strop/graph/gradient_impl.hpp>
#endif
